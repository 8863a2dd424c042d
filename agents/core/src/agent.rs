//! What an agent is: it is told that a game begins and what happens in it, and chooses when asked.

use crate::limits::Limits;
use dervish_env::game::{Action, Outcome, Position, Seat};
use dervish_env::record::Ending;
use rand_chacha::ChaCha8Rng;

/// A player of one game at a time, on either seat.
///
/// An agent answers from the position, the limits and its own random stream alone. It never sees the dice that are
/// still to fall, and the same stream and positions give the same choices on every machine, unless a time limit is set.
pub trait Agent<P: Position>: Send {
    /// The text spec that makes this agent again, with every option written out: `mcts:sims=400,c=1,...`.
    fn spec(&self) -> String;

    /// Hash of the contents of the files that the agent plays by: of agents with one spec, those alone are the same that have
    /// the same fingerprint too. `None` where the spec says all, or the agent cannot know.
    fn fingerprint(&self) -> Option<String> {
        None
    }

    /// Forgets everything about earlier games. All that the agent draws in the new game comes from `rng`, which is its
    /// own (see [`dervish_env::chance::agent_rng`]).
    fn new_game(&mut self, rng: ChaCha8Rng);

    /// Chooses among the legal actions of a position that waits for a player.
    ///
    /// # Errors
    /// [`AgentError`] if no player is to act, or if the agent cannot answer; nothing is lost, it may be asked again. After
    /// [`AgentError::Forfeit`] it can answer in the next game.
    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError>;

    /// Hears of every action (its own too) and every roll of the game, in order. Agents that keep nothing between
    /// moves ignore it.
    fn observe(&mut self, _event: Event) {}

    /// Hears how the game ended, unless it was broken off by whoever held it. The next call is [`Agent::new_game`].
    fn game_over(&mut self, _ending: &Ending) {}
}

/// An answer to [`Agent::choose`].
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The chosen action, legal in the position that was asked about.
    pub action: Action,
    /// What a searching agent found, for display, records and training targets.
    pub report: Option<SearchReport>,
}

impl Choice {
    /// An action without a report.
    pub fn plain(action: Action) -> Choice {
        Choice { action, report: None }
    }
}

/// What a search found at its root. Reports are equal if they say the same of the game, however long it took to find.
#[derive(Clone, Debug)]
pub struct SearchReport {
    /// Expected result in [-1, 1] for the player to move, of the chosen action.
    pub value: f32,
    /// Simulations run for this choice; 0 from a search that makes none.
    pub simulations: u32,
    /// What was used of the budget ([`crate::limits::MoveBudget::simulations`]): simulations, or positions looked at by a
    /// search that makes none.
    pub budget_used: u32,
    /// Nodes of the search tree (of all trees, if threads have one each), or positions looked at by a search without one.
    pub nodes: u64,
    /// How many of these the tree had kept from earlier choices.
    pub reused_nodes: u64,
    /// How far the search has looked: actions and rolls of its longest way, or the depth, in decisions and rolls, of a
    /// search by depth.
    pub depth: u32,
    /// One entry for each legal action, in legal-action order.
    pub actions: Vec<ActionReport>,
    /// The line that the search thinks most likely, beginning with the chosen action; at a roll, the likeliest visited
    /// outcome.
    pub principal_variation: Vec<Event>,
    /// Wall-clock time of the search in seconds.
    pub seconds: f64,
}

impl SearchReport {
    /// Nodes that were new, for each second of the search; 0 if it took no time that can be measured.
    pub fn nodes_per_second(&self) -> f64 {
        let new = self.nodes.saturating_sub(self.reused_nodes) as f64;
        if self.seconds > 0.0 { new / self.seconds } else { 0.0 }
    }
}

impl PartialEq for SearchReport {
    fn eq(&self, other: &SearchReport) -> bool {
        let SearchReport {
            value,
            simulations,
            budget_used,
            nodes,
            reused_nodes,
            depth,
            actions,
            principal_variation,
            seconds: _,
        } = self;
        (*value, *simulations, *budget_used, *nodes, *reused_nodes, *depth)
            == (other.value, other.simulations, other.budget_used, other.nodes, other.reused_nodes, other.depth)
            && *actions == other.actions
            && *principal_variation == other.principal_variation
    }
}

/// What a search found about one legal action.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ActionReport {
    /// The action.
    pub action: Action,
    /// How many simulations went through it.
    pub visits: u32,
    /// Expected result in [-1, 1] for the player to move; 0 while unvisited.
    pub value: f32,
}

/// Something that happened in a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A player acted.
    Played(Seat, Action),
    /// A roll fell.
    Rolled(Outcome),
}

/// Why an agent gave no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AgentError {
    /// The position waits for a roll or is finished.
    #[error("{agent} was asked to choose where no player is to act ({pending})")]
    NotToAct {
        /// Spec of the agent.
        agent: String,
        /// What the position waits for.
        pending: String,
    },
    /// Something the agent depends on failed: a model, a person who left.
    #[error("{agent}: {reason}")]
    Failed {
        /// Spec of the agent.
        agent: String,
        /// What failed.
        reason: String,
    },
    /// The agent broke the terms on which it plays: its own fault, so the game is lost and a match goes on.
    #[error("{agent}: {reason}")]
    Forfeit {
        /// Spec of the agent.
        agent: String,
        /// What it did or did not do.
        reason: String,
    },
}
