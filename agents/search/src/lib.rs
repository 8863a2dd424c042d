//! Search agents and the evaluators they use.
//!
//! # Layout
//! * [`mcts`]: plain UCT with explicit chance nodes and truncated rollouts, as an agent.
//! * [`tree`]: the statistics of a search tree, in flat memory that is used again for every move.
//! * [`rollout`]: the random continuation that values a new leaf.
//! * [`mod@reference`]: evaluations of the reference games.

pub mod mcts;
pub mod reference;
pub mod rollout;
pub mod tree;
