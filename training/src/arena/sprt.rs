//! A match that stops by itself: the sequential probability ratio test on pairs.
//!
//! H0 says that A is `elo0` stronger than B, H1 that it is `elo1` stronger. After each pair the generalised likelihood
//! ratio of the two is looked at, as Stockfish's test site does (Van den Bergh's notes for it, *GSPRT_approximation* and
//! *support_MLE_multinomial*): under each hypothesis the distribution over the five results of a pair is the likeliest
//! one whose mean is the hypothesis's score. The test ends at Wald's bounds (1945), without a correction for the step
//! over the bound, which makes it err a little less than it may.

use crate::arena::statistics::{Pentanomial, elo, expected_score};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What counts stand for results that have not been seen, so that every hypothesis stays possible (as on Stockfish's
/// test site).
const UNSEEN: f64 = 1e-3;

/// Elo differences that can be tested: scores from 0.0002 to 0.9998.
const ELO_RANGE: RangeInclusive<f64> = -1500.0..=1500.0;

/// The two hypotheses and how often the test may err.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtPlan {
    /// Elo of A minus Elo of B under H0, -1500 to 1500.
    pub elo0: f64,
    /// The same under H1, above `elo0`.
    pub elo1: f64,
    /// How often H1 may be accepted where H0 is true, above 0.
    pub alpha: f64,
    /// How often H0 may be accepted where H1 is true, above 0; `alpha` and `beta` sum to less than 1.
    pub beta: f64,
}

impl SprtPlan {
    /// What a test is made of: each hypothesis as an Elo difference or as the score that it stands for, and the rates.
    pub const KEYS: [&str; 6] = ["elo0", "elo1", "score0", "score1", "alpha", "beta"];

    /// Reads `elo0=0`, `elo1=10`, `alpha=0.05` and `beta=0.05`, in any order; the last two are these if left out. A
    /// hypothesis may be given as the score that A is expected to have, such as `score0=0.5`.
    ///
    /// # Errors
    /// [`SprtError`]: what is unknown, given twice, missing or out of range.
    pub fn parse<S: AsRef<str>>(items: &[S]) -> Result<SprtPlan, SprtError> {
        let mut given = [None; 6];
        for item in items.iter().map(AsRef::as_ref) {
            let malformed = || SprtError::Malformed(item.to_string());
            let (key, text) = item.split_once('=').ok_or_else(malformed)?;
            let Some(place) = SprtPlan::KEYS.iter().position(|known| *known == key) else {
                return Err(SprtError::UnknownKey(key.to_string()));
            };
            let number: f64 = text.parse().map_err(|_| malformed())?;
            if given[place].replace(number).is_some() {
                return Err(SprtError::Repeated(SprtPlan::KEYS[place]));
            }
        }
        SprtPlan::of(given)
    }

    /// The plan of these numbers, in the order of [`SprtPlan::KEYS`].
    ///
    /// # Errors
    /// As [`SprtPlan::parse`].
    pub fn of([elo0, elo1, score0, score1, alpha, beta]: [Option<f64>; 6]) -> Result<SprtPlan, SprtError> {
        let plan = SprtPlan {
            elo0: hypothesis(["elo0", "score0"], elo0, score0)?,
            elo1: hypothesis(["elo1", "score1"], elo1, score1)?,
            alpha: alpha.unwrap_or(0.05),
            beta: beta.unwrap_or(0.05),
        };
        plan.check()?;
        Ok(plan)
    }

    /// Whether the test can be made.
    ///
    /// # Errors
    /// [`SprtError`]: a number that is out of its range, or hypotheses in the wrong order.
    pub fn check(&self) -> Result<(), SprtError> {
        for (key, elo) in [("elo0", self.elo0), ("elo1", self.elo1)] {
            if !ELO_RANGE.contains(&elo) {
                return Err(SprtError::Elo { key, elo });
            }
        }
        if self.elo1 <= self.elo0 {
            return Err(SprtError::Order { elo0: self.elo0, elo1: self.elo1 });
        }
        for (key, rate) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(rate > 0.0 && rate < 1.0) {
                return Err(SprtError::Rate { key, rate });
            }
        }
        if self.alpha + self.beta >= 1.0 {
            return Err(SprtError::Rates { alpha: self.alpha, beta: self.beta });
        }
        Ok(())
    }

    /// The log-likelihood ratios at which H0 and H1 are accepted: ln(beta / (1 - alpha)) and ln((1 - beta) / alpha).
    pub fn bounds(&self) -> [f64; 2] {
        [(self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln()]
    }

    /// What is accepted after these pairs, by the points of A; `None` while the test goes on.
    pub fn verdict(&self, pairs: &Pentanomial) -> Option<Hypothesis> {
        let ratio = self.log_likelihood_ratio(pairs);
        let [lower, upper] = self.bounds();
        if ratio >= upper {
            Some(Hypothesis::H1)
        } else if ratio <= lower {
            Some(Hypothesis::H0)
        } else {
            None
        }
    }

    /// ln of the likelihood of the pairs under H1 over that under H0; 0 without pairs.
    pub fn log_likelihood_ratio(&self, pairs: &Pentanomial) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let counts = pairs.0.map(|count| if count == 0 { UNSEEN } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let shares = counts.map(|count| count / total);
        let scores = [self.elo0, self.elo1].map(expected_score);
        let tilts = scores.map(|score| tilt(&shares, score));
        // The likeliest share of result a under mean s is its share / (1 + tilt (a - s)).
        let factor =
            |hypothesis: usize, result: usize| 1.0 + tilts[hypothesis] * (result as f64 / 4.0 - scores[hypothesis]);
        counts.iter().enumerate().map(|(result, count)| count * (factor(0, result) / factor(1, result)).ln()).sum()
    }
}

