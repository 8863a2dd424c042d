//! The ends of a search's ways down its tree.

use crate::tree::{NodeId, Step};
use dervish_env::game::{Actor, Position};

/// A position at the end of a way down the tree.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<P> {
    pub position: P,
    /// The way from the root.
    pub path: Vec<Step>,
    /// Where its value is kept, if the memory sufficed for a node.
    pub node: Option<NodeId>,
    /// Its value for the first seat, if it is solved.
    pub known: Option<f64>,
}

impl<P: Position> Leaf<P> {
    /// Whether an evaluator must judge it.
    pub fn wants_evaluation(&self) -> bool {
        self.known.is_none() && self.position.actor() != Actor::Finished
    }
}

/// Leaves that are not in use, kept for their memory.
#[derive(Clone, Debug)]
pub(crate) struct SpareLeaves<P> {
    spare: Vec<Leaf<P>>,
}

impl<P: Position> SpareLeaves<P> {
    pub fn new() -> SpareLeaves<P> {
        SpareLeaves { spare: Vec::new() }
    }

    /// A leaf at the root of the search of `root`.
    pub fn leaf_at(&mut self, root: &P) -> Leaf<P> {
        match self.spare.pop() {
            Some(mut leaf) => {
                leaf.position.clone_from(root);
                leaf.path.clear();
                leaf.node = None;
                leaf.known = None;
                leaf
            }
            None => Leaf { position: root.clone(), path: Vec::new(), node: None, known: None },
        }
    }

    /// Takes a leaf back.
    pub fn keep(&mut self, leaf: Leaf<P>) {
        self.spare.push(leaf);
    }
}
