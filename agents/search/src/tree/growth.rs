//! How a tree grows, within its memory, and what it forgets when its root moves on.

use super::{Edge, EdgeId, KeyUse, NO_CHILD, Node, NodeId, Step, Tree};
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, MergedOutcome, Outcome, Position, WeightedOutcome};
use rand::RngExt;
use rand::seq::SliceRandom;

impl Tree {
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
                spare.rolls.extend_from_slice(&self.rolls[first..first + usize::from(edge.roll_count)]);
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

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        bytes_of(self.nodes.len(), self.edges.len(), self.rolls.len()) + self.known.len() * KNOWN_BYTES
    }

    fn has_room(&self, nodes: usize, edges: usize, rolls: usize) -> bool {
        self.bytes() + bytes_of(nodes, edges, rolls) + nodes * KNOWN_BYTES <= self.capacity_bytes
    }

    pub(super) fn push_node(&mut self, actor: Actor, key: Option<u64>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            actor,
            visits: 0,
            first_edge: 0,
            edge_count: 0,
            key,
            start: 0,
            draws: 0,
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
        if node.actor == Actor::Chance {
            node.start = rng.random();
        }
    }
}

/// What an entry of the table of known positions takes, about.
const KNOWN_BYTES: usize = 24;

fn bytes_of(nodes: usize, edges: usize, rolls: usize) -> usize {
    nodes * size_of::<Node>() + edges * size_of::<Edge>() + rolls * size_of::<Outcome>()
}
