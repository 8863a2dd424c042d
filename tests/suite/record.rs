//! Records: text and back, replay, forks, and refusal of what is wrong.

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::game::{Actor, IllegalMove, Outcome, Position, Seat};
use dervish_env::record::{Ending, LineFault, Ply, Record, RecordError, Replay};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use proptest::prelude::*;

/// Plays a random game on a record, at most `plies` decisions and rolls.
fn random_game<P: Position>(start: P, seed: u64, plies: usize) -> (Record, P) {
    let mut record = Record::begin(&start, seed, ["random", "random:seed=7"]);
    let (mut position, mut dice, mut random) = (start, Dice::new(seed), SplitMix64::new(seed));
    play_on(&mut record, &mut position, &mut dice, &mut random, plies);
    (record, position)
}

fn play_on<P: Position>(record: &mut Record, position: &mut P, dice: &mut Dice, random: &mut SplitMix64, plies: usize) {
    let mut legal = Vec::new();
    for _ in 0..plies {
        match position.actor() {
            Actor::Player(_) => {
                position.legal_actions_into(&mut legal);
                let action = legal[random.below(legal.len())];
                record.push_action(position, action);
                position.apply_legal(action);
            }
            Actor::Chance => {
                let outcome = dice.roll(position);
                record.push_roll(position, outcome);
                position.resolve_possible(outcome);
            }
            Actor::Finished => break,
        }
    }
    record.finish(position);
}

/// A game of pig with its lines written out by hand.
const PIG: &str = "\
# A comment, and a blank line after it.

record: 1
game: pig
rules-version: 1
rules-hash: HASH
scenario:
seed: 42
seat: first random
seat: second hold-at:20
event: example
roll throw 4
first hold

# The second seat loses its turn.
roll throw 1
roll throw 6
unfinished
";

fn pig_text() -> String {
    PIG.replace("HASH", &Pig::new().identity().rules_hash)
}

/// The line and the fault of the first complaint, whether of the text or of the rules.
fn complaint(text: &str) -> (usize, LineFault) {
    let replayed = Record::parse(text).and_then(|record| Replay::new(record, Pig::new())?.verify());
    match replayed {
        Err(RecordError::Line { line, fault }) => (line, fault),
        other => panic!("expected a complaint about a line, found {other:?}"),
    }
}

#[test]
fn a_record_written_by_hand_is_read() {
    let record = Record::parse(&pig_text()).expect("a good record");
    assert_eq!(record.identity(), &Pig::new().identity());
    assert_eq!((record.seed(), record.extra("event"), record.extra("place")), (42, Some("example"), None));
    assert_eq!(record.seats()[1].agent, "hold-at:20");
    assert_eq!(record.plies()[0], Ply::Roll { kind: "throw".to_string(), outcome: Outcome(4) });
    assert_eq!(record.plies()[1], Ply::Decision { seat: Seat::First, text: "hold".to_string() });
    assert_eq!((record.plies().len(), record.ending()), (4, &Ending::Unfinished));

    let mut replay = Replay::new(record, Pig::new()).expect("a game of pig");
    assert_eq!(replay.verify().expect("good lines"), None);
    // 4 banked by the first seat, the second threw a 1, and the first runs 6.
    let position = replay.position();
    assert_eq!((position.banked(Seat::First), position.running(), position.turn_of()), (4, 6, Seat::First));
}

