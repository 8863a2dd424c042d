//! Where the positions of self-play are evaluated: by a network of each actor's own, right for CPUs, or by one network that
//! serves all actors and joins their batches, right for a GPU.

use crate::self_play::EvaluatorKind;
use crate::self_play::weights::PublishedWeights;
use dervish_models::batch::Batch;
use dervish_models::device::Precision;
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// What the network and the actors do with their time, added up over threads.
#[derive(Debug, Default)]
pub struct Effort {
    batches: AtomicU64,
    evaluations: AtomicU64,
    evaluating_ns: AtomicU64,
    idle_ns: AtomicU64,
    requests: AtomicU64,
    queued_ns: AtomicU64,
}

/// A reading of [`Effort`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct EffortReport {
    /// Positions evaluated.
    pub evaluations: u64,
    /// Mean size of the batches that the network evaluated.
    pub mean_batch: f64,
    /// Share of the time of the threads that evaluate in which the network computes: the rest is play, or waiting for
    /// actors and joining their batches.
    pub evaluator_busy: f64,
    /// Mean time in milliseconds that an actor's batch waits before its evaluation begins; 0 where actors evaluate themselves.
    pub queue_wait_ms: f64,
}

impl Effort {
    /// Books a batch of so many positions, and what the evaluating thread did before.
    fn book(&self, positions: usize, evaluating: Duration, idle: Duration) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.evaluations.fetch_add(positions as u64, Ordering::Relaxed);
        self.evaluating_ns.fetch_add(evaluating.as_nanos() as u64, Ordering::Relaxed);
        self.idle_ns.fetch_add(idle.as_nanos() as u64, Ordering::Relaxed);
    }

    fn book_wait(&self, queued: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.queued_ns.fetch_add(queued.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Forgets what was done so far.
    pub fn reset(&self) {
        let Effort { batches, evaluations, evaluating_ns, idle_ns, requests, queued_ns } = self;
        for count in [batches, evaluations, evaluating_ns, idle_ns, requests, queued_ns] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// What was done so far.
    pub fn report(&self) -> EffortReport {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
        let (evaluating, idle) = (read(&self.evaluating_ns), read(&self.idle_ns));
        EffortReport {
            evaluations: self.evaluations.load(Ordering::Relaxed),
            mean_batch: read(&self.evaluations) / read(&self.batches).max(1.0),
            evaluator_busy: evaluating / (evaluating + idle).max(1.0),
            queue_wait_ms: read(&self.queued_ns) / read(&self.requests).max(1.0) / 1e6,
        }
    }
}

/// A network of a thread's own, which takes newer weights as they are published.
pub struct OwnEvaluator<'r> {
    evaluator: NetEvaluator,
    /// Step of the weights.
    step: u64,
    weights: &'r PublishedWeights,
    effort: &'r Effort,
    /// When the last batch was done; `None` before the first, since a teacher may play until then.
    idle_since: Option<Instant>,
}

impl<'r> OwnEvaluator<'r> {
    /// A network with the latest weights that computes as exactly as is said; what it does is booked in `effort`.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn new(
        weights: &'r PublishedWeights,
        effort: &'r Effort,
        precision: Precision,
    ) -> Result<OwnEvaluator<'r>, EvaluateError> {
        let step = weights.step();
        let mut evaluator = NetEvaluator::new(weights.duplicate()?);
        evaluator.set_precision(precision);
        Ok(OwnEvaluator { evaluator, step, weights, effort, idle_since: None })
    }

    fn evaluate(&mut self, batch: &Batch, evaluations: &mut Evaluations) -> Result<(), EvaluateError> {
        let published = self.weights.step();
        if published != self.step {
            self.weights.copy_to(&mut self.evaluator)?;
            self.step = published;
        }
        let begun = Instant::now();
        let idle = self.idle_since.map_or(Duration::ZERO, |since| begun - since);
        self.evaluator.evaluate(batch, evaluations)?;
        self.effort.book(batch.len(), begun.elapsed(), idle);
        self.idle_since = Some(Instant::now());
        Ok(())
    }
}

