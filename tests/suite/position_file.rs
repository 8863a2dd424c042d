//! Position files: every position of play is read back as it was, short files by hand are understood, and what cannot be
//! is refused with its reason.

use std::ops::ControlFlow;
use std::path::Path;

use dervish_env::chance::SplitMix64;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, Position, WeightedOutcome};

/// The scenarios of the game and the one for checks.
const SCENARIOS: [&str; 5] = ["el-obeid", "khartoum", "souakim", "kordofan", "tiny"];

/// Plays on with random moves and dice, at most so many plies, and shows every position on the way to `visit`.
fn play_on(
    position: &mut Campaign,
    random: &mut SplitMix64,
    plies: usize,
    mut visit: impl FnMut(&Campaign) -> ControlFlow<()>,
) {
    let (mut actions, mut outcomes) = (Vec::<Action>::new(), Vec::<WeightedOutcome>::new());
    for _ in 0..plies {
        match position.actor() {
            Actor::Finished => return,
            Actor::Chance => {
                position.chance_outcomes_into(&mut outcomes);
                position.resolve_possible(outcomes[random.below(outcomes.len())].outcome);
            }
            Actor::Player(_) => {
                position.legal_actions_into(&mut actions);
                position.apply_legal(actions[random.below(actions.len())]);
            }
        }
        if visit(position).is_break() {
            return;
        }
    }
}

/// The position of a file's text.
fn read(text: &str) -> Result<PositionFile, Vec<String>> {
    PositionFile::parse("test", text, Path::new("")).map_err(|faults| faults.iter().map(ToString::to_string).collect())
}

#[test]
fn every_position_of_play_is_read_back() {
    for scenario in SCENARIOS {
        let start = Campaign::new(Scenario::builtin(scenario).expect("built-in"));
        let mut met = std::collections::BTreeMap::<&str, u32>::new();
        for seed in 0..std::env::var("GAMES").map_or(4, |g| g.parse().unwrap()) {
            let mut random = SplitMix64::new(seed);
            let mut position = start;
            play_on(&mut position, &mut random, usize::MAX, |position| {
                let seen = met.entry(position.pending_kind()).or_default();
                *seen += 1;
                if *seen > 300 && *seen % 16 != 0 {
                    return ControlFlow::Continue(());
                }
                assert_eq!(position.faults(), Vec::<String>::new(), "{scenario} {seed}: {position:?}");
                let file = PositionFile { scenario: scenario.to_owned(), position: *position };
                let text = file.text();
                let back = read(&text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
                assert_eq!(back, file, "{text}");
                ControlFlow::Continue(())
            });
        }
        println!("{scenario}: {met:?}");
    }
}
