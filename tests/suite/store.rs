//! The file of results: what goes in comes out, nothing is counted twice, and no other file is touched.

use crate::dervish_binary::dervish;
use dervish_agents::limits::Limits;
use dervish_env::game::{Position, Seat};
use dervish_env::record::Forfeit;
use dervish_env::reference::pig::Pig;
use dervish_training::arena::match_play::{Contestant, Effort, GameOutcome, PlayedGame};
use dervish_training::arena::store::{MatchId, MatchIdentity, Store, StoreError, StoredRating};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn identity() -> MatchIdentity {
    MatchIdentity {
        game: Pig::new().identity(),
        seats: ["first".to_string(), "second".to_string()],
        agents: ["random:seed=0".to_string(), "random:seed=1".to_string()],
        fingerprints: [None, None],
        seed: u64::MAX,
        limits: Limits { simulations: Some(10), time: Some(Duration::from_millis(1500)), ..Limits::default() },
        max_decisions: None,
    }
}

fn pair(number: u32) -> [PlayedGame; 2] {
    // Drawn, won by the first seat, forfeited by it, cut off; then the same without a forfeit.
    let (winner, margin) =
        [(None, -0.1), (Some(Seat::First), 0.1), (Some(Seat::Second), -1.0), (None, 0.0)][number as usize % 4];
    [Contestant::A, Contestant::B].map(|first| PlayedGame {
        outcome: GameOutcome {
            game: 2 * number + first.index() as u32,
            first,
            dice_seed: u64::MAX - u64::from(number),
            winner,
            margin,
            decisions: 40 + number,
            truncated: number % 4 == 3,
            forfeit: (number == 2).then(|| Forfeit::new(Seat::First, "has left")),
            events_hash: 1 << 63 | u64::from(number),
            luck: (number != 1).then_some(0.1 + f64::from(number)),
        },
        events: Vec::new(),
        efforts: [
            Effort { decisions: 20, turns: 3, simulations: 1 << 36, seconds: 0.25 },
            Effort { decisions: 20 + u64::from(number), turns: u64::from(number), simulations: 0, seconds: 1e-9 },
        ],
    })
}

#[test]
fn what_goes_in_comes_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    let mut store = Store::open_or_create(&path).expect("a new file");
    let id = store.enter_match(&identity()).expect("entered");
    assert!(store.pairs_of(id).expect("readable").is_empty());
    for number in 0..4 {
        store.add_pair(id, &pair(number)).expect("written");
    }
    drop(store);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "one file holds everything");

    let mut store = Store::open(&path).expect("our file");
    assert_eq!(store.enter_match(&identity()).expect("known"), id);
    assert_eq!(store.pairs_of(id).expect("readable"), [pair(0), pair(1), pair(2), pair(3)]);
    let versions = store.versions().expect("readable");
    assert_eq!(versions.len(), 1);
    assert_eq!((&versions[0].identity, versions[0].scenario()), (&Pig::new().identity(), "pig"));
    let matches = store.matches_of(&versions[0]).expect("readable");
    assert_eq!((matches.len(), &matches[0].agents, matches[0].pairs.len()), (1, &identity().agents, 4));
    assert_eq!((matches[0].limits, matches[0].max_decisions), (identity().limits, None));

    let rating = |agent: &str, elo| StoredRating { agent: agent.to_string(), games: 8, elo };
    let few = vec![rating("random:seed=0", [1.5, -2.0, 5.0])];
    let more = vec![rating("mcts", [9.0, 8.0, 10.0]), rating("random:seed=1", [0.0, -1.0, 1.0])];
    let (bounded, free) = ((identity().limits, None), (Limits::default(), Some(100)));
    // Ratings take the place of those of the same bounds, and of no others.
    for (saved, of_bounded, of_free) in
        [((bounded, &more), &more, &vec![]), ((free, &few), &more, &few), ((bounded, &few), &few, &few)]
    {
        let ((limits, max_decisions), ratings) = saved;
        store.save_ratings(&versions[0], limits, max_decisions, ratings).expect("written");
        for ((limits, max_decisions), expected) in [(bounded, of_bounded), (free, of_free)] {
            let saved = store.saved_ratings(&versions[0], limits, max_decisions).expect("readable");
            assert_eq!(&saved, expected);
        }
    }
}

