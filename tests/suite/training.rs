//! Training from end to end on pig, and its parts.

use crate::dervish_binary::{dervish, json_of, refusal as refusal_of};
use crate::flawed_game::{Flaw, FlawedGame};
use crate::pig_run::{changed, config, games_on_disk, latest_weights, lines_of, new_run, pig, rival};
use dervish_agents::evaluation::Utility;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::{AgentFactory, Registry, SpecError};
use dervish_env::encode::{ActionRows, Channel, Encoder, Layout, PolicyEncoder, Tokens};
use dervish_env::game::{Action, Seat};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns};
use dervish_env::reference::pig::{Pig, PigPlayers};
use dervish_models::batch::Batch;
use dervish_models::device::{DeviceChoice, Precision};
use dervish_models::evaluator::Evaluations;
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_neural::agent::{NeuralAgent, choose_index};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::luck::{LuckAdjusted, LuckMeter, value_function};
use dervish_training::arena::match_play::{MatchOptions, play_match};
use dervish_training::arena::report::MatchReport;
use dervish_training::assessment::Assessment;
use dervish_training::commands::train::{LogFormat, TrainArgs};
use dervish_training::config::RunConfig;
use dervish_training::run_dir::{RunDir, RunDirFault};
use dervish_training::self_play::actor::{Actor, ActorError};
use dervish_training::self_play::evaluation::{BatchEvaluator, Effort, EffortReport, OwnEvaluator, serve};
use dervish_training::self_play::game::{Judgement, SelfPlayGame};
use dervish_training::self_play::numbers::GameNumbers;
use dervish_training::self_play::players::PlayerError;
use dervish_training::self_play::pool::{LeagueConfig, Pool};
use dervish_training::self_play::targets::luck_ahead;
use dervish_training::self_play::teacher::Teacher;
use dervish_training::self_play::weights::PublishedWeights;
use dervish_training::self_play::{SelfPlayConfig, Start};
use dervish_training::session::{Budget, Material, Progress, SessionError, SessionReport, Watcher, train};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Stops a session after this step, as Ctrl-C does.
struct StopAfter(u64, AtomicU64);

impl Watcher for StopAfter {
    fn stop_requested(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }

    fn progress(&self, progress: &Progress) {
        self.1.store(progress.step, Ordering::Relaxed);
    }
}

/// Steps after which a small network on pig clearly plays better than at random.
const LEARNT: u64 = 1500;
const LONG: Budget = Budget::Time(Duration::from_secs(600));

fn train_pig(run: &RunDir, until_step: u64) -> SessionReport {
    let watcher = StopAfter(until_step, AtomicU64::new(0));
    train(&pig(), run, LONG, &watcher).expect("a session")
}

fn pig_agents() -> Registry<Pig> {
    let mut agents = Registry::new();
    agents.register(NeuralAgent::new(&Pig::new(), PigPlayers::new()));
    agents
}

fn against_random(agent: &AgentFactory<Pig>, pairs: u32) -> MatchReport {
    let options = MatchOptions { pairs, seed: 3, limits: Default::default(), max_decisions: None, threads: None };
    play_match(&Pig::new(), agent, &AgentFactory::of(RandomAgent::default()), &options, &()).expect("a match")
}

