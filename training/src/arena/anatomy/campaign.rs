//! The course of a game of the campaign.

use super::{Course, Holding, Incident, OpeningMove};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Hex, PlaceId};
use dervish_env::dervish::campaign::{Battle, BattleStage};
use dervish_env::dervish::catalogue::{COMBAT, LAND, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::order::Order;
use dervish_env::dervish::scenario::{PlacePoints, Victory};
use dervish_env::dervish::units::{Cohort, Status};
use dervish_env::game::{Action, Actor, Position, Seat};

/// The seat of a side, by the names that both have.
fn seat_of(side: Side) -> Seat {
    Seat::BOTH.into_iter().find(|seat| Campaign::seat_name(*seat) == side.id()).unwrap_or(Seat::First)
}

impl Course for Campaign {
    fn round(&self) -> u32 {
        u32::from(self.game_turn()) + 1
    }

    /// The part of rule 14 that decided.
    fn decided_by(&self) -> String {
        let name = |place: PlaceId| self.scenario().board.places[usize::from(place.0)].name.as_str();
        let mahdist = |place: PlaceId| self.controller(place) == Some(Side::Mahdist);
        match &self.scenario().victory {
            Victory::ElObeid { sudden_death, .. } if mahdist(*sudden_death) => {
                format!("14.1 {} taken: sudden death", name(*sudden_death))
            }
            Victory::ElObeid { prize, .. } if self.controller(*prize) == Some(Side::Egyptian) => {
                format!("14.1 {} held", name(*prize))
            }
            Victory::ElObeid { needed, .. } if self.points(Side::Mahdist) >= u32::from(*needed) => {
                format!("14.1 {needed} points or more")
            }
            Victory::ElObeid { needed, .. } => format!("14.1 fewer than {needed} points"),
            Victory::Khartoum { prize, .. } => {
                let held = if self.points(Side::Egyptian) > 0 { "held by British" } else { "not held by British" };
                let early = if self.events().withdraw { ", on withdraw" } else { "" };
                format!("14.2 {} {held}{early}", name(*prize))
            }
            Victory::Points { sudden_death: Some(place), .. } if mahdist(*place) => {
                format!("14.3 {} taken: sudden death", name(*place))
            }
            Victory::Points { .. } if self.points(Side::Egyptian) == self.points(Side::Mahdist) => {
                "14.3 equal points".to_owned()
            }
            Victory::Points { .. } => "14.3 more points".to_owned(),
            Victory::Holder { prize, .. } => {
                format!("14.3 {} {}", name(*prize), if mahdist(*prize) { "taken" } else { "held" })
            }
        }
    }

    /// The places of the map, with what they are worth (14).
    fn holdings(&self) -> Vec<Holding> {
        let none: &[PlacePoints] = &[];
        let (points, named) = match &self.scenario().victory {
            Victory::ElObeid { sudden_death, prize, points, .. } => (&points[..], [Some(*sudden_death), Some(*prize)]),
            Victory::Points { sudden_death, points, .. } => (&points[..], [*sudden_death, None]),
            Victory::Khartoum { prize, .. } => (none, [Some(*prize), None]),
            Victory::Holder { prize, lesser } => (none, [Some(*prize), *lesser]),
        };
        let places = self.scenario().board.places.iter().enumerate();
        let holding = |(number, place): (usize, &dervish_env::dervish::board::Place)| {
            let id = PlaceId(number as u8);
            let worth = points.iter().find(|of| of.place == id).map_or(0, |of| u32::from(of.points));
            Holding {
                what: place.name.clone(),
                counts: worth > 0 || named.contains(&Some(id)),
                points: worth,
                holder: self.controller(id).map(seat_of),
            }
        };
        places.map(holding).collect()
    }

    fn incidents(&self, before: &Campaign, note: &mut dyn FnMut(Incident)) {
        let place = |hex: Hex| hex.is_some().then(|| self.place_text(hex));
        let (asked, active) = (before.pending(), seat_of(before.active()));
        let mut tell = |kind, seat, place, amount| {
            if amount > 0 {
                note(Incident { kind, seat, place, amount });
            }
        };
        // A combat is new until the first test is rolled (9.13), if it was not there before.
        let (was, is) = (before.battle(), self.battle());
        let open = |battle: &Battle| {
            (BattleStage::LeaderMarching..=BattleStage::Tests).contains(&battle.stage) && battle.dice == [0; 4]
        };
        let fresh = open(is) && !(open(was) && (was.from, was.target) == (is.from, is.target));
        if fresh {
            tell("combats", seat_of(self.active()), place(is.target), 1);
        }
        if asked.decision == Decision::RollMarch {
            tell("march rolls", active, None, 1);
            // Train cannot march without camels (8.6) and disrupted units may be left to recover, so fresh combat units in
            // good order say whether a stack was divided.
            let (group, side) = (before.group(), before.active());
            let stays = |c: &Cohort| {
                c.side() == side
                    && !c.grouped()
                    && c.status() == Status::Fresh
                    && COMBAT.has(c.kind())
                    && !c.disrupted()
            };
            if group.rolls == 1 {
                tell("march groups", active, None, 1);
                let divided = before.units().at(group.hex).iter().any(stays);
                tell("march groups that divide a stack", active, place(group.hex), u32::from(divided));
            }
        }
        // Combat units as they count for victory (14.5), by what took them.
        let (cause, at) = match asked.decision {
            Decision::RollAttrition => ("combat units lost to attrition", asked.hex),
            Decision::RollRecovery => ("combat units lost in recovery", asked.hex),
            _ if was.stage != BattleStage::None => ("combat units lost in combat", was.target),
            _ => ("combat units lost otherwise", Hex::NONE),
        };
        for side in Side::BOTH {
            let lost = self.eliminated(side).saturating_sub(before.eliminated(side));
            tell(cause, seat_of(side), place(at), u32::from(lost));
        }
        if asked.decision == Decision::RollAttrition {
            let disrupted = |position: &Campaign| -> u32 {
                let units = position.units().at(asked.hex).iter();
                units.filter(|c| LAND.has(c.kind()) && c.disrupted()).map(|c| u32::from(c.count())).sum()
            };
            let more = disrupted(self).saturating_sub(disrupted(before));
            tell("units disrupted by attrition", active, place(asked.hex), more);
        }
        // Sieges are counted when a game turn begins, and when the game ends.
        let over = self.actor() == Actor::Finished && before.actor() != Actor::Finished;
        if self.game_turn() != before.game_turn() || over {
            for (number, of) in self.scenario().board.places.iter().enumerate() {
                if let Some(owner) = self.controller(PlaceId(number as u8))
                    && self.besieged(of.hex, owner)
                {
                    tell("turns of siege", seat_of(owner.other()), place(of.hex), 1);
                }
            }
        }
    }

    /// Marches and attacks of groups.
    fn opening_move(&self, action: Action) -> Option<OpeningMove> {
        let Some(Order::Hex(hex)) = Order::of(action) else { return None };
        let from = self.group().hex;
        match self.pending().decision {
            Decision::GroupHex if hex != from => {
                Some(OpeningMove { from: self.place_text(from), to: self.place_text(hex) })
            }
            Decision::GroupOrder => {
                Some(OpeningMove { from: self.place_text(from), to: format!("attack {}", self.place_text(hex)) })
            }
            _ => None,
        }
    }
}
