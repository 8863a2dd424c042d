//! From a position to what a network reads.

use dervish_env::encode::{ActionRows, Observation, Parts, PolicyEncoder};
use dervish_env::game::{Action, Position, Seat};
use dervish_models::batch::Sample;
use dervish_models::checkpoint::Contract;
use dervish_models::network::{InputSizes, NetworkConfig};

/// One position encoded for a network; filled again without allocation once it has grown to its usual size.
#[derive(Clone, Debug)]
pub struct PositionEncoding {
    second_seat: bool,
    observation: Observation,
    groups: Vec<u8>,
    cells: Vec<Option<u32>>,
    rows: ActionRows,
}

impl PositionEncoding {
    /// Arrays for positions that `encoder` encodes and a network of this configuration reads.
    pub fn new<P: Position, E: PolicyEncoder<P>>(encoder: &E, config: &NetworkConfig) -> PositionEncoding {
        let parts = Parts { planes: config.architecture.reads_planes(), tokens: true, globals: true };
        PositionEncoding {
            second_seat: false,
            observation: Observation::new(encoder, parts),
            groups: Vec::new(),
            cells: Vec::new(),
            rows: ActionRows::new(encoder.action_layout().len()),
        }
    }

    /// Encodes `position` as `view` sees it, with its legal actions.
    pub fn encode<P: Position, E: PolicyEncoder<P>>(
        &mut self,
        encoder: &E,
        position: &P,
        view: Seat,
        legal: &[Action],
    ) {
        self.second_seat = view == Seat::Second;
        self.observation.encode(encoder, position, view);
        self.groups.clear();
        encoder.group_tokens(&self.observation.tokens, &mut self.groups);
        self.cells.clear();
        encoder.token_cells(&self.observation.tokens, &mut self.cells);
        self.rows.clear();
        encoder.encode_actions(position, view, legal, &mut self.rows);
    }

    /// The encoded position.
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            second_seat: self.second_seat,
            // A freshly made array is contiguous; an empty slice would be refused with the lengths.
            globals: self.observation.globals.as_slice().unwrap_or_default(),
            tokens: self.observation.tokens.as_slice(),
            groups: &self.groups,
            planes: self.observation.planes().as_slice().unwrap_or_default(),
            cells: &self.cells,
            actions: self.rows.as_slice(),
            action_tokens: self.rows.tokens(),
        }
    }
}

/// Sizes of what a network reads of positions that `encoder` encodes.
pub fn input_sizes<P: Position, E: PolicyEncoder<P>>(encoder: &E) -> InputSizes {
    InputSizes {
        token_features: encoder.layout().token_width(),
        token_groups: encoder.token_groups(),
        global_features: encoder.layout().global_width(),
        action_features: encoder.action_layout().len(),
        planes: encoder.layout().plane_shape(),
    }
}

/// What a network for this game and encoder must have been trained to read.
pub fn contract<P: Position, E: PolicyEncoder<P>>(start: &P, encoder: &E) -> Contract {
    Contract {
        game: start.identity().game,
        encoder: encoder.name().to_string(),
        encoder_version: encoder.version(),
        action_codec_version: encoder.action_codec_version(),
    }
}
