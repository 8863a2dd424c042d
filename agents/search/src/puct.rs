//! AlphaZero's search (Silver et al., *A general reinforcement learning algorithm that masters chess, shogi, and Go through
//! self-play*, Science 2018) with explicit chance nodes: PUCT from the root down, noise on the root's priors, and a policy
//! that is the root's visits, or, where the root is solved, those of its best actions.
//!
//! Like [`crate::gumbel`], the search evaluates nothing itself: it hands out leaves and takes their evaluations back, so that
//! one batch can serve many searches. [`crate::mcts`] is the same search for one position at a time, with all its options.

use crate::leaf::Leaf;
use crate::simulation::{Descent, SimulationRules};
use crate::tree::{Edge, EdgeId, SelectionRule, Tree, sign_of};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::LeafEvaluation;
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position};
use rand::RngExt;
use rand_distr::{Distribution, Gamma};

/// A search of one position at a time.
///
/// Call [`PuctSearch::begin`]; while [`PuctSearch::waiting`] gives positions, evaluate them and hand the evaluations to
/// [`PuctSearch::supply`]; then read [`PuctSearch::choice`] and [`PuctSearch::policy_into`].
#[derive(Clone, Debug)]
pub struct PuctSearch<P> {
    settings: PuctSettings,
    tree: Tree,
    descent: Descent<P>,
    root: Option<P>,
    waiting: Vec<Leaf<P>>,
    simulations_left: u32,
    /// In [0, 1): which action is drawn from the visits.
    draw: f64,
    noise: Vec<f32>,
}

/// How a [`PuctSearch`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PuctSettings {
    /// Simulations for each search beside the evaluation of the root, at least 1.
    pub simulations: u32,
    /// Factor of the exploration term of PUCT.
    pub exploration: f64,
    /// What of the root's priors is noise, in [0, 1].
    pub noise_share: f64,
    /// The Dirichlet noise of a root with A actions has the parameter `noise_mass` / A, above 0: AlphaZero's figures for
    /// chess, shogi and Go are about 10 / A.
    pub noise_mass: f64,
    /// Actions are drawn from the visits to the power of 1 / temperature; at 0 the most visited is played.
    pub temperature: f64,
    /// What results are worth; the evaluations must mean the same.
    pub utility: Utility,
    /// Whether a procedure of several rolls is one chance node, where the game offers its merged distribution.
    pub merged: bool,
    /// Bound on the tree's memory in MiB. A full tree goes on collecting values without new nodes.
    pub memory: usize,
}

impl Default for PuctSettings {
    fn default() -> PuctSettings {
        PuctSettings {
            simulations: 64,
            exploration: 1.5,
            noise_share: 0.25,
            noise_mass: 10.0,
            temperature: 1.0,
            utility: Utility::default(),
            merged: false,
            memory: 16,
        }
    }
}

impl<P: Position> PuctSearch<P> {
    /// A search with these settings.
    pub fn new(settings: PuctSettings) -> PuctSearch<P> {
        let selection = SelectionRule::Puct { exploration: settings.exploration };
        let PuctSettings { merged, utility, memory, .. } = settings;
        let rules = SimulationRules { selection, merged, utility, ..SimulationRules::default() };
        PuctSearch {
            settings,
            tree: Tree::new(memory << 20),
            descent: Descent::new(rules, false),
            root: None,
            waiting: Vec::new(),
            simulations_left: 0,
            draw: 0.0,
            noise: Vec::new(),
        }
    }

    /// Begins a search of `root`, which waits for a player, with at most `simulations` of the settings' simulations. All
    /// that the search draws comes from `seed`.
    pub fn begin(&mut self, root: &P, simulations: u32, seed: u64) {
        self.descent.reseed(seed);
        self.draw = self.descent.rng().random();
        self.tree.reset(root.actor());
        self.simulations_left = simulations.min(self.settings.simulations);
        self.waiting.drain(..).for_each(|leaf| self.descent.drop_leaf(leaf));
        match &mut self.root {
            Some(kept) => kept.clone_from(root),
            None => self.root = Some(root.clone()),
        }
        self.waiting.push(self.descent.root_leaf(root));
    }

