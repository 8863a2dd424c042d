//! What the games of a round were like: their length and result, how sure their players were, and how good the players'
//! values were at telling the result.

use crate::self_play::game::{Decision, SelfPlayGame};
use dervish_agents::evaluation::Utility;
use dervish_env::game::Seat;
use serde::{Deserialize, Serialize};

/// Bins of equal width into which values in [-1, 1] are sorted.
pub const VALUE_BINS: usize = 10;
/// Player turns that are told apart; later ones count as the last of these.
pub const TURNS: usize = 32;

/// Figures of the games of one round. Utilities are in [-1, 1], those of [`Utility::of_result`] for a result, and always for
/// the seat that decided.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundFigures {
    /// Games.
    pub games: usize,
    /// Mean number of decisions of a game, forced ones included.
    pub decisions_per_game: f64,
    /// Mean number of player turns of a game: a turn lasts as long as one player decides.
    pub turns_per_game: f64,
    /// Mean score of the first seat, 0 (lost) ..= 1 (won).
    pub first_seat_score: f64,
    /// Mean entropy in nats of the policies to learn; `None` where no decision has one.
    pub taught_entropy: Option<f64>,
    /// The values of the players against the results, by the seat that decided.
    pub seats: [Calibration; 2],
    /// The calibration error in the first, the middle and the last third of the decisions of each game; `None` where no
    /// value was given.
    pub third_errors: [Option<f64>; 3],
    /// The values against the results by player turn, the first turn first, at most [`TURNS`].
    pub turns: Vec<ValueBin>,
}

impl Default for RoundFigures {
    fn default() -> RoundFigures {
        RoundFigures::of(&[], &Utility::default())
    }
}

/// Values of players against the results of their games.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Calibration {
    /// All values.
    pub all: ValueBin,
    /// Mean squared difference of value and result, 0..=4: where there are neither draws nor margins, a quarter of it is the
    /// score of Brier (1950) of the probability to win. 0 without values.
    pub squared_error: f64,
    /// [`calibration_error`] of the bins.
    pub error: Option<f64>,
    /// The values by themselves, in [`VALUE_BINS`] bins from -1 to 1.
    pub bins: Vec<ValueBin>,
}

/// Some values with the results of their games.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ValueBin {
    /// How many.
    pub count: u64,
    /// Their mean; 0 without any.
    pub value: f32,
    /// The mean utility of the results; 0 without any.
    pub result: f32,
}

impl ValueBin {
    /// Both together.
    pub fn plus(&self, other: &ValueBin) -> ValueBin {
        let count = self.count + other.count;
        let mean = |one: f32, two: f32| {
            let sum = f64::from(one) * self.count as f64 + f64::from(two) * other.count as f64;
            (sum / count.max(1) as f64) as f32
        };
        ValueBin { count, value: mean(self.value, other.value), result: mean(self.result, other.result) }
    }
}

/// Expected calibration error (Naeini, Cooper and Hauskrecht 2015) in units of utility, 0..=2: the mean, over the values, of
/// how far the mean value of a bin is from its mean result. `None` without values.
pub fn calibration_error(bins: &[ValueBin]) -> Option<f64> {
    let count: u64 = bins.iter().map(|bin| bin.count).sum();
    let apart = |bin: &ValueBin| bin.count as f64 * f64::from((bin.value - bin.result).abs());
    (count > 0).then(|| bins.iter().map(apart).sum::<f64>() / count as f64)
}

/// Adds up values and results, in `f64` and in the order of the games, so that the same games give the same figures.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    value: f64,
    result: f64,
    squares: f64,
}

impl Sums {
    fn add(&mut self, value: f64, result: f64) {
        self.count += 1;
        self.value += value;
        self.result += result;
        self.squares += (value - result).powi(2);
    }

    fn bin(&self) -> ValueBin {
        let count = self.count.max(1) as f64;
        ValueBin { count: self.count, value: (self.value / count) as f32, result: (self.result / count) as f32 }
    }
}

fn bins_of(sums: &[Sums]) -> Vec<ValueBin> {
    sums.iter().map(Sums::bin).collect()
}

impl RoundFigures {
    /// The figures of these games; `utility` is what a result is worth to the players.
    pub fn of<'g>(games: impl IntoIterator<Item = &'g SelfPlayGame>, utility: &Utility) -> RoundFigures {
        let mut seats = [[Sums::default(); VALUE_BINS]; 2];
        let mut thirds = [[Sums::default(); VALUE_BINS]; 3];
        let mut by_turn = [Sums::default(); TURNS];
        let (mut decisions, mut turns, mut score) = (0, 0, 0.0);
        let (mut entropy, mut taught) = (0.0, 0u64);
        let mut count = 0u32;
        for game in games {
            count += 1;
            let result = Seat::BOTH.map(|seat| f64::from(utility.of_result(&game.result, seat)));
            decisions += game.decisions.len();
            score += game.result.score(Seat::First);
            let mut turn = 0;
            let mut before: Option<Seat> = None;
            for (index, Decision { seat, judgement, .. }) in game.decisions.iter().enumerate() {
                turn += usize::from(before.is_some_and(|before| before != *seat));
                before = Some(*seat);
                let Some(judgement) = judgement else { continue };
                if let Some(value) = judgement.value.map(f64::from) {
                    let result = result[seat.index()];
                    let bin = (((value + 1.0) / 2.0 * VALUE_BINS as f64) as usize).min(VALUE_BINS - 1);
                    seats[seat.index()][bin].add(value, result);
                    thirds[3 * index / game.decisions.len()][bin].add(value, result);
                    by_turn[turn.min(TURNS - 1)].add(value, result);
                }
                if !judgement.policy.is_empty() {
                    taught += 1;
                    entropy += judgement.policy.iter().map(|&(_, p)| nats(f64::from(p))).sum::<f64>();
                }
            }
            turns += turn + usize::from(before.is_some());
        }
        let a_game = |sum: f64| sum / f64::from(count.max(1));
        let seen = by_turn.iter().rposition(|sums| sums.count > 0).map_or(0, |last| last + 1);
        RoundFigures {
            games: count as usize,
            decisions_per_game: a_game(decisions as f64),
            turns_per_game: a_game(turns as f64),
            first_seat_score: a_game(score),
            taught_entropy: (taught > 0).then(|| entropy / taught as f64),
            seats: seats.map(|sums| {
                let bins = bins_of(&sums);
                let all = bins.iter().fold(ValueBin::default(), |all, bin| all.plus(bin));
                let squares: f64 = sums.iter().map(|sums| sums.squares).sum();
                let squared_error = squares / all.count.max(1) as f64;
                Calibration { all, squared_error, error: calibration_error(&bins), bins }
            }),
            third_errors: thirds.map(|sums| calibration_error(&bins_of(&sums))),
            turns: bins_of(&by_turn[..seen]),
        }
    }
}

/// What a probability adds to the entropy of its distribution.
fn nats(probability: f64) -> f64 {
    if probability > 0.0 { -probability * probability.ln() } else { 0.0 }
}
