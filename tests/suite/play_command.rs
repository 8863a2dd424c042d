//! `dervish play` as a person uses it, with prepared lines for the terminal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use dervish_agents::agent::Event;
use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Ground, Hex};
use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::order::Verb;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Actor, Outcome, Position};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::games::{GameVisitor, game_names, with_game};

use crate::dervish_binary::{dervish, dervish_reading, dervish_unheard, json_of, refusal};
use crate::play_texts::{along_a_game, answer_to, odds_of};

/// Plays with these lines as input; the whole output of a sitting that ends well.
pub fn sitting(args: &[&str], input: impl AsRef<[u8]>) -> String {
    // Without a seed each game would have other dice.
    let seed: &[&str] = if args.contains(&"--seed") { &[] } else { &["--seed", "0"] };
    let output: Output = dervish_reading(&[&["play"], args, seed].concat(), input.as_ref());
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The same, and the lines of the record of the game that begin with the name of a side or are rolls.
pub fn recorded(args: &[&str], input: impl AsRef<[u8]>) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let path = path.to_str().expect("UTF-8");
    let output = sitting(&[args, &["--record", path]].concat(), input);
    let record = fs::read_to_string(path).expect("a record");
    // By the rules, whether finished or not.
    let replay = dervish(&["replay", path]);
    assert!(replay.status.success(), "{}{record}", String::from_utf8_lossy(&replay.stderr));
    let played = record.lines().filter(|line| ["egyptian ", "mahdist ", "roll "].iter().any(|w| line.starts_with(w)));
    (output, played.map(str::to_owned).collect())
}

/// The first orders of the Mahdist in scenario 3 place his units (2.6, 2.7).
pub const SETUP: [&str; 4] = ["--scenario", "souakim", "--side", "mahdist"];

/// A campaign of one turn, in which the Mahdist has two spearmen in 0302, and dice that let them march.
const TINY: [&str; 6] = ["--scenario", "tiny", "--side", "mahdist", "--seed", "7"];

#[test]
fn whole_games_are_played_from_either_side() {
    for (scenario, against) in
        [("tiny", "random"), ("souakim", "random"), ("kordofan", "doctrine"), ("tiny", "mcts:sims=4")]
    {
        for side in ["egyptian", "mahdist"] {
            // Always the first order.
            let arguments = ["--scenario", scenario, "--side", side, "--against", against, "--seed", "5"];
            let (output, played) = recorded(&arguments, "1\n".repeat(20_000));
            let last = output.trim_end().lines().last().expect("a result");
            let ends = ["drawn: ", "won by egyptian, margin ", "won by mahdist, margin "];
            assert!(ends.iter().any(|text| last.starts_with(text)), "{scenario} as {side}: {last}");
            // The opponent is asked too, and dice fall.
            let other = if side == "egyptian" { "mahdist " } else { "egyptian " };
            assert!(played.iter().any(|line| line.starts_with("roll event ") || line.starts_with("roll roll_event ")));
            assert!(scenario == "tiny" || played.iter().any(|line| line.starts_with(other)), "{played:?}");
            assert!(output.lines().any(|line| line.starts_with("* ")), "{output}");
            // In the tiny campaign a side may have no choice at all.
            assert!(scenario == "tiny" || output.contains(&format!("\n{side}: ")), "{output}");
        }
    }
}

