//! The network of a session as an agent.

use crate::self_play::Start;
use dervish_agents::registry::AgentFactory;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use dervish_models::evaluator::EvaluateError;
use dervish_models::network::Network;
use dervish_neural::agent::{DEFAULT_CANDIDATES, NeuralAgent, NeuralSettings};

/// A copy of `net` that plays with so many simulations for each choice, the likeliest action of its policy with 0.
///
/// # Errors
/// What libtorch said.
pub fn player<P: Position, E: PolicyEncoder<P> + Clone + 'static>(
    start: &Start<P, E>,
    net: &Network,
    simulations: u32,
) -> Result<AgentFactory<P>, EvaluateError> {
    let settings = NeuralSettings { simulations, candidates: DEFAULT_CANDIDATES, ..NeuralSettings::default() };
    agent(start, net, settings)
}

/// A copy of `net` as an opponent of later ones: its policy without search, drawn so that no two games are alike.
///
/// # Errors
/// What libtorch said.
pub fn past_player<P: Position, E: PolicyEncoder<P> + Clone + 'static>(
    start: &Start<P, E>,
    net: &Network,
) -> Result<AgentFactory<P>, EvaluateError> {
    /// Near the likeliest action, as a player who means to win.
    const TEMPERATURE: f64 = 0.5;
    agent(start, net, NeuralSettings { temperature: TEMPERATURE, ..NeuralSettings::default() })
}

fn agent<P: Position, E: PolicyEncoder<P> + Clone + 'static>(
    start: &Start<P, E>,
    net: &Network,
    settings: NeuralSettings,
) -> Result<AgentFactory<P>, EvaluateError> {
    let Start { position, encoder } = start;
    Ok(AgentFactory::of(NeuralAgent::of_network(position, encoder.clone(), net.duplicate()?, settings)))
}
