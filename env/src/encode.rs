//! Observations: what a learner sees of a position, as `f32` arrays with a documented layout.
//!
//! An [`Encoder`] offers up to three parts, each built only when asked for:
//! * planes `[channels, rows, columns]` over the board;
//! * tokens `[n, features]`, one row for each thing on the board, where `n` changes from position to position;
//! * globals `[features]`, facts about the whole position.
//!
//! Arrays are kept and written again, so that encoding allocates nothing in the steady state.

use std::borrow::Cow;

use ndarray::{Array1, Array3, ArrayView2, ArrayViewMut1};

use crate::game::{Action, Position, Seat};

pub use planes::{PlaneTrace, PlaneWriter};

mod planes;

/// Writes positions of one game as arrays, from the point of view of either side.
///
/// A part that [`Encoder::layout`] leaves out is never asked for. The version changes whenever equal positions would
/// give other arrays, because trained weights depend on it.
pub trait Encoder<P: Position>: Send + Sync {
    /// Short name, for manifests.
    fn name(&self) -> &'static str;

    /// Version of the meaning of the arrays.
    fn version(&self) -> u32;

    /// Which parts there are, their shapes, and what every channel means.
    fn layout(&self) -> &Layout;

    /// Fills the planes `[channels, rows, columns]` as `view` sees the position. They arrive wiped.
    fn encode_planes(&self, _position: &P, _view: Seat, _planes: &mut PlaneWriter<'_>) {}

    /// Adds one row for each token as `view` sees the position. The list arrives empty.
    fn encode_tokens(&self, _position: &P, _view: Seat, _tokens: &mut Tokens) {}

    /// Fills the globals `[features]` as `view` sees the position. They arrive zeroed.
    fn encode_globals(&self, _position: &P, _view: Seat, _globals: ArrayViewMut1<'_, f32>) {}
}

/// What a policy over the legal actions sees besides the observation: each action is a row of features and names up to
/// [`TOKENS_PER_ACTION`] tokens, so that one network serves action spaces of any size.
///
/// Its layout has tokens of at least one feature, and globals. Groups are what a network pools apart.
pub trait PolicyEncoder<P: Position>: Encoder<P> {
    /// The game's encoder of this name, for weights that were trained with it; `None` if there is no such encoder.
    fn named(&self, name: &str) -> Option<Self>
    where
        Self: Sized;

    /// Number of groups of tokens, 1 to 256.
    fn token_groups(&self) -> usize;

    /// Adds the group, below [`PolicyEncoder::token_groups`], of each of `tokens`, which [`Encoder::encode_tokens`]
    /// wrote. The list arrives empty.
    fn group_tokens(&self, tokens: &Tokens, groups: &mut Vec<u8>);

    /// Adds the cell of the planes, row * columns + column, in which each of `tokens` is, `None` for one that is in no
    /// cell. The list arrives empty.
    fn token_cells(&self, tokens: &Tokens, cells: &mut Vec<Option<u32>>) {
        cells.resize(tokens.len(), None);
    }

    /// Version of the numbering of actions in the game, on which kept training targets depend.
    fn action_codec_version(&self) -> u32 {
        1
    }

    /// Features of one legal action; at least one.
    fn action_layout(&self) -> &[Channel];

    /// Adds one row for each of `legal`, the legal actions of `position`, in their order. Tokens are named by their
    /// index among those of [`Encoder::encode_tokens`] for the same position and view. The rows arrive empty.
    fn encode_actions(&self, position: &P, view: Seat, legal: &[Action], rows: &mut ActionRows);
}

/// How many tokens an action can name.
pub const TOKENS_PER_ACTION: usize = 2;

/// The encoder without parts, for games that are only played.
impl<P: Position> Encoder<P> for () {
    fn name(&self) -> &'static str {
        "none"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        const NOTHING: &Layout = &Layout { planes: None, tokens: None, globals: None };
        NOTHING
    }
}

/// Shapes and meaning of the parts of an observation; `None` where an encoder does not offer a part.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// Planes over the board.
    pub planes: Option<PlaneLayout>,
    /// Features of a token.
    pub tokens: Option<Vec<Channel>>,
    /// Features of the whole position.
    pub globals: Option<Vec<Channel>>,
}

