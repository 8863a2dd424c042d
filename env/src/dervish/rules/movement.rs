//! Movement over land (8.3, 8.9) and along rivers (8.7): what a hex costs, what is closed, where a mover can get.

use std::cell::RefCell;

use super::super::board::{CELLS, Hex, PlaceKind, Reach as Water, WAY_ATBARA, WAY_RIVER};
use super::super::campaign::Campaign;
use super::super::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Side, VESSELS};

/// A set of hexes.
#[derive(Clone, Copy)]
pub(crate) struct HexSet([u64; CELLS.div_ceil(64)]);

impl HexSet {
    pub(crate) const EMPTY: HexSet = HexSet([0; CELLS.div_ceil(64)]);
    #[inline]
    pub(crate) fn has(&self, hex: Hex) -> bool {
        self.0[hex.index() / 64] >> (hex.index() % 64) & 1 == 1
    }
    #[inline]
    pub(crate) fn insert(&mut self, hex: Hex) {
        self.0[hex.index() / 64] |= 1 << (hex.index() % 64);
    }
}

/// Where enemies bar the way of one side.
pub(crate) struct Obstacles {
    /// Hexes with an enemy unit (the fleet, at sea, bars nobody).
    pub(crate) enemy: HexSet,
    /// Hexes with an enemy combat unit, in whatever order.
    pub(crate) combat: HexSet,
    /// Hexes adjacent to a good-order enemy combat unit, not across a river: who enters stops (8.3).
    pub(crate) stop: HexSet,
}

impl Obstacles {
    /// Those of `side`.
    pub(crate) fn of(position: &Campaign, side: Side) -> Obstacles {
        let mut obstacles = Obstacles { enemy: HexSet::EMPTY, combat: HexSet::EMPTY, stop: HexSet::EMPTY };
        let mut last_stop = Hex::NONE;
        for &c in position.units.as_slice() {
            if c.side() == side || c.kind() == Kind::Fleet {
                continue;
            }
            let hex = c.hex();
            obstacles.enemy.insert(hex);
            if !COMBAT.has(c.kind()) {
                continue;
            }
            obstacles.combat.insert(hex);
            if !c.disrupted() && hex != last_stop {
                last_stop = hex;
                let cell = position.scenario.board.cell(hex);
                for (direction, &n) in cell.neighbours.iter().enumerate() {
                    if n.is_some() && cell.rivers >> direction & 1 == 0 {
                        obstacles.stop.insert(n);
                    }
                }
            }
        }
        obstacles
    }
}

/// Hexes that a mover can reach, with the movement left there.
pub(crate) struct Reach {
    /// Movement left + 1, by hex; 0 = out of reach.
    left: [u8; CELLS],
    hexes: [Hex; CELLS],
    len: usize,
}

impl Reach {
    fn new() -> Reach {
        Reach { left: [0; CELLS], hexes: [Hex::NONE; CELLS], len: 0 }
    }
    /// Whether `hex` can be reached; the start always can.
    #[inline]
    pub(crate) fn has(&self, hex: Hex) -> bool {
        self.left[hex.index()] > 0
    }
    /// Points spent on the cheapest way to a hex that can be reached, of `allowance` points.
    pub(crate) fn spent(&self, hex: Hex, allowance: u8) -> u8 {
        allowance + 1 - self.left[hex.index()]
    }
    /// The hexes in reach, the start first, in the order of discovery.
    pub(crate) fn hexes(&self) -> &[Hex] {
        &self.hexes[..self.len]
    }
    /// Forgets everything, touching only what was reached.
    fn clear(&mut self) {
        for hex in &self.hexes[..self.len] {
            self.left[hex.index()] = 0;
        }
        self.len = 0;
    }
    #[inline]
    fn improve(&mut self, hex: Hex, left: u8) -> bool {
        let old = self.left[hex.index()];
        if left < old {
            return false;
        }
        if old == 0 {
            self.hexes[self.len] = hex;
            self.len += 1;
        } else if old == left {
            return false;
        }
        self.left[hex.index()] = left;
        true
    }
}