fn refusal(spec: &str) -> String {
    let refused = pig_agents().factory(spec).expect_err("a refusal");
    assert!(matches!(refused, SpecError::Unavailable { .. }), "{refused:?}");
    let line = refused.to_string();
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

#[test]
fn a_run_learns_stops_saves_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("runs").join("pig");
    let run = RunDir::create(&path, config(0)).expect("a new run");
    let first = train_pig(&run, LEARNT);
    assert!(first.stopped && first.steps >= LEARNT && first.after.games >= 16, "{first:?}");
    let steps = run.checkpoints().steps().expect("checkpoints");
    assert_eq!((steps[0], *steps.last().expect("a last one")), (0, first.steps));

    // Nobody else may train there, and nothing is overwritten.
    assert!(matches!(RunDir::open(&path).expect_err("in use").reason, RunDirFault::InUse));
    drop(run);
    let refused = RunDir::create(&path, config(0)).expect_err("a refusal");
    assert!(matches!(refused.reason, RunDirFault::Exists), "{refused}");

    // It has learnt: its policy beats random play, which the first, nearly uniform one does not. (So little training does
    // not yet show in the likeliest action, so actions are drawn.)
    let score = |step: u64| {
        let spec = format!("neural:{},temperature=1,step={step}", path.display());
        let report = against_random(&pig_agents().factory(&spec).expect("an agent"), 150);
        assert!(report.games.iter().all(|game| !game.truncated), "{spec}");
        report.statistics.score
    };
    let (untrained, trained) = (score(0), score(first.steps));
    assert!(untrained.low < 0.5, "{untrained:?}");
    assert!(trained.low > untrained.high.max(0.5), "{trained:?} {untrained:?}");

    // It goes on where it stopped; what a kill leaves half-written is passed over.
    fs::create_dir(path.join("checkpoints/.checkpoint-killed")).expect("a folder");
    let metrics = path.join("metrics.jsonl");
    let lines = fs::read_to_string(&metrics).expect("metrics") + "{\"cut o";
    fs::write(&metrics, &lines).expect("a file");
    let run = RunDir::open(&path).expect("the run");
    assert!(!path.join("checkpoints/.checkpoint-killed").exists(), "leftovers of a kill are cleared away");
    let second = train_pig(&run, first.steps + 5);
    // It goes on from the last checkpoint, which may be a moment older than the end of the session.
    let (before, ended) = (second.before, first.after);
    assert!(before.games > 0 && before.games <= ended.games && before.seconds <= ended.seconds, "{before:?} {ended:?}");
    assert!(second.steps > first.steps && second.after.games > before.games, "{second:?}");
    assert!(second.after.seconds > before.seconds);
    let text = fs::read_to_string(&metrics).expect("metrics");
    assert!(text.starts_with(&format!("{lines}\n{{")), "the cut line is ended before the next");
    let last: serde_json::Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["step"], second.steps);
    // Games have numbers of their own in both sessions.
    assert!(second.after.numbered >= second.after.games, "{second:?}");
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, config(0)).expect("a new run");
    train_pig(&run, 0);
    let spec = path.display().to_string();
    assert!(refusal("neural").contains("which network?"));
    let line = refusal(&format!("neural:{spec},step=77"));
    assert!(
        line.ends_with("step-00000077: there is no checkpoint of this step; the nearest that there are: 0"),
        "{line}"
    );
    // A checkpoint by itself has one step.
    let alone = format!("neural:{spec}/checkpoints/step-00000000");
    assert!(pig_agents().factory(&format!("{alone},step=0")).is_ok());
    assert!(refusal(&format!("{alone},step=3")).contains("has step 0, not 3"));
    assert!(refusal("neural:no/such/run").contains("no/such/run"));
    let weights = path.join("checkpoints/step-00000000/weights.safetensors");
    let bytes = fs::read(&weights).expect("weights");
    fs::write(&weights, &bytes[..bytes.len() / 2]).expect("a file");
    let line = refusal(&format!("neural:{spec}"));
    assert!(line.contains("weights.safetensors") && line.contains("bytes"), "{line}");
    let session = train(&pig(), &run, LONG, &()).expect_err("a refusal");
    assert!(matches!(session, SessionError::Checkpoint(_)), "{session}");
    fs::write(&weights, bytes).expect("a file");
    let mut others = Registry::new();
    others.register(NeuralAgent::new(&ConnectFour::new(), ConnectFourColumns::new()));
    let line = others.factory(&format!("neural:{spec}")).expect_err("another game").to_string();
    assert!(line.contains("made for game pig, not connect-four"), "{line}");
}

