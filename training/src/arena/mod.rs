//! Matches between agents and what they tell.
//!
//! # Layout
//! * [`agents`]: which agents can play which game.
//! * [`folder`]: the folder of a match, with its document and records.
//! * [`match_play`]: games in pairs with the seats swapped and common dice, on all cores.
//! * [`regret`]: agents against perfect play.
//! * [`report`]: a match as a document and as a table.
//! * [`statistics`]: scores, intervals and Elo differences from results, as pure functions.

pub mod agents;
pub mod folder;
pub mod match_play;
pub mod regret;
pub mod report;
pub mod statistics;
