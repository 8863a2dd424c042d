//! What a training session leaves when it is killed, stopped or fails, and how the next one goes on.

use crate::pig_run::{changed, config, latest_weights, lines_of, new_run, pig};
use crate::run_directory::line_of_assessment;
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::reference::pig::Pig;
use dervish_models::checkpoint::load_manifest;
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::store::PROGRAM;
use dervish_training::config::LONGEST_BUDGET;
use dervish_training::run_dir::{RunDir, RunDirFault};
use dervish_training::run_files::{RunFiles, SessionLine};
use dervish_training::self_play::players::PlayerError;
use dervish_training::self_play::pool::Rival;
use dervish_training::session::{Budget, Material, Progress, SessionError, Watcher, train, unfinished};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Rounds and optimisation steps behind the latest checkpoint.
fn saved(run: &RunDir) -> (u64, u64) {
    let path = run.checkpoints().path_of(None).expect("a checkpoint");
    let manifest = load_manifest(&path).expect("a manifest");
    (manifest.figures["rounds"] as u64, manifest.step)
}

/// Ends the session as a kill does, without a word to it, once so many rounds are learnt from.
struct KilledAfter<'r>(&'r Path, usize);

impl Watcher for KilledAfter<'_> {
    fn stop_requested(&self) -> bool {
        if lines_of(self.0).len() >= self.1 {
            resume_unwind(Box::new("killed"));
        }
        false
    }
}

/// The games of rounds since the latest checkpoint are learnt from again after a kill, together with the same older ones.
#[test]
fn a_run_that_is_killed_long_after_its_checkpoint_ends_with_the_weights_of_one_that_was_not() {
    const ROUNDS: Budget = Budget::Rounds(10);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "threads=1",
        "deterministic=true",
        "storage.checkpoint_every=5",
        "learner.games_per_round=6",
        "learner.window=2",
        "learner.uses=2",
    ];
    let whole = folder.path().join("whole");
    let run = RunDir::create(&whole, changed(2, &changes)).expect("a new run");
    train(&pig(), &run, ROUNDS, &()).expect("a session");
    let killed = folder.path().join("killed");
    let run = RunDir::create(&killed, changed(2, &changes)).expect("a new run");
    let session = || train(&pig(), &run, ROUNDS, &KilledAfter(&killed, 9));
    assert!(catch_unwind(AssertUnwindSafe(session)).is_err(), "it was to be killed");
    // Round 5 is learnt from with games of rounds 3 and 4, which round 9 no longer asks for.
    assert_eq!(saved(&run).0, 5);
    drop(run);
    let run = RunDir::open(&killed).expect("the run");
    train(&pig(), &run, ROUNDS, &()).expect("a session");
    assert!(latest_weights(&killed) == latest_weights(&whole), "other weights after a kill");
    let rate = |run: &Path| lines_of(run).last().map(|line| line["total"].clone());
    assert_eq!(rate(&killed), rate(&whole));
}

/// What stands in a folder, files with their contents.
fn standing_in(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut standing = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            standing.extend(standing_in(&path));
        }
        standing.insert(path.clone(), fs::read(path).ok());
    }
    standing
}

/// A run's directory gets its lock, two folders and, last and by another name first, its configuration: a kill leaves what is
/// there so far, and the same command then begins the run.
#[test]
fn a_run_that_was_killed_while_it_was_made_is_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let stages: [&dyn Fn() -> io::Result<()>; 5] = [
        &|| fs::create_dir(&path),
        &|| fs::write(path.join("lock"), ""),
        &|| fs::create_dir(path.join("checkpoints")),
        &|| fs::create_dir(path.join("replay")),
        &|| fs::write(path.join(".tmpK1Ll3d"), "format = 3\nscena"),
    ];
    let mut whole = None;
    for reached in 0..=stages.len() {
        stages[..reached].iter().try_for_each(|stage| stage()).expect("what a kill leaves");
        assert!(RunDir::open(&path).is_err(), "there is nothing to go on with at stage {reached}");
        drop(RunDir::create(&path, config(0)).unwrap_or_else(|error| panic!("stage {reached}: {error}")));
        assert_eq!(RunDir::open(&path).expect("the run").config(), &config(0));
        let made = standing_in(&path);
        assert_eq!(&made, whole.get_or_insert_with(|| made.clone()), "at stage {reached}");
        fs::remove_dir_all(&path).expect("deleted");
    }
    // As long as another program makes it, it is that one's.
    stages.iter().try_for_each(|stage| stage()).expect("what is being made");
    let lock = File::open(path.join("lock")).expect("a file");
    lock.lock().expect("nobody else holds it");
    let before = standing_in(&path);
    assert!(matches!(RunDir::create(&path, config(0)).expect_err("in use").reason, RunDirFault::InUse));
    assert_eq!(standing_in(&path), before);
}