/// A list of hexes to go on from, by movement left: Dial's buckets as a linked list.
struct Frontier {
    heads: [u16; 32],
    entries: [(Hex, u16); Frontier::MOST],
    len: usize,
}

impl Frontier {
    /// The start, and six neighbours of each hex, which is gone on from once.
    const MOST: usize = 1 + 6 * CELLS;
    const END: u16 = u16::MAX;

    fn new() -> Frontier {
        Frontier { heads: [Frontier::END; 32], entries: [(Hex::NONE, Frontier::END); Frontier::MOST], len: 0 }
    }
    fn clear(&mut self) {
        self.heads = [Frontier::END; 32];
        self.len = 0;
    }
    #[inline]
    fn push(&mut self, hex: Hex, left: u8) {
        self.entries[self.len] = (hex, self.heads[left as usize]);
        self.heads[left as usize] = self.len as u16;
        self.len += 1;
    }
    #[inline]
    fn pop(&mut self, left: u8) -> Option<Hex> {
        let head = self.heads[left as usize];
        if head == Frontier::END {
            return None;
        }
        let (hex, next) = self.entries[head as usize];
        self.heads[left as usize] = next;
        Some(hex)
    }
}

/// What a search for reachable hexes works in: kept for each thread, since clearing what was touched is far cheaper
/// than making it anew.
struct Workspace {
    reach: Reach,
    frontier: Frontier,
}

thread_local! {
    static WORKSPACE: RefCell<Box<Workspace>> =
        RefCell::new(Box::new(Workspace { reach: Reach::new(), frontier: Frontier::new() }));
}

/// Lets `search` fill the workspace, then hands the result to `read`.
fn with_workspace<R>(search: impl FnOnce(&mut Reach, &mut Frontier), read: impl FnOnce(&Reach) -> R) -> R {
    WORKSPACE.with_borrow_mut(|workspace| {
        let Workspace { reach, frontier } = &mut **workspace;
        reach.clear();
        frontier.clear();
        search(reach, frontier);
        read(reach)
    })
}

/// Who moves by land.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mover {
    /// A group of units: may end in a hex that holds enemies but no combat unit (8.3).
    Group,
    /// A group that carries more supply units than camels: only along the railway (8.6).
    Railbound,
    /// A leader alone: enters no enemy hex (8.10).
    Leader,
    /// A link of a chain of supply units: whole costs, through hexes free of enemies, a river hexside +2 (10.2).
    Supply,
}

/// Least movement that crossing a river takes (8.3).
const LEAST_CROSSING: u8 = 2;
/// What a river hexside adds to a link of a supply chain (10.2).
const LINK_CROSSING: u8 = 2;

/// How a step from a hex to its neighbour is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Closed.
    Closed,
    /// Costs so much.
    Costs(u8),
    /// Across a river, into a hex that costs so much: takes all that is left, at least 2.
    Crossing(u8),
}

impl Campaign {
    /// Whether `side` can carry units over a river between two hexes: a boat or gunboat of his in one of them, or a
    /// town or village that he controls (8.3).
    pub(crate) fn can_cross(&self, side: Side, a: Hex, b: Hex) -> bool {
        let vessels = match side {
            Side::Egyptian => GUNBOATS.or(Kind::Boat.set()),
            Side::Mahdist => Kind::MahdistBoat.set(),
        };
        [a, b].into_iter().any(|h| {
            (matches!(self.scenario.board.place_kind(h), Some(PlaceKind::Town | PlaceKind::Village))
                && self.controls_at(side, h))
                || self.units.any(h, side, vessels)
        })
    }

    /// Whether the two hexes are joined by built railway (8.9).
    #[inline]
    pub(crate) fn joined_by_rail(&self, a: Hex, b: Hex) -> bool {
        let (ra, rb) = (self.scenario.board.cell(a).rail, self.scenario.board.cell(b).rail);
        self.is_on_the_line(a) && self.is_on_the_line(b) && ra.abs_diff(rb) == 1
    }

    /// Whether there is built railway in a hex (8.9).
    #[inline]
    fn is_on_the_line(&self, hex: Hex) -> bool {
        self.railway > 0 && self.scenario.board.cell(hex).rail <= self.railway
    }

