//! `dervish bench selfplay`: how much of a network's speed self-play keeps.

use super::{CommandError, print_json, print_line, threads};
use crate::arena::agents::ArenaGame;
use crate::games::{GameVisitor, with_game};
use crate::self_play::speed::{SelfPlaySpeed, measure_self_play};
use crate::self_play::{EvaluatorKind, SelfPlayConfig, Start};
use dervish_env::encode::PolicyEncoder;
use dervish_models::device::{DeviceChoice, Precision};
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_models::process;
use dervish_neural::encoding::input_sizes;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Plays a network against itself, then evaluates its batches without the games.
#[derive(Clone, Debug, clap::Args)]
pub struct SelfPlayBenchArgs {
    /// A built-in scenario, a scenario file, or a reference game.
    #[arg(long, default_value = "souakim")]
    pub scenario: String,
    /// Simulations for each decision; 0 plays the policy.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub sims: u32,
    /// Games that a thread plays at once.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub games: u16,
    /// Width of the network's token and action layers.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub hidden: u16,
    /// Width of the network's trunk.
    #[arg(long, default_value_t = 128, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub trunk: u16,
    /// Where the network computes: auto, cpu, cuda or cuda:N.
    #[arg(long, default_value_t = DeviceChoice::Auto)]
    pub device: DeviceChoice,
    /// How exactly it computes: full, or mixed, which is the same on a CPU.
    #[arg(long, default_value = "full", value_parser = ["full", "mixed"])]
    pub precision: String,
    /// Threads [default: all cores].
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
    /// [`CommandError`] if the game is not known, the network cannot be made, or standard output fails.
    pub fn run(&self) -> Result<(), CommandError> {
        let speed = with_game(&self.scenario, Measure(self))??;
        if self.json {
            return print_json(&speed);
        }
        let SelfPlaySpeed { threads, decisions_per_second, evaluations_per_second, mean_batch, .. } = speed;
        // Actors with networks of their own wait for nobody.
        let waiting = match self.shared {
            true => format!(", after waiting {:.2} ms", speed.queue_wait_ms),
            false => String::new(),
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
}

struct Measure<'a>(&'a SelfPlayBenchArgs);

impl GameVisitor for Measure<'_> {
    type Output = Result<SelfPlaySpeed, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, position: P, encoder: E) -> Self::Output {
        process::prepare();
        let SelfPlayBenchArgs { sims, games, hidden, trunk, threads, seconds, .. } = *self.0;
        let architecture = Architecture::TokenMlp { hidden: hidden.into(), trunk: trunk.into() };
        let network = NetworkConfig { inputs: input_sizes(&encoder), architecture, by_seat: false };
        let device = self.0.device.device().map_err(|error| CommandError::Training(error.to_string()))?;
        let network = Network::new(network, 1, device);
        let network = network.map_err(|error| CommandError::Training(error.to_string()))?;
        let evaluator = if self.0.shared { EvaluatorKind::Shared } else { EvaluatorKind::Own };
        let config =
            SelfPlayConfig { games_at_once: games.into(), simulations: sims, evaluator, ..SelfPlayConfig::default() };
        let threads = threads.or(std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
        let budget = Duration::from_secs_f64(seconds);
        let precision = if self.0.precision == "mixed" { Precision::Mixed } else { Precision::Full };
        let speed = measure_self_play(&Start { position, encoder }, &network, config, precision, threads, budget);
        speed.map_err(|error| CommandError::Training(error.to_string()))
    }
}
