//! Whom a network meets in self-play, which weights play, and how its strength is followed.

use crate::dervish_binary::dervish;
use crate::pig_run::{games_on_disk, pig, rival};
use dervish_agents::agent::{Agent, AgentError, Choice};
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::SplitMix64;
use dervish_env::game::Seat;
use dervish_env::reference::pig::{HOLD, Pig, PigPlayers, ROLL};
use dervish_models::checkpoint::load_manifest;
use dervish_training::assessment::{ALARM, AgentScore, Assessment, alarm, rating};
use dervish_training::config::RunConfig;
use dervish_training::run_dir::RunDir;
use dervish_training::self_play::pool::{LeagueConfig, Met, Pool, Rival, past_name};
use dervish_training::session::{Budget, Material, train};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// An opponent of this name, whatever it plays.
fn named(name: &str) -> Rival<Pig> {
    Rival { name: name.to_string(), by_scenario: vec![AgentFactory::of(RandomAgent::default())] }
}

/// How often each name is drawn in so many games.
fn drawn(pool: &Pool<Pig>, games: u64) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    for seed in 0..games {
        if let Some((name, _)) = pool.draw(0, &mut SplitMix64::new(seed)) {
            *counts.entry(name).or_default() += 1.0;
        }
    }
    counts
}

#[test]
fn hard_opponents_are_met_in_proportion_to_what_they_win() {
    // With one drawn game as prior, 9 games won of 9 are a score of 9.5 / 10, 3.5 of 9 one of 0.4. An opponent that has not
    // been met scores 0.5. Preferences (1 - score)^2: 0.0025, below the least of 0.02; 0.36; 0.25.
    let config = LeagueConfig { share: 0.8, focus: 2.0, ..LeagueConfig::default() };
    let met = BTreeMap::from([
        ("weak".to_string(), Met { games: 9.0, points: 9.0 }),
        ("strong".to_string(), Met { games: 9.0, points: 3.5 }),
    ]);
    let pool = Pool::new(&config, ["weak", "strong", "new"].map(named).to_vec(), met);
    let games = 20_000;
    let counts = drawn(&pool, games);
    for (name, preference) in [("weak", 0.02), ("strong", 0.36), ("new", 0.25)] {
        let expected = games as f64 * 0.8 * preference / 0.63;
        // Five standard deviations of a count.
        assert!((counts[name] - expected).abs() < 5.0 * expected.sqrt(), "{name}: {counts:?}");
    }
    assert!(drawn(&Pool::new(&LeagueConfig::default(), vec![named("any")], BTreeMap::new()), 100).is_empty());
}

#[test]
fn what_is_long_ago_is_forgotten_and_the_past_is_replaced() {
    let config = LeagueConfig { share: 1.0, ..LeagueConfig::default() };
    let pool = Pool::new(&config, vec![named("doctrine")], BTreeMap::new());
    for _ in 0..500 {
        pool.book("doctrine", 0.0);
    }
    for _ in 0..100 {
        pool.book("doctrine", 1.0);
    }
    // Each game takes a fiftieth of what was known: of the last hundred, 1 - 0.98^100 = 0.867 of all weight is won.
    let met = pool.met()["doctrine"];
    assert!((met.points / met.games - 0.867).abs() < 0.001, "{met:?}");
    pool.set_past(vec![named(&past_name(10)), named(&past_name(20))]);
    pool.book(&past_name(10), 0.5);
    pool.set_past(vec![named(&past_name(20)), named(&past_name(30))]);
    assert_eq!(pool.met().keys().collect::<Vec<_>>(), ["doctrine"], "who has left the pool is forgotten");
    let names: Vec<String> = drawn(&pool, 500).into_keys().collect();
    assert_eq!(names, ["doctrine", "past:20", "past:30"]);
}

/// An assessment with these scores against the pool and against held-out opponents, of so many games each.
fn assessment(pool: f64, held_out: f64, games: u64) -> Assessment {
    let of = |value: f64, held_out| AgentScore {
        spec: "any".to_string(),
        scenario: 0,
        held_out,
        games,
        forfeits: 0,
        score: value,
        low: 0.0,
        high: 1.0,
    };
    let agents = vec![of(pool, false), of(held_out, true)];
    let rating = rating(&agents);
    Assessment { seconds: 0.0, rounds: 0, step: 0, simulations: 0, agents, rating, alarm: false }
}

