//! `dervish position` as its users call it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::dervish_binary::{dervish, dervish_reading, json_of, refusal, refusal_reading};

/// The tiny campaign in the Mahdist's march phase: two rifles at Zariba, two spearmen two hexes away.
const MARCH: &str = r#"{"format": 1, "game": "dervish", "scenario": "tiny",
  "turn": 1, "active": "mahdist", "phase": "march",
  "stacks": [
    {"hex": "Zariba", "units": [{"kind": "rifle_r", "count": 1}, {"kind": "rifle_l", "count": 1}]},
    {"hex": "0302", "units": [{"kind": "mahdist_spearmen", "count": 2}]}]}
"#;

/// A folder with the text in `position.json`.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("position.json");
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

/// The position after these moves from [`MARCH`].
fn after(moves: &[&str]) -> Value {
    let (_folder, path) = file(MARCH);
    json_of(&[&["position", "apply", &path], moves].concat())
}

/// A kept position that waits for a roll.
fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/positions").join(name)
}

#[test]
fn the_start_of_every_scenario_is_printed_and_sound() {
    for (scenario, month) in
        [("el-obeid", "1882-10"), ("khartoum", "1884-02"), ("souakim", "1884-02"), ("kordofan", "1882-10")]
    {
        let start = json_of(&["position", "new", "--scenario", scenario]);
        assert_eq!(start["format"], 1);
        assert_eq!([&start["scenario"], &start["month"], &start["phase"]], [scenario, month, "setup"]);
        let check = dervish_reading(&["position", "check", "-"], start.to_string().as_bytes());
        assert!(check.status.success() && check.stdout == b"ok\n" && check.stderr.is_empty(), "{check:?}");
    }
}

/// A hex is numbered row by row, 51 to a row, and the verbs follow 2,754 cells, 64 counts, 50 lines and 12 leaders;
/// `done` is the first of them.
#[test]
fn legal_orders_are_told_by_number_and_in_notation() {
    let (_folder, path) = file(MARCH);
    let legal = json_of(&["position", "legal", &path]);
    let expected = json!({
        "actor": "mahdist", "decision": "march_hex", "text": "a hex to march from, or done (8.1)",
        "actions": [{"id": 2 * 51 + 3, "text": "march 0302"}, {"id": 2754 + 64 + 50 + 12, "text": "march done"}],
    });
    assert_eq!(legal, expected);
    // Orders are given in notation; a number alone would be a roll.
    let help = String::from_utf8(dervish(&["position", "legal", "--help"]).stdout).expect("UTF-8");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("in the notation that `apply` takes, each with its number in the action space"), "{help}");
    // No roll is due.
    let chance = json_of(&["position", "chance", &path]);
    assert_eq!((&chance["roll"], &chance["total"], &chance["outcomes"]), (&Value::Null, &json!(0), &json!([])));
    // From standard input the same.
    let piped = dervish_reading(&["position", "legal", "-"], MARCH.as_bytes());
    assert_eq!(serde_json::from_slice::<Value>(&piped.stdout).expect("JSON"), expected);
}

