//! AdamW, against hand computation and against libtorch's.

use dervish_models::adamw::AdamW;
use dervish_models::process;
use tch::nn::{self, OptimizerConfig};
use tch::{Device, Kind, Tensor};

/// A weight of this shape, all 1, that has a gradient.
fn ones(shape: &[i64]) -> Tensor {
    process::prepare();
    Tensor::ones(shape, (Kind::Float, Device::Cpu)).set_requires_grad(true)
}

/// One step on a loss whose gradient is `gradient` everywhere.
fn step(optimizer: &mut AdamW, weight: &Tensor, gradient: f64, learning_rate: f64) {
    optimizer.zero_gradients();
    (weight * gradient).sum(Kind::Float).backward();
    optimizer.step(learning_rate).expect("a step");
}

#[test]
fn a_weight_moves_as_computed_by_hand() {
    // Step size 0.1, decay 0.01, gradients 1/2, -1 and 2. The moments without their bias are 0.5 and 0.25;
    // -0.055 / 0.19 and 0.00124975 / 0.001999; 0.1505 / 0.271 and 0.00524850025 / 0.002997001.
    // Step 1: 1 x 0.999 - 0.1 x 0.5 / 0.5 = 0.899. Step 2: 0.899 x 0.999 + 0.1 x 0.2894737 / 0.7906880 = 0.9347113.
    // Step 3: 0.9347113 x 0.999 - 0.1 x 0.5553506 / 1.3233484 = 0.8918111.
    let weight = ones(&[1, 1]);
    let mut optimizer = AdamW::new([("w".to_string(), weight.shallow_clone())], 0.01).expect("an optimiser");
    for (gradient, expected) in [(0.5, 0.899), (-1.0, 0.934_711_3), (2.0, 0.891_811_1)] {
        step(&mut optimizer, &weight, gradient, 0.1);
        let found = weight.double_value(&[0, 0]);
        assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
    }
    let state = optimizer.state().expect("a state");
    assert_eq!(state.steps, 3);
    assert!((state.moments["w"].first.double_value(&[0, 0]) - 0.1505).abs() < 1e-6);
    assert!((state.moments["w"].second.double_value(&[0, 0]) - 0.005_248_500_25).abs() < 1e-8);
}

#[test]
fn biases_do_not_decay_and_what_has_no_gradient_only_decays() {
    let (bias, idle) = (ones(&[2]), ones(&[2, 2]));
    let weights = [("bias".to_string(), bias.shallow_clone()), ("idle".to_string(), idle.shallow_clone())];
    let mut optimizer = AdamW::new(weights, 0.5).expect("an optimiser");
    step(&mut optimizer, &bias, 1.0, 0.1);
    // A first step has the length of the step size; without a gradient a weight of 1 loses 0.1 x 0.5.
    assert!((bias.double_value(&[1]) - 0.9).abs() < 1e-6, "{bias:?}");
    assert!((idle.double_value(&[1, 1]) - 0.95).abs() < 1e-6, "{idle:?}");
}

#[test]
fn it_goes_where_the_one_of_libtorch_goes() {
    process::prepare();
    // Not drawn: networks that other tests make at the same time draw from the same generator.
    let wave = |shape: &[i64], pitch: f64| {
        let count = shape.iter().product::<i64>();
        (Tensor::arange(count, (Kind::Float, Device::Cpu)) * pitch).sin().view(shape)
    };
    let build = || {
        let store = nn::VarStore::new(Device::Cpu);
        let root = store.root();
        let layers = [root.var_copy("in", &wave(&[8, 3], 1.3)), root.var_copy("out", &wave(&[1, 8], 0.7))];
        // A group of its own, without decay.
        let bias = root.set_group(1).var_copy("bias", &wave(&[8], 2.1));
        (store, layers, bias)
    };
    let inputs = wave(&[32, 3], 0.9);
    let wanted = inputs.sum_dim_intlist([1].as_slice(), true, Kind::Float).sin();
    let loss = |layers: &[Tensor; 2], bias: &Tensor| {
        inputs
            .linear(&layers[0], Some(bias))
            .tanh()
            .linear(&layers[1], None::<Tensor>)
            .mse_loss(&wanted, tch::Reduction::Mean)
    };
    let (store, layers, bias) = build();
    let mut ours = AdamW::new(store.variables(), 0.1).expect("an optimiser");
    let (their_store, their_layers, their_bias) = build();
    let mut theirs = nn::AdamW { wd: 0.1, ..nn::AdamW::default() }.build(&their_store, 0.02).expect("an optimiser");
    theirs.set_weight_decay_group(1, 0.0);
    let first = loss(&layers, &bias).double_value(&[]);
    for _ in 0..50 {
        ours.zero_gradients();
        loss(&layers, &bias).backward();
        ours.clip_gradients(0.05).expect("a norm");
        ours.step(0.02).expect("a step");
        theirs.backward_step_clip_norm(&loss(&their_layers, &their_bias), 0.05);
    }
    assert!(loss(&layers, &bias).double_value(&[]) < first / 2.0);
    for (name, weight) in store.variables() {
        let difference = (weight - &their_store.variables()[&name]).abs().max().double_value(&[]);
        assert!(difference < 1e-4, "{name}: {difference}");
    }
}

#[test]
fn gradients_are_clipped_together_and_their_norm_is_told() {
    let (one, other) = (ones(&[1]), ones(&[2, 2]));
    let weights = [("one".to_string(), one.shallow_clone()), ("other".to_string(), other.shallow_clone())];
    let mut optimizer = AdamW::new(weights, 0.0).expect("an optimiser");
    // Gradients 6 and four times 4: the norm is the root of 36 + 64.
    (&one * 6.0 + (&other * 4.0).sum(Kind::Float)).backward();
    assert!((optimizer.clip_gradients(20.0).expect("a norm") - 10.0).abs() < 1e-6);
    assert_eq!(one.grad().double_value(&[0]), 6.0);
    assert!((optimizer.clip_gradients(5.0).expect("a norm") - 10.0).abs() < 1e-6);
    assert!((one.grad().double_value(&[0]) - 3.0).abs() < 1e-6);
    assert!((other.grad().double_value(&[1, 0]) - 2.0).abs() < 1e-6);
    optimizer.scale_gradients(2.0).expect("scaled");
    assert!((one.grad().double_value(&[0]) - 6.0).abs() < 1e-6);
    optimizer.scale_gradients(0.5).expect("scaled");
    // What is not finite is not scaled: no number would come of it.
    (&one * f64::INFINITY).backward();
    assert!(!optimizer.clip_gradients(5.0).expect("a norm").is_finite());
    assert!((other.grad().double_value(&[1, 0]) - 2.0).abs() < 1e-6);
}
