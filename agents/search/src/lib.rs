//! Search agents and the evaluators they use.
//!
//! # Layout
//! * [`mcts`]: plain UCT with explicit chance nodes and truncated rollouts, as an agent.
//! * [`tree`]: the statistics of a search tree, in flat memory that is used again for every move.
//! * [`gumbel`]: search with a policy and a value from outside, evaluated in batches, for few simulations.
//! * [`roll_expansion`]: how a roll becomes a node of the tree.
//! * [`rollout`]: the random continuation that values a new leaf.
//! * [`mod@reference`]: evaluations of the reference games.

pub mod gumbel;
pub mod mcts;
pub mod reference;
pub mod roll_expansion;
pub mod rollout;
pub mod tree;