    /// Extra cost of the Atbara (8.3): +1, from July to October +2.
    #[inline]
    fn atbara_cost(&self) -> u8 {
        if (7..=10).contains(&self.month()) { 2 } else { 1 }
    }

    /// The step from `from` in a direction, as far as the ground goes: enemies and the railway are the caller's.
    #[inline]
    pub(crate) fn step(&self, side: Side, from: Hex, direction: usize) -> Step {
        let cell = self.scenario.board.cell(from);
        let way = cell.ways[direction];
        let cost = way & !(WAY_RIVER | WAY_ATBARA);
        if way & (WAY_RIVER | WAY_ATBARA) == 0 {
            return if way == 0 { Step::Closed } else { Step::Costs(cost) };
        }
        if way & WAY_ATBARA != 0 {
            return Step::Costs(cost + self.atbara_cost());
        }
        if self.can_cross(side, from, cell.neighbours[direction]) { Step::Crossing(cost) } else { Step::Closed }
    }

    /// Hands `read` everything that a mover of `side` can reach from `start` with `movement` points (8.3, 8.9). `read`
    /// must not ask for another reach.
    pub(crate) fn reach<R>(
        &self,
        side: Side,
        start: Hex,
        movement: u8,
        mover: Mover,
        read: impl FnOnce(&Reach) -> R,
    ) -> R {
        with_workspace(|reach, frontier| self.search_land(side, start, movement, mover, reach, frontier), read)
    }

    fn search_land(
        &self,
        side: Side,
        start: Hex,
        movement: u8,
        mover: Mover,
        reach: &mut Reach,
        frontier: &mut Frontier,
    ) {
        let obstacles = Obstacles::of(self, side);
        reach.improve(start, movement + 1);
        frontier.push(start, movement);
        let link = mover == Mover::Supply;
        let by_rail = side == Side::Egyptian && self.railway > 0;
        let joins_the_line = |hex: Hex| link && by_rail && self.is_on_the_line(hex) && !obstacles.enemy.has(hex);
        for left in (0..=movement).rev() {
            while let Some(from) = frontier.pop(left) {
                if reach.left[from.index()] != left + 1 {
                    continue;
                }
                for direction in 0..6 {
                    let to = self.scenario.board.cell(from).neighbours[direction];
                    if !to.is_some() {
                        continue;
                    }
                    // A hex costs a point at least: no use going where as much was left before.
                    if !by_rail && reach.left[to.index()] >= left.max(1) {
                        continue;
                    }
                    let rail = by_rail && self.joined_by_rail(from, to) && !obstacles.enemy.has(to);
                    let mut after = if rail {
                        left
                    } else if mover == Mover::Railbound {
                        continue;
                    } else {
                        let (cost, crossing) = match self.step(side, from, direction) {
                            Step::Closed => continue,
                            // On a link a railway hex counts nothing, from wherever the link comes (10.2).
                            Step::Costs(_) if joins_the_line(to) => (0, false),
                            Step::Crossing(_) if joins_the_line(to) => (LINK_CROSSING, false),
                            Step::Costs(cost) => (cost, false),
                            Step::Crossing(cost) if link => (cost + LINK_CROSSING, false),
                            Step::Crossing(cost) => (cost.max(LEAST_CROSSING), true),
                        };
                        if cost > left {
                            // One adjacent hex per roll always (8.3).
                            if from != start || link {
                                continue;
                            }
                            0
                        } else if crossing {
                            0
                        } else {
                            left - cost
                        }
                    };
                    if obstacles.enemy.has(to) {
                        if mover != Mover::Group || obstacles.combat.has(to) {
                            continue;
                        }
                        after = 0;
                    }
                    if mover != Mover::Leader && self.religion_bars(side, from, to) {
                        continue;
                    }
                    let stops = !link && (obstacles.stop.has(to) || obstacles.enemy.has(to));
                    if stops {
                        after = 0;
                    }
                    if reach.improve(to, after + 1) && !stops && (after > 0 || by_rail) {
                        frontier.push(to, after);
                    }
                }
            }
        }
    }

