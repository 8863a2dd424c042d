//! The printed tables (8.31, 9.6, 10.3, 11.1) and the event tables (4.1), read from `data/dervish/tables.toml` and
//! `events.toml`. A roll is modified first and then read; below a table's first column it reads the first, above the
//! last the last (13.2).

use super::board::{Ground, PlaceKind};
use super::catalogue::{Class, Side};
use super::scenario::EventColumn;

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

/// The tables of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tables {}
