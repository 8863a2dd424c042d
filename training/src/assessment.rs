//! How strong the network of a run is while it learns: matches against fixed opponents, those of its pool, itself as it was
//! at first, and held-out ones, and an alarm when the pool and the held-out ones disagree.
//!
//! A network that learns from its opponents may learn these opponents. It then does better against them while it does
//! worse against those that it never meets, which is what the alarm looks for.

use crate::arena::brief::brief_specs;
use crate::arena::match_play::{Contestant, Match, MatchError, MatchOptions, Spectator};
use crate::arena::statistics::{Estimate, elo, normal_quantile};
use crate::self_play::Start;
use crate::self_play::pool::Rival;
use dervish_agents::limits::Limits;
use dervish_agents::registry::AgentFactory;
use dervish_env::game::Position;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// When and against whom a run's network is assessed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AssessmentConfig {
    /// Rounds between assessments; 0 is never.
    pub every: u64,
    /// Games against each opponent in each scenario, in pairs, always on the same dice.
    pub games: u32,
    /// Simulations for each choice of the network; 0 plays its policy.
    pub simulations: u32,
    /// Specs of opponents that are never trained against. Those of the pool are met too, and the network as it was at the first
    /// assessment.
    pub held_out: Vec<String>,
}

impl Default for AssessmentConfig {
    fn default() -> AssessmentConfig {
        AssessmentConfig { every: 0, games: 40, simulations: 0, held_out: Vec::new() }
    }
}

/// How the network did, one line of `assessments.jsonl`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Assessment {
    /// Wall-clock time of the run in seconds, assessments included.
    pub seconds: f64,
    /// Rounds that the run had learnt from.
    pub rounds: u64,
    /// Optimisation steps behind the weights.
    pub step: u64,
    /// Simulations for each choice of the network.
    pub simulations: u32,
    /// How it did against each opponent.
    pub agents: Vec<AgentScore>,
    /// Elo difference to the opponents taken together, from the mean score; `None` if everything was won or lost.
    #[serde(default)]
    pub rating: Option<f64>,
    /// Whether strength against the pool has risen while it fell against held-out opponents.
    #[serde(default)]
    pub alarm: bool,
}

impl Assessment {
    /// [`agent_names`] of the opponents of a run of these scenarios.
    pub fn agent_names(&self, scenarios: &[String]) -> Vec<String> {
        agent_names(self.agents.iter().map(|of| (of.spec.as_str(), of.scenario, of.held_out)), scenarios)
    }
}

/// The network's score against one opponent in one scenario.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentScore {
    /// The opponent's name.
    pub spec: String,
    /// Index of the scenario among those of the run.
    #[serde(default)]
    pub scenario: usize,
    /// Whether it is never trained against.
    #[serde(default)]
    pub held_out: bool,
    /// Games.
    pub games: u64,
    /// How many of them the opponent forfeited, by dying or answering nonsense; the score then tells nothing of strength.
    #[serde(default)]
    pub forfeits: u64,
    /// Score in [0, 1].
    pub score: f64,
    /// Lower end of its 95% interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl AgentScore {
    /// The score with its interval.
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.score, low: self.low, high: self.high }
    }
}

/// What an alarm says.
pub const ALARM: &str = "alarm: better against the pool than before, but worse against held-out opponents";

/// The names by which people read opponents, given as spec, scenario (among `scenarios`, which is told if there are several) and
/// whether nothing was learnt from them.
pub fn agent_names<'a>(agents: impl IntoIterator<Item = (&'a str, usize, bool)>, scenarios: &[String]) -> Vec<String> {
    let (specs, rest): (Vec<&str>, Vec<(usize, bool)>) =
        agents.into_iter().map(|(spec, scenario, held_out)| (spec, (scenario, held_out))).unzip();
    let named = |(brief, (scenario, held_out)): (String, (usize, bool))| {
        let scenario = scenarios.get(scenario).filter(|_| scenarios.len() > 1);
        let scenario = scenario.map_or_else(String::new, |scenario| format!(", {scenario}"));
        format!("{brief}{scenario}{}", if held_out { " (held out)" } else { "" })
    };
    brief_specs(specs).into_iter().zip(rest).map(named).collect()
}

