//! Checkpoints: what is written is read back, and nothing else is.

use crate::positions::{self, lessons, small_config, small_configs, small_net};
use dervish_models::checkpoint::{self, CheckpointFault, Contract, Description, FORMAT_VERSION, Manifest, Origin};
use dervish_models::checkpoint_series::CheckpointSeries;
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_models::trainer::{Trainer, TrainerConfig};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tch::Device;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

const WEIGHTS: &str = "weights.safetensors";

pub fn description() -> Description {
    Description {
        contract: Contract {
            game: "made-up".into(),
            encoder: "tokens".into(),
            encoder_version: 3,
            action_codec_version: 2,
        },
        rules: BTreeMap::from([("hills".into(), "00ff".into()), ("river".into(), "ff00".into())]),
        rules_version: Some(7),
        origin: Some(Origin::of("1.2.3", 4, "text")),
        step: 17,
        figures: BTreeMap::from([("loss".into(), 0.1), ("games".into(), 1e6)]),
    }
}

pub fn save(path: &Path, net: &Network) -> Manifest {
    checkpoint::save(path, net, None, &description()).expect("a checkpoint")
}

/// A folder with a checkpoint of a small network in it.
fn saved() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("step-17");
    save(&path, &small_net(1));
    (folder, path)
}

/// The complaint about a checkpoint, for the usual contract.
fn complaint(path: &Path) -> (PathBuf, CheckpointFault) {
    let error = checkpoint::load(path, &description().contract, Device::Cpu).expect_err("a checkpoint to refuse");
    let text = error.to_string();
    assert!(text.starts_with(&error.path.display().to_string()) && !text.contains('\n'), "{text}");
    (error.path, error.reason)
}

fn edit_manifest(path: &Path, edit: impl FnOnce(&mut Value)) {
    let file = path.join("manifest.json");
    let mut manifest = serde_json::from_slice(&fs::read(&file).expect("a manifest")).expect("JSON");
    edit(&mut manifest);
    fs::write(file, manifest.to_string()).expect("written");
}

/// Exchanges the weights and makes the manifest agree with them.
fn exchange_weights(path: &Path, bytes: &[u8]) {
    fs::write(path.join(WEIGHTS), bytes).expect("written");
    edit_manifest(path, |manifest| {
        manifest["files"][WEIGHTS]["bytes"] = bytes.len().into();
        manifest["files"][WEIGHTS]["xxh3"] = format!("{:016x}", xxh3_64(bytes)).into();
    });
}

#[test]
fn a_loaded_network_is_bit_equal_and_answers_the_same() {
    small_configs().into_iter().for_each(check_round_trip);
}

fn check_round_trip(config: NetworkConfig) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let net = positions::net(config.clone(), 1);
    let trainer = Trainer::new(positions::net(config.clone(), 2), TrainerConfig::default()).expect("a trainer");
    let state = trainer.state().expect("a state");
    let first = folder.path().join("first");
    let written = checkpoint::save(&first, &net, Some(&state), &description()).expect("a checkpoint");
    let loaded = checkpoint::load(&first, &description().contract, Device::Cpu).expect("a checkpoint");
    assert_eq!(loaded.manifest, written);
    assert_eq!((loaded.manifest.step, loaded.manifest.figures["loss"]), (17, 0.1));
    let second = folder.path().join("second");
    checkpoint::save(&second, &loaded.net, loaded.trainer.as_ref(), &description()).expect("a checkpoint");
    for file in ["manifest.json", WEIGHTS, "learner.safetensors", "optimizer.safetensors"] {
        assert_eq!(fs::read(first.join(file)).expect(file), fs::read(second.join(file)).expect(file), "{file}");
    }
    let evaluate = |net| {
        let mut evaluations = Evaluations::default();
        NetEvaluator::new(net).evaluate(lessons(&config).batch(), &mut evaluations).expect("finite");
        (0..16).map(|index| (evaluations.policy(index).to_vec(), evaluations.wdl(index))).collect::<Vec<_>>()
    };
    assert_eq!(evaluate(loaded.net), evaluate(net));
}

