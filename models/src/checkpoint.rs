//! A network on disk: a folder with weights and a manifest.
//!
//! ```text
//! manifest.json          what the weights are for, and the checksum of every other file
//! weights.safetensors    the weights to play with: the average of the trainer's
//! learner.safetensors    the weights of the trainer's last step, to go on with
//! optimizer.safetensors  the optimiser's memory, to go on with: `first.NAME` and `second.NAME` for each weight, `steps`
//! ```
//!
//! A published network lacks the last two. A checkpoint appears under its name complete or not at all, and is never
//! changed. Format 1 had neither the optimiser nor the number of turns left, so it is refused. Format 2 had one hash of rules,
//! without the name of its scenario, and did not say which run it came from; it is read as one that does not know.

use crate::adamw::{AdamWState, Moments};
use crate::checkpoint_series::step_of;
use crate::network::{ConfigError, Network, NetworkConfig};
use crate::trainer::TrainerState;
use dervish_env::persist::{DocumentFault, read_document};
use safetensors::tensor::SafeTensorError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tch::{Device, Kind, TchError, Tensor};
use tensors::{read_tensors, tensors_to_bytes};
use xxhash_rust::xxh3::xxh3_64;

mod tensors;

/// Version of the folder's layout and of the manifest.
pub const FORMAT_VERSION: u32 = 3;

/// Name of the file in which a checkpoint says of itself what it is.
pub const MANIFEST: &str = "manifest.json";
/// Name of the file with the weights to play with.
pub const WEIGHTS: &str = "weights.safetensors";
const LEARNER: &str = "learner.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
/// Name of the optimiser's number of steps among its tensors.
const OPTIMIZER_STEPS: &str = "steps";

/// A checkpoint as it was loaded.
#[derive(Debug)]
pub struct Checkpoint {
    /// The network to play with.
    pub net: Network,
    /// What a trainer goes on with, where the checkpoint has it.
    pub trainer: Option<TrainerState>,
    /// What the checkpoint says of itself.
    pub manifest: Manifest,
}

/// What a network was trained to read: it must be used with exactly this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Name of the game.
    pub game: String,
    /// Name of the encoder that made the samples.
    pub encoder: String,
    /// Version of that encoder.
    pub encoder_version: u32,
    /// Version of the numbering of actions.
    pub action_codec_version: u32,
}

/// The contents of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub format: u32,
    /// What the network was trained to read.
    pub contract: Contract,
    /// Hash of the rules' data of each scenario that it was trained on, by the scenario's name, which is empty where the game has
    /// but one start. Another hash is no reason to refuse: numbers of the rules may change while observations keep their
    /// meaning; who loads it tells so (see [`Manifest::foreign_to`]).
    pub rules: BTreeMap<String, String>,
    /// Version of the rules' implementation by which it was trained, where that is known: the same data may be played
    /// otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules_version: Option<u32>,
    /// The run that it comes from, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Optimisation steps behind the weights.
    pub step: u64,
    /// Figures of the run behind the weights, by name: its rounds, games, decisions and seconds so far, and how it stands
    /// against its opponents.
    pub figures: BTreeMap<String, f64>,
    /// What the network reads and how it is built.
    pub network: NetworkConfig,
    /// Size and checksum of each other file.
    pub files: BTreeMap<String, FileDigest>,
}

/// The run that made a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Version of the program.
    pub program: String,
    /// Seed of the run.
    pub seed: u64,
    /// XXH3 of the run's configuration, 64 bits in hexadecimal: of its `config.toml`, which is the `run.toml` of a published
    /// network.
    pub config: String,
}

impl Origin {
    /// The origin of a network of a run of this seed and the text of its configuration.
    pub fn of(program: &str, seed: u64, config: &str) -> Origin {
        Origin { program: program.to_owned(), seed, config: format!("{:016x}", xxh3_64(config.as_bytes())) }
    }
}

/// A manifest of format 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestOfFormat2 {
    #[serde(rename = "format")]
    _format: u32,
    contract: Contract,
    /// That of the first scenario of the run.
    rules_hash: String,
    step: u64,
    figures: BTreeMap<String, f64>,
    network: NetworkConfig,
    files: BTreeMap<String, FileDigest>,
}

/// The last format that is read though it is no longer written.
const OLD_FORMAT: u32 = 2;

impl From<ManifestOfFormat2> for Manifest {
    fn from(old: ManifestOfFormat2) -> Manifest {
        let ManifestOfFormat2 { contract, rules_hash, step, figures, network, files, .. } = old;
        let rules = BTreeMap::from([(String::new(), rules_hash)]);
        let (format, rules_version, origin) = (FORMAT_VERSION, None, None);
        Manifest { format, contract, rules, rules_version, origin, step, figures, network, files }
    }
}

