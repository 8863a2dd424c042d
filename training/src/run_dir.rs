//! The directory of a training run.
//!
//! ```text
//! config.json          how the run plays and learns
//! checkpoints/         one folder for each saved step; step 0 is the untrained network
//! replay/window.jsonl  the latest games of self-play, one a line
//! metrics.jsonl        one line of figures for each round of learning
//! train.log            what happened
//! lock                 held while a program trains here
//! ```

use crate::learner::LearnerConfig;
use crate::self_play::actor::SelfPlayConfig;
use dervish_models::checkpoint_series::{CHECKPOINTS, CheckpointSeries};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Version of the directory's layout and of `config.json`.
pub const FORMAT_VERSION: u32 = 1;

const CONFIG: &str = "config.json";
const LOCK: &str = "lock";
const REPLAY: &str = "replay";

/// A run directory, locked against other programs as long as this lives.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    config: RunConfig,
    _lock: File,
}

/// How a run plays and learns: the contents of `config.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u32,
    /// The game: a built-in scenario, a scenario file or a reference game.
    pub scenario: String,
    /// Threads that play, at least 1. The learner takes its time from theirs.
    pub threads: usize,
    /// Width of the network's token and action layers.
    pub hidden: usize,
    /// Width of the network's trunk.
    pub trunk: usize,
    /// Seconds between checkpoints.
    pub checkpoint_seconds: f64,
    /// How self-play is played.
    pub self_play: SelfPlayConfig,
    /// How the run learns.
    pub learner: LearnerConfig,
}

/// Why a run directory was not made or not opened.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}", path = path.display())]
pub struct RunDirError {
    /// The file or folder at fault.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub reason: RunDirFault,
}

/// What is wrong with a run directory.
#[derive(Debug, thiserror::Error)]
pub enum RunDirFault {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is something under this name already.
    #[error("already exists; runs are never overwritten: choose another --out, or go on with --resume")]
    Exists,
    /// The configuration is not one.
    #[error("not a run's configuration: {0}")]
    Config(#[from] serde_json::Error),
    /// It was written by a program with another layout.
    #[error("run format {found}; this program reads format {FORMAT_VERSION}")]
    Format {
        /// The format that the configuration states.
        found: u64,
    },
    /// A figure of the configuration with which nothing can be trained.
    #[error("{field}: {value} is not from {least} to {most}")]
    Range {
        /// Its path, such as `learner.batch`.
        field: &'static str,
        /// What it is.
        value: f64,
        /// The least that it may be.
        least: f64,
        /// The most that it may be.
        most: f64,
    },
    /// Another program trains here.
    #[error("another program is training in this directory")]
    InUse,
}

impl RunConfig {
    /// Whether it can be trained with: the file may have been edited between sessions.
    fn check(&self) -> Result<(), RunDirFault> {
        let RunConfig { self_play, learner, .. } = self;
        let trainer = &learner.trainer;
        let count = |count: usize| count as f64;
        let ranges = [
            ("threads", count(self.threads), 1.0, 1024.0),
            ("hidden", count(self.hidden), 1.0, 4096.0),
            ("trunk", count(self.trunk), 1.0, 4096.0),
            ("checkpoint_seconds", self.checkpoint_seconds, 0.0, 1e6),
            ("self_play.games_at_once", count(self_play.games_at_once), 1.0, 1e4),
            ("self_play.candidates", count(self_play.candidates), 1.0, 1e4),
            ("self_play.utility.margin_share", f64::from(self_play.utility.margin_share), 0.0, 1.0),
            ("learner.targets.lambda", f64::from(learner.targets.lambda), 0.0, 1.0),
            ("learner.targets.utility.margin_share", f64::from(learner.targets.utility.margin_share), 0.0, 1.0),
            ("learner.trainer.learning_rate", trainer.learning_rate, 0.0, 1.0),
            ("learner.trainer.weight_decay", trainer.weight_decay, 0.0, 1.0),
            ("learner.trainer.gradient_clip", trainer.gradient_clip, 0.0, 1e6),
            ("learner.trainer.policy_weight", trainer.policy_weight, 0.0, 1e3),
            ("learner.trainer.margin_weight", trainer.margin_weight, 0.0, 1e3),
            ("learner.trainer.turns_left_weight", trainer.turns_left_weight, 0.0, 1e3),
            ("learner.trainer.ratio_clip", trainer.ratio_clip, 0.0, 1.0),
            ("learner.trainer.entropy_weight", trainer.entropy_weight, 0.0, 1e3),
            ("learner.trainer.average_decay", trainer.average_decay, 0.0, 1.0),
            ("learner.games_per_round", count(learner.games_per_round), 1.0, 1e6),
            ("learner.replayed_games", count(learner.replayed_games), 0.0, 1e6),
            ("learner.passes", count(learner.passes), 1.0, 1e3),
            ("learner.batch", count(learner.batch), 1.0, 1e6),
            ("learner.window", count(learner.window), 1.0, 1e6),
            ("learner.final_learning_rate", learner.final_learning_rate, 0.0, 1.0),
        ];
        match ranges.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((field, value, least, most)) => Err(RunDirFault::Range { field, value, least, most }),
            None => Ok(()),
        }
    }
}

