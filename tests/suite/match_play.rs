//! Matches played through the library, on the reference games.

use dervish_agents::agent::{Agent, AgentError, Choice, Event};
use dervish_agents::evaluation::Evaluation;
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::{agent_rng, game_seed};
use dervish_env::game::{Action, GameResult, Outcome, Position, Seat};
use dervish_env::record::{Ending, Ply, Record};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{HOLD, Pig, ROLL};
use dervish_search::knowledge::Knowledge;
use dervish_search::mcts_agent::{Mcts, MctsOptions};
use dervish_search::reference::{ConnectFourEvaluation, PigEvaluation};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::arena::folder::{FolderError, MatchFolder};
use dervish_training::arena::match_play::{
    Contestant, Match, MatchError, MatchOptions, PlayedGame, Spectator, play_match,
};
use dervish_training::arena::report::MatchReport;
use dervish_training::arena::sprt::{Hypothesis, SprtPlan};
use dervish_training::arena::statistics::Pentanomial;
use dervish_training::commands::match_args::{BoundArgs, GamesArgs, ThoughtArgs};
use dervish_training::commands::match_games::{MatchArgs, match_games};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Plays pig by holding at a number of points.
#[derive(Clone)]
struct HoldAt(u8);

impl Agent<Pig> for HoldAt {
    fn spec(&self) -> String {
        format!("hold-at:{}", self.0)
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {}

    fn choose(&mut self, position: &Pig, _limits: &Limits) -> Result<Choice, AgentError> {
        Ok(Choice::plain(if position.running() >= self.0 { HOLD } else { ROLL }))
    }
}

/// Chooses the same action whatever the rules say, and nothing from a number of choices on.
#[derive(Clone)]
struct Stubborn {
    choices_left: u32,
}

impl<P: Position> Agent<P> for Stubborn {
    fn spec(&self) -> String {
        "stubborn".to_string()
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {}

    fn choose(&mut self, _position: &P, _limits: &Limits) -> Result<Choice, AgentError> {
        match self.choices_left.checked_sub(1) {
            Some(left) => self.choices_left = left,
            None => return Err(AgentError::Failed { agent: "stubborn".to_string(), reason: "has gone".to_string() }),
        }
        Ok(Choice::plain(Action(0)))
    }
}

/// Keeps every game, and asks to stop after a number of pairs.
#[derive(Default)]
struct Witness {
    games: Mutex<Vec<PlayedGame>>,
    stop_after: Option<usize>,
}

impl Spectator for Witness {
    fn stop_requested(&self) -> bool {
        self.stop_after.is_some_and(|pairs| self.games.lock().expect("no panics").len() >= 2 * pairs)
    }

