//! Training from end to end on pig, and its parts.

use dervish_agents::evaluation::Utility;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::{AgentFactory, Registry, SpecError};
use dervish_env::encode::Encoder;
use dervish_env::game::{Action, GameResult, Seat};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns};
use dervish_env::reference::pig::{Pig, PigPlayers};
use dervish_models::batch::Played;
use dervish_models::device::DeviceChoice;
use dervish_models::network::{Architecture, Network, NetworkConfig};
use dervish_neural::agent::{NeuralAgent, choose_index};
use dervish_training::arena::match_play::{MatchOptions, play_match};
use dervish_training::arena::report::MatchReport;
use dervish_training::commands::train::{LogFormat, TrainArgs};
use dervish_training::learner::LearnerConfig;
use dervish_training::run_dir::{FORMAT_VERSION, RunConfig, RunDir, RunDirFault};
use dervish_training::self_play::actor::{Actor, SelfPlayConfig};
use dervish_training::self_play::game::{Decision, Judgement, SelfPlayGame};
use dervish_training::self_play::replay::ReplayWindow;
use dervish_training::self_play::targets::{TargetConfig, played_actions, standardise, turns_left, value_target};
use dervish_training::self_play::weights::PublishedWeights;
use dervish_training::session::{Progress, SessionError, Watcher, train};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn config(simulations: u32) -> RunConfig {
    RunConfig {
        format: FORMAT_VERSION,
        scenario: "pig".to_string(),
        threads: 2,
        hidden: 16,
        trunk: 32,
        checkpoint_seconds: 0.5,
        self_play: SelfPlayConfig {
            seed: 11,
            games_at_once: 16,
            simulations,
            candidates: 2,
            utility: Utility::default(),
        },
        learner: LearnerConfig {
            games_per_round: 16,
            replayed_games: 0,
            ..LearnerConfig::for_simulations(simulations)
        },
    }
}

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
const LONG: Duration = Duration::from_secs(600);

fn train_pig(run: &RunDir, until_step: u64) -> dervish_training::session::SessionReport {
    let watcher = StopAfter(until_step, AtomicU64::new(0));
    train(&Pig::new(), &PigPlayers::new(), run, LONG, &watcher).expect("a session")
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
    // Games have numbers and dice of their own in both sessions.
    let window = ReplayWindow::load(&run.window_file(), 10_000).expect("a window");
    let mut numbers: Vec<u64> = window.latest(10_000).map(|game| game.number).collect();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
}

#[test]
fn a_damaged_or_foreign_checkpoint_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, config(0)).expect("a new run");
    train_pig(&run, 0);
    let spec = path.display().to_string();
    assert!(refusal("neural").contains("which network?"));
    assert!(refusal(&format!("neural:{spec},step=77")).contains("step-00000077"));
    assert!(refusal("neural:no/such/run").contains("no/such/run"));
    let weights = path.join("checkpoints/step-00000000/weights.safetensors");
    let bytes = fs::read(&weights).expect("weights");
    fs::write(&weights, &bytes[..bytes.len() / 2]).expect("a file");
    let line = refusal(&format!("neural:{spec}"));
    assert!(line.contains("weights.safetensors") && line.contains("bytes"), "{line}");
    let session = train(&Pig::new(), &PigPlayers::new(), &run, LONG, &()).expect_err("a refusal");
    assert!(matches!(session, SessionError::Checkpoint(_)), "{session}");
    fs::write(&weights, bytes).expect("a file");
    let mut others = Registry::new();
    others.register(NeuralAgent::new(&ConnectFour::new(), ConnectFourColumns::new()));
    let line = others.factory(&format!("neural:{spec}")).expect_err("another game").to_string();
    assert!(line.contains("made for game pig, not connect-four"), "{line}");
}

#[test]
fn a_run_with_search_learns_its_policies() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let run = RunDir::create(&path, config(4)).expect("a new run");
    train_pig(&run, 3);
    let window = ReplayWindow::load(&run.window_file(), 10_000).expect("a window");
    for game in window.latest(10_000) {
        for judgement in game.decisions.iter().filter_map(|decision| decision.judgement.as_ref()) {
            let sum: f32 = judgement.policy.iter().map(|(_, probability)| probability).sum();
            assert!((sum - 1.0).abs() < 1e-3 && judgement.probability > 0.0, "{judgement:?}");
            assert!((-1.0..=1.0).contains(&judgement.value));
        }
    }
    let spec = format!("neural:{},sims=8", path.display());
    let report = against_random(&pig_agents().factory(&spec).expect("an agent"), 3);
    assert_eq!(report.statistics.games, 6);
    assert!(report.cost.efforts[0].simulations > 0);
}

