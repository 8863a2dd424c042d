//! The march phase (8): which hexes have something to do, what may be done in each (8.1), and what events forbid (13.7).
//! A group is picked in [`super::group_pick`] and marches in [`super::group_march`]; what moves without a roll is in
//! [`super::vessels`] and [`super::leaders_alone`].

use std::ops::ControlFlow;

use super::super::board::Hex;
use super::super::campaign::{Campaign, Group, GroupKind, War};
use super::super::catalogue::{COMBAT, Kind, LAND, Leader, Side};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::units::Status;

/// Takes the options of a decision one by one; breaks off when it has seen enough.
pub(crate) type Taken = ControlFlow<()>;

/// What may be done with the units of a hex (8.1), one flag for each answer to [`Decision::MarchPick`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Picks {
    all: bool,
    all_good: bool,
    unfought: bool,
    choose: bool,
    vessel: bool,
    alone: bool,
    fleet: bool,
}

impl Picks {
    fn any(self) -> bool {
        self != Picks::default()
    }
    fn flags(self) -> [(Verb, bool); 7] {
        [
            (Verb::All, self.all),
            (Verb::AllGood, self.all_good),
            (Verb::Unfought, self.unfought),
            (Verb::Choose, self.choose),
            (Verb::Vessel, self.vessel),
            (Verb::Alone, self.alone),
            (Verb::Fleet, self.fleet),
        ]
    }
}

impl Campaign {
    /// Whether events let a group march out of `hex` (13.7); `first`: it is the group's first roll.
    pub(super) fn may_march(&self, hex: Hex, first: bool) -> bool {
        let side = self.active;
        let named = &self.scenario.named;
        let at = self.scenario.board.cell(hex);
        if self.events.war == War::Now && named.goz_regeb.is_some() && at.place == named.goz_regeb {
            return false;
        }
        if side == Side::Egyptian {
            return true;
        }
        if self.events.poor_communications && first && !self.has_leader(hex, Side::Mahdist) {
            return false;
        }
        let osman = self.leaders[Leader::OsmanDigma.index()].hex;
        !(self.events.religious_disagreement
            && at.extension
            && !(osman.is_some() && self.scenario.board.cell(osman).extension))
    }

    /// What units in `hex` may attack (8.5): adjacent hexes not across a river that hold an enemy combat unit.
    pub(super) fn targets(&self, hex: Hex) -> impl Iterator<Item = Hex> + '_ {
        let cell = self.scenario.board.cell(hex);
        let enemy = self.active.other();
        let joined = (0..6).filter(move |d| cell.rivers >> d & 1 == 0).map(move |d| cell.neighbours[d]);
        joined.filter(move |n| n.is_some() && self.units.any(*n, enemy, COMBAT))
    }

    /// Whether there is anything to attack from `hex`.
    pub(super) fn has_target(&self, hex: Hex) -> bool {
        self.targets(hex).next().is_some()
    }

    /// Whether supply units may leave `hex` without camels: along built railway or by sea (8.6, 8.8).
    pub(super) fn carried_without_camels(&self, hex: Hex) -> bool {
        self.active == Side::Egyptian && (self.on_open_railway(hex) || self.other_port(hex).is_some())
    }

    pub(super) fn on_open_railway(&self, hex: Hex) -> bool {
        let cell = self.scenario.board.cell(hex);
        cell.neighbours
            .iter()
            .any(|n| n.is_some() && self.joined_by_rail(hex, *n) && !self.enemy_in(*n, Side::Egyptian))
    }

    fn picks(&self, hex: Hex) -> Picks {
        let side = self.active;
        let tally = self.tally(hex, side);
        let may_march = self.may_march(hex, true);
        let mut picks = Picks::default();
        if tally.fresh + tally.marched_good > 0 {
            let target = (tally.unfought_combat > 0) && self.has_target(hex);
            let fresh_attack = target && tally.fresh_combat > 0;
            picks.all = tally.marchable() > 0 && (may_march || (fresh_attack && tally.fresh_disrupted == 0));
            picks.all_good = tally.fresh_disrupted > 0 && tally.good_marchable() > 0 && (may_march || fresh_attack);
            picks.unfought = target && tally.marched_good > 0;
            let extras = self.leaders_at(hex, side).filter(|l| self.leaders[l.index()].status != Status::Fought).count()
                as u16
                + tally.flag;
            let more_than_one = tally.fresh + tally.marched_good + extras > 1;
            picks.choose = (more_than_one || !(picks.all || picks.unfought)) && self.completes(hex, 0);
        }
        picks.vessel = may_march && self.units.at(hex).iter().any(|c| self.can_sail(*c));
        picks.alone = self.leaders_at(hex, side).any(|l| self.can_go_alone(l));
        picks.fleet = side == Side::Egyptian && self.fleet_can_move(hex);
        picks
    }

    /// [`Self::picks`] without telling which.
    fn can_act(&self, hex: Hex) -> bool {
        let quick = self.units.at(hex).iter().any(|c| {
            c.side() == self.active && c.status() == Status::Fresh && LAND.has(c.kind()) && c.kind() != Kind::Supply
        });
        (quick && self.may_march(hex, true)) || self.picks(hex).any()
    }

    pub(crate) fn march_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let mut last = Hex::NONE;
        for c in self.units.as_slice() {
            if c.side() == self.active && c.hex() != last {
                last = c.hex();
                if self.can_act(last) {
                    take(Order::Hex(last))?;
                }
            }
        }
        for leader in Leader::ALL.into_iter().filter(|l| l.side() == self.active) {
            let hex = self.leaders[leader.index()].hex;
            let named_before = self.leaders_at(hex, self.active).next() != Some(leader);
            if hex.is_some()
                && !named_before
                && !self.units.at(hex).iter().any(|c| c.side() == self.active)
                && self.can_act(hex)
            {
                take(Order::Hex(hex))?;
            }
        }
        take(Order::Verb(Verb::Done))
    }

    pub(crate) fn march_hex_legal(&self, hex: Hex) -> bool {
        let present = self.units.at(hex).iter().any(|c| c.side() == self.active) || self.has_leader(hex, self.active);
        present && self.picks(hex).any()
    }

    pub(crate) fn march_pick_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for (verb, open) in self.picks(self.pending.hex).flags() {
            if open {
                take(Order::Verb(verb))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn march_pick_legal(&self, verb: Verb) -> bool {
        self.picks(self.pending.hex).flags().contains(&(verb, true))
    }

    pub(crate) fn obey_march_pick(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        self.pending = Pending::NONE;
        match verb {
            Verb::Vessel => self.pending = Pending::at(Decision::VesselKind, hex),
            Verb::Alone => self.pending = Pending::at(Decision::AloneLeader, hex),
            Verb::Fleet => self.move_fleet(hex),
            _ => {
                self.group = Group { kind: GroupKind::March, hex, ..Group::NONE };
                match verb {
                    Verb::All => self.quick_pick(hex, true, |_, status| status == Status::Fresh),
                    Verb::AllGood => {
                        self.quick_pick(hex, true, |disrupted, status| !disrupted && status == Status::Fresh)
                    }
                    Verb::Unfought => {
                        self.quick_pick(hex, false, |disrupted, status| !disrupted && status != Status::Fought)
                    }
                    _ => self.ask_next_line(hex, 0),
                }
            }
        }
    }

    /// Ends the march phase: nothing goes on into the next one.
    pub(crate) fn end_march_phase(&mut self) {
        self.units.refresh();
        for state in &mut self.leaders {
            state.status = Status::Fresh;
        }
    }
}