#[test]
fn only_the_checkpoint_is_left_in_its_folder() {
    let (folder, path) = saved();
    let names = |path: &Path| {
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
        names.sort();
        names
    };
    assert_eq!(names(folder.path()), ["step-17"]);
    assert_eq!(names(&path), ["manifest.json", WEIGHTS]);
}

#[test]
fn nothing_is_overwritten() {
    let (_folder, path) = saved();
    let before = fs::read(path.join(WEIGHTS)).expect("weights");
    let error = checkpoint::save(&path, &small_net(9), None, &description()).expect_err("it exists");
    assert!(matches!(error.reason, CheckpointFault::Exists), "{error}");
    assert_eq!(fs::read(path.join(WEIGHTS)).expect("weights"), before);
}

#[test]
fn a_failed_save_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut unfit = description();
    unfit.figures.insert("elo".into(), f64::NAN);
    let error = checkpoint::save(&folder.path().join("net"), &small_net(1), None, &unfit).expect_err("a NaN figure");
    assert!(matches!(&error.reason, CheckpointFault::Figure(name) if name == "elo"), "{error}");
    let lost = checkpoint::save(&folder.path().join("no/such/net"), &small_net(1), None, &description());
    assert!(matches!(lost.expect_err("no parent").reason, CheckpointFault::Io(_)));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn another_format_or_contract_is_refused() {
    let (_folder, path) = saved();
    for format in [1, FORMAT_VERSION + 1] {
        edit_manifest(&path, |manifest| manifest["format"] = format.into());
        let (file, reason) = complaint(&path);
        assert_eq!(file, path.join("manifest.json"));
        assert_eq!(
            reason.to_string(),
            format!("checkpoint format {format}; this program reads format {FORMAT_VERSION}")
        );
    }

    for (field, value, message) in [
        ("game", Value::from("pig"), "made for game pig, not made-up"),
        ("encoder", "planes".into(), "made for encoder planes, not tokens"),
        ("encoder_version", 4.into(), "made for encoder version 4, not 3"),
        ("action_codec_version", 1.into(), "made for action codec version 1, not 2"),
    ] {
        let (_folder, path) = saved();
        edit_manifest(&path, |manifest| manifest["contract"][field] = value);
        assert_eq!(complaint(&path).1.to_string(), message);
    }
}

/// A checkpoint is of the step that it is named by, and what is named otherwise than a checkpoint is none.
#[test]
fn names_and_steps_belong_together() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [named, other] = ["step-00000017", "step-00000018"].map(|name| folder.path().join(name));
    for path in [&named, &other] {
        save(path, &small_net(1));
    }
    for name in ["step-19", "step-+0000019", "step-000000019", "step-00000019.old", "step-", "19"] {
        fs::create_dir(folder.path().join(name)).expect("a folder");
    }
    assert_eq!(CheckpointSeries::in_folder(folder.path().to_owned()).steps().expect("steps"), [17, 18]);
    assert_eq!(checkpoint::load_manifest(&named).expect("a manifest").step, 17);
    let (file, reason) = complaint(&other);
    assert_eq!(file, other.join("manifest.json"));
    assert_eq!(reason.to_string(), "says step 17, but its folder has the name of another");
}

#[test]
fn damaged_files_are_refused() {
    let (_folder, path) = saved();
    let weights = fs::read(path.join(WEIGHTS)).expect("weights");

    fs::write(path.join(WEIGHTS), &weights[..weights.len() - 1]).expect("written");
    let (file, reason) = complaint(&path);
    assert_eq!(file, path.join(WEIGHTS));
    assert!(matches!(reason, CheckpointFault::Length { .. }), "{reason}");

    let mut flipped = weights.clone();
    flipped[weights.len() / 2] ^= 1;
    fs::write(path.join(WEIGHTS), flipped).expect("written");
    let reason = complaint(&path).1;
    assert!(matches!(reason, CheckpointFault::Checksum { .. }), "{reason}");

    fs::remove_file(path.join(WEIGHTS)).expect("removed");
    let reason = complaint(&path).1;
    assert!(matches!(reason, CheckpointFault::Io(_)), "{reason}");
}