/// Plays until `count` games are finished.
fn games(count: usize, simulations: u32) -> Vec<SelfPlayGame> {
    let (start, encoder) = (ConnectFour::new(), ConnectFourColumns::new());
    let inputs = dervish_neural::encoding::input_sizes(&encoder);
    let network = NetworkConfig { inputs, architecture: Architecture::TokenMlp { hidden: 8, trunk: 8 } };
    dervish_models::process::prepare();
    let net = Network::new(network, 1, DeviceChoice::Auto.device().expect("a device"));
    let weights = PublishedWeights::new(net.expect("a network"), 0);
    let next = AtomicU64::new(0);
    let config = SelfPlayConfig { games_at_once: 3, ..config(simulations).self_play };
    let mut actor = Actor::new(&start, &encoder, config, &weights, &next).expect("an actor");
    let mut finished = Vec::new();
    while finished.len() < count {
        actor.tick(&mut finished).expect("a batch");
    }
    finished
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

/// A game with the given deciders and the values that they saw.
fn judged_game(decisions: &[(Seat, f32)], result: GameResult) -> SelfPlayGame {
    let decision = |&(seat, value): &(Seat, f32)| Decision {
        seat,
        action: Action(0),
        judgement: Some(Judgement { index: 0, probability: 0.5, value, policy: Vec::new() }),
    };
    SelfPlayGame { number: 0, dice_seed: 0, step: 0, decisions: decisions.iter().map(decision).collect(), result }
}

fn advantages(game: &SelfPlayGame, config: &TargetConfig) -> Vec<f32> {
    played_actions(game, config).into_iter().flatten().map(|played| played.advantage).collect()
}

#[test]
fn turns_left_count_the_changes_of_the_player_to_come() {
    use Seat::{First, Second};
    let seats = [First, First, Second, First, First, Second, Second];
    let decisions = seats.map(|seat| (seat, 0.0));
    let game = judged_game(&decisions, GameResult { winner: None, margin: 0.0 });
    assert_eq!(turns_left(&game), [3.0, 3.0, 2.0, 1.0, 1.0, 0.0, 0.0]);
    let none = judged_game(&[], GameResult { winner: None, margin: 0.0 });
    assert!(turns_left(&none).is_empty());
}

#[test]
fn advantages_are_those_computed_by_hand() {
    use Seat::{First, Second};
    let config = TargetConfig { lambda: 0.5, utility: Utility { margin_share: 0.25 } };
    let result = GameResult { winner: Some(First), margin: 0.5 };
    let game = judged_game(&[(First, 0.2), (First, 0.4), (Second, -0.1)], result);
    // The result is worth 3/4 + 1/4 x 1/2 = 0.875 to the first seat. Surprises for it, from the back:
    // 0.875 - 0.1 = 0.775; (0.1 - 0.4) + 0.775 / 2 = 0.0875; (0.4 - 0.2) + 0.0875 / 2 = 0.24375.
    let expected = [0.24375, 0.0875, -0.775];
    for (advantage, expected) in advantages(&game, &config).into_iter().zip(expected) {
        assert!((advantage - expected).abs() < 1e-6, "{advantage} {expected}");
    }
    // Seats, winner and margin exchanged: every player sees the same.
    let mirrored_result = GameResult { winner: Some(Second), margin: -0.5 };
    let mirrored = judged_game(&[(Second, 0.2), (Second, 0.4), (First, -0.1)], mirrored_result);
    assert_eq!(advantages(&mirrored, &config), advantages(&game, &config));
    // Lambda 1: result minus value. A forced decision has no advantage and passes the surprise on.
    let by_result = TargetConfig { lambda: 1.0, ..config };
    let mut forced = game;
    forced.decisions[1].judgement = None;
    let played = played_actions(&forced, &by_result);
    assert_eq!(played[1], None);
    assert!((played[0].expect("a choice").advantage - 0.675).abs() < 1e-6);
}

#[test]
fn values_are_mirrored_between_the_seats() {
    let won = GameResult { winner: Some(Seat::Second), margin: -0.25 };
    assert_eq!(value_target(&won, Seat::First), ([0.0, 0.0, 1.0], -0.25));
    assert_eq!(value_target(&won, Seat::Second), ([1.0, 0.0, 0.0], 0.25));
    let drawn = GameResult { winner: None, margin: 0.0 };
    assert_eq!(value_target(&drawn, Seat::First), value_target(&drawn, Seat::Second));
}

#[test]
fn advantages_are_standardised_for_each_seat_apart() {
    let of = |seat, advantage| (seat, Played { action: 0, probability: 0.5, advantage });
    // First: mean 2, deviation 1. Second: all alike.
    let mut decisions = [of(Seat::First, 1.0), of(Seat::Second, -5.0), of(Seat::First, 3.0), of(Seat::Second, -5.0)];
    standardise(decisions.iter_mut().map(|(seat, played)| (*seat, played)));
    assert_eq!(decisions.map(|(_, played)| played.advantage), [-1.0, 0.0, 1.0, 0.0]);
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
fn the_window_keeps_the_latest_games_and_refuses_a_damaged_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("window.jsonl");
    assert!(ReplayWindow::load(&path, 3).expect("no file is an empty window").is_empty());
    let mut window = ReplayWindow::new(3);
    for number in 0..5 {
        let result = GameResult { winner: None, margin: 0.0 };
        window.push(SelfPlayGame { number, ..judged_game(&[(Seat::First, 0.25)], result) });
    }
    let kept = |window: &ReplayWindow| window.latest(9).map(|game| game.number).collect::<Vec<_>>();
    assert_eq!((kept(&window), window.len()), (vec![2, 3, 4], 3));
    assert_eq!(window.latest(2).map(|game| game.number).collect::<Vec<_>>(), [3, 4]);
    window.save(&path).expect("a file");
    assert_eq!(ReplayWindow::load(&path, 3).expect("the window"), window);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, &text[..text.len() - 20]).expect("a file");
    let refused = ReplayWindow::load(&path, 3).expect_err("a cut line");
    assert!(refused.to_string().contains("window.jsonl:3: not a game"), "{refused}");
}

