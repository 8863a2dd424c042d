//! `dervish train`: self-play and learning for a while, into a run directory.

use super::{CommandError, print_line, tell, threads};
use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::luck::value_function;
use crate::commands::progress::WorkProgress;
use crate::config::{FORMAT_VERSION, PRESETS, RunConfig, RunNetwork, budget};
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use crate::run_dir::RunDir;
use crate::self_play::Start;
use crate::self_play::pool::Rival;
use crate::session::{
    Budget, Material, Progress, SessionError, SessionReport, Watcher, check_network, network_config, train, unfinished,
};
use dervish_agents::registry::in_spec;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use dervish_env::persist::read_text;
use std::any::Any;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use tracing_subscriber::filter::LevelFilter;

/// Trains a network by self-play.
///
/// The step size shrinks over the whole run: over the time that earlier sessions took and the --budget of this one, or until
/// the round of --rounds. A session that takes more time than was planned raises it again, to where a run of that length
/// stands.
#[derive(Clone, Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["preset", "config", "scenario", "resume"]))]
#[command(group = clap::ArgGroup::new("long").args(["budget", "rounds"]))]
pub struct TrainArgs {
    /// A configuration that comes with the program.
    #[arg(long, value_parser = PRESETS.map(|(name, _)| name))]
    pub preset: Option<String>,
    /// A configuration of your own, a TOML file; `config.toml` of any run is one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Default configuration for a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long)]
    pub scenario: Option<String>,
    /// Run directory to go on in.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// How long to train, such as 90s, 10m or 2h [default: that of the configuration, 60m for presets; with --resume what is
    /// left of a session that was interrupted].
    #[arg(long, value_parser = budget)]
    pub budget: Option<Duration>,
    /// Rounds of learning until the run is over, those of earlier sessions included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Changes the configuration, such as self_play.simulations=32; may be given several times, but not with --resume.
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub settings: Vec<String>,
    /// Names the first weights and the dice of all games [default: that of the configuration, 0 for presets; not with --resume].
    #[arg(long, conflicts_with = "resume")]
    pub seed: Option<u64>,
    /// Threads to play on [default: all cores; not with --resume, where it is the configuration's].
    #[arg(long, value_parser = threads, conflicts_with = "resume")]
    pub threads: Option<NonZeroUsize>,
    /// Run directory to make [default: runs/NAME-N with the first free N; not with --resume].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Train nothing; print every key of the configuration, with the defaults of what it does not say, as a beginning of one's
    /// own. What cannot be trained is refused.
    #[arg(long)]
    pub print_config: bool,
    /// How train.log is written.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log: LogFormat,
    /// What train.log has, and what is more serious: error, warn, info, debug (every game and every round) or off.
    #[arg(long, value_name = "LEVEL", default_value_t = LevelFilter::INFO)]
    pub log_level: LevelFilter,
}

/// How `train.log` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
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
        let config = resumed.as_ref().map_or_else(|| self.new_config(), |run| Ok(run.config().clone()))?;
        let first = config.scenarios[0].clone();
        with_game(&first, TrainGame { args: &self, resumed, config })?
    }

    /// The configuration of a new run.
    ///
    /// # Errors
    /// [`CommandError`]: there is no such configuration, or it is at fault.
    pub(super) fn new_config(&self) -> Result<RunConfig, CommandError> {
        let mut settings = self.settings.clone();
        settings.extend(self.seed.map(|seed| format!("seed={seed}")));
        settings.extend(self.threads.map(|threads| format!("threads={threads}")));
        let scenario = self.scenario.as_deref().unwrap_or_default();
        configuration(self.preset.as_deref(), self.config.as_deref(), scenario, &settings)
    }

    /// How long to train: as is said, or as is configured, or what is left of a session that was interrupted.
    fn length(&self, config: &RunConfig, resumed: Option<&RunDir>) -> Result<Budget, CommandError> {
        let told = |reason: String| CommandError::Training(reason);
        if let Some(named) = self.rounds.map(Budget::Rounds).or(self.budget.map(Budget::Time)) {
            return Ok(named);
        }
        let Some(run) = resumed else {
            // A time that is none was refused with its configuration.
            let configured = config.budget.as_deref().and_then(|text| budget(text).ok()).map(Budget::Time);
            return configured.ok_or_else(|| told("how long? --budget 10m, or --rounds 100".to_string()));
        };
        let left = unfinished(run).map_err(|error| told(error.to_string()))?;
        let is_over = "the run's latest session came to its end; how much longer? --budget 10m, or --rounds 100";
        left.ok_or_else(|| told(is_over.to_string()))
    }

    /// `runs/NAME-N` with the lowest N from 1 that is free. Another program may take it first; then the run is refused.
    fn first_free(&self, config: &RunConfig) -> PathBuf {
        let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let named = self.preset.clone().or_else(|| self.config.as_deref().and_then(stem));
        let name = named.or_else(|| stem(Path::new(&config.scenarios[0]))).unwrap_or_else(|| "run".to_string());
        let numbered = (1u32..).map(|number| Path::new("runs").join(format!("{name}-{number}")));
        numbered.into_iter().find(|path| !path.exists()).unwrap_or_else(|| Path::new("runs").join(name))
    }
}

