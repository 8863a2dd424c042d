//! The integration tests: one binary, one module for each subject.

mod agents;
mod battle_command;
mod bench_command;
mod campaign;
mod combat;
mod conformance;
mod data;
mod dervish_binary;
mod encode;
mod flawed_game;
mod gumbel;
mod gym;
mod match_command;
mod match_play;
mod mcts;
mod perft;
mod position_file;
mod record;
mod replay_command;
mod rules_events;
mod rules_fight;
mod rules_index;
mod rules_march;
mod rules_reinforcements;
mod rules_river;
mod rules_setup;
mod rules_supply;
mod rules_table;
mod rules_victory;
mod soak;
mod solved_pig;
mod statistics;
mod table_command;
mod tables;
#[cfg(feature = "torch")]
mod training;
