//! A pooled multilayer perceptron over tokens.

use super::heads::Heads;
use super::pooling::PooledTrunk;
use super::{InputSizes, Outputs, linear, relu_layer};
use crate::batch::Inputs;
use tch::TchError;
use tch::nn;

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

    pub fn forward(&self, inputs: &Inputs) -> Result<Outputs, TchError> {
        let tokens = relu_layer(&self.token_out, &relu_layer(&self.token_in, &inputs.tokens)?)?;
        let trunk = self.trunk.forward(&tokens, inputs)?;
        self.heads.forward(&trunk, &tokens, inputs)
    }
}
