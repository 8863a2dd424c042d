//! What searches tell of their thinking: the line that they expect, how much they looked at and how fast; and how a person
//! sees it.

use dervish_agents::agent::{Event, SearchReport};
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Action, Actor, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_training::arena::agents::ArenaGame;

use crate::dervish_binary::dervish_reading;

const SEARCHES: [&str; 6] = [
    "expectimax:nodes=2000",
    "expectimax:nodes=2000,merged=false,star=0",
    "mcts:sims=200",
    "mcts:sims=200,select=puct,widen=0.5,batch=8",
    "mcts:sims=200,threads=2,parallel=root",
    "gumbel:sims=64",
];

/// The line begins with the chosen action, and can be played: every action is legal where it stands, every roll possible. It
/// has an action or a roll for each step of the way, and goes on behind the first action where the search has looked there.
fn assert_line_is_playable<P: Position>(position: &P, chosen: Action, report: &SearchReport) {
    let Actor::Player(seat) = position.actor() else { panic!("a decision") };
    let line = &report.principal_variation;
    assert_eq!(line.first(), Some(&Event::Played(seat, chosen)));
    let mut position = position.clone();
    for (step, event) in line.iter().enumerate() {
        match *event {
            Event::Played(seat, action) => {
                assert_eq!(position.actor(), Actor::Player(seat), "step {step} of {line:?}");
                assert!(position.is_legal(action), "step {step} of {line:?}");
                position.apply(action).expect("legal");
            }
            Event::Rolled(outcome) => {
                assert_eq!(position.actor(), Actor::Chance, "step {step} of {line:?}");
                position.resolve(outcome).unwrap_or_else(|error| panic!("step {step} of {line:?}: {error}"));
            }
        }
    }
}

/// Plays a game by the search's own choices and checks up to `most` of its reports; returns the longest line.
fn check_lines<P: ArenaGame>(start: P, spec: &str, most: usize) -> usize {
    let mut agent = P::agents().factory(spec).expect("an agent").make();
    agent.new_game(agent_rng(4, 0, Seat::First));
    let (mut position, mut dice) = (start, Dice::new(4));
    let (mut checked, mut longest) = (0, 0);
    while checked < most {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => position.resolve_possible(dice.roll(&position)),
            Actor::Player(_) => {
                let choice = agent.choose(&position, &Limits::default()).expect("a choice");
                if let Some(report) = choice.report {
                    assert_line_is_playable(&position, choice.action, &report);
                    longest = longest.max(report.principal_variation.len());
                    checked += 1;
                }
                position.apply(choice.action).expect("legal");
            }
        }
    }
    assert!(checked > 5, "{spec}: {checked} searches");
    longest
}

#[test]
fn principal_variations_can_be_played() {
    for spec in SEARCHES {
        let campaign = Campaign::new(Scenario::builtin("souakim").expect("built in"));
        let longest = [
            check_lines(campaign, spec, 40),
            check_lines(ConnectFour::new(), spec, 40),
            check_lines(Pig::new(), spec, 40),
        ];
        assert!(longest.iter().all(|steps| *steps >= 3), "{spec}: {longest:?}");
    }
}

/// Time is told and speed follows from it: new nodes by seconds. Two searches that found the same are equal, whatever time
/// they took.
#[test]
fn searches_tell_their_speed() {
    let position = ConnectFour::new();
    for spec in SEARCHES {
        let mut agent = ConnectFour::agents().factory(spec).expect("an agent").make();
        agent.new_game(agent_rng(4, 0, Seat::First));
        let choice = agent.choose(&position, &Limits::default()).expect("a choice");
        let report = choice.report.expect("a report");
        assert!(report.seconds > 0.0 && report.nodes > 50, "{spec}: {report:?}");
        assert_eq!(report.reused_nodes, 0, "{spec}");
        let expected = report.nodes as f64 / report.seconds;
        assert!((report.nodes_per_second() / expected - 1.0).abs() < 1e-9, "{spec}");

        let slower = SearchReport { seconds: 2.0 * report.seconds, ..report.clone() };
        assert_eq!(slower, report, "{spec}");
        assert!((slower.nodes_per_second() / report.nodes_per_second() - 0.5).abs() < 1e-9, "{spec}");
        assert_ne!(SearchReport { value: report.value + 0.5, ..report.clone() }, report, "{spec}");
        assert_ne!(SearchReport { nodes: report.nodes + 1, ..report.clone() }, report, "{spec}");
        // What was known before was not found in this time.
        let half = SearchReport { reused_nodes: report.nodes / 2, ..report.clone() };
        assert!(half.nodes_per_second() < 0.51 * report.nodes_per_second(), "{spec}");
        assert_eq!(SearchReport { seconds: 0.0, ..report }.nodes_per_second(), 0.0, "{spec}");
    }
}

