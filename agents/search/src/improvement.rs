//! The policy improved by the values found so far (Danihelka et al. 2022): what Gumbel search follows, and what a node is
//! worth under it.

use crate::tree::{Edge, NodeId, Tree, sign_of};
use dervish_env::game::Actor;

/// Visits that the paper adds to those of the most visited action before values are scaled (its c_visit).
const FIRST_VISITS: f64 = 50.0;

/// Visits of the most visited action beyond which the choice of what to visit follows values no more strictly. What a node is
/// worth follows them ever more strictly.
const STRICTEST: u32 = 200;

/// How logits and values combine at one expanded decision node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Improvement {
    /// From the view of [`dervish_env::game::Seat::First`] to that of the player who decides.
    sign: f64,
    /// How many nats a difference in value of 1 counts.
    pub scale: f64,
    /// The value of the node, which stands in for those of unvisited actions.
    unvisited: f64,
}

impl Improvement {
    /// What the values of the actions at `node` make of their priors. `value_scale` is how many nats a difference in value
    /// of 1 counts for each visit of the most visited action, and for the fifty visits that the paper adds to those.
    pub fn at(tree: &Tree, node: NodeId, value_scale: f64) -> Improvement {
        Improvement::bounded(tree, node, value_scale, u32::MAX)
    }

    /// The same for the choice of what to visit below the root, where visits count up to a bound. Without it, after thousands of
    /// visits an action that looks worse by a hundredth is hardly visited any more, and what is good far below it, which
    /// takes many visits to show, is never found.
    pub fn to_visit(tree: &Tree, node: NodeId, value_scale: f64) -> Improvement {
        Improvement::bounded(tree, node, value_scale, STRICTEST)
    }

    fn bounded(tree: &Tree, node: NodeId, value_scale: f64, bound: u32) -> Improvement {
        let most_visits = tree.edges(node).iter().map(|edge| edge.visits).max().unwrap_or(0).min(bound);
        let node = tree.node(node);
        Improvement {
            sign: match node.actor {
                Actor::Player(seat) => sign_of(seat),
                _ => 1.0,
            },
            scale: (FIRST_VISITS + f64::from(most_visits)) * value_scale,
            unvisited: node.value(),
        }
    }

    /// Utility behind an action for the player who decides.
    pub fn value(&self, edge: &Edge) -> f64 {
        self.sign * if edge.visits > 0 { edge.value } else { self.unvisited }
    }

    /// Logit of an action under the improved policy (the paper's equation 11).
    pub fn logit(&self, edge: &Edge) -> f64 {
        log_prior(edge) + self.scale * self.value(edge)
    }

    /// What a node is worth to [`dervish_env::game::Seat::First`]: its own evaluation, and for each visit what the improved policy has from
    /// the visited actions (the mixed value of the paper's appendix D, with the improved policy instead of the prior).
    ///
    /// A mean over the visits would keep what inferior actions have cost, so that looking at them would spoil the value.
    /// Here what is visited and what it is worth are kept apart (as by Feldman and Domshlak 2014), and a search can afford
    /// to look around.
    pub fn worth(&self, tree: &Tree, node: NodeId) -> f64 {
        let visited = || tree.edges(node).iter().filter(|edge| edge.visits > 0);
        let highest = visited().map(|edge| self.logit(edge)).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut mass, mut visits) = (0.0, 0.0, 0.0);
        for edge in visited() {
            let probability = (self.logit(edge) - highest).exp();
            sum += probability * edge.value;
            mass += probability;
            visits += f64::from(edge.visits);
        }
        let of_actions = if mass > 0.0 { sum / mass } else { 0.0 };
        (tree.node(node).own_value() + visits * of_actions) / (1.0 + visits)
    }
}

/// Logarithm of an action's prior.
pub(crate) fn log_prior(edge: &Edge) -> f64 {
    f64::from(edge.prior.max(f32::MIN_POSITIVE)).ln()
}
