//! How much better one agent does than another of the same kind: paired games on common dice, in several games and
//! against several opponents.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::match_play::{GameOutcome, Match, MatchError, MatchOptions, Spectator};
use crate::arena::report::MatchReport;
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{Registry, SpecError, in_spec};
use dervish_env::chance::game_seed;
use dervish_env::dervish::data_file::DataError;
use dervish_env::encode::PolicyEncoder;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// The opponent that is the agent's own other side.
pub const SELF: &str = "self";

/// A game with its agents.
trait Ground {
    /// Whether an agent can be made for this game.
    fn check(&self, spec: &str) -> Result<(), SpecError>;

    /// All games between two agents; `None` if the stop came first.
    fn play(&self, agents: [&str; 2], options: MatchOptions, stop: &Stop) -> Result<Option<MatchReport>, MeasureError>;
}

struct GameGround<P: ArenaGame> {
    start: P,
    agents: Registry<P>,
}

impl<P: ArenaGame> Ground for GameGround<P> {
    fn check(&self, spec: &str) -> Result<(), SpecError> {
        self.agents.factory(spec).map(|_| ())
    }

    fn play(&self, agents: [&str; 2], options: MatchOptions, stop: &Stop) -> Result<Option<MatchReport>, MeasureError> {
        let (a, b) = (self.agents.factory(agents[0])?, self.agents.factory(agents[1])?);
        let to_play = Match { start: &self.start, agents: [&a, &b], options, sprt: None, value: None };
        let report = match to_play.play(Vec::new(), stop) {
            Err(MatchError::Stopped) => return Ok(None),
            played => played?,
        };
        // Games that were stopped say something else than all of them.
        Ok(Some(report).filter(|report| report.statistics.pentanomial.pairs() == u64::from(options.pairs)))
    }
}

struct GroundVisitor;

impl GameVisitor for GroundVisitor {
    type Output = Box<dyn Ground>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let agents = agents_of(&start, encoder);
        Box::new(GameGround { start, agents })
    }
}

/// When to stop between two decisions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stop {
    /// The time after which nothing is played, if there is one.
    pub at: Option<Instant>,
}

impl Stop {
    /// Whether it is time, or the process was asked to stop.
    pub fn is_due(&self) -> bool {
        interrupt::requested() || self.at.is_some_and(|at| Instant::now() >= at)
    }
}

impl Spectator for Stop {
    fn stop_requested(&self) -> bool {
        self.is_due()
    }
}

/// What the games of a step tell.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// How much better the one side did, in [-1, 1].
    pub difference: f64,
    /// Games that were forfeited and counted as lost, one entry for each agent that forfeited any.
    pub forfeits: Vec<Forfeits>,
}

/// Games that an agent forfeited.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forfeits {
    /// Its spec as the plan has it, without the file of weights.
    pub agent: String,
    /// How many.
    pub games: u64,
    /// Why the first of them.
    pub reason: String,
}

impl Forfeits {
    /// Adds these to what there is of the same agent.
    pub fn add_to(self, all: &mut Vec<Forfeits>) {
        match all.iter_mut().find(|known| known.agent == self.agent) {
            Some(known) => known.games += self.games,
            None => all.push(self),
        }
    }
}

/// Measures agents with one weights file against those with another.
pub struct Measure {
    grounds: Vec<Box<dyn Ground>>,
    agent: String,
    opponents: Vec<String>,
    pairs: u32,
    threads: Option<NonZeroUsize>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// Faults of a scenario.
    #[error("{}", .0.first().map_or_else(String::new, ToString::to_string))]
    Data(Vec<DataError>),
    /// An agent's spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A match failed.
    #[error(transparent)]
    Match(#[from] MatchError),
}

impl Measure {
    /// Makes ready to play `pairs` pairs of games in each of the games named, against each opponent: [`SELF`], or a spec.
    ///
    /// # Errors
    /// [`MeasureError`]: a game or an opponent that there is not.
    pub fn new(
        games: &[String],
        agent: &str,
        opponents: &[String],
        pairs: u32,
        threads: Option<NonZeroUsize>,
    ) -> Result<Measure, MeasureError> {
        let grounds = games.iter().map(|game| with_game(game, GroundVisitor).map_err(MeasureError::Data));
        let grounds = grounds.collect::<Result<Vec<_>, _>>()?;
        for ground in &grounds {
            opponents.iter().filter(|opponent| *opponent != SELF).try_for_each(|opponent| ground.check(opponent))?;
        }
        Ok(Measure { grounds, agent: agent.to_string(), opponents: opponents.to_vec(), pairs, threads })
    }

