//! The folder of a match that goes on: its records are its own, and none is lost, doubled or mixed with those of another.

use crate::dervish_binary::{dervish, json_of, refusal};
use dervish_training::arena::folder::{FolderError, MatchFolder};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A match of pig with its file of results, records in `out`.
fn play<'a>(db: &'a str, out: &'a str, seed: &'a str, games: &'a str) -> Vec<&'a str> {
    let game = ["match", "random", "random:seed=1", "--scenario", "pig", "--threads", "1"];
    [&game[..], &["--seed", seed, "--games", games, "--db", db, "--out", out]].concat()
}

fn done(args: &[&str]) {
    let output = dervish(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every file below a folder with its contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).expect("a file"))),
        }
    }
    found
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

#[test]
fn records_of_another_match_are_left_alone() {
    let place = Place::new();
    let (db, one, other) = (place.path("f.db"), place.path("one"), place.path("other"));
    done(&play(&db, &one, "1", "4"));
    done(&play(&db, &other, "2", "4"));
    let before = contents(Path::new(&one));
    let line = refusal(&play(&db, &one, "2", "8"));
    assert!(line.contains("one/games/0000") && line.contains("is no record of this match"), "{line}");
    // Nor does a match that has not begun yet take them over.
    let line = refusal(&play(&db, &one, "3", "8"));
    assert!(line.contains("is not empty; name a new folder"), "{line}");
    assert_eq!(contents(Path::new(&one)), before);
    // What is no record at all is told too.
    fs::write(Path::new(&one).join("games/notes.txt"), "mine").expect("written");
    assert!(refusal(&play(&db, &one, "1", "8")).contains("notes.txt is no record of this match"));
    assert_eq!(fs::read_to_string(Path::new(&one).join("games/notes.txt")).expect("mine"), "mine");
}

/// A folder of somebody else's is as it was, also where files in it are named as ours are while they are written.
#[test]
fn a_folder_of_another_kind_is_left_alone() {
    let place = Place::new();
    let (db, mine) = (place.path("f.db"), place.path("mine"));
    fs::create_dir(&mine).expect("a folder");
    for name in [".tmpMine", "notes.txt"] {
        fs::write(Path::new(&mine).join(name), "mine").expect("written");
    }
    let before = contents(Path::new(&mine));
    let line = refusal(&play(&db, &mine, "1", "4"));
    assert!(line.contains("is not empty; name a new folder"), "{line}");
    assert_eq!(contents(Path::new(&mine)), before);
    assert_eq!(fs::read_dir(&mine).expect("a folder").count(), 2);
}

/// A kill between a record and the booking of its pair leaves a record of a game that counts as not played, and perhaps a file
/// that was being written.
#[test]
fn what_a_kill_leaves_is_no_bar() {
    let place = Place::new();
    let (whole, out) = (place.path("whole"), place.path("out"));
    done(&play(&place.path("whole.db"), &whole, "1", "4"));
    let games = Path::new(&out).join("games");
    fs::create_dir_all(&games).expect("a folder");
    fs::copy(Path::new(&whole).join("games/00000.record"), games.join("00000.record")).expect("copied");
    fs::write(games.join(".tmpAbCdEf"), "half").expect("written");
    done(&play(&place.path("f.db"), &out, "1", "4"));
    let records = |folder: &str| contents(&Path::new(folder).join("games")).into_values().collect::<Vec<_>>();
    assert_eq!(records(&out), records(&whole));
}

#[test]
fn fewer_games_take_no_record_away() {
    let place = Place::new();
    let (db, out) = (place.path("f.db"), place.path("out"));
    done(&play(&db, &out, "1", "8"));
    let before = contents(Path::new(&out));
    let line = refusal(&play(&db, &out, "1", "2"));
    assert!(line.contains("has records of more games than the 2 that are asked for"), "{line}");
    assert_eq!(contents(Path::new(&out)), before);
}

#[test]
fn two_programs_do_not_write_into_one_folder() {
    let place = Place::new();
    let (db, out) = (place.path("f.db"), place.path("out"));
    done(&play(&db, &out, "1", "2"));
    let lock = fs::File::create(Path::new(&out).join("lock")).expect("a file");
    lock.try_lock().expect("nobody else holds it");
    assert!(refusal(&play(&db, &out, "1", "4")).contains("another program adds to it"));
    lock.unlock().expect("held");
    done(&play(&db, &out, "1", "4"));
}

/// Without a file of results too: of two that begin at once, one has the folder.
#[test]
fn two_matches_do_not_begin_in_one_folder() {
    let place = Place::new();
    let out = place.0.path().join("new");
    let first = MatchFolder::create(&out).expect("a new folder");
    assert!(matches!(MatchFolder::create(&out), Err(FolderError::InUse { .. })));
    // It ended before its first game.
    drop(first);
    done(&["match", "random", "random:seed=1", "--scenario", "pig", "--games", "2", "--out", &place.path("new")]);
    assert!(matches!(MatchFolder::create(&out), Err(FolderError::NotEmpty { .. })));
}

#[test]
fn a_record_that_is_named_twice_is_one_game() {
    let place = Place::new();
    let (db, out) = (place.path("f.db"), place.path("out"));
    done(&play(&db, &out, "1", "4"));
    let games = format!("{out}/games");
    let one = json_of(&["anatomy", &out, "--json"]);
    assert_eq!(json_of(&["anatomy", &out, &games, &format!("{games}/00001.record"), "--json"]), one);
}

/// What a page would tell of is not written over by it.
#[test]
fn a_page_replaces_pages_alone() {
    let place = Place::new();
    let (db, page, out) = (place.path("f.db"), place.path("page.html"), place.path("out"));
    done(&play(&db, &out, "1", "4"));
    let before = fs::read(&db).expect("a file");
    for taken in [&db, &format!("{out}/match.json")] {
        let line = refusal(&["report", "--db", &db, "--out", taken]);
        assert!(line.contains("is there already and no page"), "{line}");
    }
    assert_eq!(fs::read(&db).expect("a file"), before);
    done(&["report", "--db", &db, "--out", &page]);
    done(&["report", "--db", &db, "--out", &page]);
}
