//! `dervish tournament`, `dervish ratings`, `dervish report` and `dervish match --db` as their users call them.

use crate::dervish_binary::{binary, dervish, json_of, refusal, start};
use dervish_agents::limits::Limits;
use dervish_training::arena::match_play::Contestant;
use dervish_training::arena::plots::Histogram;
use dervish_training::arena::store::{MatchIdentity, Store, StoredMatch};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const AGENTS: [&str; 3] = ["mcts:sims=40", "random", "random:seed=1"];

fn tournament<'a>(agents: &[&'a str], db: &'a str) -> Vec<&'a str> {
    [&["tournament"], agents, &["--scenario", "pig", "--games", "100", "--seed", "6", "--db", db, "--json"]].concat()
}

fn path_in(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_string()
}

#[test]
fn a_tournament_rates_its_agents() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = path_in(&folder, "results.db");
    let standings = json_of(&tournament(&AGENTS, &db));
    assert_eq!(standings["games"], 3 * 100);
    let agents = standings["agents"].as_array().expect("agents");
    assert!(agents[0]["agent"].as_str().expect("a spec").starts_with("mcts:sims=40,"), "{standings}");
    let elo = |place: usize, end: &str| agents[place]["elo"][end].as_f64().expect("a number");
    assert!(elo(0, "low") > elo(1, "high").max(elo(2, "high")), "search is stronger than random play: {standings}");
    assert!((0..3).map(|place| elo(place, "value")).sum::<f64>().abs() < 1e-6, "around a mean of 0");
    let weights: Vec<f64> =
        agents.iter().map(|agent| agent["nash"]["weight"].as_f64().expect("all have met")).collect();
    assert!(weights[0] > 0.999, "the strongest of a chain has all the weight: {weights:?}");
    // The crosstable is turned on its diagonal: what one scores, the other does not.
    for row in 0..3 {
        assert_eq!(standings["crosstable"][row][row], Value::Null);
        for column in (0..3).filter(|&column| column != row) {
            let score = |row: usize, column: usize| standings["crosstable"][row][column]["score"]["value"].as_f64();
            let sum = score(row, column).expect("met") + score(column, row).expect("met");
            assert!((sum - 1.0).abs() < 1e-9);
        }
    }
    // The ratings are in the file too.
    let store = Store::open(Path::new(&db)).expect("our file");
    let version = store.versions().expect("readable").remove(0);
    let saved = store.saved_ratings(&version, Limits::default(), None).expect("readable");
    assert_eq!(saved.len(), 3);
    assert_eq!(saved[0].elo, [elo(0, "value"), elo(0, "low"), elo(0, "high")]);
    assert_eq!(saved[0].games, 200);

    // Asked for again, or in another order, nothing is played and nothing changes.
    let bytes = fs::read(&db).expect("a file");
    assert_eq!(json_of(&tournament(&[AGENTS[2], AGENTS[0], AGENTS[1]], &db)), standings);
    assert_eq!(json_of(&["ratings", "--db", &db, "--json"]), Value::Array(vec![standings.clone()]));
    assert_eq!(fs::read(&db).expect("a file").len(), bytes.len());
    let table = String::from_utf8(dervish(&["ratings", "--db", &db, "--scenario", "pig"]).stdout).expect("UTF-8");
    for part in ["pig, dervish ", "as first [95%]", "Nash weight", "first seat ", "distinct games      "] {
        assert!(table.contains(part), "{part} is missing:\n{table}");
    }
}

#[test]
fn a_tournament_that_grows_plays_what_is_missing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (grown, whole) = (path_in(&folder, "grown.db"), path_in(&folder, "whole.db"));
    json_of(&tournament(&AGENTS[1..], &grown));
    assert_eq!(json_of(&tournament(&AGENTS, &grown)), json_of(&tournament(&AGENTS, &whole)));
}