#[test]
fn a_damaged_memory_of_the_optimiser_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("step-17");
    let trainer = Trainer::new(small_net(1), TrainerConfig::default()).expect("a trainer");
    let state = trainer.state().expect("a state");
    checkpoint::save(&path, &small_net(1), Some(&state), &description()).expect("a checkpoint");
    let file = path.join("optimizer.safetensors");
    let mut bytes = fs::read(&file).expect("a memory");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(&file, bytes).expect("written");
    let (found, reason) = complaint(&path);
    assert!(found == file && matches!(reason, CheckpointFault::Checksum { .. }), "{reason}");

    // The learner's tensors in its place, with the right checksum.
    let learner = path.join("learner.safetensors");
    fs::copy(learner, &file).expect("copied");
    edit_manifest(&path, |manifest| {
        manifest["files"]["optimizer.safetensors"] = manifest["files"]["learner.safetensors"].clone();
    });
    let (found, reason) = complaint(&path);
    assert_eq!(found, file);
    assert!(reason.to_string().ends_with("is unknown to the network"), "{reason}");
}

/// Every step that the optimiser takes is one behind the weights, those of step 17 here. It may have taken fewer: none before
/// the run went on from weights alone. Counts from 2 to the 63rd on are written as negative numbers.
#[test]
fn an_optimiser_has_taken_no_more_steps_than_its_checkpoint() {
    for (steps, told) in [
        (0, None),
        (17, None),
        (18, Some("the optimiser's 18 steps are not from 0 to 17, the steps of the checkpoint")),
        (u64::MAX, Some("the optimiser's -1 steps are not from 0 to 17, the steps of the checkpoint")),
        (1 << 63, Some("the optimiser's -9223372036854775808 steps are not from 0 to 17, the steps of the checkpoint")),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("step-17");
        let trainer = Trainer::new(small_net(1), TrainerConfig::default()).expect("a trainer");
        let mut state = trainer.state().expect("a state");
        state.optimizer.steps = steps;
        checkpoint::save(&path, &small_net(1), Some(&state), &description()).expect("a checkpoint");
        match told {
            Some(told) => {
                let (file, reason) = complaint(&path);
                assert_eq!((file, reason.to_string()), (path.join("optimizer.safetensors"), told.to_string()));
            }
            None => {
                let loaded = checkpoint::load(&path, &description().contract, Device::Cpu).expect("a checkpoint");
                assert_eq!(loaded.trainer.expect("a trainer's state").optimizer.steps, steps);
            }
        }
    }
}

#[test]
fn damaged_manifests_are_refused() {
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 8] = [
        ("a list", |manifest| *manifest = Value::Array(vec![])),
        ("no step", |manifest| drop(manifest.as_object_mut().expect("an object").remove("step"))),
        ("an unknown field", |manifest| manifest["colour"] = "red".into()),
        ("sizes out of range", |manifest| manifest["network"]["architecture"]["hidden"] = 5000.into()),
        ("an unknown architecture", |manifest| manifest["network"]["architecture"]["kind"] = "oracle".into()),
        ("no weights", |manifest| drop(manifest["files"].as_object_mut().expect("an object").remove(WEIGHTS))),
        ("a trainer's weights without its optimiser", |manifest| {
            manifest["files"]["learner.safetensors"] = manifest["files"][WEIGHTS].clone()
        }),
        ("a file elsewhere", |manifest| {
            manifest["files"]["../weights.safetensors"] = manifest["files"][WEIGHTS].clone()
        }),
    ];
    for (what, edit) in edits {
        let (_folder, path) = saved();
        edit_manifest(&path, edit);
        assert_eq!(complaint(&path).0, path.join("manifest.json"), "{what}");
    }
    let (_folder, path) = saved();
    let text = fs::read(path.join("manifest.json")).expect("a manifest");
    for length in 0..text.len() {
        fs::write(path.join("manifest.json"), &text[..length]).expect("written");
        assert!(matches!(complaint(&path).1, CheckpointFault::Manifest(_)), "cut to {length} bytes");
    }
    fs::remove_dir_all(&path).expect("removed");
    assert!(matches!(complaint(&path).1, CheckpointFault::Io(_)));
}

