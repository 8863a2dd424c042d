//! The network: one type for every architecture.

use crate::batch::{Batch, RunTable};
use crate::device::Precision;
use hex_planes::HexPlanes;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use tch::nn::{self, LinearConfig};
use tch::{Device, Kind, TchError, Tensor};
use token_mlp::TokenMlp;
use token_transformer::TokenTransformer;

pub(crate) use heads::VALUES;

mod by_seat;
mod heads;
mod hex_convolution;
mod hex_planes;
mod pooling;
mod token_mlp;
mod token_transformer;

/// A network that judges positions and scores their legal actions.
///
/// No size depends on a map, a scenario or the number of actions. The policy is pointer-like (Vinyals et al. 2015): a legal
/// action's logit comes from its own features, the position and the embeddings of the tokens that it names.
#[derive(Debug)]
pub struct Network {
    config: NetworkConfig,
    store: nn::VarStore,
    /// One for both seats, or one for each.
    layers: Vec<Layers>,
}

/// What a network reads and how it is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Sizes of a sample.
    pub inputs: InputSizes,
    /// Layers between inputs and outputs.
    pub architecture: Architecture,
    /// Whether each seat has layers of its own: two networks of this architecture in one, each of which learns and judges what
    /// its seat sees.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_seat: bool,
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
    /// Channels, rows and columns of the planes; zeros where there are none.
    pub planes: [usize; 3],
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
    /// The tokens, each with what its group has learnt to add, and one token for the globals attend to each other (Vaswani
    /// et al. 2017). The values are read from the token of the globals.
    TokenTransformer {
        /// Width of a token between the layers, a multiple of `heads`.
        width: usize,
        /// Layers of attention.
        layers: usize,
        /// Heads of each layer.
        heads: usize,
    },
    /// A tower of residual convolutions (He et al. 2016) over the planes of a map of hexes, each over a hex and its six
    /// neighbours. What it says of a token's cell joins the token; the rest is as in the token MLP. Odd rows of the planes,
    /// counted from 0, lie half a hex further east. Tokens that are in no cell see nothing of the planes.
    /// It takes a hundred times as long as the token MLP on a CPU: it is made for a GPU.
    HexPlanes {
        /// Channels of the tower.
        channels: usize,
        /// Blocks of two convolutions, after a first convolution.
        blocks: usize,
        /// Width of the token and action layers.
        hidden: usize,
        /// Width of the trunk.
        trunk: usize,
    },
}

/// A network that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A size is out of range.
    #[error("{what} is {found}, not in 1..={most}")]
    Size {
        /// Which size.
        what: &'static str,
        /// Its value.
        found: usize,
        /// The largest value that it may have.
        most: usize,
    },
    /// The heads of a transformer cannot share its width evenly.
    #[error("a width of {width} cannot be shared evenly by {heads} heads")]
    Heads {
        /// Width of a token.
        width: usize,
        /// Number of heads.
        heads: usize,
    },
}

#[derive(Debug)]
enum Layers {
    TokenMlp(TokenMlp),
    TokenTransformer(TokenTransformer),
    HexPlanes(HexPlanes),
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

impl Architecture {
    /// Whether the network reads planes: samples then need them and the cells of their tokens.
    pub fn reads_planes(&self) -> bool {
        matches!(self, Architecture::HexPlanes { .. })
    }
}

impl NetworkConfig {
    /// Refuses sizes of 0 and sizes that no real network has, so that a damaged manifest cannot ask for all memory.
    pub fn check(&self) -> Result<(), ConfigError> {
        const WIDEST: usize = 4096;
        const DEEPEST: usize = 256;
        let InputSizes { token_features, token_groups, global_features, action_features, planes } = self.inputs;
        let mut sizes = vec![
            ("token_features", token_features, WIDEST),
            ("token_groups", token_groups, 256),
            ("global_features", global_features, 65_536),
            ("action_features", action_features, WIDEST),
        ];
        match self.architecture {
            Architecture::TokenMlp { hidden, trunk } => {
                sizes.extend([("hidden", hidden, WIDEST), ("trunk", trunk, WIDEST)]);
            }
            Architecture::TokenTransformer { width, layers, heads } => {
                sizes.extend([("width", width, WIDEST), ("layers", layers, DEEPEST), ("heads", heads, WIDEST)]);
            }
            Architecture::HexPlanes { channels, blocks, hidden, trunk } => sizes.extend([
                ("channels of the planes", planes[0], WIDEST),
                ("rows of the planes", planes[1], 1024),
                ("columns of the planes", planes[2], 1024),
                ("channels", channels, WIDEST),
                ("blocks", blocks, DEEPEST),
                ("hidden", hidden, WIDEST),
                ("trunk", trunk, WIDEST),
            ]),
        }
        if let Some((what, found, most)) = sizes.into_iter().find(|&(_, found, most)| !(1..=most).contains(&found)) {
            return Err(ConfigError::Size { what, found, most });
        }
        match self.architecture {
            Architecture::TokenTransformer { width, heads, .. } if width % heads > 0 => {
                Err(ConfigError::Heads { width, heads })
            }
            _ => Ok(()),
        }
    }
}

impl Network {
    /// A network with random weights, the same for the same seed on every device.
    pub fn new(config: NetworkConfig, seed: i64, device: Device) -> Result<Network, ConfigError> {
        config.check()?;
        let mut net = Network::initialise(config, seed);
        net.store.set_device(device);
        Ok(net)
    }

