//! Simulations of a Monte-Carlo tree search: down the tree, the leaves' evaluation, and back up, in batches and from
//! several threads.

use crate::leaf::{Leaf, SpareLeaves};
use crate::roll_expansion::RollExpansion;
use crate::tree::{EdgeId, KeyUse, Node, NodeId, SelectionRule, Tree, sign_of};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position, Seat};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How simulations go down the tree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SimulationRules {
    /// How actions are chosen.
    pub selection: SelectionRule,
    /// Exponent of the progressive widening of rolls; 1 is off.
    pub widening: f64,
    /// Whether a procedure of several rolls is one chance node, where the game offers its merged distribution.
    pub merged: bool,
    /// Whether decisions that are reached in several ways share a node.
    pub share: bool,
    /// What results are worth; the evaluations must mean the same.
    pub utility: Utility,
}

impl Default for SimulationRules {
    fn default() -> SimulationRules {
        SimulationRules {
            selection: SelectionRule::Uct { exploration: 1.0 },
            widening: 1.0,
            merged: true,
            share: true,
            utility: Utility { margin_share: 0.0 },
        }
    }
}

/// Goes down a tree for one thread, and books there what was found.
#[derive(Clone, Debug)]
pub(crate) struct Descent<P> {
    rules: SimulationRules,
    keys: KeyUse,
    rolls: RollExpansion,
    rng: SplitMix64,
    spare: SpareLeaves<P>,
    actions: Vec<Action>,
    bytes: Vec<u8>,
}

impl<P: Position> Descent<P> {
    /// `keyed` keeps the keys of positions even where no node is shared, to find them again for the next move.
    pub fn new(rules: SimulationRules, keyed: bool) -> Descent<P> {
        Descent {
            rules,
            keys: KeyUse { keep: keyed || rules.share, share: rules.share },
            rolls: RollExpansion::new(rules.merged),
            rng: SplitMix64::new(0),
            spare: SpareLeaves::new(),
            actions: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Begins a new random stream.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = SplitMix64::new(seed);
    }

    /// The random stream.
    pub fn rng(&mut self) -> &mut SplitMix64 {
        &mut self.rng
    }

    /// The root as a leaf, to be evaluated for the priors of its actions.
    pub fn root_leaf(&mut self, root: &P) -> Leaf<P> {
        let mut leaf = self.spare.leaf_at(root);
        leaf.node = Some(Tree::ROOT);
        leaf
    }

    /// Takes back a leaf that will not be booked.
    pub fn drop_leaf(&mut self, leaf: Leaf<P>) {
        self.spare.keep(leaf);
    }

    /// Goes from the root down, by the action `first` if it is given, to a position whose value is not in the tree, or is
    /// solved.
    pub fn descend(&mut self, tree: &mut Tree, root: &P, mut first: Option<EdgeId>) -> Leaf<P> {
        let mut leaf = self.spare.leaf_at(root);
        let mut node = Tree::ROOT;
        loop {
            leaf.node = Some(node);
            let Node { actor, visits, .. } = *tree.node(node);
            leaf.known = tree.solved_value(node);
            if leaf.known.is_some() {
                return leaf;
            }
            if !tree.node(node).is_expanded() && !self.expand(tree, node, visits, &leaf.position) {
                break;
            }
            let edge = match actor {
                Actor::Player(seat) => {
                    let selected = || tree.select_action(node, seat, self.rules.selection);
                    let edge = first.take().unwrap_or_else(selected);
                    leaf.position.apply_legal(tree.edge(edge).action);
                    edge
                }
                _ => {
                    let edge = tree.select_outcome(node, self.rules.widening);
                    for &outcome in tree.rolls(edge) {
                        leaf.position.resolve_possible(outcome);
                    }
                    edge
                }
            };
            tree.enter(edge);
            leaf.path.push((node, edge));
            let child = tree.child_for((node, edge), &leaf.position, self.keys, &mut self.bytes);
            let Some(child) = child else {
                leaf.node = None;
                break;
            };
            node = child;
        }
        // Where the memory is used up, dice fall without nodes.
        while leaf.position.actor() == Actor::Chance {
            let outcome = self.rolls.sample(&leaf.position, self.rng.next_word());
            leaf.position.resolve_possible(outcome);
        }
        leaf
    }

    /// Puts the actions or outcomes of a node into the tree; false if the way down ends at it.
    fn expand(&mut self, tree: &mut Tree, node: NodeId, visits: u32, position: &P) -> bool {
        match position.actor() {
            Actor::Finished => false,
            Actor::Chance => self.rolls.expand(tree, node, position, &mut self.rng),
            Actor::Player(_) => {
                let fresh = visits == 0 && node != Tree::ROOT;
                if self.rules.selection.wants_priors() || fresh {
                    return false;
                }
                position.legal_actions_into(&mut self.actions);
                tree.expand_decision(node, &self.actions, &mut self.rng)
            }
        }
    }

    /// Books the value of a leaf on the way up: what is known of it, its result, or its evaluation, whose policy becomes the
    /// priors of its actions. A leaf that wanted an evaluation and has none, because the evaluator failed, counts 0.
    pub fn book(&mut self, tree: &mut Tree, leaf: Leaf<P>, evaluation: Option<LeafEvaluation<'_>>) {
        let value = match (leaf.known, leaf.position.result(), evaluation) {
            (Some(value), _, _) => value,
            (None, Some(result), _) => f64::from(self.rules.utility.of_result(&result, Seat::First)),
            (None, None, Some(evaluation)) => {
                self.book_policy(tree, &leaf, evaluation.policy);
                match leaf.position.actor() {
                    Actor::Player(seat) => sign_of(seat) * f64::from(evaluation.value),
                    _ => 0.0,
                }
            }
            (None, None, None) => 0.0,
        };
        tree.back_up(&leaf.path, leaf.node.filter(|_| leaf.known.is_none()), value);
        self.spare.keep(leaf);
    }

    /// Puts the actions of an evaluated leaf into the tree with their priors, if the evaluation gave any.
    fn book_policy(&mut self, tree: &mut Tree, leaf: &Leaf<P>, policy: &[f32]) {
        let Some(node) = leaf.node else { return };
        let unexpanded = !tree.node(node).is_expanded() && matches!(tree.node(node).actor, Actor::Player(_));
        if !policy.is_empty() && unexpanded {
            leaf.position.legal_actions_into(&mut self.actions);
            tree.expand_with_priors(node, &self.actions, policy);
        }
    }
}

/// Makes simulations for one thread, with an evaluator of its own.
#[derive(Clone)]
pub(crate) struct Simulator<P: Position> {
    descent: Descent<P>,
    wants_priors: bool,
    evaluator: Box<dyn Evaluator<P>>,
    leaves: Vec<Leaf<P>>,
    values: Vec<f32>,
    /// Policies of the evaluated leaves, one after another, and where each ends.
    policies: Vec<f32>,
    policy_ends: Vec<usize>,
}

impl<P: Position> Simulator<P> {
    /// `keyed` keeps the keys of positions even where no node is shared, to find them again for the next move.
    pub fn new(rules: SimulationRules, keyed: bool, evaluator: Box<dyn Evaluator<P>>) -> Simulator<P> {
        Simulator {
            descent: Descent::new(rules, keyed),
            wants_priors: rules.selection.wants_priors(),
            evaluator,
            leaves: Vec::new(),
            values: Vec::new(),
            policies: Vec::new(),
            policy_ends: Vec::new(),
        }
    }

