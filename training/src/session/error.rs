//! Why a session failed.

use crate::arena::match_play::MatchError;
use crate::disk_limit::DiskLimitError;
use crate::learner::LearnError;
use crate::run_dir::RunDirError;
use crate::run_files::{CONFIG, RunFileError};
use crate::self_play::actor::ActorError;
use crate::self_play::evaluation::BatchEvaluatorError;
use crate::self_play::game::UnplayableGame;
use crate::self_play::players::PlayerError;
use crate::self_play::replay::ReplayError;
use crate::session::checkpoint_figures::FigureError;
use crate::session::gate::GateError;
use dervish_models::checkpoint::CheckpointError;
use dervish_models::device::DeviceError;
use dervish_models::evaluator::EvaluateError;
use dervish_models::network::ConfigError;
use dervish_models::trainer::TrainError;
use std::path::PathBuf;

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The run directory.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// What a run tells of its sessions.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// What a checkpoint says of its run.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The run has learnt, and there is nothing to go on from.
    #[error(
        "{path}: there is no checkpoint in it, but {file} tells of {rounds} rounds and {step} steps: put the checkpoints back, \
         or train a new run",
        path = path.display()
    )]
    NoCheckpoint {
        /// The folder of checkpoints.
        path: PathBuf,
        /// The file that tells.
        file: &'static str,
        /// Rounds of which it tells.
        rounds: u64,
        /// Optimisation steps of which it tells.
        step: u64,
    },
    /// The games.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Self-play, or a teacher.
    #[error(transparent)]
    Player(#[from] PlayerError),
    /// Learning.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The learner or the network has left all bounds.
    #[error(
        "{error}; the run is as it was saved at step {saved}: go on from there with --resume, after lowering \
         learner.trainer.learning_rate in its {CONFIG} if this comes again"
    )]
    NotFinite {
        /// What is not finite, and where.
        error: String,
        /// Step of the latest checkpoint.
        saved: u64,
    },
    /// The network's sizes.
    #[error("network: {0}")]
    Network(#[from] ConfigError),
    /// The configuration was changed since the network was made.
    #[error(
        "{path}: the run has another network than this [network] says; a network cannot be changed: train a new run",
        path = path.display()
    )]
    OtherNetwork {
        /// The configuration.
        path: PathBuf,
    },
    /// A kept game does not fit the rules, which may have changed since.
    #[error("{path}: {game}; take the file away to go on without its games", path = path.display())]
    Unplayable {
        /// Where the game is kept.
        path: PathBuf,
        /// What is wrong with it.
        game: UnplayableGame,
    },
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The trainer.
    #[error("learner: {0}")]
    Trainer(#[from] TrainError),
    /// A match of an assessment.
    #[error("assessment: {0}")]
    Assessment(#[from] MatchError),
    /// The match between new weights and old.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A network could not be copied.
    #[error(transparent)]
    Copy(#[from] EvaluateError),
    /// What it may take on disk.
    #[error(transparent)]
    DiskLimit(#[from] DiskLimitError),
    /// All actors are gone.
    #[error("self-play ended by itself")]
    NoActors,
}

impl SessionError {
    /// Whether what was learnt is whole and can be saved: others have failed, who say nothing of the network.
    pub fn spares_the_learner(&self) -> bool {
        let SessionError::Player(error) = self else { return matches!(self, SessionError::NoActors) };
        match error {
            PlayerError::Teacher(_) | PlayerError::Panicked(_) => true,
            PlayerError::Actor(ActorError::Opponent(_) | ActorError::NoResult { .. }) => true,
            PlayerError::Actor(ActorError::Evaluation(error)) => matches!(error, BatchEvaluatorError::Gone),
            PlayerError::Actor(_) => false,
        }
    }

    /// Whether the loss, its gradient or what the network says is not finite.
    pub fn is_not_finite(&self) -> bool {
        match self {
            SessionError::Learn(LearnError::Train(error)) => matches!(error, TrainError::NotFinite { .. }),
            SessionError::Player(PlayerError::Actor(ActorError::Evaluation(error))) => match error {
                BatchEvaluatorError::Evaluation(error) => matches!(error, EvaluateError::NotFinite),
                BatchEvaluatorError::Shared(error) => matches!(**error, EvaluateError::NotFinite),
                BatchEvaluatorError::Gone => false,
            },
            _ => false,
        }
    }
}