#[test]
fn the_alarm_needs_a_rise_against_the_pool_and_a_fall_against_the_others() {
    let series = |before: (f64, f64), after: (f64, f64), games| -> Vec<Assessment> {
        let of = |(pool, held_out)| (0..3).map(move |_| assessment(pool, held_out, games));
        of(before).chain(of(after)).collect()
    };
    // 3 x 100 games each: the standard error of a difference is sqrt(2 / (4 x 300)) = 0.041; 0.1 is 2.4 of them.
    assert!(alarm(&series((0.5, 0.6), (0.6, 0.5), 100)));
    // With 3 x 40 games it is 0.065: 0.1 is 1.5 of them and may be chance.
    assert!(!alarm(&series((0.5, 0.6), (0.6, 0.5), 40)));
    assert!(!alarm(&series((0.5, 0.5), (0.6, 0.6), 100)), "both rise");
    assert!(!alarm(&series((0.6, 0.6), (0.5, 0.5), 100)), "both fall");
    assert!(!alarm(&series((0.5, 0.6), (0.6, 0.5), 100)[1..]), "too short");
    // An opponent that was not met from the beginning says nothing: without it, the pool rises and the alarm rings.
    let mut joined = series((0.5, 0.6), (0.6, 0.5), 100);
    for (assessment, strong) in joined[1..].iter_mut().zip([1.0, 1.0, 0.0, 0.0, 0.0]) {
        let of = AgentScore { spec: "past:1".to_string(), score: strong, ..assessment.agents[0].clone() };
        assessment.agents.push(of);
    }
    assert!(alarm(&joined));
    // Mean score 0.75: 400 log10 3 = 190.8 Elo.
    assert!((assessment(0.8, 0.7, 10).rating.expect("a rating") - 190.85).abs() < 0.01);
    assert_eq!(assessment(1.0, 1.0, 10).rating, None);
}

fn config(changes: &[&str]) -> RunConfig {
    let text = "format = 3
        scenarios = ['pig']
        seed = 5
        threads = 2
        [network]
        architecture = { kind = 'token_mlp', hidden = 8, trunk = 16 }
        [self_play]
        games_at_once = 8
        simulations = 4
        [learner]
        games_per_round = 12
        [storage]
        checkpoint_every = 0.0";
    let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
    RunConfig::parse(text, &changes).expect("a configuration")
}

fn material() -> Material<Pig, PigPlayers> {
    Material { opponents: vec![rival("random")], held_out: vec![rival("mcts:sims=8")], ..pig() }
}

#[test]
fn opponents_of_the_pool_are_met_but_not_learnt_from() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let league = "league={share=0.6, opponents=['random'], past=2, past_every=2, focus=0}";
    let run = RunDir::create(&path, config(&[league, "learner.window=30", "learner.uses=2"])).expect("a new run");
    train(&material(), &run, Budget::Rounds(12), &()).expect("a session");
    let games = games_on_disk(&path);
    let (mut met, mut seats) = (BTreeMap::<String, u32>::new(), [0, 0]);
    for game in &games {
        game.replay(&Pig::new(), |_, _, _| ()).expect("a game by the rules");
        let Some(opponent) = &game.opponent else { continue };
        *met.entry(opponent.name.clone()).or_default() += 1;
        seats[opponent.seat.index()] += 1;
        let judged = |seat: Seat| game.decisions.iter().any(|of| of.seat == seat && of.judgement.is_some());
        assert!(!judged(opponent.seat) && judged(opponent.seat.other()), "{game:?}");
    }
    let share = f64::from(seats[0] + seats[1]) / games.len() as f64;
    // Four standard deviations of a share among 144 games or more.
    assert!(games.len() >= 144 && (share - 0.6).abs() < 4.0 * (0.24 / 144f64).sqrt(), "{share} of {}", games.len());
    assert!(seats.iter().all(|&count| count > 20), "{seats:?}");
    assert!(met.contains_key("random") && met.keys().any(|name| name.starts_with("past:")), "{met:?}");
    // The latest two networks of the past are kept.
    let past: Vec<_> = fs::read_dir(path.join("past")).expect("a folder").flatten().collect();
    assert_eq!(past.len(), 2, "{past:?}");
}

/// Holds at 20 points, which is near the best play of pig (Neller and Presser 2004).
#[derive(Clone)]
struct HoldAt20;