/// Shape and meaning of the planes.
#[derive(Clone, PartialEq, Debug)]
pub struct PlaneLayout {
    /// One for each plane.
    pub channels: Vec<Channel>,
    /// Height of a plane.
    pub rows: usize,
    /// Width of a plane.
    pub columns: usize,
}

/// One plane, token feature or global feature.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// What it is.
    pub name: Cow<'static, str>,
    /// Unit of the values: `0/1`, `units`, `months`, ...
    pub unit: &'static str,
    /// Least value.
    pub min: f32,
    /// Greatest value.
    pub max: f32,
}

impl Channel {
    /// A channel with values from `min` to `max`, both included.
    pub fn new(name: impl Into<Cow<'static, str>>, unit: &'static str, min: f32, max: f32) -> Channel {
        Channel { name: name.into(), unit, min, max }
    }

    /// A yes-or-no channel.
    pub fn flag(name: impl Into<Cow<'static, str>>) -> Channel {
        Channel::new(name, "0/1", 0.0, 1.0)
    }
}

impl Layout {
    /// `[channels, rows, columns]` of the planes, zeros without planes.
    pub fn plane_shape(&self) -> [usize; 3] {
        self.planes.as_ref().map_or([0; 3], |planes| [planes.channels.len(), planes.rows, planes.columns])
    }

    /// Features of a token, 0 without tokens.
    pub fn token_width(&self) -> usize {
        self.tokens.as_ref().map_or(0, Vec::len)
    }

    /// Global features, 0 without globals.
    pub fn global_width(&self) -> usize {
        self.globals.as_ref().map_or(0, Vec::len)
    }

    /// The layout of what is left when only `parts` are asked for.
    pub fn only(&self, parts: Parts) -> Layout {
        Layout {
            planes: self.planes.clone().filter(|_| parts.planes),
            tokens: self.tokens.clone().filter(|_| parts.tokens),
            globals: self.globals.clone().filter(|_| parts.globals),
        }
    }
}

/// Which parts of an observation are asked for. A part that the encoder does not offer stays empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Planes over the board.
    pub planes: bool,
    /// Tokens.
    pub tokens: bool,
    /// Globals.
    pub globals: bool,
}

impl Parts {
    /// Everything that the encoder offers.
    pub const ALL: Parts = Parts { planes: true, tokens: true, globals: true };
    /// Nothing, for players that look at the position itself.
    pub const NONE: Parts = Parts { planes: false, tokens: false, globals: false };
}

/// A list of tokens, kept row after row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tokens {
    width: usize,
    values: Vec<f32>,
}

impl Tokens {
    /// No tokens yet of `width` features.
    pub fn new(width: usize) -> Tokens {
        Tokens { width, values: Vec::new() }
    }

    /// Adds a token and gives its features, all zero.
    #[inline]
    pub fn push(&mut self) -> &mut [f32] {
        let start = self.values.len();
        self.values.resize(start + self.width, 0.0);
        &mut self.values[start..]
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Features of a token.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The features of all tokens, one after another.
    pub fn as_slice(&self) -> &[f32] {
        &self.values
    }

    /// The tokens as `[n, features]`.
    pub fn view(&self) -> ArrayView2<'_, f32> {
        ArrayView2::from_shape((self.len(), self.width), &self.values).expect("rows of one width")
    }

    /// Drops all tokens and keeps the room for them.
    pub fn clear(&mut self) {
        self.values.clear();
    }
}

/// Features of legal actions and the tokens that they name, kept row after row.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ActionRows {
    width: usize,
    values: Vec<f32>,
    tokens: Vec<[Option<u32>; TOKENS_PER_ACTION]>,
}

impl ActionRows {
    /// No actions yet of `width` features.
    pub fn new(width: usize) -> ActionRows {
        ActionRows { width, values: Vec::new(), tokens: Vec::new() }
    }

    /// Adds an action that names `tokens` and gives its features, all zero.
    #[inline]
    pub fn push(&mut self, tokens: [Option<u32>; TOKENS_PER_ACTION]) -> &mut [f32] {
        self.tokens.push(tokens);
        let start = self.values.len();
        self.values.resize(start + self.width, 0.0);
        &mut self.values[start..]
    }

