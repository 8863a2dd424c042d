//! Planes that are written again and again, of which only what changes is touched.

/// The planes `[channels, rows, columns]` of one observation while an encoder writes them.
///
/// Of hundreds of thousands of cells a position fills some hundreds, and what the board itself shows is the same in all
/// positions. So what was written is noted and wiped before the next position, and the rest is left alone.
#[derive(Debug)]
pub struct PlaneWriter<'a> {
    values: &'a mut [f32],
    rows: usize,
    columns: usize,
    trace: &'a mut PlaneTrace,
}

/// What was written into planes that are zero elsewhere. The planes that it belongs to change through
/// [`PlaneWriter`] alone.
#[derive(Clone, Debug, Default)]
pub struct PlaneTrace {
    ground: Option<usize>,
    written: Vec<u32>,
}

impl<'a> PlaneWriter<'a> {
    /// Wipes the planes `values`, which have `rows` and `columns`, for the next position. A new trace belongs to planes
    /// that are all zero.
    pub fn wipe(values: &'a mut [f32], rows: usize, columns: usize, trace: &'a mut PlaneTrace) -> PlaneWriter<'a> {
        for cell in trace.written.drain(..) {
            values[cell as usize] = 0.0;
        }
        PlaneWriter { values, rows, columns, trace }
    }

    /// Lays down `ground`, the first planes, which are the same in all positions that have this `key`. Nothing is added
    /// to them.
    pub fn lay(&mut self, key: usize, ground: &[f32]) {
        if self.trace.ground != Some(key) {
            self.values[..ground.len()].copy_from_slice(ground);
            self.trace.ground = Some(key);
        }
    }

    /// Adds to a cell.
    ///
    /// # Panics
    /// Like indexing, outside the planes; so does [`PlaneWriter::set`].
    #[inline]
    pub fn add(&mut self, channel: usize, row: usize, column: usize, value: f32) {
        *self.cell(channel, row, column) += value;
    }

    /// Sets a cell.
    #[inline]
    pub fn set(&mut self, channel: usize, row: usize, column: usize, value: f32) {
        *self.cell(channel, row, column) = value;
    }

    #[inline]
    fn cell(&mut self, channel: usize, row: usize, column: usize) -> &mut f32 {
        let cell = (channel * self.rows + row) * self.columns + column;
        self.trace.written.push(cell as u32);
        &mut self.values[cell]
    }
}
