//! The agent `mcts`.

use crate::knowledge::Knowledge;
use crate::leaf_options::{LeafOptions, MARGIN, utility};
use crate::mcts::{MctsSearch, MctsSettings};
use crate::simulation::SimulationRules;
use crate::tree::{SelectionRule, Tree};
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::evaluation::Evaluation;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_agents::thinking::Thinking;
use dervish_env::chance::SplitMix64;
use dervish_env::game::Position;
use rand_chacha::ChaCha8Rng;

/// Monte-Carlo tree search with what a game knows of itself.
#[derive(Clone)]
pub struct Mcts<P: Position, E: Evaluation<P>> {
    knowledge: Knowledge<P, E>,
    options: MctsOptions,
    search: MctsSearch<P>,
    rng: SplitMix64,
    thinking: Thinking,
}

/// The options of [`Mcts`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MctsOptions {
    /// Simulations for each choice, at least 1.
    pub simulations: u32,
    /// What leaves are worth; UCT asks for no priors.
    pub leaf: LeafOptions,
    /// How the tree is searched.
    pub settings: MctsSettings,
    /// Which random stream of the game to use.
    pub seed: u64,
}

impl Default for MctsOptions {
    fn default() -> MctsOptions {
        MctsOptions { simulations: 400, leaf: LeafOptions::default(), settings: MctsSettings::default(), seed: 0 }
    }
}

impl<P: Position, E: Evaluation<P>> Mcts<P, E> {
    /// The agent with default options and what the game gives it.
    pub fn new(knowledge: Knowledge<P, E>) -> Mcts<P, E> {
        Mcts::with_options(knowledge, MctsOptions::default())
    }

    /// The agent with the given options. A policy that the game does not have is replaced by the random one.
    pub fn with_options(knowledge: Knowledge<P, E>, options: MctsOptions) -> Mcts<P, E> {
        let MctsSettings { rules, .. } = options.settings;
        let evaluator = options.leaf.evaluator(&knowledge, rules.selection.wants_priors(), rules.utility);
        Mcts {
            search: MctsSearch::new(options.settings, Box::new(evaluator)),
            knowledge,
            options,
            rng: SplitMix64::new(options.seed),
            thinking: Thinking::default(),
        }
    }

    /// The tree of the latest choice.
    pub fn tree(&self) -> &Tree {
        self.search.tree()
    }
}

impl<P: Position, E: Evaluation<P>> Agent<P> for Mcts<P, E> {
    fn spec(&self) -> String {
        spec(&self.options)
    }

    fn new_game(&mut self, rng: ChaCha8Rng) {
        self.rng = SplitMix64::of_agent(rng, self.options.seed);
        self.thinking.new_game();
        self.search.new_game();
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let options = self.options;
        let Mcts { search, rng, thinking, .. } = self;
        thinking.choose(&|| spec(&options), position, limits, options.simulations, |budget| {
            search.choose(position, budget, rng.next_word())
        })
    }
}

/// The spec with every option written out.
fn spec(options: &MctsOptions) -> String {
    let MctsOptions { simulations, leaf, settings, seed } = *options;
    let MctsSettings { rules, reuse, batch, threads, shared_tree, memory } = settings;
    let (select, exploration) = match rules.selection {
        SelectionRule::Uct { exploration } => ("uct", exploration),
        SelectionRule::Puct { exploration } => ("puct", exploration),
    };
    let parallel = if shared_tree { "tree" } else { "root" };
    let SimulationRules { utility, merged, widening, share, .. } = rules;
    let margin = utility.margin_share;
    format!(
        "mcts:sims={simulations},select={select},c={exploration},{leaf},margin={margin},merged={merged},\
         widen={widening},share={share},reuse={reuse},batch={batch},threads={threads},parallel={parallel},\
         memory={memory},seed={seed}"
    )
}

impl<P: Position, E: Evaluation<P>> Configure<P> for Mcts<P, E> {
    const NAME: &'static str = "mcts";
    const SUMMARY: &'static str = "Monte-Carlo tree search with chance nodes: UCT or PUCT, rollouts or evaluation";
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "sims", default: "400", meaning: "simulations for each choice" },
        OptionDoc { name: "select", default: "uct", meaning: "uct, or puct, which follows a prior" },
        OptionDoc { name: "c", default: "1", meaning: "factor of the exploration term, for values from -1 to 1" },
        LeafOptions::PRIOR,
        LeafOptions::ROLLOUT,
        LeafOptions::DEPTH,
        MARGIN,
        OptionDoc {
            name: "merged",
            default: "true",
            meaning: "true or false: whole procedures of rolls as one chance node",
        },
        OptionDoc { name: "widen", default: "1", meaning: "n visits see n^widen outcomes of a roll at most; 1: all" },
        OptionDoc {
            name: "share",
            default: "true",
            meaning: "true or false: decisions reached in several ways are one node",
        },
        OptionDoc { name: "reuse", default: "true", meaning: "true or false: the tree is kept for the next move" },
        OptionDoc { name: "batch", default: "1", meaning: "leaves that are evaluated together" },
        OptionDoc { name: "threads", default: "1", meaning: "threads; above 1 choices depend on their timing" },
        OptionDoc { name: "parallel", default: "tree", meaning: "tree: threads share one; root: each has its own" },
        OptionDoc {
            name: "memory",
            default: "64",
            meaning: "bound on each tree in MiB: the spare one too, and each thread's own",
        },
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" },
    ];

    fn choices(&self, option: &str) -> Vec<&'static str> {
        LeafOptions::choices(option, &self.knowledge)
    }

    fn configure(&self, options: &AgentOptions) -> Result<Mcts<P, E>, SpecError> {
        let MctsOptions { simulations, leaf, settings, seed } = self.options;
        let rules = settings.rules;
        let exploration = options.number("c", 1.0, 0.0..=1000.0)?;
        let selection = match options.choice("select", &["uct", "puct"])? {
            "uct" => SelectionRule::Uct { exploration },
            _ => SelectionRule::Puct { exploration },
        };
        let configured = MctsOptions {
            simulations: options.number("sims", simulations, 1..=u32::MAX)?,
            leaf: leaf.configured(options, &self.knowledge)?,
            settings: MctsSettings {
                rules: SimulationRules {
                    selection,
                    widening: options.number("widen", rules.widening, 0.0..=1.0)?,
                    merged: options.truth("merged", rules.merged)?,
                    share: options.truth("share", rules.share)?,
                    utility: utility(options, rules.utility)?,
                },
                reuse: options.truth("reuse", settings.reuse)?,
                batch: options.number("batch", settings.batch, 1..=65_536)?,
                threads: options.number("threads", settings.threads, 1..=256)?,
                shared_tree: options.choice("parallel", &["tree", "root"])? == "tree",
                memory: options.number("memory", settings.memory, 1..=2048)?,
            },
            seed: options.number("seed", seed, 0..=u64::MAX)?,
        };
        // What would be ignored is refused, unless it is the default, which specs spell out in any case.
        let prior = configured.leaf.prior;
        if !selection.wants_priors() && prior != leaf.prior {
            return Err(options.invalid(LeafOptions::PRIOR.name, prior, "used with select=uct".to_string()));
        }
        let MctsSettings { threads, shared_tree, .. } = configured.settings;
        if threads == 1 && !shared_tree {
            return Err(options.invalid("parallel", "root", "used with threads=1".to_string()));
        }
        Ok(Mcts::with_options(self.knowledge.clone(), configured))
    }
}
