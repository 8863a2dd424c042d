//! Which weights play: the newest, or the newest that have won a match against those that played before.

use crate::arena::match_play::{Match, MatchError, MatchOptions, Spectator};
use crate::arena::sprt::{Hypothesis, SprtPlan};
use crate::self_play::Start;
use crate::session::player::player;
use dervish_agents::limits::Limits;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use dervish_models::evaluator::EvaluateError;
use dervish_models::network::Network;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// When new weights may play: after a match, as in AlphaGo Zero (Silver et al. 2017), which ends by a sequential test.
/// Without a gate the newest weights play, as in AlphaZero.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateConfig {
    /// Rounds between matches, at least 1.
    pub every: u64,
    /// Games of a match at most, an even number; over all scenarios of the run, at least a pair in each.
    pub games: u32,
    /// Simulations for each choice of both; 0 plays the policies.
    pub simulations: u32,
    /// The Elo difference at which new weights are refused.
    pub elo0: f64,
    /// The Elo difference at which they are taken.
    pub elo1: f64,
}

impl Default for GateConfig {
    fn default() -> GateConfig {
        GateConfig { every: 20, games: 200, simulations: 0, elo0: 0.0, elo1: 30.0 }
    }
}

impl GateConfig {
    /// The test of a match.
    pub fn plan(&self) -> SprtPlan {
        SprtPlan { elo0: self.elo0, elo1: self.elo1, alpha: 0.05, beta: 0.05 }
    }
}

/// Why a gate was not passed nor closed.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// A network could not be copied.
    #[error("gate: {0}")]
    Network(#[from] EvaluateError),
    /// The match failed.
    #[error("gate: {0}")]
    Match(#[from] MatchError),
}

/// Whether `new` may play instead of `old`. A scenario in which the test accepts it counts 1, one in which it refuses it -1,
/// and one in which it decides nothing by how far the score is from one half, from -1 (all lost) to 1 (all won); the sum
/// must be above 0. `None` if the spectator stopped the match.
///
/// # Errors
/// [`GateError`].
pub fn is_better<P: Position, E: PolicyEncoder<P> + Clone + 'static>(
    starts: &[Start<P, E>],
    [new, old]: [&Network; 2],
    config: &GateConfig,
    (seed, threads): (u64, usize),
    spectator: &dyn Spectator,
) -> Result<Option<bool>, GateError> {
    let mut balance = 0.0;
    for start in starts {
        let [a, b] = [player(start, new, config.simulations)?, player(start, old, config.simulations)?];
        let pairs = (config.games / 2 / starts.len() as u32).max(1);
        let threads = NonZeroUsize::new(threads);
        let options = MatchOptions { pairs, seed, limits: Limits::default(), max_decisions: None, threads };
        let to_play =
            Match { start: &start.position, agents: [&a, &b], options, sprt: Some(config.plan()), value: None };
        let report = match to_play.play(Vec::new(), spectator) {
            Err(MatchError::Stopped) => return Ok(None),
            played => played?,
        };
        let verdict = report.sprt.and_then(|state| state.verdict);
        if verdict.is_none() && report.statistics.pentanomial.pairs() < u64::from(pairs) {
            return Ok(None);
        }
        balance += match verdict {
            Some(Hypothesis::H1) => 1.0,
            Some(Hypothesis::H0) => -1.0,
            None => 2.0 * report.statistics.score.value - 1.0,
        };
    }
    Ok(Some(balance > 0.0))
}