/// A network is known by its weights, whatever its folder is called.
#[test]
fn games_of_an_exchanged_network_are_not_joined() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [one, other] = [11, 12].map(|seed| {
        let path = folder.path().join(format!("seed-{seed}"));
        let mut config = config(0);
        config.seed = seed;
        let run = RunDir::create(&path, config).expect("a new run");
        train_pig(&run, 0);
        path.join("checkpoints/step-00000000")
    });
    let spec = format!("neural:{}", one.display());
    let fingerprint = || pig_agents().factory(&spec).expect("an agent").fingerprint().map(str::to_string);
    let manifest = fs::read_to_string(one.join("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let known = fingerprint();
    assert!(known.is_some());
    assert_eq!(known.as_deref(), manifest["files"]["weights.safetensors"]["xxh3"].as_str());
    let db = folder.path().join("results.db").display().to_string();
    let play = ["match", &*spec, "random", "--scenario", "pig", "--games", "2", "--db", &*db];
    let output = dervish(&play);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(&one).expect("removed");
    fs::rename(&other, &one).expect("renamed");
    assert_ne!(fingerprint(), known);
    let line = refusal_of(&play);
    assert!(line.contains("holds games that neural:run=") && line.contains("played by other contents"), "{line}");
}

#[test]
fn a_run_with_search_learns_its_policies() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, config(4)).expect("a new run");
    train_pig(&run, 3);
    assert!(!games_on_disk(&path).is_empty());
    for game in games_on_disk(&path) {
        for judgement in game.decisions.iter().filter_map(|decision| decision.judgement.as_ref()) {
            let sum: f32 = judgement.policy.iter().map(|(_, probability)| probability).sum();
            assert!((sum - 1.0).abs() < 1e-3 && judgement.probability > 0.0, "{judgement:?}");
            assert!(judgement.value.is_some_and(|value| (-1.0..=1.0).contains(&value)));
        }
    }
    for search in ["gumbel", "puct,batch=2", "expectimax,batch=2"] {
        let spec = format!("neural:{},sims=8,search={search}", path.display());
        let report = against_random(&pig_agents().factory(&spec).expect("an agent"), 3);
        assert_eq!(report.statistics.games, 6);
        // Expectimax makes none.
        assert_eq!(report.cost.efforts[0].simulations > 0, !search.starts_with("expectimax"), "{search}");
    }
    // What would be ignored is refused.
    for (options, told) in [
        ("search=puct", "search=puct is not used with sims=0"),
        ("batch=2", "batch=2 is not used with sims=0"),
        ("sims=8,batch=2", "batch=2 is not used with search=gumbel"),
        ("sims=8,temperature=0.5", "temperature=0.5 is not used with search=gumbel"),
        ("sims=8,search=puct,candidates=4", "candidates=4 is not used with search=puct"),
        ("sims=8,search=expectimax,c=2", "c=2 is not used with search=expectimax"),
    ] {
        let refused = pig_agents().factory(&format!("neural:{},{options}", path.display())).expect_err(options);
        assert_eq!(refused.to_string(), format!("agent 'neural': {told}"));
    }
}

/// Like Ctrl-C within a round of self-play: asked for the given time it answers yes.
struct StopWhenAsked(u64, AtomicU64);

impl Watcher for StopWhenAsked {
    fn stop_requested(&self) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed) + 1 >= self.0
    }
}

#[test]
fn an_interrupted_deterministic_run_ends_with_the_weights_of_one_that_was_not() {
    const ROUNDS: u64 = 7;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deterministic = |simulations: u32| {
        let mut changes =
            vec!["threads=1", "deterministic=true", "storage.checkpoint_every=2", "learner.games_per_round=6"];
        // Whatever decides whose weights play and who is met must be as it was too.
        if simulations > 0 {
            changes.extend([
                "league={share=0.5, opponents=['random'], past=2, past_every=2}",
                "gate={every=2, games=4}",
                "assessment={every=3, games=2, held_out=['mcts:sims=4']}",
            ]);
        }
        changed(simulations, &changes)
    };
    let material = Material { opponents: vec![rival("random")], held_out: vec![rival("mcts:sims=4")], ..pig() };
    let assessments = |path: &Path| -> Vec<(u64, f64)> {
        let text = fs::read_to_string(path.join("assessments.jsonl")).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Assessment>(line).expect("an assessment"));
        lines.flat_map(|line| line.agents.into_iter().map(move |of| (line.rounds, of.score))).collect()
    };
    for simulations in [0, 3] {
        let whole = folder.path().join(format!("whole-{simulations}"));
        let run = RunDir::create(&whole, deterministic(simulations)).expect("a new run");
        train(&material, &run, Budget::Rounds(ROUNDS), &()).expect("a session");
        drop(run);
        let pieces = folder.path().join(format!("pieces-{simulations}"));
        drop(RunDir::create(&pieces, deterministic(simulations)).expect("a new run"));
        // In the middle of rounds, and once with all that was learnt since the last checkpoint lost, as a kill does.
        let copy = |to: &str| {
            let status = std::process::Command::new("cp").arg("-r").arg(&pieces).arg(folder.path().join(to)).status();
            assert!(status.expect("cp").success());
        };
        for (number, stop) in [(1, 40), (2, 70), (3, 130)] {
            let run = RunDir::open(&pieces).expect("the run");
            let report = train(&material, &run, Budget::Rounds(ROUNDS), &StopWhenAsked(stop, AtomicU64::new(0)));
            let report = report.expect("a session");
            assert!(report.stopped && report.after.rounds < ROUNDS, "{report:?}");
            drop(run);
            if number == 2 {
                copy(&format!("killed-{simulations}"));
            }
        }
        // What a kill leaves: games beyond the last checkpoint, and half a line.
        let killed = folder.path().join(format!("killed-{simulations}"));
        let open = killed.join("replay/open.jsonl");
        fs::write(&open, fs::read_to_string(&open).expect("games") + "{\"number\": 1").expect("a file");
        for path in [&pieces, &killed] {
            let run = RunDir::open(path).expect("the run");
            let report = train(&material, &run, Budget::Rounds(ROUNDS), &()).expect("a session");
            assert!(!report.stopped && report.after.rounds == ROUNDS);
            assert!(latest_weights(path) == latest_weights(&whole), "{} differs", path.display());
            assert_eq!(assessments(path), assessments(&whole));
        }
    }
}

