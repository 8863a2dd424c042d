//! `dervish replay` as its users call it. What the rules make of a record is tested in `record`.

use dervish_env::chance::Dice;
use dervish_env::game::{Action, Outcome, Position};
use dervish_env::record::{Record, Replay};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, Pig};

use crate::dervish_binary::{dervish, refusal};

/// Holding at once on both sides, with the 4, 5 and 6 thrown first.
fn short_record() -> Record {
    let mut record = Record::begin(&Pig::new(), 1, ["a", "b"]);
    let mut position = Pig::new();
    for face in [4, 5, 6] {
        record.push_roll(&position, Outcome(face));
        position.resolve_possible(Outcome(face));
        record.push_action(&position, HOLD);
        position.apply_legal(HOLD);
    }
    record
}

#[test]
fn a_record_is_checked_stepped_through_and_forked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (game, fork) = (path("game.record"), path("fork.record"));
    short_record().write(game.as_ref()).expect("written");

    let told = |args: &[&str]| {
        let output = dervish(&[&["replay"], args].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(told(&[&game]), "6 of 6 decisions and rolls are right; waiting for a roll: throw of second\n");
    let steps = told(&[&game, "--to", "2", "--steps", "--fork", &fork]);
    assert_eq!(
        steps,
        "1\troll throw 4\tthrow of first\n2\tfirst hold\troll or hold for first at 4\n\
         2 of 6 decisions and rolls are right; waiting for a roll: throw of second\n"
    );
    let forked = Record::read(fork.as_ref()).expect("the fork");
    assert_eq!(forked.plies(), &short_record().plies()[..2]);
    let mut replay = Replay::new(forked, Pig::new()).expect("pig");
    replay.verify().expect("a good record");
    // Dice of the fork have counted the throw that was read.
    let (_, position, mut dice) = replay.fork();
    let mut same = Dice::new(1);
    same.pass(&Pig::new());
    assert_eq!(dice.roll(&position), same.roll(&position));
}

/// Four in a row for the first and for the second player, by hand: each margin is the winner's.
#[test]
fn a_margin_is_told_as_the_winner_sees_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (columns, winner) in [("1122334", "yellow"), ("71122334", "red")] {
        let mut position = ConnectFour::new();
        let mut record = Record::begin(&position, 1, ["a", "b"]);
        for column in columns.bytes() {
            let action = Action(u16::from(column - b'1'));
            record.push_action(&position, action);
            position.apply_legal(action);
        }
        record.finish(&position);
        let path = folder.path().join(format!("{winner}.record"));
        record.write(&path).expect("written");
        let output = dervish(&["replay", path.to_str().expect("UTF-8")]);
        let told = String::from_utf8(output.stdout).expect("UTF-8");
        let plies = columns.len();
        let right = format!("{plies} of {plies} decisions and rolls are right; won by {winner}, margin 1.00: ");
        assert!(told.starts_with(&right), "{told}");
    }
}

#[test]
fn a_wrong_record_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.record").display().to_string();
    let damaged = short_record().to_string().replace("second hold", "second stand");
    std::fs::write(&path, damaged).expect("written");
    // Eight header lines, then the third decision or roll and its answer.
    let line = refusal(&["replay", &path]);
    assert!(line.contains("line 12: illegal action stand"), "{line}");
    assert!(refusal(&["replay", &path, "--to", "7"]).contains("6 plies, not 7"));
    assert!(refusal(&["replay", &folder.path().join("none").display().to_string()]).contains("none"));
}

/// Neither its record, by whatever name, nor another file.
#[test]
fn a_fork_takes_the_place_of_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.record");
    short_record().write(&path).expect("written");
    let (same, mine) = (folder.path().join(".").join("game.record"), folder.path().join("mine.toml"));
    std::fs::write(&mine, "mine").expect("written");
    let record = path.to_str().expect("UTF-8");
    for fork in [&path, &same, &mine] {
        let refused = refusal(&["replay", record, "--to", "2", "--fork", fork.to_str().expect("UTF-8")]);
        assert!(refused.contains("--fork: ") && refused.contains("exists; name a new file"), "{refused}");
    }
    assert_eq!(Record::read(&path).expect("as it was"), short_record());
    assert_eq!(std::fs::read_to_string(&mine).expect("as it was"), "mine");
}

/// The record names its scenario, but only who played knows where the file lies.
#[test]
fn a_record_of_a_scenario_file_asks_for_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_string();
    let souakim = include_str!("../../env/data/dervish/scenarios/souakim.toml");
    let (scenario, out) = (path("own.toml"), path("out"));
    std::fs::write(&scenario, souakim.replace("name = \"souakim\"", "name = \"own\"")).expect("a file");
    let played = dervish(&["match", "random", "random:seed=1", "--scenario", &scenario, "--games", "2", "--out", &out]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let record = format!("{out}/games/00000.record");
    let line = refusal(&["replay", &record]);
    assert!(line.contains("--scenario: 'own' does not come with the program: name the scenario file"), "{line}");
    assert!(dervish(&["replay", &record, "--scenario", &scenario]).status.success());
}