/// Whatever else is under the name of a new run is refused and left alone.
#[test]
fn what_no_kill_leaves_is_not_taken_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, what) in [
        ("config.toml", "a run"),
        ("notes.txt", "a file of the user"),
        ("replay/open.jsonl", "a game"),
        ("checkpoints/step-00000000/manifest.json", "a checkpoint"),
        ("checkpoints/.checkpoint-killed/manifest.json", "half a checkpoint"),
        (".git/config", "a hidden folder"),
        (".tmp/file", "a folder by the name of a file that is written"),
        ("lock/file", "a folder by the name of the lock"),
    ] {
        let path = folder.path().join(what);
        let file = path.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        fs::write(&file, what).expect("a file");
        let before = standing_in(&path);
        let refused = RunDir::create(&path, config(0)).expect_err(what);
        assert!(matches!(refused.reason, RunDirFault::Exists), "{what}: {refused}");
        assert_eq!(standing_in(&path), before, "{what}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "a file").expect("a file");
    assert!(matches!(RunDir::create(&file, config(0)).expect_err("a file").reason, RunDirFault::Exists));
    assert_eq!(fs::read(&file).expect("the file"), b"a file");
}

/// Files that were being written when a program was killed are gone once the run is opened, in every folder that gets such
/// files; what has other names stays.
#[test]
fn what_a_kill_left_half_written_is_swept_away() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    drop(RunDir::create(&path, config(0)).expect("a new run"));
    for kept in [".gitignore", "notes.tmp", "replay/.keep", "checkpoints/notes"] {
        fs::write(path.join(kept), "the user's").expect("a file");
    }
    fs::create_dir(path.join(".git")).expect("a folder");
    let before = standing_in(&path);
    for left in [".tmpAb3dE6", ".tmpzzzzzz", "replay/.tmpAb3dE6"] {
        fs::write(path.join(left), "half of it").expect("a file");
    }
    for left in ["checkpoints/.checkpoint-1", "checkpoints/.removed-00000001", "past/.checkpoint-2"] {
        fs::create_dir_all(path.join(left).join("folder")).expect("folders");
    }
    drop(RunDir::open(&path).expect("the run"));
    let after = standing_in(&path);
    let past = path.join("past");
    assert_eq!(after.iter().filter(|(path, _)| **path != past).collect::<Vec<_>>(), before.iter().collect::<Vec<_>>());
}

/// Stops a session after a while.
struct StopAt(Instant);

impl Watcher for StopAt {
    fn stop_requested(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// Stops a session that has learnt from a round after a while.
struct StopLearnt {
    at: Instant,
    learnt: AtomicBool,
}

impl Watcher for StopLearnt {
    fn stop_requested(&self) -> bool {
        self.learnt.load(Ordering::Relaxed) && Instant::now() >= self.at
    }

    fn progress(&self, progress: &Progress) {
        self.learnt.store(progress.latest.is_some(), Ordering::Relaxed);
    }
}

/// The step size shrinks evenly over the whole run to a tenth, whatever sessions it was made in.
#[test]
fn the_step_size_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &["learner.games_per_round=4"]);
    let whole = Duration::from_secs(8);
    let base = run.config().learner.trainer.learning_rate;
    let rate = |line: &Value| line["learning_rate"].as_f64().expect("a number");
    let session = |budget: Duration, stop: f64| {
        let known = lines_of(run.path()).len();
        let at = Instant::now() + Duration::from_secs_f64(stop);
        let watcher = StopLearnt { at, learnt: AtomicBool::new(false) };
        let report = train(&pig(), &run, Budget::Time(budget), &watcher).expect("a session");
        (lines_of(run.path()).split_off(known), report.after)
    };
    let (lines, after) = session(whole, 2.0);
    let last = rate(lines.last().expect("a round"));
    // After 2 of 8 seconds 1 - 0.9 x 2 / 8 = 0.775 of the step size is left.
    assert!(last < 0.9 * base && last > 0.2 * base, "{last} of {base}");
    // The rest of the same run.
    let (lines, after) = session(whole - Duration::from_secs_f64(after.seconds), 0.5);
    let first = rate(lines.first().expect("a round"));
    assert!(first <= last && first > 0.5 * last, "{first} after {last}");
    // Two seconds more, to the end: of some 4.5 in all more than 2.5 are over. What counts is the time behind the checkpoint;
    // actors may take a moment more to end.
    let checkpoint = run.checkpoints().path_of(None).expect("a checkpoint");
    let before = load_manifest(&checkpoint).expect("a manifest").figures["seconds"];
    assert!(before <= after.seconds);
    let (lines, _) = session(Duration::from_secs(2), 9.0);
    let first = rate(lines.first().expect("a round"));
    let part = before / (before + 2.0);
    assert!(first <= base * (1.0 - 0.9 * part), "{first} of {base} with {part} of the run over");
    assert!(first >= 0.1 * base);
}

