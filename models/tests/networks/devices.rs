//! Devices by name, and what a GPU must do where there is one.

use crate::positions::{lessons, net, ragged_positions, small_configs};
use dervish_models::batch::Batch;
use dervish_models::device::{Device, DeviceChoice, Precision};
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Network, NetworkConfig};
use dervish_models::trainer::{Trainer, TrainerConfig};
use tch::Cuda;

#[test]
fn devices_are_chosen_by_name() {
    for (name, choice) in [
        ("auto", DeviceChoice::Auto),
        ("cpu", DeviceChoice::Cpu),
        ("cuda:0", DeviceChoice::Cuda(0)),
        ("cuda:7", DeviceChoice::Cuda(7)),
    ] {
        assert_eq!(name.parse(), Ok(choice));
        assert_eq!(choice.to_string(), name);
    }
    assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)));
    for name in ["", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "cpu:0"] {
        let error = name.parse::<DeviceChoice>().expect_err("no device");
        assert_eq!(error.to_string(), format!("no device is called {name:?}: choose auto, cpu, cuda or cuda:N"));
    }
    assert_eq!(DeviceChoice::Cpu.device(), Ok(Device::Cpu));
    assert!(DeviceChoice::Auto.device().is_ok());
    let error = DeviceChoice::Cuda(1000).device().expect_err("no machine has a thousand");
    assert!(error.to_string().starts_with("there is no cuda:1000: libtorch finds "), "{error}");
}

/// Evaluations of ragged positions.
fn evaluate(net: Network, precision: Precision) -> Vec<f32> {
    let mut batch = Batch::new(net.config());
    let positions = ragged_positions(2);
    positions.iter().for_each(|position| batch.push(&position.sample()).expect("a valid sample"));
    let mut evaluator = NetEvaluator::new(net);
    evaluator.set_precision(precision);
    let mut evaluations = Evaluations::default();
    evaluator.evaluate(&batch, &mut evaluations).expect("finite");
    (0..evaluations.len())
        .flat_map(|sample| {
            let values = [evaluations.margin(sample), evaluations.turns_left(sample)];
            [evaluations.policy(sample), &evaluations.wdl(sample), &values].concat()
        })
        .collect()
}

/// The evaluations after a few steps.
fn learn(config: NetworkConfig, device: Device, precision: Precision) -> Vec<f32> {
    let lessons = lessons(&config);
    let net = Network::new(config, 3, device).expect("a network");
    let mut trainer = Trainer::new(net, TrainerConfig { precision, ..Default::default() }).expect("a trainer");
    for _ in 0..10 {
        trainer.step(&lessons).expect("a step");
    }
    evaluate(trainer.net().duplicate().expect("a copy"), precision)
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
    }
}

#[test]
fn mixed_precision_changes_nothing_on_a_cpu() {
    dervish_models::process::prepare();
    for config in small_configs() {
        let learn = |precision| learn(config.clone(), Device::Cpu, precision);
        assert_eq!(learn(Precision::Mixed), learn(Precision::Full));
    }
}

#[test]
fn a_gpu_says_and_learns_what_a_cpu_does() {
    if !Cuda::is_available() {
        eprintln!("skipped: libtorch finds no GPU");
        return;
    }
    for config in small_configs() {
        let on_gpu = Network::new(config.clone(), 1, Device::Cuda(0)).expect("a network");
        let expected = evaluate(net(config.clone(), 1), Precision::Full);
        assert_close(&evaluate(on_gpu.duplicate().expect("a copy"), Precision::Full), &expected, 1e-4);
        assert_close(&evaluate(on_gpu, Precision::Mixed), &expected, 2e-2);
        let expected = learn(config.clone(), Device::Cpu, Precision::Full);
        assert_close(&learn(config.clone(), Device::Cuda(0), Precision::Full), &expected, 1e-2);
        assert_close(&learn(config, Device::Cuda(0), Precision::Mixed), &expected, 1e-1);
    }
}
