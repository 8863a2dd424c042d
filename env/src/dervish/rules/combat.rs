//! Combat (9.1-9.9, 9.13) as a pure function of forces, modifiers and dice: nothing is sampled, nothing allocated.
//!
//! A combat has up to four tests, each one 2D6 roll for a whole hex. In a round the modifiers and rolling units of
//! both sides are counted before any loss of that round, so its two tests do not touch each other; the melee round
//! counts what the fire round has left.

use crate::dervish::board::{PlaceKind, Relief};
use crate::dervish::catalogue::{COMBAT, Catalogue, Class, GUNBOATS, KINDS, Kind, KindSet, LAND, Side};
use crate::dervish::force::Force;
use crate::dervish::scenario::Options;
use crate::dervish::tables::{Morale, Tables};

use super::losses;
use super::modifiers::{self, Strength};

/// All that bears on a combat but the dice.
#[derive(Clone, Debug)]
pub struct Combat<'a> {
    /// Unit catalogue (2.1).
    pub catalogue: &'a Catalogue,
    /// The morale table (9.6).
    pub tables: &'a Tables,
    /// Options: the flag (12), the reading of the fanatics' charge (9.4).
    pub options: Options,
    /// The side whose player turn it is.
    pub marching_side: Side,
    /// Event `poor_morale` (4.3): Egyptian-nation units of class L count as class R.
    pub poor_morale: bool,
    /// The hex that is attacked, where the defending side stands.
    pub target: CombatHex,
    /// The hex from which the marching side attacks.
    pub from: CombatHex,
    /// The attacking group.
    pub marching: Combatant,
    /// The other side's whole hex.
    pub defending: Combatant,
}

/// What of a hex matters to combat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CombatHex {
    /// Hills, mountain or neither.
    pub relief: Relief,
    /// The place in it.
    pub place: Option<PlaceKind>,
    /// Whether a river runs along one of its hexsides (7.2).
    pub river: bool,
    /// Whether it is adjacent to a sea hex.
    pub sea: bool,
}

impl CombatHex {
    /// Flat, no place, no water.
    pub const OPEN: CombatHex = CombatHex { relief: Relief::Flat, place: None, river: false, sea: false };
}

/// In which round a side uses the tactical rating of its leader (9.2): never in both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaderUse {
    /// In neither.
    #[default]
    None,
    /// In the fire round.
    Fire,
    /// In the melee round.
    Melee,
}

/// One side of a combat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combatant {
    /// All units that take part (9.1); gunboats, boats, fleet and flag in `good`. At most 255 units of a kind, good
    /// order and disrupted together.
    pub force: Force,
    /// Tactical rating of the leader in use; 0 if none is there.
    pub tactical: u8,
    /// Where the rating counts.
    pub leader_use: LeaderUse,
}

/// The two parts in a combat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombatRole {
    /// The player whose turn it is.
    Marching,
    /// The other player.
    Defending,
}

impl CombatRole {
    /// Both, the marching side first, which rolls first (9.3).
    pub const BOTH: [CombatRole; 2] = [CombatRole::Marching, CombatRole::Defending];

    /// The other part.
    #[inline]
    pub const fn other(self) -> CombatRole {
        match self {
            CombatRole::Marching => CombatRole::Defending,
            CombatRole::Defending => CombatRole::Marching,
        }
    }
}

/// A test: the roll that a side makes when it is fired on or meleed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Test {
    FireMarching,
    FireDefending,
    MeleeMarching,
    MeleeDefending,
}

impl Test {
    /// All tests in the order in which they are rolled.
    pub const ALL: [Test; 4] = [Test::FireMarching, Test::FireDefending, Test::MeleeMarching, Test::MeleeDefending];

    /// Who tests.
    #[inline]
    pub const fn role(self) -> CombatRole {
        match self {
            Test::FireMarching | Test::MeleeMarching => CombatRole::Marching,
            Test::FireDefending | Test::MeleeDefending => CombatRole::Defending,
        }
    }

    /// In which round.
    #[inline]
    pub const fn round(self) -> Round {
        match self {
            Test::FireMarching | Test::FireDefending => Round::Fire,
            Test::MeleeMarching | Test::MeleeDefending => Round::Melee,
        }
    }
}

/// The two rounds of a combat (9.3, 9.13).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Round {
    Fire,
    Melee,
}

impl Round {
    /// The test of each side, by [`CombatRole`].
    #[inline]
    const fn tests(self) -> [Test; 2] {
        match self {
            Round::Fire => [Test::FireMarching, Test::FireDefending],
            Round::Melee => [Test::MeleeMarching, Test::MeleeDefending],
        }
    }
}

/// Rolls by [`Test`] as index, each 2-12, or 0 while it has not been made.
pub type Dice = [u8; 4];

/// A test that has been rolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Sum of the modifiers (9.4) without the flag's.
    pub modifier: i32,
    /// Roll and modifier.
    pub total: i32,
    /// 1 if rows R and L are read one higher for the flag (12.2), else 0.
    pub flag: i32,
    /// By [`Class`]: the result of each class of which the side has a land unit.
    pub results: [Option<Morale>; 4],
}