#[test]
fn a_teacher_is_imitated_before_self_play() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let changes = [
        "imitation.teacher=mcts:sims=20,reuse=false",
        "imitation.games=40",
        "imitation.explore=0.25",
        "learner.window=9",
    ];
    let run = new_run(&folder, 2, &changes);
    let teacher = Pig::agents().factory("mcts:sims=20,reuse=false").expect("an agent");
    let material = Material { teachers: vec![teacher], ..pig() };
    train(&material, &run, Budget::Rounds(5), &()).expect("a session");
    let mut taught = Vec::new();
    for game in games_on_disk(run.path()) {
        game.replay(&Pig::new(), |_, _, _| ()).expect("a game by the rules");
        let judgements = game.decisions.iter().filter_map(|decision| decision.judgement.as_ref());
        if game.number < 40 {
            taught.extend(judgements.cloned());
        } else {
            assert!(judgements.count() > 0);
        }
    }
    // Visits of 20 simulations are twentieths; a quarter of the actions is drawn at random, half of which are the teacher's.
    let twentieths = |judgement: &Judgement| {
        judgement.policy.iter().all(|(_, p)| (p * 20.0).fract().min(1.0 - (p * 20.0).fract()) < 1e-3)
    };
    assert!(
        taught.len() > 500 && taught.iter().filter(|judgement| twentieths(judgement)).count() * 10 > taught.len() * 9
    );
    let against = taught.iter().filter(|Judgement { index, policy, .. }| {
        let probability = |wanted: u32| policy.iter().find(|(action, _)| *action == wanted).map_or(0.0, |(_, p)| *p);
        let best = policy.iter().map(|(_, probability)| *probability).fold(0.0, f32::max);
        probability(*index) < best
    });
    let share = against.count() as f64 / taught.len() as f64;
    assert!((0.05..0.15).contains(&share), "{share}");
}

