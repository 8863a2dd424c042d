//! How many positions a second of processor time one thread evaluates, and trains on, the batch's making included.
//!
//! The positions are decisions of random games. Processor time, because other programs then count less; on a GPU, which works
//! while the processor waits, wall-clock time. A word measures only the architectures whose title has it, a second one names
//! the device: `cargo run --package dervish-neural --example network_speed -- MLP cpu`.

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::campaign::Campaign;
use dervish_env::dervish::encode::CampaignEncoder;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position};
use dervish_models::batch::{Batch, Sample, Target, TrainingBatch};
use dervish_models::device::DeviceChoice;
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_models::process;
use dervish_models::trainer::{Trainer, TrainerConfig};
use dervish_neural::encoding::{PositionEncoding, input_sizes};
use std::error::Error;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const BATCH: usize = 64;
const BATCHES: usize = 8;
/// Samples of a small batch, such as a search evaluates.
const FEW: usize = 8;
/// Decisions of a game between two that are measured on.
const APART: u64 = 13;
const MEASURED: Duration = Duration::from_secs(2);

const ARCHITECTURES: [(&str, Architecture); 8] = [
    ("token MLP 32/64", Architecture::TokenMlp { hidden: 32, trunk: 64 }),
    ("token MLP 64/128", Architecture::TokenMlp { hidden: 64, trunk: 128 }),
    ("token MLP 128/256", Architecture::TokenMlp { hidden: 128, trunk: 256 }),
    ("transformer 32 x 2", Architecture::TokenTransformer { width: 32, layers: 2, heads: 4 }),
    ("transformer 64 x 2", Architecture::TokenTransformer { width: 64, layers: 2, heads: 4 }),
    ("transformer 64 x 4", Architecture::TokenTransformer { width: 64, layers: 4, heads: 4 }),
    ("hex planes 16 x 1", Architecture::HexPlanes { channels: 16, blocks: 1, hidden: 64, trunk: 128 }),
    ("hex planes 32 x 4", Architecture::HexPlanes { channels: 32, blocks: 4, hidden: 64, trunk: 128 }),
];

fn main() -> Result<(), Box<dyn Error>> {
    process::prepare();
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let choice = std::env::args().nth(2).unwrap_or_else(|| "cpu".to_string());
    let device = choice.parse::<DeviceChoice>()?.device()?;
    let clock = if choice == "cpu" { processor_seconds } else { wall_seconds };
    for name in ["souakim", "el-obeid", "khartoum"] {
        let Some(scenario) = Scenario::builtin(name) else { return Err(format!("no scenario {name}").into()) };
        let encoder = CampaignEncoder::new(scenario);
        let positions = decisions(&Campaign::new(scenario));
        println!("{name}, batches of {BATCH}");
        for (title, architecture) in ARCHITECTURES.into_iter().filter(|(title, _)| title.contains(&wanted)) {
            let config = NetworkConfig { inputs: input_sizes(&encoder), architecture, by_seat: false };
            let encodings = encode(&encoder, &positions, &config);
            let [evaluated, few, libtorch, few_libtorch, trained] =
                measure(&encodings, Network::new(config, 1, device)?, clock)?;
            println!(
                "{title:<20} {evaluated:>8.0} evaluations/s, in batches of {FEW} {few:.0}; by libtorch {libtorch:.0} and \
                 {few_libtorch:.0}; {trained:>8.0} training samples/s"
            );
        }
        let plain = NetworkConfig { inputs: input_sizes(&encoder), architecture: ARCHITECTURES[0].1, by_seat: false };
        println!("{}", sizes(&encode(&encoder, &positions, &plain)));
    }
    Ok(())
}

/// Decisions from random games.
fn decisions(start: &Campaign) -> Vec<Campaign> {
    let mut random = SplitMix64::new(1);
    let (mut found, mut legal) = (Vec::new(), Vec::new());
    let mut game = 0;
    while found.len() < BATCH * BATCHES {
        let (mut position, mut dice) = (*start, Dice::new(game));
        game += 1;
        let mut decisions = 0u64;
        loop {
            match position.actor() {
                Actor::Finished => break,
                Actor::Chance => position.resolve_possible(dice.roll(&position)),
                Actor::Player(_) => {
                    position.legal_actions_into(&mut legal);
                    if legal.len() > 1 {
                        decisions += 1;
                        if decisions.is_multiple_of(APART) {
                            found.push(position);
                        }
                    }
                    position.apply_legal(legal[random.below(legal.len())]);
                }
            }
        }
    }
    found.truncate(BATCH * BATCHES);
    found
}

