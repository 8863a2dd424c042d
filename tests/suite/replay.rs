//! The games that a run keeps: rounds on disk, what a kill leaves, and how often a game is learnt from.

use dervish_env::game::{Action, GameResult, Seat};
use dervish_training::self_play::game::{Decision, SelfPlayGame};
use dervish_training::self_play::replay::{Replay, ReplayError, ReplaySettings, latest_games};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn game(number: u64) -> SelfPlayGame {
    let decision = Decision { seat: Seat::First, action: Action(3), judgement: None };
    let result = GameResult { winner: None, margin: 0.0 };
    SelfPlayGame { number, scenario: 0, dice_seed: number, step: 0, decisions: vec![decision], opponent: None, result }
}

const SETTINGS: ReplaySettings =
    ReplaySettings { games_per_round: 4, window: 5, uses: 3, taught: 20, taught_uses: 5, seed: 9 };

fn open(folder: &Path, next: u64, whole_rounds: bool) -> Result<Replay, ReplayError> {
    Replay::open(folder, SETTINGS, next, whole_rounds)
}

fn numbers<G: Borrow<SelfPlayGame>>(games: &[G]) -> Vec<u64> {
    games.iter().map(|game| game.borrow().number).collect()
}

#[test]
fn every_game_is_learnt_from_as_often_as_is_set() {
    const ROUNDS: u64 = 60;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    let mut uses: BTreeMap<u64, u32> = BTreeMap::new();
    for round in 0..ROUNDS {
        for number in 4 * round..4 * round + 4 {
            assert_eq!(replay.push(game(number)).expect("kept"), number % 4 == 3);
        }
        let [own, older] = replay.lesson(round);
        assert_eq!(numbers(&own), (4 * round..4 * round + 4).collect::<Vec<_>>());
        for number in numbers(&own).into_iter().chain(numbers(&older)) {
            // Within five rounds of its own.
            assert!(number / 4 + 5 >= round);
            *uses.entry(number).or_default() += 1;
        }
        replay.forget_before(round + 1).expect("deleted");
    }
    // The last five rounds are not through yet. The first twenty games are a teacher's.
    let expected = |number| if number < 20 { 5 } else { 3 };
    assert!((0..4 * (ROUNDS - 5)).all(|number| uses[&number] == expected(number)), "{uses:?}");
    // On disk: the window and the file of the open round.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 6);
}

/// Killed between the last game of a round and the round's new name: the round is complete, and the next game begins another.
#[test]
fn a_round_that_was_full_when_the_kill_came_is_complete() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines: Vec<String> = (0..4).map(|number| serde_json::to_string(&game(number)).expect("JSON")).collect();
    fs::write(folder.path().join("open.jsonl"), lines.join("\n") + "\n").expect("a file");
    let mut replay = open(folder.path(), 0, false).expect("games");
    assert_eq!((replay.current(), replay.open_games()), (1, 0));
    assert_eq!(numbers(&replay.lesson(0)[0]), [0, 1, 2, 3]);
    replay.push(game(4)).expect("kept");
    drop(replay);
    let replay = open(folder.path(), 1, false).expect("games");
    assert_eq!((replay.current(), replay.open_games()), (1, 1));
    assert_eq!(numbers(&replay.lesson(0)[0]), [0, 1, 2, 3]);
}

#[test]
fn what_was_finished_survives_a_kill() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    for number in 0..10 {
        replay.push(game(number)).expect("kept");
    }
    drop(replay);
    // Killed while it wrote a line, before anything was learnt: two rounds wait, two games are open.
    let path = folder.path().join("open.jsonl");
    let text = fs::read_to_string(&path).expect("games");
    fs::write(&path, text.clone() + &text[..text.len() / 4]).expect("a file");
    let mut again = open(folder.path(), 0, false).expect("the games");
    assert_eq!((again.current(), again.open_games(), again.latest_number()), (2, 2, Some(9)));
    assert_eq!(numbers(&again.lesson(1)[0]), [4, 5, 6, 7]);
    // The cut line is gone, and the next game stands in a line of its own.
    again.push(game(10)).expect("kept");
    assert_eq!(fs::read_to_string(&path).expect("games").lines().count(), 3);
    drop(again);
    // Where rounds are played whole, an unfinished one is played anew.
    let whole = open(folder.path(), 2, true).expect("the games");
    assert_eq!((whole.current(), whole.open_games()), (2, 0));
    assert_eq!(fs::read_to_string(&path).expect("games"), "");
}

/// A kill between a checkpoint and the deletion of what is too old for it leaves files that nobody will ask for.
#[test]
fn rounds_that_are_too_old_go_when_a_run_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    for number in 0..4 * 9 {
        replay.push(game(number)).expect("kept");
    }
    drop(replay);
    // From round 8 on, rounds 3 to 8 are of use: the window is 5 rounds long.
    let again = open(folder.path(), 8, false).expect("the games");
    assert_eq!(numbers(&again.lesson(8)[0]), [32, 33, 34, 35]);
    let rounds = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with("round-");
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().filter(rounds).collect();
    assert_eq!(left.len(), 6, "{left:?}");
}

