//! One look over a position: its stacks, which token stands for what, and what is around a hex.

use std::cell::RefCell;

use super::atlas::{Atlas, ground, nearest};
use super::columns::{columns, distance, distance_value, factors, factors_value, sided, truth};
use crate::dervish::board::{CELLS, Hex, PlaceId};
use crate::dervish::campaign::{BattleStage, Campaign, LeaderState};
use crate::dervish::catalogue::{COMBAT, Kind, LAND, LEADERS, Leader, Side};
use crate::dervish::units::{CAPACITY, Cohort, Status};
use crate::encode::Channel;

/// Columns of what is in and around a hex, shared by tokens and actions.
pub(super) mod around {
    use super::*;

    columns! {
        CONTROL[2] = |i| Channel::flag(sided(i, "control of the place"));
        PRESENT[2] = |i| Channel::flag(sided(i, "stack in the hex"));
        MELEE[2] = |i| factors(sided(i, "melee factors in the hex, disrupted units half"));
        FIRE[2] = |i| factors(sided(i, "fire factors in the hex, good order alone"));
        MELEE_NEAR[2] = |i| factors(sided(i, "melee factors in the adjacent hexes, disrupted units half"));
        ZONE[2] = |i| Channel::flag(sided(i, "good-order combat unit adjacent, not across a river (8.3)"));
        BESIEGED[1] = |_| Channel::flag("besieged by the enemy of who controls the place (6.4)");
        TO_STACK[2] = |i| distance(sided(i, "combat units: distance to the nearest"));
        TO_STAKE[2] = |i| distance(sided(i, "places at stake: distance to the nearest"));
        TO_FREE_STAKE[1] = |_| distance("places at stake that nobody controls: distance to the nearest");
        PENDING[1] = |_| Channel::flag("hex of the pending decision or roll");
        GROUP[1] = |_| Channel::flag("hex of the group");
        CAME_FROM[1] = |_| Channel::flag("hex from which the group came");
        TARGET[1] = |_| Channel::flag("attacked hex");
        FAVOURED[1] = |_| Channel::flag("hex of urgency or religious fervour");
        SPENT[1] = |_| Channel::flag("a supply unit was spent here in this phase");
        RAILWAY[1] = |_| Channel::flag("built railway");
    }
}

/// Width of [`Survey::hex_row`]: the ground of a hex, then what is around it.
pub(super) const HEX_ROW: usize = ground::WIDTH + around::WIDTH;

/// All columns of [`Survey::hex_row`].
pub(super) fn hex_channels() -> Vec<Channel> {
    let mut channels = ground::channels();
    channels.extend(around::channels());
    channels
}

/// Units and leaders that share status and group mark, as a number below [`PARTS`]: status + 3 if in the group. Part 0
/// is fresh and outside the group.
pub(super) const PARTS: usize = 6;

/// The part of a status and group mark.
#[inline]
pub(super) const fn part(status: Status, grouped: bool) -> usize {
    status as usize + if grouped { 3 } else { 0 }
}

#[inline]
pub(super) fn cohort_part(cohort: Cohort) -> usize {
    part(cohort.status(), cohort.grouped())
}

#[inline]
pub(super) fn leader_part(leader: &LeaderState) -> usize {
    part(leader.status, leader.grouped)
}

/// Units and leaders of one side in one hex (1.7).
#[derive(Clone, Copy, Debug)]
pub(super) struct Stack {
    pub(super) hex: Hex,
    pub(super) side: Side,
    /// Its cohorts among [`crate::dervish::units::Units::as_slice`].
    first: u16,
    end: u16,
    /// Leaders in the hex, one bit each.
    pub(super) leaders: u16,
    /// Parts that are there, one bit each.
    pub(super) parts: u8,
    /// Its token; those of its parts but part 0 follow in order.
    pub(super) token: u32,
    /// Twice its melee factors, disrupted units half.
    melee: u32,
    fire: u32,
    /// Whether it has a combat unit, and one in good order.
    combat: bool,
    good_combat: bool,
}

impl Stack {
    const NONE: Stack = Stack {
        hex: Hex::NONE,
        side: Side::Egyptian,
        first: 0,
        end: 0,
        leaders: 0,
        parts: 0,
        token: 0,
        melee: 0,
        fire: 0,
        combat: false,
        good_combat: false,
    };

    /// Melee factors, disrupted units half.
    pub(super) fn melee(&self) -> f32 {
        self.melee as f32 / 2.0
    }

    /// Fire factors of the units in good order.
    pub(super) fn fire(&self) -> f32 {
        self.fire as f32
    }

    /// How many tokens stand for its parts but part 0.
    pub(super) fn detachments(&self) -> u32 {
        (self.parts & !1).count_ones()
    }
}

/// Most stacks: each has a cohort or a leader.
const MOST_STACKS: usize = CAPACITY + LEADERS;
const _: () = assert!(MOST_STACKS < u8::MAX as usize, "a stack's number and one for none fit a byte");

