//! Which agents can play which game.

use crate::arena::anatomy::Course;
use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::doctrine::policy::DoctrinePolicy;
use dervish_agents::evaluation::Evaluation;
use dervish_agents::registry::Registry;
use dervish_env::dervish::campaign::Campaign;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_external::agent::ExternalAgent;
use dervish_play::board_text::BoardText;
use dervish_search::expectimax_agent::Expectimax;
use dervish_search::gumbel_agent::Gumbel;
use dervish_search::knowledge::Knowledge;
use dervish_search::mcts_agent::Mcts;
use dervish_search::reference::{ConnectFourEvaluation, KeepPace, PigEvaluation};

/// A game with the agents that can play it. An agent that suits one game alone, or needs something from the game such as
/// an evaluation, is registered here; [`agents_of`] adds those that need more.
pub trait ArenaGame: BoardText + Course {
    /// The game's own evaluation, which searches lean on and luck is measured by.
    fn evaluation() -> impl Evaluation<Self>;

    /// The agents, with what the game gives them.
    fn agents() -> Registry<Self>;

    /// The position for a program in another language: an object, or the text that people see.
    fn document(&self) -> serde_json::Value {
        self.board_text().into()
    }
}

/// All agents that can play the game that begins at `start`: those of the game, programs in other languages and, with the
/// feature `torch`, trained networks, both of which read the game through `encoder`.
pub fn agents_of<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(start: &P, encoder: E) -> Registry<P> {
    let mut agents = P::agents();
    agents.register(ExternalAgent::new(start, encoder.clone(), P::document));
    with_networks(agents, start, encoder)
}

#[cfg(feature = "torch")]
fn with_networks<P: Position, E: PolicyEncoder<P> + 'static>(
    mut agents: Registry<P>,
    start: &P,
    encoder: E,
) -> Registry<P> {
    agents.register(dervish_neural::agent::NeuralAgent::new(start, encoder));
    agents
}

#[cfg(not(feature = "torch"))]
fn with_networks<P: Position, E: PolicyEncoder<P> + 'static>(agents: Registry<P>, _: &P, _: E) -> Registry<P> {
    agents
}

impl ArenaGame for Campaign {
    fn evaluation() -> impl Evaluation<Campaign> {
        CampaignEvaluation::default()
    }

    fn agents() -> Registry<Campaign> {
        let doctrine = Doctrine::default();
        let knowledge = Knowledge::new(Self::evaluation());
        let mut agents = with_searches(knowledge.with_policy("doctrine", DoctrinePolicy::new(doctrine.clone())));
        agents.register(doctrine);
        agents
    }

    /// A position file.
    fn document(&self) -> serde_json::Value {
        let file = PositionFile { scenario: self.identity().scenario, position: *self };
        // The text of a position file is JSON.
        serde_json::from_str(&file.text()).unwrap_or_default()
    }
}

impl ArenaGame for ConnectFour {
    fn evaluation() -> impl Evaluation<ConnectFour> {
        ConnectFourEvaluation
    }

    fn agents() -> Registry<ConnectFour> {
        with_searches(Knowledge::new(Self::evaluation()))
    }
}

impl ArenaGame for Pig {
    fn evaluation() -> impl Evaluation<Pig> {
        PigEvaluation
    }

    fn agents() -> Registry<Pig> {
        with_searches(Knowledge::new(Self::evaluation()).with_policy("keep-pace", KeepPace))
    }
}

/// The agents that can play any game, and the searches with what the game gives them.
fn with_searches<P: Position, E: Evaluation<P>>(knowledge: Knowledge<P, E>) -> Registry<P> {
    let mut agents = Registry::new();
    agents.register(Expectimax::new(knowledge.evaluation.clone()));
    agents.register(Gumbel::new(knowledge.clone()));
    agents.register(Mcts::new(knowledge));
    agents
}
