//! Samples with what a network should have said of them.

use super::{Batch, BatchError, Sample};
use crate::network::NetworkConfig;

/// What a training sample should predict.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Probability of the legal actions that have one, by index among the legal actions; summing to 1, or empty where the
    /// sample has no policy target. An action may occur once only.
    pub policy: &'a [(u32, f32)],
    /// How well the action that was played did, for a policy gradient; independent of `policy`.
    pub played: Option<Played>,
    /// Probabilities of win, draw and loss: the result, or a softer forecast of it. They sum to 1; the parts of an unbiased
    /// forecast, with luck taken out, may lie outside 0..=1.
    pub wdl: [f32; 3],
    /// Margin of the result, -1..=1.
    pub margin: f32,
    /// Player turns until the end of the game; 0 or more, finite.
    pub turns_left: f32,
    /// What the sample's losses count against those of others, 0 or more, finite; usually 1.
    pub weight: f32,
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

/// A batch with the targets of its samples.
#[derive(Clone, Debug)]
pub struct TrainingBatch {
    batch: Batch,
    /// Probability of each action of the batch; all 0 for a sample without a policy target.
    pub(super) policy: Vec<f32>,
    /// 1 for samples with a policy target, 0 for others.
    pub(super) has_policy: Vec<f32>,
    pub(super) wdl: Vec<f32>,
    pub(super) margin: Vec<f32>,
    pub(super) turns_left: Vec<f32>,
    pub(super) weight: Vec<f32>,
    /// Index of the played action in its sample, 0 where there is none.
    pub(super) played: Vec<i64>,
    pub(super) played_log_probability: Vec<f32>,
    pub(super) advantage: Vec<f32>,
    /// 1 for samples with a played action, 0 for others.
    pub(super) is_played: Vec<f32>,
}

impl TrainingBatch {
    /// An empty batch for networks of this configuration.
    pub fn new(config: &NetworkConfig) -> TrainingBatch {
        TrainingBatch {
            batch: Batch::new(config),
            policy: Vec::new(),
            has_policy: Vec::new(),
            wdl: Vec::new(),
            margin: Vec::new(),
            turns_left: Vec::new(),
            weight: Vec::new(),
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
        let wdl = target.wdl;
        if wdl.iter().any(|part| !part.is_finite()) || (wdl.iter().sum::<f32>() - 1.0).abs() > ROUNDING {
            return Err(BatchError::TargetRange("win, draw and loss"));
        }
        if !(-1.0..=1.0).contains(&target.margin) {
            return Err(BatchError::TargetRange("margin"));
        }
        for (what, value) in [("turns left", target.turns_left), ("weight", target.weight)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(BatchError::TargetRange(what));
            }
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
        self.turns_left.push(target.turns_left);
        self.weight.push(target.weight);
        let played = target.played.unwrap_or(Played { action: 0, probability: 1.0, advantage: 0.0 });
        self.played.push(i64::from(played.action));
        self.played_log_probability.push(played.probability.ln());
        self.advantage.push(played.advantage);
        self.is_played.push(f32::from(u8::from(target.played.is_some())));
        self.has_policy.push(f32::from(u8::from(!target.policy.is_empty())));
        Ok(())
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.batch.clear();
        self.policy.clear();
        self.has_policy.clear();
        self.wdl.clear();
        self.margin.clear();
        self.turns_left.clear();
        self.weight.clear();
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
