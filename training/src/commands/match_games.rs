//! `dervish match`: two agents, games in pairs, a table with intervals.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::folder::{FolderError, MatchFolder};
use crate::arena::luck::value_function;
use crate::arena::match_play::{Contestant, Match, MatchError, MatchOptions, PlayedGame, Spectator};
use crate::arena::report::MatchReport;
use crate::arena::sprt::{SprtError, SprtPlan};
use crate::arena::store::{MatchId, MatchIdentity, Store, StoreError};
use crate::commands::{CommandError, print_json, print_line, threads};
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
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Plays A against B: games in pairs with the seats swapped and common dice.
#[derive(Clone, Debug, clap::Args)]
pub struct MatchArgs {
    /// An agent with its options, such as `mcts:sims=400,seed=7`; `dervish agents` lists them.
    pub a: String,
    /// The other agent.
    pub b: String,
    /// What to play: a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long)]
    pub scenario: String,
    /// Number of games, even; with --sprt, at most.
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
    /// Stop as soon as the games tell `elo0` from `elo1` more Elo of A than of B, such as `elo0=0 elo1=10`; `alpha` and
    /// `beta` (0.05 each) say how often H1 and H0 may be accepted wrongly.
    #[arg(long, value_name = "KEY=NUMBER", num_args = 1.., value_delimiter = ',')]
    pub sprt: Vec<String>,
    /// Measure the luck of every game and tell the results without it.
    #[arg(long)]
    pub luck: bool,
    /// SQLite file for the games; a match that is in it already goes on where it stopped.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// New folder for match.json and the record of every game.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the match document as JSON instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// How much the agents of a match may think, and for how long a game may last.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct BoundArgs {
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
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "not a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(Duration::ZERO) => Err("an agent needs some time".to_string()),
        Ok(seconds) => Ok(seconds),
        Err(error) => Err(error.to_string()),
    }
}

impl BoundArgs {
    /// The limits on thinking.
    ///
    /// # Errors
    /// [`MatchCommandError`]: bounds that allow nothing, or a decision that may take more than its turn.
    pub fn limits(&self) -> Result<Limits, MatchCommandError> {
        for (option, bound) in [("sims", self.sims), ("turn-sims", self.turn_sims)] {
            if bound == Some(0) {
                return Err(MatchCommandError::NoSimulations(option));
            }
        }
        if self.max_decisions == Some(0) {
            return Err(MatchCommandError::NoDecisions);
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
        Ok(Limits {
            simulations: self.sims,
            time: self.time,
            turn_simulations: self.turn_sims,
            turn_time: self.turn_time,
        })
    }
}

impl MatchArgs {
    /// Plays the match and prints what it tells.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let report = with_game(&self.scenario, MatchVisitor { args: self })??;
        if self.json {
            print_json(&report)?;
        } else {
            print_line(&report.to_string())?;
        }
        if self.luck && report.statistics.luck.is_none() {
            eprintln!(
                "nothing is told of luck: it takes three pairs, and results and dice that are not always the same"
            );
        }
        if let Some(folder) = &self.out {
            eprintln!("match.json and {} records are in {}", report.games.len(), folder.display());
        }
        Ok(())
    }
}

struct MatchVisitor<'a> {
    args: &'a MatchArgs,
}

impl GameVisitor for MatchVisitor<'_> {
    type Output = Result<MatchReport, MatchCommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        match_games(&start, &agents_of(&start, encoder), self.args)
    }
}

/// Plays the match from `start` between agents of the registry and keeps it where `--db` and `--out` say.
///
/// # Errors
/// [`MatchCommandError`], one line.
pub fn match_games<P: ArenaGame>(
    start: &P,
    agents: &Registry<P>,
    args: &MatchArgs,
) -> Result<MatchReport, MatchCommandError> {
    let pairs = pairs_of(args.games)?;
    let limits = args.bounds.limits()?;
    let sprt = (!args.sprt.is_empty()).then(|| SprtPlan::parse(&args.sprt)).transpose()?;
    let (a, b) = (agents.factory(&args.a)?, agents.factory(&args.b)?);
    let options = MatchOptions {
        pairs,
        seed: args.seed,
        limits,
        max_decisions: args.bounds.max_decisions,
        threads: args.threads,
    };
    let value = value_function(P::evaluation());
    let mut store = args.db.as_deref().map(Store::open_or_create).transpose()?;
    let to_play =
        Match { start, agents: [&a, &b], options, sprt, value: (args.luck || store.is_some()).then_some(&value) };
    let mut report = play_and_keep(&to_play, store.as_mut(), args.out.as_deref(), "")?;
    if !args.luck {
        report.statistics.luck = None;
    }
    Ok(report)
}

