//! Sides, kinds of unit and leaders (rules 2.1-2.3): identifiers in code, numbers in `data/dervish/units.toml`.

use serde::{Deserialize, Serialize};

use crate::game::Seat;

/// The two players (rule 1.1). The Egyptian player also commands British and Indian units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Side {
    /// All British, Indian and Egyptian units and pro-Egyptian Sudanese.
    Egyptian,
    /// The rest.
    Mahdist,
}

impl Side {
    /// Both sides, Egyptian first.
    pub const BOTH: [Side; 2] = [Side::Egyptian, Side::Mahdist];

    /// The other side.
    #[inline]
    pub const fn other(self) -> Side {
        match self {
            Side::Egyptian => Side::Mahdist,
            Side::Mahdist => Side::Egyptian,
        }
    }

    /// The seat of this side in the framework: Egyptian first, Mahdist second, whoever moves first.
    #[inline]
    pub const fn seat(self) -> Seat {
        match self {
            Side::Egyptian => Seat::First,
            Side::Mahdist => Seat::Second,
        }
    }

    /// The side that sits at `seat`.
    #[inline]
    pub const fn of_seat(seat: Seat) -> Side {
        match seat {
            Seat::First => Side::Egyptian,
            Seat::Second => Side::Mahdist,
        }
    }

    /// `egyptian` or `mahdist`.
    pub const fn id(self) -> &'static str {
        match self {
            Side::Egyptian => "egyptian",
            Side::Mahdist => "mahdist",
        }
    }
}

/// How many kinds of unit there are.
pub const KINDS: usize = 25;

macro_rules! kinds {
    ($($variant:ident $id:literal),* $(,)?) => {
        /// A kind of unit, in catalogue order (2.1, 2.1a).
        #[allow(missing_docs)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Kind { $(#[serde(rename = $id)] $variant),* }
        impl Kind {
            /// All kinds in catalogue order.
            pub const ALL: [Kind; KINDS] = [$(Kind::$variant),*];
            /// The identifier of rule 2.1a.
            pub const fn id(self) -> &'static str { match self { $(Kind::$variant => $id),* } }
        }
    };
}
kinds! {
    Levy "levy", RifleR "rifle_r", RifleL "rifle_l", EgyptianCavalry "egyptian_cavalry", EgyptianGun "egyptian_gun",
    BritishInfantry "british_infantry", CamelCorps "camel_corps", BritishCavalry "british_cavalry",
    NavalInfantry "naval_infantry", BritishGun "british_gun", IndianInfantry "indian_infantry",
    IndianCavalry "indian_cavalry", Supply "supply", Camel "camel", Civilian "civilian", Gunboat "gunboat",
    BritishGunboat "british_gunboat", Boat "boat", Fleet "fleet", Flag "flag", MahdistSpearmen "mahdist_spearmen",
    MahdistRifles "mahdist_rifles", MahdistCavalry "mahdist_cavalry", MahdistGun "mahdist_gun",
    MahdistBoat "mahdist_boat",
}

impl Kind {
    /// Position in catalogue order.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind at a position in catalogue order below [`KINDS`].
    #[inline]
    pub const fn at(index: usize) -> Kind {
        Kind::ALL[index]
    }

    /// The kind of an identifier.
    pub fn from_id(id: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| k.id() == id)
    }

    /// The side that commands it (2.1). `Boat` is the Egyptian player's, `MahdistBoat` the Mahdist's.
    #[inline]
    pub const fn side(self) -> Side {
        if (self as u8) < Kind::MahdistSpearmen as u8 { Side::Egyptian } else { Side::Mahdist }
    }

    /// The set that holds this kind alone.
    #[inline]
    pub const fn set(self) -> KindSet {
        KindSet(1 << self as u32)
    }
}

/// A set of kinds, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindSet(pub u32);

impl KindSet {
    /// No kind.
    pub const EMPTY: KindSet = KindSet(0);

    /// The set of the given kinds.
    pub const fn of(kinds: &[Kind]) -> KindSet {
        let mut bits = 0;
        let mut i = 0;
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u32;
            i += 1;
        }
        KindSet(bits)
    }
    /// Whether `kind` is in it.
    #[inline]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> (kind as u32) & 1 == 1
    }
    /// Both sets together.
    pub const fn or(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }
    /// What both sets have in common.
    pub const fn and(self, other: KindSet) -> KindSet {
        KindSet(self.0 & other.0)
    }
    /// The kinds in it, in catalogue order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let index = bits.trailing_zeros() as usize;
            (bits != 0).then(|| {
                bits &= bits - 1;
                Kind::at(index)
            })
        })
    }
}

