//! How far agents are from perfect play, on positions that can be solved to the end.

use crate::arena::statistics::Mean;
use dervish_agents::agent::AgentError;
use dervish_agents::evaluation::Utility;
use dervish_agents::limits::Limits;
use dervish_agents::registry::{AgentFactory, Registry, SpecError};
use dervish_env::chance::agent_rng;
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_search::exact::{NotSolved, Solver};
use dervish_search::fixed_point::FixedPoint;
use dervish_search::tree::sign_of;
use rayon::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// What stands for the budget in an agent's spec: `mcts:sims={n}`.
pub const BUDGET: &str = "{n}";

/// A position with the exact values of its actions.
#[derive(Clone, Debug)]
pub struct SolvedPosition<P> {
    /// The position, which waits for a player.
    pub position: P,
    /// Who is to move.
    pub seat: Seat,
    /// The legal actions with the expected result in [-1, 1] behind each, for the player to move, with perfect play.
    pub actions: Vec<(Action, f64)>,
    /// Positions that were solved to know them.
    pub nodes: usize,
}

/// Why a position was not solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unsolved {
    /// It waits for a roll or is finished.
    #[error("no player is to act in it, so there is nothing to choose")]
    NotToAct,
    /// Too much follows from it.
    #[error(transparent)]
    NotSolved(#[from] NotSolved),
}

/// What results are worth in all of this.
pub const BY_RESULT: Utility = Utility { margin_share: 0.0 };

impl<P: Position> SolvedPosition<P> {
    /// Solves a position from which at most `limit` positions follow. Results count as win, draw or loss.
    ///
    /// # Errors
    /// [`Unsolved`].
    pub fn of(position: P, limit: usize) -> Result<SolvedPosition<P>, Unsolved> {
        SolvedPosition::by(&position, &mut Solver::new(BY_RESULT, true, limit))
    }

    /// Solves a position with what `solver` knows already.
    ///
    /// # Errors
    /// [`Unsolved`].
    pub fn by(position: &P, solver: &mut Solver) -> Result<SolvedPosition<P>, Unsolved> {
        let Actor::Player(seat) = position.actor() else { return Err(Unsolved::NotToAct) };
        let values = solver.action_values(position)?;
        Ok(SolvedPosition::new(position, seat, values, solver.solved()))
    }

    /// A position of a game that was solved as a whole; `None` if it is none of it or no player is to act.
    pub fn of_whole(position: &P, whole: &FixedPoint) -> Option<SolvedPosition<P>> {
        let Actor::Player(seat) = position.actor() else { return None };
        let mut actions = Vec::new();
        position.legal_actions_into(&mut actions);
        let values = actions.into_iter().map(|action| {
            let mut next = position.clone();
            next.apply_legal(action);
            whole.value(&next).map(|value| (action, value))
        });
        Some(SolvedPosition::new(position, seat, values.collect::<Option<_>>()?, whole.solved()))
    }

    /// `values` are for the first seat.
    fn new(position: &P, seat: Seat, values: Vec<(Action, f64)>, nodes: usize) -> SolvedPosition<P> {
        let sign = sign_of(seat);
        let actions = values.into_iter().map(|(action, value)| (action, sign * value)).collect();
        SolvedPosition { position: position.clone(), seat, actions, nodes }
    }

    /// Whether it matters what is chosen.
    pub fn is_a_choice(&self) -> bool {
        self.actions.iter().any(|(action, _)| self.regret(*action) > 1e-9)
    }

    /// Expected result with perfect play, for the player to move.
    pub fn value(&self) -> f64 {
        self.actions.iter().map(|(_, value)| *value).fold(-1.0, f64::max)
    }

    /// What choosing an action gives away, in 0..=2.
    pub fn regret(&self, action: Action) -> f64 {
        let chosen = self.actions.iter().find(|(known, _)| *known == action);
        self.value() - chosen.map_or(-1.0, |(_, value)| *value)
    }
}

/// What one agent with one budget gives away on a set of positions.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct RegretCell {
    /// The budget that stood in the agent's spec.
    pub budget: u32,
    /// Regret over all positions and repeats.
    pub regret: Mean,
    /// The greatest regret of a single choice.
    pub worst_regret: f64,
    /// Mean distance of the reported value of the chosen action from the exact value of the position; `None` for an agent
    /// that reports none.
    pub value_error: Option<f64>,
    /// The greatest distance of a single choice.
    pub worst_value_error: Option<f64>,
    /// Mean time of a choice in seconds.
    pub seconds: f64,
}

/// Why an agent was not measured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegretError {
    /// Its spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It gave no answer.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

/// The agent that `spec` describes with this budget in the place of [`BUDGET`].
///
/// # Errors
/// [`SpecError`].
pub fn with_budget<P: Position>(agents: &Registry<P>, spec: &str, budget: u32) -> Result<AgentFactory<P>, SpecError> {
    agents.factory(&spec.replace(BUDGET, &budget.to_string()))
}

/// Lets an agent choose `repeats` times in each position, each time as in a new game with random numbers of its own. Positions
/// are shared out among all cores; `chosen` hears of each choice, from any of them.
///
/// # Errors
/// [`RegretError`] if the agent cannot answer.
pub fn measure<P: Position>(
    agent: &AgentFactory<P>,
    budget: u32,
    positions: &[SolvedPosition<P>],
    repeats: u32,
    seed: u64,
    chosen: impl Fn() + Sync,
) -> Result<RegretCell, RegretError> {
    let choices_in = |(index, solved): (usize, &SolvedPosition<P>)| -> Result<Choices, AgentError> {
        let mut agent = agent.make();
        let mut choices = Choices::default();
        for repeat in 0..repeats {
            let game = u64::from(repeat) * positions.len() as u64 + index as u64;
            agent.new_game(agent_rng(seed, game, solved.seat));
            let begun = Instant::now();
            let choice = agent.choose(&solved.position, &Limits::default())?;
            choices.seconds += begun.elapsed().as_secs_f64();
            choices.regrets.push(solved.regret(choice.action));
            choices.errors.extend(choice.report.map(|report| (f64::from(report.value) - solved.value()).abs()));
            chosen();
        }
        Ok(choices)
    };
    let by_position: Vec<Choices> = positions.par_iter().enumerate().map(choices_in).collect::<Result<_, _>>()?;
    let regrets: Vec<f64> = by_position.iter().flat_map(|choices| choices.regrets.iter().copied()).collect();
    let errors: Vec<f64> = by_position.iter().flat_map(|choices| choices.errors.iter().copied()).collect();
    let worst = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    let seconds = by_position.iter().map(|choices| choices.seconds).sum::<f64>() / regrets.len().max(1) as f64;
    let reported = !errors.is_empty();
    Ok(RegretCell {
        budget,
        regret: Mean::of(&regrets).unwrap_or(Mean { value: 0.0, standard_error: None }),
        worst_regret: worst(&regrets),
        value_error: reported.then(|| average(&errors)),
        worst_value_error: reported.then(|| worst(&errors)),
        seconds,
    })
}

/// What an agent chose in one position.
#[derive(Default)]
struct Choices {
    regrets: Vec<f64>,
    errors: Vec<f64>,
    seconds: f64,
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
