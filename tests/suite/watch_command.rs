//! `dervish watch`: what it tells of a run directory that is written by hand, and that it changes nothing there.

use crate::dervish_binary::{dervish, json_of, refusal};
use crate::run_directory::{line_of_assessment, line_of_round, random_game, run_in, write_lines};
use dervish_env::reference::pig::Pig;
use dervish_training::run_files::{RunFiles, disk_use};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

fn table_of(run: &Path) -> String {
    let output = dervish(&["watch", run.to_str().expect("UTF-8")]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn status_of(run: &Path) -> Value {
    json_of(&["watch", run.to_str().expect("UTF-8"), "--json", "--once"])
}

/// Every file with its contents.
fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(run).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.is_file());
    files.map(|path| (path.display().to_string(), fs::read(path).expect("a file"))).collect()
}

#[test]
fn a_run_is_told_from_its_last_complete_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let games = [random_game(&Pig::new(), 1), random_game(&Pig::new(), 2)];
    let mut text: String = (1..=3).map(|round| format!("{}\n", line_of_round(round, &games))).collect();
    // The fourth line is being written.
    text.push_str("{\"seconds\": 240.0, \"rou");
    fs::write(run.join("metrics.jsonl"), &text).expect("a file");
    let before = contents(&run);

    // Standard output is no terminal here: it is told once.
    let table = table_of(&run);
    for part in [
        "pig",
        "nobody is training",
        "3m (25.0% of the session)",
        "rounds, games learnt from",
        "3, 96",
        "1234",
        "61.2, 75%",
        "1.75 ms",
        "policy 1.833, result 0.625, margin 0.125, turns left 0.250",
        // ln 2: pig has two actions where there is a choice.
        "entropy of policy targets",
        "0.69 nats",
        "first seat score",
        "calibration error",
        "0.0 MiB of 3.0 MiB",
    ] {
        assert!(table.contains(part), "{part} is missing:\n{table}");
    }
    assert!(!table.contains("assessed"), "{table}");

    let status = status_of(&run);
    assert_eq!(
        (&status["version"], &status["training"], &status["scenarios"]),
        (&json!(1), &json!(false), &json!(["pig"]))
    );
    assert_eq!((&status["round"]["step"], &status["round"]["evaluations"]), (&json!(30), &json!(5)));
    assert_eq!((&status["assessment"], &status["disk_limit"]), (&Value::Null, &json!(3 << 20)));
    let written: usize = before.values().map(Vec::len).sum();
    assert_eq!(status["disk_use"], written);
    assert!((0.0..60.0).contains(&status["seconds_since_round"].as_f64().expect("an age")), "{status}");
    assert_eq!(contents(&run), before);
}

/// The policy's losses are told where there are any: its cross-entropy where it is taught, its entropy where the policy gradient
/// moves it, both as long as a teacher's games are learnt from beside the network's own.
#[test]
fn the_losses_of_the_policy_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    for (policy, entropy, told) in [
        (1.5, 0.0, "policy 1.500, result 0.625"),
        (0.0, 0.5, "entropy 0.500, result 0.625"),
        (1.5, 0.5, "policy 1.500, entropy 0.500, result 0.625"),
        (0.0, 0.0, "result 0.625"),
    ] {
        let mut line = line_of_round(1, &[]);
        (line["policy"], line["entropy"]) = (json!(policy), json!(entropy));
        write_lines(&run, "metrics.jsonl", &[line]);
        let table = table_of(&run);
        let losses = table.lines().find(|line| line.contains(told)).unwrap_or_else(|| panic!("no {told}:\n{table}"));
        assert_eq!(["policy", "entropy"].map(|loss| losses.contains(loss)), [policy > 0.0, entropy > 0.0], "{losses}");
    }
}

/// The figures of luck stand there where a round has them. One that was not finite is null in the line, which is no fault.
#[test]
fn what_luck_explains_is_told_where_it_is_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    for (luck, told) in [
        (Value::Null, None),
        (json!({"best_share": 0.754, "narrowing": 1.25}), Some("best share 0.75, narrows results 1.25 times")),
        (json!({"best_share": 1.0, "narrowing": null}), Some("best share 1.00, narrows results - times")),
    ] {
        let mut line = line_of_round(1, &[]);
        if !luck.is_null() {
            line["luck"] = luck;
        }
        write_lines(&run, "metrics.jsonl", &[line]);
        let table = table_of(&run);
        assert_eq!(table.contains("best share"), told.is_some(), "{table}");
        assert!(told.is_none_or(|told| table.contains(told)), "{table}");
    }
}

/// 4 rounds of 32 games are less than the teacher's 129, and as many as 128.
#[test]
fn how_far_imitation_is_stands_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let config = fs::read_to_string(run.join("config.toml")).expect("a file");
    write_lines(&run, "metrics.jsonl", &[line_of_round(4, &[])]);
    for (games, told) in [(129, true), (128, false)] {
        let more = format!("{config}[imitation]\nteacher = \"random\"\ngames = {games}\n");
        fs::write(run.join("config.toml"), more).expect("a file");
        let table = table_of(&run);
        assert_eq!(table.contains("128 of 129 games of the teacher learnt from"), told, "{table}");
        assert_eq!(status_of(&run)["imitation_games"], games);
    }
}