/// The number of pairs of this number of games.
///
/// # Errors
/// [`MatchCommandError::UnevenGames`].
pub(super) fn pairs_of(games: u32) -> Result<u32, MatchCommandError> {
    if games == 0 || games % 2 == 1 {
        return Err(MatchCommandError::UnevenGames(games));
    }
    Ok(games / 2)
}

/// Plays a match, or what is missing of it in `store`, writes every pair there, and records and document into a new
/// folder at `out`. `prefix` goes before the progress bar.
///
/// # Errors
/// [`MatchCommandError`].
pub(super) fn play_and_keep<P: ArenaGame>(
    to_play: &Match<'_, P>,
    store: Option<&mut Store>,
    out: Option<&Path>,
    prefix: &str,
) -> Result<MatchReport, MatchCommandError> {
    interrupt::install().map_err(MatchCommandError::Interrupt)?;
    let mut earlier = Vec::new();
    let mut book = None;
    if let Some(store) = store {
        let id = store.enter_match(&identity_of(to_play))?;
        earlier = store.pairs_of(id)?;
        book = Some(Mutex::new((store, id)));
    }
    if out.is_some() && !earlier.is_empty() {
        return Err(MatchCommandError::RecordsMissing(2 * earlier.len()));
    }
    let folder = out.map(MatchFolder::create).transpose()?;
    let watch = Watch::new(to_play, book, folder, &earlier);
    watch.progress.set_prefix(prefix.to_string());
    let report = to_play.play(earlier, &watch);
    watch.progress.finish_and_clear();
    let report = report?;
    if let Some(folder) = &watch.folder {
        folder.write_report(&report)?;
    }
    Ok(report)
}

fn identity_of<P: ArenaGame>(to_play: &Match<'_, P>) -> MatchIdentity {
    let MatchOptions { seed, limits, max_decisions, .. } = to_play.options;
    MatchIdentity {
        game: to_play.start.identity(),
        seats: Seat::BOTH.map(|seat| P::seat_name(seat).to_string()),
        agents: to_play.agents.map(|agent| agent.spec().to_string()),
        seed,
        limits,
        max_decisions,
    }
}

/// Shows the progress, and writes records and results.
struct Watch<'m, P: ArenaGame> {
    to_play: &'m Match<'m, P>,
    /// Where the pairs of this match are written.
    book: Option<Mutex<(&'m mut Store, MatchId)>>,
    folder: Option<MatchFolder>,
    progress: ProgressBar,
    points_of_a: Mutex<f64>,
}

impl<'m, P: ArenaGame> Watch<'m, P> {
    fn new(
        to_play: &'m Match<'m, P>,
        book: Option<Mutex<(&'m mut Store, MatchId)>>,
        folder: Option<MatchFolder>,
        earlier: &[[PlayedGame; 2]],
    ) -> Watch<'m, P> {
        // Nothing is drawn where standard error is no terminal.
        let progress = ProgressBar::new(2 * u64::from(to_play.options.pairs)).with_position(2 * earlier.len() as u64);
        if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:32} {pos}/{len} games, {eta} left, {msg}") {
            progress.set_style(style);
        }
        let points = earlier.as_flattened().iter().map(|game| game.outcome.score_of(Contestant::A)).sum();
        Watch { to_play, book, folder, progress, points_of_a: Mutex::new(points) }
    }

    fn record(&self, game: &PlayedGame) -> Result<Record, IllegalMove> {
        let spec_on = |seat| self.to_play.agents[game.outcome.contestant_on(seat).index()].spec();
        let mut record = Record::begin(self.to_play.start, game.outcome.dice_seed, Seat::BOTH.map(spec_on));
        let mut position = self.to_play.start.clone();
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
        if let Some(book) = &self.book {
            let mut book = book.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (store, id) = &mut *book;
            store.add_pair(*id, games).map_err(io::Error::other)?;
        }
        let points: f64 = games.iter().map(|game| game.outcome.score_of(Contestant::A)).sum();
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
    /// A game of nothing.
    #[error("--max-decisions 0: a game needs at least one decision")]
    NoDecisions,
    /// Budgets that contradict each other.
    #[error("--{option} {}: more for one decision than --turn-{option} {} for all of its turn", bounds[0], bounds[1])]
    MoreThanTheTurn {
        /// The option for a decision.
        option: &'static str,
        /// What was given for a decision and for a turn.
        bounds: [String; 2],
    },
    /// The test of `--sprt` cannot be made.
    #[error("--sprt: {0}")]
    Sprt(#[from] SprtError),
    /// A record would be missing in the folder of `--out`.
    #[error("--out: {0} games of this match are in the file of --db already and have no records; leave out --out")]
    RecordsMissing(usize),
    /// The file of `--db` cannot be used.
    #[error("--db: {0}")]
    Store(#[from] StoreError),
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
