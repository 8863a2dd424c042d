//! Training steps.

use crate::checkpoints::description;
use crate::positions::{PLAIN, Position, lessons, net, push, ragged_positions, small_config, small_configs, small_net};
use dervish_models::batch::{Batch, BatchError, Played, Target, TrainingBatch};
use dervish_models::checkpoint;
use dervish_models::evaluator::{Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_models::trainer::{Losses, TrainError, Trainer, TrainerConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tch::Device;

/// The weights by name, read back from a checkpoint.
fn weights(net: &Network) -> BTreeMap<String, Vec<f32>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("net");
    crate::checkpoints::save(&path, net);
    let bytes = std::fs::read(path.join("weights.safetensors")).expect("weights");
    let file = safetensors::SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let values = |data: &[u8]| data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    file.iter().map(|(name, view)| (name.to_owned(), values(view.data()))).collect()
}

fn trainer(config: TrainerConfig) -> Trainer {
    Trainer::new(small_net(3), config).expect("a trainer")
}

fn train(trainer: &mut Trainer, steps: usize) -> Losses {
    let lessons = lessons(trainer.net().config());
    (0..steps).map(|_| trainer.step(&lessons).expect("a step")).last().expect("at least one step")
}

#[test]
fn an_untrained_network_knows_nothing() {
    let losses = train(&mut trainer(TrainerConfig::default()), 1);
    // An even chance of three results, and of each of 2 to 9 actions (each number twice in the lessons).
    let uniform_policy = (2..=9).map(|actions| f64::from(actions).ln()).sum::<f64>() / 8.0;
    assert!((losses.wdl - 3f64.ln()).abs() < 0.05, "{losses:?}");
    assert!((losses.policy - uniform_policy).abs() < 0.05, "{losses:?}");
    // The margins are k / 15 - 1/2 for k = 0..=15: mean square 31/90 - 1/2 + 1/4.
    assert!((losses.margin - (31.0 / 90.0 - 0.25)).abs() < 0.05, "{losses:?}");
    // The turns left are 3k for k = 0..=15; the untrained network says about 0.
    let huber = |error: f64| if error < 1.0 { error * error / 2.0 } else { error - 0.5 };
    let turns_left = (0..16).map(|k| huber((1.0 + 3.0 * f64::from(k)).ln())).sum::<f64>() / 16.0;
    assert!((losses.turns_left - turns_left).abs() < 0.1, "{losses:?} {turns_left}");
    let total = losses.wdl + losses.policy + 0.5 * losses.margin + 0.1 * losses.turns_left;
    assert!((losses.total - total).abs() < 1e-5, "{losses:?}");
}

#[test]
fn a_few_lessons_are_learnt_by_heart() {
    for config in small_configs() {
        let what = format!("{:?}", config.architecture);
        let trainer = TrainerConfig { learning_rate: 5e-3, average_decay: 0.9, ..Default::default() };
        let mut trainer = Trainer::new(net(config, 3), trainer).expect("a trainer");
        let losses = train(&mut trainer, 300);
        assert!(losses.policy < 0.02 && losses.wdl < 0.02 && losses.margin < 0.005, "{what}: {losses:?}");
        assert!(losses.turns_left < 0.01, "{what}: {losses:?}");
        let mut evaluations = Evaluations::default();
        let average = trainer.average().duplicate().expect("a copy");
        let lessons = lessons(average.config());
        NetEvaluator::new(average).evaluate(lessons.batch(), &mut evaluations).expect("finite");
        for index in 0..16 {
            let policy = evaluations.policy(index);
            assert!(policy[index % policy.len()] > 0.9, "{what}, lesson {index}: {policy:?}");
            assert!(evaluations.wdl(index)[index % 3] > 0.9, "{what}, lesson {index}");
            let margin = index as f32 / 15.0 - 0.5;
            assert!((evaluations.margin(index) - margin).abs() < 0.2, "{what}, lesson {index}");
            let turns = 3.0 * index as f32;
            assert!((evaluations.turns_left(index) - turns).abs() < 0.3 * (1.0 + turns), "{what}, lesson {index}");
        }
    }
}

/// What one seat's lessons teach changes the weights of that seat alone, and what they say of its positions alone.
#[test]
fn each_seat_learns_from_its_own_lessons() {
    let two = NetworkConfig { by_seat: true, ..small_config() };
    let positions = ragged_positions(4);
    let evaluate = |net: &Network| {
        let mut batch = Batch::new(&two);
        positions.iter().for_each(|position| batch.push(&position.sample()).expect("a valid sample"));
        let mut evaluations = Evaluations::default();
        let copy = net.duplicate().expect("a copy");
        NetEvaluator::new(copy).evaluate(&batch, &mut evaluations).expect("finite");
        evaluations
    };
    for second_seat in [false, true] {
        let still = TrainerConfig { weight_decay: 0.0, ..TrainerConfig::default() };
        let mut trainer = Trainer::new(net(two.clone(), 3), still).expect("a trainer");
        let (before, said) = (weights(trainer.net()), evaluate(trainer.net()));
        let mut lessons = TrainingBatch::new(&two);
        for position in positions.iter().filter(|position| position.second_seat == second_seat) {
            push(&mut lessons, position, &PLAIN).expect("a valid lesson");
        }
        trainer.step(&lessons).expect("a step");
        let (after, says) = (weights(trainer.net()), evaluate(trainer.net()));
        assert_eq!(before.len(), 2 * 16);
        let [own, other] = if second_seat { ["second.", "first."] } else { ["first.", "second."] };
        assert!(before.iter().all(|(name, values)| !name.starts_with(other) || after[name] == *values));
        assert!(before.iter().any(|(name, values)| name.starts_with(own) && after[name] != *values));
        for (index, position) in positions.iter().enumerate() {
            let changed = said.wdl(index) != says.wdl(index);
            assert_eq!(changed, position.second_seat == second_seat, "position {index}");
        }
    }
}

#[test]
fn every_weight_tensor_learns() {
    for (config, tensors) in small_configs().into_iter().zip([16, 39, 27, 2 * 27]) {
        // Without decay a weight moves only if it has a gradient.
        let trainer = TrainerConfig { weight_decay: 0.0, ..Default::default() };
        let mut trainer = Trainer::new(net(config, 3), trainer).expect("a trainer");
        let before = weights(trainer.net());
        train(&mut trainer, 1);
        let after = weights(trainer.net());
        assert_eq!(before.len(), tensors, "{:?}", before.keys());
        for (name, values) in before {
            assert_ne!(values, after[&name], "{name} has no gradient");
        }
    }
}

#[test]
fn the_same_seed_and_lessons_give_the_same_weights() {
    let trained = || {
        let mut trainer = trainer(TrainerConfig::default());
        train(&mut trainer, 5);
        weights(trainer.average())
    };
    assert_eq!(trained(), trained());
}

/// The first average decays by (1 + 1) / (10 + 1) where the configuration says more, and by what it says where that is less:
/// with 0.1 it is a tenth of the first weights and nine tenths of those of the first step, with 0 the latter.
#[test]
fn the_average_follows_the_weights() {
    for (average_decay, decay) in [(0.995, 2f32 / 11.0), (0.1, 0.1), (0.0, 0.0)] {
        // Each weight that has a gradient moves by about a hundredth, so that one decay is told from another.
        let mut trainer = trainer(TrainerConfig { average_decay, learning_rate: 0.01, ..Default::default() });
        let start = weights(trainer.net());
        train(&mut trainer, 1);
        let (stepped, average) = (weights(trainer.net()), weights(trainer.average()));
        for (name, average) in average {
            for (index, value) in average.iter().enumerate() {
                let expected = start[&name][index] * decay + stepped[&name][index] * (1.0 - decay);
                assert!((value - expected).abs() < 1e-6, "{average_decay}, {name}[{index}]: {value}, not {expected}");
            }
        }
    }
}

#[test]
fn a_long_gradient_is_cut_to_the_limit() {
    // With a gradient of 1e-12 against AdamW's epsilon of 1e-8, weights move by at most 1e-4 of the step size, 1e-7.
    let mut clipped = trainer(TrainerConfig { gradient_clip: 1e-12, weight_decay: 0.0, ..Default::default() });
    let before = weights(clipped.net());
    let losses = train(&mut clipped, 1);
    assert!(losses.gradient_norm > 0.01, "the norm before clipping is reported: {losses:?}");
    for (name, values) in weights(clipped.net()) {
        for (value, old) in values.iter().zip(&before[&name]) {
            assert!((value - old).abs() < 2e-7, "{name}");
        }
    }
}

/// All that a trainer is, bit by bit: the three files of a checkpoint.
fn everything(trainer: &Trainer) -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = save_trainer(trainer, folder.path());
    let files = ["weights", "learner", "optimizer"].map(|name| path.join(name).with_extension("safetensors"));
    files.iter().map(|file| std::fs::read(file).expect("a file of tensors")).collect()
}

