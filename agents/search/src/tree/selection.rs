//! Which edge of a node comes next: while a search goes down, and in the line that it thinks most likely.

use super::{EdgeId, NodeId, Standing, Tree, sign_of};
use dervish_agents::agent::Event;
use dervish_env::game::{Actor, Seat};

/// How the action to try next is found. Values are in [-1, 1].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SelectionRule {
    /// UCB1 (Auer, Cesa-Bianchi and Fischer 2002; UCT, Kocsis and Szepesvári 2006): an untried action first, else the
    /// highest value + exploration * sqrt(ln(visits of the node) / visits of the action).
    Uct {
        /// Factor of the exploration term.
        exploration: f64,
    },
    /// PUCT (Rosin 2011, in the form of Silver et al. 2017): the highest value + exploration * prior * sqrt(visits of the
    /// node) / (1 + visits of the action), where an untried action has the value of the node.
    Puct {
        /// Factor of the exploration term.
        exploration: f64,
    },
}

impl SelectionRule {
    /// Whether it follows priors.
    #[inline]
    pub fn wants_priors(&self) -> bool {
        matches!(self, SelectionRule::Puct { .. })
    }
}

impl Tree {
    /// The action to try next at an expanded node where `seat` decides: one that is not solved, if there is one.
    pub fn select_action(&self, node: NodeId, seat: Seat, rule: SelectionRule) -> EdgeId {
        self.select(node, seat, rule, false)
    }

    /// The action that the rule wants next, solved or not. Where visits are a policy, actions whose value is exact must have
    /// their share of them, though nothing more is learnt there.
    pub fn select_any_action(&self, node: NodeId, seat: Seat, rule: SelectionRule) -> EdgeId {
        self.select(node, seat, rule, true)
    }

    fn select(&self, node: NodeId, seat: Seat, rule: SelectionRule, settled_too: bool) -> EdgeId {
        let sign = sign_of(seat);
        let range = self.range(node);
        let mut best = (f64::NEG_INFINITY, range.start);
        let edges = self.edges[range.clone()].iter().zip(range);
        match rule {
            SelectionRule::Uct { exploration } => {
                let log_visits = f64::from(self.node(node).visits.max(1)).ln();
                for (edge, index) in edges {
                    match self.standing(edge) {
                        Standing::Behind => return EdgeId(index as u32),
                        Standing::Settled if !settled_too => continue,
                        Standing::Open | Standing::Settled => {}
                    }
                    if edge.visits + edge.in_flight == 0 {
                        return EdgeId(index as u32);
                    }
                    let (visits, value) = edge.with_virtual_losses(sign);
                    let score = value + exploration * (log_visits / visits).sqrt();
                    if score > best.0 {
                        best = (score, index);
                    }
                }
            }
            SelectionRule::Puct { exploration } => {
                let unvisited = sign * self.node(node).value();
                let root_visits = f64::from(self.node(node).visits.max(1)).sqrt();
                for (edge, index) in edges {
                    match self.standing(edge) {
                        Standing::Behind => return EdgeId(index as u32),
                        Standing::Settled if !settled_too => continue,
                        Standing::Open | Standing::Settled => {}
                    }
                    let (visits, value) = edge.with_virtual_losses(sign);
                    let value = if visits > 0.0 { value } else { unvisited };
                    let score = value + exploration * f64::from(edge.prior) * root_visits / (1.0 + visits);
                    if score > best.0 {
                        best = (score, index);
                    }
                }
            }
        }
        EdgeId(best.1 as u32)
    }

