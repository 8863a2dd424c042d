//! `dervish train` as its users call it: what it asks for, tells and records, and what is left when it is killed.

use crate::dervish_binary::{dervish, json_of, refusal, start};
use crate::pig_run::{games_on_disk, latest_weights, new_run, pig};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::Position;
use dervish_models::checkpoint::load_manifest;
use dervish_models::checkpoint_series::CheckpointSeries;
use dervish_models::trainer::Losses;
use dervish_training::arena::store::PROGRAM;
use dervish_training::interrupt::HEARD;
use dervish_training::learner::RoundReport;
use dervish_training::run_dir::RunDir;
use dervish_training::run_files::RunFiles;
use dervish_training::self_play::evaluation::EffortReport;
use dervish_training::self_play::game::SelfPlayGame;
use dervish_training::session::{Budget, Progress, SessionReport, Tally, Watcher, train, unfinished};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A small network that plays pig without search, and learns from few games.
const SMALL: [&str; 5] = [
    "network.architecture={kind='token_mlp', hidden=8, trunk=8}",
    "learner.games_per_round=4",
    "self_play.simulations=0",
    "self_play.games_at_once=4",
    "learner.window=2",
];

fn small<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["train", "--threads", "1"][..], &set(&SMALL), more].concat()
}

/// These changes of a configuration as arguments.
fn set<'a>(changes: &[&'a str]) -> Vec<&'a str> {
    changes.iter().flat_map(|&change| ["--set", change]).collect()
}

fn told(output: &Output) -> String {
    let told = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert!(output.status.success(), "{told}");
    told
}

