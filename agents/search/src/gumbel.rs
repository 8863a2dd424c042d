//! Gumbel search (Danihelka et al., *Policy improvement by planning with Gumbel*, ICLR 2022) with explicit chance nodes:
//! a policy and a value from outside (a network), and so few simulations that each must count.
//!
//! The root draws a few candidate actions without repetition from the policy and finds the best by sequential halving;
//! below the root, visits follow the policy improved by the values found so far, and a node is worth what that policy has.
//! Whatever the number of simulations, the improved policy is in expectation no worse than the policy it came from, as far
//! as the values are right.
//!
//! The search evaluates nothing itself: it hands out leaves, many at a time, and takes their evaluations back, so that one
//! batch can serve many searches.

use crate::improvement::{Improvement, log_prior};
use crate::leaf::{Leaf, SpareLeaves};
use crate::roll_expansion::RollExpansion;
use crate::tree::{EdgeId, KeyUse, NodeId, Standing, Step, Tree, sign_of};
use dervish_agents::agent::{ActionReport, Choice, SearchReport};
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_agents::limits::MoveBudget;
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position, Seat};
use std::time::Instant;

/// A search of one position at a time.
///
/// Call [`GumbelSearch::begin`]; while [`GumbelSearch::waiting`] gives positions, evaluate them and hand the evaluations
/// to [`GumbelSearch::supply`]; then read [`GumbelSearch::best`] and [`GumbelSearch::improved_policy_into`].
#[derive(Clone, Debug)]
pub struct GumbelSearch<P> {
    settings: GumbelSettings,
    tree: Tree,
    rng: SplitMix64,
    rolls: RollExpansion,
    root: Option<P>,
    waiting: Vec<Leaf<P>>,
    spare: SpareLeaves<P>,
    /// Candidates still in the race.
    candidates: Vec<Candidate>,
    /// Of the search at hand, of which so many are left.
    simulations: u32,
    simulations_left: u32,
    /// Simulations that it has made, with those whose leaves wait.
    made: u32,
    /// Rounds until the worse half of the candidates is dropped; a round visits each candidate once.
    rounds_left: u32,
    phases: u32,
    actions: Vec<Action>,
    /// Of the actions at the node where one is being selected.
    logits: Vec<f64>,
    bytes: Vec<u8>,
}

/// How a [`GumbelSearch`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GumbelSettings {
    /// Simulations for each search beside the evaluation of the root, at least 1.
    pub simulations: u32,
    /// Candidates at the root, at least 1.
    pub candidates: usize,
    /// Scale of the Gumbel noise that draws the candidates: 1 draws from the policy, as training wants it; 0 takes the
    /// likeliest.
    pub noise: f64,
    /// How many nats a difference in value of 1 counts for each visit of the most visited action, and for the fifty
    /// visits that the paper adds to those.
    pub value_scale: f64,
    /// What results are worth; the evaluations must mean the same.
    pub utility: Utility,
    /// Whether a procedure of several rolls is one chance node, where the game offers its merged distribution.
    pub merged: bool,
    /// Bound on the tree's memory in MiB. A full tree goes on collecting values without new nodes.
    pub memory: usize,
}

impl Default for GumbelSettings {
    fn default() -> GumbelSettings {
        GumbelSettings {
            simulations: 16,
            candidates: 8,
            noise: 1.0,
            value_scale: 0.25,
            utility: Utility::default(),
            merged: false,
            memory: 16,
        }
    }
}

/// The share of the visits below the root that goes to all actions alike, times the fourth root of their number.
const EXPLORED: f64 = 0.5;

const KEYS: KeyUse = KeyUse { keep: false, share: true };

#[derive(Clone, Copy, Debug)]
struct Candidate {
    edge: EdgeId,
    /// Gumbel noise plus logarithm of the prior.
    score: f64,
}

