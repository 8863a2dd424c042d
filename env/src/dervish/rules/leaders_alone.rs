//! Leaders who go alone (8.10).

use super::super::board::Hex;
use super::super::campaign::Campaign;
use super::super::catalogue::Leader;
use super::super::decision::{Decision, Pending};
use super::super::order::Order;
use super::super::units::Status;
use super::march::Taken;
use super::movement::{Mover, Reach};

impl Campaign {
    pub(super) fn can_go_alone(&self, leader: Leader) -> bool {
        let state = &self.leaders[leader.index()];
        state.status == Status::Fresh && self.has_a_way(leader.side(), state.hex, Mover::Leader)
    }

    pub(crate) fn alone_leader_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        for leader in self.leaders_at(self.pending.hex, self.active) {
            if self.can_go_alone(leader) {
                take(Order::Leader(leader))?;
            }
        }
        Taken::Continue(())
    }

    pub(crate) fn alone_leader_legal(&self, leader: Leader) -> bool {
        leader.side() == self.active
            && self.leaders[leader.index()].hex == self.pending.hex
            && self.can_go_alone(leader)
    }

    pub(crate) fn obey_alone_leader(&mut self, leader: Leader) {
        self.pending = Pending::at(Decision::AloneHex, self.pending.hex).about(leader as u8);
    }

    fn alone_reach<R>(&self, read: impl FnOnce(&Reach) -> R) -> R {
        let movement = self.scenario.catalogue.leader(Leader::ALL[usize::from(self.pending.subject)]).movement;
        self.reach(self.active, self.pending.hex, movement, Mover::Leader, read)
    }

    pub(crate) fn alone_hex_options(&self, take: &mut impl FnMut(Order) -> Taken) -> Taken {
        self.alone_reach(|reach| {
            let mut hexes = reach.hexes().iter().filter(|h| **h != self.pending.hex);
            hexes.try_for_each(|hex| take(Order::Hex(*hex)))
        })
    }

    pub(crate) fn alone_hex_legal(&self, hex: Hex) -> bool {
        hex != self.pending.hex && self.alone_reach(|reach| reach.has(hex))
    }

    pub(crate) fn obey_alone_hex(&mut self, hex: Hex) {
        let state = &mut self.leaders[self.pending.subject as usize];
        state.hex = hex;
        state.status = Status::Marched;
        self.pending = Pending::NONE;
    }
}
