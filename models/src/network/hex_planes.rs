//! Planes over a map of hexes, and the tokens that stand on it.

use super::heads::Heads;
use super::hex_convolution::HexConvolution;
use super::pooling::PooledTrunk;
use super::{InputSizes, Outputs, layer, linear, relu_layer};
use crate::batch::{Batch, CellInputs, Inputs, RunTable};
use tch::nn::{self, LinearConfig};
use tch::{Device, TchError, Tensor};

#[derive(Debug)]
pub(super) struct HexPlanes {
    stem: HexConvolution,
    blocks: Vec<[HexConvolution; 2]>,
    /// The first token layer, in two parts: what the token says of itself, and what the tower says of its cell.
    token_in: nn::Linear,
    cell_in: nn::Linear,
    token_out: nn::Linear,
    trunk: PooledTrunk,
    heads: Heads,
}

/// The second convolution of a block begins small: then a deep tower passes on at first what it is shown, and needs no
/// normalisation.
const BLOCK_END_SCALE: f64 = 0.1;

impl HexPlanes {
    /// A tower of `channels` channels and `blocks` residual blocks.
    pub fn new(
        root: &nn::Path,
        inputs: &InputSizes,
        [channels, blocks]: [usize; 2],
        [hidden, trunk]: [usize; 2],
    ) -> HexPlanes {
        let block = |index: usize| {
            let path = root / format!("block_{index}");
            [("in", 1.0), ("out", BLOCK_END_SCALE)]
                .map(|(name, scale)| HexConvolution::new(&path / name, channels, channels, scale))
        };
        let without_bias = LinearConfig { bias: false, ..LinearConfig::default() };
        HexPlanes {
            stem: HexConvolution::new(root / "stem", inputs.planes[0], channels, 1.0),
            blocks: (0..blocks).map(block).collect(),
            token_in: linear(root, "token_in", inputs.token_features, hidden),
            cell_in: nn::linear(root / "cell_in", channels as i64, hidden as i64, without_bias),
            token_out: linear(root, "token_out", hidden, hidden),
            trunk: PooledTrunk::new(root, inputs, hidden, trunk),
            heads: Heads::new(root, inputs, hidden, trunk),
        }
    }

    pub fn forward(&self, batch: &Batch, table: &mut RunTable, device: Device) -> Result<Outputs, TchError> {
        let inputs = Inputs::new(batch, device)?;
        let cells = CellInputs::new(batch, device)?;
        let seen = self.cells(&cells)?;
        let tokens = layer(&self.token_in, &inputs.tokens)?.f_add(&layer(&self.cell_in, &seen)?)?.f_relu()?;
        let tokens = relu_layer(&self.token_out, &tokens)?;
        let trunk = self.trunk.forward(&tokens, &inputs, batch, table)?;
        self.heads.forward(&trunk, &tokens, &inputs)
    }

    /// What the tower says of the cell of each token, 0 for those that stand nowhere, `[1 + T, channels]`.
    fn cells(&self, cells: &CellInputs) -> Result<Tensor, TchError> {
        let mut tower = self.stem.forward(&cells.planes)?.f_relu()?;
        for [first, second] in &self.blocks {
            let change = second.forward(&first.forward(&tower)?.f_relu()?)?;
            tower = tower.f_add(&change)?.f_relu()?;
        }
        let channels = tower.size()[1];
        let by_cell = tower.f_permute([0, 2, 3, 1])?.f_reshape([-1, channels])?;
        by_cell.f_index_select(0, &cells.token_cells)?.f_mul(&cells.on_board)
    }
}
