//! `dervish match` and `dervish agents` as their users call them.

use std::fs;

use crate::dervish_binary::{dervish, dervish_in, json_of, refusal};

const QUICK: [&str; 9] = ["match", "mcts:sims=8", "random", "--scenario", "pig", "--games", "4", "--seed", "3"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

#[test]
fn a_match_is_told_as_a_table_and_as_json() {
    let table = dervish(&QUICK);
    assert!(table.status.success(), "{}", String::from_utf8_lossy(&table.stderr));
    let table = String::from_utf8(table.stdout).expect("UTF-8");
    for part in ["pig, 4 games, seed 3", "A = mcts:sims=8\nB = random\n", "Elo of A minus B", "score [95%]"] {
        assert!(table.contains(part), "{part} is missing:\n{table}");
    }
    let report = json_of(&with(&["--json", "--threads", "1"]));
    assert_eq!(report["version"], 2);
    assert_eq!((report.get("sprt"), report["statistics"].get("luck")), (None, None));
    assert_eq!(report["identity"]["game"], "pig");
    assert_eq!(report["agents"][1], "random:seed=0");
    assert_eq!(report["games"].as_array().map(Vec::len), Some(4));
    let again = json_of(&with(&["--json", "--threads", "2"]));
    assert_eq!((&report["games"], &report["statistics"]), (&again["games"], &again["statistics"]));
}

#[test]
fn records_of_a_match_are_right_by_the_rules() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("match");
    let out = out.to_str().expect("UTF-8");
    let arguments = ["match", "random", "random:seed=1", "--scenario", "souakim", "--games", "2", "--out", out];
    assert!(dervish(&arguments).status.success());
    for game in ["00000", "00001"] {
        let record = format!("{out}/games/{game}.record");
        let replay = dervish(&["replay", &record]);
        assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
    }
    assert!(refusal(&arguments).contains("is not empty; name a new folder"));
}

#[test]
fn bad_arguments_of_a_match_are_refused() {
    for (bad, expected) in [
        (&["--games", "7"][..], "--games 7: games are played in pairs"),
        (&["--games", "0"], "--games 0: games are played in pairs"),
        (&["--scenario", "chess"], "chess"),
        (&["--threads", "0"], "--threads"),
        (&["--threads", "1025"], "expected a number of threads from 1 to 1024"),
        (&["--sims", "0"], "--sims: an agent needs at least one simulation"),
        (&["--time", "soon"], "not a number of seconds"),
        (&["--time", "-1"], "-1"),
        (&["--time", "0"], "an agent needs some time"),
        (&["--turn-time", "0"], "an agent needs some time"),
        (&["--max-decisions", "0"], "--max-decisions 0: a game needs at least one decision"),
        (&["--sims", "9", "--turn-sims", "8"], "--sims 9: more for one decision than --turn-sims 8"),
        (&["--time", "3", "--turn-time", "2"], "--time 3: more for one decision than --turn-time 2"),
        (&["--sprt", "elo0=0"], "--sprt: elo1 is missing"),
        (&["--sprt", "elo0=0", "elo2=5"], "--sprt: there is no 'elo2'"),
        (&["--sprt", "elo0=5", "elo1=5"], "--sprt: elo1=5 is not above elo0=5"),
        (&["--sprt", "elo0=0,elo1=5,alpha=1"], "--sprt: alpha=1 is not between 0 and 1"),
        (&["--sprt", "elo0=0", "elo1=5", "alpha=0.5", "beta=0.5"], "--sprt: alpha=0.5 and beta=0.5 do not sum to"),
    ] {
        // The last of an option that is given twice would be refused as such, so it replaces the first.
        let mut arguments = QUICK.to_vec();
        match arguments.iter().position(|argument| *argument == bad[0]) {
            Some(place) => arguments[place + 1] = bad[1],
            None => arguments.extend_from_slice(bad),
        }
        let line = refusal(&arguments);
        assert!(line.contains(expected), "{line}");
    }
    // An option of several values takes what stands behind it; agents there are told of as what they are not.
    let tested = ["match", "--scenario", "pig", "--games", "2", "--sprt", "elo0=0", "elo1=5"];
    for agent in ["doctrine", "mcts:sims=8"] {
        let line = refusal(&[&tested[..], &[agent, "random"]].concat());
        assert!(line.starts_with(&format!("dervish: invalid value '{agent}' for '--sprt ")), "{line}");
        assert!(line.ends_with(": expected KEY=NUMBER, such as elo1=10; agents stand before --sprt\n"), "{line}");
    }
    let line = refusal(&["match", "doktrin", "random", "--scenario", "pig", "--games", "2"]);
    // With the feature `torch` there is `neural` too.
    assert!(
        line.starts_with("dervish: unknown agent 'doktrin'; there are: expectimax, external, gumbel, mcts, ")
            && line.ends_with("random\n"),
        "{line}"
    );
}

