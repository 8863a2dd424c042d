//! The random continuation that values a new leaf: uniform legal actions and fair dice, up to a depth in decisions.

use dervish_agents::evaluation::Evaluation;
use dervish_env::chance::{SplitMix64, pick};
use dervish_env::game::{Action, Actor, GameResult, Position, Seat, WeightedOutcome};
use rand::Rng;

/// Plays rollouts, keeping its buffers between them.
#[derive(Clone, Debug)]
pub struct Rollout<E> {
    /// Judges the position where a rollout is cut off.
    pub evaluation: E,
    /// Decisions after which a rollout is cut off; 0 plays to the end of the game.
    pub depth: usize,
    actions: Vec<Action>,
    outcomes: Vec<WeightedOutcome>,
}

impl<E> Rollout<E> {
    /// Rollouts of at most `depth` decisions (0: to the end of the game), judged by `evaluation`.
    pub fn new(evaluation: E, depth: usize) -> Rollout<E> {
        Rollout { evaluation, depth, actions: Vec::new(), outcomes: Vec::new() }
    }

    /// Plays `position` on and returns the result in [-1, 1] for [`Seat::First`]: that of the game if it ends within the
    /// depth, else the evaluation of the position reached. An evaluation without opinion lets the game go on, to the
    /// game's own bound on decisions at most, beyond which it counts as drawn.
    pub fn play<P: Position>(&mut self, position: &mut P, rng: &mut SplitMix64) -> f64
    where
        E: Evaluation<P>,
    {
        let mut decisions = 0;
        loop {
            match position.actor() {
                Actor::Finished => return result_for_first(position.result()),
                Actor::Chance => {
                    position.chance_outcomes_into(&mut self.outcomes);
                    position.resolve_possible(pick(&self.outcomes, position.chance_total(), rng.next_u64()));
                }
                Actor::Player(_) => {
                    let cut_off = self.depth > 0 && decisions >= self.depth;
                    if cut_off && let Some(value) = self.evaluation.value(position, Seat::First) {
                        return f64::from(value);
                    }
                    if decisions >= P::MAX_DECISIONS {
                        return 0.0;
                    }
                    position.legal_actions_into(&mut self.actions);
                    position.apply_legal(self.actions[rng.below(self.actions.len())]);
                    decisions += 1;
                }
            }
        }
    }
}

/// +1 if the first seat won, -1 if the second did, 0 for a draw.
pub fn result_for_first(result: Option<GameResult>) -> f64 {
    result.map_or(0.0, |result| f64::from(result.sign(Seat::First)))
}