/// The configuration of this preset or of this file, or else the default one for this scenario, with changes.
///
/// # Errors
/// [`CommandError`]: there is no such configuration, or it is at fault.
pub(super) fn configuration(
    preset: Option<&str>,
    file: Option<&Path>,
    scenario: &str,
    settings: &[String],
) -> Result<RunConfig, CommandError> {
    let (source, text) = match (preset, file) {
        (Some(name), _) => (name.to_string(), RunConfig::preset(name).map(str::to_string)),
        (_, Some(file)) => {
            let name = file.display().to_string();
            let read = read_text(file);
            let text = read.map_err(|error| CommandError::File { file: name.clone(), reason: error.to_string() })?;
            (name, Ok(text))
        }
        (None, None) => {
            let scenario = toml::Value::from(scenario);
            ("--set".to_string(), Ok(format!("format = {FORMAT_VERSION}\nscenarios = [{scenario}]\n")))
        }
    };
    let config = text.and_then(|text| RunConfig::parse(&text, settings));
    config.map_err(|error| CommandError::File { file: source, reason: error.to_string() })
}

/// The encoder with which a network of this configuration reads a scenario, whose usual one this is.
///
/// # Errors
/// [`CommandError`]: its game has no encoder of the configured name.
pub(super) fn encoder_of<P: Position, E: PolicyEncoder<P>>(
    network: &RunNetwork,
    scenario: &str,
    usual: E,
) -> Result<E, CommandError> {
    let name = &network.encoder;
    let encoder = if name.is_empty() { Some(usual) } else { usual.named(name) };
    let told = || CommandError::Training(format!("network.encoder: {scenario} has no encoder `{name}`"));
    encoder.ok_or_else(told)
}

fn start_log(run: &RunDir, format: LogFormat, level: LevelFilter) -> Result<(), CommandError> {
    let file = run.log_file().map_err(|error| CommandError::Training(error.to_string()))?;
    let log = tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_writer(Mutex::new(file));
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

impl TrainGame<'_> {
    /// What is played, and the teachers.
    fn material<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(&self) -> Result<Material<P, E>, CommandError> {
        let RunConfig { scenarios, network, imitation, league, assessment, .. } = &self.config;
        let rivals = |specs: &[String]| -> Vec<Rival<P>> {
            specs.iter().map(|spec| Rival { name: spec.clone(), by_scenario: Vec::new() }).collect()
        };
        let mut material = Material {
            opponents: rivals(&league.opponents),
            held_out: rivals(&assessment.held_out),
            value: Some(Box::new(value_function(P::evaluation()))),
            ..Material::of(Vec::new())
        };
        for scenario in scenarios {
            let start = with_game(scenario, Unpack)?.downcast::<(P, E)>();
            let (position, usual) = *start.map_err(|_| {
                CommandError::Training(format!("scenarios: {scenario} is another game than {}", scenarios[0]))
            })?;
            let agents = agents_of(&position, usual.clone());
            let factory = |key: &str, spec: &str| {
                agents.factory(spec).map_err(|error| CommandError::Training(format!("{key}: {error}")))
            };
            if let Some(imitation) = imitation {
                material.teachers.push(factory("imitation.teacher", &imitation.teacher)?);
            }
            for rival in &mut material.opponents {
                rival.by_scenario.push(factory("league.opponents", &rival.name)?);
            }
            for rival in &mut material.held_out {
                rival.by_scenario.push(factory("assessment.held_out", &rival.name)?);
            }
            let encoder = encoder_of::<P, E>(network, scenario, usual)?;
            material.starts.push(Start { position, encoder });
        }
        self.check_held_out(&material)?;
        Ok(material)
    }

    /// Refuses an agent that is held out and learnt from all the same. Agents are told apart by their specs with every
    /// option: `random` and `random:seed=0` are one.
    fn check_held_out<P: Position, E>(&self, material: &Material<P, E>) -> Result<(), CommandError> {
        let Material { teachers, opponents, held_out, .. } = material;
        // Where it has no games, nobody is imitated.
        let imitated = self.config.imitation.as_ref().is_some_and(|imitation| imitation.games > 0);
        let teachers = teachers.iter().filter(|_| imitated).map(|agent| ("imitation.teacher", agent));
        let pool = opponents.iter().flat_map(|rival| &rival.by_scenario).map(|agent| ("league.opponents", agent));
        let is_held_out = |spec: &str| held_out.iter().flat_map(|rival| &rival.by_scenario).any(|of| of.spec() == spec);
        let Some((key, agent)) = teachers.chain(pool).find(|(_, agent)| is_held_out(agent.spec())) else {
            return Ok(());
        };
        Err(CommandError::Training(format!("assessment.held_out and {key} have the same agent: {}", agent.spec())))
    }
}

