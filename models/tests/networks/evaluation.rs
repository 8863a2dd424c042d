//! Batches and their evaluation.

use crate::positions::{Position, config, net, ragged_positions, small_config, small_configs, small_net};
use dervish_models::batch::{Batch, BatchError};
use dervish_models::evaluator::{EvaluateError, Evaluations, NetEvaluator};
use dervish_models::network::{Architecture, Network};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tch::Device;

fn evaluate(evaluator: &mut NetEvaluator, positions: &[Position]) -> Evaluations {
    let mut batch = Batch::new(evaluator.net().config());
    for position in positions {
        batch.push(&position.sample()).expect("a valid sample");
    }
    let mut evaluations = Evaluations::default();
    evaluator.evaluate(&batch, &mut evaluations).expect("finite weights and inputs");
    evaluations
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{what}: {found} instead of {expected}");
    }
}

#[test]
fn a_ragged_batch_gives_what_its_samples_give_alone() {
    for config in small_configs() {
        let what = format!("{:?}", config.architecture);
        let mut evaluator = NetEvaluator::new(net(config, 1));
        let positions = ragged_positions(2);
        let together = evaluate(&mut evaluator, &positions);
        assert_eq!(together.len(), positions.len());
        for (index, position) in positions.iter().enumerate() {
            let alone = evaluate(&mut evaluator, std::slice::from_ref(position));
            assert_close(together.policy(index), alone.policy(0), &what);
            assert_close(&together.wdl(index), &alone.wdl(0), &what);
            let others = |of: &Evaluations, index| [of.margin(index), of.turns_left(index)];
            assert_close(&others(&together, index), &others(&alone, 0), &what);
        }
    }
}

/// Batches that are joined give bit by bit what one batch of all their samples gives, and each its own part of it.
#[test]
fn joined_batches_give_what_one_batch_of_all_gives() {
    for config in small_configs() {
        let mut evaluator = NetEvaluator::new(net(config.clone(), 1));
        let positions = ragged_positions(5);
        let together = evaluate(&mut evaluator, &positions);
        let (first, rest) = positions.split_at(positions.len() / 3);
        let batch_of = |positions: &[Position]| {
            let mut batch = Batch::new(&config);
            positions.iter().for_each(|position| batch.push(&position.sample()).expect("a valid sample"));
            batch
        };
        let mut joined = batch_of(first).empty_like();
        assert!(joined.is_empty() && joined.fits(&config));
        for part in [first, &[], rest] {
            joined.append(&batch_of(part));
        }
        assert_eq!((joined.len(), joined.action_starts()), (positions.len(), batch_of(&positions).action_starts()));
        let (mut all, mut part) = (Evaluations::default(), Evaluations::default());
        evaluator.evaluate(&joined, &mut all).expect("finite weights and inputs");
        part.copy_part(&all, first.len()..positions.len());
        assert_eq!(part.len(), rest.len());
        for (index, own) in (first.len()..positions.len()).zip(0..) {
            let of = |of: &Evaluations, index| {
                (of.policy(index).to_vec(), of.wdl(index), of.margin(index), of.turns_left(index))
            };
            assert_eq!(of(&part, own), of(&together, index), "{:?}", config.architecture);
        }
    }
}

