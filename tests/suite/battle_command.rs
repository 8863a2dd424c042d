//! `dervish battle`: the worked example through a file, the shape of the answers, and what is refused.

use std::io::Write;

use dervish_training::commands::battle::{Battle, EXAMPLE};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::dervish_binary::{dervish, json_of, refusal};

/// Abu Klea (seed 002), all four rolls.
fn abu_klea() -> Value {
    json!({
        "month": 1,
        "marching": {
            "side": "egyptian",
            "units": [
                {"kind": "camel_corps", "count": 3, "disrupted": 0},
                {"kind": "british_infantry", "count": 1, "disrupted": 0},
                {"kind": "supply", "count": 1, "disrupted": 0},
                {"kind": "camel", "count": 1, "disrupted": 0}
            ],
            "leader": {"name": "stewart", "use": "melee"},
            "flag": false
        },
        "defending": {
            "side": "mahdist",
            "units": [
                {"kind": "mahdist_spearmen", "count": 6, "disrupted": 0},
                {"kind": "mahdist_rifles", "count": 1, "disrupted": 0}
            ],
            "leader": null,
            "flag": false
        },
        "hex": {"ground": "desert", "relief": null, "place": "oasis", "river": false, "sea": false},
        "from": {"ground": "desert", "relief": null, "place": null, "river": false, "sea": false},
        "dice": {"fire": {"marching": 9, "defending": 10}, "melee": {"marching": 7, "defending": 7}}
    })
}

fn report(battle: &Value) -> Value {
    let battle = Battle::parse(&battle.to_string()).expect("a battle");
    serde_json::to_value(battle.report().expect("all rolls are there")).expect("JSON")
}

