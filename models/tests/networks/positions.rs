//! Made-up positions with a right answer.

use dervish_models::batch::{BatchError, Sample, Target, TrainingBatch};
use dervish_models::network::{Architecture, InputSizes, Network, NetworkConfig};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::Device;

/// A small network, for tests that don't look at the sizes.
pub fn small_config() -> NetworkConfig {
    let inputs = InputSizes { token_features: 6, token_groups: 3, global_features: 4, action_features: 5 };
    NetworkConfig { inputs, architecture: Architecture::TokenMlp { hidden: 16, trunk: 32 } }
}

pub fn small_net(seed: i64) -> Network {
    dervish_models::process::prepare();
    Network::new(small_config(), seed, Device::Cpu).expect("sizes in range")
}

/// A draw at once, without a policy.
pub const PLAIN: Target<'static> =
    Target { policy: &[], played: None, wdl: [0.0, 1.0, 0.0], margin: 0.0, turns_left: 0.0, weight: 1.0 };

/// A position that owns its features.
#[derive(Clone, Debug)]
pub struct Position {
    pub globals: Vec<f32>,
    pub tokens: Vec<f32>,
    pub groups: Vec<u8>,
    pub actions: Vec<f32>,
    pub action_tokens: Vec<[Option<u32>; 2]>,
}

impl Position {
    pub fn random(rng: &mut ChaCha8Rng, tokens: usize, actions: usize) -> Position {
        let config = small_config();
        let mut features = |count: usize| (0..count).map(|_| rng.random_range(-1.0f32..1.0)).collect::<Vec<f32>>();
        let globals = features(config.inputs.global_features);
        let token_features = features(tokens * config.inputs.token_features);
        let action_features = features(actions * config.inputs.action_features);
        let mut named = || (tokens > 0 && rng.random_bool(0.7)).then(|| rng.random_range(0..tokens as u32));
        let action_tokens = (0..actions).map(|_| [named(), named()]).collect();
        Position {
            globals,
            tokens: token_features,
            groups: (0..tokens).map(|_| (rng.next_u32() % 3) as u8).collect(),
            actions: action_features,
            action_tokens,
        }
    }

    pub fn sample(&self) -> Sample<'_> {
        Sample {
            globals: &self.globals,
            tokens: &self.tokens,
            groups: &self.groups,
            actions: &self.actions,
            action_tokens: &self.action_tokens,
        }
    }
}

/// Positions of all sizes, among them some without tokens or without actions.
pub fn ragged_positions(seed: u64) -> Vec<Position> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sizes = [(30, 20), (0, 7), (5, 0), (1, 1), (0, 0), (12, 3), (2, 40)];
    sizes.iter().map(|&(tokens, actions)| Position::random(&mut rng, tokens, actions)).collect()
}

/// Sixteen positions with 2 to 9 actions and an arbitrary but fixed answer each, to be learnt by heart.
pub fn lessons() -> TrainingBatch {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut lessons = TrainingBatch::new(&small_config());
    for index in 0..16u32 {
        let actions = 2 + index as usize % 8;
        let position = Position::random(&mut rng, 4 + index as usize, actions);
        let mut wdl = [0.0; 3];
        wdl[index as usize % 3] = 1.0;
        let margin = index as f32 / 15.0 - 0.5;
        let policy = [(index % actions as u32, 1.0)];
        let target = Target { policy: &policy, wdl, margin, turns_left: 3.0 * index as f32, ..PLAIN };
        push(&mut lessons, &position, &target).expect("a valid lesson");
    }
    lessons
}

pub fn push(batch: &mut TrainingBatch, position: &Position, target: &Target) -> Result<(), BatchError> {
    batch.push(&position.sample(), target)
}