impl Manifest {
    /// What to tell whoever plays a scenario with a network that was trained by other rules or in other scenarios, in words for
    /// one line; `None` where it was trained by the rules' data of this hash and this version of the rules.
    pub fn foreign_to(&self, scenario: &str, rules_hash: &str, rules_version: u32) -> Option<String> {
        if self.rules.values().any(|known| known == rules_hash) {
            return match self.rules_version {
                Some(known) if known == rules_version => None,
                Some(known) => Some(format!("trained by rules version {known}, not {rules_version}")),
                None => Some(format!("trained by rules of an unknown version; these are version {rules_version}")),
            };
        }
        let place = if scenario.is_empty() { String::new() } else { format!(" of {scenario}") };
        let named: Vec<&str> = self.rules.keys().map(String::as_str).filter(|name| !name.is_empty()).collect();
        Some(match self.rules.get(scenario) {
            Some(known) => format!("trained by other rules{place} ({known}, not {rules_hash})"),
            None if named.is_empty() => format!("trained by other rules than those{place} ({rules_hash})"),
            None => format!("trained in {}, not in {scenario}", named.join(", ")),
        })
    }
}

/// Size and checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDigest {
    /// Length in bytes.
    pub bytes: u64,
    /// XXH3 of the contents, 64 bits in hexadecimal.
    pub xxh3: String,
}

/// What a new checkpoint says of itself beside the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// What the network was trained to read.
    pub contract: Contract,
    /// Hash of the rules' data of each scenario, by the scenario's name.
    pub rules: BTreeMap<String, String>,
    /// Version of the rules' implementation, where it is known.
    pub rules_version: Option<u32>,
    /// The run, where it is known.
    pub origin: Option<Origin>,
    /// Optimisation steps behind the weights.
    pub step: u64,
    /// Figures worth keeping; each must be finite.
    pub figures: BTreeMap<String, f64>,
}

/// Why a checkpoint was not written or not loaded.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}", path = path.display())]
pub struct CheckpointError {
    /// The file or folder at fault.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub reason: CheckpointFault,
}