#[test]
fn a_run_directory_says_what_is_wrong_with_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let refused = |path: &Path| RunDir::open(path).expect_err("a refusal").to_string();
    assert!(refused(folder.path()).contains("config.json"));
    let file = folder.path().join("config.json");
    fs::write(&file, "{\"format\": 99}").expect("a file");
    assert!(refused(folder.path()).contains("run format 99"));
    let mut document = serde_json::to_value(config(0)).expect("JSON");
    document["hiden"] = 3.into();
    fs::write(&file, document.to_string()).expect("a file");
    assert!(refused(folder.path()).contains("hiden"));
    for (field, value, expected) in [
        ("/threads", 0.into(), "threads: 0 is not from 1 to 1024"),
        (
            "/self_play/games_at_once",
            1_000_000_000_000_u64.into(),
            "self_play.games_at_once: 1000000000000 is not from",
        ),
        ("/learner/games_per_round", 0.into(), "learner.games_per_round: 0 is not from 1 to 1000000"),
        ("/learner/batch", 0.into(), "learner.batch: 0 is not from 1 to 1000000"),
        // Beyond the 32 bits of libtorch's numbers, too.
        ("/learner/trainer/learning_rate", 1e39.into(), "learner.trainer.learning_rate: 1000"),
    ] {
        let mut document: serde_json::Value = serde_json::to_value(config(0)).expect("JSON");
        *document.pointer_mut(field).expect("a field") = value;
        fs::write(&file, document.to_string()).expect("a file");
        assert!(refused(folder.path()).contains(expected), "{}", refused(folder.path()));
    }
    assert_eq!(Encoder::<Pig>::name(&PigPlayers::new()), "pig-players");
}

#[test]
fn a_run_of_no_game_leaves_no_directory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run");
    let arguments = TrainArgs {
        scenario: Some("chess".to_string()),
        budget: Duration::from_secs(1),
        seed: 0,
        threads: None,
        out: Some(out.clone()),
        resume: None,
        sims: 0,
        log: LogFormat::Text,
    };
    assert!(arguments.run().expect_err("no game").to_string().starts_with("chess: "));
    assert!(!out.exists());
}
