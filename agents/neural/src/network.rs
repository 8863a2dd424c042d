//! A trained network as an evaluator of leaves.

use crate::encoding::PositionEncoding;
use dervish_agents::evaluation::Utility;
use dervish_agents::evaluator::{Evaluator, EvaluatorError, LeafEvaluation};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Action, Actor, Position};
use dervish_models::batch::{Batch, BatchError};
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use dervish_models::network::Network;
use std::sync::{Arc, Mutex, PoisonError};

/// A network with all that it takes to read positions.
///
/// Copies share the loaded weights until they evaluate for the first time; then each has a network of its own, so that
/// threads don't wait for each other.
#[derive(Debug)]
pub struct LeafNetwork<E> {
    encoder: Arc<E>,
    weights: Arc<Mutex<Network>>,
    utility: Utility,
    /// Made at the first evaluation. Never locked: the lock makes the network one that can be copied from any thread.
    reader: Mutex<Option<Reader>>,
}

/// The buffers of one thread.
#[derive(Debug)]
struct Reader {
    evaluator: NetEvaluator,
    evaluations: Evaluations,
    encoding: PositionEncoding,
    batch: Batch,
    actions: Vec<Action>,
}

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("{0}")]
    Encoding(#[from] BatchError),
    #[error("{0}")]
    Evaluation(#[from] EvaluateError),
}

impl From<ReadError> for EvaluatorError {
    fn from(error: ReadError) -> EvaluatorError {
        EvaluatorError { reason: error.to_string() }
    }
}

impl<E> LeafNetwork<E> {
    /// A network that reads what `encoder` writes and judges results by `utility`.
    pub fn new(encoder: Arc<E>, net: Network, utility: Utility) -> LeafNetwork<E> {
        LeafNetwork { encoder, weights: Arc::new(Mutex::new(net)), utility, reader: Mutex::new(None) }
    }
}

impl<E> Clone for LeafNetwork<E> {
    fn clone(&self) -> LeafNetwork<E> {
        let (encoder, weights) = (self.encoder.clone(), self.weights.clone());
        LeafNetwork { encoder, weights, utility: self.utility, reader: Mutex::new(None) }
    }
}

impl Reader {
    fn new<P: Position, E: PolicyEncoder<P>>(weights: &Mutex<Network>, encoder: &E) -> Result<Reader, ReadError> {
        let net = weights.lock().unwrap_or_else(PoisonError::into_inner).duplicate().map_err(EvaluateError::from)?;
        Ok(Reader {
            batch: Batch::new(net.config()),
            encoding: PositionEncoding::new(encoder, net.config()),
            evaluator: NetEvaluator::new(net),
            evaluations: Evaluations::default(),
            actions: Vec::new(),
        })
    }

    fn read<P: Position, E: PolicyEncoder<P>>(
        &mut self,
        encoder: &E,
        positions: &mut dyn ExactSizeIterator<Item = &P>,
    ) -> Result<(), ReadError> {
        self.batch.clear();
        for position in positions {
            let Actor::Player(view) = position.actor() else { continue };
            position.legal_actions_into(&mut self.actions);
            self.encoding.encode(encoder, position, view, &self.actions);
            self.batch.push(&self.encoding.sample())?;
        }
        Ok(self.evaluator.evaluate(&self.batch, &mut self.evaluations)?)
    }
}

impl<P: Position, E: PolicyEncoder<P> + 'static> Evaluator<P> for LeafNetwork<E> {
    fn evaluate<'p>(
        &mut self,
        positions: &mut dyn ExactSizeIterator<Item = &'p P>,
        take: &mut dyn FnMut(LeafEvaluation<'_>),
    ) -> Result<(), EvaluatorError> {
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(Reader::new(&self.weights, &*self.encoder)?),
        };
        reader.read(&*self.encoder, positions)?;
        let evaluations = &reader.evaluations;
        for sample in 0..evaluations.len() {
            let value = self.utility.mix(evaluations.value(sample), evaluations.margin(sample));
            take(LeafEvaluation { policy: evaluations.policy(sample), value });
        }
        Ok(())
    }

    fn reseed(&mut self, _seed: u64) {}

    fn duplicate(&self) -> Box<dyn Evaluator<P>> {
        Box::new(self.clone())
    }
}
