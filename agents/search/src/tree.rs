//! The statistics of a search tree over decisions and rolls, in flat memory that is used again for every move.
//!
//! All values are expected results in [-1, 1] **for [`Seat::First`]**. One player often decides several times in a row,
//! so nothing is negated from ply to ply; a decision node knows whose decision it is and reads the sign from that.
//! Positions are not kept: a search plays them again from the root.

use dervish_env::game::{Action, Actor, Outcome, Seat};
use rustc_hash::FxHashMap;
use std::ops::Range;

mod backup;
mod growth;
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
    /// Its node has booked the value of the solved node behind it: it has nothing more to tell.
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
    /// At a roll, where among its outcomes the first draw falls, of 2^32 equal places.
    start: u32,
    /// At a roll, how many draws among its outcomes there were.
    draws: u32,
    /// Sum of mass times value. At a decision over the node's own evaluations, of mass 1 each, and its visited edges, the mass
    /// of which is their visits. At a roll over its own evaluations until an outcome is visited, and from then on over the
    /// visited outcomes ([`Tree::back_up`]).
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
    /// Whether the node that it leaves knows its exact value.
    booked: bool,
    /// Weight of the outcome, at a chance node.
    weight: f64,
    /// How often it was drawn there.
    draws: u32,
    child: u32,
    first_roll: u32,
    roll_count: u16,
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
            booked: false,
            weight,
            draws: 0,
            child: NO_CHILD,
            first_roll: first_roll as u32,
            roll_count: roll_count as u16,
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
        &self.rolls[edge.first_roll as usize..][..usize::from(edge.roll_count)]
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
            Some(_) if edge.booked => Standing::Settled,
            Some(_) => Standing::Behind,
        }
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
