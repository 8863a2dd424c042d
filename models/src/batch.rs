//! Samples of different sizes flattened into one batch.

use crate::network::{InputSizes, NetworkConfig};

pub(crate) use samples::BatchSample;
pub use targets::{Played, Target, TrainingBatch};
pub(crate) use tensors::{CellInputs, Inputs, PlayedTargets, Pools, RunTable, Sequences, Targets};

mod samples;
mod seats;
mod targets;
mod tensors;

/// How many tokens a legal action can name.
pub const TOKENS_PER_ACTION: usize = 2;

/// One encoded position: plain slices, row-major. With T tokens and A legal actions:
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Whether it is the second seat's view; only a network with layers of its own for each seat asks.
    pub second_seat: bool,
    /// Facts of the whole position, `[global_features]`.
    pub globals: &'a [f32],
    /// Features of each token, `[T, token_features]`; T may be 0.
    pub tokens: &'a [f32],
    /// The group of each token, `[T]`, each below `token_groups`.
    pub groups: &'a [u8],
    /// Planes over the board, `[channels, rows, columns]`. Only looked at for a network that reads planes, and so are the
    /// cells.
    pub planes: &'a [f32],
    /// The cell of each token, `[T]`: row * columns + column, `None` for a token that is in no cell.
    pub cells: &'a [Option<u32>],
    /// Features of each legal action, `[A, action_features]`, in the order of the legal actions; A may be 0.
    pub actions: &'a [f32],
    /// The tokens of this sample that each legal action names, `[A]`: indices below T.
    pub action_tokens: &'a [[Option<u32>; TOKENS_PER_ACTION]],
}

/// Why a sample was refused; the batch is as it was before.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// A slice is not as long as the configuration and the other slices ask.
    #[error("{what} has {found} values, not {expected}")]
    Length {
        /// Which slice.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length that it should have.
        expected: usize,
    },
    /// A token's group is out of range.
    #[error("token {token} is in group {group}, but there are {groups} groups")]
    Group {
        /// Index of the token in its sample.
        token: usize,
        /// Its group.
        group: u8,
        /// Number of groups.
        groups: usize,
    },
    /// A token's cell is off the planes.
    #[error("token {token} is in cell {cell} of {cells}")]
    Cell {
        /// Index of the token in its sample.
        token: usize,
        /// Its cell.
        cell: u32,
        /// Cells of a plane.
        cells: usize,
    },
    /// An action names a token that its sample does not have.
    #[error("legal action {action} names token {token} of {tokens}")]
    TokenReference {
        /// Index of the action in its sample.
        action: usize,
        /// The token that it names.
        token: u32,
        /// Number of tokens in the sample.
        tokens: usize,
    },
    /// A policy target names an action that is not there, or names one twice.
    #[error("the policy target names action {action} of {actions}, or names it twice")]
    PolicyTarget {
        /// The action that the target names.
        action: u32,
        /// Number of legal actions in the sample.
        actions: usize,
    },
    /// The played action is not there, or its probability or advantage is no number to learn from.
    #[error(
        "nothing can be learnt from action {action} of {actions}, played with probability {probability} and advantage {advantage}"
    )]
    Played {
        /// The action that was played.
        action: u32,
        /// Number of legal actions in the sample.
        actions: usize,
        /// Its probability.
        probability: f32,
        /// Its advantage.
        advantage: f32,
    },
    /// Probabilities are negative or do not sum to 1, or another part of the target is out of range.
    #[error("the target's {0} is not a distribution, or out of range")]
    TargetRange(&'static str),
}

