//! The checkpoints of one run: a folder with one checkpoint for each saved step.

use crate::checkpoint::{self, Checkpoint, CheckpointError, CheckpointFault, Contract, Description, Manifest};
use crate::network::Network;
use crate::trainer::TrainerState;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tch::Device;

/// Name of the folder of checkpoints within a run directory.
pub const CHECKPOINTS: &str = "checkpoints";

const STEP_PREFIX: &str = "step-";

/// Steps that are told where one was asked for that has no checkpoint.
const TOLD_STEPS: usize = 10;

/// Name of the checkpoint of a step.
fn name_of(step: u64) -> String {
    format!("{STEP_PREFIX}{step:08}")
}

/// The step of which a checkpoint has this name; `None` for any other name, such as one with fewer digits.
pub(crate) fn step_of(name: &str) -> Option<u64> {
    let step = name.strip_prefix(STEP_PREFIX)?.parse().ok()?;
    (name_of(step) == name).then_some(step)
}

/// A folder of checkpoints named by their steps, `step-00001200`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointSeries {
    folder: PathBuf,
}

impl CheckpointSeries {
    /// The series of the run in this directory.
    pub fn of_run(run: &Path) -> CheckpointSeries {
        CheckpointSeries { folder: run.join(CHECKPOINTS) }
    }

    /// The series in a folder of its own. It need not exist before the first checkpoint is saved.
    pub fn in_folder(folder: PathBuf) -> CheckpointSeries {
        CheckpointSeries { folder }
    }

    /// Where the checkpoint of this step is or would be.
    pub fn path(&self, step: u64) -> PathBuf {
        self.folder.join(name_of(step))
    }

    /// The steps that have a checkpoint, in ascending order. What has another name, such as a folder that was being
    /// written when its program was killed, is passed over.
    ///
    /// # Errors
    /// [`CheckpointFault::Io`] if the folder cannot be read.
    pub fn steps(&self) -> Result<Vec<u64>, CheckpointError> {
        let read = || -> io::Result<Vec<u64>> {
            let mut steps = Vec::new();
            for entry in fs::read_dir(&self.folder)? {
                let name = entry?.file_name();
                steps.extend(name.to_str().and_then(step_of));
            }
            steps.sort_unstable();
            Ok(steps)
        };
        read().map_err(|error| self.fault(error))
    }

    /// The latest step that has a checkpoint.
    ///
    /// # Errors
    /// [`CheckpointFault::Io`] if the folder cannot be read or has no checkpoint.
    pub fn latest(&self) -> Result<u64, CheckpointError> {
        let none = || self.fault(io::Error::new(io::ErrorKind::NotFound, "there is no checkpoint in it"));
        self.steps()?.last().copied().ok_or_else(none)
    }

    /// Where the checkpoint of a step is, or the latest.
    ///
    /// # Errors
    /// Those of [`CheckpointSeries::latest`]; [`CheckpointFault::NoStep`] if there is none of this step.
    pub fn path_of(&self, step: Option<u64>) -> Result<PathBuf, CheckpointError> {
        let latest = self.latest()?;
        let Some(step) = step else { return Ok(self.path(latest)) };
        let path = self.path(step);
        let mut steps = self.steps()?;
        if steps.contains(&step) {
            return Ok(path);
        }
        steps.sort_by_key(|there| there.abs_diff(step));
        steps.truncate(TOLD_STEPS);
        steps.sort_unstable();
        let nearest: Vec<String> = steps.iter().map(u64::to_string).collect();
        Err(CheckpointError { path, reason: CheckpointFault::NoStep { nearest: nearest.join(", ") } })
    }

    /// Saves a checkpoint under its step.
    ///
    /// # Errors
    /// Those of [`checkpoint::save`]: a step is saved once only.
    pub fn save(
        &self,
        net: &Network,
        trainer: Option<&TrainerState>,
        description: &Description,
    ) -> Result<Manifest, CheckpointError> {
        checkpoint::save(&self.path(description.step), net, trainer, description)
    }

    /// Deletes the checkpoint of a step, at once for whoever looks at the series.
    ///
    /// # Errors
    /// [`CheckpointFault::Io`].
    pub fn remove(&self, step: u64) -> Result<(), CheckpointError> {
        let path = self.path(step);
        let doomed = self.folder.join(format!(".removed-{step:08}"));
        let remove = || -> io::Result<()> {
            if fs::exists(&doomed)? {
                fs::remove_dir_all(&doomed)?;
            }
            fs::rename(&path, &doomed)?;
            fs::remove_dir_all(&doomed)
        };
        remove().map_err(|error| CheckpointError { path: path.clone(), reason: error.into() })
    }

    /// Loads the checkpoint of a step, or the latest.
    ///
    /// # Errors
    /// Those of [`CheckpointSeries::path_of`] and of [`checkpoint::load`].
    pub fn load(&self, step: Option<u64>, contract: &Contract, device: Device) -> Result<Checkpoint, CheckpointError> {
        checkpoint::load(&self.path_of(step)?, contract, device)
    }

    fn fault(&self, error: io::Error) -> CheckpointError {
        CheckpointError { path: self.folder.clone(), reason: CheckpointFault::Io(error) }
    }
}