#[test]
fn weights_of_another_network_are_refused_even_with_the_right_checksum() {
    let (folder, path) = saved();
    let weights = fs::read(path.join(WEIGHTS)).expect("weights");

    let wider = NetworkConfig { architecture: Architecture::TokenMlp { hidden: 16, trunk: 33 }, ..small_config() };
    let other = folder.path().join("wider");
    save(&other, &Network::new(wider, 0, Device::Cpu).expect("a network"));
    exchange_weights(&path, &fs::read(other.join(WEIGHTS)).expect("weights"));
    let reason = complaint(&path).1.to_string();
    assert!(reason.ends_with("has another type or shape than in the network"), "{reason}");

    let rename = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&weights[8..]).find(from).expect("the name of a tensor") + 8;
        let mut renamed = weights.clone();
        renamed[text..text + to.len()].copy_from_slice(to.as_bytes());
        renamed
    };
    exchange_weights(&path, &rename("value.bias", "velue.bias"));
    assert_eq!(complaint(&path).1.to_string(), "tensor velue.bias is unknown to the network");

    // The last four bytes belong to a weight.
    let mut infinite = weights.clone();
    let end = infinite.len();
    infinite[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
    exchange_weights(&path, &infinite);
    let reason = complaint(&path).1.to_string();
    assert!(reason.ends_with("has values that are not finite"), "{reason}");

    let empty = safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView)>::new(), None).expect("empty");
    exchange_weights(&path, &empty);
    assert_eq!(complaint(&path).1.to_string(), "tensor action_features.bias is missing");

    exchange_weights(&path, b"no safetensors file");
    assert!(matches!(complaint(&path).1, CheckpointFault::Safetensors(_)));
}

/// A manifest as the program wrote it that knew one hash of rules.
#[test]
fn a_manifest_of_format_2_is_read() {
    let (_folder, path) = saved();
    edit_manifest(&path, |manifest| {
        manifest["format"] = 2.into();
        manifest["rules_hash"] = "00ff".into();
        let fields = manifest.as_object_mut().expect("an object");
        for later in ["rules", "rules_version", "origin"] {
            fields.remove(later);
        }
    });
    let loaded = checkpoint::load(&path, &description().contract, Device::Cpu).expect("a checkpoint");
    let Manifest { step, ref origin, ref figures, .. } = loaded.manifest;
    assert_eq!((step, origin, figures["games"]), (17, &None, 1e6));
    // It does not know where its rules were played, nor their version, only their data.
    let told = loaded.manifest.foreign_to("hills", "00ff", 7).expect("an unknown version");
    assert_eq!(told, "trained by rules of an unknown version; these are version 7");
    let told = loaded.manifest.foreign_to("hills", "0f0f", 7).expect("other rules");
    assert_eq!(told, "trained by other rules than those of hills (0f0f)");
    edit_manifest(&path, |manifest| manifest["rules"] = serde_json::json!({}));
    assert!(matches!(complaint(&path).1, CheckpointFault::Manifest(_)), "format 2 had no field `rules`");
}

#[test]
fn a_network_knows_the_rules_and_scenarios_of_its_training() {
    let (_folder, path) = saved();
    let manifest = checkpoint::load_manifest(&path).expect("a manifest");
    let told = |scenario: &str, hash: &str| manifest.foreign_to(scenario, hash, 7);
    assert_eq!((told("hills", "00ff"), told("river", "ff00")), (None, None));
    // The same data under another name, such as a copy of a scenario's file, play alike.
    assert_eq!(told("copy", "00ff"), None);
    // The same data may be played otherwise.
    let later = manifest.foreign_to("hills", "00ff", 8).expect("another version");
    assert_eq!(later, "trained by rules version 7, not 8");
    assert_eq!(told("hills", "0f0f").as_deref(), Some("trained by other rules of hills (00ff, not 0f0f)"));
    assert_eq!(told("marsh", "0f0f").as_deref(), Some("trained in hills, river, not in marsh"));
    // XXH3 of the configuration's text, whatever computes it.
    let origin = manifest.origin.expect("a run");
    assert_eq!((origin.program.as_str(), origin.seed), ("1.2.3", 4));
    assert_eq!(origin.config, format!("{:016x}", xxh3_64(b"text")));
}
