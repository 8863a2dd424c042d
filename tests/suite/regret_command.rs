//! `dervish regret` as its users call it, and the exact values behind it.

use crate::dervish_binary::{dervish, json_of, refusal};
use crate::solved_pig::{SolvedPig, pig_at};
use crate::waiting_game::{Place, WaitingGame};
use dervish_agents::evaluation::Utility;
use dervish_env::game::{Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::Pig;
use dervish_search::exact::{NotSolved, Solver};
use dervish_search::fixed_point::FixedPoint;
use dervish_training::arena::regret::{SolvedPosition, Unsolved};
use dervish_training::arena::solved_sample::{NotDrawn, draw};

const BY_RESULT: Utility = Utility { margin_share: 0.0 };

/// Against another solution of the game, which walks its turns and knows no positions.
#[test]
fn pig_is_solved_as_a_whole() {
    let whole = FixedPoint::of(&Pig::new(), BY_RESULT, 3_000_000).expect("small enough");
    // The first player wins with probability 0.5306 (Neller and Presser 2004).
    let start = whole.value(&Pig::new()).expect("solved");
    assert!((start - (2.0 * 0.5306 - 1.0)).abs() < 1e-4, "{start}");
    let solved = SolvedPig::new();
    assert!((start - (2.0 * solved.turn[0][0] - 1.0)).abs() < 1e-8, "{start}");
    for (first, second, running) in [(80, 96, 12), (2, 3, 20), (85, 98, 3), (90, 2, 5), (40, 40, 40)] {
        let position = SolvedPosition::of_whole(&pig_at(first, second, running), &whole).expect("a decision");
        let exact = solved.choices(usize::from(first), usize::from(second), usize::from(running));
        for ((_, value), exact) in position.actions.iter().zip(exact) {
            assert!((value - (2.0 * exact - 1.0)).abs() < 1e-8, "{first} {second} {running}: {position:?} {exact}");
        }
    }
    // Second sees the same from the other side.
    let second = draw(&Pig::new(), 12, 1, None).expect("positions");
    assert!(second.iter().any(|position| position.seat == Seat::Second), "{second:?}");
    for position in second {
        let [own, other] =
            [position.seat, position.seat.other()].map(|seat| usize::from(position.position.banked(seat)));
        let exact = solved.choices(own, other, usize::from(position.position.running()));
        for ((_, value), exact) in position.actions.iter().zip(exact) {
            assert!((value - (2.0 * exact - 1.0)).abs() < 1e-8, "{position:?} {exact}");
        }
        assert!(position.is_a_choice());
    }
}

#[test]
fn a_game_whose_positions_come_back_is_no_tree() {
    let mut solver = Solver::new(BY_RESULT, true, 1_000_000);
    assert_eq!(solver.value(&Pig::new()), Err(NotSolved::Cycle));
    // Nothing half-solved is left behind.
    assert_eq!(solver.value(&Pig::new()), Err(NotSolved::Cycle));
    assert!(matches!(SolvedPosition::of(pig_at(5, 5, 4), 1000), Err(Unsolved::NotSolved(NotSolved::Cycle))));
    assert_eq!(draw(&Pig::new(), 1, 1, Some(1000)).err(), Some(NotDrawn::TooLarge { limit: 1000 }));
    assert_eq!(FixedPoint::of(&Pig::new(), BY_RESULT, 1000).err(), Some(NotSolved::TooLarge { limit: 1000 }));
}

/// Where a player can wait for ever, values that follow from each other are not the only ones: who waits at a position that is
/// worth 0 may keep it at whatever it was taken for once. So such a game is refused; where dice end it, it is not.
#[test]
fn a_game_that_need_not_end_is_not_solved() {
    let game = |loses: bool| WaitingGame { place: Place::Choice, loses };
    assert_eq!(FixedPoint::of(&game(false), BY_RESULT, 100).err(), Some(NotSolved::Endless));
    assert_eq!(draw(&game(false), 1, 1, None).err(), Some(NotDrawn::Endless));
    // Who loses by waiting in one of six throws gambles: half a win, half a loss.
    let solved = FixedPoint::of(&game(true), BY_RESULT, 100).expect("dice end it");
    assert!(solved.value(&game(true)).expect("solved").abs() < 1e-9);
}

/// Positions of Pascal Pons's test set L3 R1 (gamesolver.org, "Solving Connect 4", part 2) with the signs of their scores there:
/// won, drawn or lost for the player to move. The first is lost whatever he does; each other one can be played wrongly.
pub const PUBLISHED_ENDINGS: [(&str, f64); 8] = [
    ("2252576253462244111563365343671351441", -1.0),
    ("7422341735647741166133573473242566", 1.0),
    ("23163416124767223154467471272416755633", 0.0),
    ("52677675164321472411331752454", 0.0),
    ("67152117737262713366376314254", 1.0),
    ("2762751722231276466633475674533", 1.0),
    ("233377345754465174223731671122611552", 1.0),
    ("211376455663355325112113664364524722", 0.0),
];

#[test]
fn connect_four_endings_have_their_published_values() {
    for (columns, value) in PUBLISHED_ENDINGS {
        let position = ConnectFour::after(columns).expect("legal columns");
        let solved = SolvedPosition::of(position, 1_000_000).expect("few cells are empty");
        assert_eq!(solved.value(), value, "{columns}");
    }
}

#[test]
fn drawn_positions_follow_from_the_seed_and_leave_a_choice() {
    let keys = |seed| {
        let drawn = draw(&ConnectFour::new(), 20, seed, Some(5_000)).expect("positions");
        assert!(drawn.iter().all(|solved| solved.is_a_choice() && solved.nodes <= 5_000));
        drawn.iter().map(|solved| solved.position.key()).collect::<Vec<_>>()
    };
    let drawn = keys(1);
    assert_eq!(drawn, keys(1));
    assert_ne!(drawn, keys(2));
    let mut different = drawn.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 20);
}

