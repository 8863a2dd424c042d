//! Vessels: gunboats and boats on rivers (8.7), the two ports and the fleet (8.8).

use super::super::board::Hex;
use super::super::campaign::{Campaign, Group, GroupKind};
use super::super::catalogue::{Kind, LAND, Leader, Side, VESSELS};
use super::super::decision::{Decision, Pending};
use super::super::order::{Order, Verb};
use super::super::units::{Cohort, Status};
use super::group_pick::FLAG_SUBJECT;
use super::march::Taken;
use super::movement::Reach;

impl Campaign {
    pub(super) fn can_sail(&self, c: Cohort) -> bool {
        c.side() == self.active
            && VESSELS.has(c.kind())
            && c.status() == Status::Fresh
            && !c.grouped()
            && self.vessel_has_a_way(self.active, c.hex(), is_boat(c.kind()))
    }

    pub(crate) fn vessel_kind_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for &c in self.units.at(self.pending.hex) {
            if self.can_sail(c) {
                take(Order::Line { kind: c.kind(), disrupted: false })?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn vessel_kind_legal(&self, kind: Kind, disrupted: bool) -> bool {
        !disrupted && self.units.at(self.pending.hex).iter().any(|c| c.kind() == kind && self.can_sail(*c))
    }

    pub(crate) fn obey_vessel_kind(&mut self, kind: Kind) {
        let hex = self.pending.hex;
        self.group = Group { kind: GroupKind::Vessel, hex, ..Group::NONE };
        self.join(Cohort::new(hex, kind, false, Status::Fresh, 1));
        let capacity = self.scenario.catalogue.of(kind).carries;
        self.pending = Pending::at(Decision::VesselLoad, hex).amount(capacity);
    }

    fn can_load(&self, c: Cohort) -> bool {
        c.side() == self.active && LAND.has(c.kind()) && c.status() == Status::Fresh && !c.grouped()
    }

    pub(crate) fn vessel_load_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for &c in self.units.at(self.pending.hex) {
            if self.can_load(c) {
                take(Order::Line { kind: c.kind(), disrupted: c.disrupted() })?;
            }
        }
        take(Order::Verb(Verb::Done))
    }

    pub(crate) fn vessel_load_legal(&self, kind: Kind, disrupted: bool) -> bool {
        self.units
            .at(self.pending.hex)
            .iter()
            .any(|c| c.kind() == kind && c.disrupted() == disrupted && self.can_load(*c))
    }

    pub(crate) fn obey_vessel_load(&mut self, order: Order) {
        let Pending { hex, amount, .. } = self.pending;
        if let Order::Line { kind, disrupted } = order {
            self.join(Cohort::new(hex, kind, disrupted, Status::Fresh, 1));
            if amount > 1 {
                self.pending.amount -= 1;
                return;
            }
        }
        self.ask_next_passenger(hex, 0);
    }

    fn ask_next_passenger(&mut self, hex: Hex, from: u8) {
        for subject in from..FLAG_SUBJECT {
            let leader = Leader::ALL[subject as usize];
            let state = &self.leaders[subject as usize];
            if leader.side() == self.active && state.hex == hex && state.status == Status::Fresh {
                self.pending = Pending::at(Decision::VesselLeader, hex).about(subject);
                return;
            }
        }
        let flag = self.active == Side::Egyptian
            && from <= FLAG_SUBJECT
            && self.units.at(hex).iter().any(|c| c.kind() == Kind::Flag && c.status() == Status::Fresh);
        self.pending = Pending::at(if flag { Decision::VesselFlag } else { Decision::VesselHex }, hex);
    }

    pub(crate) fn obey_vessel_leader(&mut self, verb: Verb) {
        let Pending { hex, subject, .. } = self.pending;
        if verb == Verb::Yes {
            self.leaders[subject as usize].grouped = true;
        }
        self.ask_next_passenger(hex, subject + 1);
    }

    pub(crate) fn obey_vessel_flag(&mut self, verb: Verb) {
        let hex = self.pending.hex;
        if verb == Verb::Yes {
            self.pending.subject = FLAG_SUBJECT;
            self.join_leader_or_flag();
        }
        self.pending = Pending::at(Decision::VesselHex, hex);
    }

    fn vessel_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let vessel = self.group_cohorts().find(|c| VESSELS.has(c.kind())).map_or(Kind::Boat, Cohort::kind);
        let movement = self.scenario.catalogue.of(vessel).movement;
        self.river_reach(self.active, self.group.hex, movement, is_boat(vessel), read)
    }

    pub(crate) fn vessel_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.vessel_reach(|reach| {
            let mut hexes = reach.hexes().iter().filter(|h| **h != self.group.hex);
            hexes.try_for_each(|hex| take(Order::Hex(*hex)))
        })
    }

    pub(crate) fn vessel_hex_legal(&self, hex: Hex) -> bool {
        hex != self.group.hex && self.vessel_reach(|reach| reach.has(hex))
    }

    pub(crate) fn obey_vessel_hex(&mut self, hex: Hex) {
        self.pending = Pending::NONE;
        self.move_group(hex);
        let landed = self.group_cohorts().any(|c| LAND.has(c.kind()));
        self.end_group(Status::Marched);
        if landed {
            self.enter(hex, self.active);
        }
    }

    /// The port to which a group of the Egyptian player in `hex` may go by sea (8.8).
    pub(super) fn other_port(&self, hex: Hex) -> Option<Hex> {
        let port = self.opposite_port(hex)?;
        (!self.enemy_in(port, Side::Egyptian)).then_some(port)
    }

    fn opposite_port(&self, hex: Hex) -> Option<Hex> {
        let named = &self.scenario.named;
        let (souakim, trinkitat) = (named.souakim?, named.trinkitat?);
        let places = &self.scenario.board.places;
        let (souakim, trinkitat) = (places[souakim.0 as usize].hex, places[trinkitat.0 as usize].hex);
        match hex {
            h if h == souakim => Some(trinkitat),
            h if h == trinkitat => Some(souakim),
            _ => None,
        }
    }

    pub(super) fn fleet_can_move(&self, hex: Hex) -> bool {
        self.opposite_port(hex).is_some()
            && self.units.at(hex).iter().any(|c| c.kind() == Kind::Fleet && c.status() == Status::Fresh)
    }

    pub(super) fn move_fleet(&mut self, from: Hex) {
        let Some(to) = self.opposite_port(from) else { return };
        let fleet = self.units.at(from).iter().copied().find(|c| c.kind() == Kind::Fleet);
        if let Some(fleet) = fleet {
            self.units.remove(fleet);
            self.units.add(fleet.with_hex(to).with_status(Status::Marched));
        }
    }
}

fn is_boat(kind: Kind) -> bool {
    matches!(kind, Kind::Boat | Kind::MahdistBoat)
}