fn save_trainer(trainer: &Trainer, folder: &Path) -> PathBuf {
    let path = folder.join("saved");
    let state = trainer.state().expect("a state");
    checkpoint::save(&path, trainer.average(), Some(&state), &description()).expect("a checkpoint");
    path
}

#[test]
fn a_loss_or_gradient_that_is_not_finite_changes_nothing() {
    let mut trainer = trainer(TrainerConfig::default());
    train(&mut trainer, 2);
    let before = everything(&trainer);
    let damaged = |position: &Position, target: &Target| {
        let mut damaged = TrainingBatch::new(&small_config());
        push(&mut damaged, position, target).expect("valid shapes");
        damaged
    };
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(1), 3, 2);
    let mut no_number = position.clone();
    no_number.tokens[0] = f32::NAN;
    // The loss is about 1e38 / 2, a number, but the square of its gradient is beyond f32.
    let played = Some(Played { action: 0, probability: 1e-38, advantage: -1.0 });
    for (batch, culprit) in
        [(damaged(&no_number, &PLAIN), "the loss"), (damaged(&position, &Target { played, ..PLAIN }), "the gradient")]
    {
        let refused = trainer.step(&batch).expect_err("nothing to learn");
        assert!(matches!(refused, TrainError::NotFinite { step: 3, what } if what == culprit), "{refused:?}");
        assert_eq!(trainer.steps(), 2);
        assert!(everything(&trainer) == before, "{culprit}");
    }
    train(&mut trainer, 1);
    assert!(everything(&trainer) != before);
}