/// The floating-point numbers of a file of weights, which are all of 32 bits: after the length of its header in 8 bytes and the
/// header (the format of safetensors).
fn numbers_in(file: &Path) -> Vec<f32> {
    let bytes = fs::read(file).expect("weights");
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    bytes[8 + header..].as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect()
}

/// A step a round: two of warm-up (Goyal et al. 2017), which leave 1/2 and 1 of 0.01, while four rounds take it evenly down to a
/// fifth. Where they begin, 0, 1/4, 2/4 and 3/4 of the run are over: 1, 0.8, 0.6 and 0.4 of the step size are left. AdamW's first
/// step has the length of the step size for every weight that has a gradient (Kingma and Ba 2015, section 2.1).
#[test]
fn the_step_size_grows_and_shrinks_as_it_is_set() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "threads=1",
        "deterministic=true",
        "learner.games_per_round=4",
        "learner.passes=1",
        "learner.batch=1000000",
        "learner.warm_up=2",
        "learner.final_learning_rate=0.2",
        "learner.trainer.learning_rate=0.01",
        "learner.trainer.weight_decay=0.0",
        "storage.checkpoint_every=1",
        "storage.latest=9",
    ];
    let run = new_run(&folder, 0, &changes);
    train(&pig(), &run, Budget::Rounds(4), &()).expect("a session");
    let lines = lines_of(run.path());
    assert_eq!(lines.iter().map(|line| line["step"].as_u64()).collect::<Vec<_>>(), [1, 2, 3, 4].map(Some));
    for (line, expected) in lines.iter().zip([0.01 / 2.0, 0.01 * 0.8, 0.01 * 0.6, 0.01 * 0.4]) {
        let rate = line["learning_rate"].as_f64().expect("a number");
        assert!((rate - expected).abs() < 1e-12, "{rate} instead of {expected}");
    }
    let [before, after] = [0, 1].map(|step| numbers_in(&run.checkpoints().path(step).join("learner.safetensors")));
    let moved = before.iter().zip(&after).map(|(before, after)| (after - before).abs()).fold(0.0, f32::max);
    assert!((moved - 0.005).abs() < 1e-5, "{moved}");
}

#[test]
fn every_session_is_kept_with_its_budget() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &[]);
    let first = train(&pig(), &run, Budget::Rounds(2), &()).expect("a session");
    train(&pig(), &run, Budget::Time(Duration::from_millis(300)), &()).expect("a session");
    let sessions = RunFiles::open(run.path()).and_then(|run| run.sessions()).expect("sessions");
    let [one, two] = &sessions[..] else { panic!("{sessions:?}") };
    assert_eq!((one.budget_rounds, one.budget_seconds, one.rounds, one.step), (Some(2), None, 0, 0));
    assert_eq!((two.budget_rounds, two.budget_seconds), (None, Some(0.3)));
    assert_eq!((two.rounds, two.step, two.program.as_str()), (2, first.steps, PROGRAM));
    assert!(one.began > 1_500_000_000 && one.began <= two.began);
}

/// A file of games that was taken away, as the message about a damaged one advises, is a round that teaches nothing.
#[test]
fn a_run_goes_on_without_a_round_that_was_taken_away() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = run_of_small_rounds(&path);
    train(&pig(), &run, Budget::Rounds(4), &()).expect("a session");
    // As after a kill with two rounds since the latest checkpoint.
    let checkpoints = run.checkpoints();
    while saved(&run).0 > 2 {
        checkpoints.remove(checkpoints.latest().expect("a step")).expect("deleted");
    }
    let (_, step) = saved(&run);
    fs::remove_file(path.join("replay/round-00000002.jsonl")).expect("deleted");
    let report = train(&pig(), &run, Budget::Rounds(3), &()).expect("nothing to learn from, and nothing to save");
    assert_eq!((report.after.rounds, report.steps, saved(&run)), (3, step, (2, step)));
    let report = train(&pig(), &run, Budget::Rounds(6), &()).expect("a session");
    assert_eq!((report.after.rounds, saved(&run)), (6, (6, report.steps)));
    assert!(report.steps > step);
}

