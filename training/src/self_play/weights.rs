//! How new weights reach the actors.

use dervish_models::evaluator::{EvaluateError, NetEvaluator};
use dervish_models::network::{Network, NetworkConfig};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The weights that actors should play with, put there by the learner.
#[derive(Debug)]
pub struct PublishedWeights {
    step: AtomicU64,
    net: Mutex<Network>,
}

impl PublishedWeights {
    /// The first weights, of optimisation step `step`.
    pub fn new(net: Network, step: u64) -> PublishedWeights {
        PublishedWeights { step: AtomicU64::new(step), net: Mutex::new(net) }
    }

    /// Replaces the weights by those of a network of the same sizes.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn publish(&self, net: &Network, step: u64) -> Result<(), EvaluateError> {
        self.net.lock().unwrap_or_else(PoisonError::into_inner).copy_from(net)?;
        self.step.store(step, Ordering::Release);
        Ok(())
    }

    /// Step of the latest weights.
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Acquire)
    }

    /// How the network is built.
    pub fn config(&self) -> NetworkConfig {
        self.net.lock().unwrap_or_else(PoisonError::into_inner).config().clone()
    }

    /// A network of its own with the latest weights.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn duplicate(&self) -> Result<Network, EvaluateError> {
        Ok(self.net.lock().unwrap_or_else(PoisonError::into_inner).duplicate()?)
    }

    /// Copies the latest weights into `evaluator`.
    ///
    /// # Errors
    /// What libtorch said.
    pub fn copy_to(&self, evaluator: &mut NetEvaluator) -> Result<(), EvaluateError> {
        evaluator.set_weights(&self.net.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