#[test]
fn whatever_a_match_depends_on_makes_it_another() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut store = Store::open_or_create(&folder.path().join("results.db")).expect("a new file");
    let mut ids = vec![store.enter_match(&identity()).expect("entered")];
    let changes: [&dyn Fn(&mut MatchIdentity); 8] = [
        &|identity| identity.seed = 0,
        &|identity| identity.agents.swap(0, 1),
        &|identity| identity.agents[1] = identity.agents[0].clone(),
        &|identity| identity.limits.simulations = None,
        &|identity| identity.limits.turn_time = Some(Duration::from_secs(1)),
        &|identity| identity.max_decisions = Some(100),
        &|identity| identity.game.rules_hash = "0000000000000000".to_string(),
        &|identity| identity.game.rules_version += 1,
    ];
    for change in changes {
        let mut changed = identity();
        change(&mut changed);
        let id = store.enter_match(&changed).expect("entered");
        assert!(!ids.contains(&id), "{changed:?}");
        assert_eq!(store.enter_match(&changed).expect("known"), id);
        ids.push(id);
    }
}

#[test]
fn no_game_is_counted_twice() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    let mut one = Store::open_or_create(&path).expect("a new file");
    let mut other = Store::open_or_create(&path).expect("the same file");
    let id = one.enter_match(&identity()).expect("entered");
    assert_eq!(other.enter_match(&identity()).expect("known"), id);
    one.add_pair(id, &pair(0)).expect("written");
    let twice = other.add_pair(id, &pair(0)).expect_err("it is there");
    assert!(matches!(twice, StoreError::Taken { game: 0, .. }), "{twice}");
    // Of a pair whose second game is there, the first is not written either.
    let [even, odd] = pair(1);
    let [_, there] = pair(0);
    let half = one.add_pair(id, &[even, there]).expect_err("its second game is there");
    assert!(matches!(half, StoreError::Taken { .. }), "{half}");
    assert_eq!(other.pairs_of(id).expect("readable"), [pair(0)]);
    // A gap is no match that could go on.
    let [even, _] = pair(2);
    one.add_pair(id, &[odd, even]).expect("written");
    assert!(matches!(one.pairs_of(id), Err(StoreError::Damaged { .. })));
}

/// With A and B exchanged a match has the same dice, pair by pair: its games would count twice.
#[test]
fn no_match_is_entered_the_other_way_round_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    let exchanged = || MatchIdentity { agents: ["random:seed=1", "random:seed=0"].map(str::to_string), ..identity() };
    let line = format!(
        "{}: holds this match with A and B exchanged, random:seed=0 against random:seed=1 on the same dice; ask for it that \
         way round, or give another seed",
        path.display()
    );
    let mut one = Store::open_or_create(&path).expect("a new file");
    let mut other = Store::open_or_create(&path).expect("the same file");
    let id = one.enter_match(&identity()).expect("entered");
    // Nobody has played yet: whoever writes the first pair is in, though the other has begun.
    let twin = other.enter_match(&exchanged()).expect("entered");
    one.add_pair(id, &pair(0)).expect("written");
    let late = other.add_pair(twin, &pair(0)).expect_err("the other one was faster");
    assert!(matches!(late, StoreError::Exchanged { .. }) && late.to_string() == line, "{late}");
    let refused = other.enter_match(&exchanged()).expect_err("the other way round");
    assert!(matches!(refused, StoreError::Exchanged { .. }) && refused.to_string() == line, "{refused}");
    // Nothing of it is there, and the match goes on.
    assert!(other.pairs_of(twin).expect("readable").is_empty());
    one.add_pair(id, &pair(1)).expect("written");
    assert_eq!(one.enter_match(&identity()).expect("known"), id);
    assert_eq!(one.pairs_of(id).expect("readable"), [pair(0), pair(1)]);
    // With whatever makes other games it is another match; an agent against itself has no other way round.
    let changes: [&dyn Fn(&mut MatchIdentity); 5] = [
        &|identity| identity.seed = 0,
        &|identity| identity.limits.simulations = None,
        &|identity| identity.max_decisions = Some(100),
        &|identity| identity.game.rules_version += 1,
        &|identity| identity.agents[0] = identity.agents[1].clone(),
    ];
    for change in changes {
        let mut changed = exchanged();
        change(&mut changed);
        let id = other.enter_match(&changed).expect("entered");
        other.add_pair(id, &pair(0)).expect("written");
        assert_eq!(other.enter_match(&changed).expect("known"), id);
    }
    assert_eq!(one.pairs_of(id).expect("readable"), [pair(0), pair(1)]);
}

