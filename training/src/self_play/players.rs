//! Who plays the games of a run on one thread: teachers first, then the network.

use crate::config::RunConfig;
use crate::self_play::actor::{Actor, ActorError};
use crate::self_play::evaluation::BatchEvaluator;
use crate::self_play::game::SelfPlayGame;
use crate::self_play::numbers::GameNumbers;
use crate::self_play::pool::Pool;
use crate::self_play::teacher::{Teacher, TeacherError};
use crate::self_play::weights::PublishedWeights;
use crate::session::Material;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::Position;

/// The players of one thread.
pub struct Players<'r, P: Position, E> {
    teachers: Vec<Teacher<P>>,
    /// Games that teachers play: the first of the run.
    taught: u64,
    numbers: &'r GameNumbers,
    actor: Actor<'r, P, E>,
}

/// Why a game was not played.
#[derive(Debug, thiserror::Error)]
pub enum PlayerError {
    /// The network.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// The agent that is imitated.
    #[error("imitation: {0}")]
    Teacher(#[from] TeacherError),
    /// A thread panicked: a defect of the program, or of an agent.
    #[error("self-play: a thread broke off: {0}")]
    Panicked(String),
}

impl<'r, P: Position, E: PolicyEncoder<P>> Players<'r, P, E> {
    /// Players for games of these numbers; the network meets opponents of the pool.
    pub fn new(
        material: &'r Material<P, E>,
        config: &RunConfig,
        pool: &'r Pool<P>,
        weights: &'r PublishedWeights,
        numbers: &'r GameNumbers,
        evaluator: BatchEvaluator<'r>,
    ) -> Players<'r, P, E> {
        let RunConfig { imitation, self_play, seed, .. } = config;
        let explore = imitation.as_ref().map_or(0.0, |imitation| imitation.explore);
        let teachers =
            material.teachers.iter().zip(&material.starts).enumerate().map(|(scenario, (teacher, start))| {
                Teacher::new(start.position.clone(), scenario, teacher, explore, self_play.utility, *seed)
            });
        Players {
            teachers: teachers.collect(),
            taught: imitation.as_ref().map_or(0, |imitation| imitation.games),
            numbers,
            actor: Actor::new(&material.starts, *self_play, *seed, pool, weights, numbers, evaluator),
        }
    }

    /// Plays on for a while, a game of a teacher or a batch of the network; finished games are added to `finished`. False if
    /// there is nothing left to play.
    ///
    /// # Errors
    /// [`PlayerError`]; the players are then of no more use.
    pub fn tick(&mut self, finished: &mut Vec<SelfPlayGame>) -> Result<bool, PlayerError> {
        if !self.teachers.is_empty()
            && let Some(number) = self.numbers.take_below(self.taught)
        {
            let scenario = (number % self.teachers.len() as u64) as usize;
            finished.push(self.teachers[scenario].play(number)?);
            return Ok(true);
        }
        Ok(self.actor.tick(finished)?)
    }
}
