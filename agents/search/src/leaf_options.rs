//! The options of the searching agents that say what leaves are worth, with their words in specs.

use crate::knowledge::{Knowledge, NO_ROLLOUT, RANDOM};
use crate::leaf_evaluator::LeafEvaluator;
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::registry::{AgentOptions, OptionDoc, SpecError};
use dervish_env::game::Position;
use std::fmt;

/// How leaves get their priors and values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeafOptions {
    /// The policy that gives the priors, where the search follows some.
    pub prior: &'static str,
    /// The policy that plays rollouts; `None` judges leaves at a glance.
    pub rollout: Option<&'static str>,
    /// Decisions after which a rollout is cut off and evaluated; 0 plays to the end of the game.
    pub depth: usize,
}

impl Default for LeafOptions {
    fn default() -> LeafOptions {
        LeafOptions { prior: RANDOM, rollout: Some(RANDOM), depth: 20 }
    }
}

impl LeafOptions {
    /// What listings say of `prior`.
    pub const PRIOR: OptionDoc =
        OptionDoc { name: "prior", default: RANDOM, meaning: "policy whose probabilities are the priors" };
    /// What listings say of `rollout`.
    pub const ROLLOUT: OptionDoc = OptionDoc {
        name: "rollout",
        default: RANDOM,
        meaning: "policy that plays rollouts, or none: judged at a glance",
    };
    /// What listings say of `depth`.
    pub const DEPTH: OptionDoc = OptionDoc {
        name: "depth",
        default: "20",
        meaning: "decisions in a rollout before it is judged; 0: to the end",
    };

    /// The policies that an option names in a game, as [`choices`](dervish_agents::registry::Configure::choices) tells them.
    pub fn choices<P: Position, E>(option: &str, knowledge: &Knowledge<P, E>) -> Vec<&'static str> {
        if option == Self::PRIOR.name {
            knowledge.policy_names(None)
        } else if option == Self::ROLLOUT.name {
            knowledge.policy_names(Some(NO_ROLLOUT))
        } else {
            Vec::new()
        }
    }

    /// These options where a spec gives no others.
    ///
    /// # Errors
    /// [`SpecError::InvalidValue`] for a policy that the game does not have, a number out of range, or a depth without
    /// rollouts that it could end. A depth that is the default passes, since specs spell it out in any case.
    pub fn configured<P: Position, E>(
        self,
        options: &AgentOptions,
        knowledge: &Knowledge<P, E>,
    ) -> Result<LeafOptions, SpecError> {
        let rollout = self.rollout.unwrap_or(NO_ROLLOUT);
        let rollout = knowledge.policy_option(options, Self::ROLLOUT.name, rollout, Some(NO_ROLLOUT))?;
        let depth = options.number(Self::DEPTH.name, self.depth, 0..=1_000_000)?;
        if rollout == NO_ROLLOUT && depth != self.depth {
            return Err(options.invalid(Self::DEPTH.name, &depth.to_string(), "used with rollout=none".to_string()));
        }
        Ok(LeafOptions {
            prior: knowledge.policy_option(options, Self::PRIOR.name, self.prior, None)?,
            rollout: (rollout != NO_ROLLOUT).then_some(rollout),
            depth,
        })
    }

    /// The evaluator that these options describe; it gives priors `with_priors` only. A policy that the game does not have
    /// is replaced by [`RANDOM`].
    pub fn evaluator<P: Position, E: Evaluation<P>>(
        &self,
        knowledge: &Knowledge<P, E>,
        with_priors: bool,
        utility: Utility,
    ) -> LeafEvaluator<P, E> {
        LeafEvaluator::of_names(knowledge, with_priors.then_some(self.prior), self.rollout, self.depth, utility)
    }
}

/// The options as they stand in a spec.
impl fmt::Display for LeafOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeafOptions { prior, rollout, depth } = *self;
        write!(f, "prior={prior},rollout={},depth={depth}", rollout.unwrap_or(NO_ROLLOUT))
    }
}

/// What listings say of `margin`, which every search has that judges results itself.
pub const MARGIN: OptionDoc =
    OptionDoc { name: "margin", default: "0", meaning: "share of the margin in what a result is worth, 0 to 1" };

/// What results are worth by the spec's `margin`, or as given.
///
/// # Errors
/// [`SpecError::InvalidValue`] for a share out of range.
pub fn utility(options: &AgentOptions, default: Utility) -> Result<Utility, SpecError> {
    options.number(MARGIN.name, default.margin_share, 0.0..=1.0).map(|margin_share| Utility { margin_share })
}
