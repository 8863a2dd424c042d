//! What a match and a tournament are told alike: what is played, how often, and how much the agents may think.

use crate::arena::match_play::MatchOptions;
use crate::commands::match_keeping::MatchCommandError;
use crate::commands::threads;
use dervish_agents::limits::Limits;
use dervish_env::game::Position;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The games between two agents.
#[derive(Clone, Debug, clap::Args)]
pub struct GamesArgs {
    /// What to play: a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long)]
    pub scenario: String,
    /// Number of games between two agents, even.
    #[arg(long)]
    pub games: u32,
    /// Names the dice and the agents' random streams.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads to play on [default: all cores].
    #[arg(long, value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// How much the agents may think.
    #[command(flatten)]
    pub bounds: BoundArgs,
}

impl GamesArgs {
    /// How a match from `start` is played.
    ///
    /// # Errors
    /// [`MatchCommandError`]: no number of pairs, or bounds as in [`BoundArgs::limits`].
    pub fn options<P: Position>(&self, start: &P) -> Result<MatchOptions, MatchCommandError> {
        Ok(MatchOptions {
            pairs: pairs_of(self.games).ok_or(MatchCommandError::UnevenGames(self.games))?,
            seed: self.seed,
            limits: self.bounds.limits(start)?,
            max_decisions: self.bounds.max_decisions,
            threads: self.threads,
        })
    }
}

/// The number of pairs of this number of games, if it is even and above 0.
pub(super) fn pairs_of(games: u32) -> Option<u32> {
    (games > 0 && games.is_multiple_of(2)).then_some(games / 2)
}

/// How much the agents of a match may think, and for how long a game may last.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BoundArgs {
    /// How much the agents may think.
    #[command(flatten)]
    pub thought: ThoughtArgs,
    /// Decisions after which a game is cut off and counted as drawn [default: the game's own bound].
    #[arg(long, value_name = "N")]
    pub max_decisions: Option<u32>,
}

/// How much an agent may think.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ThoughtArgs {
    /// Simulations an agent may use for a decision, at most.
    #[arg(long, value_name = "N")]
    pub sims: Option<u32>,
    /// Seconds an agent may use for a decision; games then depend on the machine.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<Duration>,
    /// Simulations an agent may use for all decisions of a turn, at most.
    #[arg(long, value_name = "N")]
    pub turn_sims: Option<u32>,
    /// Seconds an agent may use for all decisions of a turn; games then depend on the machine.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub turn_time: Option<Duration>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    time_of(text.parse().map_err(|_| "not a number of seconds".to_string())?)
}

/// A time to think of this many seconds.
pub(super) fn time_of(seconds: f64) -> Result<Duration, String> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Err("an agent needs some time".to_string()),
        Ok(seconds) => Ok(seconds),
        Err(error) => Err(error.to_string()),
    }
}

impl BoundArgs {
    /// The limits on thinking in games from `start`.
    ///
    /// # Errors
    /// [`MatchCommandError`]: bounds that allow nothing, or as in [`ThoughtArgs::limits`].
    pub fn limits<P: Position>(&self, start: &P) -> Result<Limits, MatchCommandError> {
        if self.max_decisions == Some(0) {
            return Err(MatchCommandError::NoDecisions);
        }
        self.thought.limits(start)
    }
}

impl ThoughtArgs {
    /// The limits on thinking in games from `start`. Every command that bounds thinking has them from here, so that none
    /// bounds the turns of a game that counts none: all its decisions would share what one turn may use.
    ///
    /// # Errors
    /// [`MatchCommandError`]: bounds that allow nothing, a decision that may take more than its turn, or a bound on turns
    /// in a game that does not count them ([`Position::counts_turns`]).
    pub fn limits<P: Position>(&self, start: &P) -> Result<Limits, MatchCommandError> {
        for (option, bound) in [("sims", self.sims), ("turn-sims", self.turn_sims)] {
            if bound == Some(0) {
                return Err(MatchCommandError::NoSimulations(option));
            }
        }
        if let (Some(decision), Some(turn)) = (self.sims, self.turn_sims)
            && decision > turn
        {
            let bounds = [decision, turn].map(|bound| bound.to_string());
            return Err(MatchCommandError::MoreThanTheTurn { option: "sims", bounds });
        }
        if let (Some(decision), Some(turn)) = (self.time, self.turn_time)
            && decision > turn
        {
            let bounds = [decision, turn].map(|bound| bound.as_secs_f64().to_string());
            return Err(MatchCommandError::MoreThanTheTurn { option: "time", bounds });
        }
        let of_turns = [("sims", self.turn_sims.is_some()), ("time", self.turn_time.is_some())];
        if let Some((option, _)) = of_turns.into_iter().find(|(_, given)| *given && !start.counts_turns()) {
            return Err(MatchCommandError::NoTurns { option, game: start.identity().game });
        }
        Ok(Limits {
            simulations: self.sims,
            time: self.time,
            turn_simulations: self.turn_sims,
            turn_time: self.turn_time,
        })
    }
}