    fn pair_over(&self, games: &[PlayedGame; 2]) -> io::Result<()> {
        self.games.lock().expect("no panics").extend_from_slice(games);
        Ok(())
    }
}

impl Witness {
    fn games(self) -> Vec<PlayedGame> {
        self.games.into_inner().expect("no panics")
    }
}

fn options(pairs: u32) -> MatchOptions {
    MatchOptions { pairs, seed: 11, limits: Limits::default(), max_decisions: None, threads: NonZeroUsize::new(2) }
}

fn searcher<P: Position, E: Evaluation<P>>(evaluation: E, simulations: u32) -> AgentFactory<P> {
    let options = MctsOptions { simulations, ..MctsOptions::default() };
    AgentFactory::of(Mcts::with_options(Knowledge::new(evaluation), options))
}

fn random<P: Position>() -> AgentFactory<P> {
    AgentFactory::of(RandomAgent::default())
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let report = |threads| {
        let options = MatchOptions { threads: NonZeroUsize::new(threads), ..options(12) };
        play_match(&Pig::new(), &searcher(PigEvaluation, 30), &random(), &options, &()).expect("a report")
    };
    let one = report(1);
    for threads in [2, 5] {
        let other = report(threads);
        assert_eq!(other.cost.threads, threads);
        assert_eq!(one.games, other.games);
        assert_eq!(one.statistics, other.statistics);
        for (one, other) in one.cost.efforts.iter().zip(&other.cost.efforts) {
            assert_eq!((one.decisions, one.simulations), (other.decisions, other.simulations));
        }
    }
    let another = MatchOptions { seed: 12, ..options(12) };
    let another = play_match(&Pig::new(), &searcher(PigEvaluation, 30), &random(), &another, &()).expect("a report");
    assert_ne!(one.games, another.games);
}

fn throws(game: &PlayedGame) -> Vec<Outcome> {
    let throw = |event: &Event| match event {
        Event::Rolled(outcome) => Some(*outcome),
        Event::Played(..) => None,
    };
    game.events.iter().filter_map(throw).collect()
}

#[test]
fn both_games_of_a_pair_have_swapped_seats_and_common_dice() {
    let witness = Witness::default();
    let report = play_match(&Pig::new(), &random(), &random(), &options(20), &witness).expect("a report");
    let games = witness.games();
    assert_eq!(games.iter().map(|game| game.outcome.clone()).collect::<Vec<_>>(), report.games);
    let (mut parted, mut distinct) = (0, Vec::new());
    for (number, pair) in games.chunks(2).enumerate() {
        assert_eq!(pair[0].outcome.first, Contestant::A);
        assert_eq!(pair[1].outcome.first, Contestant::B);
        let seed = game_seed(11, number as u64);
        assert_eq!([pair[0].outcome.dice_seed, pair[1].outcome.dice_seed], [seed; 2]);
        // As long as the players do the same they see the same dice: the games part at a choice, never at a throw.
        let [even, odd] = [&pair[0].events, &pair[1].events];
        if let Some((even, odd)) = even.iter().zip(odd).find(|(even, odd)| even != odd) {
            assert!(matches!((even, odd), (Event::Played(..), Event::Played(..))), "pair {number}: {even:?}, {odd:?}");
            parted += 1;
        }
        distinct.push(throws(&pair[0])[..4].to_vec());
    }
    distinct.sort();
    distinct.dedup();
    assert!(parted > 10, "random players must part in most pairs: {parted}");
    assert!(distinct.len() > 15, "pairs have dice of their own: {}", distinct.len());
}

#[test]
fn equal_agents_without_chance_of_their_own_split_every_pair() {
    let hold = AgentFactory::of(HoldAt(20));
    let witness = Witness::default();
    let report = play_match(&Pig::new(), &hold, &hold, &options(30), &witness).expect("a report");
    assert_eq!(report.statistics.pentanomial, Pentanomial([0, 0, 30, 0, 0]));
    assert_eq!(report.statistics.elo.value, Some(0.0));
    for pair in witness.games().chunks(2) {
        assert_eq!(pair[0].events, pair[1].events);
    }
}

#[test]
fn a_game_that_is_repeated_is_counted_once() {
    // Two players who drop into the lowest open column play the same game whoever begins.
    #[derive(Clone)]
    struct Leftmost;
    impl Agent<ConnectFour> for Leftmost {
        fn spec(&self) -> String {
            "leftmost".to_string()
        }
        fn new_game(&mut self, _rng: ChaCha8Rng) {}
        fn choose(&mut self, position: &ConnectFour, _limits: &Limits) -> Result<Choice, AgentError> {
            let mut legal = Vec::new();
            position.legal_actions_into(&mut legal);
            Ok(Choice::plain(legal[0]))
        }
    }
    let leftmost = AgentFactory::of(Leftmost);
    let report = play_match(&ConnectFour::new(), &leftmost, &leftmost, &options(6), &()).expect("a report");
    assert_eq!((report.statistics.games, report.statistics.distinct_games), (12, 1));
    assert!(report.to_string().contains("distinct games      1 of 12"), "{report}");
    let report = play_match(&ConnectFour::new(), &leftmost, &random(), &options(6), &()).expect("a report");
    assert!(report.statistics.distinct_games > 6, "{report}");
}

/// A player who takes long over the first pair.
#[derive(Clone)]
struct SlowToBegin {
    games: u32,
}

impl Agent<Pig> for SlowToBegin {
    fn spec(&self) -> String {
        "slow".to_string()
    }

    fn new_game(&mut self, _rng: ChaCha8Rng) {
        self.games += 1;
    }

