//! The statistics of a search tree over decisions and rolls, in flat memory that is used again for every move.
//!
//! All values are expected results in [-1, 1] **for [`Seat::First`]**. One player often decides several times in a row,
//! so nothing is negated from ply to ply; a decision node knows whose decision it is and reads the sign from that.
//! Positions are not kept: a search plays them again from the root.

use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Seat, WeightedOutcome};
use rand::seq::SliceRandom;
use std::ops::Range;

/// A tree of decision, chance and finished nodes, bounded in memory.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The rolls of all chance edges, one after another.
    rolls: Vec<Outcome>,
    capacity_bytes: usize,
}

/// Index of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeId(u32);

/// Index of an edge, which is an action or an outcome at one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeId(u32);

/// One step of a descent: the node and the edge taken there.
pub type Step = (NodeId, EdgeId);

/// A decision, a chance or a finished node.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// Who acts here.
    pub actor: Actor,
    /// How often a simulation came here.
    pub visits: u32,
    first_edge: u32,
    edge_count: u32,
    /// Sum of mass times value over the node's own evaluations (mass 1 each) and its visited edges. At a decision the
    /// mass of an edge is its visits; at a roll it is its weight, so that the value is the weighted mean over the visited
    /// outcomes however often each was visited.
    total: f64,
    mass: f64,
}

impl Node {
    /// Expected result for [`Seat::First`]; 0 before the first evaluation.
    #[inline]
    pub fn value(&self) -> f64 {
        if self.mass > 0.0 { self.total / self.mass } else { 0.0 }
    }

    /// Whether the node's actions or outcomes are in the tree.
    #[inline]
    pub fn is_expanded(&self) -> bool {
        self.edge_count > 0
    }
}

/// An action at a decision node or an outcome at a chance node.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The action, at a decision node.
    pub action: Action,
    /// How often a simulation went through it.
    pub visits: u32,
    /// Expected result for [`Seat::First`] behind this edge; 0 while unvisited.
    pub value: f64,
    /// Probability of the action under the policy that its node was expanded with; 0 without one.
    pub prior: f32,
    /// Weight of the outcome, at a chance node.
    weight: f64,
    child: u32,
    first_roll: u32,
    roll_count: u32,
}

const NO_CHILD: u32 = u32::MAX;

impl Edge {
    fn new(action: Action, weight: f64, first_roll: usize, roll_count: usize) -> Edge {
        Edge {
            action,
            visits: 0,
            value: 0.0,
            prior: 0.0,
            weight,
            child: NO_CHILD,
            first_roll: first_roll as u32,
            roll_count: roll_count as u32,
        }
    }

    /// The node behind this edge, once a simulation has put one there.
    #[inline]
    pub fn child(&self) -> Option<NodeId> {
        (self.child != NO_CHILD).then_some(NodeId(self.child))
    }
}

impl Tree {
    /// The root, present after [`Tree::reset`].
    pub const ROOT: NodeId = NodeId(0);

    /// An empty tree that will use at most about `capacity_bytes` (the root's own edges are always kept).
    pub fn new(capacity_bytes: usize) -> Tree {
        Tree { nodes: Vec::new(), edges: Vec::new(), rolls: Vec::new(), capacity_bytes }
    }

    /// Forgets everything but the memory, and puts a root there at which `actor` acts.
    pub fn reset(&mut self, actor: Actor) {
        self.nodes.clear();
        self.edges.clear();
        self.rolls.clear();
        self.push_node(actor);
    }

    /// A node.
    #[inline]
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    /// An edge.
    #[inline]
    pub fn edge(&self, edge: EdgeId) -> &Edge {
        &self.edges[edge.0 as usize]
    }

    /// The edges of a node in the order in which they are first tried; empty before expansion.
    pub fn edges(&self, node: NodeId) -> &[Edge] {
        &self.edges[self.range(node)]
    }

    /// The rolls that lead through a chance edge.
    #[inline]
    pub fn rolls(&self, edge: EdgeId) -> &[Outcome] {
        let edge = self.edge(edge);
        &self.rolls[edge.first_roll as usize..(edge.first_roll + edge.roll_count) as usize]
    }