/// Pig counts no turns, so what a turn may use would be what a whole game may use: every command that plays refuses to
/// bound it, before anything is made, and tells the bound of a decision. Connect four and the campaign count theirs.
#[test]
fn turns_are_bounded_only_in_games_that_count_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (db, record, study) = (path("results.db"), path("game.record"), path("study.toml"));
    let pig = ["--scenario", "pig"];
    let games = [&["mcts:sims=1000", "random", "--games", "2"][..], &pig].concat();
    for (option, value, words) in [
        ("--turn-sims", "100", "--turn-sims: pig counts no turns; bound its decisions with --sims"),
        ("--turn-time", "1", "--turn-time: pig counts no turns; bound its decisions with --time"),
    ] {
        for command in [
            [&["match"], &games[..], &["--db", &db]].concat(),
            [&["tournament"], &games[..], &["--db", &db]].concat(),
            [&["play", "--side", "first", "--against", "mcts", "--record", &record], &pig[..]].concat(),
        ] {
            assert_eq!(refusal(&[&command[..], &[option, value]].concat()), format!("dervish: {words}\n"));
        }
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing was made");
    let head = "format = 1\ntitle = \"A\"\nquestion = \"?\"\n[[match]]\nscenario = \"pig\"\n";
    let agents = "a = \"mcts\"\nb = \"random\"\ngames = 2\nseed = 1\n";
    for (bound, words) in [
        ("turn_sims = 100\n", "turn_sims: pig counts no turns; bound its decisions with sims"),
        ("turn_time = 1.0\n", "turn_time: pig counts no turns; bound its decisions with time"),
    ] {
        fs::write(&study, [head, agents, bound].concat()).expect("written");
        assert_eq!(refusal(&["study", &study]), format!("dervish: {study}:4: {words}\n"));
    }
    for scenario in ["connect-four", "souakim"] {
        let bounded = ["match", "mcts:sims=9", "random", "--games", "2", "--turn-sims", "40", "--scenario", scenario];
        let report = json_of(&[&bounded[..], &["--max-decisions", "4", "--json"]].concat());
        assert_eq!(report["limits"]["turn_simulations"], 40);
    }
}

#[test]
fn a_match_stops_when_its_test_is_over() {
    let arguments = ["match", "mcts:sims=30", "random", "--scenario", "pig", "--games", "2000"];
    let arguments = [&arguments[..], &["--sprt", "elo0=0", "elo1=100"]].concat();
    let report = json_of(&[&arguments[..], &["--json"]].concat());
    assert_eq!(
        (report["sprt"]["verdict"].as_str(), report["sprt"]["plan"]["alpha"].as_f64()),
        (Some("H1"), Some(0.05))
    );
    assert!(report["sprt"]["log_likelihood_ratio"].as_f64() > report["sprt"]["bounds"][1].as_f64());
    assert!(report["statistics"]["games"].as_u64() < Some(2000));
    let table = String::from_utf8(dervish(&arguments).stdout).expect("UTF-8");
    assert!(table.contains("test +0 to +100 Elo  LLR ") && table.contains("H1 accepted: more than Elo +0"), "{table}");
    let biased =
        "\nended by the test   score and Elo are biased by the stopping, unlike those of a fixed number of games\n";
    assert!(table.contains(biased), "{table}");
    // With too few games nothing is decided.
    let undecided = String::from_utf8(dervish(&with(&["--sprt", "elo0=0,elo1=1"])).stdout).expect("UTF-8");
    assert!(undecided.contains("in (-2.94, 2.94), undecided") && !undecided.contains("biased"), "{undecided}");
}

#[test]
fn luck_is_told_where_it_is_asked_for() {
    let arguments = ["match", "mcts:sims=30", "random", "--scenario", "pig", "--games", "40", "--luck"];
    let luck = &json_of(&[&arguments[..], &["--json"]].concat())["statistics"]["luck"];
    assert!(luck["score"]["coefficient"].as_f64() > Some(0.0), "who has luck wins more: {luck}");
    let table = String::from_utf8(dervish(&arguments).stdout).expect("UTF-8");
    assert!(table.contains("score less luck ") && table.contains("margin less luck "), "{table}");
    // Student's intervals, without luck and with it, in the same match.
    for name in ["score", "margin"] {
        let width = |of: &str| {
            let end = |end: &str| luck[name][of][end].as_f64().expect("a number");
            end("high") - end("low")
        };
        let percent = (100.0 * (width("adjusted") / width("plain") - 1.0)).round();
        let beside = match percent {
            0.0 => "as wide as".to_string(),
            _ => format!("{}% {} than", percent.abs(), if percent < 0.0 { "narrower" } else { "wider" }),
        };
        let words = format!(" of A, {beside} Student's interval of the {name} with luck\n");
        assert!(table.contains(&words), "{words} is missing:\n{table}");
    }
    // Connect four has no dice.
    let silent = dervish(&["match", "random", "mcts:sims=9", "--scenario", "connect-four", "--games", "8", "--luck"]);
    assert!(!String::from_utf8_lossy(&silent.stdout).contains("luck"));
    assert!(String::from_utf8_lossy(&silent.stderr).contains("nothing is told of luck"));
}

