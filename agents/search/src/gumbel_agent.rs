//! The agent `gumbel`.

use crate::gumbel::{GumbelSearch, GumbelSettings};
use crate::knowledge::Knowledge;
use crate::leaf_evaluator::LeafEvaluator;
use crate::leaf_options::{LeafOptions, MARGIN, utility};
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::evaluator::Evaluator;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_agents::thinking::Thinking;
use dervish_env::chance::SplitMix64;
use dervish_env::game::Position;
use rand_chacha::ChaCha8Rng;

/// Gumbel search with what a game knows of itself instead of a network.
#[derive(Clone)]
pub struct Gumbel<P: Position, E: Evaluation<P>> {
    knowledge: Knowledge<P, E>,
    options: GumbelOptions,
    search: GumbelSearch<P>,
    evaluator: LeafEvaluator<P, E>,
    rng: SplitMix64,
    thinking: Thinking,
}

/// The options of [`Gumbel`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GumbelOptions {
    /// How the tree is searched.
    pub settings: GumbelSettings,
    /// What leaves are worth.
    pub leaf: LeafOptions,
    /// Which random stream of the game to use.
    pub seed: u64,
}

impl Default for GumbelOptions {
    fn default() -> GumbelOptions {
        GumbelOptions {
            settings: GumbelSettings {
                simulations: 64,
                candidates: 16,
                noise: 0.0,
                utility: Utility { margin_share: 0.0 },
                merged: true,
                memory: 64,
                ..GumbelSettings::default()
            },
            leaf: LeafOptions::default(),
            seed: 0,
        }
    }
}

impl<P: Position, E: Evaluation<P>> Gumbel<P, E> {
    /// The agent with default options and what the game gives it.
    pub fn new(knowledge: Knowledge<P, E>) -> Gumbel<P, E> {
        Gumbel::with_options(knowledge, GumbelOptions::default())
    }

    /// The agent with the given options. A policy that the game does not have is replaced by the random one.
    pub fn with_options(knowledge: Knowledge<P, E>, options: GumbelOptions) -> Gumbel<P, E> {
        let GumbelOptions { settings, leaf, seed } = options;
        Gumbel {
            search: GumbelSearch::new(settings),
            evaluator: leaf.evaluator(&knowledge, true, settings.utility),
            knowledge,
            options,
            rng: SplitMix64::new(seed),
            thinking: Thinking::default(),
        }
    }
}

impl<P: Position, E: Evaluation<P>> Agent<P> for Gumbel<P, E> {
    fn spec(&self) -> String {
        spec(&self.options)
    }

    fn new_game(&mut self, rng: ChaCha8Rng) {
        self.rng = SplitMix64::of_agent(rng, self.options.seed);
        self.thinking.new_game();
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let options = self.options;
        let Gumbel { search, evaluator, rng, thinking, .. } = self;
        thinking.choose(&|| spec(&options), position, limits, options.settings.simulations, |budget| {
            evaluator.reseed(rng.next_word());
            search.choose(position, budget, rng.next_word(), evaluator)
        })
    }
}

/// The spec with every option written out.
fn spec(options: &GumbelOptions) -> String {
    let GumbelOptions { settings, leaf, seed } = *options;
    let GumbelSettings { simulations, candidates, value_scale, utility, merged, memory, .. } = settings;
    let margin = utility.margin_share;
    format!(
        "gumbel:sims={simulations},candidates={candidates},scale={value_scale},{leaf},margin={margin},merged={merged},\
         memory={memory},seed={seed}"
    )
}

impl<P: Position, E: Evaluation<P>> Configure<P> for Gumbel<P, E> {
    const NAME: &'static str = "gumbel";
    const SUMMARY: &'static str = "Gumbel search with sequential halving: for few simulations";
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "sims", default: "64", meaning: "simulations for each choice" },
        OptionDoc { name: "candidates", default: "16", meaning: "actions that are compared" },
        OptionDoc { name: "scale", default: "0.25", meaning: "weight of values against priors" },
        LeafOptions::PRIOR,
        LeafOptions::ROLLOUT,
        LeafOptions::DEPTH,
        MARGIN,
        OptionDoc {
            name: "merged",
            default: "true",
            meaning: "true or false: whole procedures of rolls as one chance node",
        },
        OptionDoc { name: "memory", default: "64", meaning: "bound on the tree in MiB" },
        OptionDoc { name: "seed", default: "0", meaning: "which random stream of the game to use" },
    ];

    fn choices(&self, option: &str) -> Vec<&'static str> {
        LeafOptions::choices(option, &self.knowledge)
    }

    fn configure(&self, options: &AgentOptions) -> Result<Gumbel<P, E>, SpecError> {
        let GumbelOptions { settings, leaf, seed } = self.options;
        let configured = GumbelOptions {
            settings: GumbelSettings {
                simulations: options.number("sims", settings.simulations, 1..=1_000_000)?,
                candidates: options.number("candidates", settings.candidates, 1..=10_000)?,
                value_scale: options.number("scale", settings.value_scale, 0.0..=1000.0)?,
                utility: utility(options, settings.utility)?,
                merged: options.truth("merged", settings.merged)?,
                memory: options.number("memory", settings.memory, 1..=2048)?,
                ..settings
            },
            leaf: leaf.configured(options, &self.knowledge)?,
            seed: options.number("seed", seed, 0..=u64::MAX)?,
        };
        Ok(Gumbel::with_options(self.knowledge.clone(), configured))
    }
}
