//! The statistics of a search tree over decisions and rolls, in flat memory that is used again for every move.
//!
//! All values are expected results in [-1, 1] **for [`Seat::First`]**. One player often decides several times in a row,
//! so nothing is negated from ply to ply; a decision node knows whose decision it is and reads the sign from that.
//! Positions are not kept: a search plays them again from the root.

use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Position, Seat, WeightedOutcome};
use rand::seq::SliceRandom;
use rustc_hash::FxHashMap;
use std::ops::Range;

mod merging;
mod selection;
pub use selection::SelectionRule;

/// A tree of decision, chance and finished nodes, bounded in memory. Decisions that are reached in several ways may share
/// one node; as nothing is undone within a turn, there are no cycles.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The rolls of all chance edges, one after another.
    rolls: Vec<Outcome>,
    /// The nodes of known positions by key.
    known: FxHashMap<u64, u32>,
    /// Steps of the longest way that a simulation has gone since the search began.
    deepest: usize,
    capacity_bytes: usize,
}

/// Index of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeId(u32);

/// Index of an edge, which is an action or an outcome at one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EdgeId(u32);

/// What an edge of an expanded node has to tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// What lies behind it is not solved.
    Open,
    /// The node behind it was solved through another way that leads there; one more visit, which costs no evaluation,
    /// gives the edge its value.
    Behind,
    /// It has the value of the solved node behind it, and nothing more to tell.
    Settled,
}

/// What the keys of positions are used for, where a node is made for a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyUse {
    /// Every decision is found again by its key: [`Tree::find`].
    pub keep: bool,
    /// A decision that is reached from a decision takes the node that the tree has for its position, if there is one.
    pub share: bool,
}

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
    /// Key of the position, where the search asks for it.
    key: Option<u64>,
    /// Sum of mass times value over the node's own evaluations (mass 1 each) and its visited edges. At a decision the
    /// mass of an edge is its visits; at a roll it is its weight, so that the value is the weighted mean over the visited
    /// outcomes however often each was visited.
    total: f64,
    mass: f64,
    own: f64,
    /// At a decision, the best value for the player among the solved actions: he can have that.
    secured: Option<f64>,
    solved: bool,
}

impl Node {
    /// Expected result for [`Seat::First`]; 0 before the first evaluation. Exact at a solved node.
    #[inline]
    pub fn value(&self) -> f64 {
        let mean = if self.mass > 0.0 { self.total / self.mass } else { 0.0 };
        match (self.secured, self.actor) {
            (None, _) => mean,
            (Some(secured), _) if self.solved => secured,
            (Some(secured), Actor::Player(Seat::Second)) => secured.min(mean),
            (Some(secured), _) => secured.max(mean),
        }
    }

    /// What the node itself was evaluated at first, for [`Seat::First`]; 0 if it was not.
    #[inline]
    pub fn own_value(&self) -> f64 {
        self.own
    }

