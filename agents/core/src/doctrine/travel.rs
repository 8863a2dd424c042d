//! How far it is: travel costs over the ground alone, enemies not counted.
//!
//! The rules say where a group can go now; this says which way lies its aim, months away. Costs depend on the map
//! alone, so that they are worked out once for each aim.

use dervish_env::dervish::board::{Board, CELLS, Ground, Hex, PlaceKind, Relief};
use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::scenario::Scenario;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Movement points for a river hexside at a town or village, where a side that has taken it may cross (8.3): what is
/// left of a move is lost.
const CROSSING: u16 = 5;
/// Movement points that a voyage from port to port stands for (8.8).
const VOYAGE: u16 = 6;
/// No way.
pub const UNREACHABLE: u16 = u16::MAX;
/// Fields kept at most; each takes about 5 kB.
const KEPT: usize = 600;

/// Travel costs towards hexes of one scenario.
#[derive(Clone, Debug, Default)]
pub struct Travel {
    /// Hash of the scenario.
    scenario: String,
    fields: HashMap<(Hex, Side), Box<[u16]>>,
}

impl Travel {
    /// Movement points from each hex, by [`Hex::index`], to `aim`; [`UNREACHABLE`] where there is no way. The cost of the
    /// aim itself counts, that of the start does not.
    pub fn towards(&mut self, scenario: &Scenario, side: Side, aim: Hex) -> &[u16] {
        if self.scenario != scenario.hash {
            self.fields.clear();
            self.scenario.clone_from(&scenario.hash);
        }
        if self.fields.len() >= KEPT && !self.fields.contains_key(&(aim, side)) {
            self.fields.clear();
        }
        self.fields.entry((aim, side)).or_insert_with(|| field(scenario, side, aim))
    }

    /// Movement points from one hex to another.
    pub fn cost(&mut self, scenario: &Scenario, side: Side, from: Hex, aim: Hex) -> u16 {
        self.towards(scenario, side, aim)[from.index()]
    }
}

/// Dijkstra's algorithm backwards from the aim.
fn field(scenario: &Scenario, side: Side, aim: Hex) -> Box<[u16]> {
    let board = &scenario.board;
    let mut costs = vec![UNREACHABLE; CELLS].into_boxed_slice();
    let mut frontier = BinaryHeap::new();
    costs[aim.index()] = 0;
    frontier.push(Reverse((0u16, aim)));
    let ports = (side == Side::Egyptian).then(|| ports(scenario)).flatten();
    while let Some(Reverse((cost, to))) = frontier.pop() {
        if cost > costs[to.index()] {
            continue;
        }
        let mut reach = |from: Hex, step: u16| {
            let total = cost.saturating_add(step);
            if total < costs[from.index()] {
                costs[from.index()] = total;
                frontier.push(Reverse((total, from)));
            }
        };
        for direction in 0..6 {
            let from = board.cell(to).neighbours[direction];
            if board.is_land(from)
                && let Some(step) = step(board, from, to, direction)
            {
                reach(from, step);
            }
        }
        if let Some([a, b]) = ports
            && (to == a || to == b)
        {
            reach(if to == a { b } else { a }, VOYAGE);
        }
    }
    costs
}

fn ports(scenario: &Scenario) -> Option<[Hex; 2]> {
    let hex = |place: Option<dervish_env::dervish::board::PlaceId>| {
        place.map(|p| scenario.board.places[usize::from(p.0)].hex)
    };
    Some([hex(scenario.named.souakim)?, hex(scenario.named.trinkitat)?])
}

/// Cost of the step from `from` to `to`, which lies in `direction + 3` of it (8.3).
fn step(board: &Board, from: Hex, to: Hex, direction: usize) -> Option<u16> {
    let (cell, start) = (board.cell(to), board.cell(from));
    let hex = match cell.relief {
        Relief::Flat => 1,
        Relief::Hills => 2,
        Relief::Mountain => 3,
    };
    debug_assert!(!matches!(cell.ground, Ground::Off | Ground::Sea));
    if cell.rivers >> direction & 1 == 0 {
        return Some(hex);
    }
    if cell.atbara >> direction & 1 == 1 {
        return Some(hex + 1);
    }
    let crossing = |h: Hex| matches!(board.place_kind(h), Some(PlaceKind::Town | PlaceKind::Village));
    (start.place.is_some() && crossing(from) || crossing(to)).then_some(hex + CROSSING)
}