/// What was interrupted goes on for as long as it was to last; what came to its end has to be told how much longer.
#[test]
fn what_is_left_of_a_session_is_known() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &[]);
    assert_eq!(unfinished(&run).expect("a run"), None, "no session yet");
    train(&pig(), &run, Budget::Rounds(2), &()).expect("a session");
    assert_eq!(unfinished(&run).expect("a run"), None);
    let stopped = train(&pig(), &run, Budget::Rounds(10_000), &StopAt(Instant::now())).expect("a session");
    assert!(stopped.stopped);
    assert_eq!(unfinished(&run).expect("a run"), Some(Budget::Rounds(10_000)));
    let before = stopped.after.seconds;
    let stop = StopAt(Instant::now() + Duration::from_millis(700));
    let after = train(&pig(), &run, Budget::Time(Duration::from_secs(60)), &stop).expect("a session").after.seconds;
    let Some(Budget::Time(left)) = unfinished(&run).expect("a run") else { panic!("a time was left") };
    // What a session has taken when it ends is what the next one is told.
    assert!((left.as_secs_f64() - (60.0 - (after - before))).abs() < 1e-6, "{left:?} after {before} and {after}");
}

/// A budget that no session can have, as an older program took it or as a damaged file says, is as long as one may be.
#[test]
fn what_is_left_is_no_more_than_a_budget_may_be() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &[]);
    train(&pig(), &run, Budget::Rounds(1), &()).expect("a session");
    let mut session = RunFiles::open(run.path()).and_then(|run| run.sessions()).expect("sessions").remove(0);
    session.budget_rounds = None;
    for (seconds, left) in [(1e300, Some(LONGEST_BUDGET)), (1e18, Some(LONGEST_BUDGET)), (-1e300, None)] {
        run.add_session(&SessionLine { budget_seconds: Some(seconds), ..session.clone() }).expect("written");
        assert_eq!(unfinished(&run).expect("a run"), left.map(Budget::Time), "{seconds}");
    }
}

/// Hears what the user should know.
#[derive(Default)]
struct Warned(Mutex<Vec<String>>);

impl Watcher for Warned {
    fn warned(&self, words: &str) {
        self.0.lock().expect("no panic").push(words.to_string());
    }
}

/// A checkpoint after each round of four games, one thread.
fn run_of_small_rounds(path: &Path) -> RunDir {
    let changes = ["threads=1", "deterministic=true", "storage.checkpoint_every=1", "learner.games_per_round=4"];
    RunDir::create(path, changed(0, &changes)).expect("a new run")
}

/// Where the files tell of steps, an earlier checkpoint is gone on from with a word, and without any nothing is begun anew:
/// games and networks of the past would be deleted with it.
#[test]
fn a_run_without_its_checkpoints_is_not_begun_anew() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = run_of_small_rounds(&path);
    train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
    let checkpoints = run.checkpoints();
    let latest = checkpoints.latest().expect("a checkpoint");
    checkpoints.remove(latest).expect("deleted");
    let earlier = checkpoints.latest().expect("a checkpoint");
    let heard = Warned::default();
    let report = train(&pig(), &run, Budget::Rounds(4), &heard).expect("a session");
    let words = format!("the run goes on from step {earlier}: there is no checkpoint of step {latest}");
    assert_eq!((heard.0.into_inner().expect("no panic"), report.before.rounds), (vec![words], 2));
    let heard = Warned::default();
    train(&pig(), &run, Budget::Rounds(5), &heard).expect("a session");
    assert!(heard.0.into_inner().expect("no panic").is_empty(), "nothing is missing any more");

    checkpoints.steps().expect("steps").into_iter().try_for_each(|step| checkpoints.remove(step)).expect("deleted");
    for (file, rounds) in [("metrics.jsonl", 5), ("sessions.jsonl", 4)] {
        let before = standing_in(&path);
        for error in [
            train(&pig(), &run, Budget::Rounds(6), &()).expect_err("no checkpoint"),
            unfinished(&run).expect_err("no checkpoint"),
        ] {
            assert!(matches!(error, SessionError::NoCheckpoint { .. }), "{error}");
            let (line, told) = (error.to_string(), format!("{file} tells of {rounds} rounds and "));
            assert!(line.starts_with(&path.join("checkpoints").display().to_string()), "{line}");
            assert!(line.contains(&told) && line.lines().count() == 1, "{line}");
        }
        assert_eq!(standing_in(&path), before);
        fs::remove_file(path.join(file)).expect("deleted");
    }
    // Nothing tells of it any more but its games, and a run begins.
    fs::remove_dir_all(path.join("replay")).expect("deleted");
    fs::create_dir(path.join("replay")).expect("a folder");
    assert_eq!(train(&pig(), &run, Budget::Rounds(1), &()).expect("a session").after.rounds, 1);
}

