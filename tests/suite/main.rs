//! The integration tests: one binary, one module for each subject.

mod agents;
mod allocations;
mod anatomy;
mod battle_command;
mod bench_command;
mod campaign;
mod combat;
mod combat_modifiers;
mod combat_odds;
mod command_line;
mod conformance;
mod data;
mod dervish_binary;
mod dice_keys;
#[cfg(feature = "torch")]
mod disk_limit;
mod doctrine;
mod doctrine_policy;
mod doctrine_weights;
mod encode;
mod endless_files;
mod expectimax;
mod external;
mod flawed_game;
mod game_ends;
mod gumbel;
mod gym;
#[cfg(feature = "torch")]
mod league;
#[cfg(feature = "torch")]
mod learning_targets;
mod lottery_game;
mod luck;
mod match_command;
mod match_folder;
mod match_play;
mod mcts;
mod merged_rolls;
mod merged_trees;
mod nash;
mod perft;
mod perft_command;
#[cfg(feature = "torch")]
mod pig_run;
mod play_command;
mod play_record;
mod play_texts;
mod position_command;
mod position_file;
#[cfg(feature = "torch")]
mod pretrained;
mod progress;
mod puct;
mod ratings;
mod readme;
mod record;
mod regret_command;
mod replay;
mod replay_command;
mod round_figures;
mod rules_chains;
mod rules_events;
mod rules_events_mahdist;
mod rules_fight;
mod rules_flag;
mod rules_index;
mod rules_march;
mod rules_own_map;
mod rules_pick;
mod rules_railway;
mod rules_reach;
mod rules_recovery;
mod rules_reinforcements;
mod rules_river;
mod rules_setup;
mod rules_supply;
mod rules_table;
mod rules_victory;
#[cfg(feature = "torch")]
mod run_config;
mod run_directory;
mod run_report;
mod search_bounds;
mod searches;
mod soak;
mod solved_pig;
mod sprt;
mod statistics;
mod store;
mod study_command;
mod study_document;
mod table_command;
mod tables;
#[cfg(feature = "torch")]
mod tensorboard;
mod thinking;
mod tournament_command;
mod toy_game;
#[cfg(feature = "torch")]
mod train_command;
#[cfg(feature = "torch")]
mod training;
#[cfg(feature = "torch")]
mod training_stops;
mod tune;
mod waiting_game;
mod watch_command;
mod whole_files;
