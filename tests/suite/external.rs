//! The agent `external`: programs that play, and programs that break the terms.

use crate::dervish_binary::{dervish, json_of, refusal};
use dervish_agents::agent::AgentError;
use dervish_agents::limits::Limits;
use dervish_agents::random::RandomAgent;
use dervish_agents::registry::AgentFactory;
use dervish_env::chance::agent_rng;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::encode::CampaignEncoder;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Actor, Outcome, Position, Seat};
use dervish_env::record::{Forfeit, Record, Replay};
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns};
use dervish_env::reference::pig::{HOLD, Pig, PigPlayers, ROLL};
use dervish_external::program::LINE_BYTES;
use dervish_external::protocol::{ChooseAnswer, EndingKind, GameOver, Hello, HelloAnswer, Message, PROTOCOL};
use dervish_training::arena::agents::{ArenaGame, agents_of};
use dervish_training::arena::match_play::{MatchOptions, play_match};
use dervish_training::arena::report::MatchReport;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/external/example.py");
const PROTOCOL_PAGE: &str = include_str!("../../agents/external/PROTOCOL.md");

/// A program that keeps the terms except as its arguments say. It notes each process that it has been, a line each with
/// its number, in the file of its first argument. The second is a habit of all of them, the further ones are the faults
/// of the first process, the second and so on; later ones have none. A faulty process chooses twice before it breaks the
/// terms.
const FAULTY: &str = r#"
import json, os, sys, time
journal, habit, faults = sys.argv[1], sys.argv[2], sys.argv[3:]
place = len(open(journal).readlines()) if os.path.exists(journal) else 0
with open(journal, "a") as file:
    file.write(f"{os.getpid()}\n")
fault = faults[place] if place < len(faults) else "none"
if habit == "has a child":
    import subprocess
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    open(journal + ".child", "w").write(str(child.pid))
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
choices = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        if fault == "slow start":
            time.sleep(600)
        say('{"protocol": 1}\n')
    elif message["type"] == "quit":
        if habit == "stays":
            time.sleep(600)
        break
    elif message["type"] == "choose":
        choices += 1
        legal = message["legal"]
        if habit == "complains":
            sys.stderr.write("%s\n" % ("alas " * 1000))
        if fault == "none" or choices < 3:
            say('{"move": "%s"}\n' % legal[0]["move"])
        elif fault == "hang":
            open(journal + ".hangs", "w").close()
            time.sleep(600)
        elif fault == "exit":
            sys.exit(3)
        elif fault == "garbage":
            say("I resign\n")
        elif fault == "unknown field":
            say('{"action": %d, "because": "why not"}\n' % legal[0]["action"])
        elif fault == "both":
            say('{"action": 0, "move": "drop 1"}\n')
        elif fault == "a list":
            say('[0]\n')
        elif fault == "not text":
            sys.stdout.buffer.write(b'{"move": "\xff"}\n')
            sys.stdout.buffer.flush()
        elif fault == "illegal action":
            say('{"action": 7}\n')
        elif fault == "no action":
            say('{"action": 65536}\n')
        elif fault == "negative action":
            say('{"action": -1}\n')
        elif fault == "illegal move":
            say('{"move": "drop 8"}\n')
        elif fault == "long move":
            say('{"move": "' + 1000000 * "x" + '"}\n')
        elif fault == "long name":
            say('{"' + 1000000 * "x" + '": 1}\n')
        elif fault == "long garbage":
            say(1000000 * "x" + '\n')
        elif fault == "huge line":
            say("1" * (1 << 20) + "1\n")
        elif fault == "half line and hang":
            say('{"action"')
            time.sleep(600)
        elif fault == "half line and exit":
            say('{"action"')
            sys.exit(0)
        elif fault == "chatter":
            say('{"action": %d}\n{"action": %d}\n' % (legal[0]["action"], legal[0]["action"]))
            time.sleep(0.3)
"#;

fn random<P: ArenaGame>() -> AgentFactory<P> {
    AgentFactory::of(RandomAgent::default())
}

fn factory<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(start: &P, encoder: E, spec: &str) -> AgentFactory<P> {
    agents_of(start, encoder).factory(spec).expect("a program that answers the hello")
}

fn options(pairs: u32, threads: usize) -> MatchOptions {
    MatchOptions { pairs, seed: 5, limits: Limits::default(), max_decisions: None, threads: NonZeroUsize::new(threads) }
}

fn example_against_random<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(
    start: &P,
    encoder: E,
    options: MatchOptions,
) -> MatchReport {
    let example = factory(start, encoder, &format!("external:cmd=python3 '{EXAMPLE}'"));
    play_match(start, &example, &random(), &options, &()).expect("a report")
}

