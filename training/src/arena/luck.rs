//! How much of a result was the dice: luck as a control variate.
//!
//! The luck of a roll is the value of the position after it less the value that was expected before it, over the exact
//! weights of its outcomes. Given what went before, it has mean zero whatever the value function is, and so has the sum
//! over a game. Results that are corrected by a multiple of it therefore keep their expectation; the better the value
//! function, the less they vary (the control variate of Monte Carlo methods; in games: Zinkevich, Bowling, Bard, Kan and
//! Billings, *Optimal unbiased estimators for evaluating agent performance*, AAAI 2006; the luck adjustment of
//! backgammon programs).

use crate::arena::statistics::{CONFIDENCE, Estimate};
use dervish_agents::agent::Event;
use dervish_agents::evaluation::Evaluation;
use dervish_env::game::{MergedOutcome, Position, Seat, WeightedOutcome};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What a position is worth to the first seat, in [-1, 1].
pub type ValueFunction<P> = dyn Fn(&P) -> f64 + Sync;

/// The value function of an evaluation: a finished game is worth its result, a position without opinion 0.
pub fn value_function<P: Position>(evaluation: impl Evaluation<P>) -> impl Fn(&P) -> f64 + Sync {
    move |position| {
        let value = match position.result() {
            Some(result) => Some(result.sign(Seat::First)),
            None => evaluation.value(position, Seat::First),
        };
        f64::from(value.unwrap_or(0.0))
    }
}

/// Measures the luck of games, keeping its buffers between them.
#[derive(Clone, Debug, Default)]
pub struct LuckMeter {
    outcomes: Vec<WeightedOutcome>,
    merged: Vec<MergedOutcome>,
    /// Keys of the ends of the procedure of several rolls that is under way; empty for a single roll.
    ends: Vec<u64>,
}

impl LuckMeter {
    /// The luck of the first seat in the rolls of `events`, which follow by the rules from `start`. A procedure for which
    /// the game offers its merged distribution, such as a combat, is one roll.
    pub fn luck_of<P: Position>(&mut self, start: &P, events: &[Event], value: &ValueFunction<P>) -> f64 {
        let mut sum = 0.0;
        self.each_luck(start, events, value, |luck| sum += luck);
        sum
    }

    /// Shows the luck of the first seat in each of `events`, in their order: 0 for a decision, and for all rolls of a procedure
    /// but the last, which has the luck of all of them.
    pub fn each_luck<P: Position>(
        &mut self,
        start: &P,
        events: &[Event],
        value: &ValueFunction<P>,
        mut show: impl FnMut(f64),
    ) {
        let mut position = start.clone();
        let mut expected = None;
        for &event in events {
            let mut luck = 0.0;
            match event {
                Event::Played(_, action) => position.apply_legal(action),
                Event::Rolled(outcome) => {
                    let before = expected.take().unwrap_or_else(|| self.expected(&position, value));
                    position.resolve_possible(outcome);
                    if self.ends.is_empty() || self.ends.contains(&position.key()) {
                        luck = value(&position) - before;
                    } else {
                        expected = Some(before);
                    }
                }
            }
            show(luck);
        }
    }

    /// The value that is expected of the roll, or the procedure of rolls, that `position` waits for.
    fn expected<P: Position>(&mut self, position: &P, value: &ValueFunction<P>) -> f64 {
        self.ends.clear();
        let (mut sum, mut total) = (0.0, 0.0);
        if position.merged_outcomes_into(&mut self.merged) {
            for outcome in &self.merged {
                let mut end = position.clone();
                outcome.rolls.iter().for_each(|&roll| end.resolve_possible(roll));
                self.ends.push(end.key());
                sum += outcome.weight as f64 * value(&end);
                total += outcome.weight as f64;
            }
        } else {
            position.chance_outcomes_into(&mut self.outcomes);
            for weighted in &self.outcomes {
                let mut next = position.clone();
                next.resolve_possible(weighted.outcome);
                sum += f64::from(weighted.weight) * value(&next);
                total += f64::from(weighted.weight);
            }
        }
        sum / total
    }
}

/// A mean with and without the dice.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LuckAdjusted {
    /// The mean as it is.
    pub plain: Estimate,
    /// The mean at luck 0.
    pub adjusted: Estimate,
    /// What a luck of 1 adds, by least squares.
    pub coefficient: f64,
}

impl LuckAdjusted {
    /// The mean of `values` at luck 0, by linear regression on `lucks`; both intervals are Student's. `None` for fewer
    /// than three values and where values or lucks do not vary: there is nothing to learn a coefficient from.
    ///
    /// The coefficient comes from the same values, which leaves a bias of the order of one over their number.
    pub fn of(values: &[f64], lucks: &[f64]) -> Option<LuckAdjusted> {
        let count = values.len() as f64;
        if values.len() < 3 {
            return None;
        }
        let mean = |of: &[f64]| of.iter().sum::<f64>() / count;
        let (mean_value, mean_luck) = (mean(values), mean(lucks));
        let (mut values_squared, mut lucks_squared, mut product) = (0.0, 0.0, 0.0);
        for (value, luck) in values.iter().zip(lucks) {
            let (value, luck) = (value - mean_value, luck - mean_luck);
            values_squared += value * value;
            lucks_squared += luck * luck;
            product += value * luck;
        }
        if values_squared == 0.0 || lucks_squared == 0.0 {
            return None;
        }
        let coefficient = product / lucks_squared;
        let residual = (values_squared - coefficient * product).max(0.0) / (count - 2.0);
        let leverage = 1.0 / count + mean_luck * mean_luck / lucks_squared;
        Some(LuckAdjusted {
            plain: around(mean_value, values_squared / (count - 1.0) / count, count - 1.0)?,
            adjusted: around(mean_value - coefficient * mean_luck, residual * leverage, count - 2.0)?,
            coefficient,
        })
    }

    /// Width of the plain interval over that of the adjusted one: its square says how many times as many games would be
    /// needed for the same precision without the adjustment.
    pub fn narrowing(&self) -> f64 {
        (self.plain.high - self.plain.low) / (self.adjusted.high - self.adjusted.low)
    }
}

/// Student's interval of an estimate with this variance.
fn around(value: f64, variance: f64, degrees_of_freedom: f64) -> Option<Estimate> {
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    let reach = student.inverse_cdf(0.5 + CONFIDENCE / 2.0) * variance.sqrt();
    Some(Estimate { value, low: value - reach, high: value + reach })
}