    fn choose(&mut self, position: &Pig, _limits: &Limits) -> Result<Choice, AgentError> {
        if self.games <= 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Choice::plain(if position.running() >= 20 { HOLD } else { ROLL }))
    }
}

#[test]
fn pairs_are_booked_in_the_order_of_their_numbers() {
    let witness = Witness::default();
    let options = MatchOptions { threads: NonZeroUsize::new(4), ..options(60) };
    let slow = AgentFactory::of(SlowToBegin { games: 0 });
    let report = play_match(&Pig::new(), &slow, &random(), &options, &witness).expect("a report");
    let heard: Vec<u32> = witness.games().iter().map(|game| game.outcome.game).collect();
    assert_eq!(heard, (0..120).collect::<Vec<u32>>());
    assert_eq!(report.games.len(), 120);
}

/// The match of a player who holds at twenty against one who holds at ten, with a test that ends it.
fn tested(threads: usize, earlier: Vec<[PlayedGame; 2]>, spectator: &dyn Spectator) -> MatchReport {
    let (twenty, ten) = (AgentFactory::of(HoldAt(20)), AgentFactory::of(HoldAt(10)));
    let sprt = Some(SprtPlan { elo0: 0.0, elo1: 80.0, alpha: 0.05, beta: 0.05 });
    let options = MatchOptions { threads: NonZeroUsize::new(threads), ..options(2000) };
    let to_play = Match { start: &Pig::new(), agents: [&twenty, &ten], options, sprt, value: None };
    to_play.play(earlier, spectator).expect("a report")
}

#[test]
fn a_test_ends_its_match_at_the_same_pair_on_any_number_of_threads() {
    let one = tested(1, Vec::new(), &());
    let state = one.sprt.expect("a test");
    assert_eq!(state.verdict, Some(Hypothesis::H1), "holding at twenty is the stronger play: {one}");
    assert!(one.statistics.games < one.games_requested && !one.to_string().contains("stopped"), "{one}");
    // The last pair decided: without it the test would have gone on.
    let mut before = Pentanomial::default();
    for pair in one.games[..one.games.len() - 2].chunks(2) {
        before.add(pair[0].score_of(Contestant::A), pair[1].score_of(Contestant::A));
    }
    assert_eq!(state.plan.verdict(&before), None);
    for threads in [2, 5] {
        let witness = Witness::default();
        let other = tested(threads, Vec::new(), &witness);
        assert_eq!((&one.games, &one.statistics, one.sprt), (&other.games, &other.statistics, other.sprt));
        assert_eq!(witness.games().len(), one.games.len(), "what lies behind the end is told to no one");
    }
}

/// Plays as [`HoldAt`] twenty, and fails in one game of a match with seed 11.
#[derive(Clone)]
struct FailsIn {
    game: u32,
    failing: bool,
}

impl Agent<Pig> for FailsIn {
    fn spec(&self) -> String {
        "hold-at:20".to_string()
    }

    fn new_game(&mut self, rng: ChaCha8Rng) {
        self.failing = Seat::BOTH.map(|seat| agent_rng(11, u64::from(self.game), seat)).contains(&rng);
    }

