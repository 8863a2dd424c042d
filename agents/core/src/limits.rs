//! How much an agent may think. Small decisions make up a turn, so budgets count for each move and for each turn.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The part of what is left of a turn's budget that one move may use. A turn has an unknown number of small decisions;
/// a quarter of the rest leaves something for each of them and most for the first, which carry the plan.
const MOVE_SHARE_OF_TURN: u32 = 4;

/// Upper bounds on thinking; `None` is no bound. They cap what an agent's own options allow, they never extend it.
/// A time bound makes choices depend on the machine.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Simulations for one move, at least 1.
    pub simulations: Option<u32>,
    /// Wall-clock time for one move.
    pub time: Option<Duration>,
    /// Simulations for all moves of one turn together.
    pub turn_simulations: Option<u32>,
    /// Wall-clock time for all moves of one turn together.
    pub turn_time: Option<Duration>,
}

/// What one move may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MoveBudget {
    /// Simulations, at least 1.
    pub simulations: u32,
    /// When to stop, if time is bounded. At least one simulation is run even so.
    pub deadline: Option<Instant>,
}

impl MoveBudget {
    /// Whether another simulation may begin after `done` of them.
    #[inline]
    pub fn allows(&self, done: u32) -> bool {
        done == 0 || (done < self.simulations && self.has_time())
    }

    /// Whether the deadline, if there is one, is still to come.
    #[inline]
    pub fn has_time(&self) -> bool {
        self.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }
}

/// What an agent has used of the current turn's budget.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TurnLedger {
    turn: Option<u32>,
    simulations: u32,
    time: Duration,
}

impl TurnLedger {
    /// The budget of a move in turn `turn` that begins at `now`, for an agent whose own options allow `own_simulations`.
    pub fn budget(&mut self, turn: u32, own_simulations: u32, limits: &Limits, now: Instant) -> MoveBudget {
        if self.turn != Some(turn) {
            *self = TurnLedger { turn: Some(turn), ..TurnLedger::default() };
        }
        let mut simulations = own_simulations.min(limits.simulations.unwrap_or(u32::MAX));
        if let Some(turn_simulations) = limits.turn_simulations {
            let left = turn_simulations.saturating_sub(self.simulations);
            simulations = simulations.min(left.div_ceil(MOVE_SHARE_OF_TURN));
        }
        let of_turn = limits.turn_time.map(|time| time.saturating_sub(self.time) / MOVE_SHARE_OF_TURN);
        let time = [limits.time, of_turn].into_iter().flatten().min();
        MoveBudget { simulations: simulations.max(1), deadline: time.and_then(|time| now.checked_add(time)) }
    }

    /// Books what a move has used.
    pub fn spend(&mut self, simulations: u32, time: Duration) {
        self.simulations = self.simulations.saturating_add(simulations);
        self.time = self.time.saturating_add(time);
    }
}
