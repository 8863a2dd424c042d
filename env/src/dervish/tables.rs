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
    ($($variant:ident $id:literal $meaning:literal),* $(,)?) => {
        /// A random event (4.1).
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum Event { $(#[doc = $meaning] #[serde(rename = $id)] $variant),* }
        impl Event {
            /// All events.
            pub const ALL: &'static [Event] = &[$(Event::$variant),*];
            /// The slug of rule 4.1.
            pub const fn id(self) -> &'static str { match self { $(Event::$variant => $id),* } }
            /// What it means to the players, in a sentence (4.3, 4.4); without what it speaks of it is no event (4.2).
            pub const fn meaning(self) -> &'static str { match self { $(Event::$variant => $meaning),* } }
        }
    };
}
events! {
    PoorMorale "poor_morale" "Until this game turn ends, Egyptian units of class L count as class R.",
    Withdraw "withdraw" "If the Mahdist holds Khartoum, this game turn is the last.",
    Navy "navy"
        "The fleet and the Naval infantry come to Souakim, unless they are on the map or the Mahdist holds the place.",
    FieldForce "field_force"
        "The next field force lands at Souakim in this turn's reinforcement phase, unless the Mahdist holds the place.",
    Supply "supply" "A supply unit and a camel come to Khartoum or, while that is besieged, to a town that is not.",
    FieldForceLeaves "field_force_leaves"
        "If a field force is in play, all British but the fleet leave the Souakim extension in this turn's reinforcement phase.",
    GunboatSinks "gunboat_sinks"
        "The Mahdist names a gunboat: doubles of 2D6 sink it, else it is away for as many turns as they show.",
    SpoiltBiscuits "spoilt_biscuits"
        "When this turn's supply phase begins, an Egyptian supply unit is used up; stacks that can draw on it are in supply.",
    Dissension "dissension"
        "The Egyptian player may turn a Mahdist stack of up to three combat units, without a leader, into levies.",
    Urgency "urgency"
        "The Egyptian player names a hex; the first group to march from it this turn has +1 on its march rolls.",
    Training "training" "The Egyptian player may make one levy a `rifle_r`, or one `rifle_r` a `rifle_l`.",
    DryWeather "dry_weather"
        "Not from November to February: this turn oases count as bare ground, and the player's attrition rolls have -1.",
    GoodHarvest "good_harvest" "Only from November to February: the player's attrition rolls have +1 this turn.",
    ElObeidShortage "el_obeid_shortage" "The owner of the stack in El Obeid removes one unit of it, but no civilian.",
    FieldForceAgain "field_force_again" "As `field_force`, but only while no field force is in play.",
    KhartoumShortage "khartoum_shortage" "The owner of the stack in Khartoum removes one unit of it, but no civilian.",
    Desertion "desertion" "As many Mahdist combat units as a D6 shows leave the map, by the Mahdist's choice.",
    ReligiousDisagreement "religious_disagreement"
        "This turn no Mahdist unit moves to the Souakim extension, nor on it unless Osman Digma is there; all may attack.",
    Boats "boats" "The Mahdist places a boat on a navigable river, at a combat unit or a place of his.",
    EthiopiaWar "ethiopia_war"
        "Once in a game: 2D6 Mahdist combat units leave the main map, and nobody leaves Goz Regeb until there is peace.",
    Rifles "rifles" "One unit of Mahdist spearmen takes up rifles.",
    EthiopiaPeace "ethiopia_peace"
        "If there is war with Ethiopia, it ends; on 4 or more of a D6, 2D6 Mahdist units come to Goz Regeb.",
    PoorCommunications "poor_communications"
        "This turn only Mahdist leaders, and groups that set out with one, march or sail; all may attack.",
    GunShortage "gun_shortage" "The Mahdist loses a gun of his choice.",
    ReligiousFervour "religious_fervour"
        "The Mahdist names a hex; the first group to march from it this turn has +1 on march rolls, and then on attrition.",
    GarrisonSurrenders "garrison_surrenders"
        "A besieged Egyptian stack, not in Khartoum and without British units, goes over to the Mahdist.",
    LocalsDeclare "locals_declare"
        "Up to 2D6 spearmen rise for the Mahdist in towns and oases where no enemy land unit stands.",
    RifleShortage "rifle_shortage" "One unit of Mahdist rifles becomes spearmen.",
}
