//! From a batch of positions to probabilities and values.

use crate::batch::{Batch, RunTable};
use crate::cpu_mlp::CpuMlp;
use crate::device::Precision;
use crate::network::{Network, VALUES};
use std::ops::Range;
use tch::{TchError, Tensor};

/// Evaluates batches with a network of its own; each worker thread has one.
///
/// A token MLP on the CPU is computed without libtorch, about twice as fast in small batches; what it says of a sample then
/// does not depend on the others of its batch.
#[derive(Debug)]
pub struct NetEvaluator {
    net: Network,
    precision: Precision,
    forward: Forward,
    table: RunTable,
    outputs: RawOutputs,
}

/// How the network is computed.
#[derive(Debug)]
enum Forward {
    /// Not known before the next batch, since the weights are new.
    Unknown,
    Libtorch,
    CpuMlp(Box<CpuMlp>),
}

/// What a network puts out, sample after sample.
#[derive(Debug, Default)]
pub(crate) struct RawOutputs {
    /// One logit for each action of all samples.
    pub action_logits: Vec<f32>,
    /// Logits of win, draw and loss of each sample.
    pub wdl_logits: Vec<f32>,
    /// Margin in -1..=1 of each sample.
    pub margin: Vec<f32>,
    /// ln(1 + turns left) of each sample.
    pub log_turns: Vec<f32>,
}

/// What a network says about the samples of a batch; filled again without allocation.
#[derive(Clone, Debug, Default)]
pub struct Evaluations {
    policy: Vec<f32>,
    action_starts: Vec<usize>,
    wdl: Vec<[f32; 3]>,
    margin: Vec<f32>,
    turns_left: Vec<f32>,
}

/// Why a batch was not evaluated.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The network put out something that is not a number: its weights or the inputs are damaged.
    #[error("the network's output is not finite")]
    NotFinite,
    /// libtorch refused, for example for want of memory.
    #[error("libtorch: {0}")]
    Torch(#[from] TchError),
}

impl NetEvaluator {
    /// An evaluator with this network, on the network's device, in full precision.
    pub fn new(net: Network) -> NetEvaluator {
        NetEvaluator::with(net, Forward::Unknown)
    }

    /// The same, but libtorch computes whatever the network is.
    pub fn of_libtorch(net: Network) -> NetEvaluator {
        NetEvaluator::with(net, Forward::Libtorch)
    }

    fn with(net: Network, forward: Forward) -> NetEvaluator {
        let (table, outputs) = (RunTable::default(), RawOutputs::default());
        NetEvaluator { net, precision: Precision::Full, forward, table, outputs }
    }

    /// The network.
    pub fn net(&self) -> &Network {
        &self.net
    }

    /// Changes how exactly it evaluates.
    pub fn set_precision(&mut self, precision: Precision) {
        self.precision = precision;
    }

    /// Takes the weights of another network of the same sizes.
    pub fn set_weights(&mut self, net: &Network) -> Result<(), EvaluateError> {
        self.net.copy_from(net)?;
        if let Forward::CpuMlp(_) = self.forward {
            self.forward = Forward::Unknown;
        }
        Ok(())
    }

    /// Evaluates all samples of the batch. After an error `evaluations` is empty.
    pub fn evaluate(&mut self, batch: &Batch, evaluations: &mut Evaluations) -> Result<(), EvaluateError> {
        evaluations.clear();
        if batch.is_empty() {
            return Ok(());
        }
        let evaluated = self.evaluate_into(batch, evaluations);
        if evaluated.is_err() {
            evaluations.clear();
        }
        evaluated
    }

    fn evaluate_into(&mut self, batch: &Batch, evaluations: &mut Evaluations) -> Result<(), EvaluateError> {
        self.compute(batch)?;
        let outputs = &mut self.outputs;
        std::mem::swap(&mut evaluations.policy, &mut outputs.action_logits);
        std::mem::swap(&mut evaluations.margin, &mut outputs.margin);
        std::mem::swap(&mut evaluations.turns_left, &mut outputs.log_turns);
        let mut finite = evaluations.margin.iter().all(|margin| margin.is_finite());
        for turns in &mut evaluations.turns_left {
            finite &= turns.is_finite();
            *turns = turns.clamp(0.0, MOST_LOG_TURNS).exp_m1();
        }
        for run in batch.action_starts().windows(2) {
            finite &= softmax(&mut evaluations.policy[run[0]..run[1]]);
        }
        evaluations.action_starts.extend_from_slice(batch.action_starts());
        for logits in outputs.wdl_logits.as_chunks::<3>().0 {
            let mut wdl = *logits;
            finite &= softmax(&mut wdl);
            evaluations.wdl.push(wdl);
        }
        if finite { Ok(()) } else { Err(EvaluateError::NotFinite) }
    }

