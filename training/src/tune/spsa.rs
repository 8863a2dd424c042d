//! Simultaneous perturbation stochastic approximation (Spall 1992, IEEE Transactions on Automatic Control 37).
//!
//! Coordinates are scaled: a step of 1 in each is the size of its weight at the start, so that one spread and one rate
//! serve weights of any unit. The gains are those that Spall (1998) recommends: rates `a / (A + k)^0.602` with `A` a tenth
//! of all steps, spreads `c / k^0.101`, `k` from 1.

use dervish_env::chance::{SplitMix64, game_seed};
use serde::{Deserialize, Serialize};

/// How fast rates fall.
const RATE_DECAY: f64 = 0.602;
/// How fast spreads fall.
const SPREAD_DECAY: f64 = 0.101;

/// How the search goes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gains {
    /// Steps in all, at least 1.
    pub steps: u32,
    /// The first spread `c`: how far, in scaled units, the two points lie from the present one.
    pub spread: f64,
    /// How far the first step goes, in scaled units, for the whole range of measured differences (from 0 to 1).
    pub rate: f64,
    /// Names the signs of all perturbations.
    pub seed: u64,
}

/// What bounds a coordinate, in scaled units.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
    /// The least spread with which a measurement sees anything: half a unit for a whole number, else 0.
    pub spread: f64,
}

/// Where a search stands: the whole of what must be kept to go on with it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Steps made.
    pub step: u32,
    /// The present point.
    pub point: Vec<f64>,
    /// Sum of the points after each step of the later half.
    pub sum: Vec<f64>,
    /// How many these are.
    pub summed: u32,
}

/// Two points to measure against each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Probe {
    /// The point on one side.
    pub plus: Vec<f64>,
    /// The point on the other.
    pub minus: Vec<f64>,
    signs: Vec<f64>,
    spread: f64,
}

impl Search {
    /// A search that begins at a point.
    pub fn new(point: Vec<f64>) -> Search {
        Search { step: 0, sum: vec![0.0; point.len()], point, summed: 0 }
    }

    /// The next two points. The same each time until [`Search::advance`].
    pub fn probe(&self, gains: &Gains, bounds: &[Bounds]) -> Probe {
        let mut signs = SplitMix64::new(game_seed(gains.seed, u64::from(self.step)));
        let signs: Vec<f64> = self.point.iter().map(|_| if signs.below(2) == 0 { -1.0 } else { 1.0 }).collect();
        let spread = gains.spread / f64::from(self.step + 1).powf(SPREAD_DECAY);
        let side = |direction: f64| {
            let moved = self.point.iter().zip(&signs).zip(bounds);
            moved.map(|((x, sign), b)| (x + direction * sign * spread.max(b.spread)).clamp(b.least, b.most)).collect()
        };
        Probe { plus: side(1.0), minus: side(-1.0), signs, spread }
    }

    /// Moves on by what was measured: how much better, in [-1, 1], the side `plus` of the probe did than `minus`.
    pub fn advance(&mut self, gains: &Gains, bounds: &[Bounds], probe: &Probe, difference: f64) {
        let delay = f64::from(gains.steps) / 10.0;
        let fallen = (delay + 1.0) / (delay + f64::from(self.step + 1));
        let rate = gains.rate * fallen.powf(RATE_DECAY);
        for ((x, sign), b) in self.point.iter_mut().zip(&probe.signs).zip(bounds) {
            // Spall divides by the spread; the first rate is given in units of it.
            let steepness = difference * gains.spread / probe.spread.max(b.spread);
            *x = (*x + rate * sign * steepness).clamp(b.least, b.most);
        }
        self.step += 1;
        if 2 * self.step > gains.steps {
            self.summed += 1;
            for (sum, x) in self.sum.iter_mut().zip(&self.point) {
                *sum += x;
            }
        }
    }

    /// The best guess so far: the mean of the later half of the points, or the present one in the first half.
    pub fn best(&self) -> Vec<f64> {
        if self.summed == 0 {
            return self.point.clone();
        }
        self.sum.iter().map(|sum| sum / f64::from(self.summed)).collect()
    }
}
