//! `dervish export`: a trained network by itself, without what only its learner needs.

use super::{CommandError, tell};
use crate::run_files::{CONFIG, RunFiles};
use dervish_agents::registry::in_spec;
use dervish_env::persist::{read_text, write_whole};
use dervish_models::checkpoint::{self, CheckpointError, Description};
use dervish_models::checkpoint_series::CheckpointSeries;
use dervish_models::device::Device;
use dervish_models::process;
use std::path::PathBuf;

/// Name of the configuration of the run, beside an exported network.
pub const RUN_CONFIG: &str = "run.toml";

/// Writes the network of a run as a folder of its own: weights, manifest and the configuration that it was trained with.
#[derive(Clone, Debug, clap::Args)]
pub struct ExportArgs {
    /// Run directory of `dervish train`.
    pub run: PathBuf,
    /// Step of the checkpoint [default: the latest].
    #[arg(long, value_name = "N")]
    pub step: Option<u64>,
    /// New folder, in one that exists; it plays as `neural:DIR`.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

impl ExportArgs {
    /// Writes the folder.
    ///
    /// # Errors
    /// [`CommandError::RunFile`]: no run directory; [`CommandError::Training`]: no such checkpoint, or a folder that is there
    /// already.
    pub fn run(&self) -> Result<(), CommandError> {
        process::prepare();
        let told = |error: CheckpointError| CommandError::Training(error.to_string());
        // What is no run directory is told.
        RunFiles::open(&self.run)?;
        let config = self.run.join(CONFIG);
        let config = read_text(&config)
            .map_err(|error| CommandError::File { file: config.display().to_string(), reason: error.to_string() })?;
        let path = CheckpointSeries::of_run(&self.run).path_of(self.step).map_err(told)?;
        let manifest = checkpoint::load_manifest(&path).map_err(told)?;
        let net = checkpoint::load(&path, &manifest.contract, Device::Cpu).map_err(told)?.net;
        let description = Description {
            contract: manifest.contract,
            rules: manifest.rules,
            rules_version: manifest.rules_version,
            origin: manifest.origin,
            step: manifest.step,
            figures: manifest.figures,
        };
        checkpoint::save(&self.out, &net, None, &description).map_err(told)?;
        let file = self.out.join(RUN_CONFIG);
        write_whole(&file, config.as_bytes())
            .map_err(|error| CommandError::File { file: file.display().to_string(), reason: error.to_string() })?;
        tell(&format!(
            "{} weights of step {}; it plays as: neural:{}",
            net.weight_count(),
            manifest.step,
            in_spec(&self.out.display().to_string())
        ));
        Ok(())
    }
}
