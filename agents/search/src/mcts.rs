//! Plain UCT (Kocsis and Szepesvári 2006) with explicit chance nodes and truncated rollouts.
//!
//! Each simulation goes down the tree, adds the first decision or finished node that is new, values it by a random
//! rollout and books the value upwards. Rolls on the way down are nodes of the tree, entered through every outcome in
//! proportion to its weight, so the search plans for all dice and knows none.

use crate::roll_expansion::RollExpansion;
use crate::rollout::{Rollout, result_for_first};
use crate::tree::{Node, NodeId, Step, Tree, sign_of};
use dervish_agents::agent::{ActionReport, Agent, AgentError, Choice, Event, SearchReport};
use dervish_agents::evaluation::Evaluation;
use dervish_agents::limits::{Limits, TurnLedger};
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_env::chance::SplitMix64;
use dervish_env::game::{Action, Actor, Position, Seat};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

/// The search agent `mcts`.
#[derive(Clone, Debug)]
pub struct Mcts<P: Position, E: Evaluation<P>> {
    settings: MctsSettings,
    rollout: Rollout<E>,
    tree: Tree,
    rng: SplitMix64,
    ledger: TurnLedger,
    /// The position at the tip of the running simulation; `None` before the first choice.
    tip: Option<P>,
    path: Vec<Step>,
    actions: Vec<Action>,
    rolls: RollExpansion,
}

/// The options of [`Mcts`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MctsSettings {
    /// Simulations for each choice, at least 1.
    pub simulations: u32,
    /// The factor of UCB1's exploration term, for values in [-1, 1].
    pub exploration: f64,
    /// Decisions after which a rollout is cut off and evaluated; 0 plays to the end of the game.
    pub depth: usize,
    /// Whether a procedure of several rolls is one chance node, where the game offers its merged distribution.
    pub merged: bool,
    /// Bound on the tree's memory in MiB. A full tree goes on collecting values without new nodes.
    pub memory: usize,
    /// Which random stream of the game to use.
    pub seed: u64,
}

impl Default for MctsSettings {
    fn default() -> MctsSettings {
        MctsSettings { simulations: 400, exploration: 1.0, depth: 20, merged: true, memory: 64, seed: 0 }
    }
}

/// Steps of the principal variation that are reported at most.
const REPORTED_STEPS: usize = 24;

impl<P: Position, E: Evaluation<P>> Mcts<P, E> {
    /// The agent with default settings and the game's evaluation.
    pub fn new(evaluation: E) -> Mcts<P, E> {
        Mcts::with_settings(evaluation, MctsSettings::default())
    }

    /// The agent with the given settings.
    pub fn with_settings(evaluation: E, settings: MctsSettings) -> Mcts<P, E> {
        Mcts {
            settings,
            rollout: Rollout::new(evaluation, settings.depth),
            tree: Tree::new(settings.memory << 20),
            rng: SplitMix64::new(settings.seed),
            ledger: TurnLedger::default(),
            tip: None,
            path: Vec::new(),
            actions: Vec::new(),
            rolls: RollExpansion::new(settings.merged),
        }
    }