impl Agent<Pig> for HoldAt20 {
    fn spec(&self) -> String {
        "hold-at-20".to_string()
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {}

    fn choose(&mut self, position: &Pig, _limits: &Limits) -> Result<Choice, AgentError> {
        Ok(Choice::plain(if position.running() >= 20 { HOLD } else { ROLL }))
    }
}

/// What is known of an opponent are the points of the network, not of its opponent, in the games that are kept: each game takes a
/// fiftieth of what was known and adds its own. Pig has no draws, and a good player wins most games from a network that has
/// learnt next to nothing, so that points of the other seat would be others.
#[test]
fn points_against_an_opponent_are_those_of_the_network() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let league = "league={share=1.0, opponents=['hold-at-20']}";
    let changes = ["threads=1", "deterministic=true", league, "learner.window=30", "learner.uses=2"];
    let run = RunDir::create(&path, config(&changes)).expect("a new run");
    let rival = Rival { name: "hold-at-20".to_string(), by_scenario: vec![AgentFactory::of(HoldAt20)] };
    let material = Material { opponents: vec![rival], ..material() };
    let report = train(&material, &run, Budget::Rounds(3), &()).expect("a session");
    let mut games = games_on_disk(&path);
    games.sort_by_key(|game| game.number);
    let (mut met, mut points, mut seats) = (0.0, 0.0, [0, 0]);
    for game in &games {
        let opponent = game.opponent.as_ref().expect("an opponent in every game");
        let winner = game.result.winner.expect("a winner");
        seats[opponent.seat.index()] += 1;
        met = 0.98 * met + 1.0;
        points = 0.98 * points + if winner == opponent.seat { 0.0 } else { 1.0 };
    }
    assert!(games.len() == 36 && seats.iter().all(|&count| count > 5), "{seats:?}");
    assert!(points < 0.4 * met, "{points} of {met}: either seat could be meant");
    let figures = load_manifest(&run.checkpoints().path(report.steps)).expect("a manifest").figures;
    for (figure, expected) in [("games", met), ("points", points)] {
        let found = figures[&format!("met hold-at-20 {figure}")];
        assert!((found - expected).abs() < 1e-9, "{figure}: {found} instead of {expected}");
    }
}

/// Weights that differ by a few small steps are equals: a gate for those 400 stronger keeps the first ones, one for those at
/// most 100 weaker lets the newest play.
#[test]
fn weights_that_do_not_pass_the_gate_do_not_play() {
    for (elo, passes) in [("elo0=100, elo1=400", false), ("elo0=-400, elo1=-100", true)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("pig");
        let gate = format!("gate={{every=1, games=40, {elo}}}");
        let slow = "learner.trainer.learning_rate=1e-6";
        let changes = ["threads=1", "deterministic=true", &gate, slow, "learner.window=30", "learner.uses=2"];
        let run = RunDir::create(&path, config(&changes)).expect("a new run");
        train(&material(), &run, Budget::Rounds(2), &()).expect("a session");
        drop(run);
        // A session that goes on has the weights that played.
        let run = RunDir::open(&path).expect("the run");
        train(&material(), &run, Budget::Rounds(4), &()).expect("a session");
        let steps: Vec<u64> = games_on_disk(&path).iter().map(|game| game.step).collect();
        assert_eq!(steps.iter().any(|&step| step > 0), passes, "{gate}: {steps:?}");
        let playing: Vec<_> = fs::read_dir(path.join("playing")).expect("a folder").flatten().collect();
        assert_eq!(playing.len(), 1, "{playing:?}");
    }
}

#[test]
fn assessments_are_written_as_they_are_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let assessment = "assessment={every=2, games=6, held_out=['mcts:sims=8']}";
    let league = "league={share=0.2, opponents=['random']}";
    let run = RunDir::create(&path, config(&[assessment, league])).expect("a new run");
    train(&material(), &run, Budget::Rounds(5), &()).expect("a session");
    let text = fs::read_to_string(path.join("assessments.jsonl")).expect("assessments");
    let lines: Vec<Assessment> = text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert_eq!(lines.iter().map(|line| line.rounds).collect::<Vec<_>>(), [2, 4]);
    let met = |line: &Assessment| -> Vec<_> {
        line.agents.iter().map(|of| (of.spec.clone(), of.held_out, of.games)).collect()
    };
    let [random, mcts] =
        [("random", false), ("mcts:sims=8", true)].map(|(spec, held_out)| (spec.to_string(), held_out, 6));
    assert_eq!(met(&lines[0]), [random.clone(), mcts.clone()]);
    // Later it meets itself as it was then, in later sessions too.
    let itself = (format!("past:{}", lines[0].step), false, 6);
    assert_eq!(met(&lines[1]), [random.clone(), itself.clone(), mcts.clone()]);
    train(&material(), &run, Budget::Rounds(6), &()).expect("a session");
    let text = fs::read_to_string(path.join("assessments.jsonl")).expect("assessments");
    let last = text.lines().last().map(|line| serde_json::from_str(line).expect("a line")).expect("a line");
    assert_eq!(met(&last), [random, itself, mcts]);
    // A run that goes on from an earlier checkpoint makes the later ones again.
    assert_eq!(run.assessments_until(3).expect("assessments").len(), 1);
    assert_eq!(fs::read_to_string(path.join("assessments.jsonl")).expect("assessments").lines().count(), 1);
    // What is JSON but no assessment is not thrown away.
    let strange = lines_with(&path, "{\"rounds\": 2}\n");
    assert!(run.assessments_until(3).expect_err("no assessment").to_string().contains("missing field"));
    assert_eq!(fs::read_to_string(path.join("assessments.jsonl")).expect("assessments"), strange);
}