/// AlphaZero's search with targets without luck, and one evaluator for all actors, each in a session.
#[test]
fn every_search_and_evaluator_can_be_trained_with() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let figures = |name: &str, changes: &[&str]| {
        let path = folder.path().join(name);
        let run = RunDir::create(&path, changed(6, changes)).expect("a new run");
        let material = Material { value: Some(Box::new(value_function(Pig::evaluation()))), ..pig() };
        let report = train(&material, &run, Budget::Rounds(3), &()).expect("a session");
        assert!(report.steps > 0, "{report:?}");
        (games_on_disk(&path), lines_of(&path))
    };
    let (games, lines) = figures("puct", &["self_play.search={kind='puct'}", "learner.targets.luck=0.8"]);
    let judged = games.iter().flat_map(|game| &game.decisions).filter_map(|decision| decision.judgement.as_ref());
    for Judgement { index, policy, .. } in judged.filter(|judgement| !judgement.policy.is_empty()) {
        let sum: f32 = policy.iter().map(|(_, probability)| probability).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{policy:?}");
        // What is played is drawn from the visits.
        assert!(policy.iter().any(|(action, _)| action == index), "{index} of {policy:?}");
    }
    // What luck is told to explain of the first round is the regression of its results on the luck of its games.
    let first = fs::read_to_string(folder.path().join("puct/replay/round-00000000.jsonl")).expect("games");
    let (mut results, mut lucks) = (Vec::new(), Vec::new());
    for line in first.lines() {
        let game: SelfPlayGame = serde_json::from_str(line).expect("a game");
        let value = value_function(Pig::evaluation());
        let ahead = luck_ahead(&game, &Pig::new(), &value, &mut LuckMeter::default()).expect("a game by the rules");
        results.push(if game.result.winner == Some(Seat::First) { 1.0 } else { -1.0 });
        lucks.push(ahead[0]);
    }
    let expected = LuckAdjusted::of(&results, &lucks).expect("both sides win and are lucky");
    for (name, expected) in [("best_share", expected.coefficient), ("narrowing", expected.narrowing())] {
        let found = lines[0]["luck"][name].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-9, "{name}: {found} instead of {expected}");
    }
    let (games, lines) = figures("shared", &["self_play.evaluator=shared", "self_play.most_joined=8"]);
    let line = lines.last().expect("a round");
    assert!(games.len() >= 48 && line["queue_wait_ms"].as_f64() > Some(0.0), "{line}");
    assert_eq!(line.get("luck"), None);
}

/// Playout caps (Wu 2020): a decision that was not searched in full teaches the value and no policy.
#[test]
fn only_decisions_that_were_searched_in_full_teach_the_policy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for share in [0.5, 0.0] {
        let path = folder.path().join(format!("share-{share}"));
        let share_of_full = format!("self_play.full_share={share}");
        let config = changed(4, &[&share_of_full, "self_play.cheap_simulations=2"]);
        let run = RunDir::create(&path, config).expect("a new run");
        train(&pig(), &run, Budget::Rounds(3), &()).expect("a session");
        let games = games_on_disk(&path);
        let judged = games.iter().flat_map(|game| &game.decisions).filter_map(|decision| decision.judgement.as_ref());
        let taught: Vec<bool> = judged.map(|judgement| !judgement.policy.is_empty()).collect();
        let found = taught.iter().filter(|&&taught| taught).count() as f64 / taught.len() as f64;
        // Five standard deviations of a share of so many decisions.
        let deviation = (share * (1.0 - share) / taught.len() as f64).sqrt();
        assert!(taught.len() > 300 && (found - share).abs() <= 5.0 * deviation, "{found} of {}", taught.len());
        for line in lines_of(&path) {
            let loss = |name: &str| line[name].as_f64().unwrap_or_else(|| panic!("{name} in {line}"));
            assert_eq!(loss("policy") > 0.0, share > 0.0, "{line}");
            // Nor is it taught by the luck of the one action played.
            assert_eq!((loss("surrogate"), loss("entropy")), (0.0, 0.0), "{line}");
            assert!(loss("wdl") > 0.0, "{line}");
        }
    }
}

#[test]
fn an_exported_network_is_that_of_its_checkpoint_and_plays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, config(0)).expect("a new run");
    let report = train(&pig(), &run, Budget::Rounds(2), &()).expect("a session");
    let out = folder.path().join("network");
    let [of, to] = [&path, &out].map(|path| path.display().to_string());
    let output = dervish(&["export", &of, "--out", &to]);
    assert!(output.status.success(), "{output:?}");
    let weights = |folder: &Path| fs::read(folder.join("weights.safetensors")).expect("weights");
    assert!(weights(&out) == weights(&run.checkpoints().path(report.steps)));
    let mut files: Vec<_> = fs::read_dir(&out).expect("a folder").flatten().map(|file| file.file_name()).collect();
    files.sort();
    assert_eq!(files, ["manifest.json", "run.toml", "weights.safetensors"]);
    assert_eq!(RunConfig::parse(&fs::read_to_string(out.join("run.toml")).expect("text"), &[]), Ok(config(0)));
    let agent = pig_agents().factory(&format!("neural:{to}")).expect("an agent");
    assert_eq!(against_random(&agent, 1).games.len(), 2);
    // Nothing is written over, and a step that was not saved is refused.
    assert!(refusal_of(&["export", &of, "--out", &to]).contains("network"));
    let other = folder.path().join("other").display().to_string();
    assert!(refusal_of(&["export", &of, "--step", "77", "--out", &other]).contains("step-00000077"));
}

