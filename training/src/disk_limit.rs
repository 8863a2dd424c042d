//! What a run may take on disk (`storage.disk_limit`).
//!
//! Counted are the lengths of all files in the run directory: checkpoints, games of the window, figures, TensorBoard's files,
//! the log, and whatever else lies there.

use crate::run_dir::{RunDir, RunDirError};
use crate::run_files::disk_use;
use dervish_models::checkpoint::CheckpointError;
use tracing::info;

/// Why a session ends: more is on disk than the run may take, or that cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum DiskLimitError {
    /// The bound is reached, and no milestone is left to delete.
    #[error(
        "{path}: {used} MiB on disk, more than storage.disk_limit = {limit} MiB, and no milestone is left to delete; all is \
         saved up to step {step}. Raise the limit in config.toml, or lower storage.latest or learner.window",
        path = path.display()
    )]
    Reached {
        /// The run directory.
        path: std::path::PathBuf,
        /// What it takes, in MiB, rounded up.
        used: u64,
        /// What it may take, in MiB.
        limit: u64,
        /// Step of the last checkpoint.
        step: u64,
    },
    /// The directory cannot be measured.
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    /// A checkpoint cannot be deleted.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

const MIB: u64 = 1 << 20;

/// Deletes milestones of `run` until it takes no more than its configuration allows, the fewest that it takes: each time
/// the one whose neighbours are closest together. The first checkpoint and the latest ones stay.
///
/// # Errors
/// [`DiskLimitError::Reached`] if that is not enough; everything that was saved is then still there.
pub fn keep_within(run: &RunDir) -> Result<(), DiskLimitError> {
    let storage = &run.config().storage;
    if storage.disk_limit == 0 {
        return Ok(());
    }
    let measured =
        || disk_use(run.path()).map_err(|error| RunDirError { path: run.path().to_owned(), reason: error.into() });
    let checkpoints = run.checkpoints();
    let mut steps = checkpoints.steps()?;
    loop {
        let used = measured()?;
        if used <= storage.disk_limit.saturating_mul(MIB) {
            return Ok(());
        }
        let Some(index) = most_crowded(&steps, storage.latest) else {
            let step = steps.last().copied().unwrap_or_default();
            let (path, used) = (run.path().to_owned(), used.div_ceil(MIB));
            return Err(DiskLimitError::Reached { path, used, limit: storage.disk_limit, step });
        };
        let step = steps.remove(index);
        info!(step, used_mib = used.div_ceil(MIB), limit_mib = storage.disk_limit, "milestone deleted, for the disk");
        checkpoints.remove(step)?;
    }
}

/// Of the milestones among `steps`, which ascend, the place of the one whose neighbours are closest together; `None` if all
/// are the first or among the `latest` last ones.
pub fn most_crowded(steps: &[u64], latest: usize) -> Option<usize> {
    let milestones = 1..steps.len().saturating_sub(latest.max(1));
    milestones.min_by_key(|&index| steps[index + 1] - steps[index - 1])
}