#[test]
fn a_wrong_line_is_refused_with_its_number_and_why() {
    let replaced = |from: &str, to: &str| complaint(&pig_text().replace(from, to));
    assert_eq!(replaced("record: 1", "record: 2"), (3, LineFault::Version("2".to_string())));
    assert_eq!(replaced("record: 1", "game: pig"), (3, LineFault::NotARecord));
    assert_eq!(replaced("seed: 42\n", ""), (11, LineFault::Missing("seed")));
    assert_eq!(replaced("seed: 42", "game: pig"), (8, LineFault::Repeated("game".to_string())));
    assert!(matches!(replaced("seed: 42", "seed: -1"), (8, LineFault::Value { key: "seed", .. })));
    assert!(matches!(replaced("seat: second", "seat: roll"), (10, LineFault::Value { key: "seat", .. })));
    assert_eq!(replaced("event:", "seat: third"), (11, LineFault::Repeated("seat".to_string())));
    assert_eq!(replaced("first hold", "third hold"), (13, LineFault::Unreadable("third hold".to_string())));
    assert_eq!(replaced("first hold", "first"), (13, LineFault::Unreadable("first".to_string())));
    assert_eq!(replaced("throw 4", "throw four"), (12, LineFault::Unreadable("roll throw four".to_string())));
    assert_eq!(replaced("first hold", "truncated"), (16, LineFault::AfterEnding));
    assert_eq!(replaced("unfinished\n", ""), (18, LineFault::CutOff));
    assert_eq!(replaced("throw 6\n", "throw 6"), (17, LineFault::Unreadable("roll throw 6unfinished".to_string())));
    assert_eq!(replaced("unfinished", "result first 2"), (18, LineFault::Unreadable("result first 2".to_string())));
    assert_eq!(replaced("unfinished", "forfeit third"), (18, LineFault::Unreadable("forfeit third".to_string())));
    assert!(matches!(replaced("seat: second", "seat: forfeit"), (10, LineFault::Value { key: "seat", .. })));
    assert_eq!(complaint(""), (1, LineFault::NotARecord));

    // What only the rules can tell.
    assert!(matches!(replaced("game: pig", "game: chess"), (4, LineFault::OtherGame { what: "game", .. })));
    assert!(matches!(replaced("rules-version: 1", "rules-version: 9"), (5, LineFault::OtherGame { .. })));
    assert!(matches!(replaced("rules-hash: ", "rules-hash: 0"), (6, LineFault::OtherGame { .. })));
    assert!(matches!(replaced("scenario:", "scenario: x"), (7, LineFault::OtherGame { what: "scenario", .. })));
    assert!(matches!(
        complaint(&pig_text().replace("second", "dealer")),
        (10, LineFault::OtherGame { what: "second seat", .. })
    ));
    assert!(matches!(
        replaced("first hold", "first stand"),
        (13, LineFault::Illegal(IllegalMove::NotLegal { action, .. })) if action == "stand"
    ));
    assert!(matches!(
        replaced("throw 6", "throw 7"),
        (17, LineFault::Illegal(IllegalMove::NotARoll { outcome: 7, .. }))
    ));
    assert!(matches!(replaced("first hold", "second hold"), (13, LineFault::OutOfTurn { .. })));
    assert!(matches!(replaced("first hold", "roll throw 3"), (13, LineFault::OutOfTurn { .. })));
    assert!(matches!(replaced("throw 4", "march 4"), (12, LineFault::OutOfTurn { .. })));
    assert_eq!(
        replaced("unfinished", "result second -0.25"),
        (18, LineFault::WrongEnding { expected: "unfinished".to_string(), found: "result second -0.25".to_string() })
    );
    let (_, fault) = replaced("first hold", "second hold");
    assert_eq!(fault.to_string(), "expected a decision of first (roll or hold for first at 4), found `second hold`");
}

#[test]
fn a_finished_game_must_end_with_its_result() {
    let (record, position) = random_game(Pig::new(), 5, usize::MAX);
    let winner = position.result().and_then(|result| result.winner).expect("pig has a winner");
    let text = record.to_string();
    assert!(text.contains(&format!("\nresult {} ", Pig::seat_name(winner))));
    let cut: String = text.lines().filter(|line| !line.starts_with("result")).map(|line| format!("{line}\n")).collect();
    for ending in ["unfinished", "truncated", "result draw 0", "forfeit first late"] {
        assert!(matches!(complaint(&format!("{cut}{ending}\n")), (_, LineFault::WrongEnding { .. })));
    }
}

