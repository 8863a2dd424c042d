//! A position of the campaign: flat, small, copied in a few dozen nanoseconds. It knows no rule; the rules are in
//! [`super::rules`], the order in which they act in `turn.rs`.

use std::ops::Deref;

use super::board::{Hex, PlaceId};
use super::catalogue::{GUNBOATS, Kind, KindSet, LEADERS, Leader, Side};
use super::decision::Pending;
use super::scenario::Scenario;
use super::tables::Event;
use super::units::{Status, Units};

/// The scenario that a position belongs to. Scenarios live as long as the process.
#[derive(Clone, Copy)]
pub struct ScenarioRef(pub &'static Scenario);

impl Deref for ScenarioRef {
    type Target = Scenario;
    #[inline]
    fn deref(&self) -> &Scenario {
        self.0
    }
}

impl PartialEq for ScenarioRef {
    fn eq(&self, other: &ScenarioRef) -> bool {
        std::ptr::eq(self.0, other.0) || (self.0.hash == other.0.hash && self.0.name == other.0.name)
    }
}
impl Eq for ScenarioRef {}

impl std::fmt::Debug for ScenarioRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.name)
    }
}

/// The phases of a player turn (3.1), with set-up before the first and the victory check after the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Phase {
    /// Set-up by choice (2.7), before the first turn.
    Setup,
    /// Random event (4).
    Event,
    /// Reinforcements (5).
    Reinforcement,
    /// March with combat (8, 9).
    March,
    /// Supply (10).
    Supply,
    /// Recovery (11).
    Recovery,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Phase; 6] =
        [Phase::Setup, Phase::Event, Phase::Reinforcement, Phase::March, Phase::Supply, Phase::Recovery];
}

/// Where a leader is (2.2) and what he has done in this march phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeaderState {
    /// His hex; [`Hex::NONE`] before he comes and after he is lost.
    pub hex: Hex,
    /// Captured: his counter never comes back (2.3).
    pub lost: bool,
    /// Status (8.1).
    pub status: Status,
    /// Whether he is with the group that marches, sails or attacks just now.
    pub grouped: bool,
}

impl LeaderState {
    /// Not yet in play.
    pub const ABSENT: LeaderState = LeaderState { hex: Hex::NONE, lost: false, status: Status::Fresh, grouped: false };
}

/// Most gunboats that can be out at once (2.3: 7 Egyptian, 2 British).
pub const MAX_GUNBOATS: usize = 9;

/// A gunboat that is out for some turns (9.11).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct GunboatOut {
    /// Game turn from which it may come back.
    pub returns: u8,
    /// Where it was lost.
    pub hex: Hex,
    /// Whether it is a British one.
    pub british: bool,
}

impl GunboatOut {
    /// An empty entry of the list.
    pub const NONE: GunboatOut = GunboatOut { returns: u8::MAX, hex: Hex::NONE, british: false };
}

/// The war with Ethiopia (4.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum War {
    /// Not yet.
    Never,
    /// Now.
    Now,
    /// Over; there is no second one.
    Over,
}

/// How far the hex named by `urgency` or `religious_fervour` has been used.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Favour {
    /// No hex is named.
    None,
    /// A hex is named, and no group has marched from it yet.
    Named,
    /// The group that has it is under way, or has marched: the hex is where it is.
    Used,
}

/// What events have left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventState {
    /// The event of this player turn, from its roll to the end of the event phase.
    pub current: Option<Event>,
    /// Units that the event still places or removes.
    pub amount: u8,
    /// `poor_morale`: to the end of the game turn.
    pub poor_morale: bool,
    /// `withdraw`: the game ends with this game turn.
    pub withdraw: bool,
    /// `dry_weather` of the player whose turn it is.
    pub dry_weather: bool,
    /// `good_harvest` of the player whose turn it is.
    pub good_harvest: bool,
    /// `religious_disagreement`, this turn.
    pub religious_disagreement: bool,
    /// `poor_communications`, this turn.
    pub poor_communications: bool,
    /// `spoilt_biscuits`, due at the start of this turn's supply phase.
    pub spoilt_biscuits: bool,
    /// Hex of `urgency` or `religious_fervour`.
    pub favoured: Hex,
    /// State of that hex.
    pub favour: Favour,
    /// War with Ethiopia.
    pub war: War,
    /// How many field forces have come, 0-2; during an event phase the coming one is counted.
    pub field_forces: u8,
    /// A field force lands in this reinforcement phase.
    pub landing: bool,
    /// The field force leaves in this reinforcement phase.
    pub leaving: bool,
    /// A field force is in play (13.9).
    pub in_play: bool,
}