/// Files that were written before have games of both ways round; of neither anything is lost.
#[test]
fn matches_that_were_played_both_ways_round_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    let id = new_file(&path, 2);
    let agents = ["random:seed=1", "random:seed=0"].map(str::to_string);
    let exchanged = MatchIdentity { agents, seed: 9, ..identity() };
    let mut store = Store::open(&path).expect("our file");
    let twin = store.enter_match(&exchanged).expect("other dice");
    store.add_pair(twin, &pair(0)).expect("written");
    drop(store);
    // 2^64 - 1 is -1 in the signed column.
    meddle(&path, "UPDATE matches SET seed = -1");
    let mut store = Store::open(&path).expect("our file");
    assert_eq!(store.enter_match(&identity()).expect("known"), id);
    assert_eq!(store.enter_match(&MatchIdentity { seed: u64::MAX, ..exchanged }).expect("known"), twin);
    for (id, pairs) in [(id, 2), (twin, 1)] {
        store.add_pair(id, &pair(pairs)).expect("written");
        assert_eq!(store.pairs_of(id).expect("readable").len(), pairs as usize + 1);
    }
}

#[test]
fn games_that_cannot_have_been_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    type Change = fn(&mut PlayedGame);
    let changes: [(Change, &str); 19] = [
        // Game 1 is the second of its pair, in which B has the first seat.
        (
            |game| game.outcome.first = Contestant::A,
            "game 1 of match 1: its number gives the first seat to the other agent",
        ),
        (|game| game.outcome.margin = 1.5, "game 1 of match 1: its margin is not in [-1, 1]"),
        (|game| game.outcome.margin = f32::NEG_INFINITY, "game 1 of match 1: its margin is not in [-1, 1]"),
        // Drawn with a margin of -0.1, it can have been won by the second seat alone, and neither cut off nor forfeited.
        (|game| game.outcome.winner = Some(Seat::First), "game 1 of match 1: its winner has a margin below 0"),
        (
            |game| (game.outcome.winner, game.outcome.margin) = (Some(Seat::Second), 1.0),
            "game 1 of match 1: its winner has a margin below 0",
        ),
        (|game| game.outcome.truncated = true, "game 1 of match 1: it was cut off and is no draw of margin 0"),
        (
            |game| {
                (game.outcome.winner, game.outcome.margin) = (Some(Seat::First), 1.0);
                game.outcome.truncated = true;
            },
            "game 1 of match 1: it was cut off and is no draw of margin 0",
        ),
        (
            |game| game.outcome.forfeit = Some(Forfeit::new(Seat::First, "has left")),
            "game 1 of match 1: it was forfeited and has another result",
        ),
        (
            |game| {
                game.outcome.forfeit = Some(Forfeit::new(Seat::Second, "has left"));
                (game.outcome.winner, game.outcome.margin) = (Some(Seat::Second), -1.0);
            },
            "game 1 of match 1: it was forfeited and has another result",
        ),
        (|game| game.outcome.luck = Some(f64::INFINITY), "game 1 of match 1: its luck is no number"),
        // In the signed column of the file these are -1.
        (|game| game.efforts[0].decisions = u64::MAX, "game 1 of match 1: a count is below 0"),
        (|game| game.efforts[1].turns = u64::MAX, "game 1 of match 1: a count is below 0"),
        (|game| game.efforts[1].simulations = u64::MAX, "game 1 of match 1: a count is below 0"),
        // 20 decisions of each, none of more than 2^32 - 1 simulations.
        (
            |game| game.efforts[0].decisions = i64::MAX.cast_unsigned(),
            "game 1 of match 1: its decisions are not those of its agents",
        ),
        (|game| game.outcome.decisions = 39, "game 1 of match 1: its decisions are not those of its agents"),
        (|game| game.efforts[1].turns = 21, "game 1 of match 1: an agent has more turns than decisions"),
        (
            |game| game.efforts[1].simulations = 20 * ((1 << 32) - 1) + 1,
            "game 1 of match 1: an agent has more simulations than its decisions can have",
        ),
        (|game| game.efforts[0].seconds = -1.0, "game 1 of match 1: its seconds are no time"),
        (|game| game.efforts[1].seconds = f64::INFINITY, "game 1 of match 1: its seconds are no time"),
    ];
    for (number, (change, expected)) in changes.into_iter().enumerate() {
        let mut store = Store::open_or_create(&folder.path().join(format!("{number}.db"))).expect("a new file");
        let id = store.enter_match(&identity()).expect("entered");
        let mut pair = pair(0);
        change(&mut pair[1]);
        store.add_pair(id, &pair).expect("written");
        let refused = store.pairs_of(id).expect_err("no such game");
        assert!(matches!(&refused, StoreError::Damaged { what, .. } if what == expected), "{refused}");
    }
}