    /// Begins new random streams.
    pub fn reseed(&mut self, seed: u64) {
        self.descent.reseed(seed);
        let seed = self.descent.rng().next_word();
        self.evaluator.reseed(seed);
    }

    /// Makes sure that the root has actions with priors, where the selection wants these. Costs one evaluation.
    pub fn prepare_root(&mut self, tree: &Mutex<Tree>, root: &P) -> Result<(), EvaluatorError> {
        if self.wants_priors && !locked(tree).node(Tree::ROOT).is_expanded() {
            let leaf = self.descent.root_leaf(root);
            self.leaves.push(leaf);
            self.evaluate_and_book(tree)?;
        }
        Ok(())
    }

    /// Makes `count` simulations from `root` whose leaves are evaluated together.
    pub fn simulate(&mut self, tree: &Mutex<Tree>, root: &P, count: u32) -> Result<(), EvaluatorError> {
        let mut locked = locked(tree);
        for _ in 0..count {
            let leaf = self.descent.descend(&mut locked, root, None);
            self.leaves.push(leaf);
        }
        drop(locked);
        self.evaluate_and_book(tree)
    }

    fn evaluate_and_book(&mut self, tree: &Mutex<Tree>) -> Result<(), EvaluatorError> {
        self.values.clear();
        self.policies.clear();
        self.policy_ends.clear();
        let Simulator { descent, evaluator, leaves, values, policies, policy_ends, .. } = self;
        let waiting = leaves.iter().filter(|leaf| leaf.wants_evaluation()).count();
        let mut positions = Waiting { leaves: leaves.iter(), left: waiting };
        let evaluated = evaluator.evaluate(&mut positions, &mut |evaluation| {
            values.push(evaluation.value);
            policies.extend_from_slice(evaluation.policy);
            policy_ends.push(policies.len());
        });
        let mut locked = locked(tree);
        let (mut next, mut begin) = (0, 0);
        for leaf in leaves.drain(..) {
            let evaluation = (leaf.wants_evaluation() && next < values.len()).then(|| {
                let policy = &policies[begin..policy_ends[next]];
                begin = policy_ends[next];
                next += 1;
                LeafEvaluation { policy, value: values[next - 1] }
            });
            descent.book(&mut locked, leaf, evaluation);
        }
        evaluated
    }
}

/// The leaves that wait for a player.
struct Waiting<'l, P> {
    leaves: std::slice::Iter<'l, Leaf<P>>,
    left: usize,
}

impl<'l, P: Position> Iterator for Waiting<'l, P> {
    type Item = &'l P;

    fn next(&mut self) -> Option<&'l P> {
        let leaf = self.leaves.find(|leaf| leaf.wants_evaluation())?;
        self.left -= 1;
        Some(&leaf.position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<P: Position> ExactSizeIterator for Waiting<'_, P> {}

/// The tree, for as long as the guard lives. A thread that broke off within it leaves nothing half-done that matters.
pub(crate) fn locked(tree: &Mutex<Tree>) -> MutexGuard<'_, Tree> {
    tree.lock().unwrap_or_else(PoisonError::into_inner)
}
