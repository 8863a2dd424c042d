//! `dervish train`: self-play and learning for a while, into a run directory.

use super::{CommandError, threads};
use crate::arena::agents::ArenaGame;
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use crate::learner::LearnerConfig;
use crate::run_dir::{FORMAT_VERSION, RunConfig, RunDir};
use crate::self_play::actor::SelfPlayConfig;
use crate::session::{Progress, SessionReport, Watcher, train};
use dervish_agents::evaluation::Utility;
use dervish_env::encode::PolicyEncoder;
use indicatif::{ProgressBar, ProgressStyle};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tracing_subscriber::filter::LevelFilter;

/// Trains a network by self-play.
#[derive(Clone, Debug, clap::Args)]
pub struct TrainArgs {
    /// What to play: a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long, required_unless_present = "resume", conflicts_with = "resume")]
    pub scenario: Option<String>,
    /// How long to train, such as 90s, 10m or 2h.
    #[arg(long, value_parser = budget)]
    pub budget: Duration,
    /// Names the first weights and the dice of all games.
    #[arg(long, default_value_t = 0, conflicts_with = "resume")]
    pub seed: u64,
    /// Threads to play on [default: all cores].
    #[arg(long, value_parser = threads, conflicts_with = "resume")]
    pub threads: Option<NonZeroUsize>,
    /// Run directory to make [default: runs/SCENARIO-N with the first free N].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Run directory to go on in.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Simulations for each decision of self-play; 0 plays the policy and learns by policy gradient.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "resume")]
    pub sims: u32,
    /// How train.log is written.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log: LogFormat,
}

/// How `train.log` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

fn budget(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("there is nothing to do in no time".to_string()),
        Ok(budget) => Ok(budget),
        Err(error) => Err(format!("{error}; write 90s, 10m or 2h")),
    }
}

impl TrainArgs {
    /// Trains, and tells where the run is and how to go on.
    ///
    /// # Errors
    /// [`CommandError`]; a run that exists is not touched.
    pub fn run(self) -> Result<(), CommandError> {
        interrupt::install().map_err(CommandError::Training)?;
        let resumed = self.resume.as_deref().map(RunDir::open).transpose();
        let resumed = resumed.map_err(|error| CommandError::Training(error.to_string()))?;
        let config = resumed.as_ref().map_or_else(|| self.config(), |run| run.config().clone());
        with_game(&config.scenario.clone(), TrainGame { args: &self, resumed, config })?
    }

    fn config(&self) -> RunConfig {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let searched = self.sims > 0;
        RunConfig {
            format: FORMAT_VERSION,
            scenario: self.scenario.clone().unwrap_or_default(),
            threads: self.threads.map_or(cores, NonZeroUsize::get),
            hidden: 64,
            trunk: 128,
            checkpoint_seconds: 30.0,
            self_play: SelfPlayConfig {
                seed: self.seed,
                games_at_once: if searched { 16 } else { 64 },
                simulations: self.sims,
                candidates: 8,
                utility: Utility::default(),
            },
            learner: LearnerConfig::for_simulations(self.sims),
        }
    }
}

/// `runs/SCENARIO-N` with the lowest N from 1 that is free. Another program may take it first; then the run is refused.
fn first_free(scenario: &str) -> PathBuf {
    let name = Path::new(scenario).file_stem().map_or_else(|| scenario.into(), |stem| stem.to_string_lossy());
    let numbered = (1u32..).map(|number| Path::new("runs").join(format!("{name}-{number}")));
    numbered.into_iter().find(|path| !path.exists()).unwrap_or_else(|| Path::new("runs").join(&*name))
}

fn start_log(run: &RunDir, format: LogFormat) -> Result<(), CommandError> {
    let file = run.log_file().map_err(|error| CommandError::Training(error.to_string()))?;
    let log =
        tracing_subscriber::fmt().with_max_level(LevelFilter::INFO).with_ansi(false).with_writer(Mutex::new(file));
    // A log is there already where a program trains twice; it then goes on into the first one.
    let _ = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
    Ok(())
}

/// A new run's directory is made only here, where its game is known to be one.
struct TrainGame<'a> {
    args: &'a TrainArgs,
    resumed: Option<RunDir>,
    config: RunConfig,
}

impl GameVisitor for TrainGame<'_> {
    type Output = Result<(), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(
        self,
        start: P,
        encoder: E,
    ) -> Result<(), CommandError> {
        let TrainArgs { budget, log, .. } = *self.args;
        let run = match self.resumed {
            Some(run) => Ok(run),
            None => {
                let out = self.args.out.clone().unwrap_or_else(|| first_free(&self.config.scenario));
                RunDir::create(&out, self.config)
            }
        };
        let run = run.map_err(|error| CommandError::Training(error.to_string()))?;
        start_log(&run, log)?;
        let watch = ProgressWatch::new(budget);
        let report = train(&start, &encoder, &run, budget, &watch);
        watch.bar.finish_and_clear();
        let report = report.map_err(|error| CommandError::Training(error.to_string()))?;
        let SessionReport { before, after, steps, stopped } = report;
        let path = run.path().display();
        eprintln!(
            "{}: {} games, {} decisions, {steps} steps, {:.0} s in all ({} games in this session)",
            if stopped { "stopped and saved" } else { "done" },
            after.games,
            after.decisions,
            after.seconds,
            after.games - before.games,
        );
        eprintln!("the run is in {path}; go on with: dervish train --resume {path} --budget 10m");
        eprintln!("it plays as: neural:{path}");
        Ok(())
    }
}

/// A progress bar, or a line every quarter of a minute where standard error is no terminal.
struct ProgressWatch {
    bar: ProgressBar,
    last_line: Mutex<Instant>,
}

const LINE_EVERY: Duration = Duration::from_secs(15);

impl ProgressWatch {
    fn new(budget: Duration) -> ProgressWatch {
        let bar = ProgressBar::new(budget.as_secs().max(1));
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} s, {msg}") {
            bar.set_style(style);
        }
        ProgressWatch { bar, last_line: Mutex::new(Instant::now()) }
    }
}

impl Watcher for ProgressWatch {
    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }

    fn progress(&self, progress: &Progress) {
        let Progress { session_seconds, tally, step, decisions_per_second, first_seat_score, round } = progress;
        let losses = round.map_or_else(String::new, |round| {
            let losses = round.losses;
            let policy = if losses.entropy > 0.0 { losses.entropy } else { losses.policy };
            format!(", losses: policy {policy:.2}, result {:.3}, margin {:.3}", losses.wdl, losses.margin)
        });
        let message = format!(
            "{} games, {decisions_per_second:.0} decisions/s, step {step}, first seat scores {first_seat_score:.2}{losses}",
            tally.games
        );
        if self.bar.is_hidden() {
            let mut last_line = self.last_line.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if last_line.elapsed() >= LINE_EVERY {
                *last_line = Instant::now();
                eprintln!("{session_seconds:.0} of {} s, {message}", self.bar.length().unwrap_or_default());
            }
        } else {
            self.bar.set_position(*session_seconds as u64);
            self.bar.set_message(message);
        }
    }
}