/// A new file of results with the first pairs of one match.
fn new_file(path: &Path, pairs: u32) -> MatchId {
    let mut store = Store::open_or_create(path).expect("a new file");
    let id = store.enter_match(&identity()).expect("entered");
    (0..pairs).for_each(|number| store.add_pair(id, &pair(number)).expect("written"));
    id
}

/// Changes a file of results by SQL that minds no foreign keys.
fn meddle(path: &Path, statement: &str) {
    let script = "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute(sys.argv[2]); file.commit()";
    let done = Command::new("python3").args(["-c", script]).arg(path).arg(statement).output().expect("python3 runs");
    assert!(done.status.success(), "{statement}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Rows that belong to none, and figures that no game can have, are not passed over.
#[test]
fn rows_that_contradict_others_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, (statement, expected)) in [
        ("DELETE FROM agents WHERE id = 2", "a row of table matches names one of table agents that is missing"),
        ("UPDATE matches SET a = 7", "a row of table matches names one of table agents that is missing"),
        ("DELETE FROM versions", "a row of table matches names one of table versions that is missing"),
        ("DELETE FROM matches", "a row of table games names one of table matches that is missing"),
        (
            "UPDATE games SET match = 2 WHERE game > 1",
            "a row of table games names one of table matches that is missing",
        ),
        (
            "INSERT INTO ratings VALUES (1, 3, '{}', 2, 0, 0, 0)",
            "a row of table ratings names one of table agents that is missing",
        ),
        (
            "UPDATE games SET forfeit_reason = NULL WHERE game = 4",
            "game 4 of match 1: its forfeit lacks the seat or the reason",
        ),
        (
            "UPDATE games SET forfeit_reason = 'has left' WHERE game = 0",
            "game 0 of match 1: its forfeit lacks the seat or the reason",
        ),
        ("UPDATE games SET dice_seed = 1 WHERE game = 3", "games 2 and 3 of match 1 are a pair and had different dice"),
        ("UPDATE games SET decisions = -1 WHERE game = 3", "-1 is no number of its column"),
        ("UPDATE games SET decisions = 4294967296 WHERE game = 3", "4294967296 is no number of its column"),
        ("UPDATE games SET game = -1 WHERE game = 0", "-1 is no number of its column"),
        ("UPDATE versions SET rules_version = -3", "-3 is no number of its column"),
        ("UPDATE matches SET bounds = 'none'", "the bounds of match 1 cannot be read"),
        ("UPDATE matches SET bounds = '{\"simulations\":-1}'", "the bounds of match 1 cannot be read"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{number}.db"));
        new_file(&path, 3);
        meddle(&path, statement);
        let read = |store: Store| -> Result<(), StoreError> {
            for version in store.versions()? {
                store.matches_of(&version)?;
            }
            Ok(())
        };
        let refused = Store::open(&path).and_then(read).expect_err(statement);
        assert!(matches!(&refused, StoreError::Damaged { what, .. } if what == expected), "{statement}: {refused}");
        assert_eq!(refused.to_string(), format!("{}: damaged: {expected}", path.display()));
    }
}

/// An agent that plays by files is the one whose games are there only as long as their contents are the same.
#[test]
fn games_by_other_files_are_not_joined() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    let mut store = Store::open_or_create(&path).expect("a new file");
    let by = |a: Option<&str>, b: Option<&str>| MatchIdentity {
        fingerprints: [a, b].map(|fingerprint| fingerprint.map(str::to_string)),
        ..identity()
    };
    // As long as there are no games, there is nothing to be joined.
    let id = store.enter_match(&by(Some("1"), None)).expect("entered");
    assert_eq!(store.enter_match(&by(Some("2"), None)).expect("no games yet"), id);
    store.add_pair(id, &pair(0)).expect("written");
    assert_eq!(store.enter_match(&by(Some("2"), None)).expect("the same"), id);
    // The other agent's files were not known; now they are.
    assert_eq!(store.enter_match(&by(Some("2"), Some("3"))).expect("adopted"), id);
    for (changed, agent) in [
        (by(Some("1"), Some("3")), "random:seed=0"),
        (by(Some("2"), Some("4")), "random:seed=1"),
        // Another match of the same rules would be rated with it.
        (MatchIdentity { seed: 9, ..by(Some("1"), Some("3")) }, "random:seed=0"),
    ] {
        let refused = store.enter_match(&changed).expect_err("other files");
        assert!(matches!(&refused, StoreError::Changed { agent: named, .. } if named == agent), "{refused}");
        let line = format!(
            "{}: holds games that {agent} played by other contents of its files; name another file of results, or give the \
             agent files of another name",
            path.display()
        );
        assert_eq!(refused.to_string(), line);
    }
    // By other rules it is not.
    let mut elsewhere = by(Some("1"), Some("4"));
    elsewhere.game.rules_version += 1;
    assert_ne!(store.enter_match(&elsewhere).expect("another version"), id);
    // What was refused is not there, and what was there is.
    drop(store);
    let store = Store::open(&path).expect("our file");
    assert_eq!(store.pairs_of(id).expect("readable"), [pair(0)]);
    assert_eq!(store.versions().expect("readable").len(), 2);
}