/// Plays `player`, which is the network in each scenario, against every rival; `None` if the spectator stopped it.
///
/// # Errors
/// [`MatchError`].
pub fn play<P: Position, E>(
    starts: &[Start<P, E>],
    player: &[AgentFactory<P>],
    rivals: &[(Rival<P>, bool)],
    options: MatchOptions,
    spectator: &dyn Spectator,
) -> Result<Option<Vec<AgentScore>>, MatchError> {
    let mut scores = Vec::new();
    for (rival, held_out) in rivals {
        for (scenario, start) in starts.iter().enumerate() {
            let (Some(player), Some(agent)) = (player.get(scenario), rival.by_scenario.get(scenario)) else { continue };
            let agents = [player, agent];
            let to_play = Match { start: &start.position, agents, options, sprt: None, value: None };
            let report = match to_play.play(Vec::new(), spectator) {
                Err(MatchError::Stopped) => return Ok(None),
                played => played?,
            };
            let pairs = &report.statistics.pentanomial;
            // Games that were stopped say something else than all of them.
            let Some(score) = pairs.score().filter(|_| pairs.pairs() == u64::from(options.pairs)) else {
                return Ok(None);
            };
            let (spec, held_out, games) = (rival.name.clone(), *held_out, 2 * pairs.pairs());
            let forfeits = report.statistics.contestants[Contestant::B.index()].forfeits;
            let Estimate { value: score, low, high } = score;
            scores.push(AgentScore { spec, scenario, held_out, games, forfeits, score, low, high });
        }
    }
    Ok(Some(scores))
}

/// The options of an assessment's matches in the run of this seed.
pub fn options(config: &AssessmentConfig, seed: u64, threads: usize) -> MatchOptions {
    /// Keeps the dice of assessments apart from those of the games that are learnt from.
    const ASSESSED: u64 = 0x6173_7365_7373_6564;
    MatchOptions {
        pairs: (config.games / 2).max(1),
        seed: seed ^ ASSESSED,
        limits: Limits::default(),
        max_decisions: None,
        threads: NonZeroUsize::new(threads),
    }
}

/// Elo difference to all opponents taken together.
pub fn rating(scores: &[AgentScore]) -> Option<f64> {
    mean(scores.iter()).and_then(|(mean, _)| elo(mean))
}

/// Mean score of all games against the held-out opponents, or against the others; `None` if there were none.
pub fn mean_score(scores: &[AgentScore], held_out: bool) -> Option<f64> {
    mean(scores.iter().filter(|score| score.held_out == held_out)).map(|(mean, _)| mean)
}

/// Mean score and games, of matches without forfeits.
fn mean<'s>(scores: impl Iterator<Item = &'s AgentScore>) -> Option<(f64, f64)> {
    let sums = scores.filter(|score| score.forfeits == 0).fold((0.0, 0.0), |(points, games), score| {
        (points + score.score * score.games as f64, games + score.games as f64)
    });
    (sums.1 > 0.0).then(|| (sums.0 / sums.1, sums.1))
}

/// Assessments that are averaged before two times are compared.
const AVERAGED: usize = 3;

/// Whether the last three assessments are better against the pool than those before them and worse against held-out
/// opponents, each by more than 95% of such differences between equals are, if games are independent: the difference of two
/// means of n games then has at most the variance 2 / 4n. All assessments play on the same dice. That makes the two means
/// more alike, but also the games within each where the weights hardly change, so the bound is a rule of thumb.
///
/// Opponents that were not met in all six say nothing. The pool of self-play is the network itself: it is judged as it was at
/// the first assessment.
pub fn alarm(history: &[Assessment]) -> bool {
    if history.len() < 2 * AVERAGED {
        return false;
    }
    let history = &history[history.len() - 2 * AVERAGED..];
    let (before, now) = history.split_at(AVERAGED);
    let same = |one: &AgentScore, other: &AgentScore| (&one.spec, one.scenario) == (&other.spec, other.scenario);
    let always = |score: &AgentScore| history.iter().all(|of| of.agents.iter().any(|other| same(score, other)));
    let standardised = |held_out: bool| {
        let of = |part: &[Assessment]| {
            let scores = part.iter().flat_map(|assessment| &assessment.agents);
            mean(scores.filter(|score| score.held_out == held_out && always(score)))
        };
        let ((earlier, games), (later, more)) = (of(before)?, of(now)?);
        Some((later - earlier) / (0.25 / games + 0.25 / more).sqrt())
    };
    let bound = normal_quantile();
    matches!((standardised(false), standardised(true)), (Some(pool), Some(others)) if pool > bound && others < -bound)
}
