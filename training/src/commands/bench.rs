//! `dervish bench`: how fast the games play.

use std::time::Duration;

use comfy_table::Table;
use comfy_table::presets;
use dervish_env::bench::{PlaySpeed, VecSpeed, measure_play, measure_vec_env};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::odds_speed::{OddsSpeed, measure_odds};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::encode::{Encoder, Observation, Parts, PolicyEncoder};
use dervish_env::game::{Position, Seat};
use serde::Serialize;

use super::{CommandError, print_json, print_line};
use crate::arena::agents::ArenaGame;
use crate::games::{GameVisitor, REFERENCE_GAMES, game_names, with_game};

/// What the columns of the table tell.
pub const COLUMNS: &str = "\
Decisions, rolls and games are those of random play on one thread. A decision is one between two or
more actions; the time of rolls and forced moves is in it.
  aim       decisions/s on one core that the project aims at (for the reference games five times
            those of OpenSpiel), - where it has no aim
  clone     time of copying a position over another
  size      of a position in memory
  1 thread  steps of games per second, of --lanes games side by side that write observations
  threads   how many, and the same figure on all of them
  scaling   how many times faster they are than one";

/// Measures random legal play, clones, and many games at once.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = COLUMNS)]
pub struct BenchArgs {
    /// What else to measure.
    #[cfg(feature = "torch")]
    #[command(subcommand)]
    pub other: Option<OtherBench>,
    /// Games, scenarios or scenario files [default: all that come with the program].
    pub games: Vec<String>,
    /// Seconds for each measurement; there are three for each game, and of a campaign one more, of exact odds.
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    pub seconds: f64,
    /// Threads of the second measurement of many games at once.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Parts of the observations that many games at once write; a game has those that its encoder offers.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Part::Planes, Part::Tokens, Part::Globals])]
    pub observe: Vec<Part>,
    /// Games side by side in that measurement; their observations may take 4096 MiB.
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub lanes: u32,
    /// Names the games that are played.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Measurements of their own.
#[cfg(feature = "torch")]
#[derive(Clone, Debug, clap::Subcommand)]
pub enum OtherBench {
    // Its arguments say what it measures: a comment here would hide theirs from the help.
    #[allow(missing_docs)]
    Selfplay(super::bench_self_play::SelfPlayBenchArgs),
}

/// A part of an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Part {
    /// Planes over the board.
    Planes,
    /// One row for each thing on the board.
    Tokens,
    /// Facts about the whole position.
    Globals,
}

pub(super) fn seconds(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or("expected a number of seconds from 0.01 to 3600")
}

impl BenchArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// [`CommandError`] if a game is not known, it or its threads take too much, or standard output fails.
    pub fn run(&self) -> Result<(), CommandError> {
        #[cfg(feature = "torch")]
        if let Some(OtherBench::Selfplay(self_play)) = &self.other {
            return self_play.run();
        }
        let report = self.measure()?;
        if self.json {
            return print_json(&report);
        }
        print_line(report.to_string().trim_end())
    }

    /// Measures.
    ///
    /// # Errors
    /// [`CommandError`] if a game is not known, or it or its threads take too much.
    pub fn measure(&self) -> Result<BenchReport, CommandError> {
        let names = if self.games.is_empty() { game_names().map(str::to_string).collect() } else { self.games.clone() };
        let mut games = Vec::new();
        for game in names {
            let (play, vec_env) = with_game(&game, Measure(self))??;
            games.push(GameSpeed { aim: aim(&game), odds: self.odds(&game)?, game, play, vec_env });
        }
        Ok(BenchReport { debug_assertions: cfg!(debug_assertions), games })
    }

    /// The speed of exact odds, for a campaign.
    fn odds(&self, game: &str) -> Result<Option<OddsSpeed>, CommandError> {
        if REFERENCE_GAMES.contains(&game) {
            return Ok(None);
        }
        let start = Campaign::new(Scenario::named_or_file(game)?);
        Ok(measure_odds(&start, self.seed, Duration::from_secs_f64(self.seconds)))
    }
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// Whether the program checks itself as it runs, which makes it slower.
    pub debug_assertions: bool,
    /// One for each game.
    pub games: Vec<GameSpeed>,
}

/// How fast one game plays.
#[derive(Clone, Debug, Serialize)]
pub struct GameSpeed {
    /// Name of the game, scenario or file.
    pub game: String,
    /// Decisions per second that the project aims at on one core; null for games without an aim.
    pub aim: Option<f64>,
    /// Random play on one thread.
    pub play: PlaySpeed,
    /// Many games at once.
    pub vec_env: VecSpeed,
    /// Exact odds of combats; null for games without.
    pub odds: Option<OddsSpeed>,
}

