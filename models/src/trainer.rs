//! One optimisation step, and the average of the weights that actors play with.

use crate::adamw::{AdamW, AdamWState, StateError};
use crate::batch::{PlayedTargets, RunTable, Targets, TrainingBatch};
use crate::device::Precision;
use crate::network::Network;
use serde::{Deserialize, Serialize};
use tch::{Kind, Reduction, TchError, Tensor};

/// Trains a network with [`AdamW`].
#[derive(Debug)]
pub struct Trainer {
    net: Network,
    average: Network,
    optimizer: AdamW,
    config: TrainerConfig,
    learning_rate: f64,
    steps: u64,
    table: RunTable,
}

/// What a trainer needs, beside the average and the number of steps, to go on as if it had never stopped.
#[derive(Debug)]
pub struct TrainerState {
    /// The network as the last step left it.
    pub net: Network,
    /// What the optimiser remembers.
    pub optimizer: AdamWState,
}

/// How a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainerConfig {
    /// Step size of AdamW, until [`Trainer::set_learning_rate`] changes it.
    pub learning_rate: f64,
    /// Decoupled weight decay of AdamW; biases and gains do not decay.
    pub weight_decay: f64,
    /// Largest norm of the gradient of all weights together; longer ones are scaled down to it.
    pub gradient_clip: f64,
    /// What the policy's cross-entropy counts in the total loss; win, draw and loss count 1.
    pub policy_weight: f64,
    /// What the margin's squared error counts in the total loss.
    pub margin_weight: f64,
    /// What the Huber loss of ln(1 + turns left) counts in the total loss.
    pub turns_left_weight: f64,
    /// How far a played action's probability may move from that with which it was played before the policy gradient
    /// stops moving it further, as a part of it: the clip range of PPO (Schulman et al. 2017).
    pub ratio_clip: f64,
    /// What the policy's entropy counts against the total loss, over the samples with a played action.
    pub entropy_weight: f64,
    /// Decay of the average of the weights for each step, 0..1; young averages decay faster.
    pub average_decay: f64,
    /// How exactly the network computes. Weights, losses and optimiser are in full precision in any case.
    pub precision: Precision,
}

/// Losses of one step, averaged over the batch, each sample's times its weight, before the weights moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// Cross-entropy of the policy in nats, over the samples that have a policy target; 0 if none has.
    pub policy: f64,
    /// The clipped surrogate of the policy gradient, over the samples with a played action; 0 if none has.
    pub surrogate: f64,
    /// Entropy of the policy in nats, over the samples with a played action; 0 if none has.
    pub entropy: f64,
    /// Cross-entropy of win, draw and loss in nats.
    pub wdl: f64,
    /// Squared error of the margin.
    pub margin: f64,
    /// Huber loss of ln(1 + turns left), quadratic up to an error of 1.
    pub turns_left: f64,
    /// The weighted sum that was minimised.
    pub total: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
}

impl Losses {
    /// The sum with other losses, for averages.
    pub fn plus(&self, other: &Losses) -> Losses {
        Losses {
            policy: self.policy + other.policy,
            surrogate: self.surrogate + other.surrogate,
            entropy: self.entropy + other.entropy,
            wdl: self.wdl + other.wdl,
            margin: self.margin + other.margin,
            turns_left: self.turns_left + other.turns_left,
            total: self.total + other.total,
            gradient_norm: self.gradient_norm + other.gradient_norm,
        }
    }

    /// All losses times `factor`.
    pub fn scaled(&self, factor: f64) -> Losses {
        Losses {
            policy: self.policy * factor,
            surrogate: self.surrogate * factor,
            entropy: self.entropy * factor,
            wdl: self.wdl * factor,
            margin: self.margin * factor,
            turns_left: self.turns_left * factor,
            total: self.total * factor,
            gradient_norm: self.gradient_norm * factor,
        }
    }
}