    /// The tree of the latest choice.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    fn simulate(&mut self, root: &P) {
        let mut tip = match self.tip.take() {
            Some(mut tip) => {
                tip.clone_from(root);
                tip
            }
            None => root.clone(),
        };
        self.path.clear();
        let mut leaf = Some(Tree::ROOT);
        while let Some(node) = leaf {
            let Node { actor, visits, .. } = *self.tree.node(node);
            let fresh = visits == 0 && node != Tree::ROOT;
            let edge = match actor {
                Actor::Finished => break,
                Actor::Player(_) if fresh => break,
                _ if !self.tree.node(node).is_expanded() && !self.expand(node, &tip) => break,
                Actor::Player(seat) => {
                    let edge = self.tree.select_action(node, seat, self.settings.exploration);
                    tip.apply_legal(self.tree.edge(edge).action);
                    edge
                }
                Actor::Chance => {
                    let edge = self.tree.select_outcome(node);
                    for &outcome in self.tree.rolls(edge) {
                        tip.resolve_possible(outcome);
                    }
                    edge
                }
            };
            self.path.push((node, edge));
            leaf = self.tree.child_or_insert(edge, tip.actor());
        }
        let value = match tip.actor() {
            Actor::Finished => result_for_first(tip.result()),
            _ => self.rollout.play(&mut tip, &mut self.rng),
        };
        self.tree.back_up(&self.path, leaf, value);
        self.tip = Some(tip);
    }

    fn expand(&mut self, node: NodeId, position: &P) -> bool {
        if position.actor() != Actor::Chance {
            position.legal_actions_into(&mut self.actions);
            return self.tree.expand_decision(node, &self.actions, &mut self.rng);
        }
        self.rolls.expand(&mut self.tree, node, position, &mut self.rng)
    }

    fn report(&self, seat: Seat, simulations: u32) -> SearchReport {
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
            value: (sign * self.tree.node(Tree::ROOT).value()) as f32,
            simulations,
            actions: reported.collect(),
            principal_variation: self.principal_variation(),
        }
    }

    fn principal_variation(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(REPORTED_STEPS);
        let mut next = Some(Tree::ROOT);
        while let Some(node) = next.filter(|_| events.len() < REPORTED_STEPS) {
            let Some(edge) = self.tree.likeliest(node) else { break };
            match self.tree.node(node).actor {
                Actor::Player(seat) => events.push(Event::Played(seat, self.tree.edge(edge).action)),
                _ => events.extend(self.tree.rolls(edge).iter().map(|&outcome| Event::Rolled(outcome))),
            }
            next = self.tree.edge(edge).child();
        }
        events
    }
}

impl<P: Position, E: Evaluation<P>> Agent<P> for Mcts<P, E> {
    fn spec(&self) -> String {
        let MctsSettings { simulations, exploration, depth, merged, memory, seed } = self.settings;
        format!("mcts:sims={simulations},c={exploration},depth={depth},merged={merged},memory={memory},seed={seed}")
    }

    fn new_game(&mut self, mut rng: ChaCha8Rng) {
        rng.set_stream(self.settings.seed);
        self.rng = SplitMix64::new(rng.next_u64());
        self.ledger = TurnLedger::default();
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let Actor::Player(seat) = position.actor() else {
            return Err(AgentError::NotToAct { agent: self.spec(), pending: position.pending_text() });
        };
        position.legal_actions_into(&mut self.actions);
        if let [only] = self.actions[..] {
            return Ok(Choice::plain(only));
        }
        let begun = Instant::now();
        let budget = self.ledger.budget(position.turn(), self.settings.simulations, limits, begun);
        self.tree.reset(position.actor());
        let mut simulations = 0;
        while budget.allows(simulations) {
            self.simulate(position);
            simulations += 1;
        }
        self.ledger.spend(simulations, begun.elapsed());
        let Some(edge) = self.tree.likeliest(Tree::ROOT) else {
            let reason = format!("no legal action found at {}", position.pending_text());
            return Err(AgentError::Failed { agent: self.spec(), reason });
        };
        position.legal_actions_into(&mut self.actions);
        Ok(Choice { action: self.tree.edge(edge).action, report: Some(self.report(seat, simulations)) })
    }
}

impl<P: Position, E: Evaluation<P>> Configure<P> for Mcts<P, E> {
    const NAME: &'static str = "mcts";
    const SUMMARY: &'static str = "plain UCT with chance nodes and truncated rollouts";
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "sims", default: "400", meaning: "simulations for each choice" },
        OptionDoc { name: "c", default: "1", meaning: "factor of the exploration term, for values from -1 to 1" },
        OptionDoc {
            name: "depth",
            default: "20",
            meaning: "decisions in a rollout before it is judged; 0: to the end",
        },
        OptionDoc { name: "merged", default: "true", meaning: "whole procedures of rolls as one chance node" },
        OptionDoc { name: "memory", default: "64", meaning: "bound on the tree in MiB" },
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" },
    ];

    fn configure(&self, options: &AgentOptions) -> Result<Mcts<P, E>, SpecError> {
        let defaults = self.settings;
        let settings = MctsSettings {
            simulations: options.number("sims", defaults.simulations, 1..=u32::MAX)?,
            exploration: options.number("c", defaults.exploration, 0.0..=1000.0)?,
            depth: options.number("depth", defaults.depth, 0..=1_000_000)?,
            merged: options.truth("merged", defaults.merged)?,
            memory: options.number("memory", defaults.memory, 1..=2048)?,
            seed: options.number("seed", defaults.seed, 0..=u64::MAX)?,
        };
        Ok(Mcts::with_settings(self.rollout.evaluation.clone(), settings))
    }
}
