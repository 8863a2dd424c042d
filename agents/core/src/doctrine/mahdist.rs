//! What only the Mahdist does: hosts and scouts, set-up, recruits, his events.

use crate::doctrine::assessment::{Assessment, Party, Threats};
use crate::doctrine::march::{Column, fresh};
use crate::doctrine::mission::Planner;
use dervish_env::dervish::board::{Hex, PlaceKind};
use dervish_env::dervish::catalogue::{COMBAT, Kind, LAND, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::scenario::SetupRegion;
use dervish_env::dervish::tables::Event;

/// Disrupted units for each good-order one that a host takes along; where fewer are disrupted they are left behind.
const STRAGGLERS: u32 = 3;

/// Who could march out of a hex: the host, and a scout to take a place that nobody holds.
pub fn columns(a: &Assessment, hex: Hex) -> [Option<Column>; 2] {
    let fresh = fresh(a, hex);
    let mut take = fresh;
    if fresh.good_of(LAND) > STRAGGLERS * fresh.disrupted_of(LAND) {
        take.disrupted = Force::EMPTY.disrupted;
    }
    let host = Some(Column { take, led: true });
    let scout = (fresh.good_of(COMBAT) >= a.weights.mahdist.scout)
        .then(|| {
            let kinds = [Kind::MahdistCavalry, Kind::MahdistSpearmen, Kind::MahdistRifles];
            kinds.into_iter().find(|kind| fresh.good[kind.index()] > 0)
        })
        .flatten()
        .map(|kind| {
            let mut take = Force::EMPTY;
            take.good[kind.index()] = 1;
            Column { take, led: false }
        });
    [host, scout]
}

/// The region that is set up, from the hexes that are offered (2.7).
pub fn region_of(a: &Assessment, offered: Hex) -> Option<&'static SetupRegion> {
    let regions = &a.position.scenario().regions;
    let placed =
        |region: &SetupRegion| region.leaders.first().is_some_and(|leader| a.position.leader(*leader).hex.is_some());
    regions.iter().find(|r| r.hexes.contains(&offered) && !placed(r))
}

impl Planner<'_, '_> {
    /// Points of a hex to set up the host of a region in.
    pub fn setup_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let Some(region) = region_of(a, hex) else { return 0.0 };
        let mut party = Party { force: Force::EMPTY, tactical: 0, strategic: 0 };
        for unit in &region.units {
            party.force.good[unit.kind.index()] += unit.count;
        }
        for leader in &region.leaders {
            let data = a.position.scenario().catalogue.leader(*leader);
            party.tactical = party.tactical.max(data.tactical);
            party.strategic = party.strategic.max(data.strategic);
        }
        let mission = self.mission(hex, &party);
        self.worth(&mission, hex, true) + self.residence(hex, &party, &mut Threats::to(a, &party), hex)
    }

    /// Points of a hex for recruits to gather in (5.2), or for spoils of an event.
    pub fn gathering_score(&mut self, hex: Hex) -> f32 {
        let a = self.assessment;
        let host = a.own_at(hex).map_or(0.0, |s| s.party.good().min(20) as f32);
        let led = a.own_at(hex).map_or(0.0, |s| f32::from(s.party.strategic));
        let shelter = match a.board().place_kind(hex) {
            Some(PlaceKind::Town) => 3.0,
            Some(PlaceKind::Village) => 1.0,
            _ => 0.0,
        };
        let party = a.own_at(hex).map_or(Party { force: Force::EMPTY, tactical: 0, strategic: 0 }, |s| s.party);
        0.1 * host + 0.2 * led + 0.2 * shelter - a.hunger(hex, &party)
    }

    /// Points of a hex for one of the Mahdist's events (4.4), or for naming a gunboat (4.3).
    pub fn mahdist_event_score(&mut self, event: Event, hex: Hex) -> f32 {
        let a = self.assessment;
        let own = a.own_at(hex).map_or(0.0, |s| s.party.force.count_of(COMBAT) as f32);
        let led = a.own_at(hex).map_or(0.0, |s| f32::from(s.party.strategic));
        match event {
            // What goes should be missed least: small stacks without leader.
            Event::Desertion | Event::EthiopiaWar | Event::GunShortage | Event::RifleShortage => {
                -a.swing_near(hex) - led - 0.1 * own
            }
            Event::GarrisonSurrenders => {
                let garrison = a.enemy_at(hex).map_or(0.0, |s| s.party.force.count_of(COMBAT) as f32);
                2.0 * a.swing_at(hex) + garrison * a.unit_worth(Kind::RifleL)
            }
            Event::LocalsDeclare => a.swing_at(hex) + 0.01 * own,
            Event::GunboatSinks => {
                let british = a.enemy_at(hex).is_some_and(|s| s.party.force.count(Kind::BritishGunboat) > 0);
                a.worth_at(hex) + if british { 1.0 } else { 0.0 }
            }
            _ => own + led,
        }
    }

    /// How many of the locals declare in a hex: one for a place that is to be taken while there are others, else all.
    pub fn locals_count(&self, hex: Hex, most: u8) -> u8 {
        let a = self.assessment;
        let open = a.board().places.iter().filter(|p| {
            p.hex != hex
                && matches!(p.kind, PlaceKind::Town | PlaceKind::Oasis)
                && a.swing_at(p.hex) > 0.0
                && !a.position.enemy_in(p.hex, Side::Mahdist)
        });
        if a.swing_at(hex) > 0.0 { most.saturating_sub(open.count() as u8).max(1) } else { most }
    }
}

impl Assessment<'_> {
    /// What is to be had in a hex and around it.
    fn swing_near(&self, hex: Hex) -> f32 {
        let near = self.board().cell(hex).neighbours;
        self.worth_at(hex) + near.iter().filter(|n| n.is_some()).map(|n| self.worth_at(*n)).sum::<f32>()
    }
}