/// Why a step was not taken; weights and optimiser are as they were before.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The batch is empty.
    #[error("the training batch is empty")]
    EmptyBatch,
    /// The loss or its gradient is not finite.
    #[error("step {step}: {what} is not finite")]
    NotFinite {
        /// Number of the step that failed, from 1.
        step: u64,
        /// What is not finite.
        what: &'static str,
    },
    /// The two networks of a resumed run differ in size.
    #[error("the network and its average differ in size")]
    DifferentSizes,
    /// The state of a resumed run does not fit its network.
    #[error(transparent)]
    State(#[from] StateError),
    /// libtorch refused, for example for want of memory.
    #[error("libtorch: {0}")]
    Torch(#[from] TchError),
}

impl Default for TrainerConfig {
    fn default() -> TrainerConfig {
        TrainerConfig {
            learning_rate: 1e-3,
            weight_decay: 1e-4,
            gradient_clip: 5.0,
            policy_weight: 1.0,
            margin_weight: 0.5,
            turns_left_weight: 0.1,
            ratio_clip: 0.2,
            entropy_weight: 0.01,
            average_decay: 0.995,
            precision: Precision::Full,
        }
    }
}

impl Trainer {
    /// Begins with this network; its weights are also the first average.
    pub fn new(net: Network, config: TrainerConfig) -> Result<Trainer, TrainError> {
        Trainer::resume(net, None, 0, config)
    }

    /// Goes on after `steps` steps that led to this average and this state; exactly so on the same device, with one thread
    /// of libtorch and the same batches. Without a state the average is trained further, with an optimiser that remembers
    /// nothing.
    pub fn resume(
        average: Network,
        state: Option<TrainerState>,
        steps: u64,
        config: TrainerConfig,
    ) -> Result<Trainer, TrainError> {
        let (net, memory) = match state {
            Some(TrainerState { net, optimizer }) => (net, Some(optimizer)),
            None => (average.duplicate()?, None),
        };
        if net.config() != average.config() {
            return Err(TrainError::DifferentSizes);
        }
        let mut optimizer = AdamW::new(net.store().variables(), config.weight_decay)?;
        if let Some(memory) = memory {
            optimizer.set_state(&memory)?;
        }
        let learning_rate = config.learning_rate;
        Ok(Trainer { net, average, optimizer, config, learning_rate, steps, table: RunTable::default() })
    }

    /// A copy of what it takes to go on from here.
    pub fn state(&self) -> Result<TrainerState, TrainError> {
        Ok(TrainerState { net: self.net.duplicate()?, optimizer: self.optimizer.state()? })
    }

    /// Takes one step on the batch.
    pub fn step(&mut self, training: &TrainingBatch) -> Result<Losses, TrainError> {
        if training.is_empty() {
            return Err(TrainError::EmptyBatch);
        }
        let not_finite = |what| TrainError::NotFinite { step: self.steps + 1, what };
        let outputs = self.net.forward(training.batch(), &mut self.table, self.config.precision)?;
        let targets = Targets::new(training, &mut self.table, self.net.device())?;
        let TrainerConfig { policy_weight, margin_weight, turns_left_weight, entropy_weight, .. } = self.config;
        let log_policy = log_policy(&outputs.action_logits, &targets)?;
        let policy = cross_entropies(&log_policy, &targets.policy)?.f_dot(&targets.policy_weight)?;
        let (surrogate, entropy) = match &targets.played {
            Some(played) => policy_gradient(&log_policy, played, self.config.ratio_clip)?,
            None => (policy.f_zeros_like()?, policy.f_zeros_like()?),
        };
        let log_wdl = outputs.wdl_logits.f_log_softmax(1, Kind::Float)?;
        let wdl = cross_entropies(&log_wdl, &targets.wdl)?.f_dot(&targets.weight)?;
        let margin = outputs.margin.f_mse_loss(&targets.margin, Reduction::None)?.f_dot(&targets.weight)?;
        let turns_left = outputs.log_turns.f_huber_loss(&targets.log_turns, Reduction::None, HUBER_DELTA)?;
        let turns_left = turns_left.f_dot(&targets.weight)?;
        let policies = &policy * policy_weight + &surrogate - &entropy * entropy_weight;
        let total = &wdl + policies + &margin * margin_weight + &turns_left * turns_left_weight;
        let mut losses = Losses {
            policy: f64::try_from(&policy)?,
            surrogate: f64::try_from(&surrogate)?,
            entropy: f64::try_from(&entropy)?,
            wdl: f64::try_from(&wdl)?,
            margin: f64::try_from(&margin)?,
            turns_left: f64::try_from(&turns_left)?,
            total: f64::try_from(&total)?,
            gradient_norm: 0.0,
        };
        if !losses.total.is_finite() {
            return Err(not_finite("the loss"));
        }
        self.optimizer.zero_gradients();
        // Half-precision gradients of a mean loss would be 0 more often than not.
        if self.config.precision.is_mixed_on(self.net.device()) {
            total.f_mul_scalar(MIXED_LOSS_SCALE)?.f_backward()?;
            self.optimizer.scale_gradients(1.0 / MIXED_LOSS_SCALE)?;
        } else {
            total.f_backward()?;
        }
        losses.gradient_norm = self.optimizer.clip_gradients(self.config.gradient_clip)?;
        if !losses.gradient_norm.is_finite() {
            return Err(not_finite("the gradient"));
        }
        self.optimizer.step(self.learning_rate)?;
        self.steps += 1;
        self.update_average()?;
        Ok(losses)
    }

    /// The network as the last step left it.
    pub fn net(&self) -> &Network {
        &self.net
    }

    /// The exponential moving average of the weights: steadier than the last step's, so this one plays.
    pub fn average(&self) -> &Network {
        &self.average
    }

    /// Steps taken, those before a resumption included.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Changes the step size from the next step on.
    pub fn set_learning_rate(&mut self, learning_rate: f64) {
        self.learning_rate = learning_rate;
    }

    fn update_average(&mut self) -> Result<(), TchError> {
        // Without the ramp the random first weights would stay in the average for 1 / (1 - decay) steps.
        let ramp = (1.0 + self.steps as f64) / (10.0 + self.steps as f64);
        let decay = self.config.average_decay.min(ramp);
        let _no_grad = tch::no_grad_guard();
        let averages = self.average.store().trainable_variables();
        for (mut average, weight) in averages.into_iter().zip(self.net.store().trainable_variables()) {
            let _ = average.f_lerp_(&weight, 1.0 - decay)?;
        }
        Ok(())
    }
}

/// What the loss is multiplied by on the way back in mixed precision, and the gradients divided by.
const MIXED_LOSS_SCALE: f64 = 1024.0;

/// Error of ln(1 + turns left) up to which its loss is quadratic.
const HUBER_DELTA: f64 = 1.0;

/// Cross-entropy of each row, `[B]`.
fn cross_entropies(log_probabilities: &Tensor, targets: &Tensor) -> Result<Tensor, TchError> {
    log_probabilities.f_mul(targets)?.f_sum_dim_intlist([1].as_slice(), false, Kind::Float)?.f_neg()
}

/// Logarithms of the probabilities of the actions of each sample, padded, `[B, L]`.
fn log_policy(logits: &Tensor, targets: &Targets) -> Result<Tensor, TchError> {
    /// Leaves padding no probability and, unlike infinity, no undefined product with its target of 0.
    const PADDING_LOGIT: f64 = -1e9;
    if logits.numel() == 0 {
        return targets.is_action.f_zeros_like();
    }
    let padding = targets.is_action.f_eq(0.0)?;
    let table = logits.f_index_select(0, &targets.action_table.f_view([-1])?)?.f_view_as(&targets.action_table)?;
    table.f_masked_fill(&padding, PADDING_LOGIT)?.f_log_softmax(1, Kind::Float)
}

/// The clipped surrogate loss of PPO (Schulman et al. 2017, equation 7) and the mean entropy of the policy.
fn policy_gradient(log_policy: &Tensor, played: &PlayedTargets, clip: f64) -> Result<(Tensor, Tensor), TchError> {
    let log_probability = log_policy.f_gather(1, &played.action.f_unsqueeze(1)?, false)?.f_squeeze_dim(1)?;
    let ratio = (log_probability - &played.log_probability).f_exp()?;
    let clipped = ratio.f_clamp(1.0 - clip, 1.0 + clip)?;
    let gain = ratio.f_mul(&played.advantage)?.f_minimum(&clipped.f_mul(&played.advantage)?)?;
    let surrogate = gain.f_dot(&played.weight)?.f_neg()?;
    let entropies = log_policy.f_exp()?.f_mul(log_policy)?.f_sum_dim_intlist([1].as_slice(), false, Kind::Float)?;
    Ok((surrogate, entropies.f_dot(&played.weight)?.f_neg()?))
}