#[test]
fn a_resumed_trainer_goes_on_exactly() {
    small_configs().into_iter().for_each(check_resumption);
}

fn check_resumption(network: NetworkConfig) {
    let config = TrainerConfig { learning_rate: 5e-3, weight_decay: 0.1, ..Default::default() };
    let mut straight = Trainer::new(net(network, 3), config.clone()).expect("a trainer");
    train(&mut straight, 5);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = save_trainer(&straight, folder.path());
    let loaded = checkpoint::load(&path, &description().contract, Device::Cpu).expect("a checkpoint");
    let mut resumed = Trainer::resume(loaded.net, loaded.trainer, 5, config.clone()).expect("a trainer");
    assert!(everything(&resumed) == everything(&straight), "before a step");
    assert_eq!(train(&mut straight, 20), train(&mut resumed, 20));
    assert_eq!(resumed.steps(), 25);
    assert!(everything(&resumed) == everything(&straight), "after 20 steps");

    // Without the optimiser's memory it would not.
    let loaded = checkpoint::load(&path, &description().contract, Device::Cpu).expect("a checkpoint");
    let net = loaded.trainer.expect("a trainer's state").net;
    let mut forgetful = Trainer::resume(net, None, 5, config).expect("a trainer");
    train(&mut forgetful, 20);
    assert_ne!(weights(forgetful.net()), weights(straight.net()));
}

#[test]
fn a_state_of_another_network_is_refused() {
    let mut state = trainer(TrainerConfig::default()).state().expect("a state");
    let (name, moments) = state.optimizer.moments.pop_first().expect("moments");
    let resume = |state| Trainer::resume(small_net(3), Some(state), 1, TrainerConfig::default()).expect_err("refused");
    assert_eq!(resume(state).to_string(), format!("the optimiser's state does not fit weight {name}"));
    let mut state = trainer(TrainerConfig::default()).state().expect("a state");
    state.optimizer.moments.insert("stray".into(), moments);
    assert_eq!(resume(state).to_string(), "the optimiser's state does not fit weight stray");
    let wider = Architecture::TokenMlp { hidden: 16, trunk: 33 };
    let wider = Network::new(NetworkConfig { architecture: wider, ..small_config() }, 0, Device::Cpu);
    let state = trainer(TrainerConfig::default()).state().expect("a state");
    let refused = Trainer::resume(wider.expect("a network"), Some(state), 1, TrainerConfig::default());
    assert!(matches!(refused, Err(TrainError::DifferentSizes)));
}

