//! Networks without optimiser that a session keeps beside its checkpoints, so that it can go on as it was.

use crate::run_dir::RunDir;
use dervish_models::checkpoint::{CheckpointError, Contract, Description};
use dervish_models::checkpoint_series::CheckpointSeries;
use dervish_models::device::Device;
use dervish_models::network::Network;
use std::fs;

/// The networks of one purpose, by optimisation step.
///
/// A session goes on from its latest checkpoint, so what was kept after that is taken away when it begins, and what was
/// kept before goes only once a later checkpoint is there.
pub struct KeptNetworks {
    series: CheckpointSeries,
    most: usize,
}

impl KeptNetworks {
    /// The networks in this folder of the run, of which the latest `most` are of use; the run goes on from `step`.
    ///
    /// # Errors
    /// [`CheckpointError`] if a folder cannot be made, read or cleared.
    pub fn open(run: &RunDir, name: &str, most: usize, step: u64) -> Result<KeptNetworks, CheckpointError> {
        let folder = run.path().join(name);
        if most > 0 {
            fs::create_dir_all(&folder)
                .map_err(|error| CheckpointError { path: folder.clone(), reason: error.into() })?;
        }
        let kept = KeptNetworks { series: CheckpointSeries::in_folder(folder), most };
        kept.remove(|&later| later > step)?;
        Ok(kept)
    }

    /// Keeps a network under the step of its description.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn keep(&self, net: &Network, description: &Description) -> Result<(), CheckpointError> {
        self.remove(|&step| step == description.step)?;
        self.series.save(net, None, description).map(|_| ())
    }

    /// Takes away what no session will need that goes on from a checkpoint of the latest step or later.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn prune(&self) -> Result<(), CheckpointError> {
        let steps = self.steps()?;
        let first_kept = steps.len().saturating_sub(self.most);
        self.remove(|step| steps[..first_kept].contains(step))
    }

    /// The latest networks, the oldest first, at most as many as are of use.
    ///
    /// # Errors
    /// [`CheckpointError`].
    pub fn latest(&self, contract: &Contract, device: Device) -> Result<Vec<(u64, Network)>, CheckpointError> {
        let steps = self.steps()?;
        let latest = &steps[steps.len().saturating_sub(self.most)..];
        latest.iter().map(|&step| Ok((step, self.series.load(Some(step), contract, device)?.net))).collect()
    }

    fn steps(&self) -> Result<Vec<u64>, CheckpointError> {
        if self.most == 0 { Ok(Vec::new()) } else { self.series.steps() }
    }

    fn remove(&self, doomed: impl Fn(&u64) -> bool) -> Result<(), CheckpointError> {
        self.steps()?.into_iter().filter(doomed).try_for_each(|step| self.series.remove(step))
    }
}