/// The stacks of a position, whoever looks at it.
struct Stacks {
    /// One more than the number of the stack of each side in each hex; 0 for none.
    at: [[u8; CELLS]; 2],
    stacks: [Stack; MOST_STACKS],
    len: usize,
    /// Axial coordinates of the stacks of each side that have a combat unit.
    fighters: [[[i16; 2]; MOST_STACKS]; 2],
    fighter_count: [usize; 2],
    /// Axial coordinates of the places at stake that each side controls, then of those that nobody does.
    stakes: [Vec<[i16; 2]>; 3],
    first_place: u32,
}

/// Where places at stake are found that nobody controls.
const NOBODY: usize = 2;

impl Stacks {
    fn none() -> Stacks {
        Stacks {
            at: [[0; CELLS]; 2],
            stacks: [Stack::NONE; MOST_STACKS],
            len: 0,
            fighters: [[[0; 2]; MOST_STACKS]; 2],
            fighter_count: [0; 2],
            stakes: [const { Vec::new() }; 3],
            first_place: 0,
        }
    }

    /// Forgets one position and takes those of another.
    fn count(&mut self, position: &Campaign, atlas: &Atlas) {
        for stack in &self.stacks[..self.len] {
            self.at[stack.side as usize][stack.hex.index()] = 0;
        }
        (self.len, self.fighter_count) = (0, [0; 2]);
        let catalogue = &position.scenario.catalogue;
        for (i, &cohort) in position.units.as_slice().iter().enumerate() {
            let stack = self.stack_for(cohort.hex(), cohort.side());
            // Cohorts of a side in a hex stand side by side, for kinds are sorted by side.
            if stack.end == 0 {
                stack.first = i as u16;
            }
            stack.end = i as u16 + 1;
            stack.parts |= 1 << cohort_part(cohort);
            let data = catalogue.of(cohort.kind());
            let n = u32::from(cohort.count());
            let good = !cohort.disrupted();
            stack.melee += u32::from(data.melee) * n * if good { 2 } else { 1 };
            if good {
                stack.fire += u32::from(data.fire) * n;
            }
            let combat = COMBAT.has(cohort.kind());
            stack.combat |= combat;
            stack.good_combat |= combat && good;
        }
        for leader in Leader::ALL {
            let state = position.leaders[leader.index()];
            if state.hex.is_some() {
                let stack = self.stack_for(state.hex, leader.side());
                stack.leaders |= 1 << leader.index();
                stack.parts |= 1 << leader_part(&state);
            }
        }
        let mut token = 0;
        for stack in &mut self.stacks[..self.len] {
            stack.token = token;
            token += 1 + stack.detachments();
            if stack.combat {
                let count = &mut self.fighter_count[stack.side as usize];
                self.fighters[stack.side as usize][*count] = atlas.axial(stack.hex);
                *count += 1;
            }
        }
        self.first_place = token;
        self.stakes.iter_mut().for_each(Vec::clear);
        for stake in &atlas.stakes {
            let held = position.controller(stake.place).map_or(NOBODY, |side| side as usize);
            self.stakes[held].push(atlas.axial(stake.hex));
        }
    }

    fn stack_for(&mut self, hex: Hex, side: Side) -> &mut Stack {
        let number = &mut self.at[side as usize][hex.index()];
        if *number == 0 {
            self.stacks[self.len] = Stack { hex, side, ..Stack::NONE };
            self.len += 1;
            *number = self.len as u8;
        }
        &mut self.stacks[usize::from(*number) - 1]
    }
}

/// The position that a thread looked at last.
struct LastLook {
    of: Option<Campaign>,
    stacks: Stacks,
}

thread_local! {
    /// A position is looked at several times in a row: for its tokens and for its actions.
    static LAST_LOOK: RefCell<Box<LastLook>> = RefCell::new(Box::new(LastLook { of: None, stacks: Stacks::none() }));
}

/// A position seen whole.
pub(super) struct Survey<'a> {
    pub(super) position: &'a Campaign,
    pub(super) atlas: &'a Atlas,
    /// Whose point of view.
    pub(super) view: Side,
    known: &'a Stacks,
}

impl Survey<'_> {
    /// Shows `use_it` the position as `view` sees it, by the atlas of its scenario.
    pub(super) fn with<T>(position: &Campaign, atlas: &Atlas, view: Side, use_it: impl FnOnce(&Survey<'_>) -> T) -> T {
        LAST_LOOK.with_borrow_mut(|last| {
            let LastLook { of, stacks } = &mut **last;
            if of.as_ref() != Some(position) {
                *of = None;
                stacks.count(position, atlas);
                *of = Some(*position);
            }
            use_it(&Survey { position, atlas, view, known: stacks })
        })
    }
}