#[test]
fn the_speed_of_self_play_is_measured_beside_the_network_alone() {
    let command =
        ["bench", "selfplay", "--scenario", "pig", "--sims", "4", "--games", "8", "--seconds", "0.3", "--json"];
    let speed = json_of(&command);
    let figure = |name: &str| speed[name].as_f64().unwrap_or_else(|| panic!("{name} in {speed}"));
    // A search of 4 simulations asks about at most 4 leaves, and once about the root.
    assert!(figure("evaluations_per_second") <= 5.0 * figure("decisions_per_second") * 1.1, "{speed}");
    assert!(figure("mean_batch") > 4.0 && figure("mean_batch") <= 16.0, "{speed}");
    assert!(figure("evaluator_busy") > 0.0 && figure("evaluator_busy") < 1.0, "{speed}");
    let ratio = figure("evaluations_per_second") / figure("bare_per_second");
    assert!((ratio - figure("ratio")).abs() < 1e-9, "{speed}");
    assert!(refusal_of(&["bench", "selfplay", "--scenario", "chess"]).contains("chess"));
    assert!(refusal_of(&["bench", "selfplay", "--games", "0"]).contains("--games"));
}

/// Plays until `count` games are finished.
fn games(count: usize, simulations: u32) -> Vec<SelfPlayGame> {
    games_by(count, simulations, false)
}

/// The same with an evaluator of the actor's own, or one that serves three actors.
fn games_by(count: usize, simulations: u32, shared: bool) -> Vec<SelfPlayGame> {
    let starts = [Start { position: ConnectFour::new(), encoder: ConnectFourColumns::new() }];
    let inputs = dervish_neural::encoding::input_sizes(&starts[0].encoder);
    let network =
        NetworkConfig { inputs, architecture: Architecture::TokenMlp { hidden: 8, trunk: 8 }, by_seat: false };
    dervish_models::process::prepare();
    let net = Network::new(network, 1, DeviceChoice::Auto.device().expect("a device"));
    let weights = PublishedWeights::new(net.expect("a network"), 0);
    let (numbers, effort) = (GameNumbers::new(0, u64::MAX), Effort::default());
    let config = SelfPlayConfig { games_at_once: 3, ..config(simulations).self_play };
    let pool = Pool::new(&LeagueConfig::default(), Vec::new(), BTreeMap::new());
    let play = |evaluator: BatchEvaluator, count: usize| {
        let mut actor = Actor::new(&starts, config, 11, &pool, &weights, &numbers, evaluator);
        let mut finished = Vec::new();
        while finished.len() < count {
            actor.tick(&mut finished).expect("a batch");
        }
        finished
    };
    if !shared {
        return play(BatchEvaluator::own(&weights, &effort, Precision::Full).expect("a network"), count);
    }
    const ACTORS: usize = 3;
    let (requests, queue) = channel();
    let finished = std::thread::scope(|scope| {
        let server = OwnEvaluator::new(&weights, &effort, Precision::Full).expect("a network");
        let serving = scope.spawn(move || serve(queue, server, 64));
        let actors = [(); ACTORS].map(|()| {
            let evaluator = BatchEvaluator::shared(requests.clone());
            scope.spawn(|| play(evaluator, count))
        });
        drop(requests);
        let finished = actors.into_iter().flat_map(|actor| actor.join().expect("games")).collect();
        // The evaluator ends with the last actor.
        serving.join().expect("no panic");
        finished
    });
    let EffortReport { evaluations, mean_batch, evaluator_busy, queue_wait_ms } = effort.report();
    assert!(evaluations > 0 && mean_batch >= 1.0 && (0.0..=1.0).contains(&evaluator_busy) && queue_wait_ms > 0.0);
    finished
}

/// What a network reads of a game that breaks its laws: nothing of the position, and how many stones an action takes.
#[derive(Clone)]
struct Stones {
    layout: Layout,
    actions: Vec<Channel>,
}