/// The odds as a reader of the command's output has them.
fn odds(battle: &Value) -> Value {
    let odds = Battle::parse(&battle.to_string()).expect("a battle").odds();
    serde_json::from_str(&serde_json::to_string(&odds).expect("JSON")).expect("JSON")
}

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn printed(args: &[&str]) -> String {
    let output = dervish(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The rows of the tables in a text, cell by cell.
fn rows_of(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('│'));
    rows.map(|row| row.trim_matches('│').split('┆').map(str::trim).collect()).collect()
}

#[test]
fn the_example_in_the_help_can_be_fought() {
    let (_, json) = EXAMPLE.split_once("\n\n").expect("a sentence before it");
    let example: Value = serde_json::from_str(json).expect("JSON");
    // Spearmen do not fire, so the marching side has no test under fire (9.3) and its roll is null.
    assert_eq!(report(&example)["fire"]["marching"], Value::Null);
    let help = String::from_utf8(dervish(&["battle", "--help"]).stdout).expect("UTF-8");
    assert!(help.contains(EXAMPLE), "{help}");
    // Every field of the format is shown.
    let fields = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    for path in ["", "/marching", "/hex", "/dice"] {
        assert_eq!(fields(example.pointer(path).expect(path)), fields(abu_klea().pointer(path).expect(path)));
    }
}

#[test]
fn abu_klea_as_the_example_tells_it() {
    let expected = json!({
        "fire": {
            "marching": {"modifier": 1, "total": 10, "flag": 0, "results": {"R": "steady", "V": "good"}},
            "defending": {"modifier": -1, "total": 9, "flag": 0, "results": {"F": "steady"}}
        },
        "melee": {
            "marching": {"modifier": 1, "total": 8, "flag": 0, "results": {"R": "hold", "V": "steady"}},
            "defending": {"modifier": 3, "total": 10, "flag": 0, "results": {"F": "steady"}}
        },
        "losses": {
            "marching": {"start": 6, "destroyed": 2, "disrupted": 1, "left": 4},
            "defending": {"start": 7, "destroyed": 0, "disrupted": 4, "left": 7}
        },
        "broken": {"marching": true, "defending": true},
        "outcome": "draw",
        "survivors": {
            "marching": [
                {"kind": "british_infantry", "good": 0, "disrupted": 1},
                {"kind": "camel_corps", "good": 3, "disrupted": 0}
            ],
            "defending": [
                {"kind": "mahdist_spearmen", "good": 3, "disrupted": 3},
                {"kind": "mahdist_rifles", "good": 0, "disrupted": 1}
            ]
        }
    });
    assert_eq!(report(&abu_klea()), expected);
    let file = file(&abu_klea().to_string());
    let path = file.path().to_str().expect("UTF-8");
    assert_eq!(json_of(&["battle", path, "--json"]), expected);
    // The same as people read it.
    let text = printed(&["battle", path]);
    for row in [
        &["", "egyptian (marching)", "mahdist (defending)"][..],
        &["test under fire", "2D6 +1 is 10", "2D6 -1 is 9"],
        &["", "R steady", "F steady"],
        &["", "V good", ""],
        &["test in melee", "2D6 +1 is 8", "2D6 +3 is 10"],
        &["destroyed", "2", "0"],
        &["left", "4", "7"],
        &["of these disrupted", "1", "4"],
        &["broken", "yes", "yes"],
        &["survivors", "1 british_infantry, 1 disrupted", "6 mahdist_spearmen, 3 disrupted"],
        &["", "3 camel_corps", "1 mahdist_rifles, 1 disrupted"],
    ] {
        assert!(rows_of(&text).iter().any(|of| of == row), "{row:?} is missing:\n{text}");
    }
    assert!(text.ends_with("\nnobody wins\n"), "{text}");
}

#[test]
fn the_odds_are_probabilities() {
    let odds = odds(&abu_klea());
    let sum = |value: &Value| -> f64 { value.as_array().expect("a list").iter().filter_map(Value::as_f64).sum() };
    for (side, units) in [("marching", 6), ("defending", 7)] {
        for losses in ["destroyed", "disrupted"] {
            let list = &odds["losses"][side][losses];
            assert_eq!(list.as_array().expect("a list").len(), units + 1, "0 to all of them");
            assert!((sum(list) - 1.0).abs() < 1e-12, "{side} {losses}");
        }
    }
    let outcome = odds["outcome"].as_object().expect("an object");
    assert!((outcome.values().filter_map(Value::as_f64).sum::<f64>() - 1.0).abs() < 1e-12);
    assert_eq!(outcome.len(), 3);
    // The file's dice are left out of account, and need not be there.
    let mut battle = abu_klea();
    battle.as_object_mut().expect("an object").remove("dice");
    let file = file(&battle.to_string());
    assert_eq!(json_of(&["battle", file.path().to_str().expect("UTF-8"), "--odds", "--json"]), odds);
}

/// One levy against one spearman, by hand: a result that costs the levy anything is R below 10 (30/36); the spearman's
/// odds are 2:1, so his rolls up to 7 (21/36) cost him.
#[test]
fn odds_by_hand() {
    let battle = json!({
        "month": 6,
        "marching": {"side": "egyptian", "units": [{"kind": "levy", "count": 1, "disrupted": 0}]},
        "defending": {"side": "mahdist", "units": [{"kind": "mahdist_spearmen", "count": 1, "disrupted": 0}]},
        "hex": {"ground": "clear"}
    });
    let odds = odds(&battle);
    let close = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    };
    close(&odds["outcome"]["marching"], 6.0 / 36.0 * 21.0 / 36.0);
    close(&odds["outcome"]["defending"], 30.0 / 36.0 * 15.0 / 36.0);
    close(&odds["losses"]["marching"]["destroyed"][1], 21.0 / 36.0);
    close(&odds["losses"]["defending"]["disrupted"][1], 11.0 / 36.0);
    // As people read it: 126, 450 and 720 of 1296 throws; the levy is destroyed by 21 of 36 and disrupted by 9, the spearman by 10
    // and by 11.
    let file = file(&battle.to_string());
    let text = printed(&["battle", file.path().to_str().expect("UTF-8"), "--odds"]);
    let expected: [&[&str]; 9] = [
        &["winner", "probability"],
        &["egyptian (marching)", "9.7%"],
        &["mahdist (defending)", "34.7%"],
        &["nobody", "55.6%"],
        &["land units", "egyptian (marching)", "egyptian (marching)", "mahdist (defending)", "mahdist (defending)"],
        &["", "destroyed", "disrupted", "destroyed", "disrupted"],
        &["0", "41.7%", "75.0%", "72.2%", "69.4%"],
        &["1", "58.3%", "25.0%", "27.8%", "30.6%"],
        &["mean", "0.58", "0.25", "0.28", "0.31"],
    ];
    assert_eq!(rows_of(&text), expected, "{text}");
}