/// Mean sizes of a sample, and how many of its features are not 0.
fn sizes(encodings: &[PositionEncoding]) -> String {
    let mean = |count: &dyn Fn(&Sample) -> usize| {
        encodings.iter().map(|encoding| count(&encoding.sample())).sum::<usize>() as f64 / encodings.len() as f64
    };
    let not_zero = |values: &[f32]| values.iter().filter(|value| **value != 0.0).count();
    format!(
        "{:.1} tokens ({:.0} features not 0), {:.1} actions ({:.0} not 0), {:.0} globals not 0",
        mean(&|sample| sample.groups.len()),
        mean(&|sample| not_zero(sample.tokens)),
        mean(&|sample| sample.action_tokens.len()),
        mean(&|sample| not_zero(sample.actions)),
        mean(&|sample| not_zero(sample.globals)),
    )
}

fn encode(encoder: &CampaignEncoder, positions: &[Campaign], config: &NetworkConfig) -> Vec<PositionEncoding> {
    let mut legal = Vec::new();
    let encode = |position: &Campaign| {
        let Actor::Player(view) = position.actor() else { return None };
        position.legal_actions_into(&mut legal);
        let mut encoding = PositionEncoding::new(encoder, config);
        encoding.encode(encoder, position, view, &legal);
        Some(encoding)
    };
    positions.iter().filter_map(encode).collect()
}

/// A clock in seconds.
type Clock = fn() -> Result<f64, Box<dyn Error>>;

/// For each second of the clock: evaluations in large and in small batches, the same by libtorch, and training samples.
fn measure(encodings: &[PositionEncoding], net: Network, clock: Clock) -> Result<[f64; 5], Box<dyn Error>> {
    let mut trainer = Trainer::new(net.duplicate()?, TrainerConfig::default())?;
    let mut batch = Batch::new(net.config());
    let mut lessons = TrainingBatch::new(net.config());
    let mut evaluations = Evaluations::default();
    let target = Target {
        policy: &[(0, 0.5), (1, 0.5)],
        played: None,
        wdl: [0.5, 0.25, 0.25],
        margin: 0.1,
        turns_left: 9.0,
        weight: 1.0,
    };
    let mut rates = [0.0; 5];
    let evaluators = [NetEvaluator::new(net.duplicate()?), NetEvaluator::of_libtorch(net)];
    for (rates, mut evaluator) in rates.as_chunks_mut::<2>().0.iter_mut().zip(evaluators) {
        for (found, size) in rates.iter_mut().zip([BATCH, FEW]) {
            *found = rate(encodings, size, clock, |part| {
                batch.clear();
                for encoding in part {
                    batch.push(&encoding.sample())?;
                }
                Ok(evaluator.evaluate(&batch, &mut evaluations)?)
            })?;
        }
    }
    rates[4] = rate(encodings, BATCH, clock, |part| {
        lessons.clear();
        for encoding in part {
            lessons.push(&encoding.sample(), &target)?;
        }
        trainer.step(&lessons)?;
        Ok(())
    })?;
    Ok(rates)
}

/// Samples for each second of the clock of a pass that handles `batch` of them.
fn rate(
    encodings: &[PositionEncoding],
    batch: usize,
    clock: Clock,
    mut pass: impl FnMut(&[PositionEncoding]) -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut parts = encodings.chunks_exact(batch).cycle();
    let mut next = || parts.next().map_or(Ok(()), &mut pass);
    next()?;
    let (begun, used) = (Instant::now(), clock()?);
    let mut passes = 0;
    while begun.elapsed() < MEASURED || passes < 2 {
        next()?;
        passes += 1;
    }
    Ok((passes * batch) as f64 / (clock()? - used))
}

/// Seconds that this thread has run.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(times.split(' ').next().unwrap_or_default().parse::<f64>()? * 1e-9)
}

/// Seconds since 1970.
fn wall_seconds() -> Result<f64, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64())
}
