//! Whom the network meets in self-play beside itself: a pool of agents and of its own past.
//!
//! Fictitious play with preferences (the prioritised fictitious self-play of AlphaStar: Vinyals et al., *Grandmaster level in
//! StarCraft II using multi-agent reinforcement learning*, Nature 2019): the harder an opponent is, the more often it is met.

use dervish_agents::registry::AgentFactory;
use dervish_env::chance::SplitMix64;
use dervish_env::game::Position;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Who is met in self-play, and how often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LeagueConfig {
    /// Share of the games of self-play in which an opponent has one of the seats, drawn for each game.
    pub share: f64,
    /// Specs of agents in the pool. `neural:RUN` is another run as it is when the session begins: a run whose pool is this
    /// one's network alone is an exploiter of it.
    pub opponents: Vec<String>,
    /// Networks of the run's own past in the pool, the latest ones; 0 keeps none.
    pub past: usize,
    /// Rounds after which the network joins its own past.
    pub past_every: u64,
    /// How much hard opponents are preferred: an opponent against whom the network scores s is met in proportion to
    /// (1 - s)^focus, or to 0.02 where that is less. 0 meets all alike.
    pub focus: f64,
}

impl Default for LeagueConfig {
    fn default() -> LeagueConfig {
        LeagueConfig { share: 0.0, opponents: Vec::new(), past: 0, past_every: 50, focus: 1.0 }
    }
}

/// An agent that is met in all scenarios of a run.
#[derive(Clone, Debug)]
pub struct Rival<P: Position> {
    /// What it is called in figures and games: its spec as configured, or `past:STEP`.
    pub name: String,
    /// It in each scenario of the run.
    pub by_scenario: Vec<AgentFactory<P>>,
}

/// How the network has done against an opponent, recent games above all.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Met {
    /// Games, each later one making the earlier ones count a fiftieth less.
    pub games: f64,
    /// Points in them: 1 for a win, 1/2 for a draw.
    pub points: f64,
}

/// Part of what was known that each further game against the same opponent takes away: what is older than some fifty games
/// says little of the network of today.
const FORGETTING: f64 = 0.02;

/// The least preference, so that nobody is forgotten who was beaten for a while.
const LEAST_PREFERENCE: f64 = 0.02;

impl Met {
    /// The expected score, with one drawn game as prior.
    pub fn score(&self) -> f64 {
        (self.points + 0.5) / (self.games + 1.0)
    }

    fn add(&mut self, points: f64) {
        self.games = self.games * (1.0 - FORGETTING) + 1.0;
        self.points = self.points * (1.0 - FORGETTING) + points;
    }
}

/// The opponents of a run, shared by its threads.
#[derive(Debug)]
pub struct Pool<P: Position> {
    share: f64,
    focus: f64,
    state: RwLock<State<P>>,
}

#[derive(Debug)]
struct State<P: Position> {
    rivals: Vec<Rival<P>>,
    met: BTreeMap<String, Met>,
}

impl<P: Position> Pool<P> {
    /// A pool of these opponents; `met` is what earlier sessions have found.
    pub fn new(config: &LeagueConfig, rivals: Vec<Rival<P>>, met: BTreeMap<String, Met>) -> Pool<P> {
        Pool { share: config.share, focus: config.focus, state: RwLock::new(State { rivals, met }) }
    }

    /// Whether a game is one against an opponent, and against whom: the opponent's name and its agent in this scenario.
    pub fn draw(&self, scenario: usize, stream: &mut SplitMix64) -> Option<(String, AgentFactory<P>)> {
        if self.share <= 0.0 || !stream.random_bool(self.share) {
            return None;
        }
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let preferences: Vec<f64> = state.rivals.iter().map(|rival| self.preference(&state.met, rival)).collect();
        let mut left = stream.random::<f64>() * preferences.iter().sum::<f64>();
        let chosen = preferences.iter().position(|preference| {
            left -= preference;
            left < 0.0
        });
        let rival = chosen.and_then(|index| state.rivals.get(index)).or(state.rivals.last())?;
        Some((rival.name.clone(), rival.by_scenario.get(scenario)?.clone()))
    }

    fn preference(&self, met: &BTreeMap<String, Met>, rival: &Rival<P>) -> f64 {
        let score = met.get(&rival.name).copied().unwrap_or_default().score();
        (1.0 - score).powf(self.focus).max(LEAST_PREFERENCE)
    }

    /// Counts a game of the network against an opponent.
    pub fn book(&self, name: &str, points: f64) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.met.entry(name.to_string()).or_default().add(points);
    }

    /// Replaces the networks of the past, whose names [`past_name`] gives.
    pub fn set_past(&self, past: Vec<Rival<P>>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.rivals.retain(|rival| !rival.name.starts_with(PAST));
        state.rivals.extend(past);
        let State { rivals, met } = &mut *state;
        met.retain(|name, _| rivals.iter().any(|rival| rival.name == *name));
    }

    /// How the network has done against each opponent that it has met.
    pub fn met(&self) -> BTreeMap<String, Met> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).met.clone()
    }
}

const PAST: &str = "past:";

/// The name of the network of an optimisation step in the pool.
pub fn past_name(step: u64) -> String {
    format!("{PAST}{step}")
}