/// Numbers of units that cannot come up have no row: six against one are seven rows at most, and no roll of the one spearman
/// destroys more than two of the six (9.7: 2N of N = 1).
#[test]
fn the_table_of_odds_has_what_can_come_up() {
    let battle = json!({
        "month": 6,
        "marching": {"side": "egyptian", "units": [{"kind": "levy", "count": 6, "disrupted": 0}]},
        "defending": {"side": "mahdist", "units": [{"kind": "mahdist_spearmen", "count": 1, "disrupted": 0}]},
        "hex": {"ground": "clear"}
    });
    let file = file(&battle.to_string());
    let text = printed(&["battle", file.path().to_str().expect("UTF-8"), "--odds"]);
    let counts: Vec<&str> =
        rows_of(&text).into_iter().map(|row| row[0]).filter(|of| of.parse::<u32>().is_ok()).collect();
    assert_eq!(counts, ["0", "1", "2"], "{text}");
}

#[test]
fn tests_not_called_for_are_null() {
    let mut battle = abu_klea();
    // Spearmen alone do not fire: the marching side does not test. Its roll is superfluous.
    battle["defending"]["units"] = json!([{"kind": "mahdist_spearmen", "count": 6, "disrupted": 0}]);
    let report = report(&battle);
    assert_eq!(report["fire"]["marching"], Value::Null);
    assert!(report["fire"]["defending"].is_object());
}

#[test]
fn the_flag_stands_beside_the_total() {
    let mut battle = abu_klea();
    battle["marching"]["flag"] = json!(true);
    battle["marching"]["units"][2] = json!({"kind": "rifle_l", "count": 1, "disrupted": 1});
    let report = report(&battle);
    assert_eq!(report["fire"]["marching"]["flag"], 1);
    assert_eq!(report["fire"]["marching"]["total"], 10);
    // 10 with the flag is 11: R steady, L good.
    assert_eq!(report["fire"]["marching"]["results"], json!({"L": "good", "R": "steady", "V": "good"}));
    assert!(!report["survivors"].to_string().contains("flag"));
}

#[test]
fn vessels_survive_uncounted() {
    let mut battle = abu_klea();
    battle["marching"]["units"][3] = json!({"kind": "gunboat", "count": 2});
    let report = report(&battle);
    assert_eq!(report["losses"]["marching"]["start"], 5);
    let survivors = report["survivors"]["marching"].as_array().expect("a list");
    assert!(survivors.contains(&json!({"kind": "gunboat", "good": 2, "disrupted": 0})));
}

#[test]
fn a_missing_roll_that_is_called_for_is_an_error() {
    for (round, side) in [("fire", "marching"), ("fire", "defending"), ("melee", "marching"), ("melee", "defending")] {
        let mut battle = abu_klea();
        battle["dice"][round].as_object_mut().expect("an object").remove(side);
        let file = file(&battle.to_string());
        let path = file.path().to_str().expect("UTF-8");
        let line = refusal(&["battle", path]);
        assert!(line.contains(&format!("dice.{round}.{side}")) && line.contains(path), "{line}");
    }
}

