//! How much better one agent does than another of the same kind: paired games on common dice, in several games and
//! against several opponents.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::match_play::{Match, MatchError, MatchOptions, Spectator};
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{Registry, SpecError};
use dervish_env::chance::game_seed;
use dervish_env::dervish::data_file::DataError;
use dervish_env::encode::PolicyEncoder;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

/// The opponent that is the agent's own other side.
pub const SELF: &str = "self";

/// A game with its agents.
trait Ground {
    /// Whether an agent can be made for this game.
    fn check(&self, spec: &str) -> Result<(), SpecError>;

    /// Score of agent `a` against `b`, from 0 to 1; `None` if the stop came first.
    fn score(&self, agents: [&str; 2], options: MatchOptions, stop: &Stop) -> Result<Option<f64>, MeasureError>;
}

struct GameGround<P: ArenaGame> {
    start: P,
    agents: Registry<P>,
}

impl<P: ArenaGame> Ground for GameGround<P> {
    fn check(&self, spec: &str) -> Result<(), SpecError> {
        self.agents.factory(spec).map(|_| ())
    }

    fn score(&self, agents: [&str; 2], options: MatchOptions, stop: &Stop) -> Result<Option<f64>, MeasureError> {
        let (a, b) = (self.agents.factory(agents[0])?, self.agents.factory(agents[1])?);
        let to_play = Match { start: &self.start, agents: [&a, &b], options, sprt: None, value: None };
        let report = match to_play.play(Vec::new(), stop) {
            Err(MatchError::Stopped) => return Ok(None),
            played => played?,
        };
        let pairs = &report.statistics.pentanomial;
        // Games that were stopped say something else than all of them.
        Ok(pairs.score().filter(|_| pairs.pairs() == u64::from(options.pairs)).map(|score| score.value))
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
    /// # Errors
    /// [`MeasureError`].
    pub fn difference(&self, plus: &Path, minus: &Path, seed: u64, stop: &Stop) -> Result<Option<f64>, MeasureError> {
        let sides = [self.spec(plus), self.spec(minus)];
        let mut sum = 0.0;
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
                let score = |a: &str, b: &str| ground.score([a, b], options, stop);
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
        Ok(Some(sum / number as f64))
    }

    /// The agent with a weights file.
    fn spec(&self, file: &Path) -> String {
        let file = file.display().to_string().replace(',', ",,");
        let joint = if self.agent.contains(':') { ',' } else { ':' };
        format!("{}{joint}weights={file}", self.agent)
    }
}
