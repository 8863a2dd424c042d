//! Positions that can be solved: full expectimax to the end of the game, every die included, each position once. Games in
//! which positions come back: [`crate::fixed_point`].

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

/// Why a position was not solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotSolved {
    /// It has too many continuations.
    #[error("more than {limit} positions follow from it")]
    TooLarge {
        /// The bound that was set.
        limit: usize,
    },
    /// A position can come back, so that its value would follow from itself.
    #[error("a position can come back after it")]
    Cycle,
    /// The players together can keep the game from ever ending, so that their values do not follow from how it ends.
    #[error("the game need not end")]
    Endless,
}

/// Stands for the value of a position whose continuations are being solved.
const BEING_SOLVED: f64 = f64::NAN;

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
    /// [`NotSolved`].
    pub fn value<P: Position>(&mut self, position: &P) -> Result<f64, NotSolved> {
        if let Some(result) = position.result() {
            return Ok(f64::from(self.utility.of_result(&result, Seat::First)));
        }
        let key = position.key_with(&mut self.bytes);
        match self.known.get(&key) {
            Some(value) if value.is_nan() => return Err(NotSolved::Cycle),
            Some(&value) => return Ok(value),
            None if self.known.len() >= self.limit => return Err(NotSolved::TooLarge { limit: self.limit }),
            None => {}
        }
        self.known.insert(key, BEING_SOLVED);
        let value = match position.actor() {
            Actor::Player(seat) => self.action_values(position).map(|values| {
                let values = values.into_iter().map(|(_, value)| value);
                if seat == Seat::First { values.fold(-1.0, f64::max) } else { values.fold(1.0, f64::min) }
            }),
            _ => self.roll_value(position),
        };
        match value {
            Ok(value) => self.known.insert(key, value),
            Err(_) => self.known.remove(&key),
        };
        value
    }

    /// The legal actions of a position that waits for a player, in their order, with the value behind each for
    /// [`Seat::First`].
    ///
    /// # Errors
    /// [`NotSolved`].
    pub fn action_values<P: Position>(&mut self, position: &P) -> Result<Vec<(Action, f64)>, NotSolved> {
        let mut actions = Vec::new();
        position.legal_actions_into(&mut actions);
        let behind = |action| {
            let mut next = position.clone();
            next.apply_legal(action);
            self.value(&next).map(|value| (action, value))
        };
        actions.into_iter().map(behind).collect()
    }

    fn roll_value<P: Position>(&mut self, position: &P) -> Result<f64, NotSolved> {
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
