//! Policies without search: priors for searches, and what plays their rollouts.

use dervish_env::chance;
use dervish_env::game::{Action, Position};

/// Probabilities of the legal actions of a position.
pub trait Policy<P: Position>: Send + Sync {
    /// Clears `priors` and fills it with the probabilities of `legal`, the legal actions of a position that waits for a
    /// player, in their order; each is at least 0 and they sum to 1.
    fn priors_into(&mut self, position: &P, legal: &[Action], priors: &mut Vec<f32>);

    /// The index among `legal`, which is not empty, of the action that a rollout plays; `word` is 64 uniform bits.
    fn choose(&mut self, position: &P, legal: &[Action], word: u64) -> usize;

    /// A copy for another thread.
    fn duplicate(&self) -> Box<dyn Policy<P>>;
}

impl<P: Position> Clone for Box<dyn Policy<P>> {
    fn clone(&self) -> Box<dyn Policy<P>> {
        (**self).duplicate()
    }
}

/// Every legal action alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Uniform;

impl<P: Position> Policy<P> for Uniform {
    fn priors_into(&mut self, _position: &P, legal: &[Action], priors: &mut Vec<f32>) {
        priors.clear();
        priors.resize(legal.len(), 1.0 / legal.len() as f32);
    }

    #[inline]
    fn choose(&mut self, _position: &P, legal: &[Action], word: u64) -> usize {
        chance::below(word, legal.len() as u32) as usize
    }

    fn duplicate(&self) -> Box<dyn Policy<P>> {
        Box::new(*self)
    }
}
