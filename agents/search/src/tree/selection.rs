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

    /// The outcome to visit next at an expanded chance node: the one with the lowest (visits + 1/2) / weight
    /// (Sainte-Laguë), so that visits stay within one of proportion to the weights and no sampling noise enters.
    ///
    /// `widening` below 1 widens progressively (Couëtoux et al. 2011): after n visits at most n^widening outcomes, rounded up,
    /// have been visited, the heaviest first, so that many outcomes don't keep a search from looking further ahead. One more is
    /// begun where nothing is left to learn from those.
    pub fn select_outcome(&self, node: NodeId, widening: f64) -> EdgeId {
        let range = self.range(node);
        let edges = &self.edges[range.clone()];
        let may_widen = widening >= 1.0 || {
            let begun = edges.iter().filter(|edge| edge.visits + edge.in_flight > 0).count();
            (begun as f64) < f64::from(self.node(node).visits + 1).powf(widening)
        };
        // Among the outcomes that may be visited, and among the others.
        let mut best = [(f64::INFINITY, range.start); 2];
        for (edge, index) in edges.iter().zip(range) {
            let visits = edge.visits + edge.in_flight;
            let due = (f64::from(visits) + 0.5) / edge.weight;
            let best = &mut best[usize::from(visits == 0 && !may_widen)];
            if due < best.0 {
                match self.standing(edge) {
                    Standing::Open => *best = (due, index),
                    Standing::Behind => return EdgeId(index as u32),
                    Standing::Settled => {}
                }
            }
        }
        let [(due, index), (_, other)] = best;
        EdgeId(if due.is_finite() { index } else { other } as u32)
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
