//! The integration tests: one binary, one module for each subject.

mod agents;
mod combat;
mod data;
mod mcts;
mod statistics;
mod tables;
