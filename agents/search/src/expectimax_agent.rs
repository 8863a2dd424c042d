//! The agent `expectimax`.

use crate::expectimax::{ExpectimaxSearch, ExpectimaxSettings, Pruning};
use crate::glance::Glance;
use crate::leaf_options::{MARGIN, utility};
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::evaluation::{Evaluation, Utility};
use dervish_agents::limits::Limits;
use dervish_agents::registry::{AgentOptions, Configure, OptionDoc, SpecError};
use dervish_agents::thinking::Thinking;
use dervish_env::game::Position;
use rand_chacha::ChaCha8Rng;

/// Search by depth with a hand-made evaluation at its horizon. It draws nothing: equal positions get equal answers.
#[derive(Clone)]
pub struct Expectimax<P: Position, E: Evaluation<P>> {
    evaluation: E,
    options: ExpectimaxOptions,
    search: ExpectimaxSearch<P, Glance<E>>,
    thinking: Thinking,
}

/// The options of [`Expectimax`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ExpectimaxOptions {
    /// How positions are searched.
    pub settings: ExpectimaxSettings,
    /// Positions that may be looked at for each choice, at least 1.
    pub nodes: u32,
}

impl Default for ExpectimaxOptions {
    fn default() -> ExpectimaxOptions {
        ExpectimaxOptions {
            settings: ExpectimaxSettings {
                depth: 32,
                pruning: Pruning::Star2,
                merged: true,
                utility: Utility { margin_share: 0.0 },
                batch: 1,
                memory: 16,
            },
            nodes: 10_000,
        }
    }
}

impl<P: Position, E: Evaluation<P>> Expectimax<P, E> {
    /// The agent with default options and the game's evaluation.
    pub fn new(evaluation: E) -> Expectimax<P, E> {
        Expectimax::with_options(evaluation, ExpectimaxOptions::default())
    }

    /// The agent with the given options.
    pub fn with_options(evaluation: E, options: ExpectimaxOptions) -> Expectimax<P, E> {
        Expectimax {
            search: ExpectimaxSearch::new(options.settings, Glance(evaluation.clone())),
            evaluation,
            options,
            thinking: Thinking::default(),
        }
    }
}

impl<P: Position, E: Evaluation<P>> Agent<P> for Expectimax<P, E> {
    fn spec(&self) -> String {
        spec(&self.options)
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {
        self.thinking.new_game();
        self.search.new_game();
    }

    fn choose(&mut self, position: &P, limits: &Limits) -> Result<Choice, AgentError> {
        let options = self.options;
        let Expectimax { search, thinking, .. } = self;
        thinking.choose(&|| spec(&options), position, limits, options.nodes, |budget| search.choose(position, budget))
    }
}

/// The spec with every option written out.
fn spec(options: &ExpectimaxOptions) -> String {
    let ExpectimaxOptions { settings, nodes } = *options;
    let ExpectimaxSettings { depth, pruning, merged, utility, memory, .. } = settings;
    let (star, margin) = (pruning as u8, utility.margin_share);
    format!("expectimax:nodes={nodes},depth={depth},star={star},merged={merged},margin={margin},memory={memory}")
}

impl<P: Position, E: Evaluation<P>> Configure<P> for Expectimax<P, E> {
    const NAME: &'static str = "expectimax";
    const SUMMARY: &'static str = "search by depth through decisions and rolls, with Star2 pruning and an evaluation";
    const OPTIONS: &'static [OptionDoc] = &[
        OptionDoc { name: "nodes", default: "10000", meaning: "positions looked at for each choice, at most" },
        OptionDoc { name: "depth", default: "32", meaning: "decisions and rolls to look ahead, at most" },
        OptionDoc { name: "star", default: "2", meaning: "pruning: 0 none, 1 Star1, 2 Star2" },
        OptionDoc { name: "merged", default: "true", meaning: "true or false: whole procedures of rolls as one roll" },
        MARGIN,
        OptionDoc { name: "memory", default: "16", meaning: "size of the transposition table in MiB" },
    ];

    fn configure(&self, options: &AgentOptions) -> Result<Expectimax<P, E>, SpecError> {
        let ExpectimaxOptions { settings, nodes } = self.options;
        let pruning = match options.number("star", settings.pruning as u8, 0..=2)? {
            0 => Pruning::None,
            1 => Pruning::Star1,
            _ => Pruning::Star2,
        };
        let configured = ExpectimaxOptions {
            settings: ExpectimaxSettings {
                depth: options.number("depth", settings.depth, 1..=1000)?,
                pruning,
                merged: options.truth("merged", settings.merged)?,
                utility: utility(options, settings.utility)?,
                batch: settings.batch,
                memory: options.number("memory", settings.memory, 1..=2048)?,
            },
            nodes: options.number("nodes", nodes, 1..=u32::MAX)?,
        };
        Ok(Expectimax::with_options(self.evaluation.clone(), configured))
    }
}
