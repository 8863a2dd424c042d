//! Counts of game trees against published ones and ones counted by hand.

use std::collections::HashSet;

use dervish_env::game::{Action, Position};
use dervish_env::perft::{PerftCounts, perft, perft_by_depth};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;

/// The published perft of connect four: 7^n until a column can be full (7 plies), then fewer.
#[test]
fn connect_four_has_the_published_tree() {
    let totals: Vec<u64> = perft_by_depth(&ConnectFour::new(), 8).iter().map(PerftCounts::total).collect();
    assert_eq!(totals, [1, 7, 49, 343, 2_401, 16_807, 117_649, 823_536, 5_673_234]);
}

/// Distinct positions after n plies, sequence A212693 of the On-Line Encyclopedia of Integer Sequences.
#[test]
fn connect_four_has_the_published_positions() {
    let mut level = vec![ConnectFour::new()];
    let mut counts = Vec::new();
    let mut legal: Vec<Action> = Vec::new();
    for _ in 0..8 {
        counts.push(level.len());
        let mut seen = HashSet::new();
        let mut next_level = Vec::new();
        for position in &level {
            position.legal_actions_into(&mut legal);
            for &action in &legal {
                let mut next = position.clone();
                next.apply_legal(action);
                let mut bytes = Vec::new();
                next.write_bytes(&mut bytes);
                if seen.insert(bytes) {
                    next_level.push(next);
                }
            }
        }
        level = next_level;
    }
    assert_eq!(counts, [1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859]);
}

/// A throw leads to one chance node (a 1) and five decisions; a decision to two chance nodes. No game ends in 3 plies.
#[test]
fn pig_has_the_tree_counted_by_hand() {
    let counts = |player, chance| PerftCounts { player, chance, terminal: 0 };
    assert_eq!(
        perft_by_depth(&Pig::new(), 3),
        [counts(0, 1), counts(5, 1), counts(5, 6 / 6 + 10), counts(5 * 11, 11 + 10)]
    );
    assert_eq!(perft(&Pig::new(), 3), counts(55, 21));
}