impl Stones {
    fn new() -> Stones {
        let [tokens, globals] = ["stone", "nothing"].map(|name| Some(vec![Channel::flag(name)]));
        Stones {
            layout: Layout { tokens, globals, planes: None },
            actions: vec![Channel::new("taken", "stones", 0.0, 4.0)],
        }
    }
}

impl Encoder<FlawedGame> for Stones {
    fn name(&self) -> &'static str {
        "stones"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_tokens(&self, _: &FlawedGame, _: Seat, tokens: &mut Tokens) {
        tokens.push()[0] = 1.0;
    }
}

impl PolicyEncoder<FlawedGame> for Stones {
    fn named(&self, name: &str) -> Option<Stones> {
        (name == self.name()).then(|| self.clone())
    }

    fn token_groups(&self) -> usize {
        1
    }

    fn group_tokens(&self, tokens: &Tokens, groups: &mut Vec<u8>) {
        groups.resize(tokens.len(), 0);
    }

    fn action_layout(&self) -> &[Channel] {
        &self.actions
    }

    fn encode_actions(&self, _: &FlawedGame, _: Seat, legal: &[Action], rows: &mut ActionRows) {
        for action in legal {
            rows.push([Some(0), None])[0] = f32::from(action.0);
        }
    }
}

/// A game that is over, or cannot go on, without a result can teach nothing. It is no draw and does not vanish: the session ends
/// with its error, whoever played it, and keeps what was learnt.
#[test]
fn a_game_without_a_result_ends_the_session() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for flaw in [Flaw::NoResult, Flaw::NoActions] {
        for simulations in [0, 4] {
            let path = folder.path().join(format!("{flaw:?}-{simulations}"));
            let run = RunDir::create(&path, config(simulations)).expect("a new run");
            let start = Start { position: FlawedGame::new(flaw), encoder: Stones::new() };
            let error = train(&Material::of(vec![start]), &run, LONG, &()).expect_err("no result");
            let told = error.to_string();
            assert!(told.starts_with("self-play: game ") && told.ends_with(" ended without a result"), "{told}");
            assert!(matches!(error, SessionError::Player(PlayerError::Actor(ActorError::NoResult { .. }))), "{told}");
            assert!(error.spares_the_learner() && games_on_disk(&path).is_empty(), "{told}");
        }
        let agent = AgentFactory::of(RandomAgent::default());
        let mut teacher = Teacher::new(FlawedGame::new(flaw), 0, &agent, 0.0, Utility::default(), 11);
        assert_eq!(teacher.play(3).expect_err("no result").to_string(), "game 3 ended without a result");
    }
    // Without a flaw it is played and learnt from.
    let run = RunDir::create(&folder.path().join("whole"), config(4)).expect("a new run");
    let start = Start { position: FlawedGame::new(Flaw::None), encoder: Stones::new() };
    let report = train(&Material::of(vec![start]), &run, Budget::Rounds(2), &()).expect("a session");
    assert_eq!((report.after.rounds, report.after.games), (2, 32));
}

/// A game follows from seed and number, whoever evaluates its positions together with which others.
#[test]
fn games_are_the_same_with_one_evaluator_for_all_actors() {
    let shared = games_by(3, 4, true);
    assert!(shared.len() >= 9, "{}", shared.len());
    let mut alone = games_by(2 * shared.len(), 4, false);
    alone.sort_by_key(|game| game.number);
    let mut compared = 0;
    for game in &shared {
        // Rounding differs with the size of a batch, by too little to matter but where two actions are as good as equal.
        let Ok(place) = alone.binary_search_by_key(&game.number, |alone| alone.number) else { continue };
        let actions = |game: &SelfPlayGame| game.decisions.iter().map(|of| of.action).collect::<Vec<_>>();
        compared += usize::from(actions(game) == actions(&alone[place]));
    }
    assert!(compared * 10 >= shared.len() * 8, "{compared} of {}", shared.len());
}

/// Whoever waits for an evaluator that is gone is told so instead of waiting for ever.
#[test]
fn an_evaluator_that_is_gone_ends_the_actors() {
    let inputs = dervish_neural::encoding::input_sizes(&ConnectFourColumns::new());
    let network =
        NetworkConfig { inputs, architecture: Architecture::TokenMlp { hidden: 8, trunk: 8 }, by_seat: false };
    let mut batch = Batch::new(&network);
    let (requests, queue) = channel();
    let mut evaluator = BatchEvaluator::shared(requests);
    let waiting =
        std::thread::spawn(move || evaluator.evaluate(&mut batch, &mut Evaluations::default()).expect_err("gone"));
    drop(queue.recv().expect("a request"));
    assert_eq!(waiting.join().expect("no panic").to_string(), "the evaluator has stopped");
}