fn path_in(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn latest_checkpoint(run: &str) -> PathBuf {
    CheckpointSeries::of_run(Path::new(run)).path_of(None).expect("a checkpoint")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
}

/// SIGKILL on Unix: nothing can be tidied up. False if it was over before.
fn kill(child: &mut Child) -> bool {
    let is_running = child.try_wait().expect("a child").is_none();
    child.kill().expect("it was started here");
    child.wait().expect("it ends");
    is_running
}

fn wait_for(what: &str, mut come: impl FnMut() -> bool) {
    let since = Instant::now();
    while !come() {
        assert!(since.elapsed() < Duration::from_secs(120), "{what} did not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The preset alone says all that it takes, here without its GPU; what it trained with is in the run, to be repeated.
#[test]
fn a_preset_trains_without_further_words() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (preset, scenarios, device) in [
        ("campaign-cuda", "scenarios=\"el-obeid khartoum\"", &["--set", "network.device=cpu"][..]),
        ("souakim-cpu", "scenarios=\"souakim\"", &[]),
    ] {
        let out = path_in(&folder, preset);
        // The learner does not look up from a round.
        let endless =
            set(&["imitation.teacher=random", "imitation.games=1000000000", "learner.games_per_round=100000"]);
        let command = [&["train", "--preset", preset, "--out", &out][..], &endless, device].concat();
        let mut child = start(&command);
        wait_for("the first checkpoint", || CheckpointSeries::of_run(Path::new(&out)).latest().is_ok());
        interrupt(&child);
        let status = child.wait().expect("it ends");
        assert!(status.success(), "{preset}: {status}");
        let sessions = RunFiles::open(Path::new(&out)).and_then(|run| run.sessions()).expect("sessions");
        assert_eq!(sessions.iter().map(|session| session.budget_seconds).collect::<Vec<_>>(), [Some(3600.0)]);
        let log = fs::read_to_string(Path::new(&out).join("train.log")).expect("a log");
        let begin = log.lines().find(|line| line.contains("begin")).expect("a beginning");
        let parts = [&format!("program=\"{PROGRAM}\""), "seed=0", "budget=1h", scenarios];
        assert!(parts.iter().all(|part| begin.contains(*part)), "{begin}");
    }
}

/// The learner is at a round of minutes, and does not look up: the first Ctrl-C is answered at once, the second one ends the
/// process within libtorch, with the status that shells give for SIGINT, 128 + 2, and by no signal.
#[test]
fn a_second_ctrl_c_leaves_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let long = ["--set", "learner.passes=1000", "--set", "learner.batch=1", "--rounds", "1"];
    let mut child = start(&small(&[&["--scenario", "pig", "--out", &out][..], &long].concat()));
    wait_for("a round", || Path::new(&out).join("replay/round-00000000.jsonl").exists());
    // Its games are complete; the learner takes them up in an instant.
    std::thread::sleep(Duration::from_secs(1));
    interrupt(&child);
    let mut told = BufReader::new(child.stderr.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
    assert!(told.any(|line| line == format!("dervish: {HEARD}")), "the first one was not answered");
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(told.collect::<Vec<String>>(), Vec::<String>::new());
}

/// Keeps what it hears.
#[derive(Default)]
struct Listener(Mutex<Vec<Progress>>);

impl Watcher for Listener {
    fn progress(&self, progress: &Progress) {
        self.0.lock().expect("no panic").push(*progress);
    }
}

/// A round that does not end within the session: its games count as they are played, and there is no score, not even 0.
#[test]
fn games_count_before_their_round_is_learnt_from() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &["learner.games_per_round=100000"]);
    let listener = Listener::default();
    train(&pig(), &run, Budget::Time(Duration::from_secs(1)), &listener).expect("a session");
    let heard = listener.0.into_inner().expect("no panic");
    let last = heard.last().expect("a word");
    let played = games_on_disk(run.path()).len() as u64;
    assert!(last.waiting > 0 && last.waiting <= played, "{last:?}, {played}");
    assert!(heard.iter().all(|of| of.tally.games == 0 && of.first_seat_score.is_none()));
    assert_eq!(last.words(0), format!("{} games played", last.waiting));
}

/// A teacher's games are told of as his; speed, score and losses are told once there are any.
#[test]
fn progress_tells_what_is_known() {
    let progress = Progress {
        session_seconds: 15.0,
        tally: Tally::default(),
        waiting: 12,
        step: 0,
        elapsed: 0.004,
        decisions_per_second: 0.0,
        first_seat_score: None,
        effort: EffortReport::default(),
        latest: None,
    };
    assert_eq!(progress.words(2500), "imitation: 12 of 2500 games of the teacher");
    assert_eq!(progress.words(12), "12 games played");
    let losses = Losses { policy: 1.234, wdl: 0.9876, margin: 0.25, ..Losses::default() };
    let progress = Progress {
        tally: Tally { rounds: 1, games: 32, ..Tally::default() },
        step: 3,
        decisions_per_second: 61.4,
        first_seat_score: Some(0.5),
        latest: Some(RoundReport { learnt_from: 90, learning_rate: 0.001, losses, luck: None }),
        ..progress
    };
    let learnt = "61 decisions/s, step 3, first seat score 0.50, losses: policy 1.23, result 0.988, margin 0.250";
    assert_eq!(progress.words(2500), format!("imitation: 44 of 2500 games of the teacher, {learnt}"));
    assert_eq!(progress.words(0), format!("44 games played, {learnt}"));
    // A policy gradient has no cross-entropy, and the games of a teacher beside it have one.
    for (policy, entropy, told) in [
        (0.0, 0.69, "losses: entropy 0.69, result 0.988, margin 0.250"),
        (1.234, 0.69, "losses: policy 1.23, entropy 0.69, result 0.988, margin 0.250"),
        (0.0, 0.0, "losses: result 0.988, margin 0.250"),
    ] {
        let losses = Losses { policy, entropy, ..losses };
        let latest = Some(RoundReport { learnt_from: 90, learning_rate: 0.001, losses, luck: None });
        let words = Progress { latest, ..progress }.words(0);
        assert!(words.ends_with(told), "{words}");
    }
}

/// At its end a session tells what rounds and the games of these do not: how many of the teacher's games are played, how many are
/// yet to be learnt from, and that nothing is learnt yet.
#[test]
fn the_end_of_a_session_tells_of_imitation() {
    let report = SessionReport {
        before: Tally::default(),
        after: Tally { rounds: 1, games: 32, ..Tally::default() },
        waiting: 12,
        steps: 3,
        stopped: false,
    };
    let waiting = "more games are played and not learnt from yet";
    assert_eq!(report.words(45), Some(format!("imitation: 44 of 45 games of the teacher; 12 {waiting}")));
    assert_eq!(report.words(44), Some(format!("12 {waiting}")));
    let one = SessionReport { waiting: 1, ..report };
    assert_eq!(one.words(0).as_deref(), Some("1 more game is played and not learnt from yet"));
    assert_eq!(SessionReport { waiting: 0, ..report }.words(32), None);
    let untrained = SessionReport { after: Tally::default(), steps: 0, waiting: 0, ..report };
    let nothing = "nothing is learnt yet: the network is as it was made";
    assert_eq!(untrained.words(0).as_deref(), Some(nothing));
    assert_eq!(untrained.words(45), Some(format!("imitation: 0 of 45 games of the teacher; {nothing}")));

    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let taught = set(&["imitation={teacher='random', games=100000000}", "learner.games_per_round=100000"]);
    let words =
        told(&dervish(&small(&[&["--scenario", "pig", "--budget", "1s", "--out", &out][..], &taught].concat())));
    let line = words.lines().find(|line| line.starts_with("imitation: ")).unwrap_or_else(|| panic!("{words}"));
    let (played, rest) = line["imitation: ".len()..].split_once(' ').expect("words");
    assert_eq!(rest, format!("of 100000000 games of the teacher; {played} {waiting}; {nothing}"));
    assert_eq!(played.parse(), Ok(games_on_disk(Path::new(&out)).len()), "{words}");
    assert!(words.contains("done: 0 rounds, 0 games learnt from (0 in this session), "), "{words}");
    assert!(words.contains("it plays as: neural:"), "{words}");
}

/// A run whose counts are gone is refused in one line, however it is gone on with, as any damaged one.
#[test]
fn a_run_without_its_counts_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    told(&dervish(&small(&["--scenario", "pig", "--rounds", "2", "--out", &out])));
    let manifest = latest_checkpoint(&out).join("manifest.json");
    let mut changed: Value = serde_json::from_slice(&fs::read(&manifest).expect("a manifest")).expect("JSON");
    changed["figures"] = json!({});
    fs::write(&manifest, changed.to_string()).expect("written");
    for more in [&["--rounds", "3"][..], &["--budget", "1s"], &[]] {
        let line = refusal(&[&["train", "--resume", &out][..], more].concat());
        assert!(line.ends_with("manifest.json: the figure rounds is missing\n"), "{line}");
    }
}