/// Samples flattened for the network; cleared and filled again without allocation once it has grown to its usual size.
///
/// Row 0 of the tokens is all zero and belongs to no sample: it stands for "no token" wherever an action names fewer than
/// [`TOKENS_PER_ACTION`] tokens or a group of a sample is empty.
#[derive(Clone, Debug)]
pub struct Batch {
    sizes: InputSizes,
    /// Whether planes and cells are kept: they are large, and most networks do not read them.
    reads_planes: bool,
    second_seats: Vec<bool>,
    globals: Vec<f32>,
    tokens: Vec<f32>,
    /// Pool (sample x groups + group) of each token but the first row.
    token_pools: Vec<u32>,
    /// Number of tokens in each pool.
    pool_sizes: Vec<u32>,
    planes: Vec<f32>,
    /// Cell of each token among those of all samples, 0 for one that is in none and for the first row.
    token_cells: Vec<i64>,
    /// 1 for tokens that are in a cell, else 0.
    on_board: Vec<f32>,
    actions: Vec<f32>,
    action_samples: Vec<i64>,
    action_rows: Vec<i64>,
    /// Where each sample's actions begin, and where the last one's end.
    action_starts: Vec<usize>,
}

impl Batch {
    /// An empty batch for networks of this configuration.
    pub fn new(config: &NetworkConfig) -> Batch {
        let (sizes, reads_planes) = (config.inputs.clone(), config.architecture.reads_planes());
        Batch::of(sizes, reads_planes)
    }

    fn of(sizes: InputSizes, reads_planes: bool) -> Batch {
        let mut batch = Batch {
            sizes,
            reads_planes,
            second_seats: Vec::new(),
            globals: Vec::new(),
            tokens: Vec::new(),
            token_pools: Vec::new(),
            pool_sizes: Vec::new(),
            planes: Vec::new(),
            token_cells: Vec::new(),
            on_board: Vec::new(),
            actions: Vec::new(),
            action_samples: Vec::new(),
            action_rows: Vec::new(),
            action_starts: Vec::new(),
        };
        batch.clear();
        batch
    }

    /// Appends a sample.
    pub fn push(&mut self, sample: &Sample) -> Result<(), BatchError> {
        self.check(sample)?;
        let index = self.len();
        let first_row = self.tokens.len() / self.sizes.token_features;
        self.second_seats.push(sample.second_seat);
        self.globals.extend_from_slice(sample.globals);
        self.tokens.extend_from_slice(sample.tokens);
        let first_pool = index * self.sizes.token_groups;
        self.pool_sizes.resize(first_pool + self.sizes.token_groups, 0);
        for &group in sample.groups {
            let pool = first_pool + usize::from(group);
            self.pool_sizes[pool] += 1;
            self.token_pools.push(pool as u32);
        }
        if self.reads_planes {
            self.planes.extend_from_slice(sample.planes);
            let first_cell = index * self.cells();
            let cells = sample.cells.iter();
            self.token_cells
                .extend(cells.clone().map(|cell| cell.map_or(0, |cell| (first_cell + cell as usize) as i64)));
            self.on_board.extend(cells.map(|cell| f32::from(u8::from(cell.is_some()))));
        }
        self.actions.extend_from_slice(sample.actions);
        let rows = sample.action_tokens.iter().flatten();
        self.action_rows.extend(rows.map(|named| named.map_or(0, |token| (first_row + token as usize) as i64)));
        self.action_samples.resize(self.action_samples.len() + sample.action_tokens.len(), index as i64);
        self.action_starts.push(self.action_samples.len());
        Ok(())
    }

