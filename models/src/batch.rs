//! Samples of different sizes flattened into one batch.

use crate::token_net::TokenNetConfig;
use tch::{Device, TchError, Tensor};

/// How many tokens a legal action can name.
pub const TOKENS_PER_ACTION: usize = 2;

/// One encoded position: plain slices, row-major. With T tokens and A legal actions:
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Facts of the whole position, `[global_features]`.
    pub globals: &'a [f32],
    /// Features of each token, `[T, token_features]`; T may be 0.
    pub tokens: &'a [f32],
    /// The group in which each token is pooled, `[T]`, each below `token_groups`.
    pub groups: &'a [u8],
    /// Features of each legal action, `[A, action_features]`, in the order of the legal actions; A may be 0.
    pub actions: &'a [f32],
    /// The tokens of this sample that each legal action names, `[A]`: indices below T.
    pub action_tokens: &'a [[Option<u32>; TOKENS_PER_ACTION]],
}

/// What a training sample should predict.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Probability of the legal actions that have one, by index among the legal actions; summing to 1, or empty where the
    /// sample has no policy target. An action may occur once only.
    pub policy: &'a [(u32, f32)],
    /// How well the action that was played did, for a policy gradient; independent of `policy`.
    pub played: Option<Played>,
    /// Probabilities of win, draw and loss.
    pub wdl: [f32; 3],
    /// Margin of the result, -1..=1.
    pub margin: f32,
}

/// What a policy gradient needs to know of a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The action, by index among the legal actions.
    pub action: u32,
    /// The probability with which it was played, above 0.
    pub probability: f32,
    /// How much better than the policy's average it turned out to be, in any unit; finite.
    pub advantage: f32,
}

/// Why a sample was refused; the batch is as it was before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// A slice is not as long as the configuration and the other slices ask.
    #[error("{what} has {found} values, not {expected}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that it should have.
        expected: usize,
    },
    /// A token's group is out of range.
    #[error("token {token} is in group {group}, but there are {groups} groups")]
    Group {
        /// Index of the token in its sample.
        token: usize,
        /// Its group.
        group: u8,
        /// Number of groups.
        groups: usize,
    },
    /// An action names a token that its sample does not have.
    #[error("legal action {action} names token {token} of {tokens}")]
    TokenReference {
        /// Index of the action in its sample.
        action: usize,
        /// The token that it names.
        token: u32,
        /// Number of tokens in the sample.
        tokens: usize,
    },
    /// A policy target names an action that is not there, or names one twice.
    #[error("the policy target names action {action} of {actions}, or names it twice")]
    PolicyTarget {
        /// The action that the target names.
        action: u32,
        /// Number of legal actions in the sample.
        actions: usize,
    },
    /// The played action is not there, or its probability or advantage is no number to learn from.
    #[error(
        "nothing can be learnt from action {action} of {actions}, played with probability {probability} and advantage {advantage}"
    )]
    Played {
        /// The action that was played.
        action: u32,
        /// Number of legal actions in the sample.
        actions: usize,
        /// Its probability.
        probability: f32,
        /// Its advantage.
        advantage: f32,
    },
    /// Probabilities are negative or do not sum to 1, or the margin is out of range.
    #[error("the {0} target is not a distribution, or out of range")]
    TargetRange(&'static str),
}

/// Samples flattened for the network; cleared and filled again without allocation once it has grown to its usual size.
///
/// Row 0 of the tokens is all zero and belongs to no sample: it stands for "no token" wherever an action names fewer than
/// [`TOKENS_PER_ACTION`] tokens or a group of a sample is empty.
#[derive(Clone, Debug)]
pub struct Batch {
    token_features: usize,
    token_groups: usize,
    global_features: usize,
    action_features: usize,
    globals: Vec<f32>,
    tokens: Vec<f32>,
    /// Pool (sample x groups + group) of each token but the first row.
    token_pools: Vec<u32>,
    /// Number of tokens in each pool.
    pool_sizes: Vec<u32>,
    actions: Vec<f32>,
    action_samples: Vec<i64>,
    action_rows: Vec<i64>,
    /// Where each sample's actions begin, and where the last one's end.
    action_starts: Vec<usize>,
}