#[test]
fn a_weight_multiplies_all_losses_of_its_sample() {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(2), 3, 4);
    let played = Some(Played { action: 1, probability: 0.2, advantage: 0.7 });
    let policy = &[(1, 0.25), (3, 0.75)];
    let target = Target { policy, played, wdl: [0.7, 0.0, 0.3], margin: 0.5, turns_left: 4.0, weight: 1.0 };
    let losses = |weights: &[f32]| {
        let mut batch = TrainingBatch::new(&small_config());
        for &weight in weights {
            push(&mut batch, &position, &Target { weight, ..target }).expect("a valid sample");
        }
        trainer(TrainerConfig::default()).step(&batch).expect("a step")
    };
    let one = losses(&[1.0]);
    let cases: [(&[f32], f64); 4] = [(&[3.0], 3.0), (&[1.0, 0.0], 0.5), (&[1.0, 3.0], 2.0), (&[0.0], 0.0)];
    for (weights, factor) in cases {
        let (weighted, expected) = (losses(weights), one.scaled(factor));
        for (found, expected) in [
            (weighted.policy, expected.policy),
            (weighted.surrogate, expected.surrogate),
            (weighted.entropy, expected.entropy),
            (weighted.wdl, expected.wdl),
            (weighted.margin, expected.margin),
            (weighted.turns_left, expected.turns_left),
            (weighted.total, expected.total),
            (weighted.gradient_norm, expected.gradient_norm),
        ] {
            assert!((found - expected).abs() < 1e-5, "{weights:?}: {weighted:?}, not {expected:?}");
        }
    }
}

#[test]
fn a_sample_without_policy_target_does_not_count_in_the_policy_loss() {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(2), 3, 4);
    let mut with = TrainingBatch::new(&small_config());
    let target = Target { policy: &[(1, 0.25), (3, 0.75)], wdl: [0.5, 0.0, 0.5], margin: 0.5, ..PLAIN };
    push(&mut with, &position, &target).expect("a valid sample");
    let mut mixed = with.clone();
    push(&mut mixed, &position, &Target { policy: &[], ..target }).expect("a valid sample");
    let (one, both) = (
        trainer(TrainerConfig::default()).step(&with).expect("a step"),
        trainer(TrainerConfig::default()).step(&mixed).expect("a step"),
    );
    assert!((one.policy - both.policy).abs() < 1e-6, "{one:?} {both:?}");
    assert!((one.policy - 4f64.ln()).abs() < 0.05, "{one:?}");
}

#[test]
fn batches_without_policy_or_actions_train_the_values() {
    let mut batch = TrainingBatch::new(&small_config());
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(3), 3, 0);
    push(&mut batch, &position, &Target { wdl: [0.0, 0.0, 1.0], margin: -1.0, ..PLAIN }).expect("a valid sample");
    let losses = trainer(TrainerConfig::default()).step(&batch).expect("a step");
    assert_eq!(losses.policy, 0.0);
    batch.clear();
    assert!(matches!(trainer(TrainerConfig::default()).step(&batch), Err(TrainError::EmptyBatch)));
}