    /// Whether the agent takes this weights file, in all games.
    ///
    /// # Errors
    /// [`MeasureError::Spec`].
    pub fn check(&self, file: &Path) -> Result<(), MeasureError> {
        let spec = self.spec(file);
        Ok(self.grounds.iter().try_for_each(|ground| ground.check(&spec))?)
    }

    /// Games that one measurement takes.
    pub fn games(&self) -> u64 {
        let selves = self.opponents.iter().filter(|opponent| *opponent == SELF).count();
        let matches = selves + 2 * (self.opponents.len() - selves);
        2 * u64::from(self.pairs) * (matches * self.grounds.len()) as u64
    }

    /// How much better agents with the weights of `plus` do than those with `minus`: the difference of their scores in
    /// [-1, 1], on the mean of games and opponents. Against an opponent both play on the same dice. `None` if the stop
    /// came first.
    ///
    /// A game that was forfeited counts as lost. It tells nothing of the weights, so forfeits are told beside it.
    ///
    /// # Errors
    /// [`MeasureError`].
    pub fn difference(
        &self,
        plus: &Path,
        minus: &Path,
        seed: u64,
        stop: &Stop,
    ) -> Result<Option<Measured>, MeasureError> {
        let sides = [self.spec(plus), self.spec(minus)];
        let (mut sum, mut forfeits) = (0.0, Vec::new());
        let mut number = 0;
        for ground in &self.grounds {
            for opponent in &self.opponents {
                let options = MatchOptions {
                    pairs: self.pairs,
                    seed: game_seed(seed, number),
                    limits: Limits::default(),
                    max_decisions: None,
                    threads: self.threads,
                };
                number += 1;
                let names = [&self.agent, if opponent == SELF { &self.agent } else { opponent }];
                let mut score = |a: &str, b: &str| -> Result<Option<f64>, MeasureError> {
                    let Some(report) = ground.play([a, b], options, stop)? else { return Ok(None) };
                    let forfeited = report.games.iter().filter_map(|game| forfeit_of(game, names));
                    forfeited.for_each(|one| one.add_to(&mut forfeits));
                    Ok(Some(report.statistics.score.value))
                };
                let [plus, minus] = [&sides[0], &sides[1]];
                let better = if opponent == SELF {
                    score(plus, minus)?.map(|score| 2.0 * score - 1.0)
                } else {
                    match (score(plus, opponent)?, score(minus, opponent)?) {
                        (Some(plus), Some(minus)) => Some(plus - minus),
                        _ => None,
                    }
                };
                let Some(better) = better else { return Ok(None) };
                sum += better;
            }
        }
        Ok(Some(Measured { difference: sum / number as f64, forfeits }))
    }

    /// The agent with a weights file.
    fn spec(&self, file: &Path) -> String {
        let file = in_spec(&file.display().to_string());
        let joint = if self.agent.contains(':') { ',' } else { ':' };
        format!("{}{joint}weights={file}", self.agent)
    }
}

/// The forfeit of a game between agents of these names, if it was one.
fn forfeit_of(game: &GameOutcome, names: [&String; 2]) -> Option<Forfeits> {
    let (contestant, forfeit) = game.forfeited_by().zip(game.forfeit.as_ref())?;
    Some(Forfeits { agent: names[contestant.index()].clone(), games: 1, reason: forfeit.reason.clone() })
}