impl Batch {
    /// An empty batch for networks of this configuration.
    pub fn new(config: &TokenNetConfig) -> Batch {
        let mut batch = Batch {
            token_features: config.token_features,
            token_groups: config.token_groups,
            global_features: config.global_features,
            action_features: config.action_features,
            globals: Vec::new(),
            tokens: Vec::new(),
            token_pools: Vec::new(),
            pool_sizes: Vec::new(),
            actions: Vec::new(),
            action_samples: Vec::new(),
            action_rows: Vec::new(),
            action_starts: Vec::new(),
        };
        batch.clear();
        batch
    }

    /// Appends a sample.
    pub fn push(&mut self, sample: &Sample) -> Result<(), BatchError> {
        self.check(sample)?;
        let index = self.len();
        let first_row = self.tokens.len() / self.token_features;
        self.globals.extend_from_slice(sample.globals);
        self.tokens.extend_from_slice(sample.tokens);
        let first_pool = index * self.token_groups;
        self.pool_sizes.resize(first_pool + self.token_groups, 0);
        for &group in sample.groups {
            let pool = first_pool + usize::from(group);
            self.pool_sizes[pool] += 1;
            self.token_pools.push(pool as u32);
        }
        self.actions.extend_from_slice(sample.actions);
        let rows = sample.action_tokens.iter().flatten();
        self.action_rows.extend(rows.map(|named| named.map_or(0, |token| (first_row + token as usize) as i64)));
        self.action_samples.resize(self.action_samples.len() + sample.action_tokens.len(), index as i64);
        self.action_starts.push(self.action_samples.len());
        Ok(())
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.globals.clear();
        self.tokens.clear();
        self.tokens.resize(self.token_features, 0.0);
        self.token_pools.clear();
        self.pool_sizes.clear();
        self.actions.clear();
        self.action_samples.clear();
        self.action_rows.clear();
        self.action_starts.clear();
        self.action_starts.push(0);
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.action_starts.len() - 1
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the actions of each sample begin among all actions of the batch, and where the last one's end: `[len + 1]`.
    pub fn action_starts(&self) -> &[usize] {
        &self.action_starts
    }

    /// True if a network of this configuration takes this batch.
    pub fn fits(&self, config: &TokenNetConfig) -> bool {
        self.token_features == config.token_features
            && self.token_groups == config.token_groups
            && self.global_features == config.global_features
            && self.action_features == config.action_features
    }

    fn check(&self, sample: &Sample) -> Result<(), BatchError> {
        let (tokens, actions) = (sample.groups.len(), sample.action_tokens.len());
        for (what, found, expected) in [
            ("globals", sample.globals.len(), self.global_features),
            ("tokens", sample.tokens.len(), tokens * self.token_features),
            ("actions", sample.actions.len(), actions * self.action_features),
        ] {
            if found != expected {
                return Err(BatchError::Length { what, found, expected });
            }
        }
        if let Some(token) = sample.groups.iter().position(|&group| usize::from(group) >= self.token_groups) {
            return Err(BatchError::Group { token, group: sample.groups[token], groups: self.token_groups });
        }
        for (action, named) in sample.action_tokens.iter().enumerate() {
            if let Some(&token) = named.iter().flatten().find(|&&token| token as usize >= tokens) {
                return Err(BatchError::TokenReference { action, token, tokens });
            }
        }
        Ok(())
    }
}

/// A batch with the targets of its samples.
#[derive(Clone, Debug)]
pub struct TrainingBatch {
    batch: Batch,
    /// Probability of each action of the batch; all 0 for a sample without a policy target.
    policy: Vec<f32>,
    wdl: Vec<f32>,
    margin: Vec<f32>,
    policy_samples: usize,
    /// Index of the played action in its sample, 0 where there is none.
    played: Vec<i64>,
    played_log_probability: Vec<f32>,
    advantage: Vec<f32>,
    /// 1 for samples with a played action, 0 for others.
    is_played: Vec<f32>,
}

impl TrainingBatch {
    /// An empty batch for networks of this configuration.
    pub fn new(config: &TokenNetConfig) -> TrainingBatch {
        TrainingBatch {
            batch: Batch::new(config),
            policy: Vec::new(),
            wdl: Vec::new(),
            margin: Vec::new(),
            policy_samples: 0,
            played: Vec::new(),
            played_log_probability: Vec::new(),
            advantage: Vec::new(),
            is_played: Vec::new(),
        }
    }