    /// Whether all that follows is known, as far as it matters: the value is exact (Winands, Björnsson and Saito 2008,
    /// here with dice).
    #[inline]
    pub fn is_solved(&self) -> bool {
        self.solved
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
    /// Simulations on their way through it. Each counts as a loss until its value is known ("virtual loss", Chaslot et
    /// al. 2008), so that simulations at the same time take different ways.
    in_flight: u32,
    /// Whether its value is exact because another tree has solved what lies behind it ([`Tree::merge_root`]).
    solved_elsewhere: bool,
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
            in_flight: 0,
            solved_elsewhere: false,
            weight,
            child: NO_CHILD,
            first_roll: first_roll as u32,
            roll_count: roll_count as u32,
        }
    }

    /// Visits, and mean value for the player with this sign, with every simulation under way counted as a loss.
    #[inline]
    fn with_virtual_losses(&self, sign: f64) -> (f64, f64) {
        let visits = f64::from(self.visits);
        if self.in_flight == 0 {
            return (visits, sign * self.value);
        }
        let in_flight = f64::from(self.in_flight);
        (visits + in_flight, (sign * self.value * visits - in_flight) / (visits + in_flight))
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
        Tree {
            nodes: Vec::new(),
            edges: Vec::new(),
            rolls: Vec::new(),
            known: FxHashMap::default(),
            deepest: 0,
            capacity_bytes,
        }
    }

    /// Forgets everything but the memory, and puts a root there at which `actor` acts.
    pub fn reset(&mut self, actor: Actor) {
        self.clear();
        self.push_node(actor, None);
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.rolls.clear();
        self.known.clear();
        self.deepest = 0;
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is not even a root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Steps (actions and rolls) of the longest way that a simulation has gone since the root was set.
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// The node of the position with this key, if the tree has one.
    pub fn find(&self, key: u64) -> Option<NodeId> {
        self.known.get(&key).map(|&index| NodeId(index))
    }

    /// Makes `node` the root and forgets what cannot be reached from it. `spare` lends its memory and is left empty.
    pub fn reroot(&mut self, node: NodeId, spare: &mut Tree) {
        const NOT_YET: u32 = u32::MAX;
        spare.clear();
        let mut moved = vec![NOT_YET; self.nodes.len()];
        let mut order = vec![node.0];
        moved[node.0 as usize] = 0;
        let mut next = 0;
        while let Some(&old) = order.get(next) {
            next += 1;
            let mut node = self.nodes[old as usize];
            let edges = self.range(NodeId(old));
            node.first_edge = spare.edges.len() as u32;
            if let Some(key) = node.key {
                spare.known.insert(key, spare.nodes.len() as u32);
            }
            spare.nodes.push(node);
            for mut edge in self.edges[edges].iter().copied() {
                let first = edge.first_roll as usize;
                edge.first_roll = spare.rolls.len() as u32;
                spare.rolls.extend_from_slice(&self.rolls[first..first + edge.roll_count as usize]);
                if edge.child != NO_CHILD {
                    let place = &mut moved[edge.child as usize];
                    if *place == NOT_YET {
                        *place = order.len() as u32;
                        order.push(edge.child);
                    }
                    edge.child = *place;
                }
                spare.edges.push(edge);
            }
        }
        spare.capacity_bytes = self.capacity_bytes;
        std::mem::swap(self, spare);
        spare.clear();
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

    /// Mixes other probabilities, one for each action of a node, into its priors; `share` of a prior then comes from them.
    pub fn mix_priors(&mut self, node: NodeId, others: &[f32], share: f32) {
        let range = self.range(node);
        for (edge, other) in self.edges[range].iter_mut().zip(others) {
            edge.prior += share * (other - edge.prior);
        }
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

    /// The exact value of a node for [`Seat::First`], once it is solved: a way down that leads there ends there.
    #[inline]
    pub fn solved_value(&self, node: NodeId) -> Option<f64> {
        let node = self.node(node);
        node.solved.then(|| node.value())
    }

    /// The exact value behind an edge for [`Seat::First`], if it is known.
    #[inline]
    fn exact_value(&self, edge: &Edge) -> Option<f64> {
        if edge.solved_elsewhere {
            return Some(edge.value);
        }
        edge.child().and_then(|child| self.solved_value(child))
    }

    /// What an edge has to tell.
    #[inline]
    pub fn standing(&self, edge: &Edge) -> Standing {
        match self.exact_value(edge) {
            None => Standing::Open,
            Some(value) if value == edge.value && edge.visits > 0 => Standing::Settled,
            Some(_) => Standing::Behind,
        }
    }

    /// Marks a simulation as on its way through `edge`; [`Tree::back_up`] ends that.
    pub fn enter(&mut self, edge: EdgeId) {
        self.edges[edge.0 as usize].in_flight += 1;
    }

    /// The node behind `edge`, made if there is none yet. `None` where the memory is used up.
    pub fn child_or_insert(&mut self, edge: EdgeId, actor: Actor) -> Option<NodeId> {
        self.child_or_insert_known(edge, actor, None, false)
    }

    /// The node of `position`, which lies behind `edge` of `node`, made if there is none yet. `None` where the memory is
    /// used up. `bytes` is room to write a position into.
    pub fn child_for<P: Position>(
        &mut self,
        (node, edge): Step,
        position: &P,
        keys: KeyUse,
        bytes: &mut Vec<u8>,
    ) -> Option<NodeId> {
        if let Some(child) = self.edge(edge).child() {
            return Some(child);
        }
        let actor = position.actor();
        // Only a way of decisions without a roll between them is sure never to come back to where it began.
        let within_turn = matches!(self.node(node).actor, Actor::Player(_));
        let share = keys.share && within_turn;
        let wanted = matches!(actor, Actor::Player(_)) && (keys.keep || share);
        let key = wanted.then(|| position.key_with(bytes));
        self.child_or_insert_known(edge, actor, key, share)
    }

    fn child_or_insert_known(&mut self, edge: EdgeId, actor: Actor, key: Option<u64>, share: bool) -> Option<NodeId> {
        if let Some(child) = self.edge(edge).child() {
            return Some(child);
        }
        let shared = key.filter(|_| share).and_then(|key| self.find(key));
        let child = match shared {
            Some(child) => child,
            None if self.has_room(1, 0, 0) => self.push_node(actor, key),
            None => return None,
        };
        self.edges[edge.0 as usize].child = child.0;
        Some(child)
    }

    /// Books one simulation that went down `path` and valued its end at `value`; `leaf` is the node there, if the memory
    /// sufficed for one.
    pub fn back_up(&mut self, path: &[Step], leaf: Option<NodeId>, value: f64) {
        self.back_up_by(path, leaf, value, |_, _| None);
    }

    /// As [`Tree::back_up`], where `worth` says for a decision node what it is worth to [`Seat::First`] once the value
    /// behind it is booked; `None` is the mean over its visits.
    pub fn back_up_by(
        &mut self,
        path: &[Step],
        leaf: Option<NodeId>,
        value: f64,
        worth: impl Fn(&Tree, NodeId) -> Option<f64>,
    ) {
        self.deepest = self.deepest.max(path.len());
        if let Some(leaf) = leaf {
            let leaf = &mut self.nodes[leaf.0 as usize];
            if leaf.visits == 0 {
                leaf.own = value;
            }
            leaf.visits += 1;
            leaf.total += value;
            leaf.mass += 1.0;
            if leaf.actor == Actor::Finished {
                leaf.solved = true;
                leaf.secured = Some(value);
            }
        }
        for &(id, edge) in path.iter().rev() {
            let Edge { visits, value: old, weight, .. } = *self.edge(edge);
            let exact = self.exact_value(self.edge(edge));
            let visits = f64::from(visits);
            let new = match (exact, self.edge(edge).child()) {
                (Some(exact), _) => exact,
                (None, Some(child)) => self.node(child).value(),
                (None, None) => old + (value - old) / (visits + 1.0),
            };
            let edge = &mut self.edges[edge.0 as usize];
            edge.in_flight = edge.in_flight.saturating_sub(1);
            edge.visits += 1;
            edge.value = new;
            let node = &mut self.nodes[id.0 as usize];
            node.visits += 1;
            if node.actor != Actor::Chance {
                node.total += (visits + 1.0) * new - visits * old;
                node.mass += 1.0;
                if let Some(value) = worth(self, id) {
                    let node = &mut self.nodes[id.0 as usize];
                    node.total = value * node.mass;
                }
            } else if visits == 0.0 {
                node.total += weight * new;
                node.mass += weight;
            } else {
                node.total += weight * (new - old);
            }
            if exact.is_some() {
                self.note_solved(id);
            }
        }
    }

    /// Works out what the exact values behind the edges of an expanded node say about it.
    fn note_solved(&mut self, id: NodeId) {
        let mut all = true;
        let mut best: Option<f64> = None;
        let (mut sum, mut weights) = (0.0, 0.0);
        let node = *self.node(id);
        for edge in self.edges(id) {
            let Some(value) = self.exact_value(edge) else {
                all = false;
                continue;
            };
            (sum, weights) = (sum + edge.weight * value, weights + edge.weight);
            best = Some(match (best, node.actor) {
                (None, _) => value,
                (Some(best), Actor::Player(Seat::Second)) => best.min(value),
                (Some(best), _) => best.max(value),
            });
        }
        let (secured, solved) = match node.actor {
            // Nothing is better than a sure win.
            Actor::Player(seat) => (best, all || best.is_some_and(|best| sign_of(seat) * best >= 1.0)),
            _ => (all.then(|| sum / weights), all),
        };
        let node = &mut self.nodes[id.0 as usize];
        node.secured = secured;
        node.solved = solved;
        if solved {
            // Nobody comes here again to book what was solved through another way.
            for index in self.range(id) {
                if let Some(value) = self.exact_value(&self.edges[index]) {
                    self.edges[index].value = value;
                }
            }
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        bytes_of(self.nodes.len(), self.edges.len(), self.rolls.len()) + self.known.len() * KNOWN_BYTES
    }

    fn has_room(&self, nodes: usize, edges: usize, rolls: usize) -> bool {
        self.bytes() + bytes_of(nodes, edges, rolls) + nodes * KNOWN_BYTES <= self.capacity_bytes
    }

    fn push_node(&mut self, actor: Actor, key: Option<u64>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            actor,
            visits: 0,
            first_edge: 0,
            edge_count: 0,
            key,
            total: 0.0,
            mass: 0.0,
            own: 0.0,
            secured: None,
            solved: false,
        });
        if let Some(key) = key {
            self.known.entry(key).or_insert(id.0);
        }
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

/// What an entry of the table of known positions takes, about.
const KNOWN_BYTES: usize = 24;

fn bytes_of(nodes: usize, edges: usize, rolls: usize) -> usize {
    nodes * size_of::<Node>() + edges * size_of::<Edge>() + rolls * size_of::<Outcome>()
}