/// Every game is played to its end by the rules, and depends on neither threads nor earlier games of a process.
#[test]
fn the_example_plays_whole_matches_and_the_same_again() {
    let scenario = Scenario::builtin("souakim").expect("built in");
    let souakim = |options| example_against_random(&Campaign::new(scenario), CampaignEncoder::new(scenario), options);
    let pig = |options| example_against_random(&Pig::new(), PigPlayers::new(), options);
    let four = |options| example_against_random(&ConnectFour::new(), ConnectFourColumns::new(), options);
    let reports = [souakim(options(2, 2)), pig(options(3, 2)), four(options(5, 2))];
    for (report, again) in reports.iter().zip([souakim(options(2, 1)), pig(options(3, 1)), four(options(5, 1))]) {
        assert_eq!(report.statistics.games, report.games_requested);
        let [a, b] = report.statistics.contestants;
        assert_eq!((a.forfeits, b.forfeits, report.statistics.truncated), (0, 0, 0), "{report}");
        assert!(report.cost.efforts[0].decisions > 0);
        assert_eq!(report.games, again.games);
    }
    // The random stream is the match's and the option's, not the program's own.
    let other = format!("external:cmd=python3 '{EXAMPLE}',seed=1");
    let other = factory(&ConnectFour::new(), ConnectFourColumns::new(), &other);
    let other = play_match(&ConnectFour::new(), &other, &random(), &options(5, 1), &()).expect("a report");
    assert_ne!(other.games, reports[2].games);
}

/// A folder with the faulty program in it.
struct Faulty {
    folder: tempfile::TempDir,
}

impl Faulty {
    fn new() -> Faulty {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("faulty.py"), FAULTY).expect("written");
        Faulty { folder }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    /// The spec of the program with these faults in its processes, and further options.
    fn spec(&self, faults: &[&str], more: &str) -> String {
        self.program("none", faults) + more
    }

    /// The spec of the program with a habit and no fault.
    fn spec_of_habit(&self, habit: &str) -> String {
        self.program(habit, &[])
    }

    fn program(&self, habit: &str, faults: &[&str]) -> String {
        let folder = self.folder.path().display();
        let faults: String = faults.iter().map(|fault| format!(" '{fault}'")).collect();
        format!("external:cmd=python3 '{folder}/faulty.py' '{folder}/journal' '{habit}'{faults}")
    }

    /// Numbers of the processes that there have been.
    fn processes(&self) -> Vec<u32> {
        let journal = fs::read_to_string(self.journal()).unwrap_or_default();
        journal.lines().map(|line| line.parse().expect("a number")).collect()
    }
}