#[test]
fn outputs_are_distributions_over_the_legal_actions() {
    let positions = ragged_positions(3);
    let evaluations = evaluate(&mut NetEvaluator::new(small_net(1)), &positions);
    for (index, position) in positions.iter().enumerate() {
        let policy = evaluations.policy(index);
        assert_eq!(policy.len(), position.action_tokens.len());
        if !policy.is_empty() {
            assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        let [win, draw, loss] = evaluations.wdl(index);
        assert!((win + draw + loss - 1.0).abs() < 1e-5);
        assert_eq!(evaluations.value(index), win - loss);
        assert!((-1.0..=1.0).contains(&evaluations.margin(index)));
        assert!(evaluations.turns_left(index) >= 0.0);
    }
}

#[test]
fn the_order_of_tokens_does_not_matter_and_references_follow_them() {
    for config in small_configs() {
        let what = format!("{:?}", config.architecture);
        let width = config.inputs.token_features;
        let mut evaluator = NetEvaluator::new(net(config, 4));
        let position = Position::random(&mut ChaCha8Rng::seed_from_u64(6), 9, 12);
        let last = position.groups.len() as u32 - 1;
        let mut reversed = position.clone();
        reversed.groups.reverse();
        reversed.cells.reverse();
        reversed.tokens = position.tokens.chunks(width).rev().flatten().copied().collect();
        for token in reversed.action_tokens.iter_mut().flatten().flatten() {
            *token = last - *token;
        }
        let (one, other) = (evaluate(&mut evaluator, &[position]), evaluate(&mut evaluator, &[reversed]));
        assert_close(one.policy(0), other.policy(0), &what);
        assert_close(&one.wdl(0), &other.wdl(0), &what);
    }
}

#[test]
fn every_part_of_a_sample_that_an_architecture_reads_counts() {
    type Change = fn(&mut Position);
    let changes: [(&str, Change); 7] = [
        ("globals", |position| position.globals[0] += 1.0),
        ("tokens", |position| position.tokens[0] += 1.0),
        ("groups", |position| position.groups[0] = (position.groups[0] + 1) % 3),
        ("actions", |position| position.actions[0] += 1.0),
        ("named tokens", |position| position.action_tokens[0] = [None, None]),
        ("planes", |position| position.planes[0] += 1.0),
        ("cells", |position| position.cells[0] = Some(18)),
    ];
    for config in small_configs() {
        let mut position = Position::random(&mut ChaCha8Rng::seed_from_u64(6), 4, 3);
        position.cells[0] = Some(0);
        position.action_tokens[0] = [Some(1), Some(2)];
        let reads_planes = config.architecture.reads_planes();
        let what = format!("{:?}", config.architecture);
        let mut evaluator = NetEvaluator::new(net(config, 2));
        let mut answer = |position: &Position| {
            let evaluations = evaluate(&mut evaluator, std::slice::from_ref(position));
            (evaluations.policy(0).to_vec(), evaluations.wdl(0))
        };
        let before = answer(&position);
        for (part, change) in changes {
            let mut changed = position.clone();
            change(&mut changed);
            let counts = reads_planes || !["planes", "cells"].contains(&part);
            assert_eq!(answer(&changed) != before, counts, "{what}: {part}");
        }
    }
}

#[test]
fn actions_that_differ_in_a_named_token_only_get_their_own_probability() {
    let mut evaluator = NetEvaluator::new(small_net(7));
    let mut position = Position::random(&mut ChaCha8Rng::seed_from_u64(8), 3, 3);
    position.actions.fill(0.5);
    position.action_tokens = vec![[Some(0), None], [None, Some(0)], [Some(2), None]];
    let before = evaluate(&mut evaluator, &[position.clone()]);
    let policy = before.policy(0);
    assert!(policy[0] != policy[1] && policy[0] != policy[2], "{policy:?}");
    position.action_tokens.swap(0, 2);
    let after = evaluate(&mut evaluator, &[position]);
    assert_close(after.policy(0), &[policy[2], policy[1], policy[0]], "policy");
}

#[test]
fn the_same_seed_gives_the_same_network_and_another_seed_another() {
    let positions = ragged_positions(9);
    for config in small_configs() {
        let wdl = |seed| evaluate(&mut NetEvaluator::new(net(config.clone(), seed)), &positions).wdl(0);
        assert_eq!(wdl(1), wdl(1));
        assert_ne!(wdl(1), wdl(2));
    }
}

#[test]
fn networks_made_in_several_threads_do_not_disturb_each_other() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let positions = ragged_positions(9);
    let wdl = || evaluate(&mut NetEvaluator::new(small_net(1)), &positions).wdl(0);
    let alone = wdl();
    let original = small_net(2);
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Making a copy initialises it too.
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                original.duplicate().expect("a copy");
            }
        });
        let found: Vec<_> = (0..100).map(|_| wdl()).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(found.iter().all(|wdl| *wdl == alone), "{found:?}");
    });
}

#[test]
fn a_cleared_batch_is_an_empty_one() {
    let positions = ragged_positions(10);
    let mut evaluator = NetEvaluator::new(small_net(1));
    let mut batch = Batch::new(&small_config());
    let (mut first, mut again) = (Evaluations::default(), Evaluations::default());
    batch.push(&positions[0].sample()).expect("a valid sample");
    evaluator.evaluate(&batch, &mut first).expect("finite");
    batch.clear();
    evaluator.evaluate(&batch, &mut again).expect("an empty batch is fine");
    assert!(batch.is_empty() && again.is_empty());
    batch.push(&positions[0].sample()).expect("a valid sample");
    evaluator.evaluate(&batch, &mut again).expect("finite");
    assert_eq!(first.policy(0), again.policy(0));
}