#[test]
fn invalid_targets_are_refused_and_leave_the_batch_alone() {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(4), 3, 4);
    let good = Target { policy: &[(0, 1.0)], ..PLAIN };
    let mut batch = TrainingBatch::new(&small_config());
    push(&mut batch, &position, &good).expect("a valid sample");
    let mut refused = |target: &Target| {
        let error = push(&mut batch, &position, target).expect_err("an invalid target");
        assert_eq!(batch.len(), 1);
        error
    };
    let outside = |action| BatchError::PolicyTarget { action, actions: 4 };
    assert_eq!(refused(&Target { policy: &[(4, 1.0)], ..good }), outside(4));
    assert_eq!(refused(&Target { policy: &[(2, 0.5), (2, 0.5)], ..good }), outside(2));
    assert_eq!(refused(&Target { policy: &[(2, 0.5)], ..good }), BatchError::TargetRange("policy"));
    assert_eq!(refused(&Target { wdl: [0.5, 0.0, 0.0], ..good }), BatchError::TargetRange("win, draw and loss"));
    assert_eq!(refused(&Target { wdl: [f32::NAN, 0.0, 1.0], ..good }), BatchError::TargetRange("win, draw and loss"));
    assert_eq!(refused(&Target { margin: f32::NAN, ..good }), BatchError::TargetRange("margin"));
    for value in [-1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(refused(&Target { turns_left: value, ..good }), BatchError::TargetRange("turns left"));
        assert_eq!(refused(&Target { weight: value, ..good }), BatchError::TargetRange("weight"));
    }
    // A target without luck may lie outside 0..=1.
    push(&mut batch, &position, &Target { wdl: [2.5, -1.5, 0.0], ..good }).expect("a valid sample");
    trainer(TrainerConfig::default()).step(&batch).expect("what was accepted trains");
}

/// Probability of each of the four actions of `position` after `steps` steps on it with action 2 played.
fn policy_after(steps: usize, played: Played, config: TrainerConfig) -> Vec<f32> {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(6), 3, 4);
    let mut batch = TrainingBatch::new(&small_config());
    let target = Target { played: Some(played), ..PLAIN };
    push(&mut batch, &position, &target).expect("a valid sample");
    let mut trainer = trainer(config);
    for _ in 0..steps {
        trainer.step(&batch).expect("a step");
    }
    let mut evaluations = Evaluations::default();
    let mut evaluator = NetEvaluator::new(trainer.net().duplicate().expect("a copy"));
    evaluator.evaluate(batch.batch(), &mut evaluations).expect("finite");
    evaluations.policy(0).to_vec()
}

#[test]
fn a_played_action_moves_by_its_advantage_until_the_clip() {
    // Without entropy bonus; AdamW's momentum carries a little beyond the clip at 1.2 and 0.8 of the old probability.
    let config = TrainerConfig { entropy_weight: 0.0, weight_decay: 0.0, ..Default::default() };
    let played = Played { action: 2, probability: 0.25, advantage: 1.0 };
    let better = policy_after(200, played, config.clone())[2];
    assert!((0.29..0.36).contains(&better), "{better}");
    let worse = policy_after(200, Played { advantage: -1.0, ..played }, config.clone())[2];
    assert!((0.14..0.21).contains(&worse), "{worse}");
    let indifferent = policy_after(200, Played { advantage: 0.0, ..played }, config)[2];
    assert!((indifferent - 0.25).abs() < 0.02, "{indifferent}");
}

#[test]
fn the_surrogate_and_the_entropy_are_those_of_the_formulas() {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(6), 3, 4);
    let mut batch = TrainingBatch::new(&small_config());
    let without = PLAIN;
    // The untrained policy is about uniform, 1/4 each. The ratio of 2 is clipped to 1.2 where it would gain, not where
    // it would lose: gains 1.2 x 1 and 2 x -0.5, mean 0.1.
    for advantage in [1.0, -0.5] {
        let played = Some(Played { action: 1, probability: 0.125, advantage });
        push(&mut batch, &position, &Target { played, ..without }).expect("a valid sample");
    }
    push(&mut batch, &position, &without).expect("a valid sample");
    let losses = trainer(TrainerConfig::default()).step(&batch).expect("a step");
    assert!((losses.surrogate + 0.1).abs() < 0.03, "{losses:?}");
    assert!((losses.entropy - 4f64.ln()).abs() < 0.01, "{losses:?}");
    let values = losses.wdl + 0.5 * losses.margin + 0.1 * losses.turns_left;
    let total = values + losses.surrogate - 0.01 * losses.entropy;
    assert!((losses.total - total).abs() < 1e-5, "{losses:?}");
    for (action, probability, advantage) in [(4, 0.5, 0.0), (0, 0.0, 0.0), (0, 1.5, 0.0), (0, 0.5, f32::NAN)] {
        let played = Some(Played { action, probability, advantage });
        let refused = push(&mut batch, &position, &Target { played, ..without });
        assert!(matches!(refused, Err(BatchError::Played { actions: 4, .. })), "{refused:?}");
        assert_eq!(batch.len(), 3);
    }
}