/// The throws of two dice that give each sum; 9.11: doubles, six of the 36, sink a gunboat.
#[test]
fn outcomes_of_a_roll_are_told_with_their_weights() {
    let weights = |name: &str| {
        let file = kept(name);
        let chance = json_of(&["position", "chance", file.to_str().expect("UTF-8")]);
        let legal = json_of(&["position", "legal", file.to_str().expect("UTF-8")]);
        assert_eq!((&legal["actor"], &legal["actions"]), (&json!("chance"), &json!([])));
        assert_eq!(chance["text"], legal["text"]);
        let outcomes = chance["outcomes"].as_array().expect("a list").clone();
        let pairs =
            outcomes.iter().map(|outcome| [&outcome["outcome"], &outcome["weight"]].map(|n| n.as_u64().unwrap()));
        (chance["roll"].as_str().expect("a name").to_owned(), chance["total"].as_u64(), pairs.collect::<Vec<_>>())
    };
    let die = (1..=6).map(|face| [face, 1]).collect();
    assert_eq!(weights("el_obeid_roll_march.json"), ("roll_march".to_owned(), Some(6), die));
    let sums = (2..=12).map(|sum: u64| [sum, 6 - sum.abs_diff(7)]).collect();
    assert_eq!(weights("kordofan_roll_recovery.json"), ("roll_recovery".to_owned(), Some(36), sums));
    let bands = (0..12).map(|band| [10 * (band / 2 + 1) + 1 + 3 * (band % 2), 3]).collect();
    assert_eq!(weights("kordofan_roll_event.json"), ("roll_event".to_owned(), Some(36), bands));
    let uneven = (3..=11).map(|sum: u64| [sum, 6 - sum.abs_diff(7) - u64::from(sum.is_multiple_of(2))]);
    let sinking = [[0, 6]].into_iter().chain(uneven).collect();
    assert_eq!(weights("el_obeid_roll_gunboat.json"), ("roll_gunboat".to_owned(), Some(36), sinking));
}

/// 8.31: a 4 lets the group march; 8.3: one clear hex to Dem. Then it halts, and since nobody can march again and a
/// village feeds four units at least (10.3), the Egyptian player turn begins.
#[test]
fn orders_and_rolls_lead_to_the_next_position() {
    let moved = after(&["march 0302", "march 0302 all", "4", "to 0301", "halt"]);
    assert_eq!(moved["stacks"][1], json!({"hex": "0301", "units": [{"kind": "mahdist_spearmen", "count": 2}]}));
    assert_eq!(moved["control"], json!({"Zariba": "egyptian", "Dem": "mahdist"}));
    assert_eq!((&moved["active"], &moved["pending"]), (&json!("egyptian"), &json!({"decision": "roll_event"})));
    // What is printed is read again.
    let legal = dervish_reading(&["position", "legal", "-"], moved.to_string().as_bytes());
    assert!(legal.status.success(), "{legal:?}");
    // An order and the beginning of it, an order without an alternative, capitals, and the ways to write a roll.
    for same in [
        ["march 0302 all", "4", "to 0301", "halt"],
        ["MARCH 0302  ALL", "roll 4", "To 0301", "halt"],
        ["march 0302 all", "d6 4", "to 0301", "halt"],
    ] {
        assert_eq!(after(&same), moved, "{same:?}");
    }
    assert_eq!(after(&["march 0302 all", "roll", "D6 4", "to 0301", "halt"]), moved);
}

/// Each D66 stands for its line of the event tables (4.1): 64 to 66 are one line.
#[test]
fn every_throw_of_a_line_of_the_event_table_is_the_same_roll() {
    let file = kept("kordofan_roll_event.json");
    let file = file.to_str().expect("UTF-8");
    let positions = ["64", "roll 65", "d66 66"].map(|roll| json_of(&["position", "apply", file, roll]));
    assert_eq!(positions[0], positions[1]);
    assert_eq!(positions[0], positions[2]);
    let file = kept("el_obeid_roll_gunboat.json");
    let file = file.to_str().expect("UTF-8");
    let sunk = ["doubles", "roll doubles", "2d6 doubles"].map(|roll| json_of(&["position", "apply", file, roll]));
    assert_eq!(sunk[0]["gunboats_lost"], json!({"gunboat": 1}));
    assert_eq!([&sunk[1], &sunk[2]], [&sunk[0]; 2]);
}

