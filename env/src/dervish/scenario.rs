//! A scenario (rules 2.4-2.7, 14) as the rules read it, built from a file by [`super::scenario_file`].

use super::board::{Board, Hex, PlaceId};
use super::catalogue::{Catalogue, Kind, Leader, Side};
use super::tables::Tables;

/// Which column of the event tables a scenario reads (4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventColumn {
    /// The El Obeid game (scenarios 1 and 4).
    ElObeid,
    /// The Khartoum game (scenarios 2 and 3).
    Khartoum,
}

/// When the −2 of the morale table for testers meleed by fanatics applies (9.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FanaticCharge {
    /// Only to non-marching testers: the reading that the worked example asks for.
    #[default]
    Marching,
    /// To either side: the literal reading.
    Always,
}

/// Options of the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Rule 12.
    pub flag: bool,
    /// Rule 9.4.
    pub fanatic_charge: FanaticCharge,
}

/// How many spearmen a district gives to the Mahdist each turn (5.2): a D6 less `less`, at least 0, and what follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recruits {
    /// Taken from the die, 0-6.
    pub less: u8,
    /// More with the Mahdi in the district, 0-6.
    pub mahdi: u8,
    /// More with a town in the district under his control, 0-6.
    pub town: u8,
}

/// So many units of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnitCount {
    /// Kind.
    pub kind: Kind,
    /// At least 1.
    pub count: u8,
}

/// Units and leaders set up at one hex (2.4-2.6).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Garrison {
    /// Where.
    pub hex: Hex,
    /// Units, in good order; may include fleet (which lies off the port).
    pub units: Vec<UnitCount>,
    /// Leaders.
    pub leaders: Vec<Leader>,
}

/// Units that their owner places in a region before play begins (2.7).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetupRegion {
    /// Text of the region for people, such as "within 3 hexes of Sinkat or Tokar".
    pub name: String,
    /// The hexes, in order (13.3); towns and hexes with an enemy garrison are already left out.
    pub hexes: Vec<Hex>,
    /// Units of the Mahdist player, kinds ascending.
    pub units: Vec<UnitCount>,
    /// Leaders placed with one of their hexes.
    pub leaders: Vec<Leader>,
}

/// Where a reinforcement appears.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// One of these hexes, chosen by the owner for all units of the entry.
    Hexes(Vec<Hex>),
    /// With any stack of the owner's.
    AnyStack,
}

/// A scheduled reinforcement (5.1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reinforcement {
    /// Game turn of arrival, 0 the first.
    pub turn: u8,
    /// Whose.
    pub side: Side,
    /// Where.
    pub arrival: Arrival,
    /// Units.
    pub units: Vec<UnitCount>,
    /// Leaders.
    pub leaders: Vec<Leader>,
    /// Only while a Souakim Field Force is in play (2.5).
    pub while_field_force: bool,
}

/// A Souakim Field Force (2.5, 4.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldForce {
    /// Units.
    pub units: Vec<UnitCount>,
    /// Leaders.
    pub leaders: Vec<Leader>,
    /// Game turn of a scheduled landing (scenario 3), if any.
    pub lands_on: Option<u8>,
    /// Game turn of a scheduled departure as by `field_force_leaves` (scenario 3), if any.
    pub leaves_on: Option<u8>,
}

/// Points for a place at the end (14).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacePoints {
    /// Which place.
    pub place: PlaceId,
    /// How many points.
    pub points: u8,
}

/// How a scenario is won (14).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Victory {
    /// 14.1 The Relief of El Obeid.
    ElObeid {
        /// Mahdist there at the end of any game turn: the Mahdist wins at once (Khartoum).
        sudden_death: PlaceId,
        /// Egyptian there at the end: the Egyptian player wins (El Obeid).
        prize: PlaceId,
        /// Points of the Mahdist for places.
        points: Vec<PlacePoints>,
        /// One more point for each full so many Egyptian-player combat units eliminated.
        units_per_point: u8,
        /// What the Mahdist needs.
        needed: u8,
    },
    /// 14.2 The Siege of Khartoum.
    Khartoum {
        /// The place (Khartoum).
        prize: PlaceId,
        /// Least melee strength of British combat units that holds it.
        british_strength: u8,
    },
    /// 14.3 Points for both sides (scenario 3).
    Points {
        /// Taken by the Mahdist: he wins at once (Souakim), if any.
        sudden_death: Option<PlaceId>,
        /// Points for the side that controls each place at the end.
        points: Vec<PlacePoints>,
        /// The Egyptian player has 1 point for each full so many Mahdist combat units eliminated; 0: none.
        mahdists_per_point: u8,
        /// The Mahdist has 1 point for each full so many enemy combat units eliminated; 0: none.
        egyptians_per_point: u8,
    },
    /// 14.3 The holder of a place at the end wins (scenario 4).
    Holder {
        /// The place (El Obeid).
        prize: PlaceId,
        /// A lesser place that counts for the margin (Bara), if any.
        lesser: Option<PlaceId>,
    },
}

/// A scenario with its map and all data it reads.
#[derive(Debug)]
pub struct Scenario {
    /// Short name: `el-obeid`, `khartoum`, `souakim`, `kordofan`, or that of a user's file.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Unit catalogue.
    pub catalogue: Catalogue,
    /// The six tables.
    pub tables: Tables,
    /// The map, restricted to the scenario's hexes.
    pub board: Board,
    /// First month, 1-12.
    pub first_month: u8,
    /// Year of the first month.
    pub first_year: u16,
    /// Number of game turns.
    pub turns: u8,
    /// Who moves first in each game turn (3.1).
    pub first_player: Side,
    /// Column of the event tables.
    pub events: EventColumn,
    /// Options.
    pub options: Options,
    /// Fixed set-up.
    pub garrisons: Vec<Garrison>,
    /// Set-up by choice, in order.
    pub regions: Vec<SetupRegion>,
    /// Reinforcements by turn, then in the order of the file; at most 64.
    pub reinforcements: Vec<Reinforcement>,
    /// Field forces 1 and 2; empty where none can land.
    pub field_forces: Vec<FieldForce>,
    /// How many Mahdists join in a district (5.2).
    pub recruits: Recruits,
    /// Whether the railway may be built (scenario 2, 8.9).
    pub railway: bool,
    /// Victory conditions.
    pub victory: Victory,
    /// The places that rules name, where the scenario has them.
    pub named: NamedPlaces,
    /// Hash over everything above (16 hex digits).
    pub hash: String,
}

/// Places that the rules name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct NamedPlaces {
    pub khartoum: Option<PlaceId>,
    pub el_obeid: Option<PlaceId>,
    pub souakim: Option<PlaceId>,
    pub trinkitat: Option<PlaceId>,
    pub goz_regeb: Option<PlaceId>,
    pub berber: Option<PlaceId>,
}

impl Scenario {
    /// Calendar month, 1-12, of a game turn.
    #[inline]
    pub fn month(&self, turn: u8) -> u8 {
        (self.first_month - 1 + turn) % 12 + 1
    }
    /// Calendar year of a game turn.
    pub fn year(&self, turn: u8) -> u16 {
        self.first_year + u16::from((self.first_month - 1 + turn) / 12)
    }
}
