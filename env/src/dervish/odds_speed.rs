//! How fast the exact distribution of a combat is worked out, and found again.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::campaign::{BattleStage, Campaign};
use super::rules::combat::Combat;
use super::rules::odds::Distribution;
use crate::chance::{Dice, SplitMix64, game_seed};
use crate::game::{Actor, Position};

/// What [`measure_odds`] found.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct OddsSpeed {
    /// Combats that were measured, as random play brings them.
    pub combats: usize,
    /// Mean number of different endings.
    pub endings: f64,
    /// Mean time of a distribution that is worked out anew, in microseconds.
    pub new_us: f64,
    /// Mean time of finding a distribution that this thread remembers, in microseconds.
    pub known_us: f64,
}

/// Combats that are measured, at most: fewer than a thread remembers.
const COMBATS: usize = 500;

/// Measures combats of random games from `start`, each way for about half of `budget`; `None` if there is hardly a
/// combat in a hundred games.
pub fn measure_odds(start: &Campaign, seed: u64, budget: Duration) -> Option<OddsSpeed> {
    let combats = combats(start, seed);
    if combats.is_empty() {
        return None;
    }
    let mut distribution = Distribution::default();
    let mut endings = 0;
    let each = |work: &mut dyn FnMut(&Combat<'static>)| {
        let (begun, mut rounds) = (Instant::now(), 0);
        while rounds == 0 || begun.elapsed() < budget / 2 {
            combats.iter().for_each(&mut *work);
            rounds += 1;
        }
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(rounds) / combats.len() as f64
    };
    let new_us = each(&mut |combat| combat.distribution_into(black_box(&mut distribution)));
    for combat in &combats {
        endings += combat.with_distribution(|distribution| distribution.endings().len());
    }
    let known_us = each(&mut |combat| {
        black_box(combat.with_distribution(|distribution| distribution.endings().len()));
    });
    Some(OddsSpeed { combats: combats.len(), endings: endings as f64 / combats.len() as f64, new_us, known_us })
}

fn combats(start: &Campaign, seed: u64) -> Vec<Combat<'static>> {
    let (mut combats, mut legal) = (Vec::new(), Vec::new());
    for game in 0..100 {
        let (mut position, mut dice) = (*start, Dice::new(game_seed(seed, game)));
        let mut rng = SplitMix64::new(game_seed(seed, game));
        loop {
            match position.actor() {
                Actor::Finished => break,
                Actor::Chance => {
                    let battle = position.battle();
                    if battle.stage == BattleStage::Tests && battle.dice == [0; 4] {
                        combats.push(position.combat());
                        if combats.len() == COMBATS {
                            return combats;
                        }
                    }
                    let roll = dice.roll(&position);
                    position.resolve_possible(roll);
                }
                Actor::Player(_) => {
                    position.legal_actions_into(&mut legal);
                    position.apply_legal(legal[rng.below(legal.len())]);
                }
            }
        }
    }
    combats
}
