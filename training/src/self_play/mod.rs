//! Self-play: agents that play themselves, and what is kept of it to learn from.
//!
//! # Layout
//! * [`game`]: a game of self-play as it is kept: decisions and sparse policies, no features.
//! * [`numbers`]: the numbers of a run's games, from which all that is drawn in them follows.
//! * [`pool`]: whom the network meets beside itself.
//! * [`tree_search`]: the searches of self-play.
//! * [`replay`]: the games of the latest rounds, in memory and on disk.
//! * [`round_figures`]: what the games of a round were like.
//!
//! With the feature `torch`:
//! * `actor`: one thread that plays many games at once and evaluates their positions in batches.
//! * `evaluation`: where positions are evaluated: by each actor, or by one network for all.
//! * `players`: who plays the games of a run on one thread.
//! * `teacher`: games of agents that the network learns from before it plays itself.
//! * `speed`: how much of a network's speed self-play keeps.
//! * `targets`: what the decisions of a finished game should have been judged and played like.
//! * `weights`: how new weights reach the actors.

use crate::self_play::tree_search::SearchConfig;
use dervish_agents::evaluation::Utility;
use serde::{Deserialize, Serialize};

#[cfg(feature = "torch")]
pub mod actor;
#[cfg(feature = "torch")]
pub mod evaluation;
pub mod game;
pub mod numbers;
#[cfg(feature = "torch")]
pub mod players;
pub mod pool;
pub mod replay;
pub mod round_figures;
#[cfg(feature = "torch")]
pub mod speed;
#[cfg(feature = "torch")]
pub mod targets;
#[cfg(feature = "torch")]
pub mod teacher;
pub mod tree_search;
#[cfg(feature = "torch")]
pub mod weights;

/// A game that a run plays: where it begins, and how a network reads it.
#[derive(Clone, Debug)]
pub struct Start<P, E> {
    /// Its first position.
    pub position: P,
    /// Its encoder.
    pub encoder: E,
}

/// Who evaluates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluatorKind {
    /// Each actor, on its own thread.
    #[default]
    Own,
    /// One thread for all actors. Actors that wait take no processor time, so there may be more of them than cores.
    Shared,
}

/// How self-play is played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlayConfig {
    /// Games that one actor plays at once, at least 1: the size of its batches, about.
    pub games_at_once: usize,
    /// Simulations of a full search; 0 draws from the policy and learns by policy gradient.
    pub simulations: u32,
    /// Simulations of a cheap search, which moves the game on but teaches the policy nothing.
    pub cheap_simulations: u32,
    /// Share of the decisions that get a full search: playout cap randomisation (Wu 2019, *Accelerating self-play learning
    /// in Go*).
    pub full_share: f64,
    /// How positions are searched.
    pub search: SearchConfig,
    /// Who evaluates positions.
    pub evaluator: EvaluatorKind,
    /// Positions from which on a shared evaluator joins no further batch.
    pub most_joined: usize,
    /// What a result is worth to the players.
    pub utility: Utility,
}

impl Default for SelfPlayConfig {
    fn default() -> SelfPlayConfig {
        SelfPlayConfig {
            games_at_once: 64,
            simulations: 0,
            cheap_simulations: 4,
            full_share: 1.0,
            search: SearchConfig::default(),
            evaluator: EvaluatorKind::Own,
            most_joined: 4096,
            utility: Utility::default(),
        }
    }
}