/// A game's first position and its encoder, to be told apart by their types.
struct Unpack;

impl GameVisitor for Unpack {
    type Output = Box<dyn Any>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Box<dyn Any> {
        Box::new((start, encoder))
    }
}

impl GameVisitor for TrainGame<'_> {
    type Output = Result<(), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, _: P, _: E) -> Result<(), CommandError> {
        let material = self.material::<P, E>()?;
        if self.args.print_config {
            // Where the network computes is not asked: that may be another machine's.
            let network = network_config(&material.starts[0], &self.config).check();
            network.map_err(|error| CommandError::Training(SessionError::from(error).to_string()))?;
            let budget = self.args.budget.map(|budget| humantime::format_duration(budget).to_string());
            let config = RunConfig { budget: budget.or(self.config.budget.clone()), ..self.config };
            return print_line(config.commented_text().trim_end());
        }
        let budget = self.args.length(&self.config, self.resumed.as_ref())?;
        if self.config.deterministic && matches!(budget, Budget::Time(_)) {
            let reason = "a deterministic run ends after --rounds: with --budget its steps would depend on the clock";
            return Err(CommandError::Training(reason.to_string()));
        }
        check_network(&material.starts[0], &self.config).map_err(|error| CommandError::Training(error.to_string()))?;
        let run = match self.resumed {
            Some(run) => Ok(run),
            None => {
                let out = self.args.out.clone().unwrap_or_else(|| self.args.first_free(&self.config));
                RunDir::create(&out, self.config)
            }
        };
        let run = run.map_err(|error| CommandError::Training(error.to_string()))?;
        start_log(&run, self.args.log, self.args.log_level)?;
        let taught = run.config().imitation.as_ref().map_or(0, |imitation| imitation.games);
        let watch = SessionProgress { bar: OnceLock::new(), taught };
        let report = train(&material, &run, budget, &watch);
        if let Some(progress) = watch.bar.get() {
            progress.finish();
        }
        let report = report.map_err(|error| CommandError::Training(error.to_string()))?;
        let SessionReport { before, after, steps, stopped, .. } = report;
        let path = run.path().display();
        tell(&format!(
            "{}: {} rounds, {} games learnt from ({} in this session), {} decisions, {steps} steps, {:.0} s in all",
            if stopped { "stopped and saved" } else { "done" },
            after.rounds,
            after.games,
            after.games - before.games,
            after.decisions,
            after.seconds,
        ));
        if let Some(words) = report.words(taught) {
            tell(&words);
        }
        let more = match run.config().deterministic {
            true => format!("--rounds {}", 2 * after.rounds.max(1)),
            false => "--budget 10m".to_string(),
        };
        let more = if stopped { String::new() } else { format!(" {more}") };
        tell(&format!("the run is in {path}; go on with: dervish train --resume {path}{more}"));
        tell(&format!("it plays as: neural:{}", in_spec(&path.to_string())));
        Ok(())
    }
}

/// Shows the progress of a session. What was done before it is known from its first word.
struct SessionProgress {
    bar: OnceLock<WorkProgress>,
    /// Games of a teacher, the first of the run.
    taught: u64,
}

impl Watcher for SessionProgress {
    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }

    fn warned(&self, words: &str) {
        tell(&format!("dervish: warning: {words}"));
    }

    fn progress(&self, progress: &Progress) {
        let done = progress.elapsed;
        let bar = self.bar.get_or_init(|| WorkProgress::new(done, "", false));
        bar.tell(done, &format!("{:.1}%", 100.0 * done), &progress.words(self.taught));
    }
}
