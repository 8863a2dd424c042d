//! What every searching agent does around its search.

use crate::agent::{AgentError, Choice};
use crate::evaluator::EvaluatorError;
use crate::limits::{Limits, MoveBudget, TurnLedger};
use dervish_env::game::{Action, Actor, Position};
use std::time::Instant;

/// Shares the budget of a turn out among its moves, and keeps trivial choices from the search.
#[derive(Clone, Debug, Default)]
pub struct Thinking {
    ledger: TurnLedger,
    actions: Vec<Action>,
}

impl Thinking {
    /// Forgets what was used in earlier games.
    pub fn new_game(&mut self) {
        self.ledger = TurnLedger::default();
    }

    /// The choice of an agent, described by `spec`, whose own options allow `own_simulations` (or positions, for a search
    /// that makes no simulations): the only legal action, or what `search` finds within the budget.
    ///
    /// # Errors
    /// [`AgentError`] if no player is to act or the search fails.
    pub fn choose<P: Position>(
        &mut self,
        spec: &dyn Fn() -> String,
        position: &P,
        limits: &Limits,
        own_simulations: u32,
        search: impl FnOnce(&MoveBudget) -> Result<Option<Choice>, EvaluatorError>,
    ) -> Result<Choice, AgentError> {
        let Actor::Player(_) = position.actor() else {
            return Err(AgentError::NotToAct { agent: spec(), pending: position.pending_text() });
        };
        position.legal_actions_into(&mut self.actions);
        if let [only] = self.actions[..] {
            return Ok(Choice::plain(only));
        }
        let begun = Instant::now();
        let budget = self.ledger.budget(position.turn(), own_simulations, limits, begun);
        let choice = search(&budget).map_err(|error| error.to_string());
        let choice = choice.and_then(|choice| choice.ok_or_else(|| "no legal action found".to_string()));
        let choice = choice.map_err(|reason| AgentError::Failed { agent: spec(), reason })?;
        let used = choice.report.as_ref().map_or(0, |report| report.budget_used);
        self.ledger.spend(used, begun.elapsed());
        Ok(choice)
    }
}
