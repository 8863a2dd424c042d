//! A hand-made evaluation as an evaluator of leaves.

use dervish_agents::evaluation::Evaluation;
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_env::game::{Actor, Position, Seat};

/// Judges positions, rolls among them, as they stand: by the evaluation, as even where that has no opinion. It has no policy
/// and draws nothing.
#[derive(Clone, Copy, Debug)]
pub struct Glance<E>(pub E);

impl<P: Position, E: Evaluation<P>> Evaluator<P> for Glance<E> {
    fn evaluate<'p>(
        &mut self,
        positions: &mut dyn ExactSizeIterator<Item = &'p P>,
        take: &mut dyn FnMut(LeafEvaluation<'_>),
    ) -> Result<(), EvaluatorError> {
        for position in positions {
            let view = if let Actor::Player(seat) = position.actor() { seat } else { Seat::First };
            take(LeafEvaluation { policy: &[], value: self.0.value(position, view).unwrap_or(0.0) });
        }
        Ok(())
    }

    fn judges_rolls(&self) -> bool {
        true
    }

    fn reseed(&mut self, _seed: u64) {}

    fn duplicate(&self) -> Box<dyn Evaluator<P>> {
        Box::new(Glance(self.0.clone()))
    }
}
