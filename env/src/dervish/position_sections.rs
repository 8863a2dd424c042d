//! The fields of a position file as they stand in the JSON, before names are looked up and after they are written.
//! What each means is told in [`super::position_file`].

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::campaign::{Favour, GroupKind, Phase, War};
use super::catalogue::{Kind, Leader, Side};
use super::decision::Decision;
use super::rules::combat::LeaderUse;
use super::tables::Event;
use super::units::Status;

/// A whole file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sections {
    pub(super) format: u32,
    pub(super) game: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) rules_version: Option<u32>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) rules_hash: Option<String>,
    pub(super) scenario: String,
    pub(super) turn: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) month: Option<String>,
    pub(super) active: Side,
    pub(super) phase: Phase,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) pending: Option<PendingSection>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) winner: Option<Winner>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) region: Option<u8>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) to_place: Option<ToPlace>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) resume: Option<Resume>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) stacks: Vec<Stack>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) lost_leaders: Vec<Leader>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) control: Control,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) eliminated: Eliminated,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) held: Option<Held>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) arrived: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) gunboats_out: Vec<GunboatAway>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) gunboats_lost: Gunboats,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) railway: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) events: Events,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) group: Option<GroupSection>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) battle: Option<BattleSection>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) escaping: Vec<Leader>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) sinking: Option<Sinking>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) spent: Vec<String>,
}

/// Whether a field has the value that stands for "nothing": it is then not written.
fn is_neutral<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What is waited for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingSection {
    pub(super) decision: Decision,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) hex: Option<String>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) subject: Option<Subject>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) amount: u8,
}

/// Whom or what a decision is about.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "the subject is neither a name nor a number from 1 to 255")]
pub(super) enum Subject {
    Number(u8),
    Name(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Winner {
    Egyptian,
    Mahdist,
    Draw,
}

/// Units of a set-up region that are still to be placed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToPlace {
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) mahdist_spearmen: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) mahdist_rifles: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) mahdist_cavalry: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) mahdist_gun: u8,
}

/// Where a reinforcement phase goes on after a roll for losses.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Resume {
    /// After this reinforcement of the scenario, 1 the first.
    Arrival(u8),
    /// After the recruits of this district.
    District(String),
}

/// All units and leaders of a hex.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stack {
    pub(super) hex: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) units: Vec<Line>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) leaders: Vec<LeaderLine>,
}

/// Units of a kind and state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) count: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) disrupted: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) status: Option<Status>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) group: bool,
}

/// A leader: his name alone, or with what he has done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "neither a leader's name nor an object with his name, status and group")]
pub(super) enum LeaderLine {
    Fresh(String),
    Marked(MarkedLeader),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkedLeader {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) status: Option<Status>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) group: bool,
}

/// Places and the sides that control them, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Control(pub(super) Vec<(String, Side)>);

impl Serialize for Control {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (place, side) in &self.0 {
            map.serialize_entry(place, side)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Control {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Control, D::Error> {
        struct Places;
        impl<'de> Visitor<'de> for Places {
            type Value = Control;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of places and sides")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Control, A::Error> {
                let mut places = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    places.push(entry);
                }
                Ok(Control(places))
            }
        }
        deserializer.deserialize_map(Places)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Eliminated {
    #[serde(default)]
    pub(super) egyptian: u16,
    #[serde(default)]
    pub(super) mahdist: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Held {
    pub(super) by: Side,
    pub(super) months: u8,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GunboatAway {
    pub(super) kind: Kind,
    pub(super) hex: String,
    pub(super) returns: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gunboats {
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) gunboat: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) british_gunboat: u8,
}

impl From<[u8; 2]> for Gunboats {
    fn from([gunboat, british_gunboat]: [u8; 2]) -> Gunboats {
        Gunboats { gunboat, british_gunboat }
    }
}

impl From<Gunboats> for [u8; 2] {
    fn from(Gunboats { gunboat, british_gunboat }: Gunboats) -> [u8; 2] {
        [gunboat, british_gunboat]
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Events {
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) current: Option<Event>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) amount: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) poor_morale: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) withdraw: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) dry_weather: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) good_harvest: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) religious_disagreement: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) poor_communications: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) spoilt_biscuits: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) favoured: Option<String>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) favour: Option<Favour>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) war: Option<War>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) field_forces: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) landing: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) leaving: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) in_play: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupSection {
    pub(super) kind: GroupKind,
    pub(super) hex: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) came_from: Option<String>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) rolls: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) failed: bool,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) favoured: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BattleSection {
    pub(super) from: String,
    pub(super) target: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) leader_use: Both<LeaderUse>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) dice: Rounds,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) winner: Option<Side>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) guns_taken: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) rifles_taken: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) gunboats_hit: Gunboats,
}

/// Something of each side of a combat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Both<T: Default + PartialEq> {
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) marching: T,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) defending: T,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rounds {
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) fire: Both<u8>,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) melee: Both<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sinking {
    pub(super) hex: String,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) gunboat: u8,
    #[serde(default, skip_serializing_if = "is_neutral")]
    pub(super) british_gunboat: u8,
}