    fn initialise(config: NetworkConfig, seed: i64) -> Network {
        /// Initialisation draws from libtorch's one global generator; this keeps networks made at the same time in
        /// different threads, copies among them, from drawing each other's numbers.
        static GLOBAL_GENERATOR: Mutex<()> = Mutex::new(());
        let _exclusive = GLOBAL_GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
        tch::manual_seed(seed);
        let store = nn::VarStore::new(Device::Cpu);
        let root = store.root();
        let layers = match config.by_seat {
            true => SEATS.iter().map(|seat| Layers::new(&(&root / *seat), &config)).collect(),
            false => vec![Layers::new(&root, &config)],
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
        let mut copy = Network::initialise(self.config.clone(), 0);
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

    /// What the names of its weights begin with: one beginning, or one for each seat.
    pub(crate) fn prefixes(&self) -> Vec<String> {
        match self.config.by_seat {
            true => SEATS.iter().map(|seat| format!("{seat}.")).collect(),
            false => vec![String::new()],
        }
    }

    pub(crate) fn store(&self) -> &nn::VarStore {
        &self.store
    }

    /// Refuses a batch that was made for a network of another configuration.
    pub(crate) fn check_fit(&self, batch: &Batch) -> Result<(), TchError> {
        match batch.fits(&self.config) {
            true => Ok(()),
            false => Err(TchError::Shape("the batch was made for a network of other sizes".into())),
        }
    }

    /// What the network says, in `f32`, of a batch that was made for its configuration.
    pub(crate) fn forward(
        &self,
        batch: &Batch,
        table: &mut RunTable,
        precision: Precision,
    ) -> Result<Outputs, TchError> {
        self.check_fit(batch)?;
        if !precision.is_mixed_on(self.device()) {
            return self.forward_layers(batch, table);
        }
        let outputs = tch::autocast(true, || self.forward_layers(batch, table))?;
        let full = |tensor: Tensor| tensor.f_to_kind(Kind::Float);
        Ok(Outputs {
            action_logits: full(outputs.action_logits)?,
            wdl_logits: full(outputs.wdl_logits)?,
            margin: full(outputs.margin)?,
            log_turns: full(outputs.log_turns)?,
        })
    }

    fn forward_layers(&self, batch: &Batch, table: &mut RunTable) -> Result<Outputs, TchError> {
        match &self.layers[..] {
            [shared] => shared.forward(batch, table, self.device()),
            own => by_seat::forward(own, batch, table, self.device()),
        }
    }
}

/// What the weights of each seat are called, where they are two.
const SEATS: [&str; 2] = ["first", "second"];

impl Layers {
    fn new(root: &nn::Path, config: &NetworkConfig) -> Layers {
        let inputs = &config.inputs;
        match config.architecture {
            Architecture::TokenMlp { hidden, trunk } => Layers::TokenMlp(TokenMlp::new(root, inputs, hidden, trunk)),
            Architecture::TokenTransformer { width, layers, heads } => {
                Layers::TokenTransformer(TokenTransformer::new(root, inputs, width, layers, heads))
            }
            Architecture::HexPlanes { channels, blocks, hidden, trunk } => {
                Layers::HexPlanes(HexPlanes::new(root, inputs, [channels, blocks], [hidden, trunk]))
            }
        }
    }

    fn forward(&self, batch: &Batch, table: &mut RunTable, device: Device) -> Result<Outputs, TchError> {
        match self {
            Layers::TokenMlp(layers) => layers.forward(batch, table, device),
            Layers::TokenTransformer(layers) => layers.forward(batch, table, device),
            Layers::HexPlanes(layers) => layers.forward(batch, table, device),
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
