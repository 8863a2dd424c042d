//! `dervish bench selfplay`: how much of a network's speed self-play keeps.

use super::train::{configuration, encoder_of};
use super::{CommandError, print_json, print_line, threads};
use crate::arena::agents::ArenaGame;
use crate::config::{PRESETS, RunConfig};
use crate::games::{GameVisitor, with_game};
use crate::self_play::speed::{SelfPlaySpeed, measure_self_play};
use crate::self_play::{EvaluatorKind, Start};
use crate::session::network_config;
use dervish_env::encode::PolicyEncoder;
use dervish_models::device::DeviceChoice;
use dervish_models::network::Network;
use dervish_models::process;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Plays a network against itself as a run of a configuration would, then evaluates its batches without the games.
///
/// The network is a new one. Of the configuration network, self-play, threads and precision count; without one, defaults do,
/// with 16 simulations.
#[derive(Clone, Debug, clap::Args)]
pub struct SelfPlayBenchArgs {
    /// A configuration that comes with the program.
    #[arg(long, value_parser = PRESETS.map(|(name, _)| name), conflicts_with = "config")]
    pub preset: Option<String>,
    /// A configuration of your own, a TOML file; `config.toml` of any run is one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Changes the configuration, such as network.architecture.width=64; may be given several times. The options below change
    /// it last.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// A built-in scenario, a scenario file, or a reference game [default: the first one of the configuration, or souakim].
    #[arg(long)]
    pub scenario: Option<String>,
    /// Simulations for each decision; 0 plays the policy.
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub sims: Option<u32>,
    /// Games that a thread plays at once.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub games: Option<u16>,
    /// Width of a token MLP's token and action layers.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub hidden: Option<u16>,
    /// Width of its trunk.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub trunk: Option<u16>,
    /// Where the network computes: auto, cpu, cuda or cuda:N.
    #[arg(long)]
    pub device: Option<DeviceChoice>,
    /// How exactly it computes: full, or mixed, which is the same on a CPU.
    #[arg(long, value_parser = ["full", "mixed"])]
    pub precision: Option<String>,
    /// Threads [default: those of the configuration, or all cores].
    #[arg(long, value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// One evaluator for all threads, as on a GPU; then more threads than cores make sense.
    #[arg(long)]
    pub shared: bool,
    /// Seconds of each of the three measurements.
    #[arg(long, default_value_t = 5.0, value_parser = super::bench::seconds)]
    pub seconds: f64,
    /// JSON instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl SelfPlayBenchArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// [`CommandError`] if the configuration is at fault, the game is not known, the network cannot be made, or standard output
    /// fails.
    pub fn run(&self) -> Result<(), CommandError> {
        let config = self.configuration()?;
        let speed = with_game(&config.scenarios[0], Measure { config: &config, seconds: self.seconds })??;
        if self.json {
            return print_json(&speed);
        }
        let SelfPlaySpeed { threads, decisions_per_second, evaluations_per_second, mean_batch, .. } = speed;
        // Actors with networks of their own wait for nobody.
        let waiting = match config.self_play.evaluator {
            EvaluatorKind::Shared => format!(", after waiting {:.2} ms", speed.queue_wait_ms),
            EvaluatorKind::Own => String::new(),
        };
        print_line(&format!(
            "self-play {decisions_per_second:.0} decisions/s, {evaluations_per_second:.0} evaluations/s in batches of \
             {mean_batch:.1}, the network at work {:.0}% of the time{}, on {threads} threads\n\
             alone     {:.0} evaluations/s on the same batches, ratio {:.2} (aim 0.80)\n\
             libtorch  {:.0} evaluations/s on the same batches, ratio {:.2}",
            100.0 * speed.evaluator_busy,
            waiting,
            speed.bare_per_second,
            speed.ratio,
            speed.libtorch_per_second,
            speed.libtorch_ratio,
        ))
    }

    /// The configuration that is measured: every option is a setting of it.
    fn configuration(&self) -> Result<RunConfig, CommandError> {
        let (preset, file) = (self.preset.as_deref(), self.config.as_deref());
        let mut settings = Vec::new();
        // The defaults of a run search nothing.
        if preset.is_none() && file.is_none() {
            settings.push("self_play.simulations=16".to_string());
        }
        settings.extend_from_slice(&self.settings);
        if let Some(scenario) = &self.scenario {
            settings.push(format!("scenarios=[{}]", toml::Value::from(scenario.as_str())));
        }
        let options = [
            ("self_play.simulations", self.sims.map(|sims| sims.to_string())),
            ("self_play.games_at_once", self.games.map(|games| games.to_string())),
            ("self_play.evaluator", self.shared.then(|| "shared".to_string())),
            ("network.architecture.hidden", self.hidden.map(|width| width.to_string())),
            ("network.architecture.trunk", self.trunk.map(|width| width.to_string())),
            ("network.device", self.device.map(|device| device.to_string())),
            ("learner.trainer.precision", self.precision.clone()),
            ("threads", self.threads.map(|threads| threads.to_string())),
        ];
        settings.extend(options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?))));
        configuration(preset, file, "souakim", &settings)
    }
}

struct Measure<'a> {
    config: &'a RunConfig,
    seconds: f64,
}

impl GameVisitor for Measure<'_> {
    type Output = Result<SelfPlaySpeed, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, position: P, usual: E) -> Self::Output {
        process::prepare();
        let Measure { config, seconds } = self;
        let encoder = encoder_of::<P, E>(&config.network, &config.scenarios[0], usual)?;
        let start = Start { position, encoder };
        let device = config.device().device().map_err(|error| CommandError::Training(error.to_string()))?;
        let network = Network::new(network_config(&start, config), 1, device);
        let network = network.map_err(|error| CommandError::Training(error.to_string()))?;
        let (precision, budget) = (config.learner.trainer.precision, Duration::from_secs_f64(seconds));
        let speed = measure_self_play(&start, &network, config.self_play, precision, config.threads, budget);
        speed.map_err(|error| CommandError::Training(error.to_string()))
    }
}