    /// The positions whose evaluations the search waits for, each waiting for a player; none once it is done.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &P> {
        self.waiting.iter().map(|leaf| &leaf.position)
    }

    /// Takes the evaluations of the waiting positions, in their order, and goes on to the next ones.
    pub fn supply<'e>(&mut self, evaluations: impl Iterator<Item = LeafEvaluation<'e>>) {
        let is_first = !self.tree.node(Tree::ROOT).is_expanded();
        for (leaf, evaluation) in self.waiting.drain(..).zip(evaluations) {
            self.descent.book(&mut self.tree, leaf, Some(evaluation));
        }
        if is_first {
            self.disturb_priors();
        }
        let Some(root) = &self.root else { return };
        // A simulation may end at a finished position, which needs no evaluation.
        while self.waiting.is_empty() && self.simulations_left > 0 && !self.tree.node(Tree::ROOT).is_solved() {
            self.simulations_left -= 1;
            let first = self.root_action();
            let leaf = self.descent.descend(&mut self.tree, root, first);
            if leaf.wants_evaluation() {
                self.waiting.push(leaf);
            } else {
                self.descent.book(&mut self.tree, leaf, None);
            }
        }
    }

    /// The action to play, once the root has been evaluated: drawn from the visits, of the best actions alone where the root
    /// is solved.
    pub fn choice(&self) -> Option<Action> {
        let likeliest = self.tree.likeliest(Tree::ROOT).map(|edge| self.tree.edge(edge).action);
        let edges = || self.edges_with_visits();
        if self.settings.temperature <= 0.0 {
            return likeliest;
        }
        let power = 1.0 / self.settings.temperature;
        // As parts of the most visited, so that a low temperature exceeds no number's range.
        let most = edges().map(|(_, visits)| visits).max().filter(|&most| most > 0)?;
        let mass = |visits: u32| (f64::from(visits) / f64::from(most)).powf(power);
        let mut left = self.draw * edges().map(|(_, visits)| mass(visits)).sum::<f64>();
        for (edge, visits) in edges() {
            left -= mass(visits);
            if left < 0.0 {
                return Some(edge.action);
            }
        }
        likeliest
    }

    /// Fills `policy` with the shares of the visits of the root's legal actions, in their order, of the best actions alone
    /// where the root is solved; they sum to 1. Returns the utility in [-1, 1] that the search found for the player to move.
    pub fn policy_into(&self, policy: &mut Vec<f32>) -> f32 {
        let visits: u32 = self.edges_with_visits().map(|(_, visits)| visits).sum();
        policy.clear();
        policy.extend(self.edges_with_visits().map(|(_, of)| of as f32 / visits.max(1) as f32));
        let root = self.tree.node(Tree::ROOT);
        match root.actor {
            Actor::Player(seat) => (sign_of(seat) * root.value()) as f32,
            _ => 0.0,
        }
    }

    /// The root's actions with the visits that count. A search ends when its root is solved, so that its visits say little
    /// then: those of actions that are worse than the best count nothing.
    fn edges_with_visits(&self) -> impl Iterator<Item = (&Edge, u32)> {
        let solved = self.tree.likeliest(Tree::ROOT).filter(|_| self.tree.node(Tree::ROOT).is_solved());
        let best = solved.map(|edge| self.tree.edge(edge).value);
        let counted = move |edge: &Edge| if best.is_none_or(|best| edge.value == best) { edge.visits } else { 0 };
        self.tree.edges(Tree::ROOT).iter().map(move |edge| (edge, counted(edge)))
    }

    /// The root's action to try next; `None` where it has none, for want of memory.
    fn root_action(&self) -> Option<EdgeId> {
        let node = self.tree.node(Tree::ROOT);
        let rule = SelectionRule::Puct { exploration: self.settings.exploration };
        match node.actor {
            Actor::Player(seat) if node.is_expanded() => Some(self.tree.select_any_action(Tree::ROOT, seat, rule)),
            _ => None,
        }
    }

    /// The tree of the latest search.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    fn disturb_priors(&mut self) {
        let PuctSettings { noise_share, noise_mass, .. } = self.settings;
        let actions = self.tree.edges(Tree::ROOT).len();
        if noise_share <= 0.0 || actions == 0 {
            return;
        }
        dirichlet(noise_mass / actions as f64, actions, self.descent.rng(), &mut self.noise);
        self.tree.mix_priors(Tree::ROOT, &self.noise, noise_share as f32);
    }
}

/// Fills `draw` with a draw from the symmetric Dirichlet distribution with this parameter; uniform where a parameter that is
/// too small leaves every part at 0.
fn dirichlet(parameter: f64, parts: usize, rng: &mut SplitMix64, draw: &mut Vec<f32>) {
    draw.clear();
    let Ok(gamma) = Gamma::new(parameter, 1.0) else { return draw.resize(parts, 1.0 / parts as f32) };
    let masses: Vec<f64> = (0..parts).map(|_| gamma.sample(rng)).collect();
    let sum: f64 = masses.iter().sum();
    let uniform = 1.0 / parts as f64;
    draw.extend(masses.iter().map(|mass| if sum > 0.0 { mass / sum } else { uniform } as f32));
}
