//! Orders: what a player may answer to a pending decision, as one number of a fixed space and as a typed form.
//!
//! The space is small because the pending decision gives an order its meaning: cells of the grid, counts, lines
//! (kind and order of a unit), leaders and verbs, [`ACTIONS`] in all.

use super::board::{CELLS, Hex};
use super::catalogue::{KINDS, Kind, LEADERS, Leader};
use crate::game::Action;

/// Version of the numbering below; checkpoints and records of another version are refused.
pub const ACTION_CODEC_VERSION: u32 = 1;
/// Counts run from 0 to 63.
pub const COUNTS: usize = 64;

const FIRST_COUNT: usize = CELLS;
const FIRST_LINE: usize = FIRST_COUNT + COUNTS;
const FIRST_LEADER: usize = FIRST_LINE + 2 * KINDS;
const FIRST_VERB: usize = FIRST_LEADER + LEADERS;
/// Size of the action space.
pub const ACTIONS: usize = FIRST_VERB + Verb::ALL.len();

macro_rules! verbs {
    ($($(#[$doc:meta])* $variant:ident $id:literal),* $(,)?) => {
        /// An order without an object.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Verb { $($(#[$doc])* $variant),* }
        impl Verb {
            /// All verbs.
            pub const ALL: &'static [Verb] = &[$(Verb::$variant),*];
            /// Its word in the notation.
            pub const fn id(self) -> &'static str { match self { $(Verb::$variant => $id),* } }
        }
    };
}
verbs! {
    /// End the phase or the procedure; decline where one may.
    Done "done",
    /// Yes.
    Yes "yes",
    /// No.
    No "no",
    /// Quick pick: all that is fresh (8.1).
    All "all",
    /// Quick pick: all that is fresh and in good order (8.1).
    AllGood "all_good",
    /// Quick pick: all in good order that has not fought (8.1).
    Unfought "unfought",
    /// Choose the group unit by unit (8.1).
    Choose "choose",
    /// Move a gunboat or boat (8.7).
    Vessel "vessel",
    /// Move a leader alone (8.10).
    Alone "alone",
    /// Move the fleet to the other port (8.8).
    Fleet "fleet",
    /// Roll: for march (8.2) or for attrition (10.1).
    Roll "roll",
    /// Go by sea to the other port (8.8).
    Sea "sea",
    /// Stop rolling; the group has marched (8.2).
    Halt "halt",
    /// Use a leader in fire (9.2).
    Fire "fire",
    /// Use a leader in melee (9.2).
    Melee "melee",
    /// Use no leader (9.2).
    Unused "unused",
    /// Draw on supply (10.2).
    Draw "draw",
}

/// An order in typed form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// A hex.
    Hex(Hex),
    /// A number, 0-63.
    Count(u8),
    /// Units of a kind, in good order or disrupted.
    Line {
        /// Kind.
        kind: Kind,
        /// Disrupted.
        disrupted: bool,
    },
    /// A leader.
    Leader(Leader),
    /// A verb.
    Verb(Verb),
}

impl Order {
    /// Its number in the action space.
    #[inline]
    pub const fn action(self) -> Action {
        Action(match self {
            Order::Hex(hex) => hex.0,
            Order::Count(n) => FIRST_COUNT as u16 + n as u16,
            Order::Line { kind, disrupted } => FIRST_LINE as u16 + 2 * kind as u16 + disrupted as u16,
            Order::Leader(leader) => FIRST_LEADER as u16 + leader as u16,
            Order::Verb(verb) => FIRST_VERB as u16 + verb as u16,
        })
    }

    /// The order of a number, if it is below [`ACTIONS`].
    #[inline]
    pub fn of(action: Action) -> Option<Order> {
        let i = action.index();
        Some(if i < FIRST_COUNT {
            Order::Hex(Hex(i as u16))
        } else if i < FIRST_LINE {
            Order::Count((i - FIRST_COUNT) as u8)
        } else if i < FIRST_LEADER {
            let line = i - FIRST_LINE;
            Order::Line { kind: Kind::at(line / 2), disrupted: line % 2 == 1 }
        } else if i < FIRST_VERB {
            Order::Leader(Leader::ALL[i - FIRST_LEADER])
        } else {
            Order::Verb(*Verb::ALL.get(i - FIRST_VERB)?)
        })
    }
}