#[test]
fn invalid_samples_are_refused_and_leave_the_batch_alone() {
    let position = Position::random(&mut ChaCha8Rng::seed_from_u64(11), 4, 2);
    let mut batch = Batch::new(&small_config());
    let mut refused = |change: fn(&mut Position)| {
        let mut changed = position.clone();
        change(&mut changed);
        let error = batch.push(&changed.sample()).expect_err("an invalid sample");
        assert!(batch.is_empty());
        error
    };
    let length = |what, found, expected| BatchError::Length { what, found, expected };
    assert_eq!(refused(|position| position.globals.truncate(3)), length("globals", 3, 4));
    assert_eq!(refused(|position| position.tokens.truncate(23)), length("tokens", 23, 24));
    assert_eq!(refused(|position| position.actions.push(0.0)), length("actions", 11, 10));
    assert_eq!(refused(|position| position.groups[2] = 3), BatchError::Group { token: 2, group: 3, groups: 3 });
    assert_eq!(
        refused(|position| position.action_tokens[1][1] = Some(4)),
        BatchError::TokenReference { action: 1, token: 4, tokens: 4 }
    );
}

#[test]
fn what_is_not_finite_is_refused() {
    let mut position = Position::random(&mut ChaCha8Rng::seed_from_u64(12), 4, 2);
    position.globals[0] = f32::NAN;
    let mut batch = Batch::new(&small_config());
    batch.push(&position.sample()).expect("the batch takes any number");
    let mut evaluations = Evaluations::default();
    let refused = NetEvaluator::new(small_net(1)).evaluate(&batch, &mut evaluations);
    assert!(matches!(refused, Err(EvaluateError::NotFinite)), "{refused:?}");
    assert!(evaluations.is_empty());
}

#[test]
fn a_batch_for_other_sizes_is_refused() {
    let mut other = small_config();
    other.inputs.token_features = 7;
    let mut batch = Batch::new(&other);
    let position =
        Position { tokens: vec![], groups: vec![], ..Position::random(&mut ChaCha8Rng::seed_from_u64(1), 0, 2) };
    batch.push(&position.sample()).expect("a valid sample");
    let refused = NetEvaluator::new(small_net(1)).evaluate(&batch, &mut Evaluations::default());
    assert!(matches!(refused, Err(EvaluateError::Torch(_))), "{refused:?}");
}

#[test]
fn planes_and_cells_are_checked_where_they_are_read() {
    let [.., planes] = small_configs();
    let refused = |damage: fn(&mut Position)| {
        let mut position = Position::random(&mut ChaCha8Rng::seed_from_u64(11), 4, 2);
        damage(&mut position);
        // A network that reads no planes does not mind.
        Batch::new(&small_config()).push(&position.sample()).expect("a valid sample");
        let mut batch = Batch::new(&planes);
        let error = batch.push(&position.sample()).expect_err("an invalid sample");
        assert!(batch.is_empty());
        error
    };
    let length = |what, found, expected| BatchError::Length { what, found, expected };
    assert_eq!(refused(|position| position.planes.truncate(39)), length("planes", 39, 40));
    assert_eq!(refused(|position| position.cells.truncate(3)), length("cells", 3, 4));
    assert_eq!(refused(|position| position.cells[1] = Some(20)), BatchError::Cell { token: 1, cell: 20, cells: 20 });
}

#[test]
fn sizes_out_of_range_are_refused() {
    let refused =
        |architecture| Network::new(config(architecture), 0, Device::Cpu).expect_err("a size out of range").to_string();
    assert_eq!(refused(Architecture::TokenMlp { hidden: 0, trunk: 8 }), "hidden is 0, not in 1..=4096");
    let transformer = |width, layers, heads| refused(Architecture::TokenTransformer { width, layers, heads });
    assert_eq!(transformer(16, 257, 4), "layers is 257, not in 1..=256");
    assert_eq!(transformer(16, 2, 0), "heads is 0, not in 1..=4096");
    assert_eq!(transformer(16, 2, 3), "a width of 16 cannot be shared evenly by 3 heads");
    let planes = Architecture::HexPlanes { channels: 4, blocks: 1, hidden: 8, trunk: 5000 };
    assert_eq!(refused(planes), "trunk is 5000, not in 1..=4096");
    let mut without = config(Architecture::HexPlanes { channels: 4, blocks: 1, hidden: 8, trunk: 8 });
    without.inputs.planes = [0; 3];
    let error = Network::new(without, 0, Device::Cpu).expect_err("no planes");
    assert_eq!(error.to_string(), "channels of the planes is 0, not in 1..=4096");
}
