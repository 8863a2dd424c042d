//! Random games of every scenario under debug assertions, each written as a record, read back and verified against the
//! rules. The number of games comes from `DERVISH_SOAK_GAMES`: `make soak` plays 10,000 of each, the tests 200.

use std::time::Instant;

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position};
use dervish_env::record::{Record, Replay};
use rayon::prelude::*;

fn games() -> u64 {
    match std::env::var("DERVISH_SOAK_GAMES") {
        Ok(text) => text.parse().expect("DERVISH_SOAK_GAMES is a number of games"),
        Err(_) => 200,
    }
}

/// Plays one random game and returns its record.
fn random_game(start: &Campaign, seed: u64) -> Record {
    let mut position = *start;
    let mut dice = Dice::new(seed);
    let mut choice = SplitMix64::new(seed);
    let mut record = Record::begin(start, seed, ["random", "random"]);
    let mut legal = Vec::new();
    for _ in 0..Campaign::MAX_DECISIONS {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => {
                let outcome = dice.roll(&position);
                record.push_roll(&position, outcome);
                position.resolve(outcome).expect("a roll that was listed");
            }
            Actor::Player(_) => {
                position.legal_actions_into(&mut legal);
                let action = legal[choice.below(legal.len())];
                record.push_action(&position, action);
                position.apply(action).expect("an action that was listed");
            }
        }
    }
    assert_eq!(position.actor(), Actor::Finished, "game {seed} does not end");
    record.finish(&position);
    record
}

fn soak(name: &str) {
    let start = Campaign::new(Scenario::builtin(name).expect("built in"));
    let began = Instant::now();
    let plies: usize = (0..games())
        .into_par_iter()
        .map(|seed| {
            let record = random_game(&start, seed);
            let text = record.to_string();
            let read = Record::parse(&text).unwrap_or_else(|error| panic!("{name} game {seed}: {error}"));
            let mut replay = Replay::new(read, start).expect("of this scenario");
            let result = replay.verify().unwrap_or_else(|error| panic!("{name} game {seed}: {error}"));
            assert!(result.is_some(), "{name} game {seed} has no result");
            record.plies().len()
        })
        .sum();
    println!("{name}: {} games, {plies} plies, {:.0} s", games(), began.elapsed().as_secs_f64());
}

#[test]
fn soak_souakim() {
    soak("souakim");
}

#[test]
fn soak_kordofan() {
    soak("kordofan");
}

#[test]
fn soak_el_obeid() {
    soak("el-obeid");
}

#[test]
fn soak_khartoum() {
    soak("khartoum");
}
