//! What a search asks at its leaves: a policy and a value, for several positions at a time.

use dervish_env::game::Position;

/// Judges positions in batches. Whatever it draws follows from its seed and from what it was asked since.
pub trait Evaluator<P: Position>: Send + Sync {
    /// Evaluates `positions` and hands `take` one evaluation for each, in order. Each of them waits for a player, or for a
    /// roll where the evaluator [judges rolls](Evaluator::judges_rolls).
    ///
    /// # Errors
    /// [`EvaluatorError`]; evaluations handed over until then stand.
    fn evaluate<'p>(
        &mut self,
        positions: &mut dyn ExactSizeIterator<Item = &'p P>,
        take: &mut dyn FnMut(LeafEvaluation<'_>),
    ) -> Result<(), EvaluatorError>;

    /// Whether it also judges positions that wait for a roll, and then by their value for the first seat. No policy is asked
    /// of those.
    fn judges_rolls(&self) -> bool {
        false
    }

    /// Begins a new random stream, for evaluators that draw.
    fn reseed(&mut self, seed: u64);

    /// A copy for another thread.
    fn duplicate(&self) -> Box<dyn Evaluator<P>>;
}

impl<P: Position> Clone for Box<dyn Evaluator<P>> {
    fn clone(&self) -> Box<dyn Evaluator<P>> {
        (**self).duplicate()
    }
}

/// What an evaluator says of a position, from the point of view of the player to move; at a roll, of the first seat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeafEvaluation<'a> {
    /// Probabilities of the legal actions, in their order; empty from an evaluator without a policy.
    pub policy: &'a [f32],
    /// Expected utility in [-1, 1].
    pub value: f32,
}

/// Why positions were not evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}")]
pub struct EvaluatorError {
    /// What failed.
    pub reason: String,
}