/// What is wrong with a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointFault {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is something under this name already.
    #[error("already exists; checkpoints are never overwritten")]
    Exists,
    /// The manifest is not one.
    #[error("not a manifest: {0}")]
    Manifest(#[from] serde_json::Error),
    /// It was written by a program with another layout.
    #[error("checkpoint format {found}; this program reads format {FORMAT_VERSION}")]
    Format {
        /// The format that the manifest states.
        found: u64,
    },
    /// The network reads something else than the caller offers.
    #[error("made for {what} {found}, not {expected}")]
    Contract {
        /// Which part differs.
        what: &'static str,
        /// What the manifest states.
        found: String,
        /// What the caller has.
        expected: String,
    },
    /// The sizes of the network are out of range.
    #[error("network sizes: {0}")]
    Sizes(#[from] ConfigError),
    /// The manifest lists a file that checkpoints do not have, or lacks one that they have.
    #[error("the manifest lists other files than a checkpoint has")]
    Files,
    /// The length differs from the manifest's: the file was cut off or exchanged.
    #[error("{found} bytes, but the manifest says {expected}")]
    Length {
        /// Length of the file.
        found: u64,
        /// Length in the manifest.
        expected: u64,
    },
    /// The contents differ from the manifest's checksum.
    #[error("damaged: the checksum is {found}, but the manifest says {expected}")]
    Checksum {
        /// Checksum of the file.
        found: String,
        /// Checksum in the manifest.
        expected: String,
    },
    /// The file is not in the safetensors format.
    #[error("not a safetensors file: {0}")]
    Safetensors(#[from] SafeTensorError),
    /// The tensors are not those of the network or of its optimiser.
    #[error("tensor {name} {problem}")]
    Tensor {
        /// Name of the tensor.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The optimiser has taken more steps than there are behind the weights, or less than none.
    #[error("the optimiser's {found} steps are not from 0 to {step}, the steps of the checkpoint")]
    OptimizerSteps {
        /// What its memory says.
        found: i64,
        /// What the manifest says.
        step: u64,
    },
    /// A figure of the description is not finite.
    #[error("the figure {0} is not finite")]
    Figure(String),
    /// The series has no checkpoint of this step.
    #[error("there is no checkpoint of this step; the nearest that there are: {nearest}")]
    NoStep {
        /// Steps that have one.
        nearest: String,
    },
    /// The manifest is that of another step than the folder is named by.
    #[error("says step {0}, but its folder has the name of another")]
    Step(u64),
    /// libtorch refused, for example for want of memory.
    #[error("libtorch: {0}")]
    Torch(#[from] TchError),
}

/// Writes a checkpoint as the folder `path`, which must not exist; its parent must.
///
/// `trainer` has a network of the configuration of `net`. After an error there is nothing under `path`.
pub fn save(
    path: &Path,
    net: &Network,
    trainer: Option<&TrainerState>,
    description: &Description,
) -> Result<Manifest, CheckpointError> {
    let at = |reason: CheckpointFault| CheckpointError { path: path.to_owned(), reason };
    if fs::symlink_metadata(path).is_ok() {
        return Err(at(CheckpointFault::Exists));
    }
    if let Some((name, _)) = description.figures.iter().find(|(_, figure)| !figure.is_finite()) {
        return Err(at(CheckpointFault::Figure(name.clone())));
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Inside, because the temporary folder itself is private to its owner and the checkpoint shall have the usual rights.
    let scratch =
        tempfile::Builder::new().prefix(".checkpoint-").tempdir_in(parent).map_err(|error| at(error.into()))?;
    let complete = scratch.path().join("complete");
    let mut manifest = Manifest {
        format: FORMAT_VERSION,
        contract: description.contract.clone(),
        rules: description.rules.clone(),
        rules_version: description.rules_version,
        origin: description.origin.clone(),
        step: description.step,
        figures: description.figures.clone(),
        network: net.config().clone(),
        files: BTreeMap::new(),
    };
    let write = || -> Result<Manifest, CheckpointFault> {
        fs::create_dir(&complete)?;
        let mut files = vec![(WEIGHTS, weights(net))];
        if let Some(TrainerState { net, optimizer }) = trainer {
            files.extend([(LEARNER, weights(net)), (OPTIMIZER, optimizer_tensors(optimizer))]);
        }
        for (name, tensors) in files {
            let bytes = tensors_to_bytes(&tensors)?;
            write_durably(&complete.join(name), &bytes)?;
            manifest.files.insert(name.to_owned(), FileDigest::of(&bytes));
        }
        write_durably(&complete.join(MANIFEST), &serde_json::to_vec_pretty(&manifest)?)?;
        fs::rename(&complete, path)?;
        // The name is only as durable as its folder. Not every platform lets a folder be opened.
        if let Ok(folder) = File::open(parent) {
            folder.sync_all()?;
        }
        Ok(manifest)
    };
    write().map_err(at)
}

/// Loads the checkpoint in the folder `path` onto a device, if it was made for this contract and is undamaged.
pub fn load(path: &Path, contract: &Contract, device: Device) -> Result<Checkpoint, CheckpointError> {
    let manifest = load_manifest(path)?;
    manifest.contract.check(contract).map_err(|reason| CheckpointError { path: path.join(MANIFEST), reason })?;
    let read = |name: &str, tensors: BTreeMap<String, Tensor>| {
        let file = path.join(name);
        let read = || {
            let bytes = manifest.files.get(name).ok_or(CheckpointFault::Files)?.read(&file)?;
            read_tensors(&bytes, tensors)
        };
        read().map_err(|reason| CheckpointError { path: file.clone(), reason })
    };
    let failed = |reason: CheckpointFault| CheckpointError { path: path.to_owned(), reason };
    let load_net = |name: &str| {
        let net = Network::new(manifest.network.clone(), 0, device).map_err(|error| failed(error.into()))?;
        read(name, weights(&net))?;
        Ok::<_, CheckpointError>(net)
    };
    let net = load_net(WEIGHTS)?;
    let trainer = if manifest.files.contains_key(LEARNER) {
        let net = load_net(LEARNER)?;
        let mut optimizer = empty_state(&net).map_err(|error| failed(error.into()))?;
        let tensors = optimizer_tensors(&optimizer);
        let steps = tensors[OPTIMIZER_STEPS].shallow_clone();
        read(OPTIMIZER, tensors)?;
        let found = i64::try_from(&steps).map_err(|error| failed(error.into()))?;
        // It has fewer where a run went on from weights without an optimiser.
        optimizer.steps = u64::try_from(found).ok().filter(|&steps| steps <= manifest.step).ok_or_else(|| {
            let reason = CheckpointFault::OptimizerSteps { found, step: manifest.step };
            CheckpointError { path: path.join(OPTIMIZER), reason }
        })?;
        Some(TrainerState { net, optimizer })
    } else {
        None
    };
    Ok(Checkpoint { net, trainer, manifest })
}

/// Whether there is something at `path` that looks like a checkpoint.
pub fn is_checkpoint(path: &Path) -> bool {
    path.join(MANIFEST).is_file()
}

/// Reads what a checkpoint says of itself, without its weights and whatever it was made for.
pub fn load_manifest(path: &Path) -> Result<Manifest, CheckpointError> {
    let file = path.join(MANIFEST);
    let read = || -> Result<Manifest, CheckpointFault> {
        let manifest: Manifest = match read_document(&file, FORMAT_VERSION) {
            Err(DocumentFault::Version(version)) if version == u64::from(OLD_FORMAT) => {
                read_document::<ManifestOfFormat2>(&file, OLD_FORMAT)?.into()
            }
            read => read?,
        };
        manifest.network.check()?;
        // A trainer's two files come together.
        let files: Vec<&str> = manifest.files.keys().map(String::as_str).collect();
        if files != [WEIGHTS] && files != [LEARNER, OPTIMIZER, WEIGHTS] {
            return Err(CheckpointFault::Files);
        }
        // In a series the name says the step.
        let named = path.file_name().and_then(|name| step_of(name.to_str()?));
        match named.is_some_and(|named| named != manifest.step) {
            true => Err(CheckpointFault::Step(manifest.step)),
            false => Ok(manifest),
        }
    };
    read().map_err(|reason| CheckpointError { path: file.clone(), reason })
}

impl From<DocumentFault> for CheckpointFault {
    fn from(fault: DocumentFault) -> CheckpointFault {
        match fault {
            DocumentFault::Io(error) => error.into(),
            DocumentFault::Json(error) => error.into(),
            DocumentFault::Version(found) => CheckpointFault::Format { found },
        }
    }
}

impl Contract {
    /// Refuses a network that was made for something else than `offered`.
    fn check(&self, offered: &Contract) -> Result<(), CheckpointFault> {
        let number = |version: u32| version.to_string();
        for (what, found, expected) in [
            ("game", self.game.clone(), offered.game.clone()),
            ("encoder", self.encoder.clone(), offered.encoder.clone()),
            ("encoder version", number(self.encoder_version), number(offered.encoder_version)),
            ("action codec version", number(self.action_codec_version), number(offered.action_codec_version)),
        ] {
            if found != expected {
                return Err(CheckpointFault::Contract { what, found, expected });
            }
        }
        Ok(())
    }
}

impl FileDigest {
    fn of(bytes: &[u8]) -> FileDigest {
        FileDigest { bytes: bytes.len() as u64, xxh3: format!("{:016x}", xxh3_64(bytes)) }
    }

    /// The contents of the file, if they are those that were digested.
    fn read(&self, path: &Path) -> Result<Vec<u8>, CheckpointFault> {
        let length = fs::metadata(path)?.len();
        if length != self.bytes {
            return Err(CheckpointFault::Length { found: length, expected: self.bytes });
        }
        let bytes = fs::read(path)?;
        let found = FileDigest::of(&bytes);
        if found != *self {
            return Err(CheckpointFault::Checksum { found: found.xxh3, expected: self.xxh3.clone() });
        }
        Ok(bytes)
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> Result<(), CheckpointFault> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}

/// The weights of a network by name, shared.
fn weights(net: &Network) -> BTreeMap<String, Tensor> {
    net.store().variables().into_iter().collect()
}

/// The memory of an optimiser by name; the moments are shared.
fn optimizer_tensors(state: &AdamWState) -> BTreeMap<String, Tensor> {
    let mut tensors = BTreeMap::from([(OPTIMIZER_STEPS.to_owned(), Tensor::from(state.steps.cast_signed()))]);
    for (name, Moments { first, second }) in &state.moments {
        tensors.insert(format!("first.{name}"), first.shallow_clone());
        tensors.insert(format!("second.{name}"), second.shallow_clone());
    }
    tensors
}

/// The memory of an optimiser of this network before its first step.
fn empty_state(net: &Network) -> Result<AdamWState, TchError> {
    let zeros = |like: &Tensor| Tensor::f_zeros(like.size(), (Kind::Float, like.device()));
    let moments = weights(net)
        .into_iter()
        .map(|(name, weight)| Ok((name, Moments { first: zeros(&weight)?, second: zeros(&weight)? })));
    Ok(AdamWState { steps: 0, moments: moments.collect::<Result<_, TchError>>()? })
}