/// An actor's way to have a batch evaluated.
pub enum BatchEvaluator<'r> {
    /// By a network of its own.
    Own(Box<OwnEvaluator<'r>>),
    /// By the network that serves all.
    Shared {
        /// Where batches go.
        requests: Sender<Request>,
    },
}

/// A batch on its way to the network.
pub struct Request {
    batch: Batch,
    evaluations: Evaluations,
    /// Goes with the request if nobody answers it, and so tells the actor that waits.
    reply: SyncSender<Reply>,
    sent: Instant,
}

/// The batch back again, with its evaluations, which are of no use after an error.
struct Reply {
    batch: Batch,
    evaluations: Evaluations,
    outcome: Result<(), Arc<EvaluateError>>,
}

/// Why a batch was not evaluated.
#[derive(Debug, thiserror::Error)]
pub enum BatchEvaluatorError {
    /// The network gave no evaluation.
    #[error(transparent)]
    Evaluation(#[from] EvaluateError),
    /// The network that serves all gave none; all whose batches were joined hear of it.
    #[error("{0}")]
    Shared(Arc<EvaluateError>),
    /// The thread that evaluates is gone.
    #[error("the evaluator has stopped")]
    Gone,
}

impl<'r> BatchEvaluator<'r> {
    /// An [`OwnEvaluator`].
    ///
    /// # Errors
    /// What libtorch said.
    pub fn own(
        weights: &'r PublishedWeights,
        effort: &'r Effort,
        precision: Precision,
    ) -> Result<BatchEvaluator<'r>, EvaluateError> {
        Ok(BatchEvaluator::Own(Box::new(OwnEvaluator::new(weights, effort, precision)?)))
    }

    /// The network behind [`serve`], which takes these requests.
    pub fn shared(requests: Sender<Request>) -> BatchEvaluator<'r> {
        BatchEvaluator::Shared { requests }
    }

    /// Evaluates all samples of the batch.
    ///
    /// # Errors
    /// [`BatchEvaluatorError`]; `evaluations` is then of no use.
    pub fn evaluate(&mut self, batch: &mut Batch, evaluations: &mut Evaluations) -> Result<(), BatchEvaluatorError> {
        match self {
            BatchEvaluator::Own(own) => Ok(own.evaluate(batch, evaluations)?),
            BatchEvaluator::Shared { requests } => {
                let (reply, answer) = sync_channel(1);
                let sent = Instant::now();
                let empty = batch.empty_like();
                let request = Request {
                    batch: std::mem::replace(batch, empty),
                    evaluations: std::mem::take(evaluations),
                    reply,
                    sent,
                };
                requests.send(request).map_err(|_| BatchEvaluatorError::Gone)?;
                let answer = answer.recv().map_err(|_| BatchEvaluatorError::Gone)?;
                (*batch, *evaluations) = (answer.batch, answer.evaluations);
                answer.outcome.map_err(BatchEvaluatorError::Shared)
            }
        }
    }
}

/// Evaluators of this kind for so many actors and, where one network serves all of them, what its thread has to do. `most` and what
/// it does are those of [`serve`].
///
/// # Errors
/// What libtorch said.
pub fn evaluators<'r>(
    kind: EvaluatorKind,
    actors: usize,
    weights: &'r PublishedWeights,
    effort: &'r Effort,
    precision: Precision,
    most: usize,
) -> Result<(Vec<BatchEvaluator<'r>>, Option<impl FnOnce() + Send + use<'r>>), EvaluateError> {
    let (requests, queue) = channel();
    let is_shared = kind == EvaluatorKind::Shared;
    let evaluator = |_| match is_shared {
        true => Ok(BatchEvaluator::shared(requests.clone())),
        false => BatchEvaluator::own(weights, effort, precision),
    };
    let evaluators = (0..actors).map(evaluator).collect::<Result<Vec<_>, _>>()?;
    let server = if is_shared { Some(OwnEvaluator::new(weights, effort, precision)?) } else { None };
    Ok((evaluators, server.map(|own| move || serve(queue, own, most))))
}

