//! The continuation that values a new leaf: actions of a policy and fair dice, up to a depth in decisions.

use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::policy::Policy;
use dervish_env::chance::{SplitMix64, pick};
use dervish_env::game::{Action, Actor, Position, Seat, WeightedOutcome};

/// Plays rollouts, keeping its buffers between them.
#[derive(Clone)]
pub struct Rollout<P: Position, E> {
    /// Judges the position where a rollout is cut off.
    evaluation: E,
    /// Chooses the actions.
    policy: Box<dyn Policy<P>>,
    /// Decisions after which a rollout is cut off; `None` plays to the end of the game.
    depth: Option<usize>,
    utility: Utility,
    actions: Vec<Action>,
    outcomes: Vec<WeightedOutcome>,
}

impl<P: Position, E: Evaluation<P>> Rollout<P, E> {
    /// Rollouts of at most `depth` decisions (`None`: to the end of the game) by `policy`, judged by `evaluation` where
    /// they are cut off and by `utility` where the game ends. A depth of 0 judges the leaf itself.
    pub fn new(evaluation: E, policy: Box<dyn Policy<P>>, depth: Option<usize>, utility: Utility) -> Rollout<P, E> {
        Rollout { evaluation, policy, depth, utility, actions: Vec::new(), outcomes: Vec::new() }
    }

    /// Plays `position` on and returns the utility in [-1, 1] for [`Seat::First`]: that of the result if the game ends
    /// within the depth, else the evaluation of the position reached. An evaluation without opinion lets the game go on,
    /// to the game's own bound on decisions at most, beyond which it counts as drawn.
    pub fn play(&mut self, position: &mut P, rng: &mut SplitMix64) -> f32 {
        let mut decisions = 0;
        loop {
            match position.actor() {
                Actor::Finished => {
                    return position.result().map_or(0.0, |result| self.utility.of_result(&result, Seat::First));
                }
                Actor::Chance => {
                    position.chance_outcomes_into(&mut self.outcomes);
                    position.resolve_possible(pick(&self.outcomes, position.chance_total(), rng.next_word()));
                }
                Actor::Player(_) => {
                    let cut_off = self.depth.is_some_and(|depth| decisions >= depth);
                    if cut_off && let Some(value) = self.evaluation.value(position, Seat::First) {
                        return value;
                    }
                    if decisions >= P::MAX_DECISIONS {
                        return 0.0;
                    }
                    position.legal_actions_into(&mut self.actions);
                    let index = self.policy.choose(position, &self.actions, rng.next_word());
                    position.apply_legal(self.actions[index]);
                    decisions += 1;
                }
            }
        }
    }
}