#[test]
fn bad_battles_are_refused_with_field_and_line() {
    let levies = |count: u32, disrupted: u32| json!({"kind": "levy", "count": count, "disrupted": disrupted});
    // (where, what is put there, parts of the reason)
    let cases = [
        ("/month", json!(13), vec!["month", "13", "line"]),
        ("/month", json!("May"), vec!["month", "line"]),
        ("/marching/side", json!("british"), vec!["marching.side", "british", "line"]),
        ("/marching/side", json!("mahdist"), vec!["defending.side", "mahdist"]),
        ("/marching/units/0/kind", json!("zouaves"), vec!["marching.units[0].kind", "zouaves", "line"]),
        ("/marching/units/0/kind", json!("mahdist_gun"), vec!["marching.units[0].kind", "mahdist_gun"]),
        ("/marching/units/0", levies(300, 0), vec!["marching.units[0].count", "300", "line"]),
        ("/marching/units/1", levies(2, 3), vec!["marching.units[1].disrupted", "3 of 2"]),
        ("/marching/units/0", json!({"kind": "levy", "count": -1}), vec!["marching.units[0].count", "-1"]),
        ("/marching/units/0", json!({"kind": "levy"}), vec!["marching.units[0]", "count"]),
        ("/marching/units", json!([levies(200, 0), levies(56, 0)]), vec!["marching.units[1].count", "255"]),
        ("/marching/units", json!([{"kind": "gunboat", "count": 1}]), vec!["marching.units", "no land unit"]),
        ("/marching/units", json!([]), vec!["marching.units", "no land unit"]),
        ("/marching/units/0", json!({"kind": "flag", "count": 1}), vec!["marching.units[0].kind", "flag"]),
        ("/marching/units/0", json!({"kind": "boat", "count": 2, "disrupted": 1}), vec!["disrupted", "boat"]),
        ("/marching/leader/name", json!("mahdi"), vec!["marching.leader.name", "mahdi"]),
        ("/marching/leader/name", json!("kitchener"), vec!["marching.leader.name", "kitchener", "line"]),
        ("/marching/leader/use", json!("both"), vec!["marching.leader.use", "both", "line"]),
        ("/defending/flag", json!(true), vec!["defending.flag", "mahdist"]),
        ("/hex/place", json!("city"), vec!["hex.place", "city", "line"]),
        ("/hex/relief", json!("flat"), vec!["hex.relief", "flat", "line"]),
        ("/hex/ground", json!("sea"), vec!["hex.ground", "sea", "line"]),
        ("/dice/fire/marching", json!(13), vec!["dice.fire.marching", "13", "line"]),
        ("/dice/melee/defending", json!(1), vec!["dice.melee.defending", "1", "line"]),
        ("/hex", json!({"ground": "clear", "rivers": true}), vec!["hex.rivers", "unknown field", "line"]),
        ("/dice", json!({"retreat": {}}), vec!["dice.retreat", "unknown field", "line"]),
    ];
    for (at, value, names) in cases {
        let mut battle = abu_klea();
        *battle.pointer_mut(at).expect("the field is there") = value;
        let text = serde_json::to_string_pretty(&battle).expect("JSON");
        let error = Battle::parse(&text).and_then(|battle| battle.report().map(|_| ()));
        let line = error.expect_err(at).to_string();
        for name in names {
            assert!(line.contains(name), "{at}: `{name}` is not in: {line}");
        }
        assert!(!line.contains('\n'), "{line}");
    }
}

#[test]
fn the_line_is_that_of_the_fault() {
    let text = "{\n  \"month\": 1,\n  \"marching\": {\n    \"side\": \"egyptian\",\n    \"commander\": 1\n  }\n}\n";
    let error = Battle::parse(text).expect_err("unknown field").to_string();
    assert!(error.contains("marching.commander") && error.contains("at line 5"), "{error}");
}

#[test]
fn what_is_no_battle_is_refused() {
    assert!(refusal(&["battle", "/nowhere/battle.json"]).contains("/nowhere/battle.json"));
    for text in ["", "{", "[]", "null", "{\"month\": 1}", "\u{0}", "{} {}"] {
        let file = file(text);
        let path = file.path().to_str().expect("UTF-8");
        assert!(refusal(&["battle", path]).contains(path), "{text:?}");
        assert!(refusal(&["battle", path, "--odds"]).contains(path), "{text:?}");
    }
    let trailing = file(&format!("{} {{}}", abu_klea()));
    refusal(&["battle", trailing.path().to_str().expect("UTF-8")]);
    let mut binary = NamedTempFile::new().expect("a temporary file");
    binary.write_all(&[0xff, 0xfe, 0x00]).expect("written");
    refusal(&["battle", binary.path().to_str().expect("UTF-8")]);
}

#[test]
fn counts_beyond_the_pool_are_fought() {
    let mut battle = abu_klea();
    battle["marching"]["units"] = json!([
        {"kind": "british_infantry", "count": 200, "disrupted": 100},
        {"kind": "british_gun", "count": 200},
        {"kind": "supply", "count": 255, "disrupted": 255}
    ]);
    battle["defending"]["units"] = json!([{"kind": "mahdist_spearmen", "count": 255, "disrupted": 5}]);
    let report = report(&battle);
    assert_eq!(report["losses"]["marching"]["start"], 655);
    // 300 firing units, all of them veterans: -1; 200 guns: -1; 600 factors: -100; oasis +1.
    assert_eq!(report["fire"]["defending"]["modifier"], -101);
    assert_eq!(report["losses"]["defending"]["left"], 0);
}