/// Evaluates what actors ask for until all of them are gone: whatever waits is joined to one batch, as long as that has fewer
/// than `most` positions. New weights are taken between two batches; what fails is told to the actors that wait.
pub fn serve(requests: Receiver<Request>, mut own: OwnEvaluator<'_>, most: usize) {
    let mut joined = Batch::new(own.evaluator.net().config());
    let mut all = Evaluations::default();
    while let Ok(first) = requests.recv() {
        let mut positions = first.batch.len();
        let mut waiting = vec![first];
        while positions < most {
            let Ok(next) = requests.try_recv() else { break };
            positions += next.batch.len();
            waiting.push(next);
        }
        let begun = Instant::now();
        waiting.iter().for_each(|request| own.effort.book_wait(begun - request.sent));
        let outcome = match &mut waiting[..] {
            [only] => own.evaluate(&only.batch, &mut only.evaluations),
            many => {
                joined.clear();
                many.iter().for_each(|request| joined.append(&request.batch));
                own.evaluate(&joined, &mut all).map(|()| {
                    let mut first = 0;
                    for request in many {
                        request.evaluations.copy_part(&all, first..first + request.batch.len());
                        first += request.batch.len();
                    }
                })
            }
        };
        let outcome = outcome.map_err(Arc::new);
        for Request { batch, evaluations, reply, .. } in waiting {
            // An actor that has stopped waits for nothing.
            let _ = reply.send(Reply { batch, evaluations, outcome: outcome.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dervish_models::batch::Sample;
    use dervish_models::device::Device;
    use dervish_models::network::{Architecture, InputSizes, Network, NetworkConfig};

    /// Batches that wait when the evaluator comes to them are evaluated as one, and each actor gets its own part back.
    #[test]
    fn what_waits_is_joined_and_handed_back_in_parts() {
        let inputs =
            InputSizes { token_features: 2, token_groups: 1, global_features: 1, action_features: 1, planes: [0; 3] };
        let architecture = Architecture::TokenMlp { hidden: 8, trunk: 8 };
        let config = NetworkConfig { inputs, architecture, by_seat: false };
        let net = Network::new(config.clone(), 1, Device::Cpu).expect("sizes in range");
        let weights = PublishedWeights::new(net.duplicate().expect("a copy"), 0);
        let sample = |fact: f32| {
            let mut batch = Batch::new(&config);
            let sample = Sample {
                second_seat: false,
                globals: &[fact],
                tokens: &[fact, 1.0],
                groups: &[0],
                planes: &[],
                cells: &[],
                actions: &[0.5, 1.0],
                action_tokens: &[[None, None], [Some(0), None]],
            };
            batch.push(&sample).expect("a valid sample");
            batch
        };
        let mut two = sample(-1.0);
        two.append(&sample(2.0));
        let (requests, queue) = channel();
        let mut answers = Vec::new();
        for batch in [sample(1.0), two, sample(3.0), sample(4.0)] {
            let (reply, answer) = sync_channel(1);
            let request = Request { batch, evaluations: Evaluations::default(), reply, sent: Instant::now() };
            requests.send(request).expect("a queue");
            answers.push(answer);
        }
        drop(requests);
        let effort = Effort::default();
        // With four positions waiting nothing more is joined: the last batch is evaluated by itself.
        serve(queue, OwnEvaluator::new(&weights, &effort, Precision::Full).expect("a network"), 4);
        let report = effort.report();
        assert_eq!((report.evaluations, report.mean_batch), (5, 2.5));
        let mut alone = NetEvaluator::new(net);
        for answer in answers {
            let Reply { batch, evaluations, outcome } = answer.recv().expect("an answer");
            outcome.expect("evaluated");
            let mut expected = Evaluations::default();
            alone.evaluate(&batch, &mut expected).expect("finite");
            assert_eq!(evaluations.len(), batch.len());
            for of in 0..batch.len() {
                assert_eq!(evaluations.policy(of), expected.policy(of));
                assert_eq!(evaluations.wdl(of), expected.wdl(of));
            }
        }
    }
}