impl<'a> Survey<'a> {
    /// All stacks, those with units first, by hex.
    pub(super) fn stacks(&self) -> &'a [Stack] {
        &self.known.stacks[..self.known.len]
    }

    /// The stack of a side in a hex.
    #[inline]
    pub(super) fn stack(&self, hex: Hex, side: Side) -> Option<&'a Stack> {
        let number = usize::from(self.known.at[side as usize][hex.index()]);
        number.checked_sub(1).map(|i| &self.known.stacks[i])
    }

    /// The cohorts of a stack.
    pub(super) fn cohorts(&self, stack: &Stack) -> &'a [Cohort] {
        &self.position.units.as_slice()[usize::from(stack.first)..usize::from(stack.end)]
    }

    /// The token of a place.
    pub(super) fn place_token(&self, place: PlaceId) -> u32 {
        self.known.first_place + u32::from(place.0)
    }

    /// The token that stands for a hex: the stack of `first`, else that of the other side, else the place.
    pub(super) fn token_at(&self, hex: Hex, first: Side) -> Option<u32> {
        if !hex.is_some() {
            return None;
        }
        let stack = self.stack(hex, first).or_else(|| self.stack(hex, first.other())).map(|stack| stack.token);
        stack.or_else(|| self.position.scenario.board.cell(hex).place.map(|place| self.place_token(place)))
    }

    /// The token of the group that acts: the first of its parts.
    pub(super) fn group_token(&self) -> Option<u32> {
        let hex = self.position.group.hex;
        let stack = if hex.is_some() { self.stack(hex, self.position.active)? } else { return None };
        let before = stack.parts & 0b110;
        (stack.parts >> 3 != 0).then(|| stack.token + 1 + before.count_ones())
    }

    /// 0 for the viewer's side, 1 for the other.
    #[inline]
    pub(super) fn sided(&self, side: Side) -> usize {
        usize::from(side != self.view)
    }

    /// Writes the ground of a hex and what is around it into [`HEX_ROW`] columns, which are zero.
    pub(super) fn hex_row(&self, hex: Hex, row: &mut [f32]) {
        let (ground_row, row) = row.split_at_mut(ground::WIDTH);
        ground_row.copy_from_slice(&self.atlas.ground[hex.index()]);
        let position = self.position;
        let cell = position.scenario.board.cell(hex);
        if let Some(place) = cell.place
            && let Some(owner) = position.controller(place)
        {
            row[around::CONTROL + self.sided(owner)] = 1.0;
            let near = cell.neighbours.iter().any(|n| n.is_some() && self.stack(*n, owner.other()).is_some());
            row[around::BESIEGED] = truth(near && position.besieged(hex, owner));
        }
        for side in Side::BOTH {
            let i = self.sided(side);
            if let Some(stack) = self.stack(hex, side) {
                row[around::PRESENT + i] = 1.0;
                row[around::MELEE + i] = factors_value(stack.melee());
                row[around::FIRE + i] = factors_value(stack.fire());
            }
            let mut near = 0;
            for (direction, &neighbour) in cell.neighbours.iter().enumerate() {
                if neighbour.is_some()
                    && let Some(stack) = self.stack(neighbour, side)
                {
                    near += stack.melee;
                    if stack.good_combat && cell.rivers >> direction & 1 == 0 {
                        row[around::ZONE + i] = 1.0;
                    }
                }
            }
            row[around::MELEE_NEAR + i] = factors_value(near as f32 / 2.0);
        }
        self.distances(hex, row);
        let mark = |other: Hex| truth(other == hex);
        row[around::PENDING] = mark(position.pending.hex);
        row[around::GROUP] = mark(position.group.hex);
        row[around::CAME_FROM] = mark(position.group.came_from);
        row[around::TARGET] = truth(position.battle.stage != BattleStage::None && position.battle.target == hex);
        row[around::FAVOURED] = mark(position.events.favoured);
        row[around::SPENT] = truth(position.spent.contains(&hex));
        row[around::RAILWAY] = truth(position.railway > 0 && cell.rail <= position.railway);
    }

    fn distances(&self, hex: Hex, row: &mut [f32]) {
        let here = self.atlas.axial(hex);
        let Stacks { fighters, fighter_count, stakes, .. } = self.known;
        for side in Side::BOTH {
            let (i, side) = (self.sided(side), side as usize);
            row[around::TO_STACK + i] = distance_value(nearest(here, &fighters[side][..fighter_count[side]]));
            row[around::TO_STAKE + i] = distance_value(nearest(here, &stakes[side]));
        }
        row[around::TO_FREE_STAKE] = distance_value(nearest(here, &stakes[NOBODY]));
    }

    /// Distance to the nearest place at stake that `side` does not control.
    pub(super) fn to_goal(&self, hex: Hex, side: Side) -> Option<u32> {
        let here = self.atlas.axial(hex);
        let goals = [side.other() as usize, NOBODY].map(|held| nearest(here, &self.known.stakes[held]));
        goals.into_iter().flatten().min()
    }
}

/// Land units of a list of cohorts, a civilian as two (10.4).
pub(super) fn mouths(cohorts: &[Cohort]) -> u32 {
    let mouths = |c: &Cohort| u32::from(c.count()) * if c.kind() == Kind::Civilian { 2 } else { 1 };
    cohorts.iter().filter(|c| LAND.has(c.kind())).map(mouths).sum()
}
