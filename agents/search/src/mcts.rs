//! Monte-Carlo tree search with explicit chance nodes: UCT (Kocsis and Szepesvári 2006) or PUCT (Silver et al. 2017).
//!
//! Each simulation goes down the tree, adds the first decision or finished node that is new, has it evaluated (by a
//! rollout, at a glance, or by a network) and books the value upwards. Rolls on the way down are nodes of the tree,
//! entered through every outcome in proportion to its weight, so the search plans for all dice and knows none.

use crate::simulation::{SimulationRules, Simulator, locked};
use crate::tree::{Edge, Tree, sign_of};
use dervish_agents::agent::{ActionReport, Choice, SearchReport};
use dervish_agents::evaluator::{Evaluator, EvaluatorError};
use dervish_agents::limits::MoveBudget;
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position, Seat};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A search of the positions of one game, one after another.
#[derive(Clone)]
pub struct MctsSearch<P: Position> {
    settings: MctsSettings,
    /// One for each thread.
    simulators: Vec<Simulator<P>>,
    tree: Tree,
    /// Memory for making another node of the tree its root.
    spare: Tree,
    actions: Vec<Action>,
    bytes: Vec<u8>,
}

/// How an [`MctsSearch`] searches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MctsSettings {
    /// How simulations go down the tree.
    pub rules: SimulationRules,
    /// Whether the tree is kept for the next move, as far as it is below what happened.
    pub reuse: bool,
    /// Leaves that are evaluated together, at least 1.
    pub batch: u32,
    /// Threads, at least 1. With more than one, choices depend on the threads' timing.
    pub threads: usize,
    /// Whether threads share one tree; else each has its own and the visits of the root's actions are added up.
    pub shared_tree: bool,
    /// Bound on each tree's memory in MiB: beside the tree there is a spare one of the same size where trees are kept for
    /// the next move, and one for each further thread that has its own. A full tree goes on collecting values without new
    /// nodes.
    pub memory: usize,
}

impl Default for MctsSettings {
    fn default() -> MctsSettings {
        MctsSettings {
            rules: SimulationRules::default(),
            reuse: true,
            batch: 1,
            threads: 1,
            shared_tree: true,
            memory: 64,
        }
    }
}

impl<P: Position> MctsSearch<P> {
    /// A search whose leaves are evaluated by copies of `evaluator`, one for each thread.
    pub fn new(settings: MctsSettings, evaluator: Box<dyn Evaluator<P>>) -> MctsSearch<P> {
        let simulator = Simulator::new(settings.rules, settings.reuse, evaluator);
        MctsSearch {
            simulators: vec![simulator; settings.threads.max(1)],
            tree: Tree::new(settings.memory << 20),
            spare: Tree::new(settings.memory << 20),
            actions: Vec::new(),
            bytes: Vec::new(),
            settings,
        }
    }

    /// Forgets everything about earlier games.
    pub fn new_game(&mut self) {
        self.tree.reset(Actor::Finished);
    }

    /// The tree of the latest choice.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Searches `position`, which waits for a player; all that the search draws comes from `seed`. `None` if there is no
    /// legal action.
    ///
    /// # Errors
    /// [`EvaluatorError`].
    pub fn choose(&mut self, position: &P, budget: &MoveBudget, seed: u64) -> Result<Option<Choice>, EvaluatorError> {
        let Actor::Player(seat) = position.actor() else { return Ok(None) };
        let begun = Instant::now();
        let reused_nodes = self.plant(position);
        let mut effort = Effort { reused_nodes, ..self.search(position, budget, seed)? };
        position.legal_actions_into(&mut self.actions);
        let best = self.tree.likeliest(Tree::ROOT).map(|edge| *self.tree.edge(edge));
        effort.seconds = begun.elapsed().as_secs_f64();
        Ok(best.map(|best| Choice { action: best.action, report: Some(self.report(seat, &best, &effort)) }))
    }

    /// Puts the root of a search of `position` into the tree: with all that is known of it, or as a new one. Returns how many
    /// nodes were known.
    fn plant(&mut self, position: &P) -> usize {
        let known = if self.settings.reuse { self.tree.find(position.key_with(&mut self.bytes)) } else { None };
        match known {
            Some(node) => {
                self.tree.reroot(node, &mut self.spare);
                self.tree.len()
            }
            None => {
                self.tree.reset(position.actor());
                0
            }
        }
    }

