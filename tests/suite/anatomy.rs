//! `dervish anatomy`: what records of games tell, against games that are known move by move.

use crate::dervish_binary::{dervish, json_of, refusal};
use crate::rules_table::Table;
use dervish_env::dervish::Campaign;
use dervish_env::game::{Action, Actor, Outcome, Position, Seat};
use dervish_env::record::{Ply, Record};
use dervish_env::reference::pig::{HOLD, Pig, ROLL};
use dervish_training::arena::anatomy::collect::Collector;
use dervish_training::arena::anatomy::{Course, Incident, OpeningMove};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A game of pig by hand: `player` throws nothing but sixes and never holds but once where told; the other throws ones.
/// Seventeen sixes are 102 points, which win.
fn sixes_of(player: Seat, first_holds: bool) -> Record {
    let mut record = Record::begin(&Pig::new(), 1, ["one", "other"]);
    let mut position = Pig::new();
    let mut holds = first_holds;
    loop {
        match position.actor() {
            Actor::Finished => break,
            Actor::Chance => {
                let thrower = if position.turn_of() == player { Outcome(6) } else { Outcome(1) };
                record.push_roll(&position, thrower);
                position.resolve(thrower).expect("a throw is due");
            }
            Actor::Player(_) => {
                let action = if std::mem::take(&mut holds) { HOLD } else { ROLL };
                record.push_action(&position, action);
                position.apply(action).expect("legal");
            }
        }
    }
    record.finish(&position);
    record
}

/// Three games by hand: the first seat throws on and wins; the second seat does, after a 1 of the first; the first seat
/// holds its first six and then waits for its turns, which the second ends with ones.
#[test]
fn hand_made_games_are_counted() {
    let mut collector = Collector::new(Pig::new(), 2);
    for record in [sixes_of(Seat::First, false), sixes_of(Seat::Second, false), sixes_of(Seat::First, true)] {
        collector.add(record).expect("by the rules");
    }
    let mut left = Record::begin(&Pig::new(), 1, ["one", "other"]);
    left.push_roll(&Pig::new(), Outcome(4));
    collector.add(left).expect("by the rules");
    let anatomy = collector.anatomy();
    assert_eq!((anatomy.version, anatomy.games, anatomy.left_out), (1, 3, 1));
    assert_eq!(anatomy.seats, ["first", "second"]);
    assert_eq!((anatomy.first_seat.wins, anatomy.first_seat.losses), (2, 1));
    assert_eq!((anatomy.agents.len(), anatomy.agents[0].games, anatomy.agents[0].agents[1].as_str()), (1, 4, "other"));
    assert_eq!((anatomy.endings.len(), anatomy.endings[0].games, anatomy.endings[0].won), (1, 3, [2, 1]));
    // What each began with and scored: the first seat twice `roll, roll` or `hold, roll` and won, once nothing and lost.
    let openings = |seat: usize| -> Vec<(String, u64, f64)> {
        let of = anatomy.openings[seat].iter();
        let mut all: Vec<_> =
            of.map(|of| (of.moves.join(" "), of.games, of.score.as_ref().expect("played").value)).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    };
    let named = |moves: &str, games, score| (moves.to_owned(), games, score);
    assert_eq!(openings(0), [named("", 1, 0.0), named("hold roll", 1, 1.0), named("roll roll", 1, 1.0)]);
    assert_eq!(openings(1), [named("", 2, 0.0), named("roll roll", 1, 1.0)]);
    assert!(anatomy.holdings.is_empty() && anatomy.incidents.is_empty());
}

/// A record that breaks the rules is refused and not counted.
#[test]
fn a_wrong_record_is_refused() {
    let text = sixes_of(Seat::First, false).to_string().replacen("roll throw 6", "roll throw 7", 1);
    let mut collector = Collector::new(Pig::new(), 1);
    assert!(collector.add(Record::parse(&text).expect("readable")).is_err());
    assert_eq!(collector.anatomy().games, 0);
}

fn incidents(before: &Campaign, after: &Campaign) -> Vec<(&'static str, &'static str, Option<String>, u32)> {
    let mut found = Vec::new();
    after.incidents(before, &mut |Incident { kind, seat, place, amount }| {
        found.push((kind, Campaign::seat_name(seat), place, amount));
    });
    found
}

