//! A pooled multilayer perceptron over tokens.

use super::heads::Heads;
use super::pooling::PooledTrunk;
use super::{InputSizes, Outputs, linear, relu_layer};
use crate::batch::{Batch, Inputs, RunTable};
use tch::nn;
use tch::{Device, TchError};

#[derive(Debug)]
pub(super) struct TokenMlp {
    token_in: nn::Linear,
    token_out: nn::Linear,
    trunk: PooledTrunk,
    heads: Heads,
}

impl TokenMlp {
    pub fn new(root: &nn::Path, inputs: &InputSizes, hidden: usize, trunk: usize) -> TokenMlp {
        TokenMlp {
            token_in: linear(root, "token_in", inputs.token_features, hidden),
            token_out: linear(root, "token_out", hidden, hidden),
            trunk: PooledTrunk::new(root, inputs, hidden, trunk),
            heads: Heads::new(root, inputs, hidden, trunk),
        }
    }

    pub fn forward(&self, batch: &Batch, table: &mut RunTable, device: Device) -> Result<Outputs, TchError> {
        let inputs = Inputs::new(batch, device)?;
        let tokens = relu_layer(&self.token_out, &relu_layer(&self.token_in, &inputs.tokens)?)?;
        let trunk = self.trunk.forward(&tokens, &inputs, batch, table)?;
        self.heads.forward(&trunk, &tokens, &inputs)
    }
}