#[test]
fn a_replay_seeks_and_forks() {
    let (record, end) = random_game(Pig::new(), 11, usize::MAX);
    let plies = record.plies().len();
    let mut replay = Replay::new(record.clone(), Pig::new()).expect("pig");
    assert_eq!(replay.seek(plies).expect("good lines"), &end);
    assert_eq!(replay.seek(0).expect("the start"), &Pig::new());
    assert!(matches!(replay.seek(plies + 1), Err(RecordError::PastEnd { asked, .. }) if asked == plies + 1));

    replay.seek(plies / 2).expect("good lines");
    let (mut fork, mut position, mut dice) = replay.fork();
    assert_eq!(fork.plies(), &record.plies()[..plies / 2]);
    assert_eq!((fork.ending(), &position), (&Ending::Unfinished, replay.position()));
    // The dice go on as in the original: the next throw, whoever makes it, is the recorded one.
    let next_roll = record.plies()[plies / 2..].iter().find_map(|ply| match ply {
        Ply::Roll { outcome, .. } => Some(*outcome),
        Ply::Decision { .. } => None,
    });
    while position.actor() != Actor::Chance {
        let text = match &record.plies()[fork.plies().len()] {
            Ply::Decision { text, .. } => text.clone(),
            Ply::Roll { .. } => unreachable!("the position decides"),
        };
        let action = position.parse_action(&text).expect("recorded");
        fork.push_action(&position, action);
        position.apply(action).expect("recorded");
    }
    assert_eq!(Some(dice.clone().roll(&position)), next_roll);
    // Another game from here is a good record of its own.
    play_on(&mut fork, &mut position, &mut dice, &mut SplitMix64::new(99), usize::MAX);
    assert_eq!(Replay::new(fork, Pig::new()).expect("pig").verify().expect("good lines"), position.result());
}

#[test]
fn a_file_is_written_whole_and_read_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.record");
    let (record, _) = random_game(ConnectFour::new(), 3, usize::MAX);
    record.write(&path).expect("written");
    assert_eq!(Record::read(&path).expect("read"), record);
    // Nothing but the record is left, and writing again replaces it.
    record.write(&path).expect("replaced");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
    assert!(matches!(record.write(&folder.path().join("none/game")), Err(RecordError::Write { .. })));
    assert!(matches!(Record::read(folder.path()), Err(RecordError::Read { .. })));
}

#[test]
fn header_values_stay_on_their_line() {
    let mut record = Record::begin(&Pig::new(), 1, ["two\nlines", ""]);
    record.set_extra("note", " a\r\n b ").expect("a good key");
    record.set_extra("note", " c\td ").expect("a good key");
    assert_eq!((record.seats()[0].agent.as_str(), record.extra("note")), ("two lines", Some("c d")));
    assert_eq!(Record::parse(&record.to_string()).expect("readable"), record);
    for key in ["", "seed", "Two", "a b", "a:b"] {
        assert_eq!(record.set_extra(key, "x"), Err(LineFault::Key(key.to_string())));
    }
}

proptest! {
    #[test]
    fn every_game_is_read_back_and_verified(seed: u64, plies in 0usize..200) {
        let (record, position) = random_game(Pig::new(), seed, plies);
        let read = Record::parse(&record.to_string()).expect("readable");
        prop_assert_eq!(&read, &record);
        prop_assert_eq!(Replay::new(read, Pig::new()).expect("pig").verify().expect("good"), position.result());

        let (record, position) = random_game(ConnectFour::new(), seed, plies);
        let read = Record::parse(&record.to_string()).expect("readable");
        prop_assert_eq!(&read, &record);
        prop_assert_eq!(
            Replay::new(read, ConnectFour::new()).expect("connect four").verify().expect("good"),
            position.result()
        );
    }

    /// Whatever is read is either refused or written back to an equal record; nothing panics.
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        let _ = Record::parse(&text);
    }

    #[test]
    fn damaged_records_never_panic(at in 0usize..260, length in 0usize..20, insert in "[ -~\\n\\té:#]{0,12}") {
        let mut characters: Vec<char> = pig_text().chars().collect();
        let from = at.min(characters.len());
        let to = (from + length).min(characters.len());
        characters.splice(from..to, insert.chars());
        let damaged: String = characters.into_iter().collect();
        if let Ok(record) = Record::parse(&damaged) {
            prop_assert_eq!(&Record::parse(&record.to_string()).expect("readable"), &record);
            if let Ok(mut replay) = Replay::new(record, Pig::new()) {
                let _ = replay.verify();
            }
        }
    }
}