#[test]
fn regret_is_told_of_any_game_as_a_table_and_as_json() {
    let args = ["regret", "--scenario", "connect-four", "--positions", "10", "--seed", "1", "--limit", "5000"];
    let agents = ["--agent", "mcts:sims={n},depth=0", "--agent", "random", "--budgets", "20,20000", "--repeats", "2"];
    let call = [&args[..], &agents].concat();
    let report = json_of(&[&call[..], &["--json"]].concat());
    assert_eq!(report["drawn"], "connect-four");
    assert_eq!(report["positions"].as_array().map(Vec::len), Some(10));
    let regret = |agent: usize, cell: usize| {
        report["agents"][agent]["cells"][cell]["regret"]["value"].as_f64().expect("a number")
    };
    // Perfect play with many simulations; random play leaves something.
    assert_eq!(regret(0, 1), 0.0, "{report}");
    assert!(regret(1, 0) > 0.1, "{report}");
    let table = dervish(&call);
    let text = String::from_utf8(table.stdout).expect("UTF-8");
    assert!(table.status.success() && text.starts_with("10 positions of connect-four, exact values from "));
    // In what values and regrets are counted.
    assert!(text.contains("\nValues and regrets are expected results: a win is 1, a draw 0, a loss -1. "), "{text}");
}

/// Pig, whose positions come back, is solved as a whole first. Without a word about agents every search is measured; at ten
/// thousand simulations none gives away 0.02 on average, though random games end rollouts and values are far from exact.
#[test]
fn regret_is_told_of_a_game_whose_positions_come_back() {
    let args = ["regret", "--scenario", "pig", "--positions", "12", "--seed", "1", "--repeats", "1"];
    let report = json_of(&[&args[..], &["--budgets", "20,10000", "--json"]].concat());
    assert_eq!(report["drawn"], "pig");
    let positions = report["positions"].as_array().expect("a list");
    assert_eq!(positions.len(), 12);
    for position in positions {
        let values: Vec<_> = (0..2).map(|action| position["actions"][action][1].as_f64().expect("a number")).collect();
        // To throw or to hold, and one of both is worth more.
        assert!(position["actions"].as_array().map(Vec::len) == Some(2) && values[0] != values[1], "{position}");
        assert_eq!(position["value"].as_f64(), values.into_iter().reduce(f64::max), "{position}");
    }
    let agents = report["agents"].as_array().expect("a list");
    let names: Vec<_> = agents.iter().map(|agent| agent["agent"].as_str().expect("a spec")).collect();
    assert!(["expectimax:", "mcts:", "mcts:", "gumbel:"].iter().zip(&names).all(|(part, name)| name.starts_with(part)));
    assert!(names.len() == 4 && names[2].contains("select=puct"), "{names:?}");
    let mut few = 0.0;
    for agent in agents {
        let regret = |cell: usize| agent["cells"][cell]["regret"]["value"].as_f64().expect("a number");
        assert!((0.0..=0.02).contains(&regret(1)), "{agent}");
        few += regret(0);
    }
    // These positions can be played wrongly.
    assert!(few > 0.02, "{report}");
}

/// Nothing but files need be said: every search stands in the table, and with the highest budget its value and what its choice
/// gives away are within 0.02 of the exact ones in each position.
#[test]
fn the_plain_command_shows_every_search_at_its_highest_setting() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data/solved/");
    let files = ["gordon_in_fire_or_melee", "storm_el_obeid", "two_columns_before_el_obeid"];
    let files = files.map(|name| format!("{folder}{name}.json"));
    // It takes long enough to tell of its progress.
    let output = dervish(&["regret", &files[0], &files[1], &files[2], "--repeats", "1", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let agents = report["agents"].as_array().expect("a list");
    for part in ["expectimax:", "mcts:sims={n},depth=0", "select=puct", "gumbel:"] {
        let shown = |agent: &&serde_json::Value| agent["agent"].as_str().is_some_and(|spec| spec.contains(part));
        assert_eq!(agents.iter().filter(shown).count(), 1, "{part}: {report}");
    }
    assert_eq!(agents.len(), 4);
    for agent in agents {
        let cells = agent["cells"].as_array().expect("a list");
        let highest = cells.last().expect("a cell");
        assert!(highest["budget"].as_u64() >= Some(100_000), "{highest}");
        assert!(highest["worst_value_error"].as_f64().is_some_and(|error| error < 0.02), "{agent}");
        assert!(highest["worst_regret"].as_f64().is_some_and(|regret| regret < 0.02), "{agent}");
        assert!(cells[0]["budget"].as_u64() < highest["budget"].as_u64());
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let refused = |args: &[&str]| refusal(&[&["regret"], args].concat());
    for (args, expected) in [
        (
            &["--scenario", "pig", "--limit", "1000"][..],
            "--scenario: pig: its positions can come back, and there are more than 1000",
        ),
        (&["--scenario", "pig", "--agent", "minimax"], "--agent: unknown agent 'minimax'"),
        (&["--scenario", "nowhere.toml"], "nowhere.toml"),
    ] {
        let line = refused(args);
        assert!(line.contains(expected), "{args:?}: {line}");
    }
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/data/solved/storm_el_obeid.json");
    for args in [
        &[][..],
        &["--positions", "5"],
        // Positions of files are not drawn.
        &[files, "--positions", "5"],
        &[files, "--scenario", "pig"],
        &["--scenario", "pig", "--positions", "0"],
    ] {
        let output = dervish(&[&["regret"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}
