//! The tensors of a batch.

use super::{Batch, TrainingBatch};
use tch::{Device, TchError, Tensor};

/// Rows gathered for an operation on runs of different length: one run a row, filled up to the longest by repeating its
/// first member with weight 0. An empty run consists of row 0.
///
/// Gathering and reducing a dense tensor is several times faster on a CPU than libtorch's reductions over segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTable {
    rows: Vec<i64>,
    weights: Vec<f32>,
    filled: Vec<u32>,
}

/// The tensors of a batch, on the device of the network. B samples, T tokens, A actions, P = B x groups pools of at most L
/// tokens.
pub(crate) struct Inputs {
    /// `[B, global_features]`
    pub globals: Tensor,
    /// `[1 + T, token_features]`
    pub tokens: Tensor,
    /// Token rows of each pool, padded as in [`RunTable`], `[P, L]`.
    pub pool_rows: Tensor,
    /// What each row counts in its pool's mean: 1 / size, padding 0, `[P, 1, L]`.
    pub pool_weights: Tensor,
    /// `[A, action_features]`
    pub actions: Tensor,
    /// `[A]`
    pub action_samples: Tensor,
    /// Token rows that the actions name, `[A x 2]`.
    pub action_rows: Tensor,
}

impl Inputs {
    pub fn new(batch: &Batch, table: &mut RunTable, device: Device) -> Result<Inputs, TchError> {
        let pools = batch.pool_sizes.len();
        let longest = batch.pool_sizes.iter().copied().max().unwrap_or(0).max(1) as usize;
        table.clear(pools, longest);
        for (token, &pool) in batch.token_pools.iter().enumerate() {
            let weight = 1.0 / batch.pool_sizes[pool as usize] as f32;
            table.append(pool as usize, longest, token as i64 + 1, weight);
        }
        let matrix = |values: &[f32], columns: usize| {
            Tensor::f_from_slice(values)?.f_view([-1, columns as i64])?.f_to_device(device)
        };
        let indices = |values: &[i64]| Tensor::f_from_slice(values)?.f_to_device(device);
        Ok(Inputs {
            globals: matrix(&batch.globals, batch.sizes.global_features)?,
            tokens: matrix(&batch.tokens, batch.sizes.token_features)?,
            pool_rows: indices(&table.rows)?.f_view([pools as i64, longest as i64])?,
            pool_weights: matrix(&table.weights, longest)?.f_unsqueeze(1)?,
            actions: matrix(&batch.actions, batch.sizes.action_features)?,
            action_samples: indices(&batch.action_samples)?,
            action_rows: indices(&batch.action_rows)?,
        })
    }
}

/// The target tensors of a training batch.
pub(crate) struct Targets {
    /// Action of the batch in each place of the policy, padded as in [`RunTable`], `[B, L]`, L the most actions of a sample.
    pub action_table: Tensor,
    /// 1 where `action_table` has an action, 0 where it is padding, `[B, L]`.
    pub is_action: Tensor,
    /// `[B, L]`
    pub policy: Tensor,
    /// `[B, 3]`
    pub wdl: Tensor,
    /// `[B]`
    pub margin: Tensor,
    /// ln(1 + turns left), `[B]`
    pub log_turns: Tensor,
    /// What each sample counts in the mean of the value losses: its weight over the number of samples, `[B]`.
    pub weight: Tensor,
    /// The same for the policy's loss: 0 without a policy target, else the weight over the number of samples with one,
    /// `[B]`.
    pub policy_weight: Tensor,
    /// What the policy gradient needs, if any sample has a played action.
    pub played: Option<PlayedTargets>,
}

/// The tensors of the played actions of a training batch.
pub(crate) struct PlayedTargets {
    /// Place of the played action in the policy, 0 where there is none, `[B]`.
    pub action: Tensor,
    /// Logarithm of the probability with which it was played, `[B]`.
    pub log_probability: Tensor,
    /// `[B]`
    pub advantage: Tensor,
    /// The weight over the number of samples with a played action for those, 0 for others, `[B]`.
    pub weight: Tensor,
}

impl Targets {
    pub fn new(training: &TrainingBatch, table: &mut RunTable, device: Device) -> Result<Targets, TchError> {
        let samples = training.len();
        let starts = &training.batch().action_starts;
        let longest = starts.windows(2).map(|run| run[1] - run[0]).max().unwrap_or(0).max(1);
        table.clear(samples, longest);
        for (sample, run) in starts.windows(2).enumerate() {
            for action in run[0]..run[1] {
                table.append(sample, longest, action as i64, 1.0);
            }
        }
        let shape = [samples as i64, longest as i64];
        let action_table = Tensor::f_from_slice(&table.rows)?.f_view(shape)?.f_to_device(device)?;
        let is_action = Tensor::f_from_slice(&table.weights)?.f_view(shape)?.f_to_device(device)?;
        let policy = if training.policy.is_empty() {
            is_action.f_zeros_like()?
        } else {
            let flat = Tensor::f_from_slice(&training.policy)?.f_to_device(device)?;
            flat.f_index_select(0, &action_table.f_view([-1])?)?.f_view(shape)?.f_mul(&is_action)?
        };
        let weight = Tensor::f_from_slice(&training.weight)?.f_to_device(device)?;
        Ok(Targets {
            played: PlayedTargets::new(training, &weight)?,
            action_table,
            is_action,
            policy,
            wdl: Tensor::f_from_slice(&training.wdl)?.f_view([-1, 3])?.f_to_device(device)?,
            margin: Tensor::f_from_slice(&training.margin)?.f_to_device(device)?,
            log_turns: Tensor::f_from_slice(&training.turns_left)?.f_to_device(device)?.f_log1p()?,
            policy_weight: share(&weight, &training.has_policy)?,
            weight: weight.f_div_scalar(samples as f64)?,
        })
    }
}

impl RunTable {
    fn clear(&mut self, runs: usize, longest: usize) {
        self.rows.clear();
        self.rows.resize(runs * longest, 0);
        self.weights.clear();
        self.weights.resize(runs * longest, 0.0);
        self.filled.clear();
        self.filled.resize(runs, 0);
    }

    fn append(&mut self, run: usize, longest: usize, row: i64, weight: f32) {
        let place = run * longest + self.filled[run] as usize;
        // Repeating a member leaves the maximum of a run alone, as padding with any other row would not.
        if self.filled[run] == 0 {
            self.rows[place..place + longest].fill(row);
        }
        self.rows[place] = row;
        self.weights[place] = weight;
        self.filled[run] += 1;
    }
}

impl PlayedTargets {
    fn new(training: &TrainingBatch, weight: &Tensor) -> Result<Option<PlayedTargets>, TchError> {
        if training.is_played.iter().all(|&is_played| is_played == 0.0) {
            return Ok(None);
        }
        let device = weight.device();
        let vector = |values: &[f32]| Tensor::f_from_slice(values)?.f_to_device(device);
        Ok(Some(PlayedTargets {
            action: Tensor::f_from_slice(&training.played)?.f_to_device(device)?,
            log_probability: vector(&training.played_log_probability)?,
            advantage: vector(&training.advantage)?,
            weight: share(weight, &training.is_played)?,
        }))
    }
}

/// What each sample counts in a mean over the samples of which `counted` is 1, the others being 0.
fn share(weight: &Tensor, counted: &[f32]) -> Result<Tensor, TchError> {
    let samples: f32 = counted.iter().sum();
    let counted = Tensor::f_from_slice(counted)?.f_to_device(weight.device())?;
    counted.f_mul(weight)?.f_div_scalar(f64::from(samples.max(1.0)))
}