/// The ratings of versions 2 and 3 of the tables, which did not tell of which bounds they were.
const RATINGS_WITHOUT_BOUNDS: &str =
    "CREATE TABLE ratings ( -- as last computed, for other programs; the games alone decide
        version INTEGER NOT NULL REFERENCES versions,
        agent INTEGER NOT NULL REFERENCES agents,
        games INTEGER NOT NULL,
        elo REAL NOT NULL,
        low REAL NOT NULL, -- 95% interval
        high REAL NOT NULL,
        PRIMARY KEY (version, agent)
    ) STRICT, WITHOUT ROWID";

/// A new file of results with one pair, as a program of an older version of the tables has made it.
fn older_file(path: &Path, version: u8) -> MatchId {
    let id = new_file(path, 1);
    meddle(path, "DROP TABLE ratings");
    meddle(path, RATINGS_WITHOUT_BOUNDS);
    meddle(path, "INSERT INTO ratings VALUES (1, 1, 2, 0, 0, 0)");
    // Version 2 knew no fingerprints.
    if version == 2 {
        meddle(path, "DROP TABLE fingerprints");
    }
    meddle(path, &format!("PRAGMA user_version = {version}"));
    id
}

/// Files of older versions are read as they are, and gone on with.
#[test]
fn files_of_older_versions_go_on() {
    for old in [2, 3] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [path, rated] = ["results.db", "rated.db"].map(|name| folder.path().join(name));
        let id = older_file(&path, old);
        let before = fs::read(&path).expect("a file");
        let store = Store::open(&path).expect("an older file of ours");
        assert_eq!(store.pairs_of(id).expect("readable"), [pair(0)]);
        let (limits, version) = (identity().limits, store.versions().expect("readable").remove(0));
        assert!(store.saved_ratings(&version, limits, None).expect("readable").is_empty());
        drop(store);
        // The version of the tables is at byte 60 of the file.
        let version_of = |path: &Path| fs::read(path).expect("a file")[60..64].to_vec();
        assert_eq!((fs::read(&path).expect("a file") == before, version_of(&path)), (true, vec![0, 0, 0, old]));
        let by =
            |fingerprint: &str| MatchIdentity { fingerprints: [Some(fingerprint.to_string()), None], ..identity() };
        let mut store = Store::open_or_create(&path).expect("an older file of ours");
        assert_eq!(store.enter_match(&by("1")).expect("adopted"), id);
        store.add_pair(id, &pair(1)).expect("written");
        drop(store);
        assert_eq!(version_of(&path), [0, 0, 0, 4]);
        let mut store = Store::open_or_create(&path).expect("our file");
        assert!(matches!(store.enter_match(&by("2")), Err(StoreError::Changed { .. })));
        assert_eq!(store.pairs_of(id).expect("readable"), [pair(0), pair(1)]);

        // Ratings renew the tables, too, and no other rows are lost.
        let id = older_file(&rated, old);
        let mut store = Store::open_or_create(&rated).expect("an older file of ours");
        let ratings = [StoredRating { agent: "random:seed=0".to_string(), games: 2, elo: [0.0, -1.0, 1.0] }];
        store.save_ratings(&version, limits, None, &ratings).expect("written");
        drop(store);
        assert_eq!(version_of(&rated), [0, 0, 0, 4]);
        let store = Store::open_or_create(&rated).expect("our file");
        assert_eq!(store.saved_ratings(&version, limits, None).expect("readable"), ratings);
        assert_eq!(store.pairs_of(id).expect("readable"), [pair(0)]);
    }
}

