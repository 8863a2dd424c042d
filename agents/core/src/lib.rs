//! Agents: the trait, the registry, and those that need neither search nor a network.
//!
//! # Layout
//! * [`agent`]: the trait [`agent::Agent`], what it answers and what it is told.
//! * [`limits`]: how much an agent may think, for each move and each turn.
//! * [`registry`]: text spec to agent: `mcts:sims=400,seed=7`.
//! * [`evaluation`]: the heuristic value of a position, where a search stops short of the end.
//! * [`random`]: the uniformly random agent.
//! * [`doctrine`]: the scripted agent of the campaign, and the evaluation of its positions.

pub mod agent;
pub mod doctrine;
pub mod evaluation;
pub mod limits;
pub mod random;
pub mod registry;
