//! The subcommands of `dervish`.

pub mod agents;
pub mod match_games;
