//! The network: one type for every architecture.

use crate::batch::{Batch, Inputs, RunTable};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use tch::nn::{self, LinearConfig};
use tch::{Device, TchError, Tensor};
use token_mlp::TokenMlp;

mod heads;
mod pooling;
mod token_mlp;

/// A network that judges positions and scores their legal actions.
///
/// No size depends on a map, a scenario or the number of actions. The policy is pointer-like (Vinyals et al. 2015): a legal
/// action's logit comes from its own features, the position and the embeddings of the tokens that it names.
#[derive(Debug)]
pub struct Network {
    config: NetworkConfig,
    store: nn::VarStore,
    layers: Layers,
}

/// What a network reads and how it is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Sizes of a sample.
    pub inputs: InputSizes,
    /// Layers between inputs and outputs.
    pub architecture: Architecture,
}

/// Sizes of what a network reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputSizes {
    /// Features of a token.
    pub token_features: usize,
    /// Groups of tokens, at most 256.
    pub token_groups: usize,
    /// Features of the whole position.
    pub global_features: usize,
    /// Features of a legal action.
    pub action_features: usize,
}

/// How a network is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Architecture {
    /// Every token goes through the same two layers. The tokens of each group are pooled by mean and by maximum ("Deep
    /// Sets", Zaheer et al. 2017) and joined with the globals in a two-layer trunk.
    TokenMlp {
        /// Width of the token and action layers; 64 suits a CPU.
        hidden: usize,
        /// Width of the trunk; 128 suits a CPU.
        trunk: usize,
    },
}

/// A size of a network is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {found}, not in 1..={most}")]
pub struct ConfigError {
    /// Which size.
    pub what: &'static str,
    /// Its value.
    pub found: usize,
    /// The largest value that it may have.
    pub most: usize,
}

#[derive(Debug)]
enum Layers {
    TokenMlp(TokenMlp),
}

/// Raw outputs for B samples with A actions in all.
pub(crate) struct Outputs {
    /// One logit for each action, `[A]`.
    pub action_logits: Tensor,
    /// Logits of win, draw and loss, `[B, 3]`.
    pub wdl_logits: Tensor,
    /// Margin in -1..=1, `[B]`.
    pub margin: Tensor,
    /// ln(1 + turns left), any real number, `[B]`.
    pub log_turns: Tensor,
}

impl NetworkConfig {
    /// Refuses sizes of 0 and sizes that no real network has, so that a damaged manifest cannot ask for all memory.
    pub fn check(&self) -> Result<(), ConfigError> {
        let InputSizes { token_features, token_groups, global_features, action_features } = self.inputs;
        let mut sizes = vec![
            ("token_features", token_features, 4096),
            ("token_groups", token_groups, 256),
            ("global_features", global_features, 65_536),
            ("action_features", action_features, 4096),
        ];
        match self.architecture {
            Architecture::TokenMlp { hidden, trunk } => {
                sizes.extend([("hidden", hidden, 4096), ("trunk", trunk, 4096)])
            }
        }
        match sizes.into_iter().find(|&(_, found, most)| !(1..=most).contains(&found)) {
            Some((what, found, most)) => Err(ConfigError { what, found, most }),
            None => Ok(()),
        }
    }
}

impl Network {
    /// A network with random weights, the same for the same seed on every device.
    pub fn new(config: NetworkConfig, seed: i64, device: Device) -> Result<Network, ConfigError> {
        /// Initialisation draws from libtorch's one global generator; this keeps networks made at the same time in
        /// different threads from drawing each other's numbers.
        static GLOBAL_GENERATOR: Mutex<()> = Mutex::new(());
        config.check()?;
        let _exclusive = GLOBAL_GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
        tch::manual_seed(seed);
        let mut net = Network::initialise(config);
        net.store.set_device(device);
        Ok(net)
    }

    fn initialise(config: NetworkConfig) -> Network {
        let store = nn::VarStore::new(Device::Cpu);
        let layers = match config.architecture {
            Architecture::TokenMlp { hidden, trunk } => {
                Layers::TokenMlp(TokenMlp::new(&store.root(), &config.inputs, hidden, trunk))
            }
        };
        Network { config, store, layers }
    }

    /// What it reads and how it is built.
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// Where the weights are.
    pub fn device(&self) -> Device {
        self.store.device()
    }

    /// A network of its own with the same weights; each worker thread needs one.
    pub fn duplicate(&self) -> Result<Network, TchError> {
        let mut copy = Network::initialise(self.config.clone());
        copy.store.set_device(self.device());
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Takes the weights of a network of the same configuration.
    pub fn copy_from(&mut self, other: &Network) -> Result<(), TchError> {
        self.store.copy(&other.store)
    }

    /// Number of trainable weights.
    pub fn weight_count(&self) -> usize {
        self.store.trainable_variables().iter().map(Tensor::numel).sum()
    }

    pub(crate) fn store(&self) -> &nn::VarStore {
        &self.store
    }

    pub(crate) fn inputs(&self, batch: &Batch, table: &mut RunTable) -> Result<Inputs, TchError> {
        if !batch.fits(&self.config) {
            return Err(TchError::Shape("the batch was made for a network of other sizes".into()));
        }
        Inputs::new(batch, table, self.device())
    }

    pub(crate) fn forward(&self, inputs: &Inputs) -> Result<Outputs, TchError> {
        match &self.layers {
            Layers::TokenMlp(layers) => layers.forward(inputs),
        }
    }
}

fn linear(root: &nn::Path, name: &str, inputs: usize, outputs: usize) -> nn::Linear {
    nn::linear(root / name, inputs as i64, outputs as i64, LinearConfig::default())
}

fn layer(linear: &nn::Linear, inputs: &Tensor) -> Result<Tensor, TchError> {
    inputs.f_linear(&linear.ws, linear.bs.as_ref())
}

fn relu_layer(linear: &nn::Linear, inputs: &Tensor) -> Result<Tensor, TchError> {
    layer(linear, inputs)?.f_relu_()
}

/// A GPU if libtorch has one, else the CPU.
pub fn best_device() -> Device {
    Device::cuda_if_available()
}
