//! What a training session leaves when it is killed, stopped or fails, and how the next one goes on.

use crate::training::{config, pig};
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::reference::pig::Pig;
use dervish_models::checkpoint::load_manifest;
use dervish_training::arena::store::PROGRAM;
use dervish_training::config::RunConfig;
use dervish_training::run_dir::RunDir;
use dervish_training::run_files::RunFiles;
use dervish_training::self_play::players::PlayerError;
use dervish_training::self_play::pool::Rival;
use dervish_training::session::{Budget, Material, Progress, SessionError, Watcher, train};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

fn changed(simulations: u32, changes: &[&str]) -> RunConfig {
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    RunConfig::parse(&config(simulations).text(), &changes).expect("a configuration")
}

/// The lines of figures of a run.
fn lines_of(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Rounds and optimisation steps behind the latest checkpoint.
fn saved(run: &RunDir) -> (u64, u64) {
    let path = run.checkpoints().path_of(None).expect("a checkpoint");
    let manifest = load_manifest(&path).expect("a manifest");
    (manifest.figures["rounds"] as u64, manifest.step)
}

/// The files of the latest checkpoint that make weights.
pub fn latest_weights(run: &Path) -> Vec<Vec<u8>> {
    let steps = fs::read_dir(run.join("checkpoints")).expect("checkpoints").flatten().map(|step| step.path());
    let last = steps.max().expect("a checkpoint");
    let files = ["weights.safetensors", "learner.safetensors", "optimizer.safetensors"];
    files.iter().map(|file| fs::read(last.join(file)).expect("weights")).collect()
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

/// Stops a session after a while.
struct StopAt(Instant);

impl Watcher for StopAt {
    fn stop_requested(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// The step size shrinks evenly over the whole run to a tenth, whatever sessions it was made in.
#[test]
fn the_step_size_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, changed(0, &["learner.games_per_round=4"])).expect("a new run");
    let whole = Duration::from_secs(8);
    let base = run.config().learner.trainer.learning_rate;
    let rate = |line: &Value| line["learning_rate"].as_f64().expect("a number");
    let session = |budget: Duration, stop: f64| {
        let known = lines_of(&path).len();
        let watcher = StopAt(Instant::now() + Duration::from_secs_f64(stop));
        let report = train(&pig(), &run, Budget::Time(budget), &watcher).expect("a session");
        (lines_of(&path).split_off(known), report.after)
    };
    let (lines, after) = session(whole, 2.0);
    let last = rate(lines.last().expect("a round"));
    // After 2 of 8 seconds 1 - 0.9 x 2 / 8 = 0.775 of the step size is left.
    assert!(last < 0.9 * base && last > 0.2 * base, "{last} of {base}");
    // The rest of the same run.
    let (lines, after) = session(whole - Duration::from_secs_f64(after.seconds), 0.5);
    let first = rate(lines.first().expect("a round"));
    assert!(first <= last && first > 0.5 * last, "{first} after {last}");
    // Half a second more, to the end: of some 3 seconds in all more than 2.5 are over.
    let (lines, _) = session(Duration::from_millis(500), 9.0);
    let first = rate(lines.first().expect("a round"));
    let part = after.seconds / (after.seconds + 0.5);
    assert!(first <= base * (1.0 - 0.9 * part), "{first} of {base} with {part} of the run over");
    assert!(first >= 0.1 * base);
}

#[test]
fn every_session_is_kept_with_its_budget() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, changed(0, &[])).expect("a new run");
    let first = train(&pig(), &run, Budget::Rounds(2), &()).expect("a session");
    train(&pig(), &run, Budget::Time(Duration::from_millis(300)), &()).expect("a session");
    let sessions = RunFiles::open(&path).and_then(|run| run.sessions()).expect("sessions");
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
    let changes = ["threads=1", "deterministic=true", "storage.checkpoint_every=1", "learner.games_per_round=4"];
    let run = RunDir::create(&path, changed(0, &changes)).expect("a new run");
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
    let path = folder.path().join("pig");
    let changes = [
        "threads=1",
        "learner.games_per_round=1",
        "imitation={teacher='random', games=1000, explore=0.0}",
        "storage.checkpoint_every=1000",
    ];
    let run = RunDir::create(&path, changed(0, &changes)).expect("a new run");
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
    let changes = ["threads=1", "deterministic=true", "storage.checkpoint_every=1", "learner.games_per_round=4"];
    let run = RunDir::create(&path, changed(0, &changes)).expect("a new run");
    train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
    let replay = path.join("replay");
    let text = fs::read_to_string(replay.join("round-00000002.jsonl")).expect("games");
    let spoilt = text.lines().map(|line| {
        let mut game: Value = serde_json::from_str(line).expect("a game");
        for decision in game["decisions"].as_array_mut().expect("decisions") {
            if decision["judgement"].is_object() {
                decision["judgement"]["probability"] = json!(1e-45);
            }
        }
        format!("{game}\n")
    });
    let file = replay.join("round-00000003.jsonl");
    fs::write(&file, spoilt.collect::<String>()).expect("a file");
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
