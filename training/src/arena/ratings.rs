//! Ratings of many agents from the games between them: Bradley-Terry with a first-seat advantage.
//!
//! The agent on the first seat scores 1 / (1 + exp(-(r - s + h))) against the one on the second, where r and s are their
//! ratings and h is what the first seat is worth (Bradley and Terry 1952; Davidson and Beaver 1977 for the order effect);
//! a draw counts as half a point. The ratings are those of maximum likelihood with a weak prior: every agent has drawn
//! one more game against an opponent of rating 0, and the first seat has drawn one more game against an equal, so that an
//! agent that won or lost everything has a rating too (the way of BayesElo and Ordo). Ratings are told around their mean.
//!
//! Intervals are 95% and normal, from a covariance that is taken two ways, of which the wider counts for each number: the
//! inverse of the Fisher information, which takes games for independent and stays sound where an agent won everything,
//! and the sandwich estimator over pairs (White 1982; Liang and Zeger 1986), which lets the two games of a pair on common
//! dice depend on each other in any way. They cover at least what they say as the number of pairs grows.

use crate::arena::statistics::{Estimate, normal_quantile};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::LN_10;

/// Games that the prior counts for, of every agent and of the seats.
pub const PRIOR_GAMES: f64 = 1.0;

/// Elo points of a unit of log-odds, 400 / ln 10.
pub const ELO_PER_LOGIT: f64 = 400.0 / LN_10;

/// A pair of games between two agents, by their numbers in `0..agents`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RatedPair {
    /// The agents; an agent may play itself, which tells of the seats alone.
    pub agents: [usize; 2],
    /// Score of `agents[0]`, each 0, 1/2 or 1: in the game with it on the first seat, then on the second.
    pub scores: [f64; 2],
}

/// Ratings in Elo points.
#[derive(Clone, PartialEq, Debug)]
pub struct Ratings {
    /// Of each agent, around a mean of 0.
    pub elo: Vec<Estimate>,
    /// What the first seat is worth.
    pub first_seat: Estimate,
}

impl Ratings {
    /// The ratings of `agents` agents (at least one) by their pairs.
    ///
    /// # Panics
    /// If a pair names an agent that is not in `0..agents`.
    pub fn of(agents: usize, pairs: &[RatedPair]) -> Ratings {
        let fit = Fit { agents, pairs };
        let estimate = fit.most_likely();
        let (_, information) = fit.slope_and_information(&estimate);
        // The prior makes the information positive definite.
        let inverse = information.cholesky().map(|decomposed| decomposed.inverse());
        let inverse = inverse.unwrap_or_else(|| DMatrix::from_diagonal_element(agents + 1, agents + 1, f64::INFINITY));
        let sandwich = &inverse * fit.variation_of_slope(&estimate) * &inverse;
        let centre = fit.centring();
        let centred = &centre * &estimate;
        let variances = [inverse, sandwich].map(|covariance| (&centre * covariance * centre.transpose()).diagonal());
        let of = |parameter: usize| {
            let variance = variances[0][parameter].max(variances[1][parameter]);
            let reach = normal_quantile() * variance.max(0.0).sqrt();
            let value = centred[parameter];
            Estimate { value, low: value - reach, high: value + reach }.scaled(ELO_PER_LOGIT)
        };
        Ratings { elo: (0..agents).map(of).collect(), first_seat: of(agents) }
    }
}

impl Estimate {
    fn scaled(self, factor: f64) -> Estimate {
        Estimate { value: factor * self.value, low: factor * self.low, high: factor * self.high }
    }
}

/// What is fitted: the ratings in log-odds, then the worth of the first seat.
struct Fit<'a> {
    agents: usize,
    pairs: &'a [RatedPair],
}

/// A game as the likelihood sees it: its score is expected to be the logistic function of the parameters along a
/// direction.
struct GameTerm {
    score: f64,
    direction: Direction,
}