#[test]
fn a_program_that_trains_is_noticed_and_not_disturbed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let lock = File::create(run.join("lock")).expect("a file");
    assert_eq!(status_of(&run)["training"], false);
    lock.try_lock().expect("nobody else holds it");
    assert_eq!(status_of(&run)["training"], true);
    assert!(table_of(&run).contains("a program is training"));
    lock.unlock().expect("held");
    assert_eq!(status_of(&run)["training"], false);
}

#[test]
fn a_run_without_rounds_and_one_with_assessments_are_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    fs::write(run.join("metrics.jsonl"), "").expect("a file");
    let table = table_of(&run);
    assert!(table.contains("none yet") && !table.contains("losses"), "{table}");
    let status = status_of(&run);
    assert_eq!((&status["round"], &status["seconds_since_round"]), (&Value::Null, &Value::Null));

    let mut last = line_of_assessment(20.0, 0.75);
    last["alarm"] = json!(true);
    write_lines(&run, "assessments.jsonl", &[line_of_assessment(10.0, 0.5), last]);
    // A line of a program that knew no figures of games.
    write_lines(&run, "metrics.jsonl", &[json!({"seconds": 5.0, "rounds": 1, "step": 2, "entropy": 0.5})]);
    let table = table_of(&run);
    let parts = [
        "step 2000, after 20m",
        "0.750 [0.650, 0.850]",
        "doctrine (held out)",
        "worse against held-out opponents",
        "rating: +12 Elo",
        // No policy was taught: the policy gradient has its entropy.
        "entropy 0.500, result 0.000, margin 0.000, turns left 0.000",
        "entropy of the policy ",
        "0.50 nats",
    ];
    for part in parts {
        assert!(table.contains(part), "{part} is missing:\n{table}");
    }
}

#[test]
fn rounds_that_were_learnt_again_after_a_kill_count_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = run_in(folder.path(), "pig");
    let line = |rounds: u64, step: u64| json!({"rounds": rounds, "step": step});
    write_lines(&run, "metrics.jsonl", &[line(1, 10), line(2, 20), line(3, 30), line(2, 21), line(3, 31)]);
    let rounds = RunFiles::open(&run).and_then(|run| run.rounds()).expect("rounds");
    assert_eq!(rounds.iter().map(|line| line.step).collect::<Vec<_>>(), [10, 21, 31]);
    // What has other fields is told with its line.
    fs::write(run.join("metrics.jsonl"), "{\"rounds\": 1}\n{\"rounds\": \"two\"}\n").expect("a file");
    let told = RunFiles::open(&run).and_then(|run| run.rounds()).expect_err("a refusal").to_string();
    assert!(told.contains("metrics.jsonl:2: ") && told.lines().count() == 1, "{told}");
    // So is what is no JSON, wherever it stands; a line that a kill cut off, even within a number, is passed over.
    let run = run.to_str().expect("UTF-8");
    for name in ["metrics.jsonl", "assessments.jsonl", "sessions.jsonl"] {
        let at_fault = |text: &str| {
            fs::write(Path::new(run).join(name), text).expect("a file");
            let run = RunFiles::open(Path::new(run)).expect("a run");
            let all = match name {
                "metrics.jsonl" => run.rounds().map(|rounds| rounds.len()),
                "assessments.jsonl" => run.assessments().map(|assessments| assessments.len()),
                _ => run.sessions().map(|sessions| sessions.len()),
            };
            [all.map_err(|fault| fault.to_string()), run.latest(name).map(|_| 0).map_err(|fault| fault.to_string())]
        };
        for told in at_fault("{\"rounds\": \n{\"rou\n\n{\"rating\": -\n{\"rounds\": 4}{\n") {
            let told = told.expect_err("a refusal");
            assert!(told.contains(&format!("{name}:5: trailing characters at column ")), "{told}");
        }
        assert_eq!(at_fault("{\"rounds\": \n{\"rou\n{\"rating\": -"), [Ok(0), Ok(0)]);
    }
    fs::write(Path::new(run).join("metrics.jsonl"), "no JSON\n{\"rounds\": 1}\n").expect("a file");
    for command in ["watch", "report"] {
        assert!(refusal(&[command, run]).contains("metrics.jsonl:1: expected ident at column "), "{command}");
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_str().expect("UTF-8");
    for command in ["watch", "report"] {
        let told = format!("dervish: {path}: is no run directory: it has no config.toml\n");
        assert_eq!(refusal(&[command, path]), told, "{command}");
        let told = "dervish: no/such/run: is no run directory: it has no config.toml\n";
        assert_eq!(refusal(&[command, "no/such/run"]), told, "{command}");
    }
    fs::write(folder.path().join("config.toml"), "scenarios = 3\n").expect("a file");
    assert!(refusal(&["watch", path]).contains("config.toml: "));
}

#[test]
fn all_files_below_a_folder_count_by_their_lengths() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    fs::write(folder.path().join("one"), [0; 1000]).expect("a file");
    fs::write(folder.path().join("a/b/two"), [0; 234]).expect("a file");
    assert_eq!(disk_use(folder.path()).expect("a size"), 1234);
    assert_eq!(disk_use(&folder.path().join("gone")).expect("nothing"), 0);
}