impl RunDir {
    /// Makes the directory of a new run. `path` must not exist; its parents are made where they are missing.
    ///
    /// # Errors
    /// [`RunDirError`]; what exists is left alone.
    pub fn create(path: &Path, config: RunConfig) -> Result<RunDir, RunDirError> {
        let at = |reason: RunDirFault| RunDirError { path: path.to_owned(), reason };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| at(error.into()))?;
        }
        fs::create_dir(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => at(RunDirFault::Exists),
            _ => at(error.into()),
        })?;
        let make = || -> Result<RunDir, RunDirFault> {
            let lock = lock(path)?;
            fs::create_dir(path.join(CHECKPOINTS))?;
            fs::create_dir(path.join(REPLAY))?;
            // Last and at once, so that a directory with a configuration is complete.
            let mut scratch = tempfile::Builder::new().prefix(".config-").tempfile_in(path)?;
            scratch.write_all(&serde_json::to_vec_pretty(&config)?)?;
            scratch.as_file().sync_all()?;
            scratch.persist(path.join(CONFIG)).map_err(|error| error.error)?;
            Ok(RunDir { path: path.to_owned(), config: config.clone(), _lock: lock })
        };
        make().map_err(at)
    }

    /// Opens the directory of a run to go on with it.
    ///
    /// # Errors
    /// [`RunDirError`] if it is not a run directory or another program trains in it.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        let file = path.join(CONFIG);
        let read = || -> Result<RunConfig, RunDirFault> {
            #[derive(Deserialize)]
            struct Format {
                format: u64,
            }
            let text = fs::read(&file)?;
            // Another format may have other fields: it is told apart first.
            let Format { format } = serde_json::from_slice(&text)?;
            if format != u64::from(FORMAT_VERSION) {
                return Err(RunDirFault::Format { found: format });
            }
            let config: RunConfig = serde_json::from_slice(&text)?;
            config.check()?;
            Ok(config)
        };
        let config = read().map_err(|reason| RunDirError { path: file.clone(), reason })?;
        let lock = lock(path).map_err(|reason| RunDirError { path: path.to_owned(), reason })?;
        Ok(RunDir { path: path.to_owned(), config, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the run plays and learns.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> CheckpointSeries {
        CheckpointSeries::of_run(&self.path)
    }

    /// The file of the replay window.
    pub fn window_file(&self) -> PathBuf {
        self.path.join(REPLAY).join("window.jsonl")
    }

    /// The log, to append to.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be opened.
    pub fn log_file(&self) -> Result<File, RunDirError> {
        self.append("train.log")
    }

    /// The file of figures, to append lines to.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be opened.
    pub fn metrics_file(&self) -> Result<File, RunDirError> {
        self.append("metrics.jsonl")
    }

    /// Opens a file of lines to append to. A last line that was cut off when a program was killed is ended first.
    fn append(&self, name: &str) -> Result<File, RunDirError> {
        let path = self.path.join(name);
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
            if file.metadata()?.len() > 0 {
                let mut last = [0];
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
                if last != *b"\n" {
                    file.write_all(b"\n")?;
                }
            }
            Ok(file)
        };
        open().map_err(|error| RunDirError { path: path.clone(), reason: error.into() })
    }
}

fn lock(path: &Path) -> Result<File, RunDirFault> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunDirFault::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}