    /// Adds the actions of a decision node, in random order so that the generator's order is no preference.
    /// Returns false, leaving the node as it was, where the memory is used up.
    pub fn expand_decision(&mut self, node: NodeId, actions: &[Action], rng: &mut SplitMix64) -> bool {
        if node != Tree::ROOT && !self.has_room(0, actions.len(), 0) {
            return false;
        }
        self.expand(node, rng, |edges, _| edges.extend(actions.iter().map(|&action| Edge::new(action, 0.0, 0, 0))));
        true
    }

    /// Adds the actions of a decision node in the given order, each with its probability under a policy. Returns false,
    /// leaving the node as it was, where the memory is used up.
    pub fn expand_with_priors(&mut self, node: NodeId, actions: &[Action], priors: &[f32]) -> bool {
        if node != Tree::ROOT && !self.has_room(0, actions.len(), 0) {
            return false;
        }
        let first = self.edges.len();
        let edges = actions.iter().zip(priors);
        self.edges.extend(edges.map(|(&action, &prior)| Edge { prior, ..Edge::new(action, 0.0, 0, 0) }));
        self.nodes[node.0 as usize].first_edge = first as u32;
        self.nodes[node.0 as usize].edge_count = actions.len() as u32;
        true
    }

    /// Adds the outcomes of a chance node. Returns false, leaving the node as it was, where the memory is used up.
    pub fn expand_roll(&mut self, node: NodeId, outcomes: &[WeightedOutcome], rng: &mut SplitMix64) -> bool {
        if !self.has_room(0, outcomes.len(), outcomes.len()) {
            return false;
        }
        self.expand(node, rng, |edges, rolls| {
            for weighted in outcomes {
                edges.push(Edge::new(Action(0), f64::from(weighted.weight), rolls.len(), 1));
                rolls.push(weighted.outcome);
            }
        });
        true
    }

    /// Adds the merged outcomes of a whole procedure to the chance node at its beginning. Returns false, leaving the
    /// node as it was, where the memory is used up.
    pub fn expand_merged(&mut self, node: NodeId, outcomes: &[MergedOutcome], rng: &mut SplitMix64) -> bool {
        let rolls = outcomes.iter().map(|outcome| outcome.rolls.len()).sum();
        if !self.has_room(0, outcomes.len(), rolls) {
            return false;
        }
        self.expand(node, rng, |edges, rolls| {
            for merged in outcomes {
                edges.push(Edge::new(Action(0), merged.weight as f64, rolls.len(), merged.rolls.len()));
                rolls.extend_from_slice(&merged.rolls);
            }
        });
        true
    }

    /// The action to try next by UCB1 (Auer, Cesa-Bianchi and Fischer 2002; UCT, Kocsis and Szepesvári 2006) at an
    /// expanded node where `seat` decides: an untried one first, else the highest value plus
    /// `exploration * sqrt(ln(visits of the node) / visits of the action)`.
    pub fn select_action(&self, node: NodeId, seat: Seat, exploration: f64) -> EdgeId {
        let log_visits = f64::from(self.node(node).visits.max(1)).ln();
        let sign = sign_of(seat);
        let mut best = (f64::NEG_INFINITY, 0);
        let range = self.range(node);
        for (edge, index) in self.edges[range.clone()].iter().zip(range) {
            if edge.visits == 0 {
                return EdgeId(index as u32);
            }
            let score = sign * edge.value + exploration * (log_visits / f64::from(edge.visits)).sqrt();
            if score > best.0 {
                best = (score, index);
            }
        }
        EdgeId(best.1 as u32)
    }

    /// The outcome to visit next at an expanded chance node: the one with the lowest (visits + 1/2) / weight
    /// (Sainte-Laguë), so that visits stay within one of proportion to the weights and no sampling noise enters.
    pub fn select_outcome(&self, node: NodeId) -> EdgeId {
        let mut best = (f64::INFINITY, 0);
        let range = self.range(node);
        for (edge, index) in self.edges[range.clone()].iter().zip(range) {
            let due = (f64::from(edge.visits) + 0.5) / edge.weight;
            if due < best.0 {
                best = (due, index);
            }
        }
        EdgeId(best.1 as u32)
    }

    /// The node behind `edge`, made if there is none yet. `None` where the memory is used up.
    pub fn child_or_insert(&mut self, edge: EdgeId, actor: Actor) -> Option<NodeId> {
        if let Some(child) = self.edge(edge).child() {
            return Some(child);
        }
        if !self.has_room(1, 0, 0) {
            return None;
        }
        let child = self.push_node(actor);
        self.edges[edge.0 as usize].child = child.0;
        Some(child)
    }