    fn choose(&mut self, position: &Pig, limits: &Limits) -> Result<Choice, AgentError> {
        if self.failing {
            return Err(AgentError::Failed { agent: "hold-at:20".to_string(), reason: "has gone".to_string() });
        }
        HoldAt(20).choose(position, limits)
    }
}

#[test]
fn an_error_counts_where_its_pair_does() {
    let sound = tested(1, Vec::new(), &());
    let games = sound.games.len() as u32;
    let ten = AgentFactory::of(HoldAt(10));
    let plan = sound.sprt.map(|state| state.plan);
    for threads in [1, 2, 5] {
        let with_error_in = |game| {
            let failing = AgentFactory::of(FailsIn { game, failing: false });
            let options = MatchOptions { threads: NonZeroUsize::new(threads), ..options(2000) };
            let agents = [&failing, &ten];
            Match { start: &Pig::new(), agents, options, sprt: plan, value: None }.play(Vec::new(), &())
        };
        // Behind the pair at which the test ends, it is no concern of the match.
        assert_eq!(with_error_in(games).expect("a report").games, sound.games);
        let error = with_error_in(games - 2).expect_err("the last pair fails").to_string();
        assert_eq!(error, format!("game {}: hold-at:20: has gone", games - 2));
    }
}

#[test]
fn a_match_that_goes_on_is_the_match_that_was_not_interrupted() {
    let witness = Witness::default();
    let whole = tested(2, Vec::new(), &witness);
    let pairs: Vec<[PlayedGame; 2]> =
        witness.games().chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
    for earlier in [1, 7, pairs.len() - 1, pairs.len()] {
        let witness = Witness::default();
        let resumed = tested(2, pairs[..earlier].to_vec(), &witness);
        assert_eq!((&whole.games, &whole.statistics, whole.sprt), (&resumed.games, &resumed.statistics, resumed.sprt));
        assert_eq!(witness.games().len(), 2 * (pairs.len() - earlier), "earlier pairs are not told again");
        for (whole, resumed) in whole.cost.efforts.iter().zip(resumed.cost.efforts) {
            assert_eq!(whole.decisions, resumed.decisions);
        }
    }
    // Of earlier pairs that are too many, those that were asked for count.
    let twenty = AgentFactory::of(HoldAt(20));
    let ten = AgentFactory::of(HoldAt(10));
    let to_play = Match { start: &Pig::new(), agents: [&twenty, &ten], options: options(3), sprt: None, value: None };
    let short = to_play.play(pairs[..5].to_vec(), &()).expect("a report");
    assert_eq!(short.games, whole.games[..6]);
}

/// Neller and Presser (2004): holding at 20 wins about half of its games against the best play, while a player who holds
/// as soon as he may banks only 3 1/3 points a turn on average, against about 8.
#[test]
fn holding_at_twenty_beats_holding_at_once() {
    let (twenty, once) = (AgentFactory::of(HoldAt(20)), AgentFactory::of(HoldAt(0)));
    let report = play_match(&Pig::new(), &twenty, &once, &options(50), &()).expect("a report");
    assert!(report.statistics.score.low > 0.9, "{report}");
    assert!(report.statistics.margin.value > 0.3, "{report}");
    let swapped = play_match(&Pig::new(), &once, &twenty, &options(50), &()).expect("a report");
    assert!(swapped.statistics.score.high < 0.1, "{swapped}");
}

#[test]
fn search_beats_random_on_each_seat() {
    let four = play_match(&ConnectFour::new(), &searcher(ConnectFourEvaluation, 100), &random(), &options(20), &());
    let pig = play_match(&Pig::new(), &searcher(PigEvaluation, 100), &random(), &options(60), &());
    for report in [four.expect("a report"), pig.expect("a report")] {
        for seat in &report.statistics.contestants[0].seats {
            assert!(seat.score.low > 0.5, "{report}");
        }
        assert!(report.statistics.elo.low.expect("finite") > 0.0, "{report}");
    }
}

#[test]
fn limits_hold_for_both_agents() {
    let limits = Limits { simulations: Some(7), ..Limits::default() };
    let options = MatchOptions { limits, ..options(2) };
    let agent = searcher(ConnectFourEvaluation, 100);
    let report = play_match(&ConnectFour::new(), &agent, &agent, &options, &()).expect("a report");
    for effort in report.cost.efforts {
        // A forced move needs no search.
        assert!(effort.simulations <= 7 * effort.decisions && effort.simulations > 6 * effort.decisions, "{effort:?}");
    }
    assert_eq!(report.limits.simulations, Some(7));
}

#[test]
fn games_are_cut_off_at_the_bound_and_count_as_drawn() {
    let options = MatchOptions { max_decisions: Some(5), ..options(3) };
    let report = play_match(&ConnectFour::new(), &random(), &random(), &options, &()).expect("a report");
    assert_eq!(report.statistics.truncated, 6);
    assert_eq!(report.statistics.contestants[0].total.draws, 6);
    assert_eq!(report.statistics.decisions.value, 5.0);
    // A bound that no game reaches cuts off none: connect four has 42 cells.
    let options = MatchOptions { max_decisions: Some(42), ..options };
    let report = play_match(&ConnectFour::new(), &random(), &random(), &options, &()).expect("a report");
    assert_eq!(report.statistics.truncated, 0);
}

#[test]
fn what_goes_wrong_in_a_match_is_a_typed_error() {
    let start = ConnectFour::new();
    for pairs in [0, u32::MAX] {
        let refused = play_match(&start, &random(), &random(), &options(pairs), &());
        assert!(matches!(refused, Err(MatchError::Pairs(number)) if number == pairs), "{refused:?}");
    }

    let sprt = Some(SprtPlan { elo0: 10.0, elo1: 0.0, alpha: 0.05, beta: 0.05 });
    let backwards = Match { start: &start, agents: [&random(), &random()], options: options(5), sprt, value: None };
    let backwards = backwards.play(Vec::new(), &()).expect_err("hypotheses in the wrong order").to_string();
    assert_eq!(backwards, "the test: elo1=0 is not above elo0=10");

    // Column 1 is full after six stones, at the latest by the seventh choice of an agent that knows no other.
    let stubborn = AgentFactory::of(Stubborn { choices_left: u32::MAX });
    let options = MatchOptions { threads: NonZeroUsize::new(1), ..options(40) };
    let illegal = play_match(&start, &stubborn, &random(), &options, &());
    assert!(matches!(&illegal, Err(MatchError::Illegal { agent, .. }) if agent == "stubborn"), "{illegal:?}");

    let gone = AgentFactory::of(Stubborn { choices_left: 1 });
    let gone = play_match(&start, &gone, &random(), &options, &());
    let message = gone.expect_err("the agent fails").to_string();
    assert_eq!(message, "game 0: stubborn: has gone");

    struct FullDisk;
    impl Spectator for FullDisk {
        fn pair_over(&self, _games: &[PlayedGame; 2]) -> io::Result<()> {
            Err(io::Error::new(io::ErrorKind::StorageFull, "disk full"))
        }
    }
    let full = play_match(&start, &random(), &random(), &options, &FullDisk);
    assert_eq!(full.expect_err("the spectator fails").to_string(), "after game 1: disk full");
}

#[test]
fn a_match_that_is_stopped_keeps_its_finished_pairs() {
    let witness = Witness { stop_after: Some(3), ..Witness::default() };
    let report = play_match(&Pig::new(), &random(), &random(), &options(10_000), &witness).expect("a report");
    let games = report.games.len();
    assert!((6..20_000).contains(&games), "{games}");
    for pair in report.games.chunks(2) {
        assert!(pair.len() == 2 && pair[0].game % 2 == 0 && pair[1].game == pair[0].game + 1);
    }
    let numbers: Vec<u32> = report.games.iter().map(|game| game.game).collect();
    assert_eq!(numbers, (0..games as u32).collect::<Vec<_>>(), "no pair is left out");
    assert_eq!(witness.games().len(), games);
    assert_eq!((report.games_requested, report.statistics.games), (20_000, games as u64));
    assert!(report.to_string().contains("stopped: 20000 games were asked for"), "{report}");

    let at_once = Witness { stop_after: Some(0), ..Witness::default() };
    let stopped = play_match(&Pig::new(), &random(), &random(), &options(10), &at_once);
    assert!(matches!(stopped, Err(MatchError::Stopped)), "{stopped:?}");
}

#[test]
fn a_report_is_read_back_as_it_was_written() {
    let limits = Limits { turn_time: Some(Duration::from_millis(1500)), ..Limits::default() };
    let options = MatchOptions { limits, ..options(4) };
    let report = play_match(&Pig::new(), &AgentFactory::of(HoldAt(20)), &random(), &options, &()).expect("a report");
    let text = serde_json::to_string(&report).expect("plain data");
    let read: MatchReport = serde_json::from_str(&text).expect("as written");
    assert_eq!(read, report);
    assert_eq!(read.agents, ["hold-at:20", "random:seed=0"]);
    assert_eq!(read.seats, ["first", "second"]);
}

fn arguments(out: Option<PathBuf>) -> MatchArgs {
    MatchArgs {
        a: "mcts:sims=20".to_string(),
        b: "random".to_string(),
        of: GamesArgs { scenario: "pig".to_string(), games: 6, seed: 3, threads: None, bounds: BoundArgs::default() },
        sprt: Vec::new(),
        luck: false,
        db: None,
        out,
        json: false,
    }
}

#[test]
fn a_match_folder_holds_the_document_and_every_record() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("new/match");
    let report = match_games(&Pig::new(), &Pig::agents(), &arguments(Some(out.clone()))).expect("a report");
    assert_eq!(MatchFolder::read_report(&out).expect("as written"), report);
    assert_eq!(fs::read_dir(out.join("games")).expect("a folder").count(), 6);
    for game in &report.games {
        let record = Record::read(&out.join(format!("games/{:05}.record", game.game))).expect("a record");
        assert_eq!(record.seed(), game.dice_seed);
        let agents = record.seats().each_ref().map(|seat| seat.agent.as_str());
        let of_a = game.seat_of(Contestant::A).index();
        assert_eq!([agents[of_a], agents[1 - of_a]], [&report.agents[0], &report.agents[1]]);
        let decisions = record.plies().iter().filter(|ply| matches!(ply, Ply::Decision { .. })).count();
        assert_eq!(decisions, game.decisions as usize);
        assert_eq!(record.ending(), &Ending::Finished(GameResult { winner: game.winner, margin: game.margin }));
    }
    // The same arguments without a folder play the same games.
    assert_eq!(match_games(&Pig::new(), &Pig::agents(), &arguments(None)).expect("a report").games, report.games);
}