    /// Appends a sample with its target.
    pub fn push(&mut self, sample: &Sample, target: &Target) -> Result<(), BatchError> {
        self.batch.check(sample)?;
        let actions = sample.action_tokens.len();
        if !target.policy.is_empty() && !is_distribution(target.policy.iter().map(|&(_, probability)| probability)) {
            return Err(BatchError::TargetRange("policy"));
        }
        if !is_distribution(target.wdl.into_iter()) {
            return Err(BatchError::TargetRange("win, draw and loss"));
        }
        if !(-1.0..=1.0).contains(&target.margin) {
            return Err(BatchError::TargetRange("margin"));
        }
        if let Some(Played { action, probability, advantage }) = target.played {
            let probable = probability > 0.0 && probability <= 1.0 + ROUNDING;
            if action as usize >= actions || !probable || !advantage.is_finite() {
                return Err(BatchError::Played { action, actions, probability, advantage });
            }
        }
        let first = self.policy.len();
        self.policy.resize(first + actions, 0.0);
        for &(action, probability) in target.policy {
            match self.policy[first..].get_mut(action as usize) {
                Some(place) if *place == 0.0 => *place = probability,
                _ => {
                    self.policy.truncate(first);
                    return Err(BatchError::PolicyTarget { action, actions });
                }
            }
        }
        self.batch.push(sample)?;
        self.wdl.extend_from_slice(&target.wdl);
        self.margin.push(target.margin);
        let played = target.played.unwrap_or(Played { action: 0, probability: 1.0, advantage: 0.0 });
        self.played.push(i64::from(played.action));
        self.played_log_probability.push(played.probability.ln());
        self.advantage.push(played.advantage);
        self.is_played.push(f32::from(u8::from(target.played.is_some())));
        self.policy_samples += usize::from(!target.policy.is_empty());
        Ok(())
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.policy.clear();
        self.wdl.clear();
        self.margin.clear();
        self.policy_samples = 0;
        self.played.clear();
        self.played_log_probability.clear();
        self.advantage.clear();
        self.is_played.clear();
    }

    /// The samples without their targets.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }
}

/// How far sums of probabilities may be off.
const ROUNDING: f32 = 1e-3;

fn is_distribution(probabilities: impl Iterator<Item = f32>) -> bool {
    let mut sum = 0.0;
    for probability in probabilities {
        if !(0.0..=1.0 + ROUNDING).contains(&probability) {
            return false;
        }
        sum += probability;
    }
    (sum - 1.0).abs() <= ROUNDING
}

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
            globals: matrix(&batch.globals, batch.global_features)?,
            tokens: matrix(&batch.tokens, batch.token_features)?,
            pool_rows: indices(&table.rows)?.f_view([pools as i64, longest as i64])?,
            pool_weights: matrix(&table.weights, longest)?.f_unsqueeze(1)?,
            actions: matrix(&batch.actions, batch.action_features)?,
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
    /// Number of samples that have a policy target.
    pub policy_samples: usize,
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
    /// 1 over the number of samples with a played action for those, 0 for others, `[B]`.
    pub weight: Tensor,
}

impl Targets {
    pub fn new(training: &TrainingBatch, table: &mut RunTable, device: Device) -> Result<Targets, TchError> {
        let samples = training.len();
        let starts = &training.batch.action_starts;
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
        Ok(Targets {
            action_table,
            is_action,
            policy,
            wdl: Tensor::f_from_slice(&training.wdl)?.f_view([-1, 3])?.f_to_device(device)?,
            margin: Tensor::f_from_slice(&training.margin)?.f_to_device(device)?,
            policy_samples: training.policy_samples,
            played: PlayedTargets::new(training, device)?,
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
    fn new(training: &TrainingBatch, device: Device) -> Result<Option<PlayedTargets>, TchError> {
        let samples: f32 = training.is_played.iter().sum();
        if samples == 0.0 {
            return Ok(None);
        }
        let vector = |values: &[f32]| Tensor::f_from_slice(values)?.f_to_device(device);
        Ok(Some(PlayedTargets {
            action: Tensor::f_from_slice(&training.played)?.f_to_device(device)?,
            log_probability: vector(&training.played_log_probability)?,
            advantage: vector(&training.advantage)?,
            weight: vector(&training.is_played)?.f_div_scalar(f64::from(samples))?,
        }))
    }
}
