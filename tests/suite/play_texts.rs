//! What `dervish play` tells: rolls and orders with what they change, odds, how the game is won and how it stands.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use dervish_env::chance::{Dice, SplitMix64};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Hex, PlaceKind};
use dervish_env::dervish::catalogue::{Class, Kind, LAND, Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::rules::combat::{CombatRole, Test};
use dervish_env::dervish::scenario::{Recruits, Scenario};
use dervish_env::dervish::tables::{EVENT_BANDS, Event, Morale, Recovery};
use dervish_env::game::{Actor, Outcome, Position};
use dervish_env::record::{Record, Replay};
use dervish_training::arena::agents::ArenaGame;
use serde_json::json;

use crate::dervish_binary::dervish;
use crate::play_command::{SETUP, sitting};
use crate::rules_table::Table;

/// Whoever wins sees his own margin, what decided by rule 14.3, and the points of both sides, in `replay` too. Half of a margin
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
                "won by mahdist, margin 1.00: Souakim taken: sudden death".to_owned()
            }
            Ordering::Greater => format!("won by egyptian, margin {:.2}: more points", margin(egyptian - mahdist)),
            Ordering::Less => format!("won by mahdist, margin {:.2}: more points", margin(mahdist - egyptian)),
            Ordering::Equal => "drawn: equal points".to_owned(),
        };
        let told = format!("{how} (rule 14.3; points: egyptian {egyptian}, mahdist {mahdist})");
        assert_eq!(output.lines().next_back(), Some(told.as_str()));
        let replayed = String::from_utf8(dervish(&["replay", name]).stdout).expect("UTF-8");
        assert!(replayed.ends_with(&format!(" decisions and rolls are right; {told}\n")), "{replayed}");
    }
    assert_eq!(winners.len(), 3, "either side and neither: {winners:?}");
    // Where the holder of a place wins there are no points (14.3, scenario 4).
    let arguments = ["--scenario", "kordofan", "--side", "mahdist", "--seed", "1"];
    let output = sitting(&arguments, "1\n".repeat(20_000));
    let last = output.lines().next_back().expect("a result");
    assert!(last.starts_with("won by egyptian, margin 0.") && last.ends_with(": El Obeid held (rule 14.3)"), "{last}");
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

/// What is told to have changed between two positions.
fn change_between<P: ArenaGame>(before: &P, after: &P) -> String {
    before.change_text(after)
}

/// What is told to have changed by orders.
fn change_by_orders(table: &mut Table, orders: &[&str]) -> String {
    let before = table.0;
    table.play(orders);
    change_between(&before, &table.0)
}

/// What is told to have changed by a roll.
fn change_by_roll(table: &mut Table, outcome: u16) -> String {
    let before = table.0;
    table.roll(outcome);
    change_between(&before, &table.0)
}

/// The odds that are told of the orders at hand.
pub fn odds_of<P: ArenaGame>(position: &P) -> String {
    position.odds_text()
}

/// How the game is won and how it stands, as it is told.
fn aim_of<P: ArenaGame>(position: &P) -> String {
    position.aim_text()
}

/// The answer to a question.
pub fn answer_to<P: ArenaGame>(position: &P, question: &str) -> String {
    position.answer_text(question).expect("a question")
}

/// Plays a random game of a scenario and shows each position.
pub fn along_a_game(scenario: &'static Scenario, seed: u64, mut show: impl FnMut(&Campaign)) {
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
            assert_eq!(told_of(position, Outcome(die)), format!("{die}\n  total {modified}: {meaning}"));
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
            let total = die.saturating_sub(less) + more;
            let count = total.min(position.available(Kind::MahdistSpearmen));
            let told = told_of(position, Outcome(u16::from(die)));
            assert!(told.starts_with(&format!("{die}\n  total {total} (less {less}")), "{told}");
            assert_eq!([told.contains("with the Mahdi"), told.contains("for a town")], [mahdi, town], "{told}");
            if told.contains("): no unit comes") {
                told_of_none += 1;
            } else {
                let comes = if count == 1 { "comes" } else { "come" };
                assert!(count > 0, "{told}");
                assert!(told.contains(&format!("): {count} mahdist_spearmen {comes}")), "{count}: {told}");
                told_of_some += 1;
            }
        }
    });
    assert!(told_of_some > 0 && told_of_none > 0, "{told_of_some} {told_of_none}");
}

