//! How far it is: travel costs over the ground alone, enemies not counted.
//!
//! The rules say where a group can go now; this says which way lies its aim, months away. Costs depend on the map
//! alone, so that they are worked out once for each aim.

use crate::doctrine::weights::Weights;
use dervish_env::dervish::board::{Board, CELLS, Ground, Hex, PlaceId, PlaceKind, Relief};
use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::scenario::Scenario;
/// No way.
pub const UNREACHABLE: u16 = u16::MAX;
/// Fields kept at most; each takes about 5 kB.
const KEPT: usize = 1200;
/// More than the dearest step costs, a power of two.
const BUCKETS: usize = 32;
/// In [`Travel::numbers`]: no field yet.
const NONE: u16 = u16::MAX;

/// How an aim is come at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Approach {
    /// By entering it.
    Enter,
    /// By attacking it, which is never done across a river (9.1).
    Storm,
}

/// Travel costs towards hexes of one scenario.
#[derive(Clone, Debug)]
pub struct Travel {
    scenario: Option<&'static Scenario>,
    /// Movement points that a river hexside at a town or village, and a voyage from port to port stand for.
    crossing: u16,
    voyage: u16,
    /// Which field is that of an aim, by approach and side.
    numbers: Vec<u16>,
    /// The fields one after another, [`CELLS`] each.
    costs: Vec<u16>,
    /// Hexes to go on from, by cost modulo their number: Dial's buckets.
    buckets: [Vec<Hex>; BUCKETS],
}

impl Travel {
    /// No distances yet.
    pub fn new(weights: &Weights) -> Travel {
        let most = BUCKETS as u16 - 4;
        let (crossing, voyage) = (weights.march.crossing.min(most), weights.march.voyage.min(most));
        let numbers = vec![NONE; 4 * CELLS];
        let buckets = std::array::from_fn(|_| Vec::new());
        Travel { scenario: None, crossing, voyage, numbers, costs: Vec::new(), buckets }
    }

    /// Movement points from each hex, by [`Hex::index`], to `aim`; [`UNREACHABLE`] where there is no way. The cost of the
    /// aim itself counts, that of the start does not.
    pub fn towards(&mut self, scenario: &'static Scenario, side: Side, aim: Hex, approach: Approach) -> &[u16] {
        let same = self.scenario.is_some_and(|s| std::ptr::eq(s, scenario));
        let at = (2 * approach as usize + side as usize) * CELLS + aim.index();
        if !same || (self.numbers[at] == NONE && self.costs.len() >= KEPT * CELLS) {
            self.scenario = Some(scenario);
            self.numbers.fill(NONE);
            self.costs.clear();
        }
        if self.numbers[at] == NONE {
            self.numbers[at] = (self.costs.len() / CELLS) as u16;
            self.add_field(scenario, side, aim, approach);
        }
        &self.costs[usize::from(self.numbers[at]) * CELLS..][..CELLS]
    }

    /// Movement points from one hex to another.
    pub fn cost(&mut self, scenario: &'static Scenario, side: Side, from: Hex, aim: Hex, approach: Approach) -> u16 {
        self.towards(scenario, side, aim, approach)[from.index()]
    }

    /// Dijkstra's algorithm backwards from the aim.
    fn add_field(&mut self, scenario: &Scenario, side: Side, aim: Hex, approach: Approach) {
        let board = &scenario.board;
        let first = self.costs.len();
        self.costs.resize(first + CELLS, UNREACHABLE);
        let costs = &mut self.costs[first..];
        costs[aim.index()] = 0;
        self.buckets[0].push(aim);
        let ports = (side == Side::Egyptian).then(|| ports(scenario)).flatten();
        let (mut cost, mut empty) = (0u16, 0);
        while empty < BUCKETS {
            let Some(to) = self.buckets[usize::from(cost) % BUCKETS].pop() else {
                (cost, empty) = (cost + 1, empty + 1);
                continue;
            };
            empty = 0;
            if cost > costs[to.index()] {
                continue;
            }
            let mut reach = |from: Hex, step: u16| {
                let total = cost + step;
                if total < costs[from.index()] {
                    costs[from.index()] = total;
                    self.buckets[usize::from(total) % BUCKETS].push(from);
                }
            };
            for direction in 0..6 {
                let from = board.cell(to).neighbours[direction];
                let dry = board.cell(to).rivers >> direction & 1 == 0;
                if board.is_land(from)
                    && (dry || to != aim || approach == Approach::Enter)
                    && let Some(step) = step(board, from, to, direction, self.crossing)
                {
                    reach(from, step);
                }
            }
            if let Some([a, b]) = ports
                && (to == a || to == b)
            {
                reach(if to == a { b } else { a }, self.voyage);
            }
        }
    }
}

fn ports(scenario: &Scenario) -> Option<[Hex; 2]> {
    let hex = |place: Option<PlaceId>| place.map(|p| scenario.board.places[usize::from(p.0)].hex);
    Some([hex(scenario.named.souakim)?, hex(scenario.named.trinkitat)?])
}

/// Cost of the step from `from` to `to`, which lies in `direction + 3` of it (8.3).
fn step(board: &Board, from: Hex, to: Hex, direction: usize, crossing: u16) -> Option<u16> {
    let cell = board.cell(to);
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
    // Where a side has taken a town or village it may cross (8.3).
    let ferry = |h: Hex| matches!(board.place_kind(h), Some(PlaceKind::Town | PlaceKind::Village));
    (ferry(from) || ferry(to)).then_some(hex + crossing)
}
