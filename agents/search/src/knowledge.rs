//! What a game gives to its searches: an evaluation, and policies by name.

use dervish_agents::policy::{Policy, Uniform};
use dervish_agents::registry::{AgentOptions, SpecError};
use dervish_env::game::Position;

/// Name of the policy that every game has: each legal action alike.
pub const RANDOM: &str = "random";
/// Name that stands for no rollout where the name of a policy is asked for.
pub const NO_ROLLOUT: &str = "none";

/// An evaluation and policies for the positions of one game.
#[derive(Clone)]
pub struct Knowledge<P: Position, E> {
    /// Judges a position at a glance.
    pub evaluation: E,
    policies: Vec<(&'static str, Box<dyn Policy<P>>)>,
}

impl<P: Position, E> Knowledge<P, E> {
    /// An evaluation, and the policy [`RANDOM`].
    pub fn new(evaluation: E) -> Knowledge<P, E> {
        Knowledge { evaluation, policies: vec![(RANDOM, Box::new(Uniform))] }
    }

    /// The same with another policy.
    pub fn with_policy(mut self, name: &'static str, policy: impl Policy<P> + 'static) -> Knowledge<P, E> {
        self.policies.push((name, Box::new(policy)));
        self
    }

    /// The policy of this name; [`RANDOM`] if there is none.
    pub fn policy(&self, name: &str) -> Box<dyn Policy<P>> {
        self.policies
            .iter()
            .find(|(known, _)| *known == name)
            .map_or_else(|| Box::new(Uniform) as _, |(_, p)| p.clone())
    }

    /// The names of the policies, and `also`, a name that stands for something else.
    pub fn policy_names(&self, also: Option<&'static str>) -> Vec<&'static str> {
        self.policies.iter().map(|(name, _)| *name).chain(also).collect()
    }

    /// Which of [`Knowledge::policy_names`] is given for `option`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::InvalidValue`] if the game has no such policy.
    pub fn policy_option(
        &self,
        options: &AgentOptions,
        option: &'static str,
        default: &'static str,
        also: Option<&'static str>,
    ) -> Result<&'static str, SpecError> {
        let Some(text) = options.text(option) else { return Ok(default) };
        let names = self.policy_names(also);
        let named = names.iter().copied().find(|name| *name == text);
        named.ok_or_else(|| options.invalid(option, text, format!("one of {}", names.join(", "))))
    }
}
