//! Self-play, training, arena and the `dervish` command line.
//!
//! # Layout
//! * [`commands`]: the subcommands of `dervish`.
//! * [`arena`]: matches and their statistics.
//! * [`assessment`]: how strong a run's network is while it learns.
//! * [`games`]: the games by name.
//! * [`tune`]: the numbers of an agent, made better by playing.
//! * [`interrupt`]: watching for Ctrl-C.
//! * [`self_play`]: games of agents that play themselves, what is kept of them, and what they were like.
//! * [`run_files`]: the files of a training run, to look at.
//! * [`run_report`]: a training run as one page with plots.
//!
//! With the feature `torch`:
//! * `learner`: optimisation steps on finished games.
//! * `session`: actors and learner together, for a while.
//! * `config`: how a run plays and learns: TOML, with presets.
//! * `run_dir`: the directory of a run.
//! * `round_log`: the figures of each round, as lines and for TensorBoard.
//! * `tensorboard`: event files.
//! * `disk_limit`: what a run may take on disk.

// `commands::tell` writes to standard error: a reader that has gone away ends no work.
#![deny(clippy::print_stderr)]

pub mod arena;
pub mod assessment;
pub mod commands;
#[cfg(feature = "torch")]
pub mod config;
#[cfg(feature = "torch")]
pub mod disk_limit;
pub mod games;
pub mod interrupt;
#[cfg(feature = "torch")]
pub mod learner;
#[cfg(feature = "torch")]
pub mod round_log;
#[cfg(feature = "torch")]
pub mod run_dir;
pub mod run_files;
pub mod run_report;
pub mod self_play;
#[cfg(feature = "torch")]
pub mod session;
#[cfg(feature = "torch")]
pub mod tensorboard;
pub mod tune;