/// Whether a process is there; one that has ended is there until it has been waited for.
fn exists(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// The first process breaks the terms at its third choice, in the first game; whoever loses, the match goes on with a
/// second one that keeps them.
fn match_with_fault(fault: &str, more: &str, reason: &str) {
    let faulty = Faulty::new();
    let start = ConnectFour::new();
    let agent = factory(&start, ConnectFourColumns::new(), &faulty.spec(&[fault], more));
    let report = play_match(&start, &agent, &random(), &options(2, 1), &()).expect("a match goes on");
    drop(agent);
    let first = &report.games[0];
    // A plays the first game from the first seat: it has decided twice when it is asked for the third time, B twice.
    assert_eq!(first.forfeit.as_ref().map(|forfeit| forfeit.seat), Some(Seat::First), "{fault}");
    assert_eq!((first.winner, first.margin, first.decisions), (Some(Seat::Second), -1.0, 4), "{fault}");
    let told = first.forfeit.as_ref().map_or("", |forfeit| &forfeit.reason);
    assert!(told.contains(reason), "{fault}: {told}");
    // It stands in every document of the match, whatever the program said.
    assert!(told.len() < 400, "{fault}: {} bytes", told.len());
    assert_eq!(report.games.iter().filter(|game| game.forfeit.is_some()).count(), 1, "{fault}");
    assert_eq!(report.games.len(), 4, "{fault}");
    let [a, b] = report.statistics.contestants;
    assert_eq!((a.forfeits, b.forfeits), (1, 0), "{fault}");
    assert!(a.seats[0].tally.losses >= 1 && b.seats[1].tally.wins >= 1, "{fault}");
    let line = format!("forfeited by A      1 games, counted as lost; the first is game 0: {told}\n");
    assert!(report.to_string().contains(&line), "{report}");
    let processes = faulty.processes();
    assert_eq!(processes.len(), 2, "{fault}");
    assert!(!processes.into_iter().any(exists), "{fault}: a process is left");
}

#[test]
fn a_program_that_says_nothing_forfeits_and_the_match_goes_on() {
    match_with_fault("hang", ",timeout=2", "no answer within 2 s");
    match_with_fault("half line and hang", ",timeout=2", "no answer within 2 s");
    match_with_fault("exit", "", "the program ended (exit status: 3)");
    match_with_fault("half line and exit", "", "the output ended in the middle of a line");
}

#[test]
fn a_program_that_talks_nonsense_forfeits_and_the_match_goes_on() {
    match_with_fault("garbage", "", "the answer `I resign` cannot be read: expected value at line 1 column 1");
    match_with_fault("unknown field", "", "cannot be read: unknown field `because`, expected `action` or `move`");
    match_with_fault("both", "", "cannot be read: it has both `action` and `move`");
    match_with_fault("a list", "", "the answer `[0]` cannot be read: ");
    match_with_fault("not text", "", "a line that is not UTF-8");
    match_with_fault("huge line", "", "a line longer than 1048576 bytes");
    // Of an answer the first 60 characters are told, of what is wrong with it, which may quote it, the first 200.
    let garbage = format!("the answer `{}...` cannot be read: expected value", "x".repeat(60));
    match_with_fault("long garbage", "", &garbage);
    let (shown, quoted) = (format!("{{\"{}", "x".repeat(58)), format!("unknown field `{}", "x".repeat(200 - 15)));
    match_with_fault("long name", "", &format!("the answer `{shown}...` cannot be read: {quoted}..."));
}

#[test]
fn a_program_that_chooses_against_the_rules_forfeits_and_the_match_goes_on() {
    // Connect four has the actions 0 to 6, written drop 1 to drop 7.
    match_with_fault("illegal action", "", "illegal action 7");
    // The first number beyond 16 bits, in which actions are kept.
    match_with_fault("no action", "", "illegal action 65536: actions are from 0 to 6");
    match_with_fault("negative action", "", "illegal action -1: actions are from 0 to 6");
    match_with_fault("illegal move", "", "illegal action drop 8");
    match_with_fault("long move", "", &format!("illegal action {}...: expected `drop 1` to `drop 7`", "x".repeat(60)));
}

/// What is wrong with the fields of a choice is said by their names.
#[test]
fn a_choice_has_one_field_once() {
    let read = |answer: &str| serde_json::from_str::<ChooseAnswer>(answer).map_err(|error| error.to_string());
    assert_eq!(read(r#"{"action": 7}"#), Ok(ChooseAnswer::Action(7.into())));
    assert_eq!(read(r#"{"move": "hold"}"#), Ok(ChooseAnswer::Move("hold".to_string())));
    for (answer, told) in [
        (r#"{"action": 7, "move": "hold"}"#, "it has both `action` and `move`"),
        ("{}", "it has neither `action` nor `move`"),
        (r#"{"action": 7, "why": 1}"#, "unknown field `why`, expected `action` or `move`"),
        (r#"{"action": 7, "action": 7}"#, "duplicate field `action`"),
        (r#"{"action": 7, "move": null}"#, "invalid type: null, expected a string"),
    ] {
        let error = read(answer).expect_err(answer);
        assert!(error.starts_with(told), "{answer}: {error}");
    }
}

/// What was said beside the third answer is found before the fourth question.
#[test]
fn a_program_that_speaks_unasked_forfeits() {
    let faulty = Faulty::new();
    let start = ConnectFour::new();
    let agent = factory(&start, ConnectFourColumns::new(), &faulty.spec(&["chatter"], ""));
    let mut agent = agent.make();
    agent.new_game(agent_rng(1, 0, Seat::First));
    for _ in 0..3 {
        agent.choose(&start, &Limits::default()).expect("an answer");
    }
    let begun = Instant::now();
    let error = loop {
        // The second line needs a moment to arrive.
        std::thread::sleep(Duration::from_millis(100));
        match agent.choose(&start, &Limits::default()) {
            Ok(_) => assert!(begun.elapsed() < Duration::from_secs(20), "chatter is not noticed"),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, AgentError::Forfeit { reason, .. } if reason == "an answer to no question"), "{error}");
    // It may be asked again, and has no other answer in this game; in the next it has.
    assert_eq!(agent.choose(&start, &Limits::default()), Err(error));
    agent.new_game(agent_rng(1, 1, Seat::First));
    agent.choose(&start, &Limits::default()).expect("an answer of a new process");
}

/// The first process ends in game 0, the second does not say hello in time for game 1, the third plays on.
#[test]
fn a_program_that_starts_too_slowly_forfeits_and_the_match_goes_on() {
    let faulty = Faulty::new();
    let start = ConnectFour::new();
    let agent = factory(&start, ConnectFourColumns::new(), &faulty.spec(&["exit", "slow start"], ",start=4"));
    let report = play_match(&start, &agent, &random(), &options(2, 1), &()).expect("a match goes on");
    drop(agent);
    let reasons: Vec<_> = report.games.iter().map(|game| game.forfeit.as_ref().map(|f| f.reason.as_str())).collect();
    let [ended, late] = ["the program ended (exit status: 3)", "hello: no answer within 4 s"];
    assert_eq!(reasons, [Some(ended), Some(late), None, None]);
    // It lost game 1 before it decided anything; random may have begun.
    assert!(report.games[1].decisions <= 1, "{report}");
    assert_eq!(faulty.processes().len(), 3);
    assert!(!faulty.processes().into_iter().any(exists), "a process is left");
}

#[test]
fn forfeits_are_kept_in_the_document_and_in_records_that_replay() {
    let faulty = Faulty::new();
    let out = faulty.folder.path().join("match").display().to_string();
    let spec = faulty.spec(&["exit"], "");
    let arguments =
        ["match", "random", &spec, "--scenario", "connect-four", "--games", "2", "--threads", "1", "--out", &out];
    let output = dervish(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value =
        serde_json::from_str(&fs::read_to_string(format!("{out}/match.json")).expect("written")).expect("JSON");
    assert_eq!(document["games"][0]["forfeit"]["seat"], "Second");
    assert_eq!(document["games"][0]["forfeit"]["reason"], "the program ended (exit status: 3)");
    assert_eq!(document["games"][0]["winner"], "First");
    assert_eq!(document["games"][1].get("forfeit"), None);
    assert_eq!(document["statistics"]["contestants"][1]["forfeits"], 1);

    let file = format!("{out}/games/00000.record");
    let text = fs::read_to_string(&file).expect("written");
    assert!(text.ends_with("\nforfeit red the program ended (exit status: 3)\n"), "{text}");
    let told = dervish(&["replay", &file]);
    assert_eq!(
        String::from_utf8_lossy(&told.stdout),
        // Three decisions of the first seat and two of the second, which then had to decide.
        "5 of 5 decisions and rolls are right; won by yellow: red forfeited (the program ended (exit status: 3))\n"
    );
    // Nobody forfeits who is not asked.
    fs::write(&file, text.replace("forfeit red", "forfeit yellow")).expect("written");
    let line = refusal(&["replay", &file]);
    assert!(line.contains("the record ends with `forfeit yellow the program ended"), "{line}");
}

/// Standard error is the program's own: it is passed through, as much as it is, and breaks no terms.
#[test]
fn complaints_on_standard_error_are_passed_through() {
    let faulty = Faulty::new();
    let spec = faulty.spec_of_habit("complains");
    let output = dervish(&["match", &spec, "random", "--scenario", "connect-four", "--games", "4", "--json"]);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
    assert_eq!(report["statistics"]["contestants"][0]["forfeits"], 0);
    let complaints = String::from_utf8_lossy(&output.stderr).matches("alas").count() as u64;
    let decisions = report["cost"]["efforts"][0]["decisions"].as_u64().expect("a number");
    assert_eq!(complaints, 1000 * decisions);
}

/// A program each of whose processes ends at its third choice: it forfeits every game of connect four, where nobody has won
/// before, and of the campaign.
const ALWAYS_ENDS: [&str; 40] = ["exit"; 40];

#[test]
fn forfeits_are_told_wherever_games_are_counted() {
    let faulty = Faulty::new();
    let spec = faulty.spec(&ALWAYS_ENDS, "");
    let path = |name: &str| faulty.folder.path().join(name).display().to_string();
    let (db, page) = (path("results.db"), path("results.html"));
    let tournament = |agents: [&str; 2], json: &str| {
        let arguments = ["tournament", agents[0], agents[1], "--scenario", "connect-four", "--games", "4"];
        dervish(&[&arguments[..], &["--threads", "1", "--db", &db, json]].concat())
    };
    let tables = || -> [String; 2] {
        let ratings = dervish(&["ratings", "--db", &db]);
        assert!(dervish(&["report", "--db", &db, "--out", &page]).status.success());
        [String::from_utf8(ratings.stdout).expect("UTF-8"), fs::read_to_string(&page).expect("written")]
    };
    // Where nobody forfeits nothing is said of it.
    assert!(tournament(["random", "random:seed=1"], "--json").status.success());
    assert!(tables().iter().all(|table| !table.contains("forfeited")));
    let told: Value = serde_json::from_slice(&tournament([&spec, "random"], "--json").stdout).expect("JSON");
    let rated = json_of(&["ratings", "--db", &db, "--json"]);
    assert_eq!(rated[0], told);
    let forfeits = |of: &str| {
        let agents = told["agents"].as_array().expect("agents");
        let agent = agents.iter().find(|agent| agent["agent"].as_str().is_some_and(|agent| agent.starts_with(of)));
        agent.map(|agent| (agent["forfeits"].clone(), agent["seats"][0]["tally"]["losses"].clone()))
    };
    // Two of four games on each seat; they are among the losses.
    assert_eq!(forfeits("external"), Some((4.into(), 2.into())));
    assert_eq!(forfeits("random:seed=1").map(|(forfeits, _)| forfeits), Some(0.into()));
    let [table, html] = tables();
    assert!(table.contains("┆ games ┆ forfeited ┆ Elo [95%]"), "{table}");
    assert!(table.contains("┆     4 ┆         4 ┆"), "{table}");
    assert!(html.contains("<th>games</th><th>forfeited</th><th>Elo</th>"), "{html}");
    assert!(html.contains("<td>4</td><td>4</td>") && html.contains("<td>8</td><td>0</td>"), "{html}");
}

#[test]
fn forfeits_are_told_in_the_table_of_a_study() {
    let faulty = Faulty::new();
    let spec = faulty.spec(&ALWAYS_ENDS, "");
    let file = faulty.folder.path().join("study.toml");
    let planned =
        |a: &str| format!("[[match]]\nscenario = \"connect-four\"\na = \"{a}\"\nb = \"random\"\ngames = 2\nseed = 1\n");
    let table = |matches: &str| {
        fs::write(&file, format!("format = 1\ntitle = \"A study\"\nquestion = \"?\"\n{matches}")).expect("written");
        let output = dervish(&["study", &file.display().to_string(), "--threads", "1"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let harmless = table(&planned("random:seed=1"));
    assert!(!harmless.contains("forfeited"), "{harmless}");
    let told = table(&(planned("random:seed=1") + &planned(&spec)));
    assert!(told.contains("| games | forfeited, by A and B | decisions a game |"), "{told}");
    let rows: Vec<&str> = told.lines().filter(|line| line.starts_with("| connect-four |")).collect();
    assert!(rows[0].contains("| 2 | 0, 0 |") && rows[1].contains("| 2 | 2, 0 |"), "{told}");
}

/// An opponent that forfeits every game says nothing of the weights; whoever tunes against it hears of it, and again when the
/// run is gone on with.
#[test]
fn tuning_against_an_opponent_that_forfeits_is_told() {
    let faulty = Faulty::new();
    let spec = faulty.spec(&ALWAYS_ENDS, "");
    let weights = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/core/data/doctrine.toml");
    let tune = |out: &str, opponent: &str| {
        let arguments = ["tune", "--file", weights, "--scenario", "kordofan", "--games", "2", "--steps", "1"];
        let output = dervish(&[&arguments[..], &["--opponent", opponent, "--out", out, "--json"]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let told = |output: &std::process::Output| {
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (report.get("forfeits").cloned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let [forfeited, fair] = ["forfeited", "fair"].map(|name| faulty.folder.path().join(name).display().to_string());
    // Either side of the step plays two games.
    let reason = "the program ended (exit status: 3)";
    let warning = format!(
        "dervish: warning: {spec} forfeited 4 of 4 games, which tell nothing of the weights; the first: {reason}\n"
    );
    let expected = serde_json::json!([{ "agent": spec, "games": 4, "reason": reason }]);
    let first = told(&tune(&forfeited, &spec));
    let resumed = told(&dervish(&["tune", "--resume", &forfeited, "--json"]));
    for (forfeits, errors) in [first, resumed] {
        assert_eq!(forfeits, Some(expected.clone()));
        assert!(errors.contains(&warning), "{errors}");
    }
    let (forfeits, errors) = told(&tune(&fair, "random"));
    assert!(forfeits.is_none() && !errors.contains("forfeited"), "{errors}");
}

#[test]
fn an_ending_by_forfeit_is_read_back() {
    let mut record = Record::begin(&Pig::new(), 1, ["a", "b"]);
    let mut position = Pig::new();
    let throw = Outcome(4);
    record.push_roll(&position, throw);
    position.resolve(throw).expect("a throw is due");
    for (reason, line) in [(" no\tanswer ", "forfeit first no answer\n"), ("", "forfeit first\n")] {
        record.forfeit(Forfeit::new(Seat::First, reason));
        assert!(record.to_string().ends_with(line));
        let read = Record::parse(&record.to_string()).expect("readable");
        assert_eq!(read, record);
        assert_eq!(
            read.ending().result().map(|result| (result.winner, result.margin)),
            Some((Some(Seat::Second), -1.0))
        );
        // By the rules the game has no result.
        assert_eq!(Replay::new(read, Pig::new()).expect("pig").verify().expect("good"), None);
    }
    // While a throw is due nobody can forfeit.
    let mut early = Record::begin(&Pig::new(), 1, ["a", "b"]);
    early.forfeit(Forfeit::new(Seat::First, "late"));
    assert!(Replay::new(early, Pig::new()).expect("pig").verify().is_err());
}

#[test]
fn a_command_that_cannot_be_talked_to_is_refused_before_the_first_game() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("match").display().to_string();
    let refused = |spec: &str| refusal(&["match", spec, "random", "--scenario", "pig", "--games", "2", "--out", &out]);
    for (spec, expected) in [
        (
            "external:cmd=no-such-program --fast",
            "agent 'external': `no-such-program --fast`: cannot be started: No such file",
        ),
        ("external", "cmd= is not a program and its arguments"),
        ("external:cmd=python3 'agent.py", "cmd=python3 'agent.py is not a program and its arguments"),
        ("external:cmd=sh -c 'exit 3'", "hello: the program ended (exit status: 3)"),
        (r#"external:cmd=sh -c 'read hello; echo {\"protocol\": 2}'"#, "hello: protocol 2 is not 1"),
        (r#"external:cmd=sh -c 'read hello; echo {\"protocol\": 1,, \"send\": [\"dice\"]}'"#, "unknown variant `dice`"),
        // Which serde would read for an object with the field `protocol`.
        ("external:cmd=sh -c 'read hello; echo \"[1]\"'", "hello: the answer `[1]` cannot be read: it is no object"),
        ("external:cmd=sleep 600,start=0.2", "hello: no answer within 0.2 s"),
        ("external:cmd=cat,timeout=0", "timeout=0 is not a number from 0.001 to 86400"),
    ] {
        let line = refused(spec);
        assert!(line.contains(expected), "{spec}: {line}");
    }
    assert!(!Path::new(&out).exists());
}

#[test]
fn a_comma_in_a_command_is_written_twice() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = folder.path().join("a,b and c.sh");
    fs::write(&script, "read hello; echo '{\"protocol\": 1}'; cat > \"$1\"").expect("written");
    let heard = folder.path().join("heard, too");
    let twice = |path: &Path| path.display().to_string().replace(',', ",,");
    let spec = format!("external:sh '{}' '{}',timeout=2", twice(&script), twice(&heard));
    let agent = factory(&Pig::new(), PigPlayers::new(), &spec);
    let spelled = format!("external:cmd=sh '{}' '{}',timeout=2,start=30,seed=0", twice(&script), twice(&heard));
    assert_eq!(agent.spec(), spelled);
    assert_eq!(factory(&Pig::new(), PigPlayers::new(), agent.spec()).spec(), spelled);
    drop(agent);
    assert_eq!(fs::read_to_string(&heard).expect("the program ran"), "{\"type\":\"quit\"}\n");
}

/// A program that does not end when it is told to is killed, and waited for.
#[test]
fn a_program_that_does_not_quit_is_killed() {
    let faulty = Faulty::new();
    let agent = factory(&Pig::new(), PigPlayers::new(), &faulty.spec_of_habit("stays"));
    let [process] = faulty.processes()[..] else { panic!("one process") };
    assert!(exists(process));
    let begun = Instant::now();
    drop(agent);
    assert!(!exists(process));
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

/// What a program has started goes with it, also where it has ended as it should.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_quits_leaves_nothing_behind() {
    let faulty = Faulty::new();
    let agent = factory(&Pig::new(), PigPlayers::new(), &faulty.spec_of_habit("has a child"));
    let child = fs::read_to_string(faulty.folder.path().join("journal.child")).expect("a number");
    let child: u32 = child.parse().expect("a number");
    assert!(is_running(child));
    drop(agent);
    let begun = Instant::now();
    while is_running(child) {
        assert!(begun.elapsed() < Duration::from_secs(10), "the child was left behind");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A second Ctrl-C ends the match at once, where no destructor runs; the program that never answers goes with it.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_leaves_no_program_behind() {
    use crate::dervish_binary::start;
    use std::process::Command;

    let faulty = Faulty::new();
    let spec = faulty.spec(&["hang"], ",timeout=600");
    let mut child = start(&["match", &spec, "random", "--scenario", "connect-four", "--games", "2", "--threads", "1"]);
    let begun = Instant::now();
    let wait_for = |what: &str, done: &dyn Fn() -> bool| {
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for("the program was not asked", &|| faulty.folder.path().join("journal.hangs").exists());
    let process = faulty.processes()[0];
    let interrupt = || {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    };
    interrupt();
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_running(process), "the first Ctrl-C waits for the choice");
    interrupt();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    wait_for("the program was left behind", &|| !is_running(process));
}

/// Whether a process runs; one that has ended and waits to be noticed by whoever inherited it does not.
#[cfg(target_os = "linux")]
fn is_running(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn the_agent_is_listed() {
    let list = dervish(&["agents", "--scenario", "pig"]);
    let list = String::from_utf8(list.stdout).expect("UTF-8");
    for part in ["external", "cmd", "timeout", "seconds for each choice"] {
        assert!(list.contains(part), "{list}");
    }
    let report = json_of(&[
        "match",
        &format!("external:python3 '{EXAMPLE}'"),
        "random",
        "--scenario",
        "pig",
        "--games",
        "2",
        "--json",
    ]);
    assert_eq!(report["agents"][0], format!("external:cmd=python3 '{EXAMPLE}',timeout=10,start=30,seed=0"));
}

/// A program that asks for everything, keeps what it hears in the file of its argument, and holds.
const LISTENER: &str = r#"
import json, sys
heard = open(sys.argv[1], "w")
for line in sys.stdin:
    heard.write(line)
    heard.flush()
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"protocol": 1, "send": ["position", "observation"]}', flush=True)
    elif message["type"] == "choose":
        print(json.dumps({"action": message["legal"][-1]["action"]}), flush=True)
"#;

/// What a program hears in a match from `start` against `opponent`, from the hello to the quit.
fn heard<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(
    start: &P,
    encoder: E,
    opponent: &AgentFactory<P>,
    options: MatchOptions,
) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (script, heard) = (folder.path().join("listener.py"), folder.path().join("heard"));
    fs::write(&script, LISTENER).expect("written");
    let spec = format!("external:cmd=python3 '{}' '{}'", script.display(), heard.display());
    let agent = factory(start, encoder, &spec);
    let report = play_match(start, &agent, opponent, &options, &()).expect("a report");
    assert_eq!(report.statistics.contestants[0].forfeits, 0);
    drop(agent);
    fs::read_to_string(heard).expect("written").lines().map(str::to_string).collect()
}

fn messages(lines: &[String]) -> Vec<Message> {
    lines.iter().map(|line| serde_json::from_str(line).expect("a message")).collect()
}

#[test]
fn a_program_hears_what_has_happened_and_nothing_else() {
    let limits = Limits { simulations: Some(400), time: Some(Duration::from_millis(1500)), ..Limits::default() };
    let options = MatchOptions { limits, ..options(1, 1) };
    let messages = messages(&heard(&Pig::new(), PigPlayers::new(), &random(), options));
    let Message::Hello(Hello { protocol, seats, actions, .. }) = &messages[0] else { panic!("{:?}", messages[0]) };
    assert_eq!(
        (*protocol, seats.as_slice(), *actions),
        (PROTOCOL, ["first".to_string(), "second".to_string()].as_slice(), 2)
    );
    let mut seats = Vec::new();
    let mut position = Pig::new();
    for message in &messages[1..] {
        match message {
            Message::NewGame(new_game) => {
                assert!(new_game.seed < 1 << 53);
                seats.push(new_game.seat.clone());
                position = Pig::new();
            }
            Message::Rolled(rolled) => {
                // Rolls are told in order and once they are due, so that they can be followed.
                assert_eq!(rolled.kind.as_deref(), Some("throw"));
                position.resolve(Outcome(rolled.outcome)).expect("a throw is due");
            }
            Message::Played(played) => {
                let action = position.parse_action(played.notation.as_deref().expect("notation")).expect("legal");
                assert_eq!(action.0, played.action);
                position.apply(action).expect("legal");
            }
            Message::Choose(choose) => {
                let seat = Seat::BOTH.into_iter().find(|seat| Pig::seat_name(*seat) == choose.seat).expect("a seat");
                assert_eq!(seats.last(), Some(&choose.seat));
                assert_eq!((position.actor(), &choose.pending), (Actor::Player(seat), &position.pending_text()));
                let legal: Vec<_> = choose.legal.iter().map(|legal| (legal.action, legal.notation.as_str())).collect();
                assert_eq!(legal, [(ROLL.0, "roll"), (HOLD.0, "hold")]);
                assert_eq!((choose.budget.simulations, choose.budget.seconds), (Some(400), Some(1.5)));
                assert_eq!(choose.position, Some(Value::String(format!("{position}\n"))));
                // The token of a player: own or not, score and points of the turn in parts of 100.
                let arrays = choose.observation.as_ref().expect("asked for");
                let part = |points: u8| f32::from(points) / 100.0;
                let own = vec![1.0, part(position.banked(seat)), part(position.running())];
                let other = vec![0.0, part(position.banked(seat.other())), 0.0];
                assert_eq!((&arrays.tokens, &arrays.globals), (&vec![own, other], &vec![1.0, 0.0]));
            }
            Message::GameOver(over) => {
                let result = position.result().expect("finished");
                assert_eq!(over.winner.as_deref(), result.winner.map(Pig::seat_name));
                assert_eq!(over.margin, result.margin);
            }
            Message::Hello(_) => panic!("one hello"),
            Message::Quit => assert_eq!(Some(message), messages.last()),
        }
    }
    assert_eq!(seats, ["first", "second"]);
    assert_eq!(messages.last(), Some(&Message::Quit));
}

#[test]
fn a_program_hears_how_a_game_has_ended() {
    let start = ConnectFour::new();
    let endings = |opponent: &AgentFactory<ConnectFour>, options| {
        let over = messages(&heard(&start, ConnectFourColumns::new(), opponent, options)).into_iter();
        over.filter_map(|message| if let Message::GameOver(over) = message { Some(over) } else { None })
            .collect::<Vec<_>>()
    };
    let cut_off = GameOver { ending: EndingKind::Truncated, winner: None, margin: 0.0, forfeited_by: None };
    assert_eq!(
        endings(&random(), MatchOptions { max_decisions: Some(5), ..options(1, 1) }),
        [cut_off.clone(), cut_off]
    );
    // The opponent forfeits game 0, in which it has the second seat, and keeps the terms in game 1.
    let faulty = Faulty::new();
    let opponent = factory(&start, ConnectFourColumns::new(), &faulty.spec(&["exit"], ""));
    let endings = endings(&opponent, options(1, 1));
    let [yellow, red] = ["yellow", "red"].map(|name| Some(name.to_string()));
    assert_eq!(endings[0], GameOver { ending: EndingKind::Forfeit, winner: yellow, margin: 1.0, forfeited_by: red });
    assert_eq!((endings[1].ending, &endings[1].forfeited_by), (EndingKind::Finished, &None));
}

#[test]
fn a_process_plays_many_games() {
    for threads in [1, 2] {
        let faulty = Faulty::new();
        let agent = factory(&Pig::new(), PigPlayers::new(), &faulty.spec_of_habit("none"));
        let report = play_match(&Pig::new(), &agent, &random(), &options(4, threads), &()).expect("a report");
        assert_eq!(report.statistics.games, 8);
        // The process that was tried first plays, too.
        assert!((1..=threads).contains(&faulty.processes().len()), "{:?}", faulty.processes());
    }
}

/// The document of a position of the campaign is a position file of that very position.
#[test]
fn positions_of_the_campaign_are_sent_as_position_files() {
    let scenario = Scenario::builtin("souakim").expect("built in");
    let heard = messages(&heard(&Campaign::new(scenario), CampaignEncoder::new(scenario), &random(), options(1, 1)));
    let mut read = 0;
    for message in heard {
        let Message::Choose(choose) = message else { continue };
        let text = choose.position.expect("asked for").to_string();
        let file = PositionFile::parse("position", &text, Path::new("")).expect("a good position file");
        assert_eq!(file.position.pending_text(), choose.pending);
        let mut legal = Vec::new();
        file.position.legal_actions_into(&mut legal);
        assert_eq!(
            legal.iter().map(|a| a.0).collect::<Vec<_>>(),
            choose.legal.iter().map(|a| a.action).collect::<Vec<_>>()
        );
        read += 1;
    }
    assert!(read > 20, "{read}");
}

/// The keys of an object and of the objects in it, except of a position, whose form is another page's.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                if key != "position" {
                    keys(value, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// The page's example is a dialogue that both sides can read, shows every message and field, and every field that is
/// really sent is explained.
#[test]
fn the_protocol_page_says_what_is_spoken() {
    let dialogue =
        PROTOCOL_PAGE.lines().filter_map(|line| line.split_once(' ').filter(|(who, _)| ["<", ">"].contains(who)));
    let (mut types, mut shown) = (BTreeSet::new(), BTreeSet::new());
    let mut asked = None;
    for (who, line) in dialogue {
        let value: Value = serde_json::from_str(line).expect(line);
        keys(&value, &mut shown);
        let again = if who == ">" {
            assert!(asked.is_none(), "{line} before an answer");
            let message: Message = serde_json::from_str(line).expect(line);
            types.insert(value["type"].as_str().expect("a type").to_string());
            asked = Some(message.clone()).filter(|message| matches!(message, Message::Hello(_) | Message::Choose(_)));
            Ok(message.line())
        } else {
            match asked.take() {
                Some(Message::Hello(_)) => {
                    serde_json::to_string(&serde_json::from_str::<HelloAnswer>(line).expect(line))
                }
                Some(_) => serde_json::to_string(&serde_json::from_str::<ChooseAnswer>(line).expect(line)),
                None => panic!("{line} answers nothing"),
            }
        };
        // Written again it is the same line: no field is unknown, none is left out.
        assert_eq!(again.expect("plain data"), line);
    }
    let all = ["choose", "game_over", "hello", "new_game", "played", "quit", "rolled"];
    assert_eq!(types.iter().map(String::as_str).collect::<Vec<_>>(), all);

    let limits = Limits { simulations: Some(400), time: Some(Duration::from_secs(9)), ..Limits::default() };
    let mut sent = BTreeSet::new();
    let options = MatchOptions { limits, ..options(1, 1) };
    for line in heard(&Pig::new(), PigPlayers::new(), &random(), options) {
        keys(&serde_json::from_str(&line).expect("JSON"), &mut sent);
    }
    assert!(sent.is_subset(&shown), "sent but not in the example: {:?}", sent.difference(&shown));
    let tables: String = PROTOCOL_PAGE.lines().filter(|line| line.starts_with('|')).collect();
    for name in shown.iter().filter(|name| *name != "type").chain(&types).filter(|name| *name != "quit") {
        assert!(tables.contains(&format!("`{name}`")), "{name} is not explained");
    }
    assert!(PROTOCOL_PAGE.contains(&format!("\"line_bytes\":{LINE_BYTES},")));
}

/// The example is short enough to be read as the beginning of one's own.
#[test]
fn the_example_has_forty_lines_and_needs_nothing_installed() {
    let example = fs::read_to_string(EXAMPLE).expect("the example");
    assert!(example.lines().count() <= 40);
    let imports: Vec<&str> = example.lines().filter(|line| line.contains("import ")).collect();
    assert_eq!(imports, ["import json", "import random", "import sys"]);
}