/// Games without a seed have other dice each time; the seed that is told plays the same game again.
#[test]
fn a_seed_is_drawn_and_told() {
    let play = |more: &[&str]| {
        let args = [&["play", "--scenario", "pig", "--side", "second"], more].concat();
        let output = dervish_reading(&args, "hold\n".repeat(500).as_bytes());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let [one, other] = [play(&[]), play(&[])];
    let seed =
        |output: &str| output.lines().next().and_then(|line| line.strip_prefix("seed ")).expect("told").to_owned();
    assert_ne!(seed(&one), seed(&other));
    let again = play(&["--seed", &seed(&one)]);
    assert_eq!(one.lines().skip(1).collect::<Vec<_>>(), again.lines().collect::<Vec<_>>());
}

/// The agent's time is bounded: with next to nothing it answers after few simulations of the millions it may have.
#[test]
fn the_agent_keeps_to_its_time() {
    let arguments = ["--scenario", "connect-four", "--side", "yellow", "--against", "mcts:sims=100000000"];
    let begun = Instant::now();
    let output = sitting(&[&arguments[..], &["--turn-time", "0.05"]].concat(), "drop 4\n");
    assert!(output.contains("- red drop ") && begun.elapsed() < Duration::from_secs(30), "{output}");
    let refused = refusal(&[&["play"], &arguments[..], &["--sims", "0"]].concat());
    assert!(refused.contains("--sims: an agent needs at least one simulation"), "{refused}");
}

#[test]
fn the_side_that_does_not_play_is_the_agent_in_the_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let record = |side| {
        let path = path.to_str().expect("UTF-8");
        sitting(&["--scenario", "souakim", "--side", side, "--seed", "8", "--record", path], "");
        let record = fs::read_to_string(path).expect("a record");
        fs::remove_file(path).expect("a record");
        record
    };
    let as_mahdist = record("mahdist");
    assert!(as_mahdist.contains("\nseat: egyptian random:seed=0\nseat: mahdist human\n"), "{as_mahdist}");
    assert!(as_mahdist.contains("\nseed: 8\n") && as_mahdist.ends_with("\nunfinished\n"), "{as_mahdist}");
    let as_egyptian = record("egyptian");
    assert!(as_egyptian.contains("\nseat: egyptian human\nseat: mahdist random:seed=0\n"), "{as_egyptian}");
}

/// The places within three hexes of Sinkat or Tokar where no enemy stands (2.6), by the map.
const SETUP_PLACES: [(&str, &str); 6] = [
    ("4306", "Tambuk"),
    ("4406", "Otao"),
    ("4506", "Handub"),
    ("4508", "Tamai"),
    ("4810", "El Teb"),
    ("4910", "Trinkitat"),
];

/// A number of the list is its order; orders are listed as `dervish position legal` gives them, with the places' names.
#[test]
fn orders_are_given_by_number_or_in_notation() {
    let start = dervish(&["position", "new", "--scenario", "souakim"]).stdout;
    let legal = dervish_reading(&["position", "legal", "-"], &start).stdout;
    let legal: serde_json::Value = serde_json::from_slice(&legal).expect("JSON");
    let orders: Vec<&str> = legal["actions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|order| order["text"].as_str().expect("a text"))
        .collect();
    // More orders than are listed without being asked.
    assert!(orders.len() > 24, "{}", orders.len());
    let numbered = |(i, order): (usize, &&str)| {
        let place = SETUP_PLACES.iter().find(|(hex, _)| order.ends_with(hex));
        format!("  {:3} {order}{}\n", i + 1, place.map_or(String::new(), |(_, name)| format!(" ({name})")))
    };
    let all: String = orders.iter().enumerate().map(numbered).collect();
    let first: String = orders.iter().enumerate().take(24).map(numbered).collect();
    let output = sitting(&SETUP, "q\n");
    assert!(output.contains(&format!(
        "mahdist: a hex to set up in (2.7)\n{first}  ... {} more; l lists all\n> ",
        orders.len() - 24
    )));
    assert!(!output.contains(&all));
    for list in ["l\n", "list\n", "  l  \r\n"] {
        assert!(sitting(&SETUP, list).contains(&all), "{list:?}");
    }
    let last = orders.len();
    let by_number = recorded(&SETUP, format!("{last}\n")).1;
    assert_eq!(by_number[0], format!("mahdist {}", orders[last - 1]));
    assert_eq!(by_number, recorded(&SETUP, format!("  {} \n", orders[last - 1].to_uppercase())).1);
    for (hex, name) in SETUP_PLACES {
        for typed in [
            format!("place {hex} ({name})"),
            format!("  PLACE {hex}  ({}) ", name.to_uppercase()),
            name.to_owned(),
            format!(" place  {}", name.to_lowercase()),
        ] {
            assert_eq!(recorded(&SETUP, format!("{typed}\n")).1, [format!("mahdist place {hex}")], "{typed}");
        }
    }
}

/// Plays a random game; reads the orders of each tenth decision as they are shown, and tells at which kinds of decision the
/// text that is shown is more than the notation.
struct ShownOrders;

impl GameVisitor for ShownOrders {
    type Output = BTreeSet<&'static str>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, _encoder: E) -> Self::Output {
        let (mut dice, mut choice) = (Dice::new(1), SplitMix64::new(1));
        let (mut position, mut legal, mut explained) = (start, Vec::new(), BTreeSet::new());
        let mut decisions = 0;
        loop {
            match position.actor() {
                Actor::Finished => return explained,
                Actor::Chance => {
                    let outcome = dice.roll(&position);
                    position.resolve(outcome).expect("a roll that was listed");
                }
                Actor::Player(_) => {
                    position.legal_actions_into(&mut legal);
                    for &action in legal.iter().filter(|_| decisions % 10 == 0) {
                        let (shown, notation) = (position.choice_text(action), position.action_text(action));
                        assert_eq!(position.parse_choice(&shown), Ok(action), "{shown}");
                        assert_eq!(position.parse_choice(&notation), Ok(action), "{notation}");
                        if shown != notation {
                            explained.insert(position.pending_kind());
                        }
                    }
                    decisions += 1;
                    position.apply(legal[choice.below(legal.len())]).expect("an action that was listed");
                }
            }
        }
    }
}