#[test]
fn damaged_files_are_named_with_their_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    for number in 0..9 {
        replay.push(game(number)).expect("kept");
    }
    drop(replay);
    let refusal = || open(folder.path(), 2, false).expect_err("a refusal").to_string();
    let path = folder.path().join("round-00000001.jsonl");
    let text = fs::read_to_string(&path).expect("games");
    fs::write(&path, &text[..text.len() - 20]).expect("a file");
    assert!(refusal().contains("round-00000001.jsonl:4: not a game"), "{}", refusal());
    let three: Vec<&str> = text.lines().take(3).collect();
    fs::write(&path, three.join("\n") + "\n").expect("a file");
    assert!(refusal().contains("3 games, not 4") && refusal().contains("take the file away"), "{}", refusal());
    // Without the file it goes on without its games.
    fs::remove_file(&path).expect("deleted");
    let replay = open(folder.path(), 2, false).expect("the games");
    assert_eq!((replay.current(), replay.lesson(1)[0].len(), replay.open_games()), (2, 0, 1));
    drop(replay);
    fs::write(folder.path().join("open.jsonl"), "{}\n").expect("a file");
    assert!(refusal().contains("open.jsonl:1: not a game"), "{}", refusal());
}

#[test]
fn the_latest_games_are_read_by_others() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert!(latest_games(folder.path(), 5, |_| true).expect("none").is_empty());
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    for number in 0..14 {
        replay.push(game(number)).expect("kept");
    }
    // Two games are open; for five and for six in all it takes one round more, for seven two.
    let latest = |least| numbers(&latest_games(folder.path(), least, |_| true).expect("games"));
    assert_eq!((latest(2), latest(5)), (vec![12, 13], (8..14).collect()));
    assert_eq!((latest(6), latest(7), latest(99)), ((8..14).collect(), (4..14).collect(), (0..14).collect()));
    // Only what is wanted counts: of even numbers two games are in a round.
    let even = latest_games(folder.path(), 4, |game| game.number.is_multiple_of(2)).expect("games");
    assert_eq!(numbers(&even), [4, 6, 8, 10, 12]);
    // Nothing is older than what was forgotten; a line that is being written is passed over.
    fs::remove_file(folder.path().join("round-00000001.jsonl")).expect("deleted");
    let open = folder.path().join("open.jsonl");
    fs::write(&open, fs::read_to_string(&open).expect("games") + "{\"numb").expect("a file");
    assert_eq!(latest(99), (8..14).collect::<Vec<_>>());
}

/// Files that are not of this run are named with what is wrong, and nothing is deleted; what has another name than a round gets
/// is passed over.
#[test]
fn rounds_that_do_not_belong_to_the_run_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut replay = open(folder.path(), 0, false).expect("no games yet");
    for number in 0..16 {
        replay.push(game(number)).expect("kept");
    }
    drop(replay);
    let names = || {
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).expect("a folder").flatten().map(|of| of.file_name()).collect();
        names.sort();
        names
    };
    let refusal = |next: u64, whole_rounds: bool| {
        let before = names();
        let line = open(folder.path(), next, whole_rounds).expect_err("a refusal").to_string();
        assert!(line.lines().count() == 1 && names() == before, "{line}");
        line
    };
    let round = |name: &str| folder.path().join(name);
    for name in ["round-4.jsonl", "round-+0000004.jsonl", "round-000000004.jsonl", "round-.jsonl"] {
        fs::copy(round("round-00000002.jsonl"), round(name)).expect("copied");
    }
    assert_eq!(open(folder.path(), 4, false).expect("the games").current(), 4);
    for (name, told) in [
        ("round-00000004.jsonl", "game 8 is of another round"),
        ("round-00000005.jsonl", "game 8 is of another round"),
        ("round-00000006.jsonl", "there are too few rounds between round 4 and this one"),
        ("round-100000000.jsonl", "there are too few rounds between round 4 and this one"),
        ("round-18446744073709551615.jsonl", "there are too few rounds between round 4 and this one"),
    ] {
        fs::copy(round("round-00000002.jsonl"), round(name)).expect("copied");
        let line = refusal(4, false);
        assert!(line.contains(&format!("{name}: {told}")) && line.contains("take the file away"), "{line}");
        fs::remove_file(round(name)).expect("deleted");
    }
    // Where rounds are played whole, a round has its own games, whoever else has none of them.
    let later: Vec<String> = (20..24).map(|number| serde_json::to_string(&game(number)).expect("JSON")).collect();
    fs::write(round("round-00000004.jsonl"), later.join("\n") + "\n").expect("a file");
    assert!(refusal(4, true).contains("round-00000004.jsonl: game 20 is of another round"), "{}", refusal(4, true));
    assert_eq!(open(folder.path(), 4, false).expect("the games").current(), 5);
    // A checkpoint that claims to be far ahead of all rounds.
    for next in [11, 1000, 1_000_000_000_000_000] {
        let told = format!("its latest games are of round 4, but the latest checkpoint goes on with round {next}");
        assert!(refusal(next, false).ends_with(&told), "{}", refusal(next, false));
    }
    assert_eq!(open(folder.path(), 10, false).expect("what a kill left").current(), 10);
}
