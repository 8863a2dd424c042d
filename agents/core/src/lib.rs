//! Agents: the trait, the registry, and those that need neither search nor a network.
//!
//! # Layout
//! * [`agent`]: the trait [`agent::Agent`], what it answers and what it is told.
//! * [`limits`]: how much an agent may think, for each move and each turn.
//! * [`registry`]: text spec to agent: `mcts:sims=400,seed=7`.
//! * [`evaluation`]: the heuristic value of a position, where a search stops short of the end.
//! * [`policy`]: probabilities of the legal actions without search: priors, and what plays rollouts.
//! * [`evaluator`]: policy and value of several positions at a time: what a search asks at its leaves.
//! * [`thinking`]: what every searching agent does around its search.
//! * [`random`]: the uniformly random agent.
//! * [`doctrine`]: the scripted agent of the campaign, and the evaluation of its positions.

pub mod agent;
pub mod doctrine;
pub mod evaluation;
pub mod evaluator;
pub mod limits;
pub mod policy;
pub mod random;
pub mod registry;
pub mod thinking;