    /// Books one simulation that went down `path` and valued its end at `value`; `leaf` is the node there, if the memory
    /// sufficed for one.
    pub fn back_up(&mut self, path: &[Step], leaf: Option<NodeId>, value: f64) {
        if let Some(leaf) = leaf {
            let leaf = &mut self.nodes[leaf.0 as usize];
            leaf.visits += 1;
            leaf.total += value;
            leaf.mass += 1.0;
        }
        for &(node, edge) in path.iter().rev() {
            let Edge { visits, value: old, weight, .. } = *self.edge(edge);
            let visits = f64::from(visits);
            let new = match self.edge(edge).child() {
                Some(child) => self.node(child).value(),
                None => old + (value - old) / (visits + 1.0),
            };
            let edge = &mut self.edges[edge.0 as usize];
            edge.visits += 1;
            edge.value = new;
            let node = &mut self.nodes[node.0 as usize];
            node.visits += 1;
            if node.actor != Actor::Chance {
                node.total += (visits + 1.0) * new - visits * old;
                node.mass += 1.0;
            } else if visits == 0.0 {
                node.total += weight * new;
                node.mass += weight;
            } else {
                node.total += weight * (new - old);
            }
        }
    }

    /// The edge that the search thinks most likely at an expanded node: at a decision the most visited, then the best
    /// for the player, then the lowest action; at a roll the heaviest, then the lowest outcome. `None` if none was
    /// visited.
    pub fn likeliest(&self, node: NodeId) -> Option<EdgeId> {
        let range = self.range(node);
        let visited = range.map(|index| EdgeId(index as u32)).filter(|&edge| self.edge(edge).visits > 0);
        match self.node(node).actor {
            Actor::Player(seat) => visited.max_by(|&a, &b| {
                let (a, b) = (self.edge(a), self.edge(b));
                let by_value = (sign_of(seat) * a.value).total_cmp(&(sign_of(seat) * b.value));
                a.visits.cmp(&b.visits).then(by_value).then(b.action.cmp(&a.action))
            }),
            Actor::Chance => visited.max_by(|&a, &b| {
                let by_weight = self.edge(a).weight.total_cmp(&self.edge(b).weight);
                by_weight.then_with(|| self.rolls(b).cmp(self.rolls(a)))
            }),
            Actor::Finished => None,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        bytes_of(self.nodes.len(), self.edges.len(), self.rolls.len())
    }

    fn has_room(&self, nodes: usize, edges: usize, rolls: usize) -> bool {
        self.bytes() + bytes_of(nodes, edges, rolls) <= self.capacity_bytes
    }

    fn push_node(&mut self, actor: Actor) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node { actor, visits: 0, first_edge: 0, edge_count: 0, total: 0.0, mass: 0.0 });
        id
    }

    fn expand(&mut self, node: NodeId, rng: &mut SplitMix64, add: impl FnOnce(&mut Vec<Edge>, &mut Vec<Outcome>)) {
        let first = self.edges.len();
        add(&mut self.edges, &mut self.rolls);
        self.edges[first..].shuffle(rng);
        let count = self.edges.len() - first;
        let node = &mut self.nodes[node.0 as usize];
        node.first_edge = first as u32;
        node.edge_count = count as u32;
    }

    /// Indices of the edges of a node, in the order of [`Tree::edges`].
    pub fn edge_ids(&self, node: NodeId) -> impl Iterator<Item = EdgeId> + use<> {
        self.range(node).map(|index| EdgeId(index as u32))
    }

    fn range(&self, node: NodeId) -> Range<usize> {
        let node = self.node(node);
        node.first_edge as usize..(node.first_edge + node.edge_count) as usize
    }
}

/// +1 for the seat from whose view values are kept, -1 for the other.
#[inline]
pub fn sign_of(seat: Seat) -> f64 {
    match seat {
        Seat::First => 1.0,
        Seat::Second => -1.0,
    }
}

fn bytes_of(nodes: usize, edges: usize, rolls: usize) -> usize {
    nodes * size_of::<Node>() + edges * size_of::<Edge>() + rolls * size_of::<Outcome>()
}