impl EventState {
    /// Nothing has happened.
    pub const NONE: EventState = EventState {
        current: None,
        amount: 0,
        poor_morale: false,
        withdraw: false,
        dry_weather: false,
        good_harvest: false,
        religious_disagreement: false,
        poor_communications: false,
        spoilt_biscuits: false,
        favoured: Hex::NONE,
        favour: Favour::None,
        war: War::Never,
        field_forces: 0,
        landing: false,
        leaving: false,
        in_play: false,
    };

    /// What of it lasts longer than a player turn.
    pub(crate) fn of_game(self) -> EventState {
        let EventState { poor_morale, withdraw, war, field_forces, in_play, .. } = self;
        EventState { poor_morale, withdraw, war, field_forces, in_play, ..EventState::NONE }
    }
}

/// What the units with the group mark are doing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum GroupKind {
    /// There is no group.
    None,
    /// A group on the march, or about to attack.
    March,
    /// A vessel and what it carries.
    Vessel,
}

/// The group that acts just now (8.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// What it is doing.
    pub kind: GroupKind,
    /// Its hex.
    pub hex: Hex,
    /// The hex from which its last roll's move began; [`Hex::NONE`] if it has not marched.
    pub came_from: Hex,
    /// March rolls made, 0-3.
    pub rolls: u8,
    /// Its last roll failed: it rolls no more.
    pub failed: bool,
    /// It has the +1 of `urgency` or `religious_fervour`.
    pub favoured: bool,
}

impl Group {
    /// No group.
    pub const NONE: Group =
        Group { kind: GroupKind::None, hex: Hex::NONE, came_from: Hex::NONE, rolls: 0, failed: false, favoured: false };
}

/// How far a combat has come (9.13).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum BattleStage {
    /// No combat.
    None,
    /// The marching player's leader use.
    LeaderMarching,
    /// The other player's leader use.
    LeaderDefending,
    /// Tests.
    Tests,
    /// Retreat of the loser.
    Retreat,
    /// Spoils and vessels.
    Vessels,
    /// Advance.
    Advance,
}

/// The combat that is fought just now (9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Battle {
    /// How far it has come.
    pub stage: BattleStage,
    /// The hex of the group that attacks.
    pub from: Hex,
    /// The attacked hex.
    pub target: Hex,
    /// Leader use of the marching and of the other side.
    pub leader_use: [super::rules::combat::LeaderUse; 2],
    /// Dice of the four tests in the order of [`super::rules::combat::Test`]; 0 = not rolled. Losses are worked out
    /// from them at the end, so that between two rolls nothing else changes.
    pub dice: [u8; 4],
    /// After the tests: the side that won, if one did.
    pub winner: Option<Side>,
    /// After the tests: Egyptian-player gun units eliminated, for spoils (9.10).
    pub guns_taken: u8,
    /// After the tests: Egyptian-player rifle-armed units eliminated, for spoils (9.10).
    pub rifles_taken: u8,
    /// After the tests: gunboats eliminated, Egyptian and British (9.11).
    pub gunboats_hit: [u8; 2],
}

impl Battle {
    /// No combat.
    pub const NONE: Battle = Battle {
        stage: BattleStage::None,
        from: Hex::NONE,
        target: Hex::NONE,
        leader_use: [super::rules::combat::LeaderUse::None; 2],
        dice: [0; 4],
        winner: None,
        guns_taken: 0,
        rifles_taken: 0,
        gunboats_hit: [0; 2],
    };
}

/// Most supply units that can be spent in one supply phase (2.3).
pub const MAX_SUPPLY: usize = 16;