/// The same agents are rated apart by what they might think and by how long games might last, and each title says so.
#[test]
fn games_of_other_bounds_are_rated_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, page) = (path_in(&folder, "results.db"), path_in(&folder, "results.html"));
    let play = |more: &[&str]| {
        let arguments = ["match", "mcts:sims=40", "random", "--scenario", "pig", "--games", "20", "--db", &db];
        json_of(&[&arguments[..], &["--json"], more].concat())
    };
    let rated = || json_of(&["ratings", "--db", &db, "--json"]);
    let few = Limits { simulations: Some(1), ..Limits::default() };
    let saved = |limits: Limits, max_decisions: Option<u32>| {
        let store = Store::open(Path::new(&db)).expect("our file");
        let version = store.versions().expect("readable").remove(0);
        let ratings = store.saved_ratings(&version, limits, max_decisions).expect("readable");
        ratings.into_iter().map(|rating| rating.elo.map(Some)).collect::<Vec<_>>()
    };
    let of_few = play(&["--sims", "1"]);
    let alone = rated();
    assert_eq!(saved(few, None).len(), 2);
    // No game of pig is won in two decisions.
    let (of_short, of_free) = (play(&["--max-decisions", "2"]), play(&[]));
    // The order is that of the bounds, not that in which they were played.
    let all = rated();
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), 3);
    for (standings, played) in all.iter().zip([&of_free, &of_short, &of_few]) {
        assert_eq!((&standings["limits"], &standings["max_decisions"]), (&played["limits"], &played["max_decisions"]));
        let search = standings["agents"].as_array().expect("agents").iter();
        let search = search.filter(|of| of["agent"].as_str().is_some_and(|agent| agent.starts_with("mcts")));
        let seats: Vec<&Value> = search.flat_map(|of| of["seats"].as_array().expect("seats")).collect();
        for (seat, of) in seats.iter().zip(played["statistics"]["contestants"][0]["seats"].as_array().expect("seats")) {
            assert_eq!(seat["tally"], of["tally"], "{standings}");
        }
        assert_eq!((standings["games"].as_u64(), seats.len()), (Some(20), 2));
        for agent in standings["agents"].as_array().expect("agents") {
            assert_eq!(agent["truncated"], played["statistics"]["truncated"]);
        }
    }
    assert_eq!([&of_free, &of_short, &of_few].map(|of| of["statistics"]["truncated"].as_u64()), [0, 20, 0].map(Some));
    // What was told of some bounds stays as it was told when there are games of others.
    assert_eq!(alone, Value::Array(vec![all[2].clone()]));
    // The file has the ratings of each.
    let bounds = [(Limits::default(), None), (Limits::default(), Some(2)), (few, None)];
    for (standings, (limits, max_decisions)) in all.iter().zip(bounds) {
        let agents = standings["agents"].as_array().expect("agents").iter();
        let elo = agents.map(|of| ["value", "low", "high"].map(|end| of["elo"][end].as_f64()));
        assert_eq!(saved(limits, max_decisions), elo.collect::<Vec<_>>());
    }

    let version = &all[0]["version"];
    let (program, hash) = (version["program"].as_str(), version["identity"]["rules_hash"].as_str());
    let (program, hash) = (program.expect("a version"), hash.expect("a hash"));
    let rules = &version["identity"]["rules_version"];
    let titles = ["", ", allowed 2 decisions a game", ", allowed 1 simulations a decision"]
        .map(|bounds| format!("pig, dervish {program}, rules {rules} ({hash}){bounds}"));
    let table = String::from_utf8(dervish(&["ratings", "--db", &db]).stdout).expect("UTF-8");
    assert!(dervish(&["report", "--db", &db, "--out", &page]).status.success());
    let html = fs::read_to_string(&page).expect("written");
    let headings: Vec<&str> = html.split("<h2>").skip(1).filter_map(|part| part.split("</h2>").next()).collect();
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with("pig, ")).collect();
    assert_eq!((&headings[..], &lines[..]), (&titles.each_ref().map(String::as_str)[..], &headings[..]));
    // Truncated games are told where there are any.
    assert_eq!((table.matches("truncated").count(), html.matches("<th>truncated</th>").count()), (1, 1), "{table}");
    assert!(table.contains("┆ games ┆ truncated ┆ Elo [95%]"), "{table}");
    assert!(table.contains("┆    20 ┆        20 ┆"), "{table}");
    assert_eq!(html.matches("<td>20</td><td>20</td>").count(), 2);
}