/// What a checkpoint says that cannot be is told with its manifest, before anything is changed by it.
#[test]
fn figures_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = run_of_small_rounds(&path);
    let report = train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
    let manifest = run.checkpoints().path(report.steps).join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let range = "which is not from 0 to";
    for (name, figure, told) in [
        ("rounds", 1e30, range),
        ("rounds", -5.0, range),
        ("rounds", 0.5, "which is not a whole number"),
        ("rounds", 0.0, "games is 12.0, which is not 0 before the first round"),
        ("rounds", 1000.0, "which is not what metrics.jsonl tells, 3 rounds with "),
        ("games", 1e30, range),
        ("games", 11.0, "which is not what metrics.jsonl tells of the same round, 12"),
        ("decisions", -1.0, range),
        ("decisions", 1.0, "which is not what metrics.jsonl tells of the same round, "),
        ("numbered", 1e30, range),
        ("numbered", 11.0, "which is not at least 12, the number of games"),
        ("playing_step", 1e6, "which is not at most"),
        ("playing_step", 1.5, "which is not a whole number"),
        ("seconds", -1e9, range),
        ("seconds", 1e308, range),
        ("met random games", -1e308, range),
        ("met random points", 1e300, range),
    ] {
        let mut changed: Value = serde_json::from_str(&text).expect("JSON");
        changed["figures"][name] = json!(figure);
        fs::write(&manifest, changed.to_string()).expect("written");
        let before = standing_in(&path);
        for error in [
            train(&pig(), &run, Budget::Rounds(6), &()).expect_err("no such figure"),
            unfinished(&run).expect_err("no such figure"),
        ] {
            let line = error.to_string();
            assert!(line.starts_with(&format!("{}: the figure ", manifest.display())), "{line}");
            assert!(line.contains(told) && line.lines().count() == 1, "{name} = {figure}: {line}");
        }
        assert_eq!(standing_in(&path), before, "{name} = {figure}");
    }
    fs::write(&manifest, &text).expect("written");
    let report = train(&pig(), &run, Budget::Rounds(6), &()).expect("a session");
    assert_eq!(report.after.rounds, 6);
    // That session began with three rounds, fewer than any checkpoint after it has.
    fs::remove_file(path.join("metrics.jsonl")).expect("deleted");
    let manifest = run.checkpoints().path(report.steps).join("manifest.json");
    let mut changed: Value = serde_json::from_slice(&fs::read(&manifest).expect("a manifest")).expect("JSON");
    changed["figures"]["rounds"] = json!(3.0);
    fs::write(&manifest, changed.to_string()).expect("written");
    let line = unfinished(&run).expect_err("no such figure").to_string();
    assert!(line.contains("which is not what sessions.jsonl tells, 3 rounds with "), "{line}");
}

/// Without its counts a run would go on with others: all that it has used and made would be told wrong from then on. The number
/// of the next game alone is known from the games too, and an older program did not write it.
#[test]
fn figures_that_are_missing_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = run_of_small_rounds(&path);
    let report = train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
    let manifest = run.checkpoints().path(report.steps).join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    let without = |names: &[&str]| {
        let mut changed = whole.clone();
        let figures = changed["figures"].as_object_mut().expect("figures");
        names.iter().for_each(|name| drop(figures.remove(*name).expect("a figure")));
        fs::write(&manifest, changed.to_string()).expect("written");
    };
    let all = ["rounds", "games", "decisions", "numbered", "seconds"];
    for (names, told) in [
        (&["rounds"][..], "rounds"),
        (&["games"], "games"),
        (&["decisions"], "decisions"),
        (&["seconds"], "seconds"),
        (&["numbered", "decisions"], "decisions"),
        (&all[..], "rounds"),
    ] {
        without(names);
        let before = standing_in(&path);
        for error in [
            train(&pig(), &run, Budget::Rounds(6), &()).expect_err("too little to go on"),
            unfinished(&run).expect_err("too little to go on"),
        ] {
            assert_eq!(error.to_string(), format!("{}: the figure {told} is missing", manifest.display()), "{names:?}");
        }
        assert_eq!(standing_in(&path), before, "{names:?}");
    }
    without(&["numbered"]);
    let report = train(&pig(), &run, Budget::Rounds(6), &()).expect("a session");
    assert_eq!((report.before.games, report.after.games, report.after.numbered), (12, 24, 24));
}