/// The Elo difference of a hypothesis that is given as one or as a score.
fn hypothesis(keys: [&'static str; 2], difference: Option<f64>, score: Option<f64>) -> Result<f64, SprtError> {
    match (difference, score) {
        (Some(difference), None) => Ok(difference),
        (None, Some(score)) => {
            let difference = elo(score).filter(|difference| ELO_RANGE.contains(difference));
            difference.ok_or(SprtError::Score { key: keys[1], score })
        }
        (Some(_), Some(_)) => Err(SprtError::Both(keys)),
        (None, None) => Err(SprtError::Missing(keys[0])),
    }
}

/// The root x of the sum of p (a - s) / (1 + x (a - s)) over the results a = 0, 1/4, ..., 1 with shares p (Van den Bergh,
/// *support_MLE_multinomial*, proposition 1.1). All shares are positive, so the sum falls from infinity to minus infinity
/// between the poles at -1 / (1 - s) and 1 / s.
fn tilt(shares: &[f64; 5], score: f64) -> f64 {
    let (mut low, mut high) = (-1.0 / (1.0 - score), 1.0 / score);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        let slope: f64 = shares
            .iter()
            .enumerate()
            .map(|(result, share)| {
                let deviation = result as f64 / 4.0 - score;
                share * deviation / (1.0 + middle * deviation)
            })
            .sum();
        *(if slope > 0.0 { &mut low } else { &mut high }) = middle;
    }
}

/// One of the two hypotheses of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Hypothesis {
    /// A is `elo0` stronger.
    H0,
    /// A is `elo1` stronger.
    H1,
}

/// Where a test stands.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtState {
    /// What is tested.
    pub plan: SprtPlan,
    /// Log-likelihood ratio of H1 to H0.
    pub log_likelihood_ratio: f64,
    /// Where H0 and H1 are accepted.
    pub bounds: [f64; 2],
    /// What was accepted; `None` if the games ran out before.
    pub verdict: Option<Hypothesis>,
}

impl SprtState {
    /// Where the test stands after these pairs, by the points of A.
    pub fn after(plan: SprtPlan, pairs: &Pentanomial) -> SprtState {
        SprtState {
            plan,
            log_likelihood_ratio: plan.log_likelihood_ratio(pairs),
            bounds: plan.bounds(),
            verdict: plan.verdict(pairs),
        }
    }
}

/// What is wrong with a test.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SprtError {
    /// Not `key=number`.
    #[error("'{0}' is not of the form key=number")]
    Malformed(String),
    /// No such key.
    #[error("there is no '{0}'; there are: {known}", known = SprtPlan::KEYS.join(", "))]
    UnknownKey(String),
    /// A key was given twice.
    #[error("{0} is given twice")]
    Repeated(&'static str),
    /// A hypothesis was not given.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A hypothesis was given in both ways.
    #[error("{} and {} say the same; give one of them", .0[0], .0[1])]
    Both([&'static str; 2]),
    /// A score that no Elo difference stands for.
    #[error("{key}={score} is not the score of -1500 to 1500 Elo")]
    Score {
        /// Which.
        key: &'static str,
        /// As given.
        score: f64,
    },
    /// An Elo difference that no match can tell from others.
    #[error("{key}={elo} is not from -1500 to 1500")]
    Elo {
        /// Which.
        key: &'static str,
        /// As given.
        elo: f64,
    },
    /// H1 must be the hypothesis of more strength.
    #[error("elo1={elo1} is not above elo0={elo0}")]
    Order {
        /// As given.
        elo0: f64,
        /// As given.
        elo1: f64,
    },
    /// An error rate that is none.
    #[error("{key}={rate} is not between 0 and 1")]
    Rate {
        /// Which.
        key: &'static str,
        /// As given.
        rate: f64,
    },
    /// Error rates of a test that guesses.
    #[error("alpha={alpha} and beta={beta} do not sum to less than 1")]
    Rates {
        /// As given.
        alpha: f64,
        /// As given.
        beta: f64,
    },
}
