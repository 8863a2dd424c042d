//! Positions that can be solved: full expectimax to the end of the game, every die included, each position once.

use dervish_agents::evaluation::Utility;
use dervish_env::game::{Action, Actor, MergedOutcome, Position, Seat, WeightedOutcome};
use rustc_hash::FxHashMap;

/// Solves positions of one game whose graph has no cycles, remembering what it has solved.
///
/// Positions are told apart by 64-bit keys; among ten million positions two share one with a probability of 3e-6.
#[derive(Clone, Debug)]
pub struct Solver {
    utility: Utility,
    /// Whether a procedure of several rolls is one chance node; the values are the same, the way there is shorter.
    merged: bool,
    limit: usize,
    known: FxHashMap<u64, f64>,
    bytes: Vec<u8>,
}

/// A position has too many continuations to be solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("more than {limit} positions follow from it")]
pub struct TooLarge {
    /// The bound that was set.
    pub limit: usize,
}

impl Solver {
    /// A solver that gives up beyond `limit` positions.
    pub fn new(utility: Utility, merged: bool, limit: usize) -> Solver {
        Solver { utility, merged, limit, known: FxHashMap::default(), bytes: Vec::new() }
    }

    /// How many positions have been solved.
    pub fn solved(&self) -> usize {
        self.known.len()
    }

    /// Expected utility in [-1, 1] for [`Seat::First`] if both play as well as can be.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn value<P: Position>(&mut self, position: &P) -> Result<f64, TooLarge> {
        if let Some(result) = position.result() {
            return Ok(f64::from(self.utility.of_result(&result, Seat::First)));
        }
        let key = position.key_with(&mut self.bytes);
        if let Some(&value) = self.known.get(&key) {
            return Ok(value);
        }
        if self.known.len() >= self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        let value = match position.actor() {
            Actor::Player(seat) => {
                let values = self.action_values(position)?;
                let values = values.into_iter().map(|(_, value)| value);
                if seat == Seat::First { values.fold(-1.0, f64::max) } else { values.fold(1.0, f64::min) }
            }
            _ => self.roll_value(position)?,
        };
        self.known.insert(key, value);
        Ok(value)
    }

    /// The legal actions of a position that waits for a player, in their order, with the value behind each for
    /// [`Seat::First`].
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn action_values<P: Position>(&mut self, position: &P) -> Result<Vec<(Action, f64)>, TooLarge> {
        let mut actions = Vec::new();
        position.legal_actions_into(&mut actions);
        let behind = |action| {
            let mut next = position.clone();
            next.apply_legal(action);
            self.value(&next).map(|value| (action, value))
        };
        actions.into_iter().map(behind).collect()
    }

    fn roll_value<P: Position>(&mut self, position: &P) -> Result<f64, TooLarge> {
        let mut sum = 0.0;
        let mut total = 0.0;
        let mut merged: Vec<MergedOutcome> = Vec::new();
        if self.merged && position.merged_outcomes_into(&mut merged) {
            for MergedOutcome { weight, rolls } in merged {
                let mut next = position.clone();
                rolls.into_iter().for_each(|outcome| next.resolve_possible(outcome));
                sum += weight as f64 * self.value(&next)?;
                total += weight as f64;
            }
        } else {
            let mut outcomes = Vec::new();
            position.chance_outcomes_into(&mut outcomes);
            for WeightedOutcome { outcome, weight } in outcomes {
                let mut next = position.clone();
                next.resolve_possible(outcome);
                sum += f64::from(weight) * self.value(&next)?;
                total += f64::from(weight);
            }
        }
        Ok(sum / total)
    }
}