/// A tournament tells of the games of its own bounds, whatever else was played by the same rules.
#[test]
fn a_tournament_is_of_its_own_bounds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = path_in(&folder, "results.db");
    let free = json_of(&tournament(&AGENTS[1..], &db));
    let short = [&tournament(&AGENTS, &db)[..], &["--max-decisions", "3"]].concat();
    let cut_off = json_of(&short);
    let told = |of: &Value| [of["games"].as_u64(), of["max_decisions"].as_u64()];
    assert_eq!([told(&free), told(&cut_off)], [[Some(100), None], [Some(300), Some(3)]]);
    // Asked for again, each is as it was.
    assert_eq!([json_of(&tournament(&AGENTS[1..], &db)), json_of(&short)], [free.clone(), cut_off.clone()]);
    assert_eq!(json_of(&["ratings", "--db", &db, "--json"]), Value::Array(vec![free, cut_off]));
}

/// The other way round a match has the same dice, so it is refused; a tournament has one way round for every order of its
/// agents.
#[test]
fn a_match_is_not_played_the_other_way_round_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = path_in(&folder, "results.db");
    let play = |agents: [&str; 2], seed: &str| {
        let arguments = ["match", agents[0], agents[1], "--scenario", "pig", "--games", "10", "--seed", seed];
        [&arguments[..], &["--db", &db, "--json"]].concat().iter().map(|word| (*word).to_string()).collect::<Vec<_>>()
    };
    let told = |words: Vec<String>| json_of(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let first = told(play(["random:seed=1", "random"], "0"));
    let rated = json_of(&["ratings", "--db", &db, "--json"]);
    let exchanged = play(["random", "random:seed=1"], "0");
    let line = refusal(&exchanged.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = format!(
        "dervish: {db}: holds this match with A and B exchanged, random:seed=1 against random:seed=0 on the same dice; ask for \
         it that way round, or give another seed\n"
    );
    assert_eq!(line, expected);
    // Nothing has changed, and the match goes on its way.
    assert_eq!(json_of(&["ratings", "--db", &db, "--json"]), rated);
    assert_eq!(told(play(["random:seed=1", "random"], "0"))["games"], first["games"]);
    assert_eq!(told(play(["random", "random:seed=1"], "1"))["statistics"]["games"], 10);
    // A tournament has the lower spec as A, and dice of its own.
    assert_eq!(json_of(&tournament(&AGENTS[1..], &db))["games"], 10 + 10 + 100);
    assert_eq!(json_of(&tournament(&[AGENTS[2], AGENTS[1]], &db))["games"], 10 + 10 + 100);
}

#[test]
fn the_report_is_one_page_with_plots() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, page) = (path_in(&folder, "results.db"), path_in(&folder, "results.html"));
    json_of(&tournament(&AGENTS[1..], &db));
    assert!(
        dervish(&["match", "doctrine", "random", "--scenario", "kordofan", "--games", "2", "--db", &db])
            .status
            .success()
    );
    let written = |more: &[&str]| {
        let output = dervish(&[&["report", "--db", &db, "--out", &page], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(&page).expect("written")
    };
    let html = written(&[]);
    // Four plots for each of the two games; nothing is fetched from anywhere.
    assert_eq!(html.matches("<svg").count(), 8);
    assert_eq!(html.matches("</svg>").count(), 8);
    for outside in ["http", "src=", "href", "url(", "@import", "<script", "<link"] {
        assert!(!html.contains(outside), "{outside} in the page");
    }
    for part in ["<!DOCTYPE html>", "<h2>pig, dervish ", "<h2>kordofan, dervish ", "random:seed=1", "as egyptian"] {
        assert!(html.contains(part), "{part} is missing");
    }
    // No axis has a number twice: of two games there is no half.
    for plot in html.split("<svg").filter(|plot| plot.contains("\ndecisions\n")) {
        let texts: Vec<&str> = plot.split("<text").filter(|text| text.contains("text-anchor=\"end\"")).collect();
        let labels: Vec<&str> = texts.iter().filter_map(|text| text.split('\n').nth(1)).collect();
        let numbers: Vec<u32> = labels.iter().filter_map(|label| label.parse().ok()).collect();
        assert!(numbers.len() >= 2 && numbers.windows(2).all(|two| two[0] < two[1]), "{labels:?}");
    }
    assert!(!written(&["--scenario", "kordofan"]).contains("<h2>pig"));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

#[test]
fn lengths_are_sorted_into_bins() {
    // 3 to 82 are 80 numbers, so 40 bins of 2.
    let histogram = Histogram::of(&[3, 4, 5, 82, 81, 82]);
    assert_eq!((histogram.begin, histogram.width, histogram.counts.len()), (3, 2, 40));
    assert_eq!((histogram.counts[0], histogram.counts[1], histogram.counts[39]), (2, 1, 3));
    assert_eq!(Histogram::of(&[7, 7]), Histogram { begin: 7, width: 1, counts: vec![2] });
}

#[test]
fn bad_arguments_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, page, notes) =
        (path_in(&folder, "results.db"), path_in(&folder, "results.html"), path_in(&folder, "notes.txt"));
    fs::write(&notes, "mine").expect("a file");
    for (arguments, expected) in [
        (&tournament(&AGENTS[..1], &db)[..], "AGENT"),
        (&tournament(&["random", "random:seed=0"], &db), "AGENT: 'random:seed=0' is given twice"),
        (&tournament(&["random", "doktrin"], &db), "unknown agent 'doktrin'"),
        (
            &["tournament", "random", "mcts", "--scenario", "pig", "--games", "3", "--db", &db],
            "--games 3: games are played",
        ),
        (&["tournament", "random", "mcts", "--scenario", "pig", "--games", "2"], "--db"),
        (&tournament(&AGENTS, &notes), "not an SQLite file"),
        (&["ratings", "--db", &db], "results.db"),
        (&["ratings", "--db", &notes], "not an SQLite file"),
        (&["report", "--db", &db, "--out", &page], "results.db"),
        (&["match", "random", "mcts", "--scenario", "pig", "--games", "2", "--db", &notes], "not an SQLite file"),
    ] {
        let line = refusal(arguments);
        assert!(line.contains(expected), "{line}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was made");
    assert_eq!(fs::read_to_string(&notes).expect("a file"), "mine");

    json_of(&tournament(&AGENTS[1..], &db));
    assert!(refusal(&["ratings", "--db", &db, "--scenario", "souakim"]).contains("holds no games of 'souakim'"));
    // A file of a later program: refused by every command and left as it is.
    let mut later = fs::read(&db).expect("a file");
    later[63] += 1;
    fs::write(&db, &later).expect("a file");
    for arguments in [
        &["ratings", "--db", &db][..],
        &["report", "--db", &db, "--out", &page],
        &tournament(&AGENTS, &db),
        &["match", "random", "mcts", "--scenario", "pig", "--games", "2", "--db", &db],
    ] {
        let line = refusal(arguments);
        assert!(line.contains("results.db: version 5 of the tables, this program has 4"), "{line}");
    }
    assert!(fs::read(&db).expect("a file") == later);
    later[63] -= 1;
    fs::write(&db, &later).expect("a file");
    let nowhere = path_in(&folder, "no/such/folder/results.html");
    assert!(refusal(&["report", "--db", &db, "--out", &nowhere]).contains("results.html"));
}

/// A file of results on a medium that cannot be written is read as any other, but none can be added to; a journal beside it
/// that a killed program has left may hold games of it.
#[test]
fn results_on_a_medium_that_cannot_be_written_are_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A name of which little can stand as it is in SQLite's URI.
    let [db, page, disk] = ["a %41 é?#&=.db", "results.html", "disk"].map(|name| path_in(&folder, name));
    let kept = path_in(&folder, "disk/a %41 é?#&=.db");
    json_of(&tournament(&AGENTS[1..], &db));
    let ratings = dervish(&["ratings", "--db", &db]).stdout;
    fs::create_dir(&disk).expect("a folder");
    let on_disk = |journal: &str, arguments: &[&str]| {
        let script = "mount -t tmpfs none \"$1\" && cp \"$2\" \"$1\" && printf \"$3\" > \"$4-wal\" && \
                      mount -o remount,ro \"$1\" || exit 77; shift 4; exec \"$@\"";
        let unshare = ["--map-root-user", "--mount", "sh", "-c", script, "sh", &disk, &db, journal, &kept];
        let output = Command::new("unshare").args(unshare).arg(binary()).args(arguments).output();
        output.ok().filter(|output| ![Some(1), Some(77)].contains(&output.status.code()))
    };
    let Some(rated) = on_disk("", &["ratings", "--db", &kept]) else {
        eprintln!("skipped: no file system can be mounted here");
        return;
    };
    assert_eq!((rated.status.code(), &rated.stdout), (Some(0), &ratings), "{rated:?}");
    let reported = on_disk("", &["report", "--db", &kept, "--out", &page]).expect("mounted");
    assert!(reported.status.success() && fs::read_to_string(&page).expect("written").contains("<svg"), "{reported:?}");
    let refused = |journal: &str, arguments: &[&str], expected: &str| {
        let output = on_disk(journal, arguments).expect("mounted");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let line = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(line, format!("dervish: {kept}: the file or its folder cannot be written{expected}\n"));
    };
    refused("", &tournament(&AGENTS[1..], &kept), "");
    refused("", &match_in(&kept, "2"), "");
    let copy_both = format!(", and {kept}-wal may hold games of it; copy both to where they can be");
    refused("left", &["ratings", "--db", &kept], &copy_both);
    refused("left", &["report", "--db", &kept, "--out", &page], &copy_both);
    refused("left", &match_in(&kept, "2"), &copy_both);
}