/// Supply, camel and civilian (2.1 *train*).
pub const TRAIN: KindSet = KindSet::of(&[Kind::Supply, Kind::Camel, Kind::Civilian]);
/// Infantry, mounted infantry, cavalry and guns (2.1 *combat unit*).
pub const COMBAT: KindSet = KindSet::of(&[
    Kind::Levy,
    Kind::RifleR,
    Kind::RifleL,
    Kind::EgyptianCavalry,
    Kind::EgyptianGun,
    Kind::BritishInfantry,
    Kind::CamelCorps,
    Kind::BritishCavalry,
    Kind::NavalInfantry,
    Kind::BritishGun,
    Kind::IndianInfantry,
    Kind::IndianCavalry,
    Kind::MahdistSpearmen,
    Kind::MahdistRifles,
    Kind::MahdistCavalry,
    Kind::MahdistGun,
]);
/// Everything but vessels, the fleet and the flag (2.1 *land unit*).
pub const LAND: KindSet = COMBAT.or(TRAIN);
/// The two kinds of gunboat.
pub const GUNBOATS: KindSet = KindSet::of(&[Kind::Gunboat, Kind::BritishGunboat]);
/// Gunboats and boats of either side: what moves on rivers.
pub const VESSELS: KindSet = GUNBOATS.or(KindSet::of(&[Kind::Boat, Kind::MahdistBoat]));
/// British and Indian combat units (1.1 for sections 4, 5 and 14).
pub const BRITISH_COMBAT: KindSet = KindSet::of(&[
    Kind::BritishInfantry,
    Kind::CamelCorps,
    Kind::BritishCavalry,
    Kind::NavalInfantry,
    Kind::BritishGun,
    Kind::IndianInfantry,
    Kind::IndianCavalry,
]);

/// Nation of a unit (2.1). Trains, boats and the like have none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nation {
    /// Egyptian.
    Egyptian,
    /// British.
    British,
    /// Indian.
    Indian,
    /// Mahdist.
    Mahdist,
    /// None.
    None,
}

/// Arm of a unit (2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Arm {
    Infantry,
    MountedInfantry,
    Cavalry,
    Gun,
    Train,
    River,
    Sea,
    Marker,
}

/// Class: column of the morale and recovery tables (2.1, 9.6, 11.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Class {
    /// Rabble.
    R,
    /// Line.
    L,
    /// Fanatic. Before veteran: equal results are served in the order R, L, F, V (9.8).
    F,
    /// Veteran.
    V,
}

impl Class {
    /// All classes in the order in which equal results are served (9.8).
    pub const ALL: [Class; 4] = [Class::R, Class::L, Class::F, Class::V];
    /// `R`, `L`, `F` or `V`.
    pub const fn id(self) -> &'static str {
        match self {
            Class::R => "R",
            Class::L => "L",
            Class::F => "F",
            Class::V => "V",
        }
    }
}

/// The numbers of a kind (2.1), from `units.toml`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KindData {
    /// Nation.
    pub nation: Nation,
    /// Arm.
    pub arm: Arm,
    /// Class; boats, fleet and flag, which never test, hold an unused value.
    pub class: Class,
    /// Melee factor in good order.
    pub melee: u8,
    /// Fire factor.
    pub fire: u8,
    /// Gun factor.
    pub gun: u8,
    /// Cavalry factor.
    pub cavalry: u8,
    /// Movement points.
    pub movement: u8,
    /// Counters in the pool (2.3).
    pub pool: u8,
    /// Land units that a vessel carries (8.7); 0 for all else.
    pub carries: u8,
    /// Whether the unit is armed with rifles for spoils (9.10: all infantry but levies).
    pub rifle_armed: bool,
}

/// How many leaders there are.
pub const LEADERS: usize = 12;

macro_rules! leaders {
    ($($variant:ident $id:literal),* $(,)?) => {
        /// A leader, in the order of rule 2.1a.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Leader { $(#[serde(rename = $id)] $variant),* }
        impl Leader {
            /// All leaders in order.
            pub const ALL: [Leader; LEADERS] = [$(Leader::$variant),*];
            /// The identifier of rule 2.1a.
            pub const fn id(self) -> &'static str { match self { $(Leader::$variant => $id),* } }
        }
    };
}
leaders! {
    Gordon "gordon", Hicks "hicks", Baker "baker", Graham "graham", Wolseley "wolseley", Stewart "stewart",
    Earle "earle", Mahdi "mahdi", OsmanDigma "osman_digma", Abdullahi "abdullahi", Nejumi "nejumi",
    AbuAnga "abu_anga",
}

impl Leader {
    /// Position in order.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The leader of an identifier.
    pub fn from_id(id: &str) -> Option<Leader> {
        Leader::ALL.into_iter().find(|l| l.id() == id)
    }
    /// The side he serves.
    #[inline]
    pub const fn side(self) -> Side {
        if (self as u8) < Leader::Mahdi as u8 { Side::Egyptian } else { Side::Mahdist }
    }
}

/// The ratings of a leader (2.2) and his movement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeaderData {
    /// Added to march rolls (8.31) and recovery rolls (11.1).
    pub strategic: u8,
    /// Added to one combat roll (9.4).
    pub tactical: u8,
    /// Movement points when he goes alone (8.10).
    pub movement: u8,
}

/// The unit catalogue (2.1-2.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Catalogue {
    /// By [`Kind::index`].
    pub kinds: [KindData; KINDS],
    /// By [`Leader::index`].
    pub leaders: [LeaderData; LEADERS],
}

impl Catalogue {
    /// The numbers of `kind`.
    #[inline]
    pub fn of(&self, kind: Kind) -> &KindData {
        &self.kinds[kind.index()]
    }
    /// The class of `kind`; under the event `poor_morale` Egyptian units of class L are of class R, guns and gunboats
    /// too (4.3).
    #[inline]
    pub fn class_under(&self, kind: Kind, poor_morale: bool) -> Class {
        let data = self.of(kind);
        let sunk = poor_morale && data.nation == Nation::Egyptian && data.class == Class::L;
        if sunk { Class::R } else { data.class }
    }
    /// The ratings of `leader`.
    #[inline]
    pub fn leader(&self, leader: Leader) -> LeaderData {
        self.leaders[leader.index()]
    }
}
