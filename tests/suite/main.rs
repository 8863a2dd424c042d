//! The integration tests: one binary, one module for each subject.

mod agents;
mod combat;
mod conformance;
mod data;
mod flawed_game;
mod gym;
mod match_play;
mod mcts;
mod perft;
mod record;
mod statistics;
mod tables;
