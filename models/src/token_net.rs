//! A pooled multilayer perceptron over tokens that scores each legal action.

use crate::batch::{Batch, Inputs, RunTable, TOKENS_PER_ACTION};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use tch::nn::{self, Init, LinearConfig};
use tch::{Device, TchError, Tensor};

/// The network.
///
/// Every token goes through the same two layers. The tokens of each group of a sample (own, enemy ...) are pooled by mean and
/// by maximum ("Deep Sets", Zaheer et al. 2017) and joined with the globals in a two-layer trunk, from which the values are
/// read. The policy is pointer-like (Vinyals et al. 2015): a legal action's logit comes from its own features, the trunk
/// and the embeddings of the tokens that it names. No size depends on a map, a scenario or the number of actions.
#[derive(Debug)]
pub struct TokenNet {
    config: TokenNetConfig,
    store: nn::VarStore,
    layers: Layers,
}

/// The sizes of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenNetConfig {
    /// Features of a token.
    pub token_features: usize,
    /// Groups in which tokens are pooled, at most 256.
    pub token_groups: usize,
    /// Features of the whole position.
    pub global_features: usize,
    /// Features of a legal action.
    pub action_features: usize,
    /// Width of the token and action layers; 64 suits a CPU.
    pub hidden: usize,
    /// Width of the trunk; 128 suits a CPU.
    pub trunk: usize,
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

/// Raw outputs for B samples with A actions in all.
pub(crate) struct Outputs {
    /// One logit for each action, `[A]`.
    pub action_logits: Tensor,
    /// Logits of win, draw and loss, `[B, 3]`.
    pub wdl_logits: Tensor,
    /// Margin in -1..=1, `[B]`.
    pub margin: Tensor,
}

impl TokenNetConfig {
    /// Refuses sizes of 0 and sizes that no real network has, so that a damaged manifest cannot ask for all memory.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (what, found, most) in [
            ("token_features", self.token_features, 4096),
            ("token_groups", self.token_groups, 256),
            ("global_features", self.global_features, 65_536),
            ("action_features", self.action_features, 4096),
            ("hidden", self.hidden, 4096),
            ("trunk", self.trunk, 4096),
        ] {
            if !(1..=most).contains(&found) {
                return Err(ConfigError { what, found, most });
            }
        }
        Ok(())
    }
}

impl TokenNet {
    /// A network with random weights, the same for the same seed on every device.
    pub fn new(config: TokenNetConfig, seed: i64, device: Device) -> Result<TokenNet, ConfigError> {
        /// Initialisation draws from libtorch's one global generator; this keeps networks made at the same time in
        /// different threads from drawing each other's numbers.
        static GLOBAL_GENERATOR: Mutex<()> = Mutex::new(());
        config.check()?;
        let _exclusive = GLOBAL_GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
        tch::manual_seed(seed);
        let mut net = TokenNet::initialise(config);
        net.store.set_device(device);
        Ok(net)
    }

    fn initialise(config: TokenNetConfig) -> TokenNet {
        let store = nn::VarStore::new(Device::Cpu);
        let layers = Layers::new(&store.root(), &config);
        TokenNet { config, store, layers }
    }

    /// The sizes.
    pub fn config(&self) -> &TokenNetConfig {
        &self.config
    }

    /// Where the weights are.
    pub fn device(&self) -> Device {
        self.store.device()
    }

    /// A network of its own with the same weights; each worker thread needs one.
    pub fn duplicate(&self) -> Result<TokenNet, TchError> {
        let mut copy = TokenNet::initialise(self.config.clone());
        copy.store.set_device(self.device());
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Takes the weights of a network of the same sizes.
    pub fn copy_from(&mut self, other: &TokenNet) -> Result<(), TchError> {
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
        self.layers.forward(inputs)
    }
}

#[derive(Debug)]
struct Layers {
    token_in: nn::Linear,
    token_out: nn::Linear,
    trunk_in: nn::Linear,
    trunk_out: nn::Linear,
    /// Logits of win, draw and loss, and the margin before its tanh.
    value: nn::Linear,
    /// The next three are one layer, in parts: what is the same for all actions of a sample is computed once.
    action_features: nn::Linear,
    action_trunk: nn::Linear,
    action_tokens: nn::Linear,
    action_logit: nn::Linear,
}

impl Layers {
    fn new(root: &nn::Path, config: &TokenNetConfig) -> Layers {
        let (hidden, trunk) = (config.hidden, config.trunk);
        let linear = |name: &str, inputs: usize, outputs: usize, layer: LinearConfig| {
            nn::linear(root / name, inputs as i64, outputs as i64, layer)
        };
        let usual = LinearConfig::default();
        let without_bias = LinearConfig { bias: false, ..usual };
        // The first policy is nearly uniform and the first values nearly even; exactly zero would stop the gradient.
        let near_zero = LinearConfig {
            ws_init: Init::Uniform { lo: -0.01, up: 0.01 },
            bs_init: Some(Init::Const(0.0)),
            bias: true,
        };
        Layers {
            token_in: linear("token_in", config.token_features, hidden, usual),
            token_out: linear("token_out", hidden, hidden, usual),
            trunk_in: linear("trunk_in", 2 * config.token_groups * hidden + config.global_features, trunk, usual),
            trunk_out: linear("trunk_out", trunk, trunk, usual),
            value: linear("value", trunk, 4, near_zero),
            action_features: linear("action_features", config.action_features, hidden, usual),
            action_trunk: linear("action_trunk", trunk, hidden, without_bias),
            action_tokens: linear("action_tokens", TOKENS_PER_ACTION * hidden, hidden, without_bias),
            action_logit: linear("action_logit", hidden, 1, near_zero),
        }
    }

    fn forward(&self, inputs: &Inputs) -> Result<Outputs, TchError> {
        let samples = inputs.globals.size()[0];
        let actions = inputs.actions.size()[0];
        let tokens = relu_layer(&self.token_out, &relu_layer(&self.token_in, &inputs.tokens)?)?;
        let hidden = tokens.size()[1];

        let (pools, longest) = inputs.pool_rows.size2()?;
        let members = tokens.f_index_select(0, &inputs.pool_rows.f_view([-1])?)?.f_view([pools, longest, hidden])?;
        let mean = inputs.pool_weights.f_bmm(&members)?.f_view([samples, -1])?;
        let max = members.f_amax([1].as_slice(), false)?.f_view([samples, -1])?;

        let trunk = relu_layer(&self.trunk_in, &Tensor::f_cat(&[&mean, &max, &inputs.globals], 1)?)?;
        let trunk = relu_layer(&self.trunk_out, &trunk)?;
        let value = layer(&self.value, &trunk)?;

        let named =
            tokens.f_index_select(0, &inputs.action_rows)?.f_view([actions, TOKENS_PER_ACTION as i64 * hidden])?;
        let context = layer(&self.action_trunk, &trunk)?.f_index_select(0, &inputs.action_samples)?;
        let scored = layer(&self.action_features, &inputs.actions)?
            .f_add_(&context)?
            .f_addmm_(&named, &self.action_tokens.ws.f_tr()?)?
            .f_relu_()?;
        Ok(Outputs {
            action_logits: layer(&self.action_logit, &scored)?.f_view([actions])?,
            wdl_logits: value.f_narrow(1, 0, 3)?,
            margin: value.f_select(1, 3)?.f_tanh()?,
        })
    }
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