/// Rule 5.2: the die less 3, not below 0, and 1 more each for the Mahdi and for a town; nobody gathers next to a British unit.
/// Where they have but one hex to gather in, they stand there at once.
#[test]
fn recruits_are_told_with_what_the_die_gives_and_where() {
    let recruiting = |stacks: &[(&str, &str)]| Table::set("khartoum 2 mahdist reinforcement", stacks, json!({}));
    let mut table = recruiting(&[("El Obeid", "1 mahdist_spearmen, mahdi")]);
    assert_eq!(
        told_of(&table.0, Outcome(1)),
        "1\n  total 2 (less 3, 1 more with the Mahdi, 1 more for a town): 2 mahdist_spearmen come"
    );
    let hex = table.hex("El Obeid");
    assert_eq!(change_by_roll(&mut table, 1), format!("come to {hex} (El Obeid): 2 mahdist_spearmen"));
    let table = recruiting(&[("0842", "1 mahdist_spearmen, nejumi"), ("0942", "1 british_infantry")]);
    assert_eq!(
        told_of(&table.0, Outcome(6)),
        "6\n  total 3 (less 3): no unit comes; for more there is no counter (2.3) or no hex"
    );
}

/// Table 10.3: in the desert a 3 leaves two units alone, which are the civilian, who counts as two (10.4). In March nothing
/// changes the die on the main map.
#[test]
fn attrition_is_told_with_total_and_row_and_whom_it_strikes() {
    let mut table =
        Table::set("khartoum 2 egyptian supply", &[("2726", "2 rifle_r, 1 rifle_l, 1 civilian")], json!({}));
    let hex = table.0.place_text(table.hex("2726"));
    assert_eq!(told_of(&table.0, Outcome(3)), "3\n  total 3, row desert: at most 2 units unaffected");
    assert_eq!(told_of(&table.0, Outcome(6)), "6\n  total 6, row desert: at most 8 units unaffected (no effect)");
    assert_eq!(
        change_by_roll(&mut table, 3),
        format!("egyptian loses 3 combat units\n  gone from {hex}: 2 rifle_r, 1 rifle_l")
    );
}

/// Table 11.1: at 6 class R fails, L and V hold; 2 more in a town make 8, where R and L hold and V recovers.
#[test]
fn recovery_is_told_with_total_and_classes_and_whom_it_strikes() {
    let units = "1 rifle_r disrupted, 1 rifle_l disrupted, 1 british_infantry disrupted";
    let recovering = |hex: &str| Table::set("khartoum 2 egyptian recovery", &[(hex, units)], json!({}));
    let mut table = recovering("0842");
    let hex = table.0.place_text(table.hex("0842"));
    assert_eq!(told_of(&table.0, Outcome(6)), "6\n  total 6: class R fails, class L holds, class V holds");
    assert_eq!(change_by_roll(&mut table, 6), format!("egyptian loses 1 combat unit\n  gone from {hex}: 1 rifle_r"));
    let mut table = recovering("El Obeid");
    assert_eq!(told_of(&table.0, Outcome(6)), "6\n  total 8: class R holds, class L holds, class V good");
    assert_eq!(change_by_roll(&mut table, 6), "1 of egyptian in good order again");
}

/// Rule 6.2: on 4 to 6 a leader whom an enemy finds gets to the nearest stack of his with a combat unit, else he is captured.
/// Here the field force that lands finds him.
#[test]
fn the_escape_of_a_leader_is_told_with_where_he_goes() {
    let stacks = [("Khartoum", "1 levy"), ("Souakim", "osman_digma"), ("0842", "1 mahdist_spearmen")];
    let mut table = Table::set("khartoum 1 egyptian event", &stacks, json!({}));
    table.roll(14);
    assert_eq!(table.waits(), "roll_escape");
    let refuge = table.0.place_text(table.hex("0842"));
    assert_eq!(told_of(&table.0, Outcome(4)), format!("4\n  osman_digma escapes to {refuge}"));
    assert_eq!(told_of(&table.0, Outcome(3)), "3");
    let told = change_by_roll(&mut table, 3);
    assert_eq!(told.lines().next(), Some("osman_digma is captured"), "{told}");
}

