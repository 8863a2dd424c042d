//! The tensors of a batch.

use super::{Batch, TrainingBatch};
use tch::kind::Element;
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
    /// Where each row was put, in the order in which they came.
    places: Vec<i64>,
}

/// What every network reads of a batch, on the device of the network. B samples, T tokens, A actions.
pub(crate) struct Inputs {
    /// `[B, global_features]`
    pub globals: Tensor,
    /// `[1 + T, token_features]`
    pub tokens: Tensor,
    /// `[A, action_features]`
    pub actions: Tensor,
    /// `[A]`
    pub action_samples: Tensor,
    /// Token rows that the actions name, `[A x 2]`.
    pub action_rows: Tensor,
}

impl Inputs {
    pub fn new(batch: &Batch, device: Device) -> Result<Inputs, TchError> {
        let sizes = &batch.sizes;
        Ok(Inputs {
            globals: matrix(&batch.globals, sizes.global_features, device)?,
            tokens: matrix(&batch.tokens, sizes.token_features, device)?,
            actions: matrix(&batch.actions, sizes.action_features, device)?,
            action_samples: vector(&batch.action_samples, device)?,
            action_rows: vector(&batch.action_rows, device)?,
        })
    }
}

/// Which tokens are pooled together: P = B x groups pools of at most L tokens.
pub(crate) struct Pools {
    /// Token rows of each pool, padded as in [`RunTable`], `[P, L]`.
    pub rows: Tensor,
    /// What each row counts in its pool's mean: 1 / size, padding 0, `[P, 1, L]`.
    pub weights: Tensor,
}

impl Pools {
    pub fn new(batch: &Batch, table: &mut RunTable, device: Device) -> Result<Pools, TchError> {
        let longest = batch.pool_sizes.iter().copied().max().unwrap_or(0).max(1) as usize;
        table.clear(batch.pool_sizes.len(), longest);
        for (token, &pool) in batch.token_pools.iter().enumerate() {
            let weight = 1.0 / batch.pool_sizes[pool as usize] as f32;
            table.append(pool as usize, longest, token as i64 + 1, weight);
        }
        Ok(Pools {
            rows: matrix(&table.rows, longest, device)?,
            weights: matrix(&table.weights, longest, device)?.f_unsqueeze(1)?,
        })
    }
}

/// The samples as sequences: the globals, then the tokens, at most L in all.
pub(crate) struct Sequences {
    /// Rows of each sequence among the B globals followed by the 1 + T tokens, padded as in [`RunTable`], `[B, L]`.
    pub rows: Tensor,
    /// False for padding, `[B, 1, 1, L]`.
    pub is_member: Tensor,
    /// Where each token is among all places of all sequences, `[T]`.
    pub token_places: Tensor,
    /// Group of each token, 0 for the first row, which belongs to no sample, `[1 + T]`.
    pub token_groups: Tensor,
}

impl Sequences {
    pub fn new(batch: &Batch, table: &mut RunTable, device: Device) -> Result<Sequences, TchError> {
        let (samples, groups) = (batch.len(), batch.sizes.token_groups);
        let tokens = batch.pool_sizes.chunks_exact(groups).map(|pools| pools.iter().sum::<u32>());
        let longest = 1 + tokens.max().unwrap_or(0) as usize;
        table.clear(samples, longest);
        for sample in 0..samples {
            table.append(sample, longest, sample as i64, 1.0);
        }
        let first_token = samples as i64 + 1;
        for (token, &pool) in batch.token_pools.iter().enumerate() {
            table.append(pool as usize / groups, longest, first_token + token as i64, 1.0);
        }
        let token_groups: Vec<i64> = batch.token_pools.iter().map(|&pool| i64::from(pool) % groups as i64).collect();
        Ok(Sequences {
            rows: matrix(&table.rows, longest, device)?,
            is_member: matrix(&table.weights, longest, device)?.f_ne(0.0)?.f_unsqueeze(1)?.f_unsqueeze(1)?,
            token_places: vector(&table.places[samples..], device)?,
            token_groups: vector(&token_groups, device)?.f_constant_pad_nd([1, 0])?,
        })
    }
}

/// The planes and where the tokens are on them.
pub(crate) struct CellInputs {
    /// `[B, channels, rows, columns]`
    pub planes: Tensor,
    /// Cell of each token among the B x rows x columns of all samples, `[1 + T]`.
    pub token_cells: Tensor,
    /// 1 for tokens that are in a cell, else 0, `[1 + T, 1]`.
    pub on_board: Tensor,
}

impl CellInputs {
    pub fn new(batch: &Batch, device: Device) -> Result<CellInputs, TchError> {
        let [channels, rows, columns] = batch.sizes.planes.map(|length| length as i64);
        Ok(CellInputs {
            planes: vector(&batch.planes, device)?.f_view([-1, channels, rows, columns])?,
            token_cells: vector(&batch.token_cells, device)?,
            on_board: matrix(&batch.on_board, 1, device)?,
        })
    }
}

fn vector<T: Element>(values: &[T], device: Device) -> Result<Tensor, TchError> {
    Tensor::f_from_slice(values)?.f_to_device(device)
}

fn matrix<T: Element>(values: &[T], columns: usize, device: Device) -> Result<Tensor, TchError> {
    vector(values, device)?.f_view([-1, columns as i64])
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
        let action_table = matrix(&table.rows, longest, device)?;
        let is_action = matrix(&table.weights, longest, device)?;
        let policy = if training.policy.is_empty() {
            is_action.f_zeros_like()?
        } else {
            let flat = vector(&training.policy, device)?;
            flat.f_index_select(0, &action_table.f_view([-1])?)?.f_view(shape)?.f_mul(&is_action)?
        };
        let weight = vector(&training.weight, device)?;
        Ok(Targets {
            played: PlayedTargets::new(training, &weight)?,
            action_table,
            is_action,
            policy,
            wdl: matrix(&training.wdl, 3, device)?,
            margin: vector(&training.margin, device)?,
            log_turns: vector(&training.turns_left, device)?.f_log1p()?,
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
        self.places.clear();
    }

    fn append(&mut self, run: usize, longest: usize, row: i64, weight: f32) {
        let place = run * longest + self.filled[run] as usize;
        // Repeating a member leaves the maximum of a run alone, as padding with any other row would not.
        if self.filled[run] == 0 {
            self.rows[place..place + longest].fill(row);
        }
        self.places.push(place as i64);
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
        Ok(Some(PlayedTargets {
            action: vector(&training.played, device)?,
            log_probability: vector(&training.played_log_probability, device)?,
            advantage: vector(&training.advantage, device)?,
            weight: share(weight, &training.is_played)?,
        }))
    }
}

/// What each sample counts in a mean over the samples of which `counted` is 1, the others being 0.
fn share(weight: &Tensor, counted: &[f32]) -> Result<Tensor, TchError> {
    let samples: f32 = counted.iter().sum();
    let counted = vector(counted, weight.device())?;
    counted.f_mul(weight)?.f_div_scalar(f64::from(samples.max(1.0)))
}
