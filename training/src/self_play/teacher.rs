//! Games of agents that the network learns from before it plays itself.

use crate::self_play::game::{Decision, Judgement, SelfPlayGame, roll_to_decision, sparse};
use crate::self_play::numbers::{dice_seed, game_stream};
use dervish_agents::agent::{Agent, AgentError, Choice, Event, SearchReport};
use dervish_agents::evaluation::Utility;
use dervish_agents::limits::Limits;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::{self, Dice, SplitMix64};
use dervish_env::game::{Action, Actor, Position, Seat};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// What a run learns from before self-play begins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImitationConfig {
    /// Spec of the agent that is imitated, which plays both sides. What a search visited is its policy; of an agent without
    /// search it is the action that it chose.
    pub teacher: String,
    /// Games: the first of the run; with 0 nobody is imitated.
    pub games: u64,
    /// Times that one of these games is learnt from; as often as any other game (`learner.uses`) if it is left out. A teacher's
    /// games are dear where he searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<usize>,
    /// Share of the decisions at which a random action is played instead of the teacher's, which is learnt all the same, so
    /// that the network sees positions that a good player avoids.
    #[serde(default)]
    pub explore: f64,
}

/// Why a teacher's game was not played to its end.
#[derive(Debug, thiserror::Error)]
pub enum TeacherError {
    /// The agent does not answer.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The game is over, or a player has no action, and nothing says how it ended: a defect of the game.
    #[error("game {number} ended without a result")]
    NoResult {
        /// Number of the game.
        number: u64,
    },
}

/// A teacher that plays one scenario, one game after another.
pub struct Teacher<P: Position> {
    start: P,
    scenario: usize,
    agents: [Box<dyn Agent<P>>; 2],
    explore: f64,
    /// What results are worth in the run.
    utility: Utility,
    seed: u64,
    legal: Vec<Action>,
}

impl<P: Position> Teacher<P> {
    /// A teacher of the scenario with this index in the run of this seed.
    /// It plays a random action at the share `explore` of its decisions.
    pub fn new(
        start: P,
        scenario: usize,
        agent: &AgentFactory<P>,
        explore: f64,
        utility: Utility,
        seed: u64,
    ) -> Teacher<P> {
        let agents = Seat::BOTH.map(|_| agent.make());
        Teacher { start, scenario, agents, explore, utility, seed, legal: Vec::new() }
    }

    /// Plays the game of this number, to its end.
    ///
    /// # Errors
    /// [`TeacherError`].
    pub fn play(&mut self, number: u64) -> Result<SelfPlayGame, TeacherError> {
        let mut stream = game_stream(self.seed, number);
        let mut dice = Dice::new(dice_seed(self.seed, number));
        for (agent, seat) in self.agents.iter_mut().zip(Seat::BOTH) {
            agent.new_game(chance::agent_rng(self.seed, number, seat));
        }
        let mut position = self.start.clone();
        let mut decisions = Vec::new();
        let result = loop {
            let agents = &mut self.agents;
            roll_to_decision(&mut position, &mut dice, |roll| agents.iter_mut().for_each(|agent| agent.observe(roll)));
            let Actor::Player(seat) = position.actor() else { break position.result() };
            position.legal_actions_into(&mut self.legal);
            let decision = match self.legal[..] {
                [] => return Err(TeacherError::NoResult { number }),
                [only] => Decision { seat, action: only, judgement: None },
                _ => {
                    let choice = self.agents[seat.index()].choose(&position, &Limits::default())?;
                    self.judged(seat, &choice, &mut stream)
                }
            };
            position.apply_legal(decision.action);
            self.agents.iter_mut().for_each(|agent| agent.observe(Event::Played(seat, decision.action)));
            decisions.push(decision);
        };
        // Not a draw: nobody knows how it would have ended.
        let result = result.ok_or(TeacherError::NoResult { number })?;
        Ok(SelfPlayGame {
            number,
            scenario: self.scenario,
            dice_seed: dice.seed(),
            step: 0,
            decisions,
            opponent: None,
            result,
        })
    }

    fn judged(&self, seat: Seat, choice: &Choice, stream: &mut SplitMix64) -> Decision {
        let visits = |report: &SearchReport| {
            let total: u32 = report.actions.iter().map(|action| action.visits).sum();
            let share = |visits: u32| visits as f32 / total as f32;
            (total > 0).then(|| report.actions.iter().map(|action| share(action.visits)).collect::<Vec<f32>>())
        };
        let taught = choice.report.as_ref().and_then(visits);
        let taught = taught.unwrap_or_else(|| {
            self.legal.iter().map(|&action| if action == choice.action { 1.0 } else { 0.0 }).collect()
        });
        let explores = stream.random_bool(self.explore);
        let index = if explores {
            stream.below(self.legal.len())
        } else {
            self.legal.iter().position(|&action| action == choice.action).unwrap_or_default()
        };
        // Agents judge by wins and losses unless they are told otherwise: where margins count too, that is another value.
        let value = choice.report.as_ref().filter(|_| self.utility.margin_share == 0.0).map(|report| report.value);
        let judgement = Judgement { index: index as u32, probability: taught[index], value, policy: sparse(&taught) };
        Decision { seat, action: self.legal[index], judgement: Some(judgement) }
    }
}
