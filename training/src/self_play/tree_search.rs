//! The searches of self-play: Gumbel AlphaZero's, which is right for few simulations, and AlphaZero's.

use crate::self_play::SelfPlayConfig;
use dervish_agents::evaluator::LeafEvaluation;
use dervish_env::game::{Action, Position};
use dervish_search::gumbel::{GumbelSearch, GumbelSettings};
use dervish_search::puct::{PuctSearch, PuctSettings};
use serde::{Deserialize, Serialize};

/// How self-play searches.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum SearchConfig {
    /// Gumbel AlphaZero (Danihelka et al. 2022): the policy to learn is the network's, improved by the values found.
    Gumbel {
        /// Actions that a search compares.
        #[serde(default = "candidates")]
        candidates: usize,
        /// Nats that a difference in value of 1 counts against the network's policy, for each visit of the most visited action
        /// and for fifty more. What a young network says of values is mostly noise: much of it spoils the policy.
        #[serde(default = "value_scale")]
        value_scale: f64,
    },
    /// AlphaZero (Silver et al. 2018): the policy to learn is the visits at the root.
    Puct {
        /// Factor of the exploration term.
        #[serde(default = "exploration")]
        exploration: f64,
        /// What of the root's priors is Dirichlet noise, 0..=1.
        #[serde(default = "noise_share")]
        noise_share: f64,
        /// Parameter of that noise times the number of legal actions, above 0.
        #[serde(default = "noise_mass")]
        noise_mass: f64,
        /// Actions are drawn from the visits to the power of 1 / temperature; at 0 the most visited is played.
        #[serde(default = "temperature")]
        temperature: f64,
    },
}

fn candidates() -> usize {
    GumbelSettings::default().candidates
}

fn value_scale() -> f64 {
    GumbelSettings::default().value_scale
}

fn exploration() -> f64 {
    PuctSettings::default().exploration
}

fn noise_share() -> f64 {
    PuctSettings::default().noise_share
}

fn noise_mass() -> f64 {
    PuctSettings::default().noise_mass
}

fn temperature() -> f64 {
    PuctSettings::default().temperature
}

impl Default for SearchConfig {
    fn default() -> SearchConfig {
        SearchConfig::Gumbel { candidates: candidates(), value_scale: value_scale() }
    }
}

/// A search that hands out positions to be evaluated, of one position at a time.
#[derive(Debug)]
pub enum TreeSearch<P> {
    /// Gumbel AlphaZero's.
    Gumbel(GumbelSearch<P>),
    /// AlphaZero's.
    Puct(PuctSearch<P>),
}

impl<P: Position> TreeSearch<P> {
    /// The search of this configuration; `None` if it searches nothing.
    pub fn new(config: &SelfPlayConfig) -> Option<TreeSearch<P>> {
        let SelfPlayConfig { simulations, utility, .. } = *config;
        if simulations == 0 {
            return None;
        }
        Some(match config.search {
            SearchConfig::Gumbel { candidates, value_scale } => {
                let settings =
                    GumbelSettings { simulations, candidates, value_scale, utility, ..GumbelSettings::default() };
                TreeSearch::Gumbel(GumbelSearch::new(settings))
            }
            SearchConfig::Puct { exploration, noise_share, noise_mass, temperature } => {
                let settings = PuctSettings {
                    simulations,
                    exploration,
                    noise_share,
                    noise_mass,
                    temperature,
                    utility,
                    ..PuctSettings::default()
                };
                TreeSearch::Puct(PuctSearch::new(settings))
            }
        })
    }

    /// Begins a search of `root` with at most so many simulations; all that it draws comes from `seed`.
    pub fn begin(&mut self, root: &P, simulations: u32, seed: u64) {
        match self {
            TreeSearch::Gumbel(search) => search.begin(root, simulations, seed),
            TreeSearch::Puct(search) => search.begin(root, simulations, seed),
        }
    }

    /// Whether it waits for no evaluation: it has not begun, or is done.
    pub fn is_idle(&self) -> bool {
        match self {
            TreeSearch::Gumbel(search) => search.waiting().len() == 0,
            TreeSearch::Puct(search) => search.waiting().len() == 0,
        }
    }

    /// Shows the positions whose evaluations it waits for, as long as `show` succeeds.
    ///
    /// # Errors
    /// Those of `show`.
    pub fn show_waiting<E>(&self, show: impl FnMut(&P) -> Result<(), E>) -> Result<(), E> {
        match self {
            TreeSearch::Gumbel(search) => search.waiting().try_for_each(show),
            TreeSearch::Puct(search) => search.waiting().try_for_each(show),
        }
    }

    /// Takes the evaluations of the waiting positions, in their order.
    pub fn supply<'e>(&mut self, evaluations: impl Iterator<Item = LeafEvaluation<'e>>) {
        match self {
            TreeSearch::Gumbel(search) => search.supply(evaluations),
            TreeSearch::Puct(search) => search.supply(evaluations),
        }
    }

    /// The action to play, once the root has been evaluated.
    pub fn choice(&self) -> Option<Action> {
        match self {
            TreeSearch::Gumbel(search) => search.best(),
            TreeSearch::Puct(search) => search.choice(),
        }
    }

    /// Fills `policy` with the policy to learn, in the order of the root's legal actions. Returns the utility in [-1, 1]
    /// found for the player to move.
    pub fn policy_into(&self, policy: &mut Vec<f32>) -> f32 {
        match self {
            TreeSearch::Gumbel(search) => search.improved_policy_into(policy),
            TreeSearch::Puct(search) => search.policy_into(policy),
        }
    }
}