#[test]
fn agents_are_listed_with_their_options() {
    let list = dervish(&["agents", "--scenario", "souakim"]);
    let list = String::from_utf8(list.stdout).expect("UTF-8");
    assert!(list.contains("random") && list.contains("mcts") && list.contains("simulations for each choice"), "{list}");
    assert!(list.contains("doctrine"), "{list}");
    // What may be written for an option whose words are the game's; the table breaks lines at spaces.
    let listed = |list: &str, words: &[&str]| {
        let list = list.split(['│', ' ', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        assert!(words.iter().all(|words| list.contains(words)), "{list}");
    };
    listed(&list, &["(random, doctrine)", "(random, doctrine, none)"]);
    // The doctrine knows the campaign alone.
    let pig = dervish(&["agents", "--scenario", "pig"]);
    let pig = String::from_utf8(pig.stdout).expect("UTF-8");
    assert!(pig.contains("random") && pig.contains("mcts") && !pig.contains("doctrine"), "{pig}");
    listed(&pig, &["(random, keep-pace)", "(random, keep-pace, none)"]);
    assert!(refusal(&["agents", "--scenario", "chess"]).contains("chess"));
}

/// Ctrl-C ends a match that would take hours, keeps the pairs that are finished and says that it was stopped.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_finished_pairs() {
    use crate::dervish_binary::start;
    use std::io::Read;
    use std::process::Command;
    use std::time::{Duration, Instant};

    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("match");
    let mut arguments = vec!["match", "random", "random", "--scenario", "pig", "--games", "4000000000"];
    arguments.extend(["--threads", "1", "--out", out.to_str().expect("UTF-8")]);
    let mut child = start(&arguments);
    let begun = Instant::now();
    while !out.join("games/00003.record").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no game was finished");
        std::thread::sleep(Duration::from_millis(10));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    assert!(child.wait().expect("it ends").success());
    let mut table = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut table).expect("UTF-8");
    assert!(table.contains("stopped: 4000000000 games were asked for"), "{table}");
    let report = dervish_training::arena::folder::MatchFolder::read_report(&out).expect("written");
    assert!(report.games.len() >= 4 && report.games.len().is_multiple_of(2));
}

/// A match that is refused leaves no new file of results; one that is played makes its folder.
#[test]
fn a_file_of_results_is_made_for_games_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (db, taken, out) = (path("runs/results.db"), path("taken"), path("out"));
    fs::create_dir(&taken).expect("a folder");
    fs::write(folder.path().join("taken/notes.txt"), "mine").expect("written");
    let line = refusal(&with(&["--db", &db, "--out", &taken]));
    assert_eq!(line, format!("dervish: {taken} is not empty; name a new folder\n"));
    assert!(!folder.path().join("runs").exists());
    assert!(dervish(&with(&["--db", &db, "--out", &out])).status.success());
    assert!(folder.path().join("runs/results.db").exists() && folder.path().join("out/match.json").exists());
}

/// A match that is in the file to its end is told as before; of the speed of nothing there is nothing to tell.
#[test]
fn a_match_that_was_played_before_has_no_speed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let db = folder.path().join("results.db").display().to_string();
    let told = || String::from_utf8(dervish(&with(&["--db", &db])).stdout).expect("UTF-8");
    let parts = |table: &str| {
        table.rsplit_once("\nspeed               ").map(|(all, speed)| (all.to_owned(), speed.to_owned()))
    };
    let (played, speed) = parts(&told()).expect("a line of speed");
    assert!(speed.contains(" decisions/s, ") && speed.ends_with(" threads\n"), "{speed}");
    assert_eq!(parts(&told()), Some((played, "none: all games were played before\n".to_owned())));
}

/// Names under which SQLite, left to itself, keeps a database in memory.
#[cfg(unix)]
#[test]
fn a_file_of_results_is_a_file_whatever_its_name() {
    for name in [":memory:", "file:results?mode=memory", "file:results"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Made, then gone on with.
        for games in ["2", "4"] {
            let arguments = ["match", "random", "random", "--scenario", "pig", "--games", games, "--db", name];
            let output = dervish_in(folder.path(), &arguments);
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let found: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.file_name()).collect();
        assert_eq!(found, [name]);
    }
}
