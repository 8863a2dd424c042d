//! Matches between agents and what they tell.
//!
//! # Layout
//! * [`match_play`]: games in pairs with the seats swapped and common dice, on all cores.
//! * [`report`]: a match as a document and as a table.
//! * [`statistics`]: scores, intervals and Elo differences from results, as pure functions.

pub mod match_play;
pub mod report;
pub mod statistics;