/// A position of the campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Campaign {
    pub(crate) scenario: ScenarioRef,
    /// What is waited for.
    pub(crate) pending: Pending,
    /// Game turn, 0 the first.
    pub(crate) turn: u8,
    /// Whose player turn it is.
    pub(crate) active: Side,
    pub(crate) phase: Phase,
    /// Progress within the phase; its meaning is the phase's own.
    pub(crate) stage: u8,
    /// The last hex dealt with in a phase that goes through hexes in order, or [`Hex::NONE`] before the first.
    pub(crate) cursor: Hex,
    pub(crate) units: Units,
    pub(crate) leaders: [LeaderState; LEADERS],
    /// Places controlled by each side (6.3), one bit for each [`PlaceId`].
    pub(crate) control: [u64; 2],
    /// Combat units of each side eliminated so far (14.5).
    pub(crate) eliminated: [u16; 2],
    /// Scheduled reinforcements that have come or are lost, one bit each.
    pub(crate) arrived: u64,
    /// Gunboats that are out, sorted, then [`GunboatOut::NONE`].
    pub(crate) gunboats_out: [GunboatOut; MAX_GUNBOATS],
    /// Gunboats destroyed for good, Egyptian and British.
    pub(crate) gunboats_lost: [u8; 2],
    /// Hexes of railway built beyond the port (8.9).
    pub(crate) railway: u8,
    pub(crate) events: EventState,
    pub(crate) group: Group,
    pub(crate) battle: Battle,
    /// Leaders who must roll for escape (6.2), one bit each.
    pub(crate) escaping: u16,
    /// Gunboats that must roll (9.11), Egyptian and British, and where.
    pub(crate) sinking: [u8; 2],
    pub(crate) sinking_at: Hex,
    /// Set-up: units of the region still to be placed, by Mahdist kind from spearmen on.
    pub(crate) to_place: [u8; 4],
    /// Hexes of the supply units spent in this supply phase (10.2), in order of spending, then [`Hex::NONE`].
    pub(crate) spent: [Hex; MAX_SUPPLY],
    /// Game turns in a row at whose end the prize of a [`super::scenario::Victory::Holder`] scenario was held by who
    /// holds it.
    pub(crate) months_held: u8,
    /// The winner, once `pending` says that the game is over.
    pub(crate) winner: Option<Side>,
}

