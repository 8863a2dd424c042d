//! The folder of a tuning run.
//!
//! ```text
//! plan.json      what is tuned and how; written last, so that a folder with it is complete
//! start.toml     the weights at the start
//! state.json     where the search stands after its last step
//! plus.toml      the weights of one side in the present step
//! minus.toml     those of the other side, each weight moved the other way
//! log.jsonl      one line for each step
//! weights.toml   the best weights so far
//! lock           held while a program tunes here
//! ```

use crate::tune::measure::Forfeits;
use crate::tune::spsa::{Gains, Search};
use dervish_env::persist::{lock_folder, read_text, remove_unfinished, write_whole};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Version of the folder's layout and documents.
pub const TUNING_VERSION: u32 = 1;

/// Name of the document that says what is tuned and how.
pub const PLAN: &str = "plan.json";

/// What is tuned and how.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`TUNING_VERSION`].
    pub version: u32,
    /// Spec of the agent, without its weights file.
    pub agent: String,
    /// Names of the weights that are tuned.
    pub weights: Vec<String>,
    /// Scenarios and games.
    pub scenarios: Vec<String>,
    /// `self`, or specs.
    pub opponents: Vec<String>,
    /// Games of a match, even.
    pub games: u32,
    /// How the search goes; its seed names all dice too.
    pub gains: Gains,
}

/// Where a run stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// [`TUNING_VERSION`].
    pub version: u32,
    /// The search.
    pub search: Search,
    /// A line of the log for every step.
    pub steps: Vec<StepLine>,
}

/// A line of the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepLine {
    /// Number of the step, from 1.
    pub step: u32,
    /// Score of the agent by `plus.toml` less its score by `minus.toml`, the mean over games and opponents, in [-1, 1].
    pub difference: f64,
    /// Values of the weights after it, whole numbers not rounded.
    pub weights: Vec<f64>,
    /// Games that were forfeited and counted as lost, by agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forfeits: Vec<Forfeits>,
}

/// The folder of a run, locked against other programs as long as this lives.
#[derive(Debug)]
pub struct TuneFolder {
    path: PathBuf,
    _lock: File,
}

/// What is wrong with a folder.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct TuneFolderError {
    /// The file or folder at fault.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: TuneFolderFault,
}

/// What is wrong with it.
#[derive(Debug, thiserror::Error)]
pub enum TuneFolderFault {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is something in it already.
    #[error("is not empty; name a new folder, or go on with --resume")]
    NotEmpty,
    /// A document is not one.
    #[error("not a document of a tuning run: {0}")]
    Document(#[from] serde_json::Error),
    /// It was written by a program with another layout.
    #[error("tuning version {found}; this program reads version {TUNING_VERSION}")]
    Version {
        /// The version that it states.
        found: u64,
    },
    /// The state does not belong to the plan.
    #[error("does not fit plan.json and start.toml")]
    Foreign,
    /// There is no state, though steps were made.
    #[error("is missing, but log.jsonl tells of steps: put it back, or begin a new run")]
    Lost,
    /// Another program tunes here.
    #[error("another program is tuning in this folder")]
    InUse,
}

impl TuneFolder {
    /// Makes the folder of a new run, with its parents.
    ///
    /// # Errors
    /// [`TuneFolderError`]; what exists is left alone.
    pub fn create(path: &Path, plan: &Plan, start: &str) -> Result<TuneFolder, TuneFolderError> {
        let at = |fault: TuneFolderFault| TuneFolderError { path: path.to_path_buf(), fault };
        fs::create_dir_all(path).map_err(|error| at(error.into()))?;
        if fs::read_dir(path).map_err(|error| at(error.into()))?.next().is_some() {
            return Err(at(TuneFolderFault::NotEmpty));
        }
        let folder = TuneFolder { path: path.to_path_buf(), _lock: lock(path).map_err(at)? };
        folder.write("start.toml", start.as_bytes())?;
        folder.write_document(PLAN, plan)?;
        Ok(folder)
    }

    /// Opens the folder of a run to go on with it, and removes what a killed program left half-written there.
    ///
    /// # Errors
    /// [`TuneFolderError`].
    pub fn open(path: &Path) -> Result<(TuneFolder, Plan), TuneFolderError> {
        let at = |fault: TuneFolderFault| TuneFolderError { path: path.to_path_buf(), fault };
        let plan = read_document(&path.join(PLAN))?;
        let lock = lock(path).map_err(at)?;
        remove_unfinished(path).map_err(|error| at(error.into()))?;
        Ok((TuneFolder { path: path.to_path_buf(), _lock: lock }, plan))
    }

    /// A file of the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The state, if a step has been made, of a search in so many dimensions.
    ///
    /// # Errors
    /// [`TuneFolderError`].
    pub fn state(&self, dimensions: usize) -> Result<Option<State>, TuneFolderError> {
        let path = self.file("state.json");
        if !path.exists() {
            // The log is written after the state.
            return match self.file("log.jsonl").exists() {
                true => Err(TuneFolderError { path, fault: TuneFolderFault::Lost }),
                false => Ok(None),
            };
        }
        let state: State = read_document(&path)?;
        let Search { step, point, sum, .. } = &state.search;
        let finite = point.iter().chain(sum).all(|x| x.is_finite());
        let fits = point.len() == dimensions && sum.len() == dimensions && state.steps.len() == *step as usize;
        match fits && finite {
            true => Ok(Some(state)),
            false => Err(TuneFolderError { path, fault: TuneFolderFault::Foreign }),
        }
    }

    /// Writes the state, and the log that follows from it.
    ///
    /// # Errors
    /// [`TuneFolderError`].
    pub fn write_state(&self, state: &State) -> Result<(), TuneFolderError> {
        self.write_document("state.json", state)?;
        let lines = state.steps.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| TuneFolderError { path: self.file("log.jsonl"), fault: error.into() })?;
        self.write("log.jsonl", (lines.join("\n") + "\n").as_bytes())
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// [`TuneFolderError`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TuneFolderError> {
        let path = self.file(name);
        write_whole(&path, bytes).map_err(|error| TuneFolderError { path, fault: error.into() })
    }

    fn write_document(&self, name: &str, document: &impl Serialize) -> Result<(), TuneFolderError> {
        let text = serde_json::to_vec_pretty(document);
        let text = text.map_err(|error| TuneFolderError { path: self.file(name), fault: error.into() })?;
        self.write(name, &text)
    }
}

fn read_document<T: DeserializeOwned>(path: &Path) -> Result<T, TuneFolderError> {
    #[derive(Deserialize)]
    struct Version {
        version: u64,
    }
    let read = || -> Result<T, TuneFolderFault> {
        let text = read_text(path)?;
        // Another version may have other fields: it is told apart first.
        let Version { version } = serde_json::from_str(&text)?;
        if version != u64::from(TUNING_VERSION) {
            return Err(TuneFolderFault::Version { found: version });
        }
        Ok(serde_json::from_str(&text)?)
    };
    read().map_err(|fault| TuneFolderError { path: path.to_path_buf(), fault })
}

fn lock(path: &Path) -> Result<File, TuneFolderFault> {
    lock_folder(path, 1)?.ok_or(TuneFolderFault::InUse)
}
