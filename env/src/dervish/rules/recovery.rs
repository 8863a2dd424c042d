//! The recovery phase (11).

use super::super::board::{Hex, PlaceKind};
use super::super::campaign::Campaign;
use super::super::catalogue::{COMBAT, LAND};
use super::super::decision::{Decision, Pending};
use super::super::tables::Recovery;

impl Campaign {
    /// Rolls for the next hex with disrupted units, or ends the player turn.
    pub(crate) fn next_recovery(&mut self) {
        let side = self.active;
        let next = self
            .units
            .as_slice()
            .iter()
            .find(|c| c.side() == side && c.disrupted() && (self.cursor == Hex::NONE || c.hex() > self.cursor));
        match next.map(|c| c.hex()) {
            Some(hex) => {
                self.cursor = hex;
                self.pending = Pending::at(Decision::RollRecovery, hex);
            }
            None => self.end_player_turn(),
        }
    }

    /// Modifiers of the recovery roll (11.1): +2 town, +1 village, the strategic value of one leader.
    pub fn recovery_modifier(&self, hex: Hex) -> i32 {
        let place = match self.scenario.board.place_kind(hex) {
            Some(PlaceKind::Town) => 2,
            Some(PlaceKind::Village) => 1,
            Some(PlaceKind::Oasis) | None => 0,
        };
        place + i32::from(self.strategic(hex, self.active, |_| true))
    }

    pub(crate) fn resolve_recovery(&mut self, sum: u16) {
        let hex = self.pending.hex;
        let side = self.active;
        self.pending = Pending::NONE;
        let total = i32::from(sum) + self.recovery_modifier(hex);
        let scenario = self.scenario.0;
        let poor_morale = self.events.poor_morale;
        let result = |kind| scenario.tables.recovery(scenario.catalogue.class_under(kind, poor_morale), total);
        let mut eliminated = 0;
        for c in self.units.at(hex) {
            if c.disrupted() && COMBAT.has(c.kind()) && result(c.kind()) == Recovery::Fail {
                eliminated += u16::from(c.count());
            }
        }
        self.eliminated[side as usize] += eliminated;
        self.units.change_at(hex, |c| {
            if !c.disrupted() || !LAND.has(c.kind()) {
                return Some(c);
            }
            match result(c.kind()) {
                Recovery::Fail => None,
                Recovery::Hold => Some(c),
                Recovery::Good => Some(c.with_disrupted(false)),
            }
        });
        self.drop_lone_flag(hex);
    }
}
