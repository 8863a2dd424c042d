//! The numbers of a run's games. A game's scenario, dice and random streams follow from its number and the run's seed.

use dervish_env::chance::{self, SplitMix64};
use dervish_env::game::Seat;
use rand::Rng;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives out the numbers of games, each once, to several threads.
#[derive(Debug)]
pub struct GameNumbers {
    next: AtomicU64,
    end: AtomicU64,
}

impl GameNumbers {
    /// Numbers from `next` up to `end`, which is not given out.
    pub fn new(next: u64, end: u64) -> GameNumbers {
        GameNumbers { next: AtomicU64::new(next), end: AtomicU64::new(end) }
    }

    /// The next number below `limit`, if there is one.
    pub fn take_below(&self, limit: u64) -> Option<u64> {
        let end = self.end.load(Ordering::Relaxed).min(limit);
        let take = |next| (next < end).then_some(next + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()
    }

    /// The next number, if there is one.
    pub fn take(&self) -> Option<u64> {
        self.take_below(u64::MAX)
    }

    /// Moves the end.
    pub fn extend_to(&self, end: u64) {
        self.end.store(end, Ordering::Relaxed);
    }
}

/// The dice seed of a game of a run.
pub fn dice_seed(run_seed: u64, number: u64) -> u64 {
    chance::game_seed(run_seed, number)
}

/// What is drawn in a game beside its dice.
pub fn game_stream(run_seed: u64, number: u64) -> SplitMix64 {
    SplitMix64::new(chance::agent_rng(run_seed, number, Seat::First).next_u64())
}