#[test]
fn games_of_self_play_can_be_played_again_and_do_not_depend_on_each_other() {
    for simulations in [0, 4] {
        let one = games(4, simulations);
        for game in &one {
            let mut shown = 0;
            game.replay(&ConnectFour::new(), |_, legal, decision| {
                shown += 1;
                assert!(legal.contains(&decision.action));
            })
            .expect("a game by the rules");
            assert_eq!(shown, game.decisions.len());
        }
        // With the same weights a game follows from seed and number.
        assert_eq!(one[..4], games(4, simulations)[..4]);
        let mut changed = one[0].clone();
        changed.result.winner = changed.result.winner.map(Seat::other);
        let unplayable = changed.replay(&ConnectFour::new(), |_, _, _| ()).expect_err("another result");
        assert!(unplayable.to_string().contains("does not end"), "{unplayable}");
        changed = one[0].clone();
        changed.decisions[1].seat = Seat::First;
        assert_eq!(changed.replay(&ConnectFour::new(), |_, _, _| ()).expect_err("another seat").decision, 1);
    }
}

#[test]
fn a_policy_is_played_by_its_temperature() {
    let policy = [0.2, 0.5, 0.3];
    assert_eq!(choose_index(&policy, 0.0, u64::MAX), Some(1));
    assert_eq!(choose_index(&[], 1.0, 0), None);
    let share = |temperature, index| {
        let words = 1024u64;
        let draws = (0..words).filter(|word| choose_index(&policy, temperature, word << 54) == Some(index)).count();
        draws as f64 / words as f64
    };
    assert!((share(1.0, 0) - 0.2).abs() < 0.01 && (share(1.0, 2) - 0.3).abs() < 0.01);
    // Squares 0.04, 0.25, 0.09 of 0.38.
    assert!((share(0.5, 1) - 0.25 / 0.38).abs() < 0.01);
}

#[test]
fn a_run_directory_says_what_is_wrong_with_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |path: &Path| RunDir::open(path).expect_err("a refusal").to_string();
    assert!(refused(folder.path()).contains("config.toml"));
    let file = folder.path().join("config.toml");
    let written = |text: &str| {
        fs::write(&file, text).expect("a file");
        refused(folder.path())
    };
    assert!(written("format = 99").contains("run format 99"));
    let whole = config(0).text();
    assert!(written(&whole.replace("hidden", "hiden")).contains("hiden"));
    assert!(written(&whole.replace("threads = 2", "threads = 0")).contains("threads: 0 is not from 1 to 1024"));
    assert_eq!(Encoder::<Pig>::name(&PigPlayers::new()), "pig-players");
}

#[test]
fn a_run_of_no_game_leaves_no_directory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let arguments = TrainArgs {
        preset: None,
        config: None,
        scenario: Some("chess".to_string()),
        resume: None,
        budget: Some(Duration::from_secs(1)),
        rounds: None,
        settings: Vec::new(),
        seed: None,
        threads: None,
        out: Some(out.clone()),
        print_config: false,
        log: LogFormat::Text,
        log_level: "info".parse().expect("a level"),
    };
    assert!(arguments.run().expect_err("no game").to_string().starts_with("chess: "));
    assert!(!out.exists());
}

/// What cannot be trained is refused before there is a directory.
#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let path = out.to_str().expect("UTF-8");
    for (setting, ending, told) in [
        ("network.device=cuda:99", ["--rounds", "1"], "cuda:99"),
        ("network.architecture.hidden=0", ["--rounds", "1"], "hidden"),
        ("deterministic=true", ["--budget", "1s"], "--rounds"),
    ] {
        let mut command = vec!["train", "--scenario", "pig", "--threads", "1", "--set", setting, "--out", path];
        command.extend(ending);
        let refused = refusal_of(&command);
        assert!(refused.contains(told), "{setting}: {refused}");
        assert!(!out.exists(), "{setting}");
    }
}
