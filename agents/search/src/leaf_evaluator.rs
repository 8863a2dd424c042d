//! Policies, rollouts and hand-made evaluations as an evaluator of leaves.

use crate::knowledge::{Knowledge, RANDOM};
use crate::rollout::Rollout;
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_agents::policy::Policy;
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position, Seat};

/// Values a leaf by one rollout (of no decisions, if it shall be judged as it stands) and takes priors from a policy.
#[derive(Clone)]
pub struct LeafEvaluator<P: Position, E> {
    rollout: Rollout<P, E>,
    /// `None` gives no priors, for searches that use none.
    prior: Option<Box<dyn Policy<P>>>,
    rng: SplitMix64,
    /// The position that a rollout plays on; `None` before the first.
    tip: Option<P>,
    actions: Vec<Action>,
    priors: Vec<f32>,
}

impl<P: Position, E: Evaluation<P>> LeafEvaluator<P, E> {
    /// An evaluator by policies of the game, by name. Without a `rollout` leaves are judged at a glance; with one they are
    /// judged after `depth` decisions of it, or played to the end if that is 0.
    pub fn of_names(
        knowledge: &Knowledge<P, E>,
        prior: Option<&str>,
        rollout: Option<&str>,
        depth: usize,
        utility: Utility,
    ) -> LeafEvaluator<P, E> {
        let depth = match rollout {
            None => Some(0),
            Some(_) => (depth > 0).then_some(depth),
        };
        let policy = knowledge.policy(rollout.unwrap_or(RANDOM));
        let rollout = Rollout::new(knowledge.evaluation.clone(), policy, depth, utility);
        LeafEvaluator::new(rollout, prior.map(|name| knowledge.policy(name)))
    }

    /// An evaluator by these rollouts and this prior.
    pub fn new(rollout: Rollout<P, E>, prior: Option<Box<dyn Policy<P>>>) -> LeafEvaluator<P, E> {
        LeafEvaluator { rollout, prior, rng: SplitMix64::new(0), tip: None, actions: Vec::new(), priors: Vec::new() }
    }
}

impl<P: Position, E: Evaluation<P>> Evaluator<P> for LeafEvaluator<P, E> {
    fn evaluate<'p>(
        &mut self,
        positions: &mut dyn ExactSizeIterator<Item = &'p P>,
        take: &mut dyn FnMut(LeafEvaluation<'_>),
    ) -> Result<(), EvaluatorError> {
        for position in positions {
            self.priors.clear();
            if let Some(prior) = &mut self.prior {
                position.legal_actions_into(&mut self.actions);
                prior.priors_into(position, &self.actions, &mut self.priors);
            }
            let tip = match &mut self.tip {
                Some(tip) => {
                    tip.clone_from(position);
                    tip
                }
                None => self.tip.insert(position.clone()),
            };
            let for_first = self.rollout.play(tip, &mut self.rng);
            let value = if position.actor() == Actor::Player(Seat::Second) { -for_first } else { for_first };
            take(LeafEvaluation { policy: &self.priors, value });
        }
        Ok(())
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = SplitMix64::new(seed);
    }

    fn duplicate(&self) -> Box<dyn Evaluator<P>> {
        Box::new(self.clone())
    }
}
