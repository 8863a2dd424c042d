//! Checkpoints are opened by what is not this program: Python's `safetensors`, for numpy and for PyTorch.
//!
//! `make interchange` gets them from PyPI and runs this test with them.

use crate::checkpoints::description;
use crate::positions::{config, lessons, net};
use dervish_models::checkpoint;
use dervish_models::network::Architecture;
use dervish_models::trainer::{Trainer, TrainerConfig};
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Names a Python that must have `safetensors` and `torch`: without them the test fails instead of being skipped.
const PYTHON: &str = "DERVISH_INTERCHANGE_PYTHON";

fn run(python: &str, arguments: &[&Path]) -> std::io::Result<Output> {
    Command::new(python).args(arguments).output()
}

/// A Python with `safetensors` and `numpy`, if there is one.
fn find_python() -> Option<String> {
    if let Ok(python) = std::env::var(PYTHON) {
        return Some(python);
    }
    let has_packages = |python: &str| {
        let probe = Command::new(python).args(["-c", "import numpy, safetensors"]).output();
        probe.is_ok_and(|output| output.status.success())
    };
    ["python3", "python"].into_iter().find(|python| has_packages(python)).map(str::to_string)
}

#[test]
fn python_reads_a_checkpoint() {
    let Some(python) = find_python() else {
        eprintln!("skipped: no Python with numpy and safetensors; `make interchange` fetches one");
        return;
    };
    let config = config(Architecture::TokenTransformer { width: 8, layers: 1, heads: 2 });
    let mut trainer = Trainer::new(net(config.clone(), 1), TrainerConfig::default()).expect("a trainer");
    trainer.step(&lessons(&config)).expect("a step");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("net");
    let state = trainer.state().expect("a state");
    checkpoint::save(&path, trainer.average(), Some(&state), &description()).expect("a checkpoint");

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("interchange/read_checkpoint.py");
    let output = run(&python, &[&script, &path]).expect("a Python that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&read["format"], &read["step"]), (&checkpoint::FORMAT_VERSION.into(), &17.into()));
    assert_eq!(read["contract"]["game"], "made-up");
    assert!(read["torch"] == true || std::env::var(PYTHON).is_err(), "PyTorch has not read it");
    assert_eq!(read["network"]["architecture"]["kind"], "token_transformer");

    let files = read["files"].as_object().expect("files");
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["learner.safetensors", "optimizer.safetensors", "weights.safetensors"]
    );
    for (file, tensors) in files {
        let bytes = std::fs::read(path.join(file)).expect("a file of tensors");
        let ours = SafeTensors::deserialize(&bytes).expect("a safetensors file");
        assert_eq!(tensors.as_object().expect("tensors").len(), ours.len(), "{file}");
        for (name, view) in ours.iter() {
            let theirs = &tensors[name];
            let words = view.data().as_chunks::<4>().0.iter().map(|&bytes| f64::from(f32::from_le_bytes(bytes)));
            let (kind, sum) = match view.dtype() {
                // The only one is the optimiser's number of steps.
                Dtype::I64 => ("int64", 1.0),
                _ => ("float32", words.sum::<f64>()),
            };
            assert_eq!(theirs["type"], kind, "{file}: {name}");
            assert_eq!(theirs["shape"], serde_json::json!(view.shape()), "{file}: {name}");
            let found = theirs["sum"].as_f64().expect("a number");
            assert!((found - sum).abs() < 1e-9 * (1.0 + sum.abs()), "{file}: {name}: {found} instead of {sum}");
        }
    }
}