/// One line on standard error that names the move and what was expected, status 2, no position.
#[test]
fn moves_that_cannot_be_played_are_refused() {
    let (_folder, march) = file(MARCH);
    let roll = |name: &str| kept(name).to_str().expect("UTF-8").to_owned();
    let (event, recovery) = (roll("kordofan_roll_event.json"), roll("kordofan_roll_recovery.json"));
    let gunboat = roll("el_obeid_roll_gunboat.json");
    for (file, moves, number, expected) in [
        (&march, &["march 0101"][..], 1, "expected one of 2 orders such as 'march 0302'"),
        (&march, &["march 9999"], 1, "expected one of 2 orders"),
        (&march, &["march"], 1, "expected one of 2 orders"),
        (&march, &[""], 1, "expected one of 2 orders"),
        (&march, &["4"], 1, "expected one of 2 orders"),
        (&march, &["march 0302 all", "7"], 2, "expected a D6 of 1 to 6 for march roll at 0302, modifier +0 (8.31)"),
        (&march, &["march 0302 all", "0"], 2, "expected a D6 of 1 to 6"),
        (&march, &["march 0302 all", "four"], 2, "expected a D6 of 1 to 6"),
        (&march, &["march 0302 all", "2d6 4"], 2, "expected a D6 of 1 to 6"),
        (&march, &["march 0302 all", "4", "to 0101"], 3, "for where the group at 0302 marches (8.2)"),
        (&march, &["march 0302 all", "4", "to 0301", "halt", "halt"], 5, "expected a D66 of 11 to 66"),
        (&event, &["17"], 1, "expected a D66 of 11 to 66"),
        (&event, &["266"], 1, "expected a D66 of 11 to 66"),
        (&event, &["99999999999"], 1, "expected a D66 of 11 to 66"),
        (&recovery, &["1"], 1, "expected a 2D6 of 2 to 12"),
        (&recovery, &["13"], 1, "expected a 2D6 of 2 to 12"),
        (&recovery, &["doubles"], 1, "expected a 2D6 of 2 to 12"),
        (&gunboat, &["2"], 1, "expected `doubles` or another 2D6 of 3 to 11"),
        (&gunboat, &["12"], 1, "expected `doubles` or another 2D6 of 3 to 11"),
    ] {
        let line = refusal(&[&["position", "apply", file], moves].concat());
        let text = moves[number - 1];
        assert!(line.starts_with(&format!("dervish: move {number}, `{text}`: ")) && line.contains(expected), "{line}");
    }
    assert!(refusal(&["position", "apply", &march]).contains("<MOVE|ROLL>"));
}

/// Every task refuses a file that is no position, says which file and where in it, and leaves it as it is.
#[test]
fn files_that_are_no_positions_are_refused() {
    let changed = |from: &str, to: &str| {
        assert!(MARCH.contains(from), "{from}");
        MARCH.replacen(from, to, 1)
    };
    for (text, expected) in [
        (String::new(), ":1: EOF while parsing a value"),
        ("march".to_owned(), ":1: expected value"),
        ("[]".to_owned(), ":1: "),
        (changed("\"turn\": 1,", "\"turn\": 1"), ":2: expected `,` or `}`"),
        (changed("\"format\": 1", "\"format\": 2"), ": format 2 is unknown, not 1"),
        (changed("\"game\": \"dervish\"", "\"game\": \"chess\""), "chess"),
        (changed("\"turn\": 1", "\"rules_version\": 99, \"turn\": 1"), ": rules_version: 99 is not "),
        (changed("\"turn\": 1", "\"turn\": -1"), ":2: invalid value: integer `-1`"),
        (changed("\"turn\": 1", "\"weather\": \"dry\", \"turn\": 1"), ":2: unknown field `weather`"),
        (changed("\"phase\": \"march\"", "\"phase\": \"tea\""), ":2: unknown variant `tea`"),
        (changed("\"rifle_l\"", "\"rifle_x\""), ":4: unknown variant `rifle_x`"),
        (changed("\"0302\"", "\"9302\""), ": stacks[1].hex: `9302` is neither a hex CCRR nor a place of the scenario"),
        (changed("\"0302\"", "\"0000\""), ": stacks[1].hex: 0000 "),
        (changed("\"Zariba\"", "\"0302\""), ": "),
        (changed("\"scenario\": \"tiny\"", "\"scenario\": \"nowhere.toml\""), "nowhere.toml: cannot be read"),
        (changed("\"scenario\": \"tiny\"", "\"scenario\": \"nowhere.toml\""), ": scenario: "),
    ] {
        let (folder, path) = file(&text);
        for task in [
            &["position", "check", &path][..],
            &["position", "legal", &path],
            &["position", "chance", &path],
            &["position", "apply", &path, "march done"],
            &["perft", &path, "2"],
            &["perft", &path, "2", "--json"],
            &["regret", &path],
        ] {
            let line = if task[1] == "check" { faults(task).swap_remove(0) } else { refusal(task) };
            let name = format!("dervish: {}/position.json:", folder.path().display());
            assert!(line.starts_with(&name) && line.contains(expected), "{task:?}: {line}");
        }
        assert_eq!(fs::read_to_string(&path).expect("still there"), text);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was written");
        // The same text from standard input.
        let line = refusal_reading(&["position", "legal", "-"], text.as_bytes());
        assert!(line.starts_with("dervish: standard input:"), "{line}");
    }
    for task in [&["position", "check"][..], &["position", "legal"], &["position", "chance"], &["perft"]] {
        let folder = tempfile::tempdir().expect("a folder");
        let (missing, folder) = (folder.path().join("none.json"), folder.path());
        for path in [missing.as_path(), folder] {
            let path = path.to_str().expect("UTF-8");
            let depth: &[&str] = if task == ["perft"] { &["1"] } else { &[] };
            let line = refusal(&[task, &[path], depth].concat());
            assert!(line.starts_with(&format!("dervish: {path}: ")), "{line}");
        }
        assert_eq!(fs::read_dir(folder).expect("a folder").count(), 0);
    }
    let line = refusal_reading(&["position", "legal", "-"], &[0xff, 0xfe]);
    assert!(line.starts_with("dervish: standard input: "), "{line}");
}