impl Campaign {
    /// The scenario.
    #[inline]
    pub fn scenario(&self) -> &'static Scenario {
        self.scenario.0
    }
    /// What is waited for.
    #[inline]
    pub fn pending(&self) -> Pending {
        self.pending
    }
    /// Game turn, 0 the first.
    #[inline]
    pub fn game_turn(&self) -> u8 {
        self.turn
    }
    /// Calendar month, 1-12.
    #[inline]
    pub fn month(&self) -> u8 {
        self.scenario.month(self.turn)
    }
    /// Whose player turn it is.
    #[inline]
    pub fn active(&self) -> Side {
        self.active
    }
    /// The phase.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }
    /// All units.
    #[inline]
    pub fn units(&self) -> &Units {
        &self.units
    }
    /// Where each leader is.
    #[inline]
    pub fn leader(&self, leader: Leader) -> LeaderState {
        self.leaders[leader.index()]
    }
    /// Combat units of `side` eliminated so far (14.5).
    pub fn eliminated(&self, side: Side) -> u16 {
        self.eliminated[side as usize]
    }
    /// Hexes of railway built beyond the port (8.9).
    pub fn railway_built(&self) -> u8 {
        self.railway
    }
    /// What events have left behind.
    pub fn events(&self) -> &EventState {
        &self.events
    }
    /// The group that acts just now.
    pub fn group(&self) -> &Group {
        &self.group
    }
    /// The combat that is fought just now.
    pub fn battle(&self) -> &Battle {
        &self.battle
    }

    /// Who controls a place (6.3).
    #[inline]
    pub fn controller(&self, place: PlaceId) -> Option<Side> {
        Side::BOTH.into_iter().find(|s| self.control[*s as usize] >> place.0 & 1 == 1)
    }
    /// Whether `side` controls the place in `hex`, if there is one.
    #[inline]
    pub fn controls_at(&self, side: Side, hex: Hex) -> bool {
        self.scenario.board.cell(hex).place.is_some_and(|p| self.control[side as usize] >> p.0 & 1 == 1)
    }
    /// Whether `side` controls a place that the scenario may lack.
    pub(crate) fn controls(&self, side: Side, place: Option<PlaceId>) -> bool {
        place.is_some_and(|p| self.control[side as usize] >> p.0 & 1 == 1)
    }
    /// Gives a place to a side.
    pub(crate) fn set_control(&mut self, place: PlaceId, side: Side) {
        self.control[side as usize] |= 1 << place.0;
        self.control[side.other() as usize] &= !(1 << place.0);
    }
    /// Rule 6.3: the place in `hex`, if any, goes to `side` if it has a combat unit there.
    pub(crate) fn take_control(&mut self, hex: Hex, side: Side) {
        if let Some(place) = self.scenario.board.cell(hex).place
            && self.units.any(hex, side, super::catalogue::COMBAT)
        {
            self.set_control(place, side);
        }
    }

    /// Leaders of `side` in `hex`.
    pub fn leaders_at(&self, hex: Hex, side: Side) -> impl Iterator<Item = Leader> + '_ {
        Leader::ALL.into_iter().filter(move |l| l.side() == side && self.leaders[l.index()].hex == hex)
    }
    /// Whether `side` has a leader in `hex`.
    #[inline]
    pub fn has_leader(&self, hex: Hex, side: Side) -> bool {
        self.leaders_at(hex, side).next().is_some()
    }
    /// The highest strategic rating among leaders of `side` in `hex` whom `wanted` accepts; 0 if there is none (2.2).
    pub(crate) fn strategic(&self, hex: Hex, side: Side, wanted: impl Fn(&LeaderState) -> bool) -> u8 {
        self.leaders_at(hex, side)
            .filter(|l| wanted(&self.leaders[l.index()]))
            .map(|l| self.scenario.catalogue.leader(l).strategic)
            .max()
            .unwrap_or(0)
    }
    /// The same for the tactical rating.
    pub(crate) fn tactical(&self, hex: Hex, side: Side, wanted: impl Fn(&LeaderState) -> bool) -> u8 {
        self.leaders_at(hex, side)
            .filter(|l| wanted(&self.leaders[l.index()]))
            .map(|l| self.scenario.catalogue.leader(l).tactical)
            .max()
            .unwrap_or(0)
    }

    /// Counters of `kind` in the pool (2.3).
    pub fn available(&self, kind: Kind) -> u8 {
        let mut used = self.units.on_map(kind);
        if GUNBOATS.has(kind) {
            let british = kind == Kind::BritishGunboat;
            used += u32::from(self.gunboats_lost[usize::from(british)]);
            used += u32::from(self.sinking[usize::from(british)]);
            used += u32::from(self.battle.gunboats_hit[usize::from(british)]);
            used += self.gunboats_out.iter().filter(|g| g.hex.is_some() && g.british == british).count() as u32;
        }
        (u32::from(self.scenario.catalogue.of(kind).pool)).saturating_sub(used) as u8
    }

    /// Whether a unit of `side`'s enemy that bars placement stands in `hex` (13.5): anything but the fleet, which lies
    /// at sea, and leaders.
    #[inline]
    pub fn enemy_in(&self, hex: Hex, side: Side) -> bool {
        self.units.at(hex).iter().any(|c| c.side() != side && c.kind() != Kind::Fleet)
    }
    /// Whether a neighbour of `hex` holds a unit of `side` in `kinds`, in whatever order.
    pub(crate) fn adjacent_any(&self, hex: Hex, side: Side, kinds: KindSet) -> bool {
        let cell = self.scenario.board.cell(hex);
        cell.neighbours.iter().any(|n| n.is_some() && self.units.any(*n, side, kinds))
    }
    /// Whether a neighbour of `hex` holds a good-order unit of `side` in `kinds`.
    pub(crate) fn adjacent_good(&self, hex: Hex, side: Side, kinds: KindSet) -> bool {
        let cell = self.scenario.board.cell(hex);
        cell.neighbours.iter().any(|n| n.is_some() && self.units.any_good(*n, side, kinds))
    }
    /// Hexes with a unit of `side` in `kinds`, each once, in order (13.3).
    pub(crate) fn stacks(&self, side: Side, kinds: KindSet) -> impl Iterator<Item = Hex> + '_ {
        let mut last = Hex::NONE;
        self.units.as_slice().iter().filter(move |c| c.side() == side && kinds.has(c.kind())).filter_map(move |c| {
            let hex = c.hex();
            (hex != last).then(|| {
                last = hex;
                hex
            })
        })
    }
    /// The first of [`Self::stacks`] after `last`; [`Hex::NONE`] stands before the first.
    pub(crate) fn stack_after(&self, last: Hex, side: Side, kinds: KindSet) -> Option<Hex> {
        self.stacks(side, kinds).find(|h| last == Hex::NONE || *h > last)
    }
    /// Whether high Nile holds (8.7).
    #[inline]
    pub fn high_nile(&self) -> bool {
        (7..=11).contains(&self.month())
    }
}