/// What is left of an hour is told in whole seconds, and a part of a second as it is.
#[test]
fn a_budget_is_told_in_seconds() {
    for (nanoseconds, told) in [(3_599_999_992_959, "1h"), (59_400_000_000, "59s"), (500_000_000, "500ms")] {
        assert_eq!(Budget::Time(Duration::from_nanos(nanoseconds)).to_string(), told);
    }
}

#[test]
fn who_says_nothing_of_time_is_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    assert!(refusal(&small(&["--scenario", "pig", "--out", &out])).contains("--budget"));
    assert!(!Path::new(&out).exists());
    told(&dervish(&small(&["--scenario", "pig", "--set", "budget=1h", "--rounds", "1", "--out", &out])));
    // The time of a configuration is that of a run, not of each session.
    assert!(refusal(&["train", "--resume", &out]).contains("--budget"));
    assert!(refusal(&["train", "--resume", &out, "--rounds", "2", "--budget", "1s"]).contains("--budget"));
}

/// Held out is who is never learnt from, however it is written: a spec says no more with the defaults of its options than
/// without them.
#[test]
fn who_is_held_out_is_not_learnt_from() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let trained = |learnt: &str, held_out: &str, train: &dyn Fn(&[&str])| {
        let held_out = format!("assessment.held_out={held_out}");
        let settings = ["--scenario", "pig", "--set", learnt, "--set", &held_out, "--rounds", "1", "--out", &out];
        train(&small(&settings));
    };
    for (key, learnt, held_out, agent) in [
        ("league.opponents", "['random']", "['random']", "random:seed=0"),
        ("league.opponents", "['random']", "['mcts:sims=2', 'random:seed=0']", "random:seed=0"),
        ("league.opponents", "['random', 'mcts:sims=2,c=2']", "['mcts:c=2,sims=2']", "mcts:"),
        ("imitation", "{teacher='random:seed=0', games=1}", "['random']", "random:seed=0"),
    ] {
        trained(&format!("{key}={learnt}"), held_out, &|command| {
            let refused = refusal(command);
            assert!(["assessment.held_out", key, agent].iter().all(|part| refused.contains(part)), "{refused}");
        });
        assert!(!Path::new(&out).exists(), "{key}={learnt}");
    }
    // Agents that differ, and a teacher without games.
    for learnt in ["league.opponents=['random:seed=1']", "imitation={teacher='random', games=0}"] {
        trained(learnt, "['random']", &|command| drop(told(&dervish(command))));
        fs::remove_dir_all(&out).expect("a run");
    }
}

