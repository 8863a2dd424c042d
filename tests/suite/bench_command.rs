//! `dervish bench` as its users call it: what it counts, and what it refuses.

use dervish_env::bench::measure_play;
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_training::commands::bench::COLUMNS;
use std::time::Duration;

use crate::dervish_binary::{dervish, json_of, refusal};

#[test]
fn every_game_that_is_named_is_measured() {
    let report = json_of(&["bench", "pig", "connect-four", "--seconds", "0.02", "--lanes", "40", "--json"]);
    let games = report["games"].as_array().expect("a list");
    assert_eq!(games.iter().map(|game| &game["game"]).collect::<Vec<_>>(), ["pig", "connect-four"]);
    assert_eq!(games[0]["aim"], 20e6);
    for game in games {
        assert!(game["play"]["decisions_per_second"].as_f64() > Some(0.0), "{game}");
        assert_eq!(game["vec_env"]["lanes"], 40);
        assert!(game["vec_env"]["scaling"].as_f64() > Some(0.0), "{game}");
    }
    let table = dervish(&["bench", "pig", "--seconds", "0.02"]);
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    assert!(table.contains("decisions/s") && table.contains("roll-or-hold"), "{table}");
    // What its columns are is said below it, and in the help.
    let help = String::from_utf8(dervish(&["bench", "--help"]).stdout).expect("UTF-8");
    for text in [&table, &help] {
        assert!(text.contains(COLUMNS), "{text}");
    }
}

/// A campaign has combats, whose exact odds are worked out once and then found again. How long that takes depends on machine
/// and build; that finding takes less than working out does not.
#[test]
fn exact_odds_are_measured_new_and_remembered() {
    let report = json_of(&["bench", "souakim", "pig", "--seconds", "0.05", "--lanes", "40", "--json"]);
    let odds = &report["games"][0]["odds"];
    let [combats, endings, new, known] =
        ["combats", "endings", "new_us", "known_us"].map(|figure| odds[figure].as_f64().expect("a number"));
    // In a hundred random games of five months some attack, and a combat has more than one ending.
    assert!(combats >= 10.0 && endings > 1.0, "{odds}");
    assert!(known > 0.0 && new > known, "{odds}");
    // A game without combats has none to measure.
    assert!(report["games"][1]["odds"].is_null(), "{report}");
    let table = dervish(&["bench", "souakim", "--seconds", "0.02", "--lanes", "40"]);
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    assert!(table.contains("odds"), "{table}");
}

#[test]
fn bad_arguments_are_refused() {
    assert!(refusal(&["bench", "chess"]).contains("chess"));
    assert!(refusal(&["bench", "pig", "--seconds", "0"]).contains("--seconds"));
    assert!(refusal(&["bench", "pig", "--threads", "0"]).contains("--threads"));
    assert!(refusal(&["bench", "pig", "--lanes", "-1"]).contains("'-1' for '--lanes <LANES>'"));
    // 300,000 games of khartoum, whose planes alone are hundreds of thousands of values of four bytes.
    let line = refusal(&["bench", "khartoum", "--seconds", "0.01", "--lanes", "300000"]);
    assert!(line.starts_with("dervish: --lanes: 300000 games at once take ") && line.contains(" MiB "), "{line}");
    assert!(refusal(&["bench", "pig", "--observe", "tokens,smells"]).contains("smells"));
}

#[test]
fn counts_add_up() {
    let speed = measure_play(&ConnectFour::new(), 1, Duration::from_millis(20));
    // A game of connect four has 7 to 42 moves and no rolls; a move into the last open column is forced.
    let moves = speed.decisions + speed.forced_moves;
    assert!((7 * speed.games..=42 * speed.games).contains(&moves), "{speed:?}");
    assert_eq!((speed.rolls, speed.canonical_bytes), (0, 16));
    assert!(speed.forced_moves < speed.decisions / 10);
    assert!((speed.decisions_per_second * speed.seconds - speed.decisions as f64).abs() < 1e-3 * moves as f64);

    let speed = measure_play(&Pig::new(), 1, Duration::from_millis(20));
    // Every decision is followed by a throw or by the first throw of the other side, and the game begins with one.
    assert!(speed.rolls >= speed.decisions + speed.games && speed.forced_moves == 0, "{speed:?}");
    assert_eq!((speed.position_bytes, speed.canonical_bytes), (5, 5));
}