    /// Appends the samples of another batch for networks of the same configuration.
    ///
    /// # Panics
    /// If the other batch is for another configuration.
    pub fn append(&mut self, other: &Batch) {
        assert!(self.sizes == other.sizes && self.reads_planes == other.reads_planes, "batches of different networks");
        let samples = self.len();
        // The first row stands for no token in both.
        let rows = self.tokens.len() / self.sizes.token_features - 1;
        let first_pool = (samples * self.sizes.token_groups) as u32;
        self.second_seats.extend_from_slice(&other.second_seats);
        self.globals.extend_from_slice(&other.globals);
        self.tokens.extend_from_slice(&other.tokens[self.sizes.token_features..]);
        self.token_pools.extend(other.token_pools.iter().map(|pool| first_pool + pool));
        self.pool_sizes.extend_from_slice(&other.pool_sizes);
        if self.reads_planes {
            let first_cell = (samples * self.cells()) as i64;
            self.planes.extend_from_slice(&other.planes);
            let cells = other.token_cells.iter().zip(&other.on_board).skip(1);
            self.token_cells.extend(cells.map(|(cell, on)| if *on > 0.0 { first_cell + cell } else { 0 }));
            self.on_board.extend_from_slice(&other.on_board[1..]);
        }
        let actions = self.action_samples.len();
        self.actions.extend_from_slice(&other.actions);
        let row = |&row: &i64| if row > 0 { rows as i64 + row } else { 0 };
        self.action_rows.extend(other.action_rows.iter().map(row));
        self.action_samples.extend(other.action_samples.iter().map(|sample| samples as i64 + sample));
        self.action_starts.extend(other.action_starts[1..].iter().map(|start| actions + start));
    }

    /// A batch without samples for the same networks.
    pub fn empty_like(&self) -> Batch {
        Batch::of(self.sizes.clone(), self.reads_planes)
    }

    /// Removes all samples and keeps the memory.
    pub fn clear(&mut self) {
        self.second_seats.clear();
        self.globals.clear();
        self.tokens.clear();
        self.tokens.resize(self.sizes.token_features, 0.0);
        self.token_pools.clear();
        self.pool_sizes.clear();
        self.planes.clear();
        self.token_cells.clear();
        self.token_cells.push(0);
        self.on_board.clear();
        self.on_board.push(0.0);
        self.actions.clear();
        self.action_samples.clear();
        self.action_rows.clear();
        self.action_starts.clear();
        self.action_starts.push(0);
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.action_starts.len() - 1
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the actions of each sample begin among all actions of the batch, and where the last one's end: `[len + 1]`.
    pub fn action_starts(&self) -> &[usize] {
        &self.action_starts
    }

    /// True if a network of this configuration takes this batch.
    pub fn fits(&self, config: &NetworkConfig) -> bool {
        self.sizes == config.inputs && self.reads_planes == config.architecture.reads_planes()
    }

    /// Cells of a plane.
    fn cells(&self) -> usize {
        self.sizes.planes[1] * self.sizes.planes[2]
    }

    fn check(&self, sample: &Sample) -> Result<(), BatchError> {
        let (tokens, actions) = (sample.groups.len(), sample.action_tokens.len());
        for (what, found, expected) in [
            ("globals", sample.globals.len(), self.sizes.global_features),
            ("tokens", sample.tokens.len(), tokens * self.sizes.token_features),
            ("actions", sample.actions.len(), actions * self.sizes.action_features),
        ] {
            if found != expected {
                return Err(BatchError::Length { what, found, expected });
            }
        }
        if self.reads_planes {
            self.check_planes(sample)?;
        }
        if let Some(token) = sample.groups.iter().position(|&group| usize::from(group) >= self.sizes.token_groups) {
            return Err(BatchError::Group { token, group: sample.groups[token], groups: self.sizes.token_groups });
        }
        for (action, named) in sample.action_tokens.iter().enumerate() {
            if let Some(&token) = named.iter().flatten().find(|&&token| token as usize >= tokens) {
                return Err(BatchError::TokenReference { action, token, tokens });
            }
        }
        Ok(())
    }

    fn check_planes(&self, sample: &Sample) -> Result<(), BatchError> {
        let planes = self.sizes.planes.iter().product();
        for (what, found, expected) in
            [("planes", sample.planes.len(), planes), ("cells", sample.cells.len(), sample.groups.len())]
        {
            if found != expected {
                return Err(BatchError::Length { what, found, expected });
            }
        }
        let cells = self.cells();
        let off = |cell: &Option<u32>| cell.is_some_and(|cell| cell as usize >= cells);
        match sample.cells.iter().enumerate().find(|(_, cell)| off(cell)) {
            Some((token, &Some(cell))) => Err(BatchError::Cell { token, cell, cells }),
            _ => Ok(()),
        }
    }
}
