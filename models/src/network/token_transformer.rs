//! Attention among the tokens of a position.

use super::heads::Heads;
use super::{InputSizes, Outputs, layer, linear, relu_layer};
use crate::batch::{Batch, Inputs, RunTable, Sequences};
use tch::nn::{self, Init, LayerNormConfig};
use tch::{Device, TchError, Tensor};

#[derive(Debug)]
pub(super) struct TokenTransformer {
    token_in: nn::Linear,
    /// Added to a token by its group, `[groups, width]`.
    groups: Tensor,
    globals_in: nn::Linear,
    blocks: Vec<Block>,
    norm: nn::LayerNorm,
    heads: Heads,
}

/// Attention and a feed-forward layer, each after its norm and around it (Xiong et al. 2020).
#[derive(Debug)]
struct Block {
    attention_norm: nn::LayerNorm,
    /// Queries, keys and values.
    attention_in: nn::Linear,
    attention_out: nn::Linear,
    forward_norm: nn::LayerNorm,
    forward_in: nn::Linear,
    forward_out: nn::Linear,
    heads: i64,
}

/// Width of the feed-forward layers, in widths of a token.
const FORWARD: usize = 2;

impl TokenTransformer {
    pub fn new(root: &nn::Path, inputs: &InputSizes, width: usize, layers: usize, heads: usize) -> TokenTransformer {
        let usual = Init::Randn { mean: 0.0, stdev: 0.02 };
        TokenTransformer {
            token_in: linear(root, "token_in", inputs.token_features, width),
            groups: root.var("groups", &[inputs.token_groups as i64, width as i64], usual),
            globals_in: linear(root, "globals_in", inputs.global_features, width),
            blocks: (0..layers).map(|index| Block::new(&(root / format!("block_{index}")), width, heads)).collect(),
            norm: layer_norm(root, "norm", width),
            heads: Heads::new(root, inputs, width, width),
        }
    }

    pub fn forward(&self, batch: &Batch, table: &mut RunTable, device: Device) -> Result<Outputs, TchError> {
        let inputs = Inputs::new(batch, device)?;
        let sequences = Sequences::new(batch, table, device)?;
        let groups = self.groups.f_index_select(0, &sequences.token_groups)?;
        let tokens = layer(&self.token_in, &inputs.tokens)?.f_add(&groups)?;
        let globals = layer(&self.globals_in, &inputs.globals)?;
        let width = globals.size()[1];
        let (samples, length) = sequences.rows.size2()?;
        let mut sequence = Tensor::f_cat(&[&globals, &tokens], 0)?
            .f_index_select(0, &sequences.rows.f_view([-1])?)?
            .f_view([samples, length, width])?;
        for block in &self.blocks {
            sequence = block.forward(&sequence, &sequences.is_member)?;
        }
        let sequence = norm(&self.norm, &sequence)?;
        let trunk = sequence.f_select(1, 0)?;
        let tokens = sequence.f_view([-1, width])?.f_index_select(0, &sequences.token_places)?;
        // Back to the rows of the batch, of which the first is "no token".
        let tokens = tokens.f_constant_pad_nd([0, 0, 1, 0])?;
        self.heads.forward(&trunk, &tokens, &inputs)
    }
}

impl Block {
    fn new(path: &nn::Path, width: usize, heads: usize) -> Block {
        Block {
            attention_norm: layer_norm(path, "attention_norm", width),
            attention_in: linear(path, "attention_in", width, 3 * width),
            attention_out: linear(path, "attention_out", width, width),
            forward_norm: layer_norm(path, "forward_norm", width),
            forward_in: linear(path, "forward_in", width, FORWARD * width),
            forward_out: linear(path, "forward_out", FORWARD * width, width),
            heads: heads as i64,
        }
    }

    /// From and to `[B, L, width]`; nobody looks at places where `is_member`, `[B, 1, 1, L]`, is false.
    fn forward(&self, sequence: &Tensor, is_member: &Tensor) -> Result<Tensor, TchError> {
        let (samples, length, width) = sequence.size3()?;
        let joint = layer(&self.attention_in, &norm(&self.attention_norm, sequence)?)?;
        let joint = joint.f_view([samples, length, 3, self.heads, width / self.heads])?.f_permute([2, 0, 3, 1, 4])?;
        let [query, key, value] = [joint.f_select(0, 0)?, joint.f_select(0, 1)?, joint.f_select(0, 2)?];
        let seen =
            Tensor::f_scaled_dot_product_attention(&query, &key, &value, Some(is_member), 0.0, false, None, false)?;
        let seen = seen.f_transpose(1, 2)?.f_reshape([samples, length, width])?;
        let sequence = sequence.f_add(&layer(&self.attention_out, &seen)?)?;
        let forward = relu_layer(&self.forward_in, &norm(&self.forward_norm, &sequence)?)?;
        sequence.f_add(&layer(&self.forward_out, &forward)?)
    }
}

fn layer_norm(path: &nn::Path, name: &str, width: usize) -> nn::LayerNorm {
    nn::layer_norm(path / name, vec![width as i64], LayerNormConfig::default())
}

fn norm(norm: &nn::LayerNorm, inputs: &Tensor) -> Result<Tensor, TchError> {
    let width = inputs.size().last().copied().unwrap_or_default();
    inputs.f_layer_norm(width, norm.ws.as_ref(), norm.bs.as_ref(), 1e-5, true)
}
