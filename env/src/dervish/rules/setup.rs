//! Set-up: the fixed one of a scenario, and that by choice (2.7).

use super::super::board::Hex;
use super::super::campaign::{
    Battle, Campaign, EventState, Group, GunboatOut, LeaderState, MAX_GUNBOATS, MAX_SUPPLY, Phase, ScenarioRef,
};
use super::super::catalogue::{COMBAT, Kind, LEADERS, Leader, Side};
use super::super::decision::{Decision, Pending};
use super::super::order::Order;
use super::super::scenario::{Scenario, SetupRegion};
use super::super::units::{Cohort, Status, Units};
use super::march::Taken;

/// The first of the four kinds that are set up by choice.
const FIRST_KIND: usize = Kind::MahdistSpearmen as usize;

impl Campaign {
    /// The beginning of a scenario: the fixed set-up is made, and the first decision or roll is pending.
    pub fn new(scenario: &'static Scenario) -> Campaign {
        let mut position = Campaign::empty(scenario);
        for garrison in &scenario.garrisons {
            for unit in &garrison.units {
                position.units.add(Cohort::new(garrison.hex, unit.kind, false, Status::Fresh, unit.count));
            }
            for leader in &garrison.leaders {
                position.leaders[leader.index()].hex = garrison.hex;
            }
            // At the start a place is controlled by the side that has a combat unit there.
            for side in Side::BOTH {
                position.take_control(garrison.hex, side);
            }
        }
        position.begin_region();
        position.settle();
        position
    }

    /// A scenario's map without units, before its set-up.
    pub(crate) fn empty(scenario: &'static Scenario) -> Campaign {
        Campaign {
            scenario: ScenarioRef(scenario),
            pending: Pending::NONE,
            turn: 0,
            active: scenario.first_player,
            phase: Phase::Setup,
            stage: 0,
            cursor: Hex::NONE,
            units: Units::EMPTY,
            leaders: [LeaderState::ABSENT; LEADERS],
            control: [0; 2],
            eliminated: [0; 2],
            arrived: 0,
            gunboats_out: [GunboatOut::NONE; MAX_GUNBOATS],
            gunboats_lost: [0; 2],
            railway: 0,
            events: EventState::NONE,
            group: Group::NONE,
            battle: Battle::NONE,
            escaping: 0,
            sinking: [0; 2],
            sinking_at: Hex::NONE,
            to_place: [0; 4],
            spent: [Hex::NONE; MAX_SUPPLY],
            months_held: 0,
            winner: None,
        }
    }

    /// The region that is being set up; [`Campaign::stage`] is its number.
    fn region(&self) -> Option<&'static SetupRegion> {
        self.scenario.0.regions.get(usize::from(self.stage))
    }

    pub(crate) fn begin_region(&mut self) {
        self.to_place = [0; 4];
        for unit in self.region().map_or(&[][..], |r| &r.units) {
            self.to_place[unit.kind.index() - FIRST_KIND] += unit.count;
        }
    }

    /// What of the region that is being set up is still to be placed (2.7): units by kind, and the leaders who join them
    /// afterwards. Nothing once play has begun.
    pub fn left_to_set_up(&self) -> (Vec<(Kind, u8)>, Vec<Leader>) {
        let region = if self.phase == Phase::Setup { self.region() } else { None };
        let units = self.to_place.iter().enumerate().filter(|(_, count)| **count > 0);
        let units = units.map(|(kind, count)| (Kind::at(FIRST_KIND + kind), *count)).collect();
        let leaders = region.map_or(&[][..], |region| region.leaders.as_slice()).iter().copied();
        (units, leaders.filter(|leader| !self.leaders[leader.index()].hex.is_some()).collect())
    }

    /// Goes on with the set-up until something is pending or it is over.
    pub(crate) fn next_setup(&mut self) {
        let Some(region) = self.region() else {
            self.stage = 0;
            self.begin_player_turn(self.scenario.first_player);
            return;
        };
        if self.to_place != [0; 4] {
            self.pending = Pending::of(Decision::SetupHex);
            return;
        }
        match region.leaders.iter().find(|l| !self.leaders[l.index()].hex.is_some()) {
            Some(leader) => self.pending = Pending::of(Decision::SetupLeader).about(*leader as u8),
            None => {
                self.stage += 1;
                self.begin_region();
            }
        }
    }

    pub(crate) fn setup_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some(region) = self.region() else { return Taken::Continue(()) };
        for &hex in &region.hexes {
            if !self.enemy_in(hex, Side::Mahdist) {
                take(Order::Hex(hex))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn setup_hex_legal(&self, hex: Hex) -> bool {
        self.region().is_some_and(|r| r.hexes.contains(&hex)) && !self.enemy_in(hex, Side::Mahdist)
    }

    pub(crate) fn obey_setup_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        if let Some(kind) = self.to_place.iter().position(|n| *n > 0) {
            self.pending = Pending::at(Decision::SetupCount, hex).about((FIRST_KIND + kind) as u8);
        }
    }

    /// The kind asked about and how few of it may be placed: at least one unit goes into a hex once picked, so that
    /// set-up ends. [`Pending::amount`] counts the units placed there already.
    fn asked_setup(&self) -> (usize, u8, u8) {
        let kind = usize::from(self.pending.subject) - FIRST_KIND;
        let last = self.to_place[kind + 1..].iter().all(|n| *n == 0);
        (kind, u8::from(last && self.pending.amount == 0), self.to_place[kind])
    }

    pub(crate) fn setup_count_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let (_, least, most) = self.asked_setup();
        for n in least..=most {
            take(Order::Count(n))?;
        }
        Taken::Continue(())
    }

    pub(crate) fn setup_count_legal(&self, n: u8) -> bool {
        let (_, least, most) = self.asked_setup();
        (least..=most).contains(&n)
    }

    pub(crate) fn obey_setup_count(&mut self, n: u8) {
        let (kind, _, _) = self.asked_setup();
        let Pending { hex, amount, .. } = self.pending;
        self.pending = Pending::NONE;
        self.to_place[kind] -= n;
        self.units.add(Cohort::new(hex, Kind::at(FIRST_KIND + kind), false, Status::Fresh, n));
        self.take_control(hex, Side::Mahdist);
        let placed = amount + n;
        if let Some(next) = (kind + 1..4).find(|k| self.to_place[*k] > 0) {
            self.pending = Pending::at(Decision::SetupCount, hex).about((FIRST_KIND + next) as u8).amount(placed);
        }
    }

    pub(crate) fn setup_leader_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        let Some(region) = self.region() else { return Taken::Continue(()) };
        for &hex in &region.hexes {
            if self.setup_leader_legal(hex) {
                take(Order::Hex(hex))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn setup_leader_legal(&self, hex: Hex) -> bool {
        self.region().is_some_and(|r| r.hexes.contains(&hex)) && self.units.any(hex, Side::Mahdist, COMBAT)
    }

    pub(crate) fn obey_setup_leader(&mut self, hex: Hex) {
        self.leaders[usize::from(self.pending.subject)].hex = hex;
        self.pending = Pending::NONE;
    }
}
