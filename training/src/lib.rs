//! Self-play, training, arena and the `dervish` command line.
//!
//! # Layout
//! * [`commands`]: the subcommands of `dervish`.
//! * [`arena`]: matches and their statistics.
//! * [`games`]: the games by name.
//! * [`tune`]: the numbers of an agent, made better by playing.
//! * [`interrupt`]: watching for Ctrl-C.
//!
//! With the feature `torch`:
//! * `assessment`: how strong a run's network is while it learns.
//! * `self_play`: agents that play themselves, and what is kept of it to learn from.
//! * `learner`: optimisation steps on finished games.
//! * `session`: actors and learner together, for a while.
//! * `config`: how a run plays and learns: TOML, with presets.
//! * `run_dir`: the directory of a run.

pub mod arena;
#[cfg(feature = "torch")]
pub mod assessment;
pub mod commands;
#[cfg(feature = "torch")]
pub mod config;
pub mod games;
pub mod interrupt;
#[cfg(feature = "torch")]
pub mod learner;
#[cfg(feature = "torch")]
pub mod run_dir;
#[cfg(feature = "torch")]
pub mod self_play;
#[cfg(feature = "torch")]
pub mod session;
pub mod tune;