/// Nodes of all trees count, and those that were kept are told apart.
#[test]
fn nodes_are_those_of_all_trees_and_kept_ones_are_told() {
    let choose = |spec: &str, columns: &[&str]| {
        let mut agent = ConnectFour::agents().factory(spec).expect("an agent").make();
        agent.new_game(agent_rng(4, 0, Seat::First));
        let mut report = None;
        for columns in columns {
            let position = ConnectFour::after(columns).expect("legal columns");
            report = agent.choose(&position, &Limits::default()).expect("a choice").report;
        }
        report.expect("a report")
    };
    // Each simulation of a tree without sharing adds a node until it is finished; each tree has a root.
    let apart = choose("mcts:sims=400,threads=4,parallel=root,share=false", &["44"]);
    assert!(apart.nodes > 300 && apart.nodes <= 404, "{}", apart.nodes);
    let again = choose("mcts:sims=400", &["44", "4443"]);
    assert!(again.reused_nodes > 1 && again.nodes > again.reused_nodes, "{again:?}");
    assert!(again.nodes <= again.reused_nodes + 400, "{again:?}");
    assert_eq!(choose("mcts:sims=400,reuse=false", &["44", "4443"]).reused_nodes, 0);
}

/// Who asks for it sees two lines after each action of the agent: what it found, and the line, which begins with the action.
#[test]
fn a_person_can_see_what_the_agent_thinks() {
    for (against, parts) in [
        ("mcts:sims=60", &["value ", " visits, depth ", " nodes", " s, ", " nodes/s"][..]),
        ("gumbel:sims=20", &["value ", " visits, depth ", " nodes", " s, ", " nodes/s"]),
        ("expectimax:nodes=300", &["value ", ", depth ", " nodes in ", " nodes/s"]),
    ] {
        let play = |more: &[&str]| {
            let arguments =
                ["play", "--scenario", "souakim", "--side", "egyptian", "--against", against, "--seed", "5"];
            let output = dervish_reading(&[&arguments[..], more].concat(), "1\n".repeat(3).as_bytes());
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        let text = play(&["--thinking"]);
        let lines: Vec<&str> = text.lines().collect();
        let answers: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].starts_with("- mahdist ")).collect();
        let mut searched = 0;
        for &index in &answers {
            if lines[index + 1] == "    without a search" {
                continue;
            }
            searched += 1;
            assert!(parts.iter().all(|part| lines[index + 1].contains(part)), "{against}: {}", lines[index + 1]);
            let line = lines[index + 2].strip_prefix("    line: ").expect("a line");
            let first = line.split("; ").next().expect("a step");
            assert!(lines[index].starts_with(&format!("- {first}")), "{against}: {} {line}", lines[index]);
        }
        assert!(searched > 3, "{against}: {text}");
        // Who does not ask sees the same game without it.
        let told = |line: &&str| line.starts_with("    value ") || line.starts_with("    line: ");
        let untold = |line: &&str| *line == "    without a search";
        // That it takes long depends on the machine.
        let waited = |line: &&str| line.starts_with("mahdist is thinking");
        let without = lines.iter().copied().filter(|line| !told(line) && !untold(line) && !waited(line));
        let silent = play(&[]);
        assert!(without.eq(silent.lines().filter(|line| !waited(line))), "{against}");
    }
}