/// A file of results in which somebody has given every first seat to A: it is damaged, and every command that reads it says
/// so, not that it holds no games.
#[test]
fn seats_that_were_meddled_with_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [db, page] = ["study.db", "results.html"].map(|name| path_in(&folder, name));
    let study = path_in(&folder, "study.toml");
    let planned = "[[match]]\nscenario = \"pig\"\na = \"random\"\nb = \"random:seed=1\"\ngames = 4\nseed = 1\n";
    fs::write(&study, format!("format = 1\ntitle = \"A study\"\nquestion = \"?\"\n{planned}")).expect("written");
    assert!(dervish(&["study", &study]).status.success());
    let store = Store::open(Path::new(&db)).expect("our file");
    let version = store.versions().expect("readable").remove(0);
    let StoredMatch { agents, mut pairs, .. } = store.matches_of(&version).expect("readable").remove(0);
    drop(store);
    fs::remove_file(&db).expect("removed");
    let mut store = Store::open_or_create(Path::new(&db)).expect("a new file");
    let (game, seats) = (version.identity, version.seats);
    let (fingerprints, limits) = ([None, None], Limits::default());
    let of_study = MatchIdentity { game, seats, agents, fingerprints, seed: 1, limits, max_decisions: None };
    let id = store.enter_match(&of_study).expect("entered");
    for pair in &mut pairs {
        pair[1].outcome.first = Contestant::A;
        store.add_pair(id, pair).expect("written");
    }
    drop(store);
    let damage = "damaged: game 1 of match 1: its number gives the first seat to the other agent";
    let again = ["match", "random", "random:seed=1", "--scenario", "pig", "--games", "4", "--seed", "1", "--db", &db];
    let reports = ["report", "--db", &db, "--out", &page];
    // A tournament, which has another match of the version to play, would rate these games too.
    let of_others = tournament(&["random:seed=2", "random:seed=3"], &db);
    for arguments in [&["ratings", "--db", &db][..], &["study", &study], &again, &reports, &of_others] {
        assert_eq!(refusal(arguments), format!("dervish: {db}: {damage}\n"));
    }
    // Nothing was entered of that, which a file in this state tells by SQL alone.
    let count = "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); \
                 print(file.execute('SELECT count(*) FROM matches').fetchone()[0])";
    let counted = Command::new("python3").args(["-c", count, &db]).output().expect("python3 runs");
    assert_eq!(String::from_utf8_lossy(&counted.stdout).trim(), "1", "{counted:?}");
}