/// The lines on standard error of a check that finds faults; status 2, nothing on standard output.
fn faults(args: &[&str]) -> Vec<String> {
    let output = dervish(args);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{args:?}");
    String::from_utf8(output.stderr).expect("UTF-8").lines().map(str::to_owned).collect()
}

/// `check` tells every fault on a line of its own; the others tell the first and how many more there are.
#[test]
fn check_tells_every_fault() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/bad_positions/several_faults.json");
    let expected = fs::read_to_string(file.replace(".json", ".faults")).expect("beside it");
    let expected: Vec<String> =
        expected.lines().map(|line| line.replacen("-", &format!("dervish: {file}"), 1)).collect();
    assert_eq!(faults(&["position", "check", file]), expected);
    let line = refusal(&["position", "legal", file]);
    assert_eq!(line.trim_end(), format!("{} (and {} more)", expected[0], expected.len() - 1));
}

/// Of a long piece of a file, both ends are told.
#[test]
fn faults_that_quote_a_file_at_length_are_shortened() {
    let long = "é".repeat(100_000);
    for quoted in ["\"0302\"", "\"march\"", "\"tiny\"", "\"rifle_l\"", "\"turn\"", "\"dervish\""] {
        assert!(MARCH.contains(quoted), "{quoted}");
        let (_folder, path) = file(&MARCH.replacen(quoted, &format!("\"{long}\""), 1));
        let told = faults(&["position", "check", &path]);
        assert!(told.iter().any(|line| line.contains("éééé...")), "{quoted}: {told:?}");
        assert!(told.iter().all(|line| line.chars().count() < 1500), "{quoted}");
    }
}

#[test]
fn unknown_scenarios_have_no_start() {
    let line = refusal(&["position", "new", "--scenario", "chess"]);
    assert!(line.starts_with("dervish: chess: cannot be read"), "{line}");
    let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/data/bad_scenarios/several_faults.toml");
    let line = refusal(&["position", "new", "--scenario", bad]);
    assert_eq!(line.trim_end(), format!("dervish: {bad}:11: unknown field `wind` (and 3 more)"));
    assert!(refusal(&["position", "new"]).contains("--scenario <SCENARIO>"));
    for task in ["check", "legal", "chance"] {
        assert!(refusal(&["position", task]).contains("<FILE>"));
    }
}