    /// Whether a mover standing in `start` has anywhere to go but its own hex: without working out how far.
    pub(crate) fn has_a_way(&self, side: Side, start: Hex, mover: Mover) -> bool {
        (0..6).any(|direction| {
            let to = self.scenario.board.cell(start).neighbours[direction];
            if !to.is_some() {
                return false;
            }
            let enemy = self.enemy_in(to, side);
            if side == Side::Egyptian && self.joined_by_rail(start, to) && !enemy {
                return true;
            }
            if mover == Mover::Railbound || (mover != Mover::Leader && self.religion_bars(side, start, to)) {
                return false;
            }
            if enemy && (mover == Mover::Leader || self.units.any(to, side.other(), COMBAT)) {
                return false;
            }
            self.step(side, start, direction) != Step::Closed
        })
    }

    /// Hands `read` everything that a vessel of `side` can reach along rivers (8.7). `read` must not ask for another
    /// reach.
    pub(crate) fn river_reach<R>(
        &self,
        side: Side,
        start: Hex,
        movement: u8,
        boat: bool,
        read: impl FnOnce(&Reach) -> R,
    ) -> R {
        with_workspace(|reach, frontier| self.search_river(side, start, movement, boat, reach, frontier), read)
    }

    fn search_river(
        &self,
        side: Side,
        start: Hex,
        movement: u8,
        boat: bool,
        reach: &mut Reach,
        frontier: &mut Frontier,
    ) {
        let board = &self.scenario.board;
        let high = self.high_nile();
        reach.improve(start, movement + 1);
        frontier.push(start, movement);
        for left in (1..=movement).rev() {
            while let Some(from) = frontier.pop(left) {
                if reach.left[from.index()] != left + 1 {
                    continue;
                }
                let cell = board.cell(from);
                for direction in 0..6 {
                    let to = cell.neighbours[direction];
                    let Some(cost) = water_cost(cell.water[direction], high, boat) else { continue };
                    if !to.is_some() || cost > left || self.bars_vessel(side, from, to) {
                        continue;
                    }
                    if reach.improve(to, left - cost + 1) {
                        frontier.push(to, left - cost);
                    }
                }
            }
        }
    }

    /// Whether a vessel does not go on from a hex to the next, open as the water may be: for enemy land units there (8.7),
    /// for enemy vessels, since sides never share a hex (6.2), or by an event.
    fn bars_vessel(&self, side: Side, from: Hex, to: Hex) -> bool {
        self.units.any(to, side.other(), LAND.or(VESSELS)) || self.religion_bars(side, from, to)
    }

    /// Whether `religious_disagreement` bars a step, from the main map to the extension, to units of `side` (4.4).
    fn religion_bars(&self, side: Side, from: Hex, to: Hex) -> bool {
        let board = &self.scenario.board;
        side == Side::Mahdist
            && self.events.religious_disagreement
            && board.cell(to).extension
            && !board.cell(from).extension
    }

    /// Whether a vessel has anywhere to go.
    pub(crate) fn vessel_has_a_way(&self, side: Side, start: Hex, boat: bool) -> bool {
        let cell = self.scenario.board.cell(start);
        let high = self.high_nile();
        (0..6).any(|direction| {
            let to = cell.neighbours[direction];
            to.is_some()
                && water_cost(cell.water[direction], high, boat).is_some()
                && !self.bars_vessel(side, start, to)
        })
    }

    /// Whether a hex touches a reach on which steamers can sail this month (8.7).
    pub(crate) fn open_reach(&self, hex: Hex) -> bool {
        let reaches = self.scenario.board.cell(hex).reaches;
        reaches & Water::ALL != 0 || (self.high_nile() && reaches & Water::HIGH != 0)
    }
}

/// Points that a vessel pays for a hex (8.7): 1 on open water, boats 2 where they are hauled.
#[inline]
fn water_cost(water: u8, high_nile: bool, boat: bool) -> Option<u8> {
    if water & Water::ALL != 0 || (high_nile && water & Water::HIGH != 0) {
        Some(1)
    } else if boat && (water & Water::NONE != 0 || (high_nile && water & Water::HIGH_NONE != 0)) {
        Some(2)
    } else {
        None
    }
}