fn match_in<'a>(db: &'a str, games: &'a str) -> Vec<&'a str> {
    let arguments = ["match", "random", "random:seed=1", "--scenario", "souakim", "--games", games, "--seed", "8"];
    [&arguments[..], &["--threads", "2", "--db", db, "--json"]].concat()
}

/// The pairs of the only match in a file.
fn pairs_in(db: &str) -> usize {
    let Ok(store) = Store::open(Path::new(db)) else { return 0 };
    let version = store.versions().expect("readable").pop();
    let matches = version.map(|version| store.matches_of(&version).expect("readable"));
    matches.and_then(|matches| Some(matches.first()?.pairs.len())).unwrap_or(0)
}

/// A match that would take days is killed twice, in whatever it does then, and goes on each time; finished with fewer
/// games, it is as if nothing had happened.
#[test]
fn a_killed_match_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (killed, whole) = (path_in(&folder, "killed.db"), path_in(&folder, "whole.db"));
    let mut known = 0;
    for _ in 0..2 {
        let mut child = start(&match_in(&killed, "4000000000"));
        let begun = Instant::now();
        while pairs_in(&killed) < known + 5 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no pair was finished");
            std::thread::sleep(Duration::from_millis(2));
        }
        // SIGKILL on Unix: nothing can be tidied up.
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        known = pairs_in(&killed);
    }
    let games = (2 * known + 100).to_string();
    let resumed = json_of(&match_in(&killed, &games));
    let uninterrupted = json_of(&match_in(&whole, &games));
    assert_eq!(resumed["games"].as_array().map(Vec::len), Some(2 * known + 100));
    assert_eq!(resumed["games"], uninterrupted["games"]);
    assert_eq!(resumed["statistics"], uninterrupted["statistics"]);
    let games_in = |db: &str| {
        let store = Store::open(Path::new(db)).expect("our file");
        let version = store.versions().expect("readable").remove(0);
        let pairs = store.matches_of(&version).expect("readable").remove(0).pairs;
        pairs.into_iter().flatten().map(|game| game.outcome).collect::<Vec<_>>()
    };
    assert_eq!(games_in(&killed), games_in(&whole));
}