/// Whatever text is shown for an order is read back as that order, at every kind of question and in every game.
#[test]
fn every_order_is_read_as_it_is_shown() {
    let games = game_names().map(|name| with_game(name, ShownOrders).expect("comes with the program"));
    let explained: BTreeSet<&str> = games.flatten().collect();
    for kind in ["setup_hex", "march_hex", "group_hex"] {
        assert!(explained.contains(kind), "{explained:?}");
    }
}

#[test]
fn a_side_is_named_in_capitals_or_small_letters() {
    for (scenario, side, typed) in [
        ("souakim", "egyptian", ["Egyptian", "EGYPTIAN"]),
        ("souakim", "mahdist", ["Mahdist", "mAHDIST"]),
        ("pig", "second", ["Second", "SECOND"]),
    ] {
        let output = sitting(&["--scenario", scenario, "--side", side], "");
        for typed in typed {
            assert_eq!(sitting(&["--scenario", scenario, "--side", typed], ""), output, "{typed}");
        }
    }
}

/// As with every command that prints into `head`: whoever reads no more has left, and the record is kept.
#[test]
fn a_reader_that_has_gone_away_leaves_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let arguments = [&["play"][..], &SETUP, &["--record", path.to_str().expect("UTF-8")]].concat();
    let output = dervish_unheard(&arguments, "1\n".repeat(200).as_bytes());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(fs::read_to_string(path).expect("a record").ends_with("\nunfinished\n"));
}

#[test]
fn help_and_board_are_shown_when_asked_for() {
    let help = "l lists the orders; b draws the board; v tells how the game is won; u takes back orders given since the last roll; w FILE keeps the game in a new file; q leaves the game; ? tells this again\n\
                b HEX draws the board around a hex, ";
    for (line, shown) in [("", 1), ("?\n", 2), ("h\n", 2), ("help\n", 2), ("help\nhelp\n", 3)] {
        assert_eq!(sitting(&SETUP, line).matches(help).count(), shown, "{line:?}");
    }
    // The board is there at once; before the Mahdist has units, it shows the country in which he may place them.
    for (line, shown) in [("", 1), ("b\n", 2), ("board\n", 2)] {
        let output = sitting(&SETUP, line);
        assert_eq!(output.matches("Souakim: game turn 1 of 5, 1884-02, mahdist player, Setup phase").count(), shown);
        assert_eq!(output.matches("4811 (Tokar): 1 rifle_l, 1 egyptian_gun").count(), shown, "{output}");
    }
    // Anew only when something on it has changed: here when one of the spearmen has marched.
    let drawn = |input: &str| sitting(&TINY, input).matches("The tiny campaign: game turn 1 of 1").count();
    let pick = "march 0302\nmarch 0302 choose\ntake mahdist_spearmen 1\n";
    assert_eq!(drawn(""), 1);
    assert_eq!(drawn("march 0302\nu\n"), 1);
    assert_eq!(drawn(pick), 1);
    assert_eq!(drawn(&format!("{pick}b\n")), 2);
    assert_eq!(drawn(&format!("{pick}to 0202\n")), 2);
    // The Egyptian player has the first turn of scenario 2 (3.1), but before it the Mahdist sets up (2.7).
    let output = sitting(&["--scenario", "khartoum", "--side", "mahdist"], "");
    assert!(output.contains(": game turn 1 of 18, 1884-02, mahdist player, Setup phase"), "{output}");
}

