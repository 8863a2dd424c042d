//! A convolution over hexes.

use std::cmp::Ordering;
use tch::nn::{self, Init};
use tch::{TchError, Tensor};

/// A convolution whose kernel is a hex and its six neighbours.
///
/// The hexes stand on a corner and lie in rows of which the odd ones, counted from 0, are half a hex further east. So the
/// neighbours in the next rows are those of the same column and of the one to the west in even rows, to the east in odd
/// ones: two kernels of 3 x 3, which share their seven weights and have no weight at all in the other two corners.
#[derive(Debug)]
pub(super) struct HexConvolution {
    /// `[outputs, inputs, 7]`: the hex itself, then E, SE, SW, W, NW, NE.
    weight: Tensor,
    /// `[outputs]`
    bias: Tensor,
}

/// A corner of the 3 x 3 kernel that is no neighbour.
const NONE: i64 = 7;
/// Which of the seven weights stands where in the kernel, row after row from the north.
const EVEN_ROWS: [i64; 9] = [5, 6, NONE, 4, 0, 1, 3, 2, NONE];
const ODD_ROWS: [i64; 9] = [NONE, 5, 6, 4, 0, 1, NONE, 3, 2];

impl HexConvolution {
    /// With random weights, `scale` times as large as usual.
    pub fn new(path: nn::Path, inputs: usize, outputs: usize, scale: f64) -> HexConvolution {
        let bound = scale / (7.0 * inputs as f64).sqrt();
        HexConvolution {
            weight: path.var("weight", &[outputs as i64, inputs as i64, 7], Init::Uniform { lo: -bound, up: bound }),
            bias: path.var("bias", &[outputs as i64], Init::Const(0.0)),
        }
    }

    /// From `[B, inputs, rows, columns]` to `[B, outputs, rows, columns]`. Beyond the edges all is 0.
    pub fn forward(&self, planes: &Tensor) -> Result<Tensor, TchError> {
        let (samples, _, rows, columns) = planes.size4()?;
        let padded = planes.f_constant_pad_nd([1, 1, 1, 1])?;
        // The kernel of the even rows goes over every other row, so does that of the odd ones, from one row further on.
        let even = self.convolve(&padded, EVEN_ROWS)?;
        if rows == 1 {
            return Ok(even);
        }
        let odd = self.convolve(&padded.f_narrow(2, 1, rows + 1)?, ODD_ROWS)?;
        let odd = match odd.size()[2].cmp(&even.size()[2]) {
            Ordering::Less => odd.f_constant_pad_nd([0, 0, 0, 1])?,
            _ => odd,
        };
        let outputs = self.bias.size()[0];
        Tensor::f_stack(&[even, odd], 3)?.f_view([samples, outputs, -1, columns])?.f_narrow(2, 0, rows)
    }

    fn convolve(&self, padded: &Tensor, corners: [i64; 9]) -> Result<Tensor, TchError> {
        let (outputs, inputs, _) = self.weight.size3()?;
        let corners = Tensor::f_from_slice(&corners)?.f_to_device(self.weight.device())?;
        let with_none = self.weight.f_constant_pad_nd([0, 1])?;
        let kernel = with_none.f_index_select(2, &corners)?.f_view([outputs, inputs, 3, 3])?;
        padded.f_conv2d(&kernel, Some(&self.bias), [2, 1], [0, 0], [1, 1], 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;
    use dervish_env::dervish::board::{COLUMNS, DIRECTIONS, Hex, ROWS};
    use dervish_env::dervish::scenario::Scenario;
    use std::collections::BTreeMap;
    use tch::{Device, Kind};

    /// A convolution of one plane to one whose weights are 1 to 7, without bias.
    fn counting() -> HexConvolution {
        process::prepare();
        let weight = Tensor::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).view([1, 1, 7]);
        HexConvolution { weight, bias: Tensor::zeros([1], (Kind::Float, Device::Cpu)) }
    }

    /// Where a single 1 at this row and column spreads to, by row and column.
    fn spread(rows: usize, columns: usize, at: (usize, usize)) -> BTreeMap<(usize, usize), f32> {
        let mut plane = vec![0f32; rows * columns];
        plane[at.0 * columns + at.1] = 1.0;
        let plane = Tensor::from_slice(&plane).view([1, 1, rows as i64, columns as i64]);
        let spread = counting().forward(&plane).expect("planes");
        assert_eq!(spread.size(), [1, 1, rows as i64, columns as i64]);
        let values = Vec::<f32>::try_from(spread.reshape([-1])).expect("numbers");
        let cells = values.into_iter().enumerate().filter(|(_, value)| *value != 0.0);
        cells.map(|(cell, value)| ((cell / columns, cell % columns), value)).collect()
    }

    #[test]
    fn a_hex_reaches_itself_and_the_neighbours_that_the_board_gives_it() {
        assert_eq!(DIRECTIONS, ["E", "SE", "SW", "W", "NW", "NE"]);
        let board = &Scenario::builtin("khartoum").expect("a scenario").board;
        let mut inner = [0; 2];
        for (index, cell) in board.cells.iter().enumerate() {
            // Hexes with all six neighbours, a few of each parity: the board gives no others than those of the scenario.
            let hex = Hex(index as u16);
            if cell.neighbours.iter().any(|neighbour| !neighbour.is_some()) || inner[hex.row() % 2] == 5 {
                continue;
            }
            inner[hex.row() % 2] += 1;
            let mut expected = BTreeMap::from([((hex.row(), hex.column()), 1.0)]);
            for (direction, neighbour) in cell.neighbours.iter().enumerate() {
                // What a hex takes from its neighbour to the east, that one gives to the west.
                let taken_from = (direction + 3) % 6;
                expected.insert((neighbour.row(), neighbour.column()), 2.0 + taken_from as f32);
            }
            assert_eq!(spread(ROWS, COLUMNS, (hex.row(), hex.column())), expected, "{hex}");
        }
        assert_eq!(inner, [5, 5]);
    }

    #[test]
    fn nothing_wraps_around_at_the_edges() {
        for (rows, columns) in [(ROWS, COLUMNS), (1, 4), (2, 3), (3, 1), (5, 4)] {
            for row in [0, rows / 2, rows - 1] {
                for column in [0, columns / 2, columns - 1] {
                    let hex = Hex::at(column, row);
                    let near = |&(other_row, other_column): &(usize, usize)| {
                        hex.axial().unsigned_distance_to(Hex::at(other_column, other_row).axial()) <= 1
                    };
                    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
                    let expected: Vec<_> = all.filter(near).collect();
                    let found: Vec<_> = spread(rows, columns, (row, column)).into_keys().collect();
                    assert_eq!(found, expected, "{row} {column} of {rows} x {columns}");
                }
            }
        }
    }
}
