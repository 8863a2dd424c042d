//! From the embeddings of all tokens to one vector for each sample.

use super::{InputSizes, linear, relu_layer};
use crate::batch::{Batch, Inputs, Pools, RunTable};
use tch::nn;
use tch::{TchError, Tensor};

/// Mean and maximum of each group's tokens, joined with the globals, through two layers.
#[derive(Debug)]
pub(super) struct PooledTrunk {
    trunk_in: nn::Linear,
    trunk_out: nn::Linear,
}

impl PooledTrunk {
    /// For tokens of width `hidden`.
    pub fn new(root: &nn::Path, inputs: &InputSizes, hidden: usize, trunk: usize) -> PooledTrunk {
        PooledTrunk {
            trunk_in: linear(root, "trunk_in", 2 * inputs.token_groups * hidden + inputs.global_features, trunk),
            trunk_out: linear(root, "trunk_out", trunk, trunk),
        }
    }

    /// From the embeddings `[1 + T, hidden]` of the tokens of `batch` to `[B, trunk]`.
    pub fn forward(
        &self,
        tokens: &Tensor,
        inputs: &Inputs,
        batch: &Batch,
        table: &mut RunTable,
    ) -> Result<Tensor, TchError> {
        let Pools { rows, weights } = Pools::new(batch, table, tokens.device())?;
        let samples = inputs.globals.size()[0];
        let hidden = tokens.size()[1];
        let (pools, longest) = rows.size2()?;
        let members = tokens.f_index_select(0, &rows.f_view([-1])?)?.f_view([pools, longest, hidden])?;
        let mean = weights.f_bmm(&members)?.f_view([samples, -1])?;
        let max = members.f_amax([1].as_slice(), false)?.f_view([samples, -1])?;
        let joined = Tensor::f_cat(&[&mean, &max, &inputs.globals], 1)?;
        relu_layer(&self.trunk_out, &relu_layer(&self.trunk_in, &joined)?)
    }
}
