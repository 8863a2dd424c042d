//! Counts of game trees against published ones, ones counted by hand, kept ones, and a second way to count.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::{Campaign, RULES_VERSION};
use dervish_env::game::{Action, Actor, Outcome, Position};
use dervish_env::perft::{PerftCounts, Tree, TreeFile, perft, perft_by_depth};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_training::commands::perft::{nodes_of, root_of};
use rayon::prelude::*;

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

/// The kept counts of the campaign: `make perft` counts them anew after an intended change of the rules.
fn kept_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/perft.toml")
}

fn kept() -> Vec<Tree> {
    let file = TreeFile::read(&kept_path()).unwrap_or_else(|error| panic!("perft.toml: {error}"));
    assert_eq!(file.rules_version, RULES_VERSION, "counted by other rules: make perft");
    file.trees
}

fn root(tree: &Tree) -> Campaign {
    root_of(tree, &kept_path()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_trees_of_the_campaign_are_as_they_were() {
    let mut changed = String::new();
    for tree in kept() {
        let nodes = nodes_of(&tree, &kept_path()).unwrap_or_else(|error| panic!("{error}"));
        if nodes != tree.nodes {
            changed += &format!("{}:\n  kept    {:?}\n  counted {nodes:?}\n", tree.start, tree.nodes);
        }
    }
    assert!(changed.is_empty(), "if the rules were meant to change, make perft\n{changed}");
}

/// The start of every scenario to a million nodes or more, and positions from the middle of each in every phase, so that
/// every kind of decision and roll is pending in one of them; a file that no tree names would go untested.
#[test]
fn the_kept_trees_cover_the_campaign() {
    let trees = kept();
    for scenario in ["el-obeid", "khartoum", "souakim", "kordofan", "tiny"] {
        let tree = trees.iter().find(|tree| tree.start == scenario).expect(scenario);
        let nodes: u64 = tree.nodes.as_flattened().iter().sum();
        assert!(nodes >= 1_000_000, "{scenario}: {nodes} nodes");
    }
    let named: BTreeSet<&str> = trees.iter().map(|tree| tree.start.as_str()).collect();
    assert_eq!(named.len(), trees.len(), "a start stands twice");
    let folder = kept_path().with_file_name("positions");
    for file in std::fs::read_dir(folder).expect("a folder") {
        let name = format!("positions/{}", file.expect("a file").file_name().to_str().expect("UTF-8"));
        assert!(named.contains(name.as_str()), "perft.toml lacks {name}");
    }
    let mut phases: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut pending: BTreeSet<Decision> = BTreeSet::from([Decision::None, Decision::Finished]);
    for tree in &trees {
        let position = root(tree);
        phases.entry(&position.scenario().name).or_default().insert(format!("{:?}", position.phase()));
        pending.insert(position.pending().decision);
    }
    let missing: Vec<&str> = Decision::ALL.iter().filter(|d| !pending.contains(d)).map(|d| d.id()).collect();
    assert!(missing.is_empty(), "never pending: {missing:?}");
    for (scenario, phases) in phases.into_iter().filter(|(scenario, _)| *scenario != "tiny") {
        assert_eq!(phases.len(), 6, "{scenario}: {phases:?}");
    }
}

/// What the dice of a roll can show, by the rule that asks for it.
fn faces(roll: &str) -> Vec<u16> {
    match roll {
        // D66, three throws to a line of the table (4.1).
        "roll_event" => vec![11, 14, 21, 24, 31, 34, 41, 44, 51, 54, 61, 64],
        // D6: desertion and peace (4.4), recruits (5.2), escape (6.2), march (8.31), attrition (10.3).
        "roll_event_die" | "roll_recruits" | "roll_escape" | "roll_march" | "roll_attrition" => (1..=6).collect(),
        // 2D6: events (4.4), morale under fire and in melee (9.3), recovery (11.1).
        "roll_event_dice"
        | "roll_fire_marching"
        | "roll_fire_defending"
        | "roll_melee_marching"
        | "roll_melee_defending"
        | "roll_recovery" => (2..=12).collect(),
        // 2D6 of which doubles are one outcome, 0; the other throws give 1 + 2 to 5 + 6 (9.11).
        "roll_gunboat" => [0].into_iter().chain(3..=11).collect(),
        other => panic!("no rule asks for {other}"),
    }
}

/// Counts slowly and simply, level by level: every number of the action space is tried by `is_legal` and played by
/// `apply`, every face by `resolve`; the lists of actions and outcomes are not asked.
fn counted_without_lists(root: Campaign, depth: usize) -> Vec<[u64; 3]> {
    let mut nodes = Vec::new();
    let mut level = vec![root];
    for ply in 0..=depth {
        let count = |wanted: fn(Actor) -> bool| level.iter().filter(|p| wanted(p.actor())).count() as u64;
        nodes.push([
            count(|actor| matches!(actor, Actor::Player(_))),
            count(|actor| actor == Actor::Chance),
            count(|actor| actor == Actor::Finished),
        ]);
        if ply == depth {
            break;
        }
        let mut next_level = Vec::new();
        for position in &level {
            let mut after = |play: &dyn Fn(&mut Campaign)| {
                let mut next = *position;
                play(&mut next);
                next_level.push(next);
            };
            match position.actor() {
                Actor::Finished => {}
                Actor::Chance => {
                    for face in faces(position.pending_kind()) {
                        after(&|next| next.resolve(Outcome(face)).expect("the dice show it"));
                    }
                }
                Actor::Player(_) => {
                    for action in (0..Campaign::ACTIONS as u16).map(Action).filter(|action| position.is_legal(*action))
                    {
                        after(&|next| next.apply(action).expect("legal"));
                    }
                }
            }
        }
        level = next_level;
    }
    nodes
}

/// Decisions that the slow count may try the whole action space at, for each tree.
const SLOW_DECISIONS: u64 = 600;

#[test]
fn a_count_that_asks_no_lists_agrees() {
    let shallow = kept().into_par_iter().map(|tree| {
        let mut decisions = 0;
        let within = tree.nodes.iter().take_while(|[player, ..]| {
            decisions += player;
            decisions <= SLOW_DECISIONS
        });
        let depth = within.count().min(usize::from(tree.depth));
        assert_eq!(counted_without_lists(root(&tree), depth), tree.nodes[..=depth], "{}", tree.start);
        (depth >= 2, decisions)
    });
    let shallow: Vec<(bool, u64)> = shallow.collect();
    // The root of nearly every tree has too few orders for the limit to stop the count at once.
    let deep = shallow.iter().filter(|(deep, _)| *deep).count();
    assert!(10 * deep >= 9 * shallow.len(), "{deep} of {} trees to depth 2", shallow.len());
}
