//! How many positions a second one thread evaluates, and trains on, copies and the batch's making included.
//!
//! The sizes are about those of the campaign: 30 tokens of 40 features and 20 legal actions a position.

use dervish_models::batch::{Batch, Sample, Target, TrainingBatch};
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::process;
use dervish_models::token_net::{TokenNet, TokenNetConfig};
use dervish_models::trainer::{Trainer, TrainerConfig};
use std::error::Error;
use std::time::{Duration, Instant};
use tch::Device;

const TOKENS: usize = 30;
const ACTIONS: usize = 20;
const MEASURED: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn Error>> {
    process::prepare();
    let config = TokenNetConfig {
        token_features: 40,
        token_groups: 3,
        global_features: 40,
        action_features: 16,
        hidden: 64,
        trunk: 128,
    };
    let net = TokenNet::new(config.clone(), 1, Device::Cpu)?;
    println!("{} weights, {TOKENS} tokens, {ACTIONS} legal actions, one thread", net.weight_count());
    let features = |count: usize| (0..count).map(|index| (index * 7919 % 1000) as f32 / 1000.0).collect::<Vec<f32>>();
    let groups: Vec<u8> = (0..TOKENS).map(|token| (token % config.token_groups) as u8).collect();
    let named = |action: usize| {
        [Some((action % TOKENS) as u32), action.is_multiple_of(3).then_some((action * 7 % TOKENS) as u32)]
    };
    let action_tokens: Vec<_> = (0..ACTIONS).map(named).collect();
    let sample = Sample {
        globals: &features(config.global_features),
        tokens: &features(TOKENS * config.token_features),
        groups: &groups,
        actions: &features(ACTIONS * config.action_features),
        action_tokens: &action_tokens,
    };
    let mut trainer = Trainer::new(net.duplicate()?, TrainerConfig::default())?;
    let mut evaluator = NetEvaluator::new(net);
    let mut evaluations = Evaluations::default();
    let mut batch = Batch::new(&config);
    for size in [1, 8, 64, 256] {
        let rate = measure(size, || {
            batch.clear();
            for _ in 0..size {
                batch.push(&sample)?;
            }
            Ok(evaluator.evaluate(&batch, &mut evaluations)?)
        })?;
        println!("batch {size:>3}: {rate:>7.0} evaluations/s");
    }
    let target = Target { policy: &[(3, 0.5), (7, 0.5)], played: None, wdl: [0.5, 0.25, 0.25], margin: 0.1 };
    let mut lessons = TrainingBatch::new(&config);
    for size in [64, 256] {
        let rate = measure(size, || {
            lessons.clear();
            for _ in 0..size {
                lessons.push(&sample, &target)?;
            }
            trainer.step(&lessons)?;
            Ok(())
        })?;
        println!("batch {size:>3}: {rate:>7.0} training samples/s");
    }
    Ok(())
}

/// Samples a second of a pass that handles `size` of them.
fn measure(size: u32, mut pass: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let warm_up = Instant::now();
    while warm_up.elapsed() < MEASURED / 10 {
        pass()?;
    }
    let started = Instant::now();
    let mut passes = 0;
    while started.elapsed() < MEASURED {
        pass()?;
        passes += 1;
    }
    Ok(f64::from(passes * size) / started.elapsed().as_secs_f64())
}
