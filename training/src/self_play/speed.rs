//! How much of a network's speed self-play keeps.

use crate::self_play::actor::{Actor, ActorError};
use crate::self_play::evaluation::{BatchEvaluator, Effort, evaluators};
use crate::self_play::numbers::GameNumbers;
use crate::self_play::pool::{LeagueConfig, Pool};
use crate::self_play::weights::PublishedWeights;
use crate::self_play::{EvaluatorKind, SelfPlayConfig, Start};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;
use dervish_models::batch::Batch;
use dervish_models::device::Precision;
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use dervish_models::network::Network;
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What [`measure_self_play`] found, over all threads.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct SelfPlaySpeed {
    /// Threads that played, and that evaluated alone.
    pub threads: usize,
    /// Decisions a second in self-play, those between several actions.
    pub decisions_per_second: f64,
    /// Evaluations a second in self-play.
    pub evaluations_per_second: f64,
    /// Mean size of its batches.
    pub mean_batch: f64,
    /// Share of the threads' time in which the network evaluated.
    pub evaluator_busy: f64,
    /// Mean time in milliseconds that a batch waits for a shared evaluator; 0 where actors evaluate themselves.
    pub queue_wait_ms: f64,
    /// Evaluations a second of the same network on batches of that self-play, evaluated over and over.
    pub bare_per_second: f64,
    /// The part of the bare speed that self-play reaches.
    pub ratio: f64,
    /// The bare speed where libtorch computes the network, whatever computed it in self-play.
    pub libtorch_per_second: f64,
    /// The part of that speed which self-play reaches.
    pub libtorch_ratio: f64,
    /// Seconds since 1970 at which self-play began to be measured: its warm-up was over.
    pub began: f64,
    /// Seconds since 1970 until which it was measured, and all threads played.
    pub ended: f64,
}

/// Batches of self-play that are evaluated over and over: of one thread, or of all together where one evaluator serves them. Those
/// of many games at once are large.
const KEPT: usize = 16;
/// Batches played before the first is kept: games have drifted apart by then.
const DRIFT: usize = 200;

/// Plays on `threads` for about `budget`, as exactly as `precision` says, then evaluates batches of these games alone for as long,
/// and once more by libtorch.
///
/// # Errors
/// [`ActorError`].
pub fn measure_self_play<P: Position, E: PolicyEncoder<P>>(
    start: &Start<P, E>,
    network: &Network,
    config: SelfPlayConfig,
    precision: Precision,
    threads: usize,
    budget: Duration,
) -> Result<SelfPlaySpeed, ActorError> {
    let starts = std::slice::from_ref(start);
    let weights = PublishedWeights::new(network.duplicate().map_err(EvaluateError::from)?, 0);
    let numbers = GameNumbers::new(0, u64::MAX);
    let pool = Pool::new(&LeagueConfig::default(), Vec::new(), BTreeMap::new());
    let (effort, together) = (Effort::default(), Barrier::new(threads.max(1)));
    let measured_from = OnceLock::new();
    let is_shared = config.evaluator == EvaluatorKind::Shared;
    let kept = if is_shared { KEPT.div_ceil(threads.max(1)) } else { KEPT };
    let play = |evaluator: BatchEvaluator| -> Result<(u64, Vec<Batch>), ActorError> {
        let mut finished = Vec::new();
        let mut actor = Actor::new(starts, config, 0, &pool, &weights, &numbers, evaluator);
        let mut batches = Vec::with_capacity(kept);
        let mut warm = || -> Result<(), ActorError> {
            for tick in 0..DRIFT + kept {
                actor.tick(&mut finished)?;
                if tick >= DRIFT {
                    batches.push(actor.batch().clone());
                }
            }
            Ok(())
        };
        let warmed = warm();
        // A thread that failed lets the others begin all the same.
        if together.wait().is_leader() {
            effort.reset();
            measured_from.get_or_init(SystemTime::now);
        }
        together.wait();
        warmed?;
        let before = actor.decisions();
        let begun = Instant::now();
        while begun.elapsed() < budget {
            finished.clear();
            actor.tick(&mut finished)?;
        }
        Ok((actor.decisions() - before, batches))
    };
    let (evaluators, server) =
        evaluators(config.evaluator, threads.max(1), &weights, &effort, precision, config.most_joined)?;
    let played = std::thread::scope(|scope| {
        if let Some(server) = server {
            scope.spawn(server);
        }
        on_threads(evaluators, play)
    })?;
    let report = effort.report();
    let decisions: u64 = played.iter().map(|(decisions, _)| decisions).sum();
    let seconds = budget.as_secs_f64();

    let bare = |(batches, mut evaluator): (&[Batch], NetEvaluator)| -> Result<u64, ActorError> {
        evaluator.set_precision(precision);
        let mut evaluations = Evaluations::default();
        let mut count = 0;
        let begun = Instant::now();
        for batch in batches.iter().cycle() {
            if begun.elapsed() >= budget {
                break;
            }
            evaluator.evaluate(batch, &mut evaluations)?;
            count += evaluations.len() as u64;
        }
        Ok(count)
    };
    // Alone, batches are as large as they were in self-play, and evaluated on as many threads, but on a GPU, which one thread
    // can use, and on no more than there are cores.
    let batches = match is_shared {
        true => joined(played.iter().flat_map(|(_, batches)| batches), report.mean_batch),
        false => played[0].1.clone(),
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads_alone = if is_shared && network.device().is_cuda() { 1 } else { threads.clamp(1, cores) };
    let alone = |made: fn(Network) -> NetEvaluator| -> Result<f64, ActorError> {
        let evaluator = |_| Ok((&batches[..], made(weights.duplicate()?)));
        let evaluators = (0..threads_alone).map(evaluator).collect::<Result<_, ActorError>>()?;
        Ok(on_threads(evaluators, bare)?.into_iter().sum::<u64>() as f64 / seconds)
    };
    let (bare_per_second, libtorch_per_second) = (alone(NetEvaluator::new)?, alone(NetEvaluator::of_libtorch)?);
    let began = measured_from.get().and_then(|from| from.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let evaluations_per_second = report.evaluations as f64 / seconds;
    Ok(SelfPlaySpeed {
        threads,
        decisions_per_second: decisions as f64 / seconds,
        evaluations_per_second,
        mean_batch: report.mean_batch,
        evaluator_busy: report.evaluator_busy,
        queue_wait_ms: report.queue_wait_ms,
        bare_per_second,
        ratio: evaluations_per_second / bare_per_second,
        libtorch_per_second,
        libtorch_ratio: evaluations_per_second / libtorch_per_second,
        began: began.as_secs_f64(),
        ended: (began + budget).as_secs_f64(),
    })
}

/// Batches joined to about this size.
fn joined<'b>(batches: impl Iterator<Item = &'b Batch>, size: f64) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    for batch in batches {
        match all.last_mut() {
            Some(last) if ((last.len() + batch.len()) as f64) <= size + batch.len() as f64 / 2.0 => last.append(batch),
            _ => all.push(batch.clone()),
        }
    }
    all
}

/// Does the same with each of these on a thread of its own.
fn on_threads<I: Send, T: Send>(
    inputs: Vec<I>,
    work: impl Fn(I) -> Result<T, ActorError> + Sync,
) -> Result<Vec<T>, ActorError> {
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = inputs.into_iter().map(|input| scope.spawn(move || work(input))).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Result<T, ActorError>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    })
}
