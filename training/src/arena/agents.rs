//! Which agents can play which game.

use dervish_agents::doctrine::Doctrine;
use dervish_agents::doctrine::evaluation::CampaignEvaluation;
use dervish_agents::registry::Registry;
use dervish_env::dervish::campaign::Campaign;
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_play::board_text::BoardText;
use dervish_search::mcts::Mcts;
use dervish_search::reference::{ConnectFourEvaluation, PigEvaluation};

/// A game with the agents that can play it. An agent that suits one game alone, or needs something from the game such as
/// an evaluation, is registered here.
pub trait ArenaGame: BoardText {
    /// The agents, with what the game gives them.
    fn agents() -> Registry<Self>;
}

impl ArenaGame for Campaign {
    fn agents() -> Registry<Campaign> {
        let mut agents = Registry::new();
        agents.register(Doctrine::default());
        agents.register(Mcts::new(CampaignEvaluation::default()));
        agents
    }
}

impl ArenaGame for ConnectFour {
    fn agents() -> Registry<ConnectFour> {
        let mut agents = Registry::new();
        agents.register(Mcts::new(ConnectFourEvaluation));
        agents
    }
}

impl ArenaGame for Pig {
    fn agents() -> Registry<Pig> {
        let mut agents = Registry::new();
        agents.register(Mcts::new(PigEvaluation));
        agents
    }
}
