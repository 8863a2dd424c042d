//! The samples of a batch one by one.

use super::{Batch, TOKENS_PER_ACTION};
use std::ops::Range;

/// A sample as it lies in a batch, with T tokens and A legal actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSample<'b> {
    /// Whether it is the second seat's view.
    pub second_seat: bool,
    /// `[global_features]`
    pub globals: &'b [f32],
    /// `[T, token_features]`
    pub tokens: &'b [f32],
    /// `[A, action_features]`
    pub actions: &'b [f32],
    pools: &'b [u32],
    first_pool: u32,
    rows: &'b [i64],
    /// Row of its first token.
    first_row: i64,
}

impl<'b> BatchSample<'b> {
    /// The group of each token.
    pub fn groups(&self) -> impl Iterator<Item = usize> + use<'b> {
        let first_pool = self.first_pool;
        self.pools.iter().map(move |pool| (pool - first_pool) as usize)
    }

    /// For each legal action the tokens that it names: 0 for none, else one more than the token's index in the sample.
    pub fn named(&self) -> impl Iterator<Item = [usize; TOKENS_PER_ACTION]> + use<'b> {
        let before = self.first_row - 1;
        let row = move |row: i64| if row > 0 { (row - before) as usize } else { 0 };
        self.rows.as_chunks::<TOKENS_PER_ACTION>().0.iter().map(move |rows| rows.map(row))
    }
}

impl Batch {
    /// All samples in their order.
    pub(crate) fn samples(&self) -> impl Iterator<Item = BatchSample<'_>> {
        let sizes = &self.sizes;
        self.token_ranges().enumerate().map(|(sample, tokens)| {
            let first_row = tokens.start + 1;
            let actions = self.action_starts[sample]..self.action_starts[sample + 1];
            BatchSample {
                second_seat: self.second_seats[sample],
                globals: rows(&self.globals, sizes.global_features, sample..sample + 1),
                tokens: rows(&self.tokens, sizes.token_features, first_row..tokens.end + 1),
                actions: rows(&self.actions, sizes.action_features, actions.clone()),
                pools: &self.token_pools[tokens],
                first_pool: (sample * sizes.token_groups) as u32,
                rows: rows(&self.action_rows, TOKENS_PER_ACTION, actions),
                first_row: first_row as i64,
            }
        })
    }

    /// Which tokens each sample has, the first row not counted.
    pub(super) fn token_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let counts = self.pool_sizes.chunks_exact(self.sizes.token_groups).map(|pools| pools.iter().sum::<u32>());
        counts.scan(0, |first, count| {
            let tokens = *first..*first + count as usize;
            *first = tokens.end;
            Some(tokens)
        })
    }
}

fn rows<T>(values: &[T], width: usize, rows: Range<usize>) -> &[T] {
    &values[rows.start * width..rows.end * width]
}