/// A kill may cut a line within a character.
#[test]
fn an_assessment_that_was_cut_off_is_passed_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = new_run(&folder, 0, &[]);
    let whole = format!("{}\n", line_of_assessment(1.0, 0.5));
    let more = "{\"seconds\": 60.0, \"agents\": [{\"spec\": \"external:cmd=d\u{e9}".as_bytes();
    let file = run.path().join("assessments.jsonl");
    for length in [0, 1, more.len() - 1, more.len()] {
        fs::write(&file, [whole.as_bytes(), &more[..length]].concat()).expect("a file");
        assert_eq!(run.assessments_until(10).expect("an assessment").len(), 1, "{length} bytes of another");
        assert_eq!(fs::read_to_string(&file).expect("a file"), whole);
        assert_eq!(run.assessments_until(9).expect("none yet").len(), 0);
    }
    // No kill leaves a line that has an end and is no JSON.
    let strange = whole + "no JSON\n";
    fs::write(&file, &strange).expect("a file");
    let told = run.assessments_until(10).expect_err("no assessment").to_string();
    assert!(told.contains("assessments.jsonl:2: expected ident at column "), "{told}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), strange);
}

/// A network cannot be changed by a line of the configuration.
#[test]
fn a_configuration_of_another_network_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, changed(0, &[])).expect("a new run");
    train(&pig(), &run, Budget::Rounds(1), &()).expect("a session");
    let (before, weights) = (saved(&run), latest_weights(&path));
    drop(run);
    let text = fs::read_to_string(path.join("config.toml")).expect("the configuration");
    for (old, new) in [("hidden = 16", "hidden = 24"), ("by_seat = false", "by_seat = true")] {
        assert!(text.contains(old), "{text}");
        fs::write(path.join("config.toml"), text.replace(old, new)).expect("written");
        let run = RunDir::open(&path).expect("the run");
        let error = train(&pig(), &run, Budget::Rounds(2), &()).expect_err("another network");
        assert!(matches!(error, SessionError::OtherNetwork { .. }), "{error}");
        assert!(saved(&run) == before && latest_weights(&path) == weights, "the checkpoint is another");
    }
}

/// A run that has learnt from three rounds of four games, one thread, and the file of a fourth round to be learnt from next: the
/// games of the third with the numbers of the fourth, spoilt.
fn run_with_spoilt_round(path: &Path, spoil: impl Fn(&mut Value)) -> (RunDir, PathBuf) {
    let run = run_of_small_rounds(path);
    train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
    let replay = path.join("replay");
    let text = fs::read_to_string(replay.join("round-00000002.jsonl")).expect("games");
    let spoilt = text.lines().map(|line| {
        let mut game: Value = serde_json::from_str(line).expect("a game");
        game["number"] = json!(game["number"].as_u64().expect("a number") + 4);
        spoil(&mut game);
        format!("{game}\n")
    });
    let file = replay.join("round-00000003.jsonl");
    fs::write(&file, spoilt.collect::<String>()).expect("a file");
    (run, file)
}

/// Kept games that do not fit the rules are named with their file, without which the run goes on.
#[test]
fn a_game_that_the_rules_do_not_allow_is_named_with_its_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Other dice than those that the game was played with.
    let (run, file) = run_with_spoilt_round(&folder.path().join("pig"), |game| {
        game["dice_seed"] = json!(game["dice_seed"].as_u64().expect("a number") ^ 1);
    });
    let error = train(&pig(), &run, Budget::Rounds(6), &()).expect_err("no game by the rules");
    assert!(matches!(&error, SessionError::Unplayable { path, .. } if *path == file), "{error}");
    let line = error.to_string();
    assert!(line.contains("take the file away") && line.lines().count() == 1, "{line}");
    fs::remove_file(&file).expect("deleted");
    let report = train(&pig(), &run, Budget::Rounds(6), &()).expect("a session");
    assert_eq!(report.after.rounds, 6);
}