/// Rule 9.11. A 2, 1 more for fanatics and 2 for the town make 5, shaken by N = 4: three rifles and the gunboat are destroyed, and
/// one of the spearmen takes up rifles (9.10).
#[test]
fn what_becomes_of_a_gunboat_is_told() {
    let stacks = [("1542", "4 mahdist_rifles, 4 mahdist_spearmen"), ("Duem", "3 rifle_l, 1 gunboat")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
    table.play(&["march 1542", "march 1542 all", "attack 1543"]).roll(12);
    let told = change_by_roll(&mut table, 2);
    assert!(told.split(", ").any(|part| part == "mahdist has 1 more mahdist_rifles (9.10)"), "{told}");
    assert_eq!(table.waits(), "roll_gunboat");
    assert_eq!(told_of(&table.0, Outcome(0)), "0\n  doubles: it is destroyed");
    assert_eq!(told_of(&table.0, Outcome(7)), "7\n  it is out for 7 game turns");
}

/// Rule 9.10: in a combat that he wins the Mahdist takes a gun for the gun unit, and one of his spearmen takes up rifles for
/// three rifle-armed units; levies are none. A 2 fails for classes R and L, and N = 8 destroys all five.
#[test]
fn spoils_are_told() {
    let stacks = [("0842", "8 mahdist_spearmen"), ("0942", "3 rifle_r, 1 levy, 1 egyptian_gun")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(12);
    assert_eq!(
        change_by_roll(&mut table, 2),
        "egyptian loses 5 combat units, mahdist takes 1 gun (9.10), mahdist has 1 more mahdist_rifles (9.10)"
    );
}

/// Rule 6.2: who enters a hex without a combat unit captures its train. That he has marched is what he has ordered.
#[test]
fn captured_train_is_told_and_a_march_is_not() {
    let mut table =
        Table::set("khartoum 2 mahdist march", &[("0842", "2 mahdist_spearmen"), ("0942", "1 supply")], json!({}));
    let hex = table.0.place_text(table.hex("0942"));
    table.play(&["march 0842", "march 0842 all"]).roll(6);
    assert_eq!(change_by_orders(&mut table, &["to 0942"]), format!("gone from {hex}: 1 supply"));
}

/// Rules 2.5, 2.6, 4.3: which units land where, by the event and in the month of scenario 3. In scenario 2 the supply unit of
/// each month with a field force in play comes too.
#[test]
fn a_field_force_that_lands_is_told_with_its_units() {
    let mut table = Table::set("khartoum 1 egyptian event", &[("Souakim", "4 rifle_r")], json!({}));
    // `field_force_again`, with none in play.
    assert_eq!(
        change_by_roll(&mut table, 61),
        "field force 1 lands (4.3)\n  come to 4606 (Souakim): 6 british_infantry, 2 british_cavalry, 1 naval_infantry, \
         1 british_gun, 3 supply, 2 camel, graham"
    );
    // A good harvest in March is no event, but March is the month.
    let mut table = Table::set("souakim 2 egyptian event", &[("Souakim", "4 rifle_r")], json!({}));
    assert_eq!(
        change_by_roll(&mut table, 54),
        "field force 1 lands: its month has come (2.6)\n  come to 4606 (Souakim): 6 british_infantry, 2 british_cavalry, \
         1 naval_infantry, 1 british_gun, 2 supply, 2 camel, graham"
    );
}

/// Rules 2.6, 4.3: all British units on the extension leave, Graham too, by the event or in May of scenario 3, whatever the
/// player has answered; of the others he decides. Hexes go by row, then by column (13.3).
#[test]
fn a_field_force_that_leaves_is_told_with_its_units() {
    let in_play = || json!({"events": {"field_forces": 1, "in_play": true}});
    let stacks = [
        ("Souakim", "4 rifle_r, 1 british_gun, 1 fleet"),
        ("4506", "2 british_infantry disrupted, graham"),
        ("Berber", "1 british_infantry"),
    ];
    let mut table = Table::set("khartoum 1 egyptian event", &stacks, in_play());
    assert_eq!(
        change_by_roll(&mut table, 21),
        "the field force leaves the Souakim extension (4.3)\n  gone from 4506 (Handub): 2 british_infantry, graham\n  \
         gone from 4606 (Souakim): 1 british_gun"
    );
    assert_eq!(change_by_orders(&mut table, &["leave 4606 no"]), "");
    assert_eq!(change_by_orders(&mut table, &["leave 2614 yes"]), "gone from 2614 (Berber): 1 british_infantry");

    let stacks = [("Souakim", "1 rifle_r"), ("4506", "3 british_infantry, graham")];
    let mut table = Table::set("souakim 4 egyptian event", &stacks, in_play());
    assert_eq!(change_by_roll(&mut table, 54), "");
    assert_eq!(
        change_by_orders(&mut table, &["field_force_leaves no"]),
        "the field force leaves the Souakim extension: its month has come (2.6)\n  gone from 4506 (Handub): \
         3 british_infantry, graham"
    );
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
            let told = told_of(position, Outcome(sum));
            assert!(told.starts_with(&format!("{sum}\n  total {total}: class ")), "{question}: {told}");
            assert_eq!(told.ends_with(" (no effect)"), !effect, "{question}: {told}");
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
                "  odds of {order}: {attacker} wins {wins:.1}%, {other} wins {loses:.1}%, nobody {neither:.1}%; destroyed on average: "
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

/// Asked for, the odds of a group's attacks are told before it is picked: the same as afterwards, behind the pick (8.1).
#[test]
fn odds_are_told_before_a_group_is_picked() {
    let scenario = Scenario::builtin("souakim").expect("comes with the game");
    let mut attacks = 0;
    for seed in 0..20 {
        along_a_game(scenario, seed, |position| {
            if attacks > 20 || position.pending().decision != Decision::MarchHex {
                return;
            }
            assert_eq!(odds_of(position), "", "not unasked");
            let mut expected = Vec::new();
            for (_, at) in successors(position) {
                let picks = if at.pending().decision == Decision::MarchPick { successors(&at) } else { Vec::new() };
                for (pick, group) in picks {
                    if group.pending().decision == Decision::GroupOrder {
                        let after_pick = format!("odds of {pick}, ");
                        expected.extend(odds_of(&group).lines().map(|line| line.replacen("odds of ", &after_pick, 1)));
                    }
                }
            }
            let told = answer_to(position, "o");
            for line in &expected {
                assert!(told.lines().any(|of| of == line), "{line}\n{told}");
            }
            attacks += expected.len();
        });
    }
    assert!(attacks > 20, "{attacks}");
}

/// The actions of a decision, as text, with where they lead.
fn successors(position: &Campaign) -> Vec<(String, Campaign)> {
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    let lead = |action| {
        let mut after = *position;
        after.apply(action).expect("listed");
        (position.action_text(action), after)
    };
    legal.into_iter().map(lead).collect()
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
             British or Indian combat units (1.1) of melee strength 2 or more in Khartoum, disrupted ones counted half; else \
             the mahdist player wins (14.2).\nAs things stand: too few of them stand there.\n",
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
    let to_the_mahdist = "; to the mahdist player 1 for each eliminated combat unit of the egyptian player.";
    let to_both =
        format!("; to the egyptian player 1 for each 8 eliminated combat units of the mahdist player{to_the_mahdist}");
    assert!(points.ends_with(&to_both), "{points}");
    // Where no number of units is worth a point, nothing is told of it.
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.toml");
    let text = include_str!("../../env/data/dervish/scenarios/souakim.toml");
    let text = text.replace("mahdists_per_point = 8", "mahdists_per_point = 0");
    std::fs::write(&own, text.replace("name = \"souakim\"", "name = \"own\"")).expect("written");
    let output = sitting(&["--scenario", own.to_str().expect("UTF-8"), "--side", "mahdist"], "");
    let points = output.lines().find(|line| line.starts_with("Points for controlling ")).expect("told");
    assert!(points.ends_with(to_the_mahdist) && !points.contains("to the egyptian player"), "{points}");
}

/// Rule 14.2 is of section 14, in which British units include Indian ones (1.1); an Indian infantry has the 2 that are needed
/// (2.1).
#[test]
fn indians_who_hold_khartoum_are_told_to_be_enough() {
    let aim = |units: &str| aim_of(&Table::set("khartoum 2 egyptian march", &[("Khartoum", units)], json!({})).0);
    assert!(aim("1 indian_infantry").contains("\nAs things stand: enough of them stand there.\n"));
    assert!(aim("9 rifle_l").contains("\nAs things stand: too few of them stand there.\n"));
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
