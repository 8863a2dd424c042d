//! The throws of a roll that lead to the same position are one outcome, in position files of every kind of roll.

use dervish_env::dervish::Campaign;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::game::{Actor, MergedOutcome, Outcome, Position};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/positions")
}

fn read(file: &Path) -> Campaign {
    PositionFile::load(file).unwrap_or_else(|faults| panic!("{}: {faults:?}", file.display())).position
}

fn merged(position: &Campaign) -> Option<Vec<MergedOutcome>> {
    let mut merged = Vec::new();
    position.merged_outcomes_into(&mut merged).then_some(merged)
}

fn bytes(position: &Campaign) -> Vec<u8> {
    let mut bytes = Vec::new();
    position.write_bytes(&mut bytes);
    bytes
}

/// The position after these rolls, and how many throws they are one of.
fn follow(position: &Campaign, rolls: &[Outcome]) -> (Campaign, u64) {
    let (mut end, mut throws) = (*position, 1);
    for &roll in rolls {
        throws *= u64::from(end.chance_total());
        end.resolve(roll).expect("possible");
    }
    (end, throws)
}

/// How many throws a roll has, and the weights of its ends in the order of the lowest throw that leads to each, worked out by
/// hand from the tables:
///
/// * march: naval infantry, a camel and the flag with Hicks, whose 1 takes back the British −1 of April (8.31). A 1 disrupts a
///   quarter of the units, which of three is none, so it is as good as 3 to 6; a 2 stops the group.
/// * recovery: a disrupted spearman (class F) in the open without a leader fails on 2 to 6 (15 throws of 36), holds on 7 (6),
///   recovers on 8 or more (15) (11.1).
/// * escape: a leader is caught on 1 to 3 (6.2).
/// * attrition: in a village 4, 5, 6, 6, 8 and 12 of 26 units are unaffected (6.4, 10.3): a 3 and a 4 are one.
/// * event, three throws each (4.1): the navy (14-16) finds its naval infantry and its fleet on the map already, and June has
///   no harvest (54-56): in both nothing happens.
/// * recruits: the Mahdi is alone in the district of the White Nile, in no place of his, so nobody can join him (5.2).
const BY_HAND: [(&str, usize, &[u64]); 6] = [
    ("el_obeid_roll_march", 6, &[5, 1]),
    ("el_obeid_roll_recovery", 11, &[15, 6, 15]),
    ("souakim_roll_escape", 6, &[3, 3]),
    ("el_obeid_roll_attrition", 6, &[1, 1, 2, 1, 1]),
    ("el_obeid_roll_event", 12, &[3, 6, 3, 3, 3, 3, 3, 3, 3, 3, 3]),
    ("kordofan_roll_recruits", 6, &[6]),
];

#[test]
fn rolls_have_the_ends_that_are_counted_by_hand() {
    for (name, throws, weights) in BY_HAND {
        let position = read(&folder().join(format!("{name}.json")));
        let mut single = Vec::new();
        position.chance_outcomes_into(&mut single);
        assert_eq!(single.len(), throws, "{name}");
        let merged = merged(&position).expect("some throws lead to the same position");
        assert_eq!(merged.iter().map(|outcome| outcome.weight).collect::<Vec<_>>(), weights, "{name}: {merged:?}");
    }
}

/// The law, at each roll for itself: random games, which the conformance tests walk, rarely come to some of them.
#[test]
fn every_kind_of_roll_is_merged_by_where_it_leads() {
    let (mut by_throw, mut combats) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder()).expect("a folder") {
        let file = entry.expect("a file").path();
        let position = read(&file);
        if position.actor() != Actor::Chance {
            assert_eq!(merged(&position), None, "{}: nothing is to be rolled", file.display());
            continue;
        }
        let name = file.display();
        let mut throws = Vec::new();
        position.chance_outcomes_into(&mut throws);
        let mut behind: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for throw in &throws {
            *behind.entry(bytes(&follow(&position, &[throw.outcome]).0)).or_default() += u64::from(throw.weight);
        }
        let Some(merged) = merged(&position) else {
            // Nothing is gained by it, or a combat has begun.
            assert!(behind.len() == throws.len() || position.battle().dice != [0; 4], "{name}");
            continue;
        };
        let mut ends: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        let total: u64 = merged.iter().map(|outcome| outcome.weight).sum();
        let mut most_throws = 0;
        for outcome in &merged {
            let (end, throws) = follow(&position, &outcome.rolls);
            assert!(total.is_multiple_of(throws), "{name}: {outcome:?} of {total}");
            most_throws = most_throws.max(throws);
            assert_eq!(ends.insert(bytes(&end), outcome.weight), None, "{name}: {outcome:?} ends where another does");
        }
        // The ways end after one roll or after as many as a combat takes: each weight counts throws of all the rolls.
        assert!(total.is_multiple_of(most_throws), "{name}: {total} of {most_throws}");
        if most_throws == u64::from(position.chance_total()) {
            assert_eq!(total, most_throws, "{name}");
            assert!(ends == behind && merged.len() < throws.len(), "{name}: {merged:?}");
            by_throw.push(position.pending_kind());
        } else {
            combats += 1;
        }
    }
    by_throw.sort_unstable();
    by_throw.dedup();
    for kind in ["roll_attrition", "roll_escape", "roll_event", "roll_march", "roll_recovery", "roll_recruits"] {
        assert!(by_throw.contains(&kind), "{kind}: {by_throw:?}");
    }
    assert!(combats > 0);
}