/// Five assessments of a million games each, in which all was lost to the pool at first and won from the held-out opponent, and
/// the other way round later: whatever the few games of the sixth tell, the alarm rings, for who trains and who watches.
#[test]
fn an_alarm_is_told_by_the_session_and_by_watch() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig").display().to_string();
    let alarmed = |command: &[&str]| {
        let output = dervish(command);
        let told = [output.stdout, output.stderr].map(|told| String::from_utf8(told).expect("UTF-8")).concat();
        assert!(output.status.success(), "{told}");
        told.contains(ALARM)
    };
    let new = [
        "train",
        "--scenario",
        "pig",
        "--threads",
        "1",
        "--rounds",
        "5",
        "--out",
        &path,
        "--set",
        "learner.games_per_round=4",
        "--set",
        "self_play.simulations=2",
        "--set",
        "league={share=0.2, opponents=['random']}",
        "--set",
        "assessment={every=6, games=2, held_out=['mcts:sims=2']}",
    ];
    assert!(!alarmed(&new) && !alarmed(&["watch", &path]));
    let lines = (1..=5).map(|rounds| {
        let (pool, held_out) = if rounds <= 3 { (0.0, 1.0) } else { (1.0, 0.0) };
        let mut line = Assessment { rounds, ..assessment(pool, held_out, 1_000_000) };
        for (agent, spec) in line.agents.iter_mut().zip(["random", "mcts:sims=2"]) {
            agent.spec = spec.to_string();
        }
        serde_json::to_string(&line).expect("JSON") + "\n"
    });
    fs::write(Path::new(&path).join("assessments.jsonl"), lines.collect::<String>()).expect("written");
    assert!(!alarmed(&["watch", &path]));
    assert!(alarmed(&["train", "--resume", &path, "--rounds", "6"]) && alarmed(&["watch", &path]));
}

/// The file of assessments with some text more at its end, which is returned.
fn lines_with(run: &Path, more: &str) -> String {
    let file = run.join("assessments.jsonl");
    let text = fs::read_to_string(&file).expect("assessments") + more;
    fs::write(&file, &text).expect("written");
    text
}

/// A session that is stopped while it assesses leaves no assessment of its last round.
#[test]
fn an_assessment_that_was_broken_off_is_made_by_the_next_session() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pig");
    let file = path.join("assessments.jsonl");
    let assessment = "assessment={every=2, games=2, held_out=['mcts:sims=8']}";
    let run = RunDir::create(&path, config(&[assessment])).expect("a new run");
    train(&material(), &run, Budget::Rounds(2), &()).expect("a session");
    let whole = fs::read_to_string(&file).expect("assessments");
    assert_eq!(whole.lines().count(), 1);
    for lost in [true, false] {
        if lost {
            fs::write(&file, "").expect("written");
        }
        train(&material(), &run, Budget::Rounds(2), &()).expect("a session");
        let lines = fs::read_to_string(&file).expect("assessments");
        assert_eq!(lines.lines().count(), 1, "{lines}");
    }
}

/// A run whose pool is another run's network alone is an exploiter of it.
#[test]
fn another_run_is_met_as_an_opponent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [first, exploiter] = ["first", "exploiter"].map(|name| folder.path().join(name).display().to_string());
    let train = |out: &str, more: &[&str]| {
        let small = ["--set", "network.architecture.hidden=8", "--set", "learner.games_per_round=6"];
        let command = ["train", "--scenario", "pig", "--threads", "1", "--rounds", "2", "--out", out];
        let output = dervish(&[&command[..], &small, &["--set", "self_play.simulations=2"], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    train(&first, &[]);
    let spec = format!("neural:{first}");
    let opponents = format!("league.opponents=['{spec}']");
    train(&exploiter, &["--set", &opponents, "--set", "league.share=1.0", "--set", "learner.window=9"]);
    let games = games_on_disk(Path::new(&exploiter));
    assert!(games.len() >= 12, "{} games", games.len());
    for game in games {
        let opponent = game.opponent.expect("an opponent in every game");
        assert_eq!(opponent.name, spec);
        assert!(game.decisions.iter().all(|of| of.seat != opponent.seat || of.judgement.is_none()));
    }
}