/// A trigger changes what is written, so a file that has one is not ours.
#[test]
fn files_with_triggers_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    drop(Store::open_or_create(&path).expect("a new file"));
    meddle(&path, "CREATE TRIGGER lost AFTER INSERT ON games BEGIN DELETE FROM games; END");
    assert!(refused(&path).ends_with("not one of the arena's results"));
}

/// Whatever names a file tells, a terminal gets no control characters of them.
#[test]
fn names_from_a_file_are_shown_without_control_characters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    new_file(&path, 1);
    for column in ["agents SET spec", "versions SET scenario", "versions SET program", "versions SET first_seat"] {
        meddle(&path, &format!("UPDATE {column} = 'x' || char(27) || '[2J' || char(10, 155) || 'y' WHERE id = 1"));
    }
    let output = dervish(&["ratings", "--db", path.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(table.chars().all(|character| character == '\n' || !character.is_control()), "{table:?}");
    // Escape, line break and C1's control sequence introducer, as Rust writes them; once each in title, row and two seats.
    assert!(table.matches(r"x\u{1b}[2J\n\u{9b}y").count() >= 4, "{table}");
}

/// A file of results is made with its folders; where that cannot be, the file is named, not the one that it is made of.
#[test]
fn the_folder_of_a_file_of_results_is_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("no/such/folder/results.db");
    drop(Store::open_or_create(&path).expect("a new file"));
    assert!(Store::open(&path).is_ok());
    fs::write(folder.path().join("file"), "mine").expect("written");
    let below = folder.path().join("file/results.db");
    let line = Store::open_or_create(&below).expect_err("a file is no folder").to_string();
    assert!(line.starts_with(&below.display().to_string()) && !line.contains(".tmp-results"), "{line}");
}