/// How a combat has ended (9.9), before retreat, spoils and advance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolution {
    /// The marching side.
    pub marching: SideResult,
    /// The other.
    pub defending: SideResult,
    /// `None` for a draw: both sides broken, or neither.
    pub winner: Option<CombatRole>,
}

/// How a combat has ended for one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideResult {
    /// Land units at the start of the combat.
    pub start: u32,
    /// What is left, vessels, fleet and flag included. The flag is gone if no combat unit of this force is (12.1).
    pub force: Force,
    /// Land units destroyed, by kind: `good` those that were in good order at the start, `disrupted` those that were
    /// disrupted then.
    pub destroyed: Force,
    /// Units that were disrupted in this combat and are left, by [`Kind::index`].
    pub newly_disrupted: [u8; KINDS],
    /// Gunboats eliminated, to be rolled for by 9.11: Egyptian, British.
    pub gunboats_lost: [u8; 2],
    /// Whether at least half of the land units at the start are destroyed or newly disrupted (9.9).
    pub broken: bool,
}

impl Combat<'_> {
    /// The test that is to be rolled next after the rolls made, which must have been made in order; `None` if the
    /// combat is over. Rolls in `dice` for tests that are not called for are ignored.
    pub fn next_test(&self, dice: &Dice) -> Option<Test> {
        for round in [Round::Fire, Round::Melee] {
            let standing = self.standing(round, dice);
            let due = |test: &Test| standing.calls_for(*test) && dice[*test as usize] == 0;
            if let Some(test) = round.tests().into_iter().find(due) {
                return Some(test);
            }
        }
        None
    }

    /// Sum of the modifiers of a test (9.4), without the flag's; `None` if it is not called for. The roll itself need
    /// not have been made; those of the round before must.
    pub fn modifier(&self, test: Test, dice: &Dice) -> Option<i32> {
        let standing = self.standing(test.round(), dice);
        standing.calls_for(test).then(|| modifiers::modifier(self, test, &standing.strengths))
    }

    /// A test and what it gave; `None` if it is not called for or its roll has not been made.
    pub fn reading(&self, test: Test, dice: &Dice) -> Option<Reading> {
        let standing = self.standing(test.round(), dice);
        let die = dice[test as usize];
        if die == 0 || !standing.calls_for(test) {
            return None;
        }
        let force = &standing.forces[test.role() as usize];
        let modifier = modifiers::modifier(self, test, &standing.strengths);
        let total = i32::from(die) + modifier;
        let land = force.kinds_present().and(LAND);
        Some(Reading { modifier, total, flag: self.flag(force), results: self.results(force, land, total) })
    }

    /// The combat played with these rolls. A test whose roll has not been made costs nothing, so for a combat that is
    /// not over this is how it stands.
    pub fn resolve(&self, dice: &Dice) -> Resolution {
        let melee = self.standing(Round::Melee, dice);
        let forces = self.forces_after(&melee, Round::Melee, dice);
        let [marching, defending] = CombatRole::BOTH.map(|role| self.side_result(role, &forces[role as usize]));
        Resolution { marching, defending, winner: winner(marching.broken, defending.broken) }
    }

    /// The combatant in a part.
    #[inline]
    pub fn combatant(&self, role: CombatRole) -> &Combatant {
        match role {
            CombatRole::Marching => &self.marching,
            CombatRole::Defending => &self.defending,
        }
    }

    /// The hex in which a side stands.
    #[inline]
    pub fn hex(&self, role: CombatRole) -> &CombatHex {
        match role {
            CombatRole::Marching => &self.from,
            CombatRole::Defending => &self.target,
        }
    }

    /// The side in a part.
    #[inline]
    pub fn side(&self, role: CombatRole) -> Side {
        match role {
            CombatRole::Marching => self.marching_side,
            CombatRole::Defending => self.marching_side.other(),
        }
    }

    /// The class of a kind in this game turn (2.1, 4.3 `poor_morale`).
    #[inline]
    pub fn class(&self, kind: Kind) -> Class {
        self.catalogue.class_under(kind, self.poor_morale)
    }

    pub(super) fn start(&self) -> Standing {
        Standing::of(self, [self.marching.force, self.defending.force])
    }

    /// Both sides at the start of a round, after the rolls of the round before.
    fn standing(&self, round: Round, dice: &Dice) -> Standing {
        let start = self.start();
        match round {
            Round::Fire => start,
            Round::Melee => Standing::of(self, self.forces_after(&start, Round::Fire, dice)),
        }
    }

    /// Both forces after a round.
    fn forces_after(&self, before: &Standing, round: Round, dice: &Dice) -> [Force; 2] {
        round.tests().map(|test| match dice[test as usize] {
            0 => before.forces[test.role() as usize],
            die => self.tested(before, test, die),
        })
    }

    /// The force of the side that tests after a roll, its losses taken.
    fn tested(&self, before: &Standing, test: Test, die: u8) -> Force {
        let force = before.forces[test.role() as usize];
        if !before.calls_for(test) {
            return force;
        }
        let total = i32::from(die) + modifiers::modifier(self, test, &before.strengths);
        self.suffered(before, test, &self.test_results(&force, test, total))
    }

    /// The force of the side that tests after these results of its classes.
    pub(super) fn suffered(&self, before: &Standing, test: Test, results: &[Option<Morale>; 4]) -> Force {
        let mut force = before.forces[test.role() as usize];
        let rolling = before.strengths[test.role().other() as usize].rolling(test.round());
        losses::suffer(&mut force, results, rolling, test.round(), |kind| self.class(kind));
        if force.count_of(COMBAT) == 0 {
            force.good[Kind::Flag.index()] = 0;
        }
        force
    }

    /// The results of all classes that can suffer from a test: in the fire round those of gunboats too (9.8).
    pub(super) fn test_results(&self, force: &Force, test: Test, total: i32) -> [Option<Morale>; 4] {
        let exposed = match test.round() {
            Round::Fire => LAND.or(GUNBOATS),
            Round::Melee => LAND,
        };
        self.results(force, force.kinds_present().and(exposed), total)
    }

    /// The result of each class to which one of `kinds` belongs (9.6, 12.2).
    fn results(&self, force: &Force, kinds: KindSet, total: i32) -> [Option<Morale>; 4] {
        let flag = self.flag(force);
        let mut results = [None; 4];
        for kind in kinds.iter() {
            let class = self.class(kind);
            let bonus = if matches!(class, Class::R | Class::L) { flag } else { 0 };
            results[class as usize].get_or_insert_with(|| self.tables.morale(class, total + bonus));
        }
        results
    }

    /// What the flag adds to rows R and L (12.2).
    fn flag(&self, force: &Force) -> i32 {
        const EGYPTIANS: KindSet =
            KindSet::of(&[Kind::Levy, Kind::RifleR, Kind::RifleL, Kind::EgyptianCavalry, Kind::EgyptianGun]);
        let flown = self.options.flag && force.count(Kind::Flag) > 0 && force.count_of(EGYPTIANS) > 0;
        i32::from(flown)
    }

    /// Compares a side's survivors with what it began with (9.9).
    pub(super) fn side_result(&self, role: CombatRole, force: &Force) -> SideResult {
        let start = &self.combatant(role).force;
        let mut destroyed = Force::EMPTY;
        let mut newly_disrupted = [0; KINDS];
        let (mut units, mut lost) = (0, 0);
        for kind in start.kinds_present().and(LAND).iter() {
            let k = kind.index();
            let gone = start.count(kind) - force.count(kind);
            // Of a kind the units that came disrupted die first: a good-order unit is destroyed only when no
            // disrupted one of its class is left (9.8, 9.9).
            destroyed.disrupted[k] = start.disrupted[k].min(gone as u8);
            destroyed.good[k] = gone as u8 - destroyed.disrupted[k];
            newly_disrupted[k] = force.disrupted[k] - (start.disrupted[k] - destroyed.disrupted[k]);
            units += start.count(kind);
            lost += gone + u32::from(newly_disrupted[k]);
        }
        let boats_lost = |kind: Kind| start.good[kind.index()] - force.good[kind.index()];
        SideResult {
            start: units,
            force: *force,
            destroyed,
            newly_disrupted,
            gunboats_lost: [boats_lost(Kind::Gunboat), boats_lost(Kind::BritishGunboat)],
            broken: units > 0 && 2 * lost >= units,
        }
    }
}

/// Who has won (9.9): the side that alone is not broken.
#[inline]
pub(super) fn winner(marching_broken: bool, defending_broken: bool) -> Option<CombatRole> {
    match (marching_broken, defending_broken) {
        (false, true) => Some(CombatRole::Marching),
        (true, false) => Some(CombatRole::Defending),
        _ => None,
    }
}

/// Both sides at the start of a round, by [`CombatRole`], and what they bring to it.
pub(super) struct Standing {
    pub(super) forces: [Force; 2],
    pub(super) strengths: [Strength; 2],
}

impl Standing {
    pub(super) fn of(combat: &Combat, forces: [Force; 2]) -> Standing {
        Standing { forces, strengths: [Strength::of(combat, &forces[0]), Strength::of(combat, &forces[1])] }
    }

    /// Whether a test is called for: the enemy has something to fire (9.3), or there is a melee (9.13).
    pub(super) fn calls_for(&self, test: Test) -> bool {
        let [marching, defending] = &self.strengths;
        let enemy = &self.strengths[test.role().other() as usize];
        let meet = marching.land > 0 && defending.land > 0;
        meet && match test.round() {
            Round::Fire => enemy.fires,
            Round::Melee => marching.melee_units + defending.melee_units > 0,
        }
    }
}
