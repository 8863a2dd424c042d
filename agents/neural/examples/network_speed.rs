//! How many positions a second of processor time one thread evaluates, and trains on, the batch's making included.
//!
//! The positions are decisions of random games. Processor time, because other programs then count little.

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::campaign::Campaign;
use dervish_env::dervish::encode::CampaignEncoder;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position};
use dervish_models::batch::{Batch, Sample, Target, TrainingBatch};
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network, NetworkConfig, best_device};
use dervish_models::process;
use dervish_models::trainer::{Trainer, TrainerConfig};
use dervish_neural::encoding::{PositionEncoding, input_sizes};
use std::error::Error;
use std::time::{Duration, Instant};

const BATCH: usize = 64;
const BATCHES: usize = 8;
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
    for name in ["souakim", "el-obeid"] {
        let Some(scenario) = Scenario::builtin(name) else { return Err(format!("no scenario {name}").into()) };
        let (start, encoder) = (Campaign::new(scenario), CampaignEncoder::new(scenario));
        let positions = decisions(&start);
        for (title, architecture) in ARCHITECTURES {
            let net = NetworkConfig { inputs: input_sizes(&encoder), architecture };
            let net = Network::new(net, 1, best_device())?;
            let (evaluated, trained, sizes) = measure(&encoder, &positions, net)?;
            println!("{name:>9} {title:<20} {evaluated:>8.0} evaluations/s {trained:>8.0} training samples/s  {sizes}");
        }
    }
    Ok(())
}

/// Decisions from random games.
fn decisions(start: &Campaign) -> Vec<Campaign> {
    let mut random = SplitMix64::new(1);
    let (mut found, mut legal) = (Vec::new(), Vec::new());
    let mut game = 0;
    while found.len() < BATCH * BATCHES {
        let (mut position, mut dice) = (start.clone(), Dice::new(game));
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
                            found.push(position.clone());
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

/// Evaluations and training samples for each second of processor time, and the mean sizes of a sample.
fn measure(
    encoder: &CampaignEncoder,
    positions: &[Campaign],
    net: Network,
) -> Result<(f64, f64, String), Box<dyn Error>> {
    let mut encodings = Vec::new();
    for position in positions {
        let Actor::Player(view) = position.actor() else { continue };
        let mut legal = Vec::new();
        position.legal_actions_into(&mut legal);
        let mut encoding = PositionEncoding::new(encoder, net.config());
        encoding.encode(encoder, position, view, &legal);
        encodings.push(encoding);
    }
    let mut trainer = Trainer::new(net.duplicate()?, TrainerConfig::default())?;
    let mut batch = Batch::new(net.config());
    let mut lessons = TrainingBatch::new(net.config());
    let mut evaluator = NetEvaluator::new(net);
    let mut evaluations = Evaluations::default();
    let mut turn = 0;
    let mut next = || {
        turn = (turn + 1) % BATCHES;
        encodings[turn * BATCH..(turn + 1) * BATCH].iter().map(PositionEncoding::sample)
    };
    let evaluated = rate(|| {
        batch.clear();
        for sample in next() {
            batch.push(&sample)?;
        }
        Ok(evaluator.evaluate(&batch, &mut evaluations)?)
    })?;
    let target = Target {
        policy: &[(0, 0.5), (1, 0.5)],
        played: None,
        wdl: [0.5, 0.25, 0.25],
        margin: 0.1,
        turns_left: 9.0,
        weight: 1.0,
    };
    let trained = rate(|| {
        lessons.clear();
        for sample in next() {
            lessons.push(&sample, &target)?;
        }
        trainer.step(&lessons)?;
        Ok(())
    })?;
    let mean = |count: &dyn Fn(&Sample) -> usize| {
        encodings.iter().map(|encoding| count(&encoding.sample())).sum::<usize>() as f64 / encodings.len() as f64
    };
    let not_zero = |values: &[f32]| values.iter().filter(|value| **value != 0.0).count();
    let sizes = format!(
        "tokens {:.1} (not 0: {:.0}), actions {:.1} (not 0: {:.0}), globals not 0: {:.0}",
        mean(&|sample| sample.groups.len()),
        mean(&|sample| not_zero(sample.tokens)),
        mean(&|sample| sample.action_tokens.len()),
        mean(&|sample| not_zero(sample.actions)),
        mean(&|sample| not_zero(sample.globals)),
    );
    Ok((evaluated, trained, sizes))
}

/// Samples for each second of processor time of a pass that handles a batch.
fn rate(mut pass: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    for _ in 0..BATCHES {
        pass()?;
    }
    let (begun, used) = (Instant::now(), processor_seconds()?);
    let mut passes = 0;
    while begun.elapsed() < MEASURED || passes < BATCHES {
        pass()?;
        passes += 1;
    }
    Ok((passes * BATCH) as f64 / (processor_seconds()? - used))
}

/// Seconds that this thread has run.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(times.split(' ').next().unwrap_or_default().parse::<f64>()? * 1e-9)
}