#[test]
fn a_killed_tournament_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (killed, whole) = (path_in(&folder, "killed.db"), path_in(&folder, "whole.db"));
    let with_games = |db, games| {
        let mut arguments = tournament(&AGENTS, db);
        let place = arguments.iter().position(|argument| *argument == "--games").expect("it is there");
        arguments[place + 1] = games;
        arguments
    };
    let mut child = start(&with_games(&killed, "4000000000"));
    let begun = Instant::now();
    while pairs_in(&killed) < 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no pair was finished");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let games = (2 * pairs_in(&killed) + 20).to_string();
    assert_eq!(json_of(&with_games(&killed, &games)), json_of(&with_games(&whole, &games)));
}

#[test]
fn more_games_may_be_asked_for_later() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (grown, whole) = (path_in(&folder, "grown.db"), path_in(&folder, "whole.db"));
    let few = json_of(&match_in(&grown, "10"));
    let more = json_of(&match_in(&grown, "30"));
    assert_eq!(more["games"], json_of(&match_in(&whole, "30"))["games"]);
    // Of those that are there, those that are asked for count; nothing is played for them.
    let again = json_of(&match_in(&grown, "10"));
    assert_eq!((&again["games"], &again["statistics"]), (&few["games"], &few["statistics"]));
    assert_eq!((pairs_in(&grown), again["cost"]["threads"].as_u64()), (15, Some(0)));
    // Records of games that were played without them cannot be had.
    let out = path_in(&folder, "records");
    let line = refusal(&[&match_in(&grown, "40")[..], &["--out", &out]].concat());
    assert!(line.contains("has no record of 30 of the games that were played already"), "{line}");
    assert!(!Path::new(&out).exists());
}

#[test]
fn records_go_on_with_their_match() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, out) = (path_in(&folder, "kept.db"), path_in(&folder, "records"));
    let [few, more, most] = ["4", "8", "10"].map(|games| [&match_in(&db, games)[..], &["--out", &out]].concat());
    assert!(dervish(&few).status.success() && dervish(&more).status.success());
    let mut records: Vec<_> = fs::read_dir(Path::new(&out).join("games"))
        .expect("records")
        .map(|file| file.expect("a file").path())
        .collect();
    records.sort();
    assert_eq!(records.len(), 8);
    // With a record lost they are no longer those of the match.
    fs::remove_file(&records[2]).expect("removed");
    let line = refusal(&most);
    assert!(line.contains("has no record of 1 of the games"), "{line}");
}
