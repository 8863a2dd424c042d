//! The uniformly random agent.

use crate::agent::{Agent, AgentError, Choice};
use crate::limits::Limits;
use crate::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_env::chance::below;
use dervish_env::game::{Action, Position};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Chooses each legal action with equal probability.
#[derive(Clone, Debug)]
pub struct RandomAgent {
    seed: u64,
    rng: ChaCha8Rng,
    actions: Vec<Action>,
}

impl Default for RandomAgent {
    fn default() -> RandomAgent {
        RandomAgent { seed: 0, rng: ChaCha8Rng::seed_from_u64(0), actions: Vec::new() }
    }
}

impl<P: Position> Agent<P> for RandomAgent {
    fn spec(&self) -> String {
        format!("random:seed={}", self.seed)
    }

    fn new_game(&mut self, mut rng: ChaCha8Rng) {
        rng.set_stream(self.seed);
        self.rng = rng;
    }

    fn choose(&mut self, position: &P, _limits: &Limits) -> Result<Choice, AgentError> {
        position.legal_actions_into(&mut self.actions);
        if self.actions.is_empty() {
            let agent = Agent::<P>::spec(self);
            return Err(AgentError::NotToAct { agent, pending: position.pending_text() });
        }
        let index = below(self.rng.next_u64(), self.actions.len() as u32) as usize;
        Ok(Choice::plain(self.actions[index]))
    }
}

impl<P: Position> Configure<P> for RandomAgent {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "chooses each legal action with equal probability";
    const OPTIONS: &'static [OptionDoc] =
        &[OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" }];

    fn configure(&self, options: &AgentOptions) -> Result<RandomAgent, SpecError> {
        Ok(RandomAgent { seed: options.number("seed", 0, 0..=u64::MAX)?, ..self.clone() })
    }
}
