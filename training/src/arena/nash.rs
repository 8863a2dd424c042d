//! Who is strong where strength is not transitive: Nash averaging.
//!
//! Balduzzi, Tuyls, Perolat and Graepel, *Re-evaluating Evaluation* (NeurIPS 2018): two players each pick an agent to play
//! for them, and the payoff is the log-odds of its score. The equilibrium of most entropy of this symmetric zero-sum game
//! says which agents matter, and the mean log-odds of an agent against it how strong it is. Copies of an agent change
//! nothing but share its weight.

use crate::arena::ratings::ELO_PER_LOGIT;
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// How far an agent's payoff against the equilibrium may be above 0, relative to the largest payoff.
const SLACK: f64 = 1e-7;

/// The weight of the barrier at the last step.
const LAST_BARRIER: f64 = 1e-11;

/// An equilibrium and what it says of each agent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct NashAverage {
    /// Weight of each agent in the equilibrium of most entropy; they sum to 1.
    pub weights: Vec<f64>,
    /// Elo points of each agent against the equilibrium, at most 0 (to rounding); 0 for those that have weight.
    pub elo: Vec<f64>,
}

impl NashAverage {
    /// The average under `log_odds`: rows of each agent's against each other's, antisymmetric, finite, not empty.
    pub fn of(log_odds: &[Vec<f64>]) -> NashAverage {
        let agents = log_odds.len();
        let log_odds = DMatrix::from_fn(agents, agents, |row, column| log_odds[row][column]);
        let weights = equilibrium(&log_odds);
        let elo = (log_odds * &weights * ELO_PER_LOGIT).iter().copied().collect();
        NashAverage { weights: weights.iter().copied().collect(), elo }
    }
}

/// The equilibrium of most entropy: the p of most entropy among those on the simplex with A p <= 0.
///
/// With multipliers x >= 0 for the constraints (relaxed by a hair, which keeps x finite) p is the softmax of A x, and x
/// minimises ln(sum(exp(A x))) + slack sum(x). That is convex and smooth; a barrier keeps x positive and is lowered
/// step by step (Boyd and Vandenberghe 2004, chapters 5 and 11).
fn equilibrium(log_odds: &DMatrix<f64>) -> DVector<f64> {
    let agents = log_odds.nrows();
    let largest = log_odds.amax();
    if largest == 0.0 {
        return DVector::from_element(agents, 1.0 / agents as f64);
    }
    let payoffs = log_odds / largest;
    let mut multipliers = DVector::from_element(agents, 1.0);
    let mut barrier = 1.0;
    loop {
        for _ in 0..100 {
            let weights = softmax(&(&payoffs * &multipliers));
            // The slope of the softmax's logarithm is A^T p = -A p.
            let slope = (-&payoffs * &weights).add_scalar(SLACK) - multipliers.map(|x| barrier / x);
            let spread = DMatrix::from_diagonal(&weights) - &weights * weights.transpose();
            let mut curvature = payoffs.transpose() * spread * &payoffs;
            for (agent, x) in multipliers.iter().enumerate() {
                curvature[(agent, agent)] += barrier / (x * x);
            }
            let Some(decomposed) = curvature.cholesky() else { break };
            let step = -decomposed.solve(&slope);
            let decrement = -slope.dot(&step);
            if decrement < 1e-3 * barrier {
                break;
            }
            multipliers = line_search(&payoffs, &multipliers, &step, barrier, decrement);
        }
        if barrier <= LAST_BARRIER {
            return softmax(&(&payoffs * &multipliers));
        }
        barrier *= 0.2;
    }
}

/// The longest step (whole, half, quarter...) that stays inside and lowers the objective as it should.
fn line_search(
    payoffs: &DMatrix<f64>,
    from: &DVector<f64>,
    step: &DVector<f64>,
    barrier: f64,
    decrement: f64,
) -> DVector<f64> {
    let objective = |at: &DVector<f64>| {
        let odds = payoffs * at;
        let top = odds.max();
        top + odds.map(|odds| (odds - top).exp()).sum().ln() + SLACK * at.sum() - barrier * at.map(f64::ln).sum()
    };
    let before = objective(from);
    let mut length = 1.0;
    while length > 1e-12 {
        let next = from + step * length;
        if next.min() > 0.0 && objective(&next) <= before - 0.25 * length * decrement {
            return next;
        }
        length *= 0.5;
    }
    from.clone()
}

fn softmax(odds: &DVector<f64>) -> DVector<f64> {
    let top = odds.max();
    let weights = odds.map(|odds| (odds - top).exp());
    let total = weights.sum();
    weights / total
}