    /// The outcome to visit next at an expanded chance node. Each is drawn with its probability, so that few visits expect what
    /// the dice do, and draws are spread as evenly as can be: after as many as the weights sum to, each outcome was drawn
    /// as often as its weight says. Where a draw meets an outcome of which nothing is left to learn, another is made.
    ///
    /// `widening` below 1 widens progressively (Couëtoux et al. 2011): after n visits at most n^widening outcomes, rounded up,
    /// have been visited, so that many outcomes don't keep a search from looking further ahead. Visits that may draw no other
    /// one go to the one that has the lowest (visits + 1/2) / weight (Sainte-Laguë).
    pub fn select_outcome(&mut self, node: NodeId, widening: f64) -> EdgeId {
        // After so many draws that met nothing but what is solved, the longest due is visited without one.
        const MOST_DRAWS: u32 = 16;
        let range = self.range(node);
        let (mut begun, mut weights) = (0, 0.0);
        // The longest due of those with something to learn, and of the visited ones among them.
        let (mut open, mut visited) = ((f64::INFINITY, range.start), (f64::INFINITY, range.start));
        for index in range.clone() {
            let edge = &self.edges[index];
            let visits = edge.visits + edge.in_flight;
            begun += u32::from(visits > 0);
            weights += edge.weight;
            match self.standing(edge) {
                Standing::Behind => return EdgeId(index as u32),
                Standing::Settled => continue,
                Standing::Open => {}
            }
            let due = (f64::from(visits) + 0.5) / edge.weight;
            if due < open.0 {
                open = (due, index);
            }
            if visits > 0 && due < visited.0 {
                visited = (due, index);
            }
        }
        let may_widen = widening >= 1.0 || f64::from(begun) < f64::from(self.node(node).visits + 1).powf(widening);
        if !may_widen && visited.0.is_finite() {
            return EdgeId(visited.1 as u32);
        }
        let draws = if open.0.is_finite() { MOST_DRAWS } else { 0 };
        for _ in 0..draws {
            let node = &mut self.nodes[node.0 as usize];
            let mut place = evenly_spread(node.start, node.draws, weights as u64) as f64;
            node.draws += 1;
            let drawn = self.edges[range.clone()].iter().position(|edge| {
                place -= edge.weight;
                place < 0.0
            });
            // A place lies among the outcomes unless rounding has put it behind the last.
            let index = drawn.map_or(range.end - 1, |drawn| range.start + drawn);
            self.edges[index].draws += 1;
            if self.standing(&self.edges[index]) == Standing::Open {
                return EdgeId(index as u32);
            }
        }
        EdgeId(open.1 as u32)
    }

    /// The edge that the search thinks most likely at an expanded node: at a decision the most visited, then the best
    /// for the player, then the lowest action, unless a solved action is as good; at a roll the heaviest, then the lowest
    /// outcome. `None` if none was visited.
    pub fn likeliest(&self, node: NodeId) -> Option<EdgeId> {
        let visited = || self.edge_ids(node).filter(|&edge| self.edge(edge).visits > 0);
        match self.node(node).actor {
            Actor::Player(seat) => {
                let is_solved = |edge: &EdgeId| self.exact_value(self.edge(*edge)).is_some();
                let worth = |edge: EdgeId| sign_of(seat) * self.edge(edge).value;
                let by_value = |a: &EdgeId, b: &EdgeId| {
                    let by_action = self.edge(*b).action.cmp(&self.edge(*a).action);
                    worth(*a).total_cmp(&worth(*b)).then(by_action)
                };
                let by_visits = |a: &EdgeId, b: &EdgeId| self.edge(*a).visits.cmp(&self.edge(*b).visits);
                let solved = visited().filter(is_solved).max_by(by_value);
                let open = visited().filter(|edge| !is_solved(edge));
                match (solved, open.max_by(|a, b| by_visits(a, b).then(by_value(a, b)))) {
                    (Some(solved), Some(open)) => Some(if worth(solved) >= worth(open) { solved } else { open }),
                    (solved, open) => solved.or(open),
                }
            }
            Actor::Chance => visited().max_by(|&a, &b| {
                let by_weight = self.edge(a).weight.total_cmp(&self.edge(b).weight);
                by_weight.then_with(|| self.rolls(b).cmp(self.rolls(a)))
            }),
            Actor::Finished => None,
        }
    }

    /// The line that the search thinks most likely, at most 24 steps, beginning with `first` if that is given.
    pub fn principal_variation(&self, mut first: Option<EdgeId>) -> Vec<Event> {
        const REPORTED_STEPS: usize = 24;
        let mut events = Vec::with_capacity(REPORTED_STEPS);
        let mut next = Some(Tree::ROOT);
        while let Some(node) = next.filter(|_| events.len() < REPORTED_STEPS) {
            let Some(edge) = first.take().or_else(|| self.likeliest(node)) else { break };
            match self.node(node).actor {
                Actor::Player(seat) => events.push(Event::Played(seat, self.edge(edge).action)),
                _ => events.extend(self.rolls(edge).iter().map(|&outcome| Event::Rolled(outcome))),
            }
            next = self.edge(edge).child();
        }
        events
    }
}

/// The place in `0..count` where the draw number `draw` falls, counted from 0, the first of them at `start`, of 2^32 equal
/// places: steps of about the golden part of the whole, which lie far from each other from the first on, and which have no
/// factor in common with it, so that every place is met once before any is met again.
fn evenly_spread(start: u32, draw: u32, count: u64) -> u64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let nearest = ((count as f64 * GOLDEN) as u64).max(1);
    let step = (nearest..count).find(|&step| greatest_common_divisor(step, count) == 1).unwrap_or(1);
    let first = (u128::from(start) * u128::from(count)) >> u32::BITS;
    ((first + u128::from(draw) * u128::from(step)) % u128::from(count.max(1))) as u64
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