impl<P: Position> GumbelSearch<P> {
    /// A search with these settings.
    pub fn new(settings: GumbelSettings) -> GumbelSearch<P> {
        GumbelSearch {
            settings,
            tree: Tree::new(settings.memory << 20),
            rng: SplitMix64::new(0),
            rolls: RollExpansion::new(settings.merged),
            root: None,
            waiting: Vec::new(),
            spare: SpareLeaves::new(),
            candidates: Vec::new(),
            simulations: 0,
            simulations_left: 0,
            made: 0,
            rounds_left: 0,
            phases: 1,
            actions: Vec::new(),
            logits: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Begins a search of `root`, which waits for a player, with at most `simulations` of the settings' simulations. All
    /// that the search draws comes from `seed`.
    pub fn begin(&mut self, root: &P, simulations: u32, seed: u64) {
        self.rng = SplitMix64::new(seed);
        self.tree.reset(root.actor());
        self.candidates.clear();
        self.simulations = simulations.min(self.settings.simulations);
        self.simulations_left = self.simulations;
        self.made = 0;
        self.waiting.drain(..).for_each(|leaf| self.spare.keep(leaf));
        match &mut self.root {
            Some(kept) => kept.clone_from(root),
            None => self.root = Some(root.clone()),
        }
        let mut leaf = self.spare.leaf_at(root);
        leaf.node = Some(Tree::ROOT);
        self.waiting.push(leaf);
    }

    /// The positions whose evaluations the search waits for, each waiting for a player; none once it is done.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &P> {
        self.waiting.iter().map(|leaf| &leaf.position)
    }

    /// Takes the evaluations of the waiting positions, in their order, and goes on to the next ones.
    pub fn supply<'e>(&mut self, evaluations: impl Iterator<Item = LeafEvaluation<'e>>) {
        let mut evaluated = std::mem::take(&mut self.waiting);
        for (leaf, evaluation) in evaluated.iter().zip(evaluations) {
            self.book(leaf, evaluation);
        }
        evaluated.drain(..).for_each(|leaf| self.spare.keep(leaf));
        self.waiting = evaluated;
        if self.candidates.is_empty() {
            self.draw_candidates();
        }
        let Some(root) = self.root.take() else { return };
        // A round may meet finished positions alone, which need no evaluation.
        while self.waiting.is_empty() && self.simulations_left > 0 {
            self.play_round(&root);
        }
        self.root = Some(root);
    }

