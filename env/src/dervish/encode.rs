//! Observations of the campaign, version 1: planes over the grid, tokens, globals, and rows for the legal actions.
//!
//! Everything is seen from the point of view of either side: `own` and `enemy` change places, nothing else does. Both
//! sides' information is public (1.6). `env/OBSERVATIONS.md` lists every channel.

use std::borrow::Cow;

use ndarray::ArrayViewMut1;

use self::atlas::Atlas;
use super::board::{COLUMNS, ROWS};
use super::campaign::Campaign;
use super::catalogue::Side;
use super::order::ACTION_CODEC_VERSION;
use super::scenario::Scenario;
use crate::encode::{ActionRows, Channel, Encoder, Layout, PlaneLayout, PlaneWriter, PolicyEncoder, Tokens};
use crate::game::{Action, Seat};

mod actions;
mod atlas;
mod columns;
mod decode;
mod globals;
mod planes;
mod subject;
mod survey;
mod tokens;

pub use decode::{DecodeError, decode};

/// Version of the meaning of the arrays; raised with every change of them, because trained weights depend on it.
pub const ENCODER_VERSION: u32 = 1;

const CAMPAIGN: &str = "campaign";
const CAMPAIGN_WITH_ODDS: &str = "campaign-odds";

/// Shows positions of the campaign to a learner. The layout is the same for every scenario, so one network serves all.
///
/// Tokens come in five groups: own stacks, enemy stacks, places, the group that acts, what has marched or fought.
#[derive(Clone, Debug)]
pub struct CampaignEncoder {
    layout: Layout,
    actions: Vec<Channel>,
    atlas: Atlas,
    with_odds: bool,
}

impl CampaignEncoder {
    /// The encoder for positions of `scenario`. It shows those of other scenarios too, but slowly.
    pub fn new(scenario: &'static Scenario) -> CampaignEncoder {
        let planes = PlaneLayout { channels: planes::plane::channels(), rows: ROWS, columns: COLUMNS };
        CampaignEncoder {
            layout: Layout {
                planes: Some(planes),
                tokens: Some(tokens::token::channels()),
                globals: Some(globals::global::channels()),
            },
            actions: actions::action::channels(),
            atlas: Atlas::of(scenario),
            with_odds: false,
        }
    }

    /// The encoder that also shows the exact odds of the combat that an attack or the use of a leader leads to.
    pub fn with_odds(scenario: &'static Scenario) -> CampaignEncoder {
        let mut encoder = CampaignEncoder::new(scenario);
        encoder.actions.extend(actions::odds::channels());
        CampaignEncoder { with_odds: true, ..encoder }
    }

    fn atlas(&self, position: &Campaign) -> Cow<'_, Atlas> {
        if std::ptr::eq(self.atlas.scenario, position.scenario()) {
            Cow::Borrowed(&self.atlas)
        } else {
            Cow::Owned(Atlas::of(position.scenario()))
        }
    }
}

impl Encoder<Campaign> for CampaignEncoder {
    fn name(&self) -> &'static str {
        if self.with_odds { CAMPAIGN_WITH_ODDS } else { CAMPAIGN }
    }

    fn version(&self) -> u32 {
        ENCODER_VERSION
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_planes(&self, position: &Campaign, view: Seat, planes: &mut PlaneWriter<'_>) {
        planes::encode(position, &self.atlas(position), Side::of_seat(view), planes);
    }

    fn encode_tokens(&self, position: &Campaign, view: Seat, tokens: &mut Tokens) {
        tokens::encode(position, &self.atlas(position), Side::of_seat(view), tokens);
    }

    fn encode_globals(&self, position: &Campaign, view: Seat, mut globals: ArrayViewMut1<'_, f32>) {
        let (atlas, side) = (self.atlas(position), Side::of_seat(view));
        match globals.as_slice_mut() {
            Some(row) => globals::encode(position, &atlas, side, row),
            // A column of a larger array: rare, and worth an allocation.
            None => {
                let mut row = vec![0.0; globals.len()];
                globals::encode(position, &atlas, side, &mut row);
                globals.iter_mut().zip(row).for_each(|(value, written)| *value = written);
            }
        }
    }
}

impl PolicyEncoder<Campaign> for CampaignEncoder {
    fn named(&self, name: &str) -> Option<CampaignEncoder> {
        match name {
            CAMPAIGN => Some(CampaignEncoder::new(self.atlas.scenario)),
            CAMPAIGN_WITH_ODDS => Some(CampaignEncoder::with_odds(self.atlas.scenario)),
            _ => None,
        }
    }

    fn token_groups(&self) -> usize {
        tokens::GROUPS
    }

    fn group_tokens(&self, tokens: &Tokens, groups: &mut Vec<u8>) {
        tokens::group(tokens, groups);
    }

    fn token_cells(&self, tokens: &Tokens, cells: &mut Vec<Option<u32>>) {
        tokens::locate(tokens, cells);
    }

    fn action_codec_version(&self) -> u32 {
        ACTION_CODEC_VERSION
    }

    fn action_layout(&self) -> &[Channel] {
        &self.actions
    }

    fn encode_actions(&self, position: &Campaign, view: Seat, legal: &[Action], rows: &mut ActionRows) {
        actions::encode(position, &self.atlas(position), Side::of_seat(view), legal, self.with_odds, rows);
    }
}
