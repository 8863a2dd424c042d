//! Search agents and the evaluators they use.
//!
//! # Layout
//! * [`mcts`]: Monte-Carlo tree search with explicit chance nodes (UCT, PUCT), [`mcts_agent`]: as an agent; [`simulation`]: its
//!   simulations, in batches and on several threads.
//! * [`gumbel`]: search with a policy and a value from outside, for few simulations; [`gumbel_agent`]: as an agent.
//! * [`puct`]: AlphaZero's search step by step, for self-play.
//! * [`expectimax`]: search by depth with pruning at decisions and rolls, [`expectimax_agent`]: as an agent.
//! * [`exact`]: positions that can be solved to the end of the game; [`fixed_point`]: games in which positions come back.
//! * [`tree`]: the statistics of a search tree, in flat memory that is used again for every move.
//! * [`roll_expansion`]: how a roll becomes a node of the tree.
//! * [`leaf_evaluator`]: what leaves are worth by rollouts, policies and evaluations; [`leaf_options`]: as options of agents;
//!   [`rollout`]: the rollouts; [`glance`]: evaluations alone.
//! * [`knowledge`]: what a game gives to its searches; [`mod@reference`]: what is known of the reference games.

pub mod exact;
pub mod expectimax;
pub mod expectimax_agent;
pub mod fixed_point;
pub mod glance;
pub mod gumbel;
pub mod gumbel_agent;
mod improvement;
pub mod knowledge;
mod leaf;
pub mod leaf_evaluator;
pub mod leaf_options;
pub mod mcts;
pub mod mcts_agent;
pub mod puct;
pub mod reference;
pub mod roll_expansion;
pub mod rollout;
pub mod simulation;
mod transpositions;
pub mod tree;