/// Games are kept while the learner is busy with something else, such as an assessment that lasts for minutes.
#[test]
fn a_game_is_on_disk_as_soon_as_it_is_finished() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let changes = ["learner.games_per_round=4", "assessment={every=1, games=2, held_out=['beset']}"];
    let run = RunDir::create(&path, changed(0, &changes)).expect("a new run");
    let kept = Arc::new(AtomicU32::new(0));
    let (found, replay) = (kept.clone(), path.join("replay"));
    // The round that is learnt from has four games. Word of four fits in between where the learner does not listen, and each of
    // the two threads keeps one more game before it waits.
    const AT_LEAST: usize = 6;
    let watch = move || {
        let count = || -> usize {
            let files = fs::read_dir(&replay).expect("a folder").flatten();
            files.map(|file| fs::read_to_string(file.path()).unwrap_or_default().lines().count()).sum()
        };
        let since = Instant::now();
        while count() < AT_LEAST && since.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        found.fetch_max(count() as u32, Ordering::Relaxed);
    };
    let agent = AgentFactory::of(Beset::new(watch, || ()));
    let held_out = vec![Rival { name: "beset".to_string(), by_scenario: vec![agent] }];
    let material = Material { held_out, ..pig() };
    train(&material, &run, Budget::Rounds(1), &()).expect("a session");
    let kept = kept.load(Ordering::Relaxed) as usize;
    assert!(kept >= AT_LEAST, "{kept} games on disk while the run was assessed");
}

/// A teacher that tells no value is not taken for one that thinks every position even, nor one who judges by wins alone for one who
/// counts margins as the run does.
#[test]
fn only_values_of_the_kind_of_the_run_are_taken_from_teachers() {
    let imitation = "imitation={teacher='any', games=100, explore=0.0}";
    let searcher = || Pig::agents().factory("mcts:sims=4").expect("an agent");
    let silent = || AgentFactory::of(Beset::new(|| (), || ()));
    for (teacher, margin_share, told) in
        [(silent(), "0.0", false), (searcher(), "0.25", false), (searcher(), "0.0", true)]
    {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pig");
        let utility = format!("self_play.utility.margin_share={margin_share}");
        let changes = ["learner.games_per_round=8", "learner.window=99", "learner.uses=2", imitation, &utility];
        let run = RunDir::create(&path, changed(2, &changes)).expect("a new run");
        let material = Material { teachers: vec![teacher], ..pig() };
        train(&material, &run, Budget::Rounds(2), &()).expect("a session");
        for line in lines_of(&path) {
            assert!(line["figures"]["decisions_per_game"].as_f64() > Some(0.0), "{line}");
            for seat in [0, 1] {
                let count = line["figures"]["seats"][seat]["all"]["count"].as_u64();
                assert_eq!(count > Some(0), told, "margin share {margin_share}: {line}");
            }
        }
    }
}

/// An agent that plays at random, with something that happens before each of its games and choices.
#[derive(Clone)]
struct Beset {
    random: RandomAgent,
    before_game: Arc<dyn Fn() + Send + Sync>,
    before_choice: Arc<dyn Fn() + Send + Sync>,
}

impl Beset {
    fn new(before_game: impl Fn() + Send + Sync + 'static, before_choice: impl Fn() + Send + Sync + 'static) -> Beset {
        let random = RandomAgent::default();
        Beset { random, before_game: Arc::new(before_game), before_choice: Arc::new(before_choice) }
    }
}

impl Agent<Pig> for Beset {
    fn spec(&self) -> String {
        "beset".to_string()
    }

    fn new_game(&mut self, rng: ChaCha8Rng) {
        (self.before_game)();
        Agent::<Pig>::new_game(&mut self.random, rng);
    }

    fn choose(&mut self, position: &Pig, limits: &Limits) -> Result<Choice, AgentError> {
        (self.before_choice)();
        self.random.choose(position, limits)
    }
}

/// Stops a session once it has taken a step.
struct StopWhenLearnt(AtomicU64);

impl Watcher for StopWhenLearnt {
    fn stop_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    fn progress(&self, progress: &Progress) {
        self.0.store(progress.step, Ordering::Relaxed);
    }
}

