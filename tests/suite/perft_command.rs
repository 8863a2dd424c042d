//! `dervish perft` as its users call it.

use std::fs;

use dervish_env::dervish::RULES_VERSION;
use dervish_env::perft::TreeFile;
use serde_json::json;

use crate::dervish_binary::{dervish, dervish_reading, json_of, refusal};

/// A side that waits for the event roll of scenario 3, 12 lines of the table (4.1), in the last game turn.
const EVENT: &str =
    r#"{"format": 1, "game": "dervish", "scenario": "souakim", "turn": 5, "active": "egyptian", "phase": "event"}"#;

/// Two disrupted spearmen who roll for recovery, 11 sums of two dice (11.1), with which the last game turn ends.
const RECOVERY: &str = r#"{"format": 1, "game": "dervish", "scenario": "souakim",
  "turn": 5, "active": "egyptian", "phase": "recovery",
  "stacks": [{"hex": "4608", "units": [{"kind": "rifle_r", "count": 2, "disrupted": true}]}]}"#;

#[test]
fn counts_are_told_as_a_table_and_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recovery.json");
    fs::write(&path, RECOVERY).expect("written");
    let path = path.to_str().expect("UTF-8");
    let expected = json!([
        {"depth": 0, "nodes": 1, "player": 0, "chance": 1, "terminal": 0},
        {"depth": 1, "nodes": 11, "player": 0, "chance": 0, "terminal": 11},
        {"depth": 2, "nodes": 0, "player": 0, "chance": 0, "terminal": 0},
    ]);
    assert_eq!(json_of(&["perft", path, "2", "--json"]), expected);
    assert_eq!(json_of(&["perft", path, "0", "--json"]), json!([expected[0]]));
    let table = dervish(&["perft", path, "2"]);
    assert!(table.status.success() && table.stderr.is_empty(), "{table:?}");
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.contains('┆'))
        .map(|line| line.split(['│', '┆']).map(str::trim).collect())
        .collect();
    assert_eq!(rows[0][1..6], ["depth", "nodes", "player", "chance", "finished"]);
    assert_eq!(rows[2][1..6], ["1", "11", "0", "0", "11"]);
    let piped = dervish_reading(&["perft", "-", "1", "--json"], EVENT.as_bytes());
    let lines: serde_json::Value = serde_json::from_slice(&piped.stdout).expect("JSON");
    assert_eq!((&lines[0]["chance"], &lines[1]["nodes"]), (&json!(1), &json!(12)));
}

#[test]
fn depths_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recovery.json");
    fs::write(&path, RECOVERY).expect("written");
    let path = path.to_str().expect("UTF-8");
    for (arguments, expected) in [
        (&[][..], "<FILE> <DEPTH>"),
        (&[path], "<DEPTH>"),
        (&[path, "deep"], "invalid value 'deep' for '[DEPTH]'"),
        (&[path, "1.5"], "invalid value '1.5' for '[DEPTH]'"),
        (&[path, "-1"], "'-1'"),
        (&[path, "1001"], "1001 is not in 0..=1000"),
        (&[path, "2", "3"], "'3'"),
        (&[path, "2", "--update"], "cannot be used with '--update'"),
        (&[path, "--update", "--json"], "cannot be used with"),
    ] {
        let line = refusal(&[&["perft"], arguments].concat());
        assert!(line.contains(expected), "{line}");
    }
}

/// A new tree and one with wrong counts are counted; what is right already is not written again.
#[test]
fn an_update_counts_all_trees_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("event.json"), EVENT).expect("written");
    fs::create_dir(folder.path().join("deep")).expect("a folder");
    fs::write(folder.path().join("deep/recovery.json"), RECOVERY).expect("written");
    let path = folder.path().join("trees.toml");
    let stale = r#"
        rules_version = 0
        tree = [
            { start = "souakim", depth = 0, nodes = [[1, 0, 0]] },
            { start = "event.json", depth = 0 },
            { start = "deep/recovery.json", depth = 2, nodes = [[1, 2, 3], [4, 5, 6]] },
        ]"#;
    fs::write(&path, stale).expect("written");
    let name = path.to_str().expect("UTF-8");
    let update = dervish(&["perft", name, "--update"]);
    assert!(update.status.success(), "{update:?}");
    // One node each, and 11 below the roll for recovery.
    assert_eq!(String::from_utf8_lossy(&update.stdout), format!("{name}: 3 trees of 14 nodes, 2 changed\n"));
    let file = TreeFile::read(&path).expect("as written");
    assert_eq!(file.rules_version, RULES_VERSION);
    let trees = file.trees.iter().map(|tree| (tree.start.as_str(), tree.depth, &tree.nodes[..]));
    let expected: [(&str, u16, &[[u64; 3]]); 3] = [
        ("souakim", 0, &[[1, 0, 0]]),
        ("event.json", 0, &[[0, 1, 0]]),
        ("deep/recovery.json", 2, &[[0, 1, 0], [0, 0, 11], [0, 0, 0]]),
    ];
    assert!(trees.eq(expected), "{file:?}");
    let text = fs::read_to_string(&path).expect("a file");
    assert_eq!(text, file.text());
    let again = dervish(&["perft", name, "--update"]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), format!("{name}: 3 trees of 14 nodes, 0 changed\n"));
    assert_eq!(fs::read_to_string(&path).expect("a file"), text);
}

#[test]
fn trees_that_cannot_be_counted_are_refused_and_stay_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("broken.json"), EVENT.replace("\"turn\": 5", "\"turn\": 6")).expect("written");
    let path = folder.path().join("trees.toml");
    let name = path.to_str().expect("UTF-8");
    let good = "[[tree]]\nstart = \"souakim\"\ndepth = 1\n";
    for (text, expected) in [
        (good.to_owned(), "trees.toml: line 1: missing field `rules_version`"),
        (format!("rules_version = 1\n{good}{{"), "trees.toml: line 5: "),
        (format!("rules_version = 1\ndate = 1885\n{good}"), "trees.toml: line 2: unknown field `date`"),
        (format!("rules_version = 1\n{good}nods = []\n"), "trees.toml: line 5: unknown field `nods`"),
        (format!("rules_version = 1\n{good}nodes = [[1, 2]]\n"), "trees.toml: line 5: "),
        (format!("rules_version = 1\n{good}nodes = [[1, 2, -3]]\n"), "trees.toml: line 5: "),
        (format!("rules_version = 1\n{}", good.replace("= 1", "= -1")), "trees.toml: line 4: "),
        (
            format!("rules_version = 1\n{}", good.replace("= 1", "= 1001")),
            "trees.toml: line 4: depth 1001 is over 1000",
        ),
        (format!("rules_version = 1\n{good}{}", good.replace("souakim", "chess")), "chess: No such file or directory"),
        (format!("rules_version = 1\n{good}{}", good.replace("souakim", "broken.json")), "broken.json: turn: 6 is not"),
    ] {
        fs::write(&path, &text).expect("written");
        let line = refusal(&["perft", name, "--update"]);
        let begin = format!("dervish: {}", folder.path().display());
        assert!(line.starts_with(&begin) && line.contains(expected), "{expected}: {line}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
    }
    fs::remove_file(&path).expect("a file");
    let line = refusal(&["perft", name, "--update"]);
    assert!(line.starts_with(&format!("dervish: {name}: ")), "{line}");
    assert!(!path.exists());
}