    /// Number of actions.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Features of an action.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The features of all actions, one after another: `[n, features]`.
    pub fn as_slice(&self) -> &[f32] {
        &self.values
    }

    /// The tokens that each action names: `[n]`.
    pub fn tokens(&self) -> &[[Option<u32>; TOKENS_PER_ACTION]] {
        &self.tokens
    }

    /// Drops all actions and keeps the room for them.
    pub fn clear(&mut self) {
        self.values.clear();
        self.tokens.clear();
    }
}

/// The arrays of one position. Parts that were not asked for have size zero.
#[derive(Clone, Debug)]
pub struct Observation {
    planes: Array3<f32>,
    trace: PlaneTrace,
    /// `[n, features]`.
    pub tokens: Tokens,
    /// `[features]`.
    pub globals: Array1<f32>,
    parts: Parts,
}

impl PartialEq for Observation {
    /// Whether the arrays are equal.
    fn eq(&self, other: &Observation) -> bool {
        self.planes == other.planes && self.tokens == other.tokens && self.globals == other.globals
    }
}

impl Observation {
    /// Arrays for the given parts of observations of `encoder`, all zero.
    pub fn new<P: Position, E: Encoder<P>>(encoder: &E, parts: Parts) -> Observation {
        let layout = encoder.layout().only(parts);
        Observation {
            planes: Array3::zeros(layout.plane_shape()),
            trace: PlaneTrace::default(),
            tokens: Tokens::new(layout.token_width()),
            globals: Array1::zeros(layout.global_width()),
            parts: Parts {
                planes: layout.planes.is_some(),
                tokens: layout.tokens.is_some(),
                globals: layout.globals.is_some(),
            },
        }
    }

    /// `[channels, rows, columns]`.
    pub fn planes(&self) -> &Array3<f32> {
        &self.planes
    }

    /// Writes `position` into the arrays as `view` sees it; `encoder` is the one they were made for.
    pub fn encode<P: Position, E: Encoder<P>>(&mut self, encoder: &E, position: &P, view: Seat) {
        if self.parts.planes {
            let (_, rows, columns) = self.planes.dim();
            let values = self.planes.as_slice_mut().expect("arrays are made in standard order");
            encoder.encode_planes(position, view, &mut PlaneWriter::wipe(values, rows, columns, &mut self.trace));
        }
        if self.parts.tokens {
            self.tokens.clear();
            encoder.encode_tokens(position, view, &mut self.tokens);
        }
        if self.parts.globals {
            self.globals.fill(0.0);
            encoder.encode_globals(position, view, self.globals.view_mut());
        }
    }

    /// The first value outside the range that `layout` documents, in words; `None` if all are within.
    pub fn out_of_range(&self, layout: &Layout) -> Option<String> {
        // Written so that NaN counts as outside.
        let check = |part: &str, channel: &Channel, value: f32| {
            let within = channel.min <= value && value <= channel.max;
            let Channel { name, unit, min, max } = channel;
            (!within).then(|| format!("{part} `{name}` is {value}, documented from {min} to {max} {unit}"))
        };
        let planes = layout.planes.iter().filter(|_| self.parts.planes).flat_map(|planes| {
            let values = self.planes.outer_iter().zip(&planes.channels);
            values.flat_map(|(plane, channel)| plane.into_iter().map(move |&value| ("plane", channel, value)))
        });
        let tokens = layout.tokens.iter().filter(|_| self.parts.tokens).flat_map(|channels| {
            let rows = self.tokens.as_slice().chunks_exact(channels.len().max(1));
            rows.flat_map(move |row| {
                row.iter().zip(channels).map(|(&value, channel)| ("token feature", channel, value))
            })
        });
        let globals =
            layout.globals.iter().filter(|_| self.parts.globals).flat_map(|channels| {
                self.globals.iter().zip(channels).map(|(&value, channel)| ("global", channel, value))
            });
        planes.chain(tokens).chain(globals).find_map(|(part, channel, value)| check(part, channel, value))
    }
}