    /// Simulates until the budget is used up.
    fn search(&mut self, position: &P, budget: &MoveBudget, seed: u64) -> Result<Effort, EvaluatorError> {
        let mut rng = SplitMix64::new(seed);
        for simulator in &mut self.simulators {
            simulator.reseed(rng.next_word());
        }
        let claims = Claims { budget, batch: self.settings.batch.max(1), claimed: AtomicU32::new(0) };
        let memory = self.settings.memory << 20;
        let first = Mutex::new(std::mem::replace(&mut self.tree, Tree::new(0)));
        let (shared_tree, actor) = (self.settings.shared_tree, position.actor());
        let mut nodes_apart = 0;
        let searched = match &mut self.simulators[..] {
            [simulator] => claims.use_up(simulator, &first, position),
            simulators => std::thread::scope(|scope| {
                let mut threads = Vec::new();
                for (index, simulator) in simulators.iter_mut().enumerate() {
                    let (first, claims) = (&first, &claims);
                    threads.push(scope.spawn(move || {
                        if shared_tree || index == 0 {
                            return claims.use_up(simulator, first, position).map(|()| None);
                        }
                        let mut own = Tree::new(memory);
                        own.reset(actor);
                        let own = Mutex::new(own);
                        claims.use_up(simulator, &own, position)?;
                        Ok(Some(own.into_inner().unwrap_or_else(PoisonError::into_inner)))
                    }));
                }
                let mut searched = Ok(());
                for thread in threads {
                    match thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                        Ok(Some(mut own)) => {
                            locked(&first).merge_root(&mut own);
                            nodes_apart += own.len();
                        }
                        Ok(None) => {}
                        Err(error) => searched = Err(error),
                    }
                }
                searched
            }),
        };
        self.tree = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        searched.map(|()| Effort { simulations: claims.claimed.into_inner(), nodes_apart, ..Effort::default() })
    }

    fn report(&self, seat: Seat, best: &Edge, effort: &Effort) -> SearchReport {
        let sign = sign_of(seat);
        let edges = self.tree.edges(Tree::ROOT);
        let reported = self.actions.iter().map(|&action| {
            let edge = edges.iter().find(|edge| edge.action == action);
            ActionReport {
                action,
                visits: edge.map_or(0, |edge| edge.visits),
                value: edge.map_or(0.0, |edge| (sign * edge.value) as f32),
            }
        });
        SearchReport {
            value: (sign * best.value) as f32,
            simulations: effort.simulations,
            budget_used: effort.simulations,
            nodes: (self.tree.len() + effort.nodes_apart) as u64,
            reused_nodes: effort.reused_nodes as u64,
            depth: self.tree.deepest() as u32,
            actions: reported.collect(),
            principal_variation: self.tree.principal_variation(None),
            seconds: effort.seconds,
        }
    }
}

/// What a search has cost.
#[derive(Default)]
struct Effort {
    simulations: u32,
    /// Nodes that the tree had kept.
    reused_nodes: usize,
    /// Nodes of the trees of the other threads, where each has its own.
    nodes_apart: usize,
    seconds: f64,
}

/// The simulations that the threads of one search share out among themselves.
struct Claims<'b> {
    budget: &'b MoveBudget,
    batch: u32,
    claimed: AtomicU32,
}

impl Claims<'_> {
    /// Simulates as long as the budget allows and there is something to find out.
    fn use_up<P: Position>(
        &self,
        simulator: &mut Simulator<P>,
        tree: &Mutex<Tree>,
        position: &P,
    ) -> Result<(), EvaluatorError> {
        simulator.prepare_root(tree, position)?;
        while !locked(tree).node(Tree::ROOT).is_solved() {
            let claim = self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |claimed| {
                let batch = self.batch.min(self.budget.simulations.saturating_sub(claimed).max(1));
                self.budget.allows(claimed).then(|| claimed.saturating_add(batch))
            });
            let Ok(claimed) = claim else { return Ok(()) };
            let count = self.batch.min(self.budget.simulations.saturating_sub(claimed).max(1));
            simulator.simulate(tree, position, count)?;
        }
        Ok(())
    }
}
