//! Units of one side that are looked at together, and the stacks that stand on the board, with what planning asks of
//! them over and over counted once.

use crate::doctrine::engagement::Array;
use crate::doctrine::stakes::Stakes;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::Hex;
use dervish_env::dervish::catalogue::{BRITISH_COMBAT, COMBAT, KINDS, Kind, LAND, Leader, Side};
use dervish_env::dervish::force::Force;
use dervish_env::dervish::rules::combat::LeaderUse;
use std::sync::OnceLock;

/// Units of one side that are looked at together: a stack, a group, a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Party {
    /// The units; vessels, fleet and flag may be among them.
    pub force: Force,
    /// Highest tactical rating of its leaders, 0 without one (2.2).
    pub tactical: u8,
    /// Highest strategic rating of its leaders, 0 without one (2.2).
    pub strategic: u8,
    /// Land units.
    pub land: u32,
    /// Disrupted land units.
    pub shaken: u32,
    /// Units as attrition counts them: a civilian is two (10.4).
    pub mouths: u32,
    /// Combat units.
    pub combat: u32,
    /// Good-order combat units.
    pub good: u32,
    /// Good-order British and Indian combat units.
    pub british: u32,
    /// Worth of its land units, in points.
    pub worth: f32,
}

impl Party {
    /// Nobody.
    pub const NONE: Party = Party {
        force: Force::EMPTY,
        tactical: 0,
        strategic: 0,
        land: 0,
        shaken: 0,
        mouths: 0,
        combat: 0,
        good: 0,
        british: 0,
        worth: 0.0,
    };

    /// A force under leaders with these ratings.
    pub fn of(stakes: &Stakes, force: Force, tactical: u8, strategic: u8) -> Party {
        let mut party = Party { force, tactical, strategic, ..Party::NONE };
        for kind in force.kinds_present().and(LAND).iter() {
            let (good, disrupted) = (u32::from(force.good[kind.index()]), u32::from(force.disrupted[kind.index()]));
            let count = good + disrupted;
            party.land += count;
            party.shaken += disrupted;
            party.mouths += if kind == Kind::Civilian { 2 * count } else { count };
            party.worth += count as f32 * stakes.unit(kind);
            if COMBAT.has(kind) {
                party.combat += count;
                party.good += good;
            }
            if BRITISH_COMBAT.has(kind) {
                party.british += good;
            }
        }
        party
    }

    /// Mean worth of its land units, in points; 0 without any.
    pub fn mean(&self) -> f32 {
        if self.land > 0 { self.worth / self.land as f32 } else { 0.0 }
    }

    /// Both together.
    pub fn with(&self, other: &Party) -> Party {
        let mut force = self.force;
        for k in 0..KINDS {
            force.good[k] += other.force.good[k];
            force.disrupted[k] += other.force.disrupted[k];
        }
        Party {
            force,
            tactical: self.tactical.max(other.tactical),
            strategic: self.strategic.max(other.strategic),
            land: self.land + other.land,
            shaken: self.shaken + other.shaken,
            mouths: self.mouths + other.mouths,
            combat: self.combat + other.combat,
            good: self.good + other.good,
            british: self.british + other.british,
            worth: self.worth + other.worth,
        }
    }

    /// What is left without a part of it. Leaders are all taken to go, or to stay if the part has none.
    pub fn without(&self, part: &Party) -> Party {
        let mut force = self.force;
        for k in 0..KINDS {
            force.good[k] = force.good[k].saturating_sub(part.force.good[k]);
            force.disrupted[k] = force.disrupted[k].saturating_sub(part.force.disrupted[k]);
        }
        Party {
            force,
            tactical: if part.tactical > 0 { 0 } else { self.tactical },
            strategic: if part.strategic > 0 { 0 } else { self.strategic },
            land: self.land.saturating_sub(part.land),
            shaken: self.shaken.saturating_sub(part.shaken),
            mouths: self.mouths.saturating_sub(part.mouths),
            combat: self.combat.saturating_sub(part.combat),
            good: self.good.saturating_sub(part.good),
            british: self.british.saturating_sub(part.british),
            worth: (self.worth - part.worth).max(0.0),
        }
    }

    /// How a party of `side` fights: the Mahdist's leaders help through the fire, the Egyptian player's in melee.
    pub fn array(&self, position: &Campaign, side: Side) -> Array {
        let leads = if side == Side::Mahdist { LeaderUse::Fire } else { LeaderUse::Melee };
        let catalogue = &position.scenario().catalogue;
        Array::of(catalogue, &self.force, self.tactical, leads, position.events().poor_morale)
    }

    /// How its good-order units attack.
    pub fn assailants(&self, position: &Campaign, side: Side) -> Array {
        let force = Force { disrupted: Force::EMPTY.disrupted, ..self.force };
        Party { force, ..*self }.array(position, side)
    }
}

/// All units of one side in one hex.
#[derive(Clone, PartialEq, Debug)]
pub struct Stack {
    /// Where.
    pub hex: Hex,
    /// Who.
    pub party: Party,
    array: OnceLock<Array>,
}

impl Stack {
    /// A party in a hex.
    pub fn new(hex: Hex, party: Party) -> Stack {
        Stack { hex, party, array: OnceLock::new() }
    }

    /// How the stack, one of `side`, fights in this position, disrupted units among it.
    pub fn array(&self, position: &Campaign, side: Side) -> &Array {
        self.array.get_or_init(|| self.party.array(position, side))
    }
}

/// The highest tactical and strategic ratings among the leaders of `side` in `hex` whom `goes` accepts; 0 without any.
pub fn ratings(position: &Campaign, side: Side, hex: Hex, goes: impl Fn(Leader) -> bool) -> (u8, u8) {
    let mut ratings = (0, 0);
    for leader in position.leaders_at(hex, side).filter(|l| goes(*l)) {
        let data = position.scenario().catalogue.leader(leader);
        ratings = (ratings.0.max(data.tactical), ratings.1.max(data.strategic));
    }
    ratings
}

/// Clears `stacks` and fills it with those of a side by hex (13.3).
pub fn gather(position: &Campaign, side: Side, stakes: &Stakes, stacks: &mut Vec<Stack>) {
    stacks.clear();
    let mut cohorts = position.units().as_slice().iter().filter(|c| c.side() == side).peekable();
    while let Some(first) = cohorts.next() {
        let hex = first.hex();
        let mut force = Force::EMPTY;
        let mut next = Some(first);
        while let Some(c) = next {
            let counts = if c.disrupted() { &mut force.disrupted } else { &mut force.good };
            counts[c.kind().index()] += c.count();
            next = cohorts.next_if(|c| c.hex() == hex);
        }
        let (tactical, strategic) = ratings(position, side, hex, |_| true);
        stacks.push(Stack::new(hex, Party::of(stakes, force, tactical, strategic)));
    }
}