/// Decisions per second on one core that the project aims at: for the reference games five times those of OpenSpiel.
fn aim(game: &str) -> Option<f64> {
    match game {
        "connect-four" => Some(5e6),
        "pig" => Some(20e6),
        "souakim" => Some(400e3),
        "khartoum" => Some(200e3),
        _ => None,
    }
}

/// MiB that many games at once may take.
const MOST_MIB: u64 = 4096;

/// MiB that this many games at once take, rounded up: their arrays, with as many tokens as at the start, and positions.
fn mib_of<P: Position, E: Encoder<P>>(start: &P, encoder: &E, parts: Parts, lanes: u32) -> u64 {
    let mut observation = Observation::new(encoder, parts);
    observation.encode(encoder, start, Seat::First);
    let values = observation.planes().len() + observation.tokens.as_slice().len() + observation.globals.len();
    // Each game keeps the last position of its last episode, too.
    let bytes = values * size_of::<f32>() + P::ACTIONS * size_of::<bool>() + 2 * size_of::<P>();
    (bytes as u64).saturating_mul(u64::from(lanes)).div_ceil(1 << 20)
}

struct Measure<'a>(&'a BenchArgs);

impl GameVisitor for Measure<'_> {
    type Output = Result<(PlaySpeed, VecSpeed), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let BenchArgs { seconds, threads, lanes, seed, ref observe, .. } = *self.0;
        let parts = Parts {
            planes: observe.contains(&Part::Planes),
            tokens: observe.contains(&Part::Tokens),
            globals: observe.contains(&Part::Globals),
        };
        let mib = mib_of(&start, &encoder, parts, lanes);
        if mib > MOST_MIB {
            let reason = format!("{lanes} games at once take {mib} MiB with these observations, more than {MOST_MIB}");
            return Err(CommandError::Argument { argument: "--lanes", reason });
        }
        let budget = Duration::from_secs_f64(seconds);
        let play = measure_play(&start, seed, budget);
        let vec_env = measure_vec_env(&start, &encoder, parts, lanes as usize, usize::from(threads), budget)
            .map_err(|error| CommandError::Argument { argument: "--threads", reason: error.to_string() })?;
        Ok((play, vec_env))
    }
}

impl std::fmt::Display for BenchReport {
    /// A table of speeds with [`COLUMNS`] and, below it, the speed of exact odds and the phase mix of each game.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.debug_assertions {
            writeln!(f, "This build checks itself as it runs; measure with `cargo build --release`.\n")?;
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header([
            "game",
            "decisions/s",
            "aim",
            "rolls/s",
            "games/s",
            "decisions/game",
            "clone",
            "size",
            "1 thread",
            "threads",
            "scaling",
        ]);
        for GameSpeed { game, aim, play, vec_env, .. } in &self.games {
            table.add_row([
                game.clone(),
                per_second(play.decisions_per_second),
                aim.map_or_else(|| "-".to_string(), per_second),
                per_second(play.rolls_per_second),
                per_second(play.games_per_second),
                format!("{:.1}", play.decisions as f64 / play.games as f64),
                format!("{:.1} ns", play.clone_ns),
                format!("{} B", play.position_bytes),
                per_second(vec_env.one_thread),
                format!("{}: {}", vec_env.threads, per_second(vec_env.all_threads)),
                format!("{:.2}", vec_env.scaling),
            ]);
        }
        writeln!(f, "{table}\n{COLUMNS}")?;
        for (game, odds) in self.games.iter().filter_map(|speed| speed.odds.as_ref().map(|odds| (&speed.game, odds))) {
            let OddsSpeed { combats, endings, new_us, known_us } = odds;
            writeln!(
                f,
                "\n{game}: exact odds of a combat in {new_us:.1} µs, of a remembered one in {known_us:.2} µs ({combats} \
                 combats of random play, {endings:.1} endings on average)"
            )?;
        }
        for GameSpeed { game, play, .. } in &self.games {
            let nodes = play.phase_mix.values().sum::<u64>() as f64;
            let mix = play.phase_mix.iter().map(|(kind, &n)| format!("{kind} {:.1}%", 100.0 * n as f64 / nodes));
            writeln!(f, "\n{game}: {}", mix.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

/// Three digits with k or M.
fn per_second(rate: f64) -> String {
    let (value, unit) = match rate {
        _ if rate >= 1e6 => (rate / 1e6, "M"),
        _ if rate >= 1e3 => (rate / 1e3, "k"),
        _ => (rate, ""),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$}{unit}")
}