/// What is printed is a configuration from which the same is printed, and nothing is trained.
#[test]
fn a_configuration_is_printed_to_begin_with() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let print = |args: &[&str]| {
        let output = dervish(&[&["train", "--print-config"], args].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = print(&["--preset", "kordofan-cpu", "--set", "learner.passes=3", "--seed", "5"]);
    for part in
        ["scenarios = [\"kordofan\"]", "seed = 5", "passes = 3", "[learner.trainer]", "weight_decay = ", "#[gate]"]
    {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let file = path_in(&folder, "own.toml");
    fs::write(&file, &text).expect("written");
    assert_eq!(print(&["--config", &file]), text);
    // What cannot be trained is refused in the words of training.
    let out = path_in(&folder, "run");
    for setting in ["network.architecture.hidden=0", "scenarios=['pig', 'souakim']", "network.encoder='x'"] {
        let asked = ["train", "--scenario", "pig", "--set", setting];
        let refused = refusal(&[&asked[..], &["--print-config"]].concat());
        assert_eq!(refused, refusal(&[&asked[..], &["--rounds", "1", "--out", &out]].concat()), "{setting}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn the_log_is_json_where_it_is_asked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    told(&dervish(&small(&["--scenario", "pig", "--rounds", "2", "--seed", "7", "--log", "json", "--out", &out])));
    let log = fs::read_to_string(Path::new(&out).join("train.log")).expect("a log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let begin = &lines.iter().find(|line| line["fields"]["message"] == "begin").expect("a beginning")["fields"];
    assert_eq!((&begin["seed"], &begin["budget"], &begin["program"]), (&json!(7), &json!("2 rounds"), &json!(PROGRAM)));
    let over = &lines.last().expect("an end")["fields"];
    assert_eq!((&over["message"], &over["stopped"]), (&json!("session over"), &json!(false)));
    assert!(lines.iter().all(|line| line["level"] != "DEBUG"));
}

/// Two rounds of games: with `debug` each game and each round has its line, with `warn` nothing is to be told.
#[test]
fn the_log_has_what_its_level_asks_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let (format, level) = (["--log", "json"], ["--log-level", "debug"]);
    let run = ["--scenario", "pig", "--rounds", "2", "--set", "learner.games_per_round=4", "--out", &out];
    told(&dervish(&small(&[&run[..], &format, &level].concat())));
    let log = fs::read_to_string(Path::new(&out).join("train.log")).expect("a log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |message: &str| lines.iter().filter(|line| line["fields"]["message"] == message).collect::<Vec<_>>();
    assert!(of("game").len() >= 8 && of("game").iter().all(|line| line["level"] == "DEBUG"), "{log}");
    assert_eq!(of("round").iter().map(|line| &line["fields"]["round"]).collect::<Vec<_>>(), [&json!(0), &json!(1)]);

    let out = path_in(&folder, "quiet");
    told(&dervish(&small(&["--scenario", "pig", "--rounds", "2", "--log-level", "warn", "--out", &out])));
    assert_eq!(fs::read_to_string(Path::new(&out).join("train.log")).expect("a log"), "");
    let refused = dervish(&small(&["--scenario", "pig", "--rounds", "2", "--log-level", "loud"]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--log-level"));
}

/// A run of two scenarios knows the rules of both, and whoever plays by others hears of it once.
#[test]
fn a_network_that_plays_by_other_rules_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let both = set(&["scenarios=['souakim', 'kordofan']", "learner.games_per_round=2"]);
    told(&dervish(&small(&[&["--scenario", "souakim", "--rounds", "1", "--out", &out][..], &both].concat())));
    let checkpoint = latest_checkpoint(&out);
    let manifest = load_manifest(&checkpoint).expect("a manifest");
    let rules = ["souakim", "kordofan"].map(|name| {
        let identity = Campaign::new(Scenario::builtin(name).expect("comes with the game")).identity();
        (name.to_string(), identity.rules_hash)
    });
    assert_eq!(manifest.rules, BTreeMap::from(rules.clone()));
    let origin = manifest.origin.expect("a run");
    assert_eq!((origin.program.as_str(), origin.seed), (PROGRAM, 0));
    let (spec, network) = (format!("neural:{out}"), path_in(&folder, "network"));
    let warnings = |spec: &str| {
        let output = dervish(&["match", spec, "random", "--scenario", "kordofan", "--games", "2", "--threads", "2"]);
        let told = told(&output);
        told.lines().filter(|line| line.contains("trained")).map(str::to_string).collect::<Vec<String>>()
    };
    assert_eq!(warnings(&spec), Vec::<String>::new());
    // What is exported says the same.
    told(&dervish(&["export", &out, "--out", &network]));
    assert_eq!(load_manifest(Path::new(&network)).expect("a manifest").rules, BTreeMap::from(rules.clone()));

    let file = checkpoint.join("manifest.json");
    let text = fs::read_to_string(&file).expect("a manifest");
    let known = &rules[1].1;
    fs::write(&file, text.replace(known.as_str(), "0123456789abcdef")).expect("written");
    let expected =
        format!("dervish: warning: {spec}: trained by other rules of kordofan (0123456789abcdef, not {known})");
    assert_eq!(warnings(&spec), [expected]);
    // Who goes on training hears of it too, and the log keeps it.
    let resumed = told(&dervish(&["train", "--resume", &out, "--rounds", "2"]));
    let words = "the run's network was trained by other rules of kordofan";
    assert_eq!(resumed.lines().filter(|line| line.contains(words)).count(), 1, "{resumed}");
    assert!(fs::read_to_string(Path::new(&out).join("train.log")).expect("a log").contains(words));
    // From here on it has learnt by today's rules.
    assert_eq!(load_manifest(&latest_checkpoint(&out)).expect("a manifest").rules, BTreeMap::from(rules));
}

/// Killed in whatever it does then, again and again, a deterministic run ends as one that was left alone.
#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_weights() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (whole, killed) = (path_in(&folder, "whole"), path_in(&folder, "killed"));
    let rounds = ["--rounds", "60"];
    let new = |out: &str| -> Vec<String> {
        let deterministic = ["deterministic=true", "storage.checkpoint_every=7"];
        let changes = set(&[&deterministic[..], &["learner.uses=2", "self_play.simulations=2"]].concat());
        let game = ["--scenario", "pig", "--out", out];
        small(&[&changes[..], &game, &rounds].concat()).iter().map(|word| word.to_string()).collect()
    };
    let resumed = ["train", "--resume", &killed, "--rounds", "60"].map(str::to_string).to_vec();
    let started = |words: &[String]| start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let lines = || fs::read_to_string(Path::new(&killed).join("metrics.jsonl")).map_or(0, |text| text.lines().count());
    let mut kills = 0;
    for delay in [0, 50, 110, 170, 240, 310] {
        let known = lines();
        let mut child = started(&if known == 0 { new(&killed) } else { resumed.clone() });
        wait_for("another round", || lines() > known || child.try_wait().expect("a child").is_some());
        std::thread::sleep(Duration::from_millis(delay));
        kills += u32::from(kill(&mut child));
    }
    assert!(kills >= 3, "it was over before it could be killed: {kills} kills");
    for words in [resumed, new(&whole)] {
        told(&dervish(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    assert!(latest_weights(Path::new(&killed)) == latest_weights(Path::new(&whole)), "other weights after kills");
    let games = |run: &str| {
        let mut games = games_on_disk(Path::new(run));
        games.sort_by_key(|game| game.number);
        games
    };
    assert_eq!(games(&killed), games(&whole));
}

/// With several threads the weights follow from their timing, and a kill may come while any of them keeps a game. Round follows
/// round all the same, each with its games, and no game counts twice.
#[test]
fn a_run_of_several_threads_is_whole_after_kills() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let path = Path::new(&out);
    let changes = set(&[
        "network.architecture={kind='token_mlp', hidden=8, trunk=8}",
        "self_play.games_at_once=4",
        "learner.games_per_round=16",
        // All games stay on disk.
        "learner.window=10000",
        "storage.checkpoint_every=0.2",
    ]);
    let new = ["train", "--scenario", "pig", "--threads", "3", "--rounds", "1000000", "--out", &out];
    let new = [&new[..], &changes].concat();
    let resumed = ["train", "--resume", &out, "--rounds", "1000000"];
    let lines = || fs::read_to_string(path.join("metrics.jsonl")).map_or(0, |text| text.lines().count());
    for delay in [0, 70, 190, 420] {
        let known = lines();
        let mut child = start(if known == 0 { &new[..] } else { &resumed[..] });
        wait_for("another round", || lines() > known || child.try_wait().expect("a child").is_some());
        std::thread::sleep(Duration::from_millis(delay));
        assert!(kill(&mut child), "it ended by itself");
    }
    let rounds_of = || RunFiles::open(path).and_then(|run| run.rounds()).expect("rounds");
    let end = rounds_of().last().expect("a round").rounds + 5;
    told(&dervish(&["train", "--resume", &out, "--rounds", &end.to_string()]));

    let counts: Vec<(u64, u64)> = rounds_of().iter().map(|line| (line.rounds, line.games)).collect();
    assert_eq!(counts, (1..=end).map(|round| (round, 16 * round)).collect::<Vec<_>>());
    let kept: Vec<u64> = games_on_disk(path).iter().map(|game| game.number).collect();
    assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), kept.len(), "a game is kept twice");
    let of_round = |round: u64| -> Vec<SelfPlayGame> {
        let text = fs::read_to_string(path.join(format!("replay/round-{round:08}.jsonl"))).expect("games");
        text.lines().map(|line| serde_json::from_str(line).expect("a game")).collect()
    };
    let learnt: Vec<SelfPlayGame> = (0..end).flat_map(of_round).collect();
    let decisions = learnt.iter().map(|game| game.decisions.len() as u64).sum::<u64>();
    let numbered = learnt.iter().map(|game| game.number + 1).max().expect("games");
    let figures = load_manifest(&latest_checkpoint(&out)).expect("a manifest").figures;
    let saved = ["rounds", "games", "decisions", "numbered"].map(|name| figures[name] as u64);
    assert_eq!(saved, [end, learnt.len() as u64, decisions, numbered]);
    let agent = format!("neural:{out}");
    let played = json_of(&["match", &agent, "random", "--scenario", "pig", "--games", "2", "--json"]);
    assert_eq!(played["statistics"]["games"], 2, "{played}");
}

/// What a killed session took is the run's, though no checkpoint knows of it, and what is left of its budget is the less.
#[test]
fn the_time_of_a_killed_session_counts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = path_in(&folder, "run");
    let path = Path::new(&out);
    let begun = Instant::now();
    let unsaved = ["--set", "storage.checkpoint_every=1000", "--budget", "1h"];
    let mut child = start(&small(&[&["--scenario", "pig", "--out", &out][..], &unsaved].concat()));
    // None as long as there is no run.
    let time_in = |file: &str| RunFiles::open(path).ok()?.latest(file).expect("a file")?["seconds"].as_f64();
    wait_for("a round and two seconds", || time_in("metrics.jsonl").is_some() && time_in("clock.jsonl") > Some(2.0));
    assert!(kill(&mut child), "it ended by itself");
    let took = begun.elapsed().as_secs_f64();
    let [clock, round] = ["clock.jsonl", "metrics.jsonl"].map(|file| time_in(file).expect("a time"));
    assert!(clock > 2.0 && clock <= took, "{clock} of {took}");
    let saved = || load_manifest(&latest_checkpoint(&out)).expect("a manifest").figures["seconds"];
    assert!(saved() < 1.0, "a checkpoint after {}", saved());

    let run = RunDir::open(path).expect("the run");
    let left = || match unfinished(&run).expect("a run") {
        Some(Budget::Time(left)) => left.as_secs_f64(),
        other => panic!("{other:?}"),
    };
    assert!((3600.0 - clock.max(round) - left()).abs() < 1e-6, "{} after {clock} and {round}", left());
    // An older program kept no clock.
    fs::remove_file(path.join("clock.jsonl")).expect("deleted");
    assert!((3600.0 - round - left()).abs() < 1e-6, "{} after {round}", left());
    let report = train(&pig(), &run, Budget::Rounds(5), &()).expect("a session");
    assert_eq!(report.before.seconds, round);
    assert!(saved() > round && saved() <= report.after.seconds, "{} of {report:?}", saved());
}

/// A configuration says how self-play is measured, settings change it, and options are settings that come last.
#[test]
fn self_play_is_measured_as_a_configuration_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = path_in(&folder, "own.toml");
    let text = "format = 3\nscenarios = ['pig']\nthreads = 1\n[self_play]\ngames_at_once = 3\n";
    fs::write(&file, text).expect("written");
    let config = ["bench", "selfplay", "--config", &file, "--device", "cpu", "--seconds", "0.1", "--json"];
    // Where nothing is searched, each game asks about one position at a time.
    for (more, games) in [
        (&["--set", "self_play.games_at_once=5"][..], 5.0),
        (&["--games", "7", "--set", "self_play.games_at_once=5"], 7.0),
        (&[], 3.0),
    ] {
        let speed = json_of(&[&config[..], more].concat());
        assert_eq!((&speed["threads"], &speed["mean_batch"]), (&json!(1), &json!(games)), "{speed}");
    }
    // The preset's evaluator serves all, and its network has no trunk.
    let preset = ["bench", "selfplay", "--preset", "campaign-cuda", "--scenario", "tiny", "--device", "cpu"];
    let small = ["--set", "network.architecture.width=8", "--games", "2", "--threads", "1", "--seconds", "0.1"];
    let command = [&preset[..], &small].concat();
    let speed = json_of(&[&command[..], &["--json"]].concat());
    assert!(speed["queue_wait_ms"].as_f64() > Some(0.0), "{speed}");
    assert!(refusal(&[&command[..], &["--trunk", "8"]].concat()).contains("network.architecture.trunk=8"));
}

/// The figures of mixed precision need a GPU; on a CPU it is the same as full precision.
#[test]
fn self_play_is_measured_in_either_precision() {
    let bench = |precision: &str| {
        let small = ["--sims", "2", "--games", "4", "--threads", "1", "--device", "cpu", "--seconds", "0.1", "--json"];
        json_of(&[&["bench", "selfplay", "--scenario", "pig", "--precision", precision][..], &small].concat())
    };
    for precision in ["full", "mixed"] {
        assert!(bench(precision)["evaluations_per_second"].as_f64() > Some(0.0), "{precision}");
    }
    assert!(refusal(&["bench", "selfplay", "--precision", "half"]).contains("half"));
    // One evaluator for all makes batches wait, and says how long.
    let shared =
        ["bench", "selfplay", "--scenario", "pig", "--sims", "2", "--games", "4", "--threads", "2", "--shared"];
    let output = dervish(&[&shared[..], &["--seconds", "0.1"]].concat());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success() && text.contains("after waiting ") && text.contains(" ms"), "{text}");
}

/// Runs `training/bench_cuda.sh` with these programs, which are scripts, before what is in `path`, if anything; the figures go
/// to `figures.json` in the folder.
fn bench_cuda(folder: &Path, programs: &[(&str, &str)], path: &str) -> Output {
    // What the script uses before it builds anything.
    for tool in ["bash", "dirname", "env"] {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().expect("sh runs");
        let path = String::from_utf8(found.stdout).expect("UTF-8");
        std::os::unix::fs::symlink(path.trim(), folder.join(tool)).expect("a link");
    }
    for (name, text) in programs {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, format!("#!{}\n{text}\n", folder.join("bash").display())).expect("a file");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("permissions");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../training/bench_cuda.sh");
    let mut command = Command::new(folder.join("bash"));
    // An empty name in a path would be the current folder.
    let path = format!("{}:{path}", folder.display());
    command.args([&script, &folder.join("figures.json")]).env("PATH", path.trim_end_matches(':'));
    command.env_remove("CUDA_VISIBLE_DEVICES");
    command.env("CARGO_TARGET_DIR", folder).env("TZ", "UTC").output().expect("bash runs")
}

/// Where there is no GPU the script says so, before it builds anything: without nvidia-smi, and where nvidia-smi finds none,
/// for which its manual has the status 6.
#[test]
fn the_script_for_gpus_does_nothing_without_one() {
    let none = ("nvidia-smi", "echo No devices were found; exit 6");
    for programs in [&[][..], &[none]] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = bench_cuda(folder.path(), programs, "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "no NVIDIA GPU here: nothing is measured\n");
        assert!(output.stderr.is_empty() && !folder.path().join("figures.json").exists());
    }
}

/// Networks of every kind play, learn, are saved and go on, in the campaign, whose encoder has tokens and hexes; what they
/// have learnt is played by the agent.
#[test]
fn every_kind_of_network_is_trained_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let common = [
        "self_play.games_at_once=4",
        "self_play.simulations=4",
        "learner.games_per_round=4",
        "learner.uses=2",
        "learner.window=2",
    ];
    for (name, network) in [
        ("mlp", &["network.architecture={kind='token_mlp', hidden=8, trunk=8}"][..]),
        ("transformer", &["network.architecture={kind='token_transformer', width=8, layers=1, heads=2}"]),
        ("planes", &["network.architecture={kind='hex_planes', channels=4, blocks=1, hidden=8, trunk=8}"]),
        ("two", &["network.architecture={kind='token_mlp', hidden=8, trunk=8}", "network.by_seat=true"]),
    ] {
        let out = path_in(&folder, name);
        let command = ["train", "--scenario", "tiny", "--threads", "2", "--rounds", "2", "--out", &out];
        told(&dervish(&[&command[..], &set(network), &set(&common)].concat()));
        let first = load_manifest(&latest_checkpoint(&out)).expect("a manifest").step;
        told(&dervish(&["train", "--resume", &out, "--rounds", "3"]));
        let second = load_manifest(&latest_checkpoint(&out)).expect("a manifest").step;
        assert!(first > 0 && second > first, "{name}: {first} {second}");
        let agent = format!("neural:{out},sims=4");
        let played = json_of(&["match", &agent, "random", "--scenario", "tiny", "--games", "2", "--json"]);
        assert_eq!(played["statistics"]["games"], 2, "{name}: {played}");
    }
}

/// A GPU that cannot be used is no reason to be content: the script fails, with the words of what failed.
#[test]
fn the_script_for_gpus_fails_where_there_is_one_that_cannot_be_used() {
    let gpu = ("nvidia-smi", "echo NVIDIA H200");
    for programs in [
        &[("nvidia-smi", "echo Unable to determine the device handle >&2; exit 15")][..],
        &[gpu, ("cargo", ""), ("release/dervish", "echo Unable to determine the device handle >&2; exit 2")],
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = bench_cuda(folder.path(), programs, "");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("Unable to determine the device handle"), "{told}");
        assert!(output.stdout.is_empty() && !folder.path().join("figures.json").exists());
    }
}

