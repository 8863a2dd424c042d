//! What every architecture ends in: values of the position and a logit for each legal action.

use super::{InputSizes, Outputs, layer, linear};
use crate::batch::{Inputs, TOKENS_PER_ACTION};
use tch::nn::{self, Init, LinearConfig};
use tch::{TchError, Tensor};

/// Outputs of the value layer: logits of win, draw and loss, the margin before its tanh, and ln(1 + turns left).
pub(crate) const VALUES: usize = 5;

#[derive(Debug)]
pub(super) struct Heads {
    /// [`VALUES`] outputs.
    value: nn::Linear,
    /// The next three are one layer, in parts: what is the same for all actions of a sample is computed once.
    action_features: nn::Linear,
    action_trunk: nn::Linear,
    action_tokens: nn::Linear,
    action_logit: nn::Linear,
}

impl Heads {
    /// For tokens of width `hidden` and a position of width `trunk`.
    pub fn new(root: &nn::Path, inputs: &InputSizes, hidden: usize, trunk: usize) -> Heads {
        let with = |name: &str, inputs: usize, outputs: usize, layer: LinearConfig| {
            nn::linear(root / name, inputs as i64, outputs as i64, layer)
        };
        let without_bias = LinearConfig { bias: false, ..LinearConfig::default() };
        // The first policy is nearly uniform and the first values nearly even; exactly zero would stop the gradient.
        let near_zero = LinearConfig {
            ws_init: Init::Uniform { lo: -0.01, up: 0.01 },
            bs_init: Some(Init::Const(0.0)),
            bias: true,
        };
        Heads {
            value: with("value", trunk, VALUES, near_zero),
            action_features: linear(root, "action_features", inputs.action_features, hidden),
            action_trunk: with("action_trunk", trunk, hidden, without_bias),
            action_tokens: with("action_tokens", TOKENS_PER_ACTION * hidden, hidden, without_bias),
            action_logit: with("action_logit", hidden, 1, near_zero),
        }
    }

    /// From the positions `[B, trunk]` and the tokens `[1 + T, hidden]`.
    pub fn forward(&self, trunk: &Tensor, tokens: &Tensor, inputs: &Inputs) -> Result<Outputs, TchError> {
        let value = layer(&self.value, trunk)?;
        let actions = inputs.actions.size()[0];
        let width = TOKENS_PER_ACTION as i64 * tokens.size()[1];
        let named = tokens.f_index_select(0, &inputs.action_rows)?.f_view([actions, width])?;
        let context = layer(&self.action_trunk, trunk)?.f_index_select(0, &inputs.action_samples)?;
        let scored = layer(&self.action_features, &inputs.actions)?
            .f_add_(&context)?
            .f_add_(&layer(&self.action_tokens, &named)?)?
            .f_relu_()?;
        Ok(Outputs {
            action_logits: layer(&self.action_logit, &scored)?.f_view([actions])?,
            wdl_logits: value.f_narrow(1, 0, 3)?,
            margin: value.f_select(1, 3)?.f_tanh()?,
            log_turns: value.f_select(1, 4)?,
        })
    }
}