/// A program that is killed while it makes a file leaves another, and perhaps its journal. The next one that makes a file
/// there removes them, if none is making one, and nothing else.
#[test]
fn what_killed_programs_left_is_removed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let left = [".tmp-results-aB3dE6", ".tmp-results-aB3dE6-journal"];
    let others = [".tmpK1Ll3d", ".tmp-resultsmine", "notes.tmp-results-"];
    left.iter().chain(&others).for_each(|name| fs::write(path(name), "half").expect("written"));
    // As a program has the folder that is making a file.
    let busy = File::open(folder.path()).expect("a folder");
    busy.lock_shared().expect("locked");
    drop(Store::open_or_create(&path("one.db")).expect("a new file"));
    assert!(left.iter().chain(&others).all(|name| path(name).exists()));
    drop(busy);
    // Nothing is swept where no file is made.
    drop(Store::open_or_create(&path("one.db")).expect("our file"));
    assert!(left.iter().all(|name| path(name).exists()));
    drop(Store::open_or_create(&path("two.db")).expect("a new file"));
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, [".tmp-resultsmine", ".tmpK1Ll3d", "notes.tmp-results-", "one.db", "two.db"]);
    // Another one may have the folder for itself for as long as it likes.
    let held = File::open(folder.path()).expect("a folder");
    held.lock().expect("locked");
    drop(Store::open_or_create(&path("three.db")).expect("a new file"));
}

/// What is wrong with the file, and that it is as it was, whatever is done with it.
fn refused(path: &Path) -> String {
    let before = fs::read(path).expect("a file");
    let error = Store::open_or_create(path).expect_err("not ours").to_string();
    assert_eq!(Store::open(path).expect_err("not ours").to_string(), error);
    assert!(fs::read(path).expect("a file") == before, "{error}: the file has changed");
    let siblings = fs::read_dir(path.parent().expect("a folder")).expect("a folder").count();
    assert_eq!(siblings, 1, "{error}: something was left beside the file");
    assert!(error.starts_with(&path.display().to_string()) && error.lines().count() == 1, "{error}");
    error
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    for text in ["", "notes of mine", "SQLite format 3\0"] {
        fs::write(&path, text).expect("a file");
        assert!(refused(&path).ends_with("not an SQLite file"));
    }
    fs::remove_file(&path).expect("a file");
    assert!(matches!(Store::open(&path), Err(StoreError::Io { .. })), "there is no such file");
    assert!(!path.exists(), "opening makes no file");

    let id = new_file(&path, 200);
    let sound = fs::read(&path).expect("a file");
    assert!(sound.len() > 16 * 1024, "several pages: {}", sound.len());
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        fs::write(&path, bytes).expect("a file");
        refused(&path)
    };
    // Another application's number, or none, at byte 68; the version of the tables at byte 60.
    assert!(changed(&|bytes| bytes[68..72].fill(0)).ends_with("not one of the arena's results"));
    assert!(changed(&|bytes| bytes[63] = 1).ends_with("version 1 of the tables, this program has 4"));
    // A file that was cut off, pages that were overwritten, tables that are named otherwise.
    changed(&|bytes| bytes.truncate(bytes.len() / 2));
    changed(&|bytes| bytes[4096..12288].fill(0x55));
    let renamed = changed(&|bytes| {
        let name = b"margin REAL";
        let at = bytes.windows(name.len()).position(|window| window == name).expect("the table's text");
        bytes[at] = b'n';
    });
    assert!(renamed.contains("table games is missing or not that of version 4"), "{renamed}");
    fs::write(&path, &sound).expect("a file");
    assert_eq!(Store::open(&path).expect("sound again").pairs_of(id).expect("readable").len(), 200);
}