/// Self-play is measured from second 10^9 + 4, which is 2001-09-09 01:46:44 in UTC, to 10^9 + 8. The samples that looked back at
/// nothing else, for a second each, say 80% and 60%: the GPU is busy for 70% of the time.
#[test]
fn how_busy_the_gpu_is_spans_self_play_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let sample = |time: &str, busy: &str| format!("echo '2001/09/09 01:46:{time}, {busy}'");
    let samples =
        [("40.500", "1"), ("44.900", "2"), ("45.100", "80"), ("46.500", "[N/A]"), ("47.900", "60"), ("48.100", "3")];
    let samples = samples.map(|(time, busy)| sample(time, busy)).join("\n");
    let ready = folder.path().join("ready").display().to_string();
    // The watcher says all that it has to say before self-play ends.
    let smi = format!("case $* in *loop*) {samples}\n: >'{ready}'; exec sleep 600 ;; *) echo NVIDIA H200 ;; esac");
    let figures = r#"{"evaluations_per_second": 9, "bare_per_second": 10, "mean_batch": 8, "began": 1000000004.0, "ended": 1000000008.0}"#;
    let dervish = format!(
        "case $* in *json*) until [ -e '{ready}' ]; do sleep 0.01; done ;; esac; rm -f '{ready}'; echo '{figures}'"
    );
    let programs = [("nvidia-smi", &smi[..]), ("cargo", "echo network"), ("release/dervish", &dervish)];
    let output = bench_cuda(folder.path(), &programs, &std::env::var("PATH").expect("a path"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("GPU busy in self-play 70%"), "{told}");
    let text = fs::read_to_string(folder.path().join("figures.json")).expect("figures");
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    for scenario in ["el-obeid", "khartoum"] {
        assert_eq!(figures["self_play"][scenario]["gpu_busy"], 0.7, "{text}");
    }
    assert_eq!((&figures["gpu"], &figures["network"]), (&json!("NVIDIA H200"), &json!(["network"])));
}