#[test]
fn a_match_folder_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("notes.txt"), "mine").expect("a file");
    let error =
        match_games(&Pig::new(), &Pig::agents(), &arguments(Some(folder.path().to_path_buf()))).expect_err("not empty");
    assert_eq!(error.to_string(), format!("{} is not empty; name a new folder", folder.path().display()));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_document_of_another_version_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("match.json"), r#"{"version": 99}"#).expect("a file");
    assert!(matches!(MatchFolder::read_report(folder.path()), Err(FolderError::Version { version: 99, .. })));
    fs::write(folder.path().join("match.json"), r#"{"version": 2}"#).expect("a file");
    assert!(matches!(MatchFolder::read_report(folder.path()), Err(FolderError::Malformed { .. })));
    fs::remove_file(folder.path().join("match.json")).expect("a file");
    assert!(matches!(MatchFolder::read_report(folder.path()), Err(FolderError::Io { .. })));
}

#[test]
fn bad_arguments_are_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("match");
    let refused = |change: &dyn Fn(&mut MatchArgs)| {
        let mut arguments = arguments(Some(out.clone()));
        change(&mut arguments);
        match_games(&Pig::new(), &Pig::agents(), &arguments).expect_err("bad arguments").to_string()
    };
    let pairs = "games are played in pairs, so their number must be even and above 0";
    assert_eq!(refused(&|arguments| arguments.of.games = 7), format!("--games 7: {pairs}"));
    assert_eq!(refused(&|arguments| arguments.of.games = 0), format!("--games 0: {pairs}"));
    assert_eq!(
        refused(&|arguments| arguments.of.bounds.thought.sims = Some(0)),
        "--sims: an agent needs at least one simulation"
    );
    assert_eq!(
        refused(&|arguments| arguments.of.bounds.max_decisions = Some(0)),
        "--max-decisions 0: a game needs at least one decision"
    );
    let bounds = |thought: ThoughtArgs| BoundArgs { thought, max_decisions: None };
    let more_than_the_turn = refused(&|arguments| {
        arguments.of.bounds = bounds(ThoughtArgs { sims: Some(400), turn_sims: Some(100), ..ThoughtArgs::default() })
    });
    assert_eq!(more_than_the_turn, "--sims 400: more for one decision than --turn-sims 100 for all of its turn");
    let more_than_the_turn = refused(&|arguments| {
        let (time, turn_time) = (Some(Duration::from_millis(2500)), Some(Duration::from_secs(2)));
        arguments.of.bounds = bounds(ThoughtArgs { time, turn_time, ..ThoughtArgs::default() })
    });
    assert_eq!(more_than_the_turn, "--time 2.5: more for one decision than --turn-time 2 for all of its turn");
    let wrong_test = refused(&|arguments| arguments.sprt = vec!["elo0=10".to_string(), "elo1=0".to_string()]);
    assert_eq!(wrong_test, "--sprt: elo1=0 is not above elo0=10");
    let unknown = refused(&|arguments| arguments.b = "doctrine".to_string());
    assert_eq!(unknown, "unknown agent 'doctrine'; there are: expectimax, gumbel, mcts, random");
    assert!(!out.exists());
}
