//! Made-up positions with a right answer.

use dervish_models::batch::{BatchError, Sample, Target, TrainingBatch};
use dervish_models::network::{Architecture, InputSizes, Network, NetworkConfig};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::Device;

/// A small network, for tests that don't look at the architecture.
pub fn small_config() -> NetworkConfig {
    config(Architecture::TokenMlp { hidden: 16, trunk: 32 })
}

pub fn config(architecture: Architecture) -> NetworkConfig {
    let inputs =
        InputSizes { token_features: 6, token_groups: 3, global_features: 4, action_features: 5, planes: [2, 4, 5] };
    NetworkConfig { inputs, architecture, by_seat: false }
}

/// A small network of each architecture, and one with layers of its own for each seat, which reads all there is to read.
pub fn small_configs() -> [NetworkConfig; 4] {
    let planes = config(Architecture::HexPlanes { channels: 6, blocks: 2, hidden: 16, trunk: 32 });
    [
        small_config(),
        config(Architecture::TokenTransformer { width: 16, layers: 2, heads: 4 }),
        config(Architecture::HexPlanes { channels: 6, blocks: 2, hidden: 16, trunk: 32 }),
        NetworkConfig { by_seat: true, ..planes },
    ]
}

pub fn small_net(seed: i64) -> Network {
    net(small_config(), seed)
}

pub fn net(config: NetworkConfig, seed: i64) -> Network {
    dervish_models::process::prepare();
    Network::new(config, seed, Device::Cpu).expect("sizes in range")
}

/// A draw at once, without a policy.
pub const PLAIN: Target<'static> =
    Target { policy: &[], played: None, wdl: [0.0, 1.0, 0.0], margin: 0.0, turns_left: 0.0, weight: 1.0 };

/// A position that owns its features.
#[derive(Clone, Debug)]
pub struct Position {
    pub second_seat: bool,
    pub globals: Vec<f32>,
    pub tokens: Vec<f32>,
    pub groups: Vec<u8>,
    pub planes: Vec<f32>,
    pub cells: Vec<Option<u32>>,
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
        let groups = (0..tokens).map(|_| (rng.next_u32() % 3) as u8).collect();
        let planes = config.inputs.planes.iter().product::<usize>();
        Position {
            second_seat: actions % 2 == 1,
            globals,
            tokens: token_features,
            groups,
            planes: (0..planes).map(|_| rng.random_range(-1.0f32..1.0)).collect(),
            cells: (0..tokens).map(|_| rng.random_bool(0.8).then(|| rng.random_range(0..20))).collect(),
            actions: action_features,
            action_tokens,
        }
    }

    pub fn sample(&self) -> Sample<'_> {
        Sample {
            second_seat: self.second_seat,
            globals: &self.globals,
            tokens: &self.tokens,
            groups: &self.groups,
            planes: &self.planes,
            cells: &self.cells,
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
pub fn lessons(config: &NetworkConfig) -> TrainingBatch {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut lessons = TrainingBatch::new(config);
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