/// The whole map and every stack can be seen, not only what lies around the question.
#[test]
fn any_part_of_the_map_and_all_stacks_are_shown_when_asked_for() {
    let scenario = Scenario::builtin("khartoum").expect("comes with the game");
    let game = ["--scenario", "khartoum", "--side", "mahdist"];
    let output = sitting(&game, "b 4606\nboard SOUAKIM\nb all\ns\nb 9999\nb nowhere\n");
    let answers: Vec<&str> = output.split("\n> ").skip(1).collect();
    let [at_hex, at_place, all, stacks, no_hex, no_place, _] = answers[..] else { panic!("{output}") };
    assert_eq!(at_hex, at_place);
    assert!(at_hex.contains("\n  4606 (Souakim): ") && !at_hex.contains("\n  1732 (Khartoum): "), "{at_hex}");
    for (name, wrong) in [("9999", no_hex), ("nowhere", no_place)] {
        assert_eq!(wrong, format!("{name}: neither a hex of this map, such as 4606, nor the name of a place on it"));
    }
    // Every column and row with a hex is there once, with the stacks of both sides.
    let hexes = (0..scenario.board.cells.len()).map(|index| Hex(index as u16));
    let hexes: Vec<Hex> = hexes.filter(|hex| scenario.board.cell(*hex).ground != Ground::Off).collect();
    let columns: BTreeSet<usize> = hexes.iter().map(|hex| hex.column()).collect();
    let heads = all.lines().filter(|line| line.starts_with("     "));
    let drawn: Vec<usize> = heads.flat_map(str::split_whitespace).map(|word| word.parse().expect("a column")).collect();
    assert_eq!(drawn, columns.into_iter().collect::<Vec<_>>());
    let start = Campaign::new(scenario);
    for side in Side::BOTH {
        let (_, told) = stacks.split_once(&format!("{}:\n", side.id())).expect("both sides");
        let told: Vec<&str> = told.lines().take_while(|line| line.starts_with("  ")).collect();
        let cohorts = start.units().as_slice().iter().filter(|cohort| cohort.side() == side);
        let hexes: BTreeSet<Hex> = cohorts.clone().map(|cohort| cohort.hex()).collect();
        for cohort in cohorts {
            let (hex, units) = (cohort.hex().to_string(), format!("{} {}", cohort.count(), cohort.kind().id()));
            let line = told.iter().find(|line| line.trim_start().starts_with(&hex));
            assert!(line.is_some_and(|line| line.contains(&units)), "{hex} {units}: {stacks}");
        }
        assert!(told.len() >= hexes.len(), "{stacks}");
    }
}

/// The numbers of 2.1 and 2.2 in `units.toml`, those that are 0 left out.
#[test]
fn the_units_of_a_hex_are_told_with_their_factors() {
    let output = sitting(&SETUP, "i souakim\ninfo 4606\ni\n");
    let answers: Vec<&str> = output.split("\n> ").skip(1).collect();
    assert_eq!(answers[0], answers[1]);
    assert!(answers[0].starts_with("4606 (Souakim): "), "{}", answers[0]);
    assert!(answers[0].lines().next().is_some_and(|line| line.ends_with("; controlled by egyptian")), "{}", answers[0]);
    for line in [
        "  4 rifle_r: class R, melee 2, fire 2, movement 6",
        "  1 egyptian_gun: class L, fire 2, gun 1, movement 5",
        "  baker: strategic 1, tactical 1, movement 9",
    ] {
        assert!(answers[0].lines().any(|told| told == line), "{line}: {}", answers[0]);
    }
    assert_eq!(answers[2], "i HEX tells of a hex and its units");
}

/// The start of scenario 3 with more units in Souakim, as a position file has them.
fn with_more_in_souakim(units: &str) -> Campaign {
    let start = PositionFile::start("souakim").expect("comes with the game").text();
    let garrison = r#"{"kind": "rifle_r", "count": 4}"#;
    assert_eq!(start.matches(garrison).count(), 1, "{start}");
    let text = start.replace(garrison, &format!("{garrison}, {units}"));
    PositionFile::parse("position", &text, Path::new("")).unwrap_or_else(|faults| panic!("{faults:?}")).position
}