/// The combat of `rules_fight::order_of_a_combat`: 12 and 12 hurt nobody, a 2 in melee destroys both rifles (9.3). Fought
/// twice by other groups, it is counted twice.
#[test]
fn combats_and_their_losses_are_told() {
    let stacks =
        [("0842", "8 mahdist_spearmen"), ("0942", "2 rifle_r"), ("1642", "8 mahdist_spearmen"), ("1742", "2 rifle_r")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
    let mut all = Vec::new();
    for (from, target) in [("0842", "0942"), ("1642", "1742")] {
        let orders = [format!("march {from}"), format!("march {from} all"), format!("attack {target}")];
        for order in &orders {
            let before = table.0;
            table.play(&[order]);
            all.extend(incidents(&before, &table.0));
        }
        for sum in [12, 12, 2] {
            let before = table.0;
            table.roll(sum);
            all.extend(incidents(&before, &table.0));
        }
        table.play(&["advance no"]);
    }
    let [here, there] = ["0942", "1742"].map(|hex| Some(hex.to_owned()));
    assert_eq!(
        all,
        [
            ("combats", "mahdist", here.clone(), 1),
            ("combat units lost in combat", "egyptian", here, 2),
            ("combats", "mahdist", there.clone(), 1),
            ("combat units lost in combat", "egyptian", there, 2),
        ]
    );
}

/// A group is counted when it first rolls for march (8.31), and divides its stack if it leaves units behind that could have
/// come along in good order.
#[test]
fn groups_that_divide_a_stack_are_told() {
    let first_roll = |side: &str, units: &str, pick: &[&str]| {
        let mut table = Table::set(&format!("khartoum 2 {side} march"), &[("0842", units)], json!({}));
        table.play(&["march 0842"]).play(pick);
        let before = table.0;
        table.roll(1);
        let mut told = incidents(&before, &table.0);
        assert_eq!(told.remove(0).0, "march rolls");
        told
    };
    let groups = |seat: &'static str| ("march groups", seat, None, 1);
    let whole = first_roll("mahdist", "8 mahdist_spearmen", &["march 0842 all"]);
    assert_eq!(whole, [groups("mahdist")]);
    let part = first_roll("mahdist", "8 mahdist_spearmen", &["march 0842 choose", "take mahdist_spearmen 3"]);
    let divides = ("march groups that divide a stack", "mahdist", Some("0842".to_owned()), 1);
    assert_eq!(part, [groups("mahdist"), divides]);
    // The disrupted stay to recover, and what has marched cannot come along.
    let rest = first_roll("egyptian", "2 rifle_r, 1 levy disrupted, 3 rifle_l marched", &["march 0842 all_good"]);
    assert_eq!(rest, [groups("egyptian")]);
}

/// The stack of `rules_supply`, in the desert: a 3 disrupts two Mahdists more and eliminates none (10.3, 10.4). Of
/// Egyptians in the clear a 1 leaves six of nine (10.3): three are eliminated.
#[test]
fn attrition_is_told() {
    let hungry = [("2726", "2 mahdist_spearmen, 1 mahdist_spearmen disrupted, 1 mahdist_rifles")];
    let mut table = Table::set("khartoum 2 mahdist supply", &hungry, json!({}));
    let before = table.0;
    table.roll(3);
    assert_eq!(incidents(&before, &table.0), [("units disrupted by attrition", "mahdist", Some("2726".to_owned()), 2)]);
    let mut table =
        Table::set("khartoum 2 egyptian supply", &[("0842", "9 rifle_r"), ("1050", "9 rifle_r")], json!({}));
    let before = table.0;
    table.roll(1);
    assert_eq!(
        incidents(&before, &table.0),
        [("combat units lost to attrition", "egyptian", Some("0842".to_owned()), 3)]
    );
}

/// 6.4: El Obeid is besieged from 0449 when the game turn is over; Khartoum is not.
#[test]
fn sieges_are_told_turn_by_turn() {
    let stacks = [("El Obeid", "2 rifle_r"), ("Khartoum", "2 rifle_r"), ("0449", "1 mahdist_spearmen")];
    let more = json!({"control": {"El Obeid": "egyptian", "Khartoum": "egyptian"}});
    let before = Table::set("el-obeid 2 mahdist recovery", &stacks, more.clone()).0;
    let after = Table::set("el-obeid 3 mahdist march", &stacks, more).0;
    let place = after.scenario().board.place_named("El Obeid").expect("a place");
    let hex = after.scenario().board.places[usize::from(place.0)].hex;
    assert_eq!(incidents(&before, &after), [("turns of siege", "mahdist", Some(after.place_text(hex)), 1)]);
    assert!(incidents(&after, &after).is_empty());
}

/// The positions of `rules_victory` with what decides them by rule 14.
#[test]
fn endings_are_told_by_rule_14() {
    let ended = |when: &str, stacks: &[(&str, &str)], more: Value| {
        let table = Table::set(when, stacks, more);
        assert!(table.0.result().is_some(), "{when}");
        table.0.decided_by()
    };
    let first = "el-obeid 17 egyptian recovery";
    assert_eq!(ended(first, &[("El Obeid", "1 levy")], json!({})), "14.1 El Obeid held");
    let control = json!({"El Obeid": "mahdist", "Berber": "mahdist", "Souakim": "mahdist"});
    let both = |lost: u16| json!({"control": control, "eliminated": {"egyptian": lost}});
    assert_eq!(ended(first, &[("0842", "1 levy")], both(35)), "14.1 fewer than 12 points");
    assert_eq!(ended(first, &[("0842", "1 levy")], both(36)), "14.1 12 points or more");
    let khartoum = json!({"control": {"Khartoum": "mahdist"}});
    let taken = ended("el-obeid 3 egyptian recovery", &[("El Obeid", "1 levy")], khartoum);
    assert_eq!(taken, "14.1 Khartoum taken: sudden death");
    let second = "khartoum 18 mahdist recovery";
    assert_eq!(ended(second, &[("Khartoum", "1 british_infantry")], json!({})), "14.2 Khartoum held by British");
    assert_eq!(ended(second, &[("Khartoum", "1 rifle_r")], json!({})), "14.2 Khartoum not held by British");
    let withdrawn = ended("khartoum 5 mahdist recovery", &[("0842", "1 levy")], json!({"events": {"withdraw": true}}));
    assert_eq!(withdrawn, "14.2 Khartoum not held by British, on withdraw");
    let third = "souakim 5 egyptian recovery";
    let split = json!({"control": {"Sinkat": "mahdist", "Tamai": "egyptian"}});
    assert_eq!(ended(third, &[("Souakim", "1 levy")], split), "14.3 equal points");
    assert_eq!(ended(third, &[("Souakim", "1 levy")], json!({"control": {"Tokar": "mahdist"}})), "14.3 more points");
}

/// Places of scenario 3 with their points (14.3); Souakim counts as sudden death.
#[test]
fn holdings_are_told_with_their_points() {
    let control = json!({"control": {"Sinkat": "mahdist", "Tokar": "egyptian"}});
    let holdings = Table::set("souakim 5 egyptian recovery", &[("Souakim", "1 levy")], control).0.holdings();
    let of = |name: &str| {
        let holding = holdings.iter().find(|holding| holding.what == name).expect("a place");
        (holding.counts, holding.points, holding.holder)
    };
    assert_eq!(of("Sinkat"), (true, 2, Some(Seat::Second)));
    assert_eq!(of("Tokar"), (true, 1, Some(Seat::First)));
    assert_eq!(of("El Teb"), (true, 1, None));
    assert_eq!((of("Souakim").0, of("Souakim").1), (true, 0));
    assert_eq!((of("Handub").0, of("Handub").1), (false, 0));
}

/// A group that marches and attacks: two moves; what is no march is none.
#[test]
fn opening_moves_are_marches_and_attacks() {
    let stacks = [("0842", "8 mahdist_spearmen"), ("0942", "2 rifle_r")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
    let made = |table: &Table, order: &str| {
        let action: Action = table.0.parse_action(order).expect("legal");
        table.0.opening_move(action)
    };
    assert_eq!(made(&table, "march 0842"), None);
    table.play(&["march 0842", "march 0842 all"]);
    let attack = OpeningMove { from: "0842".to_owned(), to: "attack 0942".to_owned() };
    assert_eq!((made(&table, "attack 0942"), made(&table, "roll")), (Some(attack), None));
}

/// Whole games, in which what the anatomy counts can be counted in the text of the records: combats, march rolls, winners, agents.
#[test]
fn records_of_a_match_are_taken_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("match");
    let out = out.to_str().expect("UTF-8");
    let arguments =
        ["match", "doctrine", "random", "--scenario", "souakim", "--games", "6", "--seed", "2", "--out", out];
    assert!(dervish(&arguments).status.success());
    let anatomy = json_of(&["anatomy", out, "--json", "--opening", "2"]);
    let records: Vec<Record> = fs::read_dir(format!("{out}/games"))
        .expect("a folder")
        .map(|entry| Record::read(&entry.expect("readable").path()).expect("a record"))
        .collect();
    // A combat begins with the order to attack, or where a group can do nothing else with the pick of it; then come leader
    // use and tests (9.13).
    let is_combat = |ply: &Ply| match ply {
        Ply::Decision { text, .. } => text.starts_with("leader "),
        Ply::Roll { kind, .. } => kind.starts_with("roll_fire_") || kind.starts_with("roll_melee_"),
    };
    let combats = |by: Seat| {
        let begins = |two: &&[Ply]| {
            matches!(&two[0], Ply::Decision { seat, .. } if *seat == by) && !is_combat(&two[0]) && is_combat(&two[1])
        };
        records.iter().map(|record| record.plies().windows(2).filter(begins).count()).sum::<usize>() as f64
    };
    let rolls = records.iter().flat_map(|record| record.plies());
    let rolls = rolls.filter(|ply| matches!(ply, Ply::Roll { kind, .. } if kind == "roll_march")).count() as f64;
    let in_all = |kind: &str| -> [f64; 2] {
        let of = anatomy["incidents"].as_array().expect("a list").iter().find(|of| of["kind"] == kind);
        let of = of.unwrap_or_else(|| panic!("{kind}: {anatomy}"));
        [0, 1].map(|seat| (6.0 * of["per_game"][seat]["value"].as_f64().expect("a mean")).round())
    };
    assert_eq!(in_all("combats"), Seat::BOTH.map(combats));
    assert_eq!(in_all("march rolls").iter().sum::<f64>(), rolls);
    assert!(rolls > 0.0 && in_all("combats").iter().sum::<f64>() > 0.0);
    let won = |by: Seat| {
        let of = |record: &&Record| record.ending().result().and_then(|result| result.winner) == Some(by);
        records.iter().filter(of).count() as u64
    };
    assert_eq!((anatomy["games"].as_u64(), anatomy["first_seat"]["wins"].as_u64()), (Some(6), Some(won(Seat::First))));
    let endings = anatomy["endings"].as_array().expect("a list");
    for (seat, by) in Seat::BOTH.into_iter().enumerate() {
        let all: u64 = endings.iter().map(|of| of["won"][seat].as_u64().expect("a number")).sum();
        assert_eq!(all, won(by));
    }
    // Five game turns at most (2.6), and every game has an opening of at most two moves on each seat.
    assert!(
        anatomy["rounds"].as_array().expect("a list").iter().all(|of| (1..=5).contains(&of["round"].as_u64().unwrap()))
    );
    for seat in 0..2 {
        let openings = anatomy["openings"][seat].as_array().expect("a list");
        assert_eq!(openings.iter().map(|of| of["games"].as_u64().expect("a number")).sum::<u64>(), 6);
        assert!(openings.iter().all(|of| of["moves"].as_array().expect("a list").len() <= 2));
    }
    assert_eq!(anatomy["agents"].as_array().map(Vec::len), Some(2));

    let table = String::from_utf8(dervish(&["anatomy", out]).stdout).expect("UTF-8");
    for part in [
        "souakim, 6 games\n",
        "3 games of doctrine as egyptian against random as mahdist\n",
        " score of egyptian, from single games\n",
        "decided by",
        "last turn",
        "held at the end",
        "Sinkat",
        "combats",
        "opening of mahdist",
    ] {
        assert!(table.contains(part), "{part} is missing:\n{table}");
    }
}

#[test]
fn bad_records_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    assert!(refusal(&["anatomy"]).contains("<RECORDS>"));
    assert!(refusal(&["anatomy", &path("")]).contains("no record is there"));
    assert!(refusal(&["anatomy", &path("none.record")]).contains("none.record: "));
    fs::write(path("noise.record"), "noise").expect("written");
    assert!(refusal(&["anatomy", &path("")]).contains("noise.record: line 1: not a game record"));
    fs::remove_file(path("noise.record")).expect("a file");
    // Two games that are not one: the second is named.
    sixes_of(Seat::First, false).write(Path::new(&path("a.record"))).expect("written");
    let other = "record: 1\ngame: connect-four\nrules-version: 1\nrules-hash: 0\nscenario:\nseed: 1\nseat: yellow\n\
                 seat: red\nunfinished\n";
    fs::write(path("b.record"), other).expect("written");
    let line = refusal(&["anatomy", &path("a.record"), &path("b.record")]);
    assert!(line.contains("b.record: line 2: the record has game `connect-four`, this game `pig`"), "{line}");
    assert!(refusal(&["anatomy", &path("a.record"), "--scenario", "chess"]).contains("chess: cannot be read"));
    assert!(refusal(&["anatomy", &path("a.record"), "--opening", "0"]).contains("--opening"));
}