    /// Fills the outputs.
    fn compute(&mut self, batch: &Batch) -> Result<(), EvaluateError> {
        let NetEvaluator { net, precision, forward, table, outputs } = self;
        outputs.clear();
        if let Forward::Unknown = forward {
            *forward = CpuMlp::of(net)?.map_or(Forward::Libtorch, |mlp| Forward::CpuMlp(Box::new(mlp)));
        }
        if let Forward::CpuMlp(mlp) = forward {
            net.check_fit(batch)?;
            mlp.evaluate(batch, outputs);
            return Ok(());
        }
        let _no_grad = tch::no_grad_guard();
        let tensors = net.forward(batch, table, *precision)?;
        copy_out(&tensors.action_logits, &mut outputs.action_logits)?;
        copy_out(&tensors.wdl_logits.f_reshape([-1])?, &mut outputs.wdl_logits)?;
        copy_out(&tensors.margin, &mut outputs.margin)?;
        copy_out(&tensors.log_turns, &mut outputs.log_turns)?;
        Ok(())
    }
}

impl RawOutputs {
    /// Adds what the value layer says of a sample.
    #[inline(always)]
    pub fn push_values(&mut self, values: &[f32; VALUES]) {
        let [win, draw, loss, margin, log_turns] = *values;
        self.wdl_logits.extend([win, draw, loss]);
        self.margin.push(margin.tanh());
        self.log_turns.push(log_turns);
    }

    fn clear(&mut self) {
        let RawOutputs { action_logits, wdl_logits, margin, log_turns } = self;
        for values in [action_logits, wdl_logits, margin, log_turns] {
            values.clear();
        }
    }
}

impl Evaluations {
    /// Takes over the samples `part` of other evaluations.
    ///
    /// # Panics
    /// Like slicing, if `part` is not within the others.
    pub fn copy_part(&mut self, all: &Evaluations, part: Range<usize>) {
        self.clear();
        let starts = &all.action_starts[part.start..part.end + 1];
        self.policy.extend_from_slice(&all.policy[starts[0]..starts[starts.len() - 1]]);
        self.action_starts.extend(starts.iter().map(|start| start - starts[0]));
        self.wdl.extend_from_slice(&all.wdl[part.clone()]);
        self.margin.extend_from_slice(&all.margin[part.clone()]);
        self.turns_left.extend_from_slice(&all.turns_left[part]);
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.wdl.len()
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.wdl.is_empty()
    }

    /// Probabilities of a sample's legal actions, in their order; they sum to 1.
    ///
    /// # Panics
    /// Like indexing, if `sample` is not below [`Evaluations::len`]; so do the others.
    pub fn policy(&self, sample: usize) -> &[f32] {
        &self.policy[self.action_starts[sample]..self.action_starts[sample + 1]]
    }

    /// Probabilities of win, draw and loss.
    pub fn wdl(&self, sample: usize) -> [f32; 3] {
        self.wdl[sample]
    }

    /// Expected result, -1 (loss) ..= 1 (win).
    pub fn value(&self, sample: usize) -> f32 {
        self.wdl[sample][0] - self.wdl[sample][2]
    }

    /// Expected margin, -1..=1.
    pub fn margin(&self, sample: usize) -> f32 {
        self.margin[sample]
    }

    /// Player turns until the end of the game, 0 or more.
    pub fn turns_left(&self, sample: usize) -> f32 {
        self.turns_left[sample]
    }

    fn clear(&mut self) {
        self.policy.clear();
        self.action_starts.clear();
        self.wdl.clear();
        self.margin.clear();
        self.turns_left.clear();
    }
}

/// ln(1 + turns left) beyond which an untrained or misled network is not believed: about 3 million turns.
const MOST_LOG_TURNS: f32 = 15.0;

fn copy_out(tensor: &Tensor, values: &mut Vec<f32>) -> Result<(), TchError> {
    let count = tensor.numel();
    values.resize(count, 0.0);
    tensor.f_contiguous()?.f_copy_data(values, count)
}

/// Turns logits into probabilities; false if a logit is not finite. No logits are fine.
fn softmax(logits: &mut [f32]) -> bool {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    let mut finite = true;
    for logit in logits.iter_mut() {
        finite &= logit.is_finite();
        *logit = (*logit - highest).exp();
        sum += *logit;
    }
    for probability in logits.iter_mut() {
        *probability /= sum;
    }
    finite
}