impl Fit<'_> {
    /// Both games of a pair, each from its first seat.
    fn games_of(&self, pair: &RatedPair) -> [GameTerm; 2] {
        let [a, b] = pair.agents;
        [(pair.scores[0], a, b), (1.0 - pair.scores[1], b, a)].map(|(score, first, second)| GameTerm {
            score,
            direction: Direction::of([(first, 1.0), (second, -1.0), (self.agents, 1.0)]),
        })
    }

    /// The games of the prior.
    fn prior(&self) -> impl Iterator<Item = GameTerm> {
        (0..=self.agents).map(|parameter| GameTerm { score: 0.5, direction: Direction::of([(parameter, 1.0)]) })
    }

    /// All games with their weights.
    fn games(&self) -> impl Iterator<Item = (f64, GameTerm)> {
        let prior = self.prior().map(|game| (PRIOR_GAMES, game));
        prior.chain(self.pairs.iter().flat_map(|pair| self.games_of(pair)).map(|game| (1.0, game)))
    }

    fn log_likelihood(&self, at: &DVector<f64>) -> f64 {
        let of = |game: &GameTerm| {
            let odds = game.direction.along(at);
            game.score * -(-odds).exp().ln_1p() + (1.0 - game.score) * -odds.exp().ln_1p()
        };
        self.games().map(|(weight, game)| weight * of(&game)).sum()
    }

    /// Slope of the log-likelihood and its Fisher information.
    fn slope_and_information(&self, at: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let size = self.agents + 1;
        let (mut slope, mut information) = (DVector::zeros(size), DMatrix::zeros(size, size));
        for (weight, GameTerm { score, direction }) in self.games() {
            let expected = logistic(direction.along(at));
            direction.add_to(&mut slope, weight * (score - expected));
            direction.add_square_to(&mut information, weight * expected * (1.0 - expected));
        }
        (slope, information)
    }

    /// The maximum of the log-likelihood, by Newton's method; it is strictly concave.
    fn most_likely(&self) -> DVector<f64> {
        let mut at = DVector::zeros(self.agents + 1);
        let mut likelihood = self.log_likelihood(&at);
        for _ in 0..200 {
            let (slope, information) = self.slope_and_information(&at);
            let Some(decomposed) = information.cholesky() else { break };
            let mut step = decomposed.solve(&slope);
            if step.amax() < 1e-10 {
                break;
            }
            loop {
                let next = &at + &step;
                let improved = self.log_likelihood(&next);
                if improved >= likelihood || step.amax() < 1e-10 {
                    (at, likelihood) = (next, improved);
                    break;
                }
                step *= 0.5;
            }
        }
        at
    }

    /// The sum over pairs of the squares of their slopes, and what the games of the prior are expected to add.
    fn variation_of_slope(&self, at: &DVector<f64>) -> DMatrix<f64> {
        let size = self.agents + 1;
        let mut variation = DMatrix::zeros(size, size);
        for pair in self.pairs {
            let mut sum = Direction::default();
            for GameTerm { score, direction } in self.games_of(pair) {
                let surprise = score - logistic(direction.along(at));
                direction.entries().for_each(|(parameter, factor)| sum.add(parameter, surprise * factor));
            }
            sum.add_square_to(&mut variation, 1.0);
        }
        for GameTerm { direction, .. } in self.prior() {
            let expected = logistic(direction.along(at));
            direction.add_square_to(&mut variation, PRIOR_GAMES * expected * (1.0 - expected));
        }
        variation
    }

    /// The map of parameters to ratings around their mean, the seat left alone.
    fn centring(&self) -> DMatrix<f64> {
        let mut centre = DMatrix::identity(self.agents + 1, self.agents + 1);
        centre.view_mut((0, 0), (self.agents, self.agents)).add_scalar_mut(-1.0 / self.agents as f64);
        centre
    }
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// A vector over the parameters with at most three that are not 0: two agents and the seat.
#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    entries: [(usize, f64); 3],
    used: usize,
}

impl Direction {
    fn of<const N: usize>(entries: [(usize, f64); N]) -> Direction {
        let mut direction = Direction::default();
        entries.into_iter().for_each(|(parameter, factor)| direction.add(parameter, factor));
        direction
    }

    fn add(&mut self, parameter: usize, factor: f64) {
        match self.entries[..self.used].iter_mut().find(|(known, _)| *known == parameter) {
            Some((_, sum)) => *sum += factor,
            None => {
                self.entries[self.used] = (parameter, factor);
                self.used += 1;
            }
        }
    }

    fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.entries.into_iter().take(self.used)
    }

    fn along(&self, at: &DVector<f64>) -> f64 {
        self.entries().map(|(parameter, factor)| factor * at[parameter]).sum()
    }

    fn add_to(&self, vector: &mut DVector<f64>, weight: f64) {
        self.entries().for_each(|(parameter, factor)| vector[parameter] += weight * factor);
    }

    fn add_square_to(&self, matrix: &mut DMatrix<f64>, weight: f64) {
        for (row, factor) in self.entries() {
            self.entries().for_each(|(column, other)| matrix[(row, column)] += weight * factor * other);
        }
    }
}