/// Rule 2.1: disrupted they have half their melee factor, and lend no fire, gun or cavalry factor.
#[test]
fn disrupted_units_are_told_with_the_factors_that_count() {
    for (kind, told) in [
        ("rifle_r", "  1 rifle_r disrupted: class R, melee 1, movement 6"),
        ("egyptian_cavalry", "  1 egyptian_cavalry disrupted: class R, melee 1, movement 9"),
        ("egyptian_gun", "  1 egyptian_gun disrupted: class L, movement 5"),
    ] {
        let position = with_more_in_souakim(&format!(r#"{{"kind": "{kind}", "count": 1, "disrupted": true}}"#));
        let answer = answer_to(&position, "i Souakim");
        assert!(answer.lines().any(|line| line == told), "{told}: {answer}");
    }
}

/// Gordon and seven gunboats are with the fifteen land units of Khartoum (2.5), Baker with the eight of Souakim (2.6) and more.
#[test]
fn leaders_and_gunboats_are_marked_on_large_stacks_too() {
    let khartoum = Campaign::new(Scenario::builtin("khartoum").expect("comes with the game"));
    let board = answer_to(&khartoum, "b Khartoum");
    assert!(board.contains("TE15&"), "{board}");
    for (units, drawn) in [
        (r#"{"kind": "rifle_l", "count": 1, "disrupted": true}"#, "TE9!*"),
        (r#"{"kind": "rifle_l", "count": 2}"#, "TE10*"),
        // Where there is no room, the list alone tells of disruption.
        (r#"{"kind": "rifle_l", "count": 2, "disrupted": true}"#, "TE10*"),
    ] {
        let board = answer_to(&with_more_in_souakim(units), "b Souakim");
        assert!(board.contains(&format!(" {drawn} ")), "{drawn}: {board}");
    }
}

/// `?` explains what orders are made of; it need not be read at the start of every game.
#[test]
fn orders_are_explained_when_asked_for() {
    let output = sitting(&SETUP, "?\n");
    let (start, help) = output.split_once("\n> ").expect("a question");
    let first = "\n  place HEX               set-up: ";
    assert!(help.contains(first) && !start.contains(first), "{output}");
    let words: BTreeSet<&str> = help.split(|c: char| !c.is_ascii_lowercase() && c != '_').collect();
    for verb in Verb::ALL {
        assert!(words.contains(verb.id()), "{}: {help}", verb.id());
    }
}

/// The orders that follow an event by themselves.
fn forced_after<P: ArenaGame>(position: &P, event: Event) -> Vec<String> {
    position.forced_texts(event)
}

/// What is taken by itself, because there is no other order (3.3), is told where it happens; the record has choices alone.
#[test]
fn orders_without_a_choice_are_told() {
    // No enemy stands beside 0302, and a picked group is not put back (8.1): it can only roll.
    let (output, played) = recorded(&TINY, "march 0302\nmarch 0302 all\n");
    assert!(output.contains(">   the only choice: roll\n* march roll at 0302, "), "{output}");
    assert!(!played.contains(&"mahdist roll".to_owned()), "{played:?}");
    // At 2 there is no march (8.31) and no further roll (8.2): who has nobody to attack, halts.
    let mut halts = BTreeSet::new();
    along_a_game(Scenario::builtin("khartoum").expect("comes with the game"), 1, |position| {
        if position.pending().decision != Decision::RollMarch {
            return;
        }
        let die = 2 - position.march_modifier();
        if !(1..=6).contains(&die) {
            return;
        }
        let outcome = Outcome(die as u16);
        let mut after = *position;
        after.resolve(outcome).expect("a die");
        let halts_by_itself = after.pending().decision != Decision::GroupOrder;
        let told = forced_after(position, Event::Rolled(outcome));
        assert_eq!(told.first().is_some_and(|order| order == "halt"), halts_by_itself, "{told:?}");
        halts.insert(halts_by_itself);
    });
    assert!(halts.contains(&true), "{halts:?}");
}

/// Below the odds of an attack stands the chance that its player will have if he then uses his leader where that is better (9.2).
#[test]
fn what_a_leader_may_add_is_told_with_the_odds() {
    let mut attacks = 0;
    for seed in 1..=5 {
        along_a_game(Scenario::builtin("khartoum").expect("comes with the game"), seed, |position| {
            if position.pending().decision != Decision::GroupOrder {
                return;
            }
            let mut legal = Vec::new();
            position.legal_actions_into(&mut legal);
            for action in legal {
                let mut asked = *position;
                asked.apply(action).expect("an order that was listed");
                if asked.pending().decision != Decision::LeaderMarching {
                    continue;
                }
                let told = odds_of(position);
                let head = format!("  odds of {}: ", position.action_text(action));
                let (_, told) = told.split_once(&head).expect("an attack");
                let side = position.active().id();
                let odds = odds_of(&asked);
                let with = ["fire", "melee"].map(|round| {
                    let (_, chance) =
                        odds.split_once(&format!("  odds of leader {round}: {side} wins ")).expect("a leader");
                    chance.split('%').next().and_then(|chance| chance.parse::<f64>().ok()).expect("a percentage")
                });
                let better = format!("{side} wins {:.1}% with leader ", with[0].max(with[1]));
                let led = told.lines().nth(1).expect("a line of its own");
                let words = "    without leaders whose use is still to be said; ";
                assert!(led.strip_prefix(words).is_some_and(|led| led.starts_with(&better)), "{better}: {led}");
                attacks += 1;
            }
        });
    }
    assert!(attacks > 0);
}

/// Nothing but a legal order changes the game, and whatever is typed, it goes on.
#[test]
fn lines_that_are_no_orders_are_answered_in_one_line() {
    let wrong: [(&[u8], &str); 13] = [
        (b"surrender", "illegal action 'surrender': expected one of 59 orders such as 'place 4105'"),
        (b"place", "illegal action 'place': expected one of 59 orders"),
        (b"place 4811", "illegal action 'place 4811': expected one of 59 orders"),
        (b"place 9999", "illegal action 'place 9999': expected one of 59 orders"),
        (b"Souakim", "illegal action 'Souakim': expected one of 59 orders"),
        (b"0", "0: the orders are numbered 1 to 59"),
        (b"60", "60: the orders are numbered 1 to 59"),
        (b"-1", "illegal action '-1': expected one of 59 orders"),
        (b"1.5", "illegal action '1.5': expected one of 59 orders"),
        (b"99999999999999999999999", "illegal action '99999999999999999999999': expected one of 59 orders"),
        (b"undo", "nothing to take back since the last roll"),
        (b"\xff\xfe\x00", "illegal action '\u{fffd}\u{fffd}\0': expected one of 59 orders"),
        (b"l l", "illegal action 'l l': expected one of 59 orders"),
    ];
    let input: Vec<u8> = wrong.iter().flat_map(|(line, _)| [line, &b"\n"[..]].concat()).collect();
    let (output, played) = recorded(&SETUP, &input);
    assert_eq!(played, [""; 0]);
    let answers: Vec<&str> = output.split("\n> ").nth(1).into_iter().chain(output.split("\n> ").skip(2)).collect();
    assert_eq!(answers.len(), wrong.len() + 1, "{output}");
    for ((line, expected), answer) in wrong.iter().zip(&answers) {
        assert!(
            answer.starts_with(expected) && !answer.contains('\n'),
            "{:?}: {answer}",
            line.escape_ascii().to_string()
        );
    }
    // Empty lines are passed over.
    let output = sitting(&SETUP, "\n   \n\t\nq\n");
    assert!(output.ends_with("> > > > left the game\n"), "{output}");
    // The game goes on after any of them.
    let (_, played) = recorded(&SETUP, [&input[..], b"place 4105\n"].concat());
    assert_eq!(played, ["mahdist place 4105"]);
}

/// A number beyond the list is that of a hex, if one order alone has it; where it is asked how many, the number is how many. The
/// Mahdist of scenario 3 may leave a kind out of a hex (2.7), but not place nothing in it.
#[test]
fn a_number_in_one_order_alone_is_that_order() {
    let played = |lines: &str| recorded(&SETUP, lines).1;
    assert_eq!(played("4105\n"), ["mahdist place 4105"]);
    assert_eq!(played("4105\n0\n"), ["mahdist place 4105", "mahdist place 4105 mahdist_spearmen 0"]);
    assert_eq!(played("4105\nnone\n"), played("4105\n0\n"));
    assert_eq!(played("4105\n2\n")[1], "mahdist place 4105 mahdist_spearmen 2");
    let (output, _) = recorded(&SETUP, "4105\n11\n");
    assert!(output.contains("> 11: the orders are numbered 0 to 10, and none of them names 11\n"), "{output}");
    let (output, played) = recorded(&SETUP, "9999\n4105\n4105\n");
    assert!(output.contains("> 9999: the orders are numbered 1 to 59, and none of them names 9999\n"), "{output}");
    let several =
        "> 4105: 11 orders name it; type the number of one, or its text, such as 'place 4105 mahdist_spearmen 0'\n";
    assert!(output.contains(several), "{output}");
    assert_eq!(played, ["mahdist place 4105"]);
    // A hex of the first columns.
    assert_eq!(recorded(&TINY, "0302\n").1[1], "mahdist march 0302");
}

/// The forces of 2.6, and what is left of them.
#[test]
fn what_is_still_to_be_placed_is_told() {
    let output = sitting(&SETUP, "4105\nplace 4105 mahdist_spearmen 3\n");
    let left = |spearmen| {
        format!("\nstill to be placed: {spearmen} mahdist_spearmen, 1 mahdist_rifles, 1 mahdist_cavalry, osman_digma\n")
    };
    assert!(output.contains(&left(10)), "{output}");
    // After the spearmen the rifles are asked about.
    assert!(output.contains(&left(7)) && output.contains("  0 place 4105 mahdist_rifles 0 (none)\n"), "{output}");
    let output = sitting(&SETUP, "1\n".repeat(20_000));
    let (_, turns) = output.split_once("March phase").expect("a turn");
    assert!(!turns.contains("still to be placed"), "{turns}");
}

/// However long a line is, it is one slip, answered once and not said again.
#[test]
fn a_line_that_is_too_long_is_passed_over_whole() {
    for length in [1024, 1025, 5_000_000] {
        let line = "x".repeat(length);
        let (output, played) = recorded(&SETUP, format!("{line}\nplace 4105\n"));
        assert_eq!(played, ["mahdist place 4105"], "{length}");
        let told = output.matches("> a line of more than 1024 bytes is no order\n> ").count();
        assert_eq!(told, usize::from(length > 1024), "{length}");
        assert_eq!(output.contains(&line), length == 1024, "{length}");
    }
    // At the end of the input too.
    assert!(sitting(&SETUP, "x".repeat(1025)).contains("> a line of more than 1024 bytes is no order\n> \n"));
}

#[test]
fn the_end_of_input_and_q_leave_an_unfinished_game() {
    for input in ["", "place 4105\n", "place 4105\nq\nplace 4105 mahdist_spearmen 1\n", "place 4105\nquit\n"] {
        let (output, played) = recorded(&SETUP, input);
        assert!(output.ends_with("left the game\n"), "{output}");
        assert_eq!(played.len(), usize::from(!input.is_empty()), "{played:?}");
    }
    // A last line without its end is still a line.
    assert_eq!(recorded(&SETUP, "place 4105").1, ["mahdist place 4105"]);
}

/// Orders are taken back one by one as far as the last roll; the record forgets them.
#[test]
fn undo_takes_back_orders_since_the_last_roll() {
    let place = "place 4105\nplace 4105 mahdist_spearmen 3\n";
    let two = ["mahdist place 4105", "mahdist place 4105 mahdist_spearmen 3"];
    assert_eq!(recorded(&SETUP, place).1, two);
    assert_eq!(recorded(&SETUP, format!("{place}u\n")).1, two[..1]);
    assert_eq!(recorded(&SETUP, format!("{place}undo\nundo\n")).1, [""; 0]);
    let (output, played) = recorded(&SETUP, format!("{place}u\nu\nu\nplace 4205\n"));
    assert_eq!(output.matches("nothing to take back since the last roll").count(), 1, "{output}");
    assert_eq!(played, ["mahdist place 4205"]);
    // What was decided again is as if it had been decided at once.
    assert_eq!(recorded(&SETUP, format!("{place}u\nplace 4105 mahdist_spearmen 3\n")).1, two);

    // In the tiny campaign the spearmen are picked and roll (8.31): the roll stands, and with it the orders before it.
    let (output, played) = recorded(&TINY, "march 0302\nu\nmarch 0302\nmarch 0302 all\nu\n");
    assert_eq!(output.matches("nothing to take back since the last roll").count(), 1, "{output}");
    assert_eq!(played[1..3], ["mahdist march 0302", "mahdist march 0302 all"]);
    assert!(played.len() == 4 && played[3].starts_with("roll roll_march "), "{played:?}");
}

#[test]
fn bad_arguments_are_refused_before_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    // In a file there are no folders.
    fs::write(folder.path().join("file"), "").expect("written");
    let record = folder.path().join("file/game.record");
    let record = record.to_str().expect("UTF-8");
    for (arguments, expected) in [
        (&[][..], "--scenario <SCENARIO> --side <SIDE>"),
        (&["--scenario", "souakim"], "--side <SIDE>"),
        (
            &["--scenario", "chess", "--side", "mahdist"],
            "(built-in are el-obeid, khartoum, souakim, kordofan); reference games are connect-four, pig",
        ),
        (&["--scenario", "", "--side", "mahdist"], "'': cannot be read: No such file"),
        (
            &["--scenario", "souakim", "--side", "sudanese"],
            "--side: 'sudanese' is no side; there are egyptian and mahdist",
        ),
        (&["--scenario", "pig", "--side", "egyptian"], "--side: 'egyptian' is no side; there are first and second"),
        (&["--scenario", "souakim", "--side", "mahdist", "--against", "gordon"], "--against: unknown agent 'gordon'"),
        (
            &["--scenario", "souakim", "--side", "mahdist", "--against", "mcts:sims=0"],
            "--against: agent 'mcts': sims=0",
        ),
        (&["--scenario", "souakim", "--side", "mahdist", "--seed", "lucky"], "invalid value 'lucky' for '--seed"),
        (&["--scenario", "souakim", "--side", "mahdist", "--record", record], "--record: cannot make the folder"),
        (&["--scenario", "souakim", "--side", "mahdist", "extra"], "'extra'"),
    ] {
        let line = refusal(&[&["play"], arguments].concat());
        assert!(line.contains(expected), "{line}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

/// The reference games are played in the same way; column 4 stands first in the middle.
#[test]
fn reference_games_are_played_too() {
    let output = sitting(&["--scenario", "connect-four", "--side", "yellow"], "drop 4\n");
    assert!(output.contains("yellow: ") && output.contains("- red drop "), "{output}");
    let output = sitting(&["--scenario", "pig", "--side", "second"], "hold\n".repeat(500));
    let lines: Vec<&str> = output.lines().collect();
    let question = "second: roll or hold for second at ";
    let asked = lines.windows(2).filter_map(|two| Some((two[0], two[1].strip_prefix(question)?)));
    let asked: Vec<_> = asked.collect();
    assert!(!asked.is_empty(), "{output}");
    for (board, at) in asked {
        let more = format!("; {at} more if second holds");
        assert!(board.starts_with("banked of 100: first ") && board.ends_with(&more), "{board}");
    }
    // The last board has the points of the result, and the winner has 100 or more of them.
    let [board, result] = lines[lines.len() - 2..] else { panic!("{output}") };
    let points = board.strip_prefix("banked of 100: ").expect("the board");
    assert!(result.starts_with("won by ") && result.ends_with(&format!(" (points: {points})")), "{result}");
    let winner = result.split([' ', ',']).nth(2).expect("a seat");
    let banked = points.split(", ").find_map(|of| of.strip_prefix(winner)).expect("his points");
    assert!(banked.trim().parse::<u32>().is_ok_and(|banked| banked >= 100), "{result}");
}

/// The scenario of a person's own file.
#[test]
fn a_scenario_file_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("short.toml");
    let text = include_str!("../../env/data/dervish/scenarios/kordofan.toml");
    assert!(text.contains("turns = 6"));
    fs::write(&own, text.replacen("turns = 6", "turns = 2", 1)).expect("written");
    let own = own.to_str().expect("UTF-8");
    let start = json_of(&["position", "new", "--scenario", own]);
    assert_eq!(start["scenario"], own);
    let output = sitting(&["--scenario", own, "--side", "egyptian"], "1\n".repeat(2_000));
    assert!(output.contains("game turn 2 of 2") && output.contains("\nwon by "), "{output}");
    // Who goes on with it has to name the file again.
    let record = folder.path().join("game.record");
    let record = record.to_str().expect("UTF-8");
    let output = sitting(&["--scenario", own, "--side", "egyptian", "--record", record], "");
    assert!(output.contains(&format!("dervish play --resume {record} --scenario {own} goes on with")), "{output}");
}
