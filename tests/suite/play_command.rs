//! `dervish play` as a person uses it, with prepared lines for the terminal.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Ground, Hex, PlaceKind};
use dervish_env::dervish::catalogue::{Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::{CombatRole, Test};
use dervish_env::dervish::scenario::{Recruits, Scenario};
use dervish_env::dervish::tables::{EVENT_BANDS, Event, Morale, Recovery};
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Actor, Outcome, Position};
use dervish_env::record::{Record, Replay};
use dervish_training::arena::agents::ArenaGame;
use dervish_training::games::{GameVisitor, game_names, with_game};

use crate::dervish_binary::{binary, dervish, dervish_reading, dervish_unheard, json_of, refusal};

/// Plays with these lines as input; the whole output of a sitting that ends well.
fn sitting(args: &[&str], input: impl AsRef<[u8]>) -> String {
    // Without a seed each game would have other dice.
    let seed: &[&str] = if args.contains(&"--seed") { &[] } else { &["--seed", "0"] };
    let output: Output = dervish_reading(&[&["play"], args, seed].concat(), input.as_ref());
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The same, and the lines of the record of the game that begin with the name of a side or are rolls.
fn recorded(args: &[&str], input: impl AsRef<[u8]>) -> (String, Vec<String>) {
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
const SETUP: [&str; 4] = ["--scenario", "souakim", "--side", "mahdist"];

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

/// Whoever wins sees his own margin, by what rule 14.3 decided, and the points of both sides, in `replay` too. Half of a margin
/// is for winning, the other for the lead over the 6 points of scenario 3's places (14.4).
#[test]
fn the_end_is_told_with_margin_reason_and_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let souakim = Scenario::builtin("souakim").expect("comes with the game");
    let port = souakim.board.place_named("Souakim").expect("a place");
    let mut winners = BTreeSet::new();
    for (side, seed) in [("mahdist", "1"), ("mahdist", "2"), ("egyptian", "1"), ("egyptian", "2"), ("egyptian", "3")] {
        let path = folder.path().join(format!("{side}-{seed}.record"));
        let name = path.to_str().expect("UTF-8");
        let arguments = ["--scenario", "souakim", "--side", side, "--seed", seed, "--record", name];
        let output = sitting(&arguments, "1\n".repeat(20_000));
        let mut game = Replay::new(Record::read(&path).expect("a record"), Campaign::new(souakim)).expect("souakim");
        winners.insert(game.verify().expect("by the rules").expect("to the end").winner);
        let end = game.position();
        let [egyptian, mahdist] = Side::BOTH.map(|side| end.points(side));
        let margin = |lead: u32| 0.5 + 0.5 * (f64::from(lead) / 6.0).min(1.0);
        let how = match egyptian.cmp(&mahdist) {
            _ if end.controller(port) == Some(Side::Mahdist) => {
                "won by mahdist, margin 1.00: 14.3 Souakim taken: sudden death".to_owned()
            }
            Ordering::Greater => format!("won by egyptian, margin {:.2}: 14.3 more points", margin(egyptian - mahdist)),
            Ordering::Less => format!("won by mahdist, margin {:.2}: 14.3 more points", margin(mahdist - egyptian)),
            Ordering::Equal => "drawn: 14.3 equal points".to_owned(),
        };
        let told = format!("{how} (points: egyptian {egyptian}, mahdist {mahdist})");
        assert_eq!(output.lines().next_back(), Some(told.as_str()));
        let replayed = String::from_utf8(dervish(&["replay", name]).stdout).expect("UTF-8");
        assert!(replayed.ends_with(&format!(" decisions and rolls are right; {told}\n")), "{replayed}");
    }
    assert_eq!(winners.len(), 3, "either side and neither: {winners:?}");
    // Where the holder of a place wins there are no points (14.3, scenario 4).
    let arguments = ["--scenario", "kordofan", "--side", "mahdist", "--seed", "1"];
    let output = sitting(&arguments, "1\n".repeat(20_000));
    let last = output.lines().next_back().expect("a result");
    assert!(last.starts_with("won by egyptian, margin 0.") && last.ends_with(": 14.3 El Obeid held"), "{last}");
}

/// What is told of losses adds up to the number of eliminated units (14.5) that the board shows at the end; every event has its
/// name (4.1), and below it what it means.
#[test]
fn rolls_and_orders_are_told_with_what_they_change() {
    for (scenario, seed) in [("souakim", "1"), ("souakim", "2"), ("kordofan", "3")] {
        let arguments = ["--scenario", scenario, "--side", "mahdist", "--against", "doctrine", "--seed", seed];
        let output = sitting(&arguments, "1\n".repeat(20_000));
        let last = output.lines().rfind(|line| line.contains("eliminated: Egyptian ")).expect("a board");
        let told = |side: &str| -> u32 {
            let words = format!("{side} loses ");
            let counts = output.lines().flat_map(|line| line.trim().split(", "));
            counts.filter_map(|part| part.strip_prefix(&words)?.split(' ').next()?.parse::<u32>().ok()).sum()
        };
        let [egyptian, mahdist] = ["egyptian", "mahdist"].map(told);
        assert!(last.ends_with(&format!("eliminated: Egyptian {egyptian}, Mahdist {mahdist}")), "{last}");
        assert!(egyptian + mahdist > 0, "{output}");
        // Only where some are disrupted already there can be more of them.
        let parts = || output.lines().flat_map(|line| line.strip_prefix("> ").unwrap_or(line).trim().split(", "));
        let first = |side: &str| parts().find(|part| part.ends_with(&format!(" of {side} disrupted")));
        let firsts: Vec<&str> = ["egyptian", "mahdist"].into_iter().filter_map(first).collect();
        assert!(!firsts.is_empty() && firsts.iter().all(|part| !part.contains(" more ")), "{firsts:?}");

        let rules = Scenario::builtin(scenario).expect("comes with the game");
        let lines: Vec<&str> = output.lines().collect();
        let events = lines.windows(2).filter_map(|two| {
            // A roll that follows an order of the person stands behind the question.
            let (_, roll) = two[0].split_once("* event roll of the ")?;
            let (side, rest) = roll.split_once(" player (4.1): ")?;
            let (d66, name) = rest.split_once(", ").unwrap_or((rest, ""));
            let side = Side::BOTH.into_iter().find(|of| of.id() == side)?;
            let event = rules.tables.event(rules.events, side, d66.parse().ok()?)?;
            let told = two[1].strip_prefix("  ").unwrap_or("");
            Some(([event.id(), event.meaning()], [name, told.strip_suffix(" (no effect)").unwrap_or(told)]))
        });
        let events: Vec<_> = events.collect();
        assert!(events.len() > 4 && events.iter().all(|(event, told)| event == told), "{events:?}");
    }
}

/// What is told of a roll.
fn told_of<P: ArenaGame>(position: &P, outcome: Outcome) -> String {
    position.roll_text(outcome)
}

/// The odds that are told of the orders at hand.
fn odds_of<P: ArenaGame>(position: &P) -> String {
    position.odds_text()
}

/// Plays a random game of a scenario and shows each position.
fn along_a_game(scenario: &'static Scenario, seed: u64, mut show: impl FnMut(&Campaign)) {
    let (mut dice, mut choice) = (Dice::new(seed), SplitMix64::new(seed));
    let (mut position, mut legal) = (Campaign::new(scenario), Vec::new());
    loop {
        show(&position);
        match position.actor() {
            Actor::Finished => return,
            Actor::Chance => {
                let outcome = dice.roll(&position);
                position.resolve(outcome).expect("a roll that was listed");
            }
            Actor::Player(_) => {
                position.legal_actions_into(&mut legal);
                position.apply(legal[choice.below(legal.len())]).expect("an action that was listed");
            }
        }
    }
}

/// Rule 4.3: a good harvest counts from November to February alone, dry weather in the other months, and the withdrawal only
/// while the Mahdist holds Khartoum.
#[test]
fn an_event_without_effect_is_told_as_such() {
    let mut seen = BTreeSet::new();
    let scenario = Scenario::builtin("khartoum").expect("comes with the game");
    let khartoum = scenario.board.place_named("Khartoum").expect("a place");
    for seed in 1..=3 {
        along_a_game(scenario, seed, |position| {
            if position.pending().decision != Decision::RollEvent {
                return;
            }
            let winter = [11, 12, 1, 2].contains(&position.month());
            for d66 in EVENT_BANDS {
                let event = scenario.tables.event(scenario.events, position.active(), d66).expect("a band");
                let effect = match event {
                    Event::GoodHarvest => winter,
                    Event::DryWeather => !winter,
                    Event::Withdraw => position.controller(khartoum) == Some(Side::Mahdist),
                    _ => continue,
                };
                let told = told_of(position, Outcome(u16::from(d66)));
                assert!(told.contains(event.meaning()), "{told}");
                assert_eq!(told.ends_with(" (no effect)"), !effect, "month {}: {told}", position.month());
                seen.insert((event, effect));
            }
        });
    }
    for event in [Event::GoodHarvest, Event::DryWeather] {
        assert!([true, false].iter().all(|effect| seen.contains(&(event, *effect))), "{seen:?}");
    }
    assert!(seen.contains(&(Event::Withdraw, false)), "{seen:?}");
}

/// Table 8.31: at 2 no march, below it one that disrupts a quarter, below 1 a half of the group; above it a march in good
/// order. A group is as fast as its slowest unit (8.2).
#[test]
fn a_march_roll_is_told_with_how_far_it_lets_the_group_go() {
    let mut seen = BTreeSet::new();
    let scenario = Scenario::builtin("khartoum").expect("comes with the game");
    along_a_game(scenario, 1, |position| {
        if position.pending().decision != Decision::RollMarch {
            return;
        }
        let group = position.units().at(position.group().hex).iter().filter(|cohort| cohort.grouped());
        let slowest = group.map(|cohort| scenario.catalogue.of(cohort.kind()).movement).min().unwrap_or(0);
        let far = format!("the group may go as far as {slowest} movement points reach");
        for die in 1..=6u16 {
            let modified = i32::from(die) + position.march_modifier();
            let meaning = match modified {
                2 => "no march, and no more rolls of this group".to_owned(),
                1 => format!("{far}; 25% of its units are disrupted, fractions down"),
                ..1 => format!("{far}; 50% of its units are disrupted, fractions down"),
                _ => far.clone(),
            };
            assert_eq!(told_of(position, Outcome(die)), format!("{die}\n  {meaning}"));
            seen.insert(modified.clamp(1, 3));
        }
    });
    assert_eq!(seen, BTreeSet::from([1, 2, 3]));
}

/// A test is told with its modifier and total (9.4) and the result of each class by table 9.6; the last one with the winner
/// (9.9), who is the one that the position has where something is still asked of the combat.
#[test]
fn a_test_is_told_with_what_it_gives() {
    let (mut tests, mut winners) = (0, 0);
    for (name, seed) in [("khartoum", 1), ("khartoum", 2), ("khartoum", 3), ("el-obeid", 1), ("el-obeid", 2)] {
        let scenario = Scenario::builtin(name).expect("comes with the game");
        along_a_game(scenario, seed, |position| {
            let test = match position.pending().decision {
                Decision::RollFireMarching => Test::FireMarching,
                Decision::RollFireDefending => Test::FireDefending,
                Decision::RollMeleeMarching => Test::MeleeMarching,
                Decision::RollMeleeDefending => Test::MeleeDefending,
                _ => return,
            };
            let modifier = position.combat().modifier(test, &position.battle().dice).expect("a test that is due");
            for sum in 2..=12u16 {
                let total = i32::from(sum) + modifier;
                let told = told_of(position, Outcome(sum));
                assert!(told.starts_with(&format!("{sum}\n  modifier {modifier:+}, total {total}")), "{told}");
                // The flag helps classes R and L (12.2).
                for class in [Class::F, Class::V] {
                    let result = match scenario.tables.morale(class, total) {
                        Morale::Fail => "fails",
                        Morale::Shaken => "shaken",
                        Morale::Hold => "holds",
                        Morale::Steady => "steady",
                        Morale::Good => "good",
                    };
                    let told_class = format!("class {} ", class.id());
                    let right = format!("{told_class}{result}");
                    assert!(!told.contains(&told_class) || told.contains(&right), "{told}: {right}");
                }
                let mut after = *position;
                after.resolve(Outcome(sum)).expect("a sum of two dice");
                if matches!(after.pending().decision, Decision::RetreatHex | Decision::Advance)
                    && let Some(winner) = after.battle().winner
                {
                    assert!(told.ends_with(&format!("; {} wins the combat (9.9)", winner.id())), "{told}");
                    winners += 1;
                }
                tests += 1;
            }
        });
    }
    assert!(tests > 100 && winners > 0, "{tests} {winners}");
}

/// Rule 5.2: the die less what the scenario takes off, more with the Mahdi or a town of the Mahdist's in the district, as far as
/// there are counters and a hex where they may gather.
#[test]
fn recruits_are_told_by_number() {
    let (mut told_of_some, mut told_of_none) = (0, 0);
    let scenario = Scenario::builtin("khartoum").expect("comes with the game");
    let board = &scenario.board;
    along_a_game(scenario, 1, |position| {
        if position.pending().decision != Decision::RollRecruits {
            return;
        }
        let here = |hex: Hex| hex.is_some() && board.cell(hex).district == position.pending().subject;
        let mahdi = here(position.leader(Leader::Mahdi).hex);
        let mut towns = board.places.iter().filter(|place| place.kind == PlaceKind::Town && here(place.hex));
        let town = towns.any(|place| position.controls_at(Side::Mahdist, place.hex));
        let Recruits { less, mahdi: with_mahdi, town: with_town } = scenario.recruits;
        let more = u8::from(mahdi) * with_mahdi + u8::from(town) * with_town;
        for die in 1..=6u8 {
            let count = (die.saturating_sub(less) + more).min(position.available(Kind::MahdistSpearmen));
            let told = told_of(position, Outcome(u16::from(die)));
            if told == format!("{die}\n  no unit comes") {
                told_of_none += 1;
            } else {
                let comes = if count == 1 { "comes" } else { "come" };
                assert!(count > 0, "{told}");
                assert!(told.starts_with(&format!("{die}\n  {count} mahdist_spearmen {comes}")), "{count}: {told}");
                told_of_some += 1;
            }
        }
    });
    assert!(told_of_some > 0 && told_of_none > 0, "{told_of_some} {told_of_none}");
}

/// Rule 11.1: where the table says that every disrupted unit stays as it is, the roll has no effect.
#[test]
fn a_recovery_without_effect_is_told_as_such() {
    let mut seen = BTreeSet::new();
    let scenario = Scenario::builtin("khartoum").expect("comes with the game");
    along_a_game(scenario, 1, |position| {
        if position.pending().decision != Decision::RollRecovery {
            return;
        }
        let question = position.pending_text();
        let modifier =
            question.split_once("modifier ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<i32>().ok());
        let modifier = modifier.expect("told");
        let units = position.units().at(position.pending().hex).iter();
        let disrupted: Vec<Kind> =
            units.filter(|cohort| cohort.disrupted() && LAND.has(cohort.kind())).map(|cohort| cohort.kind()).collect();
        for sum in 2..=12u16 {
            let total = i32::from(sum) + modifier;
            let class = |kind: &Kind| scenario.catalogue.class_under(*kind, position.events().poor_morale);
            let effect = disrupted.iter().any(|kind| scenario.tables.recovery(class(kind), total) != Recovery::Hold);
            let right = if effect { sum.to_string() } else { format!("{sum} (no effect)") };
            assert_eq!(told_of(position, Outcome(sum)), right, "{question}");
            seen.insert(effect);
        }
    });
    assert_eq!(seen.len(), 2, "both are seen");
}

/// The odds of an attack are those of all sequences of rolls, one by one (9.3-9.9), each with the number of its throws.
#[test]
fn attacks_are_told_with_their_exact_odds() {
    let mut attacks = 0;
    let ways = |sum: u8| u64::from(6 - sum.abs_diff(7));
    along_a_game(Scenario::builtin("khartoum").expect("comes with the game"), 1, |position| {
        if attacks == 3 || position.pending().decision != Decision::GroupOrder {
            return;
        }
        let mut legal = Vec::new();
        position.legal_actions_into(&mut legal);
        let told = odds_of(position);
        for action in legal {
            let order = position.action_text(action);
            if !order.starts_with("attack ") {
                assert!(!told.contains(&format!("odds of {order}:")), "{told}");
                continue;
            }
            let mut after = *position;
            after.apply(action).expect("an order that was listed");
            let combat = after.combat();
            let mut throws = [0; 3];
            for dice in 0..11u32.pow(4) {
                let dice = [1331, 121, 11, 1].map(|place| 2 + (dice / place % 11) as u8);
                let ending = match combat.resolve(&dice).winner {
                    Some(CombatRole::Marching) => 0,
                    Some(CombatRole::Defending) => 1,
                    None => 2,
                };
                throws[ending] += dice.map(ways).iter().product::<u64>();
            }
            let [wins, loses, neither] = throws.map(|throws| 100.0 * (throws as f64 / 36f64.powi(4)));
            let (attacker, other) = (position.active().id(), position.active().other().id());
            let odds = format!(
                "  odds of {order}: {attacker} wins {wins:.1}%, {other} wins {loses:.1}%, nobody {neither:.1}%; units lost"
            );
            assert!(told.contains(&odds), "{odds}\n{told}");
            attacks += 1;
        }
    });
    assert!(attacks > 0);
    // A person sees them under the list.
    let game = ["--scenario", "khartoum", "--side", "egyptian", "--against", "doctrine", "--seed", "3"];
    let output = sitting(&game, "1\n".repeat(40));
    let attack = output.lines().find_map(|line| line.split_once(" attack ")?.1.get(..4)).expect("an attack");
    assert!(output.contains(&format!("\n  odds of attack {attack}: egyptian wins ")), "{output}");
    assert!(sitting(&SETUP, "o\n").contains("> the list has no attack\n> "));
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

/// Whoever waits sees first what his order has brought, then that the agent thinks; and what was played is in the record.
#[test]
fn a_long_thought_is_told_after_what_was_played_is_shown_and_kept() {
    for (bound, told) in
        [(&["--time", "60"][..], "second is thinking"), (&[], "second is thinking; --time SECONDS bounds it")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.record");
        // The first seat throws a 5 and holds; the second throws a 3 and so has to choose.
        let game = ["play", "--scenario", "pig", "--side", "first", "--seed", "0", "--against", "mcts:sims=100000000"];
        let mut child = Command::new(binary())
            .args(game)
            .args(bound)
            .args(["--record", path.to_str().expect("UTF-8")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("dervish starts");
        child.stdin.as_mut().expect("a pipe").write_all(b"hold\n").expect("it reads");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map(|line| line.expect("UTF-8"));
        let mut before = Vec::new();
        let thinks = lines.any(|line| {
            before.push(line);
            before.last().is_some_and(|line| line == told)
        });
        let record = fs::read_to_string(&path).expect("a record");
        child.kill().expect("it thinks");
        child.wait().expect("it ends");
        assert!(thinks && before.iter().any(|line| line.contains("* throw of second: ")), "{before:?}");
        assert!(record.contains("\nfirst hold\nroll ") && record.ends_with("\nunfinished\n"), "{record}");
    }
}

/// After `--resume` the agent thinks as long as before, or as it is said then.
#[test]
fn bounds_on_thinking_are_kept_with_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let game = ["--scenario", "connect-four", "--side", "yellow", "--against", "mcts:sims=100000000", "--record", name];
    sitting(&[&game[..], &["--time", "0.05"]].concat(), "");
    for (more, bounds) in [(&[][..], "time=0.05"), (&["--sims", "5", "--turn-sims", "9"], "sims=5, turn-sims=9")] {
        let begun = Instant::now();
        let output = dervish_reading(&[&["play", "--resume", name], more].concat(), b"drop 4\n");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("- red drop "), "{output:?}");
        assert!(begun.elapsed() < Duration::from_secs(30));
        let record = fs::read_to_string(&path).expect("a record");
        assert!(record.contains(&format!("\nthinking: {bounds}\n")), "{record}");
    }
    let record = fs::read_to_string(&path).expect("a record");
    fs::write(&path, record.replace("sims=5,", "sims=few,")).expect("written");
    let refused = refusal(&["play", "--resume", name]);
    assert!(
        refused.contains("--resume: ") && refused.contains("cannot read `thinking: sims=few, turn-sims=9`"),
        "{refused}"
    );
}

/// Who leaves a game that is not kept is told so first, and how to keep it; one that is kept, how to go on with it.
#[test]
fn whoever_leaves_is_told_whether_the_game_is_kept() {
    let unkept = "> this game is not kept: w FILE keeps it in a new file, another q leaves it\n> ";
    let output = sitting(&SETUP, "place 4105\nq\nq\nplace 4105 mahdist_spearmen 3\n");
    assert!(output.contains(unkept) && output.ends_with("this game was not kept\nleft the game\n"), "{output}");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("of mine").join("game.record");
    let name = file.to_str().expect("UTF-8");
    let taken = folder.path().join("taken");
    let taken_name = taken.to_str().expect("UTF-8");
    fs::write(&taken, "mine").expect("written");
    let lines = format!("place 4105\nw {taken_name}\nw {name}\nw {name}.2\nplace 4105 mahdist_spearmen 3\nq\n");
    let output = sitting(&SETUP, lines);
    assert!(
        output.contains(&format!(
            "> {taken_name} exists; name a new file\n> from now on this game is kept in {name}\n> this game is kept in \
             {name}\n> "
        )),
        "{output}"
    );
    let end = format!("dervish play --resume '{name}' goes on with this game\nleft the game\n");
    assert!(output.ends_with(&end) && !output.contains(unkept), "{output}");
    assert_eq!(fs::read_to_string(&taken).expect("as it was"), "mine");
    let record = fs::read_to_string(&file).expect("a record");
    assert!(record.ends_with("\nmahdist place 4105\nmahdist place 4105 mahdist_spearmen 3\nunfinished\n"), "{record}");
    let again = dervish_reading(&["play", "--resume", name], b"");
    assert!(again.status.success() && String::from_utf8_lossy(&again.stdout).ends_with(&end), "{again:?}");
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
        for typed in [format!("place {hex} ({name})"), format!("  PLACE {hex}  ({}) ", name.to_uppercase())] {
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

/// Nothing but a legal order changes the game, and whatever is typed, it goes on.
#[test]
fn lines_that_are_no_orders_are_answered_in_one_line() {
    let wrong: [(&[u8], &str); 12] = [
        (b"surrender", "illegal action 'surrender': expected one of 59 orders such as 'place 4105'"),
        (b"place", "illegal action 'place': expected one of 59 orders"),
        (b"place 4811", "illegal action 'place 4811': expected one of 59 orders"),
        (b"place 9999", "illegal action 'place 9999': expected one of 59 orders"),
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
    let tiny = ["--scenario", "tiny", "--side", "mahdist", "--seed", "7"];
    assert_eq!(recorded(&tiny, "0302\n").1[1], "mahdist march 0302");
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

/// A game that was left goes on as if it had not been, with an agent that draws nothing but its ties; and its record with it.
#[test]
fn a_game_that_was_left_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join("new").join(name).to_str().expect("UTF-8").to_owned();
    let (whole, left) = (path("whole.record"), path("left.record"));
    let game = [&SETUP[..], &["--against", "doctrine", "--seed", "2", "--record"]].concat();
    let end = sitting(&[&game[..], &[whole.as_str()]].concat(), "1\n".repeat(20_000));
    sitting(&[&game[..], &[left.as_str()]].concat(), format!("{}q\n", "1\n".repeat(12)));
    let resume = |lines: &str| {
        let output = dervish_reading(&["play", "--resume", &left], lines.as_bytes());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let records = || [&left, &whole].map(|path| fs::read_to_string(path).expect("a record"));
    // Once in the set-up, once after it.
    let again = resume(&format!("{}q\n", "1\n".repeat(16)));
    assert!(again.ends_with("left the game\n") && !again.contains("seed "), "{again}");
    let [so_far, mut beginning] = records();
    beginning.truncate(so_far.len() - "unfinished\n".len());
    assert_eq!(so_far, format!("{beginning}unfinished\n"));
    assert!(so_far.contains("\nroll "), "{so_far}");
    assert_eq!(resume(&"1\n".repeat(20_000)).lines().next_back(), end.lines().next_back());
    let [to_the_end, at_once] = records();
    assert_eq!(to_the_end, at_once);
    let refused = refusal(&["play", "--resume", &left]);
    assert!(refused.contains("--resume: ") && refused.contains("the game is over"), "{refused}");
    // A game of two agents.
    fs::write(&left, so_far.replace("mahdist human", "mahdist random")).expect("written");
    assert!(refusal(&["play", "--resume", &left]).contains("no person played it"));
    // What the record says is not said again.
    assert!(refusal(&["play", "--resume", &left, "--seed", "1"]).contains("--seed"));
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
    let tiny = ["--scenario", "tiny", "--side", "mahdist", "--seed", "7"];
    let (output, played) = recorded(&tiny, "march 0302\nu\nmarch 0302\nmarch 0302 all\nu\n");
    assert_eq!(output.matches("nothing to take back since the last roll").count(), 1, "{output}");
    assert_eq!(played[1..3], ["mahdist march 0302", "mahdist march 0302 all"]);
    assert!(played.len() == 4 && played[3].starts_with("roll roll_march "), "{played:?}");
}

/// Whatever ends the program, what was played up to the question that it asked is in the record.
#[test]
fn a_record_is_kept_from_order_to_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let mut child = Command::new(binary())
        .args(["play", "--scenario", "pig", "--side", "first", "--seed", "3", "--record", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("dervish starts");
    child.stdin.as_mut().expect("a pipe").write_all(b"roll\n").expect("it reads");
    let begun = Instant::now();
    while !fs::read_to_string(&path).is_ok_and(|record| record.contains("first roll\n")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was kept");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it waits");
    child.wait().expect("it ends");
    assert!(fs::read_to_string(&path).expect("a record").ends_with("\nunfinished\n"));
    assert!(dervish(&["replay", name]).status.success());
}

/// Of two programs that go on with one game the later one to write is told, and nothing of the other's is lost.
#[test]
fn a_record_that_was_changed_meanwhile_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    sitting(&["--scenario", "pig", "--side", "first", "--seed", "1", "--record", name], "1\nq\n");
    let left = fs::read_to_string(&path).expect("a record");
    let mut slow = Command::new(binary())
        .args(["play", "--resume", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut output = slow.stdout.take().expect("piped");
    let mut seen = Vec::new();
    // It asks: so it has read the record.
    while !seen.ends_with(b"> ") {
        let mut byte = [0];
        output.read_exact(&mut byte).expect("a question");
        seen.extend(byte);
    }
    let fast = dervish_reading(&["play", "--resume", name], b"1\n1\nq\n");
    assert!(fast.status.success(), "{}", String::from_utf8_lossy(&fast.stderr));
    let kept = fs::read_to_string(&path).expect("a record");
    assert!(kept.len() > left.len());
    slow.stdin.take().expect("piped").write_all(b"1\nq\n").expect("it reads");
    output.read_to_end(&mut seen).expect("it ends");
    let ended = slow.wait_with_output().expect("it ends");
    let line = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!((ended.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains(name) && line.contains("another program has changed it"), "{line}");
    assert_eq!(fs::read_to_string(&path).expect("a record"), kept);
}

/// A game that was kept is not written over, by whatever comes of the new one.
#[test]
fn a_record_that_exists_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let arguments = [&["play"], &SETUP[..], &["--record", path.to_str().expect("UTF-8")]].concat();
    for mine in ["mine", ""] {
        fs::write(&path, mine).expect("written");
        let line = refusal(&arguments);
        assert!(line.contains("--record: ") && line.contains("game.record exists; name a new file"), "{line}");
        assert_eq!(fs::read_to_string(&path).expect("mine"), mine);
    }
    // Nor is a folder, or what a link leads to.
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    assert!(refusal(&arguments).contains("exists; name a new file"));
    #[cfg(unix)]
    {
        let target = folder.path().join("target");
        fs::remove_dir(&path).expect("a folder");
        std::os::unix::fs::symlink(&target, &path).expect("a link");
        assert!(refusal(&arguments).contains("exists; name a new file") && !target.exists());
    }
}

/// Rules 14.1 to 14.3 with the numbers of the scenarios' files, and the points at the start: nobody is eliminated, and
/// the Egyptian player holds every place of the map but those that the Mahdist begins with.
#[test]
fn how_the_game_is_won_is_told_at_the_start_and_when_asked_for() {
    for (scenario, side, aim) in [
        (
            "souakim",
            "mahdist",
            "The mahdist player wins at once by controlling Souakim. After game turn 5, 1884-06, whoever has more points \
             wins; with as many the game is a draw (14.3).\n",
        ),
        (
            "khartoum",
            "egyptian",
            "After game turn 18, 1885-07, or earlier with the turn of the event `withdraw`, the egyptian player wins with \
             British combat units of melee strength 2 or more in Khartoum, disrupted ones counted half; else the mahdist \
             player wins (14.2).\nAs things stand: too few British stand there.\n",
        ),
        (
            "el-obeid",
            "mahdist",
            "The mahdist player wins at once by controlling Khartoum at the end of a game turn. After game turn 17, 1884-02, \
             the egyptian player wins by controlling El Obeid; else the mahdist player wins with 12 points or more, and with \
             fewer the game is a draw (14.1).\nPoints of the mahdist player: ",
        ),
        (
            "kordofan",
            "egyptian",
            "After game turn 6, 1883-03, the mahdist player wins by controlling El Obeid, else the egyptian player wins \
             (14.3). Bara, and how long El Obeid was held, make the victory greater.\nAs things stand: egyptian controls El \
             Obeid.\n",
        ),
        ("pig", "first", "Whoever is the first to bank 100 points wins.\n"),
        (
            "connect-four",
            "yellow",
            "Four stones of one colour in a row, across, up or aslant, win; a full board is a draw.\n",
        ),
    ] {
        let arguments = ["--scenario", scenario, "--side", side];
        for (input, shown) in [("", 1), ("v\n", 2), ("victory\nv\n", 3)] {
            let output = sitting(&arguments, input);
            assert_eq!(output.matches(aim).count(), shown, "{scenario} {input:?}: {output}");
        }
    }
    // Each place with its points, in the order of the scenario's map; 8 units and 1 for a point.
    let output = sitting(&["--scenario", "souakim", "--side", "mahdist"], "");
    let points = output.lines().find(|line| line.starts_with("Points for controlling ")).expect("told");
    for part in ["Sinkat 2", "Tokar 1", "Tamai 2", "El Teb 1"] {
        assert!(points.contains(part), "{points}");
    }
    assert!(points.ends_with(
        "; of the egyptian player, 1 for each 8 mahdist combat units eliminated; of the mahdist player, 1 for each egyptian \
         combat unit eliminated."
    ));
}

/// The places of 14.3 with what they are worth and who controls them, before and after units come into one (6.3).
#[test]
fn who_controls_the_places_that_count_is_told() {
    let output = sitting(&SETUP, "4508\n3\nv\n");
    let (_, asked) = output.rsplit_once("\nPlaces that count, and who controls them:\n").expect("told");
    let (_, begun) = output.split_once("\nPlaces that count, and who controls them:\n").expect("told");
    // The scenario leaves Tamai to nobody until the Mahdist sets up there (6.3).
    for (told, tamai) in [(begun, "nobody"), (asked, "mahdist")] {
        let lines: Vec<&str> = told.lines().take(5).collect();
        assert!(lines.contains(&"  4606 (Souakim): egyptian; the mahdist player wins at once by it"), "{told}");
        assert!(lines.contains(&"  4308 (Sinkat): egyptian; 2 points"), "{told}");
        assert!(lines.contains(&"  4811 (Tokar): egyptian; 1 point"), "{told}");
        assert!(lines.contains(&format!("  4508 (Tamai): {tamai}; 2 points").as_str()), "{told}");
    }
    let output = sitting(&["--scenario", "kordofan", "--side", "egyptian"], "");
    assert!(output.contains(" (El Obeid): egyptian; decides the game\n"), "{output}");
    assert!(output.contains(" (Bara): egyptian; makes the victory greater\n"), "{output}");
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

/// `replay --steps` tells of each roll and order what the person was told of it, and marks the player turns: set-up, and two in
/// each of the five game turns of scenario 3 (3.1).
#[test]
fn a_replay_tells_what_play_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("game.record");
    let name = path.to_str().expect("UTF-8");
    let game = [&SETUP[..], &["--against", "doctrine", "--seed", "1", "--record", name]].concat();
    let played = sitting(&game, "1\n".repeat(20_000));
    let replayed = String::from_utf8(dervish(&["replay", name, "--steps"]).stdout).expect("UTF-8");
    let told = |output: &str| -> Vec<String> {
        let lines = output.lines().map(|line| line.strip_prefix("> ").unwrap_or(line));
        let lines = lines.filter(|line| line.starts_with("  "));
        let changes = ["(9.6)", "movement points reach", " loses ", " controls ", "mahdist_spearmen come"];
        lines.filter(|line| changes.iter().any(|change| line.contains(change))).map(str::to_owned).collect()
    };
    assert_eq!(told(&replayed), told(&played));
    assert!(told(&replayed).len() > 10, "{replayed}");
    let turns: Vec<&str> = replayed.lines().filter(|line| line.starts_with("== ")).collect();
    assert_eq!(turns.len(), 11, "{turns:?}");
    assert_eq!(turns[0], "== game turn 1 of 5, 1884-02, mahdist player, set-up ==");
    assert_eq!(replayed.lines().next(), Some(turns[0]));
    assert!(turns[10].starts_with("== game turn 5 of 5, 1884-06, "), "{turns:?}");
}
