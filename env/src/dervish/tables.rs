//! The printed tables (8.31, 9.6, 10.3, 11.1) and the event tables (4.1), read by [`super::tables_file`]. A roll is modified first and then read; below a table's first column it reads the first, above the
//! last the last (13.2).

use super::board::{Ground, PlaceKind};
use super::catalogue::{Class, Side};
use super::scenario::EventColumn;

/// The tables of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {
    /// By modified die, 0 ("<1") to 6 ("6+").
    pub(super) march: [MarchResult; 7],
    /// By [`Class`]: the lowest totals that give shaken, hold, steady and good.
    pub(super) morale: [[i32; 4]; 4],
    /// By [`AttritionRow`] and die less 1; `None` is "all".
    pub(super) attrition: [[Option<u8>; 6]; 5],
    /// By [`Class`]: the lowest totals that give hold and good.
    pub(super) recovery: [[i32; 2]; 4],
    /// By band, [`EventColumn`] and [`Side`].
    pub(super) events: [[[Event; 2]; 2]; 12],
}

/// The first roll of each of the twelve bands of the event tables (4.1), ascending; a band is three rolls of 36.
pub const EVENT_BANDS: [u8; 12] = [11, 14, 21, 24, 31, 34, 41, 44, 51, 54, 61, 64];

/// The band, an index into [`EVENT_BANDS`], in which a D66 falls; `None` unless both digits are 1-6.
pub fn event_band(d66: u8) -> Option<usize> {
    let (tens, units) = (d66 / 10, d66 % 10);
    let is_roll = (1..=6).contains(&tens) && (1..=6).contains(&units);
    is_roll.then(|| usize::from(tens - 1) * 2 + usize::from(units > 3))
}

impl Tables {
    /// The march table (8.31) for a modified die.
    #[inline]
    pub fn march(&self, die: i32) -> MarchResult {
        self.march[die.clamp(0, 6) as usize]
    }

    /// The combat morale table (9.6) for a modified 2D6.
    #[inline]
    pub fn morale(&self, class: Class, roll: i32) -> Morale {
        let [shaken, hold, steady, good] = self.morale[class as usize];
        match roll {
            _ if roll < shaken => Morale::Fail,
            _ if roll < hold => Morale::Shaken,
            _ if roll < steady => Morale::Hold,
            _ if roll < good => Morale::Steady,
            _ => Morale::Good,
        }
    }

    /// The attrition table (10.3) for a modified die, which is clamped to 1-6: how many units of the stack are
    /// unaffected, `None` for all.
    #[inline]
    pub fn attrition(&self, row: AttritionRow, die: i32) -> Option<u8> {
        self.attrition[row as usize][(die.clamp(1, 6) - 1) as usize]
    }

    /// The recovery table (11.1) for a modified 2D6.
    #[inline]
    pub fn recovery(&self, class: Class, roll: i32) -> Recovery {
        let [hold, good] = self.recovery[class as usize];
        match roll {
            _ if roll < hold => Recovery::Fail,
            _ if roll < good => Recovery::Hold,
            _ => Recovery::Good,
        }
    }

    /// The event tables (4.1) for a D66; `None` if `d66` is none (both digits must be 1-6).
    #[inline]
    pub fn event(&self, column: EventColumn, side: Side, d66: u8) -> Option<Event> {
        event_band(d66).map(|band| self.events[band][column as usize][side as usize])
    }
}

/// Result of a march roll (8.31).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarchResult {
    /// No march.
    NoMarch,
    /// The group may march; this percentage of its units is disrupted (0, 25 or 50).
    March {
        /// Percentage.
        disrupted_percent: u8,
    },
}

/// Result of a combat morale test (9.6), from the worst to the best.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Morale {
    Fail,
    Shaken,
    Hold,
    Steady,
    Good,
}

/// Result of a recovery roll (11.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Recovery {
    Fail,
    Hold,
    Good,
}

/// Row of the attrition table (10.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum AttritionRow {
    UnbesiegedTown,
    BesiegedPlace,
    Desert,
    Clear,
    Cultivated,
}

impl AttritionRow {
    /// All rows, in the order of the sheet.
    pub const ALL: [AttritionRow; 5] = [
        AttritionRow::UnbesiegedTown,
        AttritionRow::BesiegedPlace,
        AttritionRow::Desert,
        AttritionRow::Clear,
        AttritionRow::Cultivated,
    ];

    /// The row's name in files and arguments.
    pub const fn id(self) -> &'static str {
        match self {
            AttritionRow::UnbesiegedTown => "unbesieged_town",
            AttritionRow::BesiegedPlace => "besieged_place",
            AttritionRow::Desert => "desert",
            AttritionRow::Clear => "clear",
            AttritionRow::Cultivated => "cultivated",
        }
    }

    /// The row for a stack in a hex (10.3, 10.5): that of the place goes before that of the ground, hills and
    /// mountains do not matter. A village or oasis always has its own row (6.4); `besieged` counts for towns.
    /// Sea and off-map hexes, where no stack stands, read as clear.
    pub const fn of(ground: Ground, place: Option<PlaceKind>, besieged: bool) -> AttritionRow {
        match (place, ground) {
            (Some(PlaceKind::Town), _) if !besieged => AttritionRow::UnbesiegedTown,
            (Some(_), _) => AttritionRow::BesiegedPlace,
            (None, Ground::Desert) => AttritionRow::Desert,
            (None, Ground::Cultivated) => AttritionRow::Cultivated,
            (None, Ground::Clear | Ground::Sea | Ground::Off) => AttritionRow::Clear,
        }
    }
}

macro_rules! events {
    ($($variant:ident $id:literal),* $(,)?) => {
        /// A random event (4.1).
        #[allow(missing_docs)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum Event { $(#[serde(rename = $id)] $variant),* }
        impl Event {
            /// All events.
            pub const ALL: &'static [Event] = &[$(Event::$variant),*];
            /// The slug of rule 4.1.
            pub const fn id(self) -> &'static str { match self { $(Event::$variant => $id),* } }
        }
    };
}
events! {
    PoorMorale "poor_morale", Withdraw "withdraw", Navy "navy", FieldForce "field_force", Supply "supply",
    FieldForceLeaves "field_force_leaves", GunboatSinks "gunboat_sinks", SpoiltBiscuits "spoilt_biscuits",
    Dissension "dissension", Urgency "urgency", Training "training", DryWeather "dry_weather",
    GoodHarvest "good_harvest", ElObeidShortage "el_obeid_shortage", FieldForceAgain "field_force_again",
    KhartoumShortage "khartoum_shortage", Desertion "desertion", ReligiousDisagreement "religious_disagreement",
    Boats "boats", EthiopiaWar "ethiopia_war", Rifles "rifles", EthiopiaPeace "ethiopia_peace",
    PoorCommunications "poor_communications", GunShortage "gun_shortage", ReligiousFervour "religious_fervour",
    GarrisonSurrenders "garrison_surrenders", LocalsDeclare "locals_declare", RifleShortage "rifle_shortage",
}
