//! A batch divided by the seats that look at its samples.

use super::{Batch, TOKENS_PER_ACTION};
use std::ops::Range;

/// The samples of a batch that one seat looks at.
pub(crate) struct SeatPart {
    /// They alone.
    pub batch: Batch,
    /// Which samples of the whole batch they are.
    pub samples: Vec<usize>,
    /// Which actions of the whole batch theirs are.
    pub actions: Vec<usize>,
}

impl Batch {
    /// The samples of the first and of the second seat, in their order.
    pub(crate) fn by_seat(&self) -> [SeatPart; 2] {
        let part = || SeatPart { batch: self.empty_like(), samples: Vec::new(), actions: Vec::new() };
        let mut parts = [part(), part()];
        for (sample, tokens) in self.token_ranges().enumerate() {
            let SeatPart { batch, samples, actions } = &mut parts[usize::from(self.second_seats[sample])];
            samples.push(sample);
            actions.extend(self.action_starts[sample]..self.action_starts[sample + 1]);
            batch.copy_sample(self, sample, tokens);
        }
        parts
    }

    /// Appends a sample of another batch, whose tokens are these, its first row not counted.
    fn copy_sample(&mut self, other: &Batch, sample: usize, tokens: Range<usize>) {
        let (sizes, index) = (&other.sizes, self.len());
        let moved = |from: usize, first: usize, to: usize| from - first + to;
        let (first_row, row) = (tokens.start + 1, self.tokens.len() / sizes.token_features);
        let (first_pool, pool) = (sample * sizes.token_groups, index * sizes.token_groups);
        self.second_seats.push(other.second_seats[sample]);
        let globals = sample * sizes.global_features..(sample + 1) * sizes.global_features;
        self.globals.extend_from_slice(&other.globals[globals]);
        let features = first_row * sizes.token_features..(tokens.end + 1) * sizes.token_features;
        self.tokens.extend_from_slice(&other.tokens[features]);
        let pools = other.token_pools[tokens.clone()].iter();
        self.token_pools.extend(pools.map(|&of| moved(of as usize, first_pool, pool) as u32));
        self.pool_sizes.extend_from_slice(&other.pool_sizes[first_pool..first_pool + sizes.token_groups]);
        if other.reads_planes {
            let (cells, rows) = (other.cells(), first_row..tokens.end + 1);
            let planes = sizes.planes.iter().product::<usize>();
            self.planes.extend_from_slice(&other.planes[sample * planes..(sample + 1) * planes]);
            let on_board = &other.on_board[rows.clone()];
            let places = other.token_cells[rows].iter().zip(on_board);
            let moved = |(&cell, &on): (&i64, &f32)| match on > 0.0 {
                true => moved(cell as usize, sample * cells, index * cells) as i64,
                false => 0,
            };
            self.token_cells.extend(places.map(moved));
            self.on_board.extend_from_slice(on_board);
        }
        let actions = other.action_starts[sample]..other.action_starts[sample + 1];
        let features = actions.start * sizes.action_features..actions.end * sizes.action_features;
        self.actions.extend_from_slice(&other.actions[features]);
        let named = &other.action_rows[actions.start * TOKENS_PER_ACTION..actions.end * TOKENS_PER_ACTION];
        let moved = |&of: &i64| if of > 0 { moved(of as usize, first_row, row) as i64 } else { 0 };
        self.action_rows.extend(named.iter().map(moved));
        self.action_samples.resize(self.action_samples.len() + actions.len(), index as i64);
        self.action_starts.push(self.action_samples.len());
    }
}