    /// Searches `root`, which waits for a player, with leaves evaluated by `evaluator`; all that the search draws comes
    /// from `seed`. `None` if there is no legal action.
    ///
    /// # Errors
    /// [`EvaluatorError`]; the search is then of no more use.
    pub fn choose(
        &mut self,
        root: &P,
        budget: &MoveBudget,
        seed: u64,
        evaluator: &mut dyn Evaluator<P>,
    ) -> Result<Option<Choice>, EvaluatorError> {
        let begun = Instant::now();
        self.begin(root, budget.simulations, seed);
        let (mut values, mut policies, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        // The root is evaluated in any case; the search has planned no more simulations than the budget has.
        while self.waiting().len() > 0 && (self.candidates.is_empty() || budget.has_time()) {
            values.clear();
            policies.clear();
            ends.clear();
            evaluator.evaluate(&mut self.waiting(), &mut |evaluation| {
                values.push(evaluation.value);
                ends.push(policies.len()..policies.len() + evaluation.policy.len());
                policies.extend_from_slice(evaluation.policy);
            })?;
            let each = values.iter().zip(&ends);
            self.supply(each.map(|(&value, end)| LeafEvaluation { policy: &policies[end.clone()], value }));
        }
        let Some(best) = self.best_edge().map(|edge| *self.tree.edge(edge)) else { return Ok(None) };
        let simulations = self.made - self.waiting().len() as u32;
        let report = SearchReport {
            value: self.improvement(Tree::ROOT).value(&best) as f32,
            simulations,
            budget_used: simulations,
            nodes: self.tree.len() as u64,
            reused_nodes: 0,
            depth: self.tree.deepest() as u32,
            actions: self.root_reports().collect(),
            principal_variation: self.tree.principal_variation(self.best_edge()),
            seconds: begun.elapsed().as_secs_f64(),
        };
        Ok(Some(Choice { action: best.action, report: Some(report) }))
    }

    /// The best action found, once the root has been evaluated.
    pub fn best(&self) -> Option<Action> {
        self.best_edge().map(|edge| self.tree.edge(edge).action)
    }

    fn best_edge(&self) -> Option<EdgeId> {
        let improvement = self.improvement(Tree::ROOT);
        let ranked = self.candidates.iter().map(|candidate| self.ranked(candidate, &improvement));
        let best = ranked.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, best)| best.edge)
    }

    /// Fills `policy` with the improved probabilities of the root's legal actions, in their order; they sum to 1. Returns
    /// the utility in [-1, 1] that the player to move can expect who follows them.
    pub fn improved_policy_into(&self, policy: &mut Vec<f32>) -> f32 {
        let edges = self.tree.edges(Tree::ROOT);
        let improvement = self.improvement(Tree::ROOT);
        let highest = edges.iter().map(|edge| improvement.logit(edge)).fold(f64::NEG_INFINITY, f64::max);
        policy.clear();
        policy.extend(edges.iter().map(|edge| (improvement.logit(edge) - highest).exp() as f32));
        let mass: f32 = policy.iter().sum();
        let mut value = 0.0;
        for (probability, edge) in policy.iter_mut().zip(edges) {
            *probability /= mass;
            value += *probability * improvement.value(edge) as f32;
        }
        value
    }

    /// Visits and values of the root's legal actions, in their order.
    pub fn root_reports(&self) -> impl Iterator<Item = ActionReport> {
        let improvement = self.improvement(Tree::ROOT);
        self.tree.edges(Tree::ROOT).iter().map(move |edge| ActionReport {
            action: edge.action,
            visits: edge.visits,
            value: if edge.visits > 0 { improvement.value(edge) as f32 } else { 0.0 },
        })
    }

    /// The tree of the latest search.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    fn book(&mut self, leaf: &Leaf<P>, evaluation: LeafEvaluation) {
        let Actor::Player(seat) = leaf.position.actor() else { return };
        let wants_actions = |node: &NodeId| {
            let node = self.tree.node(*node);
            node.actor != Actor::Chance && !node.is_expanded()
        };
        if let Some(node) = leaf.node.filter(wants_actions) {
            leaf.position.legal_actions_into(&mut self.actions);
            self.tree.expand_with_priors(node, &self.actions, evaluation.policy);
        }
        self.back_up(&leaf.path, leaf.node, sign_of(seat) * f64::from(evaluation.value));
    }

    fn draw_candidates(&mut self) {
        for edge in self.tree.edge_ids(Tree::ROOT) {
            let noise = if self.settings.noise > 0.0 { self.settings.noise * gumbel(&mut self.rng) } else { 0.0 };
            self.candidates.push(Candidate { edge, score: log_prior(self.tree.edge(edge)) + noise });
        }
        self.keep_best(self.settings.candidates.min(self.simulations_left as usize).max(1));
        if self.candidates.len() < 2 {
            // Nothing is left to be decided.
            self.simulations_left = 0;
        }
        self.phases = self.candidates.len().next_power_of_two().trailing_zeros().max(1);
        self.rounds_left = self.rounds_of_a_phase();
    }

    /// Keeps the best candidates, the best first.
    fn keep_best(&mut self, count: usize) {
        let improvement = self.improvement(Tree::ROOT);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_by(|a, b| {
            let (a, b) = (self.ranked(a, &improvement), self.ranked(b, &improvement));
            b.0.total_cmp(&a.0)
        });
        candidates.truncate(count);
        self.candidates = candidates;
    }

    fn ranked(&self, candidate: &Candidate, improvement: &Improvement) -> (f64, Candidate) {
        (candidate.score + improvement.scale * improvement.value(self.tree.edge(candidate.edge)), *candidate)
    }

    fn rounds_of_a_phase(&self) -> u32 {
        (self.simulations / (self.phases * self.candidates.len().max(1) as u32)).max(1)
    }

    fn play_round(&mut self, root: &P) {
        if self.rounds_left == 0 {
            let kept =
                if self.candidates.len() > 2 { self.candidates.len().div_ceil(2) } else { self.candidates.len() };
            self.keep_best(kept);
            self.rounds_left = self.rounds_of_a_phase();
        }
        self.rounds_left -= 1;
        let mut open = 0;
        for index in 0..self.candidates.len() {
            let edge = self.candidates[index].edge;
            // What is solved has nothing more to tell.
            if self.simulations_left > 0 && self.tree.standing(self.tree.edge(edge)) != Standing::Settled {
                self.simulations_left -= 1;
                self.made += 1;
                self.simulate(root, edge);
                open += 1;
            }
        }
        if open == 0 {
            self.simulations_left = 0;
        }
    }

    /// Goes from the root through `edge` down to a position without evaluation, which then waits for one. A finished
    /// position is booked at once.
    fn simulate(&mut self, root: &P, mut edge: EdgeId) {
        let mut leaf = self.spare.leaf_at(root);
        let mut node = Tree::ROOT;
        loop {
            leaf.path.push((node, edge));
            if self.tree.node(node).actor == Actor::Chance {
                for &outcome in self.tree.rolls(edge) {
                    leaf.position.resolve_possible(outcome);
                }
            } else {
                leaf.position.apply_legal(self.tree.edge(edge).action);
            }
            leaf.node = self.tree.child_for((node, edge), &leaf.position, KEYS, &mut self.bytes);
            let Some(child) = leaf.node else { break };
            if let Some(value) = self.tree.solved_value(child) {
                self.back_up(&leaf.path, None, value);
                self.spare.keep(leaf);
                return;
            }
            let expanded = self.tree.node(child).is_expanded();
            let actor = self.tree.node(child).actor;
            let next = match actor {
                Actor::Player(_) if expanded => self.select(child),
                Actor::Chance
                    if expanded || self.rolls.expand(&mut self.tree, child, &leaf.position, &mut self.rng) =>
                {
                    Some(self.tree.select_outcome(child, 1.0))
                }
                _ => None,
            };
            let Some(next) = next else { break };
            (node, edge) = (child, next);
        }
        // Where the memory is used up, dice fall without nodes.
        while leaf.position.actor() == Actor::Chance {
            let outcome = self.rolls.sample(&leaf.position, self.rng.next_word());
            leaf.position.resolve_possible(outcome);
        }
        match leaf.position.result() {
            Some(result) => {
                let value = f64::from(self.settings.utility.of_result(&result, Seat::First));
                self.back_up(&leaf.path, leaf.node, value);
                self.spare.keep(leaf);
            }
            None => self.waiting.push(leaf),
        }
    }

    /// The action to visit next below the root: one whose value is known already but not booked, or else the one whose
    /// share of the visits is furthest behind its improved probability (the paper's equation 14).
    ///
    /// After n visits a share of [`EXPLORED`] / n^(1/4) of the probability is divided equally among the actions that are not
    /// solved: with dice a first value can be far too low, and the improved policy alone would never come back to its
    /// action. What this costs does not enter the values ([`Improvement::worth`]).
    fn select(&mut self, node: NodeId) -> Option<EdgeId> {
        let edges = self.tree.edges(node);
        let improvement = Improvement::to_visit(&self.tree, node, self.settings.value_scale);
        self.logits.clear();
        self.logits.extend(edges.iter().map(|edge| improvement.logit(edge)));
        let highest = self.logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut mass, mut visits, mut open) = (0.0, 1.0, 0.0);
        for ((edge, logit), id) in edges.iter().zip(&mut self.logits).zip(self.tree.edge_ids(node)) {
            // From here on a probability, but for a factor.
            *logit = (*logit - highest).exp();
            mass += *logit;
            visits += f64::from(edge.visits);
            match self.tree.standing(edge) {
                Standing::Open => open += 1.0,
                Standing::Behind => return Some(id),
                Standing::Settled => {}
            }
        }
        let explored = EXPLORED / visits.sqrt().sqrt();
        let mut furthest: Option<(f64, EdgeId)> = None;
        for ((edge, improved), id) in edges.iter().zip(&self.logits).zip(self.tree.edge_ids(node)) {
            if self.tree.standing(edge) == Standing::Open {
                let wanted = (1.0 - explored) * improved / mass + explored / open;
                let behind = wanted - f64::from(edge.visits) / visits;
                if furthest.is_none_or(|(furthest, _)| behind > furthest) {
                    furthest = Some((behind, id));
                }
            }
        }
        furthest.map(|(_, id)| id)
    }

    fn improvement(&self, node: NodeId) -> Improvement {
        Improvement::at(&self.tree, node, self.settings.value_scale)
    }

    fn back_up(&mut self, path: &[Step], leaf: Option<NodeId>, value: f64) {
        let scale = self.settings.value_scale;
        let worth = |tree: &Tree, node: NodeId| Some(Improvement::at(tree, node, scale).worth(tree, node));
        self.tree.back_up_by(path, leaf, value, worth);
    }
}

/// A standard Gumbel variate.
fn gumbel(rng: &mut SplitMix64) -> f64 {
    let uniform = ((rng.next_word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    -(-uniform.ln()).ln()
}
