//! The directory of a training run, for the program that trains in it. [`crate::run_files`] lists what is in it.

use crate::assessment::Assessment;
use crate::config::{ConfigError, RunConfig};
use crate::run_files::{
    ANCHOR, ASSESSMENTS, CLOCK, CONFIG, METRICS, PAST, PLAYING, REPLAY, RunFileError, SESSIONS, SessionLine,
    TENSORBOARD, value_of,
};
use dervish_env::persist::{LOCK, is_unfinished, lock_folder, read_text, remove_unfinished, write_whole};
use dervish_models::checkpoint_series::{CHECKPOINTS, CheckpointSeries};
use serde_json::json;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A run directory, locked against other programs as long as this lives.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    config: RunConfig,
    config_text: String,
    _lock: File,
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
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// Another program trains here.
    #[error("another program is training in this directory")]
    InUse,
}

impl RunDir {
    /// Makes the directory of a new run; its parents are made where they are missing. `path` must not exist, or be what a
    /// program left that was killed while it made a run there.
    ///
    /// # Errors
    /// [`RunDirError`]; what exists is left alone.
    pub fn create(path: &Path, config: RunConfig) -> Result<RunDir, RunDirError> {
        let at = |reason: RunDirFault| RunDirError { path: path.to_owned(), reason };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| at(error.into()))?;
        }
        let make = move || -> Result<RunDir, RunDirFault> {
            match fs::create_dir(path) {
                // Before it is locked, since that leaves a file in it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refuse_made(path)?,
                made => made?,
            }
            let lock = lock(path)?;
            // Whoever had the lock before may have made a run of it.
            refuse_made(path)?;
            remove_unfinished(path)?;
            fs::create_dir_all(path.join(CHECKPOINTS))?;
            fs::create_dir_all(path.join(REPLAY))?;
            // Last and at once, so that a directory with a configuration is complete.
            let config_text = config.text();
            write_whole(&path.join(CONFIG), config_text.as_bytes())?;
            Ok(RunDir { path: path.to_owned(), config, config_text, _lock: lock })
        };
        make().map_err(at)
    }

    /// Opens the directory of a run to go on with it.
    ///
    /// # Errors
    /// [`RunDirError`] if it is not a run directory or another program trains in it.
    pub fn open(path: &Path) -> Result<RunDir, RunDirError> {
        let file = path.join(CONFIG);
        let read = || -> Result<(RunConfig, String), RunDirFault> {
            let text = read_text(&file)?;
            Ok((RunConfig::parse(&text, &[])?, text))
        };
        let (config, config_text) = read().map_err(|reason| RunDirError { path: file.clone(), reason })?;
        let lock = lock(path).map_err(|reason| RunDirError { path: path.to_owned(), reason })?;
        // What a program that was killed left half made: hidden folders among networks, elsewhere files.
        let swept = |folder: PathBuf, sweep: fn(&Path) -> io::Result<()>| match sweep(&folder) {
            // A folder that is not there has nothing in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(|error| RunDirError { path: folder, reason: error.into() }),
        };
        swept(path.to_owned(), remove_unfinished)?;
        swept(path.join(REPLAY), remove_unfinished)?;
        [CHECKPOINTS, PAST, ANCHOR, PLAYING]
            .into_iter()
            .try_for_each(|name| swept(path.join(name), remove_hidden_folders))?;
        Ok(RunDir { path: path.to_owned(), config, config_text, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the run plays and learns.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The text of `config.toml`.
    pub fn config_text(&self) -> &str {
        &self.config_text
    }

    /// Adds a session that begins to the file of sessions.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be written.
    pub fn add_session(&self, session: &SessionLine) -> Result<(), RunDirError> {
        let add = |mut file: File| -> io::Result<()> {
            let mut line = serde_json::to_vec(session)?;
            line.push(b'\n');
            file.write_all(&line)
        };
        let path = self.path.join(SESSIONS);
        add(self.append(SESSIONS)?).map_err(|error| RunDirError { path, reason: error.into() })
    }

    /// Notes how many seconds the run has gone, in place of what was noted before.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be written.
    pub fn note_seconds(&self, seconds: f64) -> Result<(), RunDirError> {
        let path = self.path.join(CLOCK);
        let line = format!("{}\n", json!({ "seconds": seconds }));
        write_whole(&path, line.as_bytes()).map_err(|error| RunDirError { path, reason: error.into() })
    }

    /// The checkpoints.
    pub fn checkpoints(&self) -> CheckpointSeries {
        CheckpointSeries::of_run(&self.path)
    }

    /// The folder of the games.
    pub fn replay_folder(&self) -> PathBuf {
        self.path.join(REPLAY)
    }

    /// The folder of TensorBoard's files, made if it is not there.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be made.
    pub fn tensorboard_folder(&self) -> Result<PathBuf, RunDirError> {
        let folder = self.path.join(TENSORBOARD);
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(folder),
            Err(error) => Err(RunDirError { path: folder, reason: error.into() }),
        }
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
        self.append(METRICS)
    }

    /// The file of assessments, to append lines to.
    ///
    /// # Errors
    /// [`RunDirError`] if it cannot be opened.
    pub fn assessments_file(&self) -> Result<File, RunDirError> {
        self.append(ASSESSMENTS)
    }

    /// The assessments of the first `rounds` rounds. Later ones, which a run makes again that goes on from an earlier
    /// checkpoint, and a line that was cut off when a program was killed are taken out of the file.
    ///
    /// # Errors
    /// [`RunFileError`] if the file cannot be read or written, or with the line that is no assessment; the file is then as it
    /// was.
    pub fn assessments_until(&self, rounds: u64) -> Result<Vec<Assessment>, RunFileError> {
        let path = self.path.join(ASSESSMENTS);
        let at = |line, reason| RunFileError { path: path.clone(), line, reason };
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| at(None, error.into()))?,
        };
        let mut lines = Vec::with_capacity(text.len());
        let mut assessments = Vec::new();
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let told = |error: serde_json::Error| at(Some(index + 1), error.into());
            let Some(value) = value_of(line).map_err(told)? else { continue };
            let assessment: Assessment = serde_json::from_value(value).map_err(told)?;
            if assessment.rounds <= rounds {
                lines.extend_from_slice(line);
                lines.push(b'\n');
                assessments.push(assessment);
            }
        }
        write_whole(&path, &lines).map_err(|error| at(None, error.into()))?;
        Ok(assessments)
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
    /// Somebody who only looks whether a program trains here holds the lock for an instant.
    const TRIES: usize = 5;
    lock_folder(path, TRIES)?.ok_or(RunDirFault::InUse)
}

/// Refuses what is at `path` unless it is a folder with nothing in it but what [`RunDir::create`] leaves when its program is
/// killed before there is a configuration: the lock, folders with nothing in them, and files that were being written.
fn refuse_made(path: &Path) -> Result<(), RunDirFault> {
    let entries = match fs::read_dir(path) {
        // Something else, or a link to nothing.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound) => {
            return Err(RunDirFault::Exists);
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let is_left = if name == CHECKPOINTS || name == REPLAY {
            kind.is_dir() && fs::read_dir(entry.path())?.next().is_none()
        } else {
            name == LOCK && kind.is_file() || is_unfinished(&entry)?
        };
        if !is_left {
            return Err(RunDirFault::Exists);
        }
    }
    Ok(())
}

/// Removes from a folder of networks the folders in which one was being saved or deleted when its program was killed.
fn remove_hidden_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