/// A teacher's game may take minutes: what was learnt is safe before that.
#[test]
fn a_session_that_is_stopped_saves_before_its_actors_have_finished() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "threads=1",
        "learner.games_per_round=1",
        "imitation={teacher='random', games=1000, explore=0.0}",
        "storage.checkpoint_every=1000",
    ];
    let run = new_run(&folder, 0, &changes);
    // Its two players begin game after game; from the third on they wait until they are let go.
    let (begun, gate) = (Arc::new(AtomicU32::new(0)), Arc::new((Mutex::new(false), Condvar::new())));
    let (counted, awaited) = (begun.clone(), gate.clone());
    let teacher = Beset::new(
        move || {
            counted.fetch_add(1, Ordering::Relaxed);
        },
        move || {
            if begun.load(Ordering::Relaxed) > 2 * 2 {
                let (open, changed) = &*awaited;
                let guard = open.lock().expect("no panic");
                drop(changed.wait_while(guard, |open| !*open).expect("no panic"));
            }
        },
    );
    let material = Material { teachers: vec![AgentFactory::of(teacher)], ..pig() };
    let saved_early = std::thread::scope(|scope| {
        let session = scope.spawn(|| train(&material, &run, Budget::Rounds(1000), &StopWhenLearnt(AtomicU64::new(0))));
        let since = Instant::now();
        let is_saved = || run.checkpoints().latest().is_ok_and(|step| step > 0);
        while !is_saved() && since.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let saved_early = is_saved();
        *gate.0.lock().expect("no panic") = true;
        gate.1.notify_all();
        let report = session.join().expect("no panic").expect("a session");
        assert!(report.stopped && report.steps > 0, "{report:?}");
        saved_early
    });
    assert!(saved_early, "it waited for the teacher");
}

#[test]
fn a_thread_that_breaks_off_ends_the_session_after_a_checkpoint() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "self_play.games_at_once=2",
        "league={share=1.0, opponents=['beset']}",
        "learner.games_per_round=4",
        "storage.checkpoint_every=1000",
    ];
    for evaluator in ["own", "shared"] {
        let path = folder.path().join(evaluator);
        let evaluator = format!("self_play.evaluator={evaluator}");
        let run = RunDir::create(&path, changed(0, &[&changes[..], &[&evaluator]].concat())).expect("a new run");
        let games = AtomicU32::new(0);
        let falter = move || {
            if games.fetch_add(1, Ordering::Relaxed) == 40 {
                resume_unwind(Box::new("as\nplanned"));
            }
        };
        let agent = AgentFactory::of(Beset::new(falter, || ()));
        let opponents = vec![Rival { name: "beset".to_string(), by_scenario: vec![agent] }];
        let material = Material { opponents, ..pig() };
        let error = train(&material, &run, Budget::Time(Duration::from_secs(600)), &()).expect_err("no game more");
        assert!(matches!(error, SessionError::Player(PlayerError::Panicked(_))), "{error}");
        assert_eq!(error.to_string(), "self-play: a thread broke off: as; planned");
        let learnt = lines_of(&path).last().map(|line| line["step"].as_u64().expect("a step"));
        assert!(learnt > Some(0));
        assert_eq!(Some(saved(&run).1), learnt);
    }
}

/// An action that is said to have been played with hardly any probability: what it weighs for the policy gradient is beyond all
/// numbers of 32 bits.
#[test]
fn a_loss_that_is_not_finite_ends_the_session_and_spares_the_checkpoint() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let (run, file) = run_with_spoilt_round(&path, |game| {
        for decision in game["decisions"].as_array_mut().expect("decisions") {
            if decision["judgement"].is_object() {
                decision["judgement"]["probability"] = json!(1e-45);
            }
        }
    });
    let (before, weights) = (saved(&run), latest_weights(&path));
    let error = train(&pig(), &run, Budget::Rounds(6), &()).expect_err("no step");
    assert!(matches!(error, SessionError::NotFinite { saved, .. } if saved == before.1), "{error}");
    let line = error.to_string();
    let parts = ["not finite", &format!("saved at step {}", before.1), "--resume", "learning_rate"];
    assert!(parts.iter().all(|part| line.contains(part)) && line.lines().count() == 1, "{line}");
    assert!(saved(&run) == before && latest_weights(&path) == weights, "the checkpoint is another");
    // Without the file it goes on from there.
    fs::remove_file(&file).expect("deleted");
    let report = train(&pig(), &run, Budget::Rounds(6), &()).expect("a session");
    assert!(report.steps > before.1 && report.after.rounds == 6);
}
