//! `dervish match`: two agents, games in pairs, a table with intervals.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::folder::{FolderError, MatchFolder};
use crate::arena::match_play::{Contestant, MatchError, MatchOptions, PlayedGame, Spectator, play_match};
use crate::arena::report::MatchReport;
use crate::commands::{CommandError, print_json, print_line};
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use dervish_agents::agent::Event;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{Registry, SpecError};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{IllegalMove, Seat};
use dervish_env::record::Record;
use indicatif::{ProgressBar, ProgressStyle};
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Plays A against B: games in pairs with the seats swapped and common dice.
#[derive(Clone, Debug, clap::Args)]
pub struct MatchArgs {
    /// An agent with its options, such as `mcts:sims=400,seed=7`; `dervish agents` lists them.
    pub a: String,
    /// The other agent.
    pub b: String,
    /// What to play: a built-in scenario, a scenario file, or a reference game.
    #[arg(long)]
    pub scenario: String,
    /// Number of games, even.
    #[arg(long)]
    pub games: u32,
    /// Names the dice and the agents' random streams.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Threads to play on [default: all cores].
    #[arg(long)]
    pub threads: Option<NonZeroUsize>,
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
    /// Decisions after which a game is cut off and counted as drawn.
    #[arg(long, value_name = "N")]
    pub max_decisions: Option<u32>,
    /// New folder for match.json and the record of every game.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the match document as JSON instead of the table.
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl MatchArgs {
    /// Plays the match and prints what it tells.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let report = with_game(&self.scenario, Match { args: self })??;
        if self.json {
            print_json(&report)?;
        } else {
            print_line(&report.to_string())?;
        }
        if let Some(folder) = &self.out {
            eprintln!("match.json and {} records are in {}", report.games.len(), folder.display());
        }
        Ok(())
    }
}

struct Match<'a> {
    args: &'a MatchArgs,
}

impl GameVisitor for Match<'_> {
    type Output = Result<MatchReport, MatchCommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        match_games(&start, &agents_of(&start, encoder), self.args)
    }
}

/// Plays the match from `start` between agents of the registry and keeps it where `--out` says.
///
/// # Errors
/// [`MatchCommandError`], one line.
pub fn match_games<P: ArenaGame>(
    start: &P,
    agents: &Registry<P>,
    args: &MatchArgs,
) -> Result<MatchReport, MatchCommandError> {
    if args.games == 0 || args.games % 2 == 1 {
        return Err(MatchCommandError::UnevenGames(args.games));
    }
    for (option, bound) in [("sims", args.sims), ("turn-sims", args.turn_sims)] {
        if bound == Some(0) {
            return Err(MatchCommandError::NoSimulations(option));
        }
    }
    let (a, b) = (agents.factory(&args.a)?, agents.factory(&args.b)?);
    let limits =
        Limits { simulations: args.sims, time: args.time, turn_simulations: args.turn_sims, turn_time: args.turn_time };
    let options = MatchOptions {
        pairs: args.games / 2,
        seed: args.seed,
        limits,
        max_decisions: args.max_decisions,
        threads: args.threads,
    };
    let folder = args.out.as_deref().map(MatchFolder::create).transpose()?;
    interrupt::install().map_err(MatchCommandError::Interrupt)?;
    let watch = Watch::new(start, [a.spec(), b.spec()], args.games, folder);
    let report = play_match(start, &a, &b, &options, &watch);
    watch.progress.finish_and_clear();
    let report = report?;
    if let Some(folder) = &watch.folder {
        folder.write_report(&report)?;
    }
    Ok(report)
}

/// Shows the progress and writes the records.
struct Watch<'m, P> {
    start: &'m P,
    specs: [&'m str; 2],
    folder: Option<MatchFolder>,
    progress: ProgressBar,
    points_of_a: Mutex<f64>,
}

impl<'m, P: ArenaGame> Watch<'m, P> {
    fn new(start: &'m P, specs: [&'m str; 2], games: u32, folder: Option<MatchFolder>) -> Watch<'m, P> {
        // Nothing is drawn where standard error is no terminal.
        let progress = ProgressBar::new(u64::from(games));
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} games, {eta} left, {msg}") {
            progress.set_style(style);
        }
        Watch { start, specs, folder, progress, points_of_a: Mutex::new(0.0) }
    }

    fn record(&self, game: &PlayedGame) -> Result<Record, IllegalMove> {
        let agents = Seat::BOTH.map(|seat| self.specs[game.outcome.contestant_on(seat).index()]);
        let mut record = Record::begin(self.start, game.outcome.dice_seed, agents);
        let mut position = self.start.clone();
        for &event in &game.events {
            match event {
                Event::Played(_, action) => {
                    record.push_action(&position, action);
                    position.apply(action)?;
                }
                Event::Rolled(outcome) => {
                    record.push_roll(&position, outcome);
                    position.resolve(outcome)?;
                }
            }
        }
        match &game.outcome.forfeit {
            Some(forfeit) => record.forfeit(forfeit.clone()),
            None if game.outcome.truncated => record.truncate(),
            None => record.finish(&position),
        }
        Ok(record)
    }
}

impl<P: ArenaGame> Spectator for Watch<'_, P> {
    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }

    fn pair_over(&self, games: &[PlayedGame; 2]) -> io::Result<()> {
        if let Some(folder) = &self.folder {
            for game in games {
                let record = self.record(game).map_err(io::Error::other)?;
                folder.write_record(game.outcome.game, &record)?;
            }
        }
        let points: f64 = games.iter().map(|game| game.outcome.score(game.outcome.seat_of(Contestant::A))).sum();
        let mut points_of_a = self.points_of_a.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *points_of_a += points;
        self.progress.inc(2);
        self.progress.set_message(format!("A has {:.3}", *points_of_a / self.progress.position().max(1) as f64));
        Ok(())
    }
}

/// Why a match was not played or not kept.
#[derive(Debug, thiserror::Error)]
pub enum MatchCommandError {
    /// Games are played in pairs.
    #[error("--games {0}: games are played in pairs, so their number must be even and above 0")]
    UnevenGames(u32),
    /// A budget of nothing.
    #[error("--{0}: an agent needs at least one simulation")]
    NoSimulations(&'static str),
    /// An agent's spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The match failed.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The folder of `--out` cannot be used.
    #[error("--out: {0}")]
    Folder(#[from] FolderError),
    /// The system allows no handler for Ctrl-C.
    #[error("cannot watch for Ctrl-C: {0}")]
    Interrupt(String),
}
