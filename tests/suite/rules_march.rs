//! The march (8.1-8.6, 8.10), entering hexes (6.2) and control (6.3).

use serde_json::json;

use crate::rules_table::Table;

fn egyptian(month: u8, stacks: &[(&str, &str)]) -> Table {
    // Scenario 2 begins in February 1884.
    Table::set(&format!("khartoum {} egyptian march", month - 1), stacks, json!({}))
}

/// 8.31, one by one, in February (no British −1) and March.
#[test]
fn modifiers_of_the_march_roll() {
    let modifier = |month: u8, stack: &str| {
        let mut table = egyptian(month, &[("0842", stack), ("1042", "1 rifle_r")]);
        table.play(&["march 0842"]);
        if table.waits() == "march_pick" {
            table.play(&["march 0842 all"]);
        }
        assert_eq!(table.waits(), "roll_march");
        table.0.march_modifier()
    };
    assert_eq!(modifier(3, "2 rifle_r"), 0);
    assert_eq!(modifier(2, "2 british_infantry"), 0);
    assert_eq!(modifier(3, "2 british_infantry"), -1);
    assert_eq!(modifier(3, "2 british_cavalry"), -1);
    assert_eq!(modifier(3, "2 british_gun"), 0);
    assert_eq!(modifier(3, "2 indian_infantry"), 0, "1.1: not British here");
    assert_eq!(modifier(10, "2 camel_corps"), -1);
    assert_eq!(modifier(11, "2 camel_corps"), 0);
    assert_eq!(modifier(3, "2 rifle_r, 1 civilian"), -1);
    assert_eq!(modifier(3, "2 rifle_r, wolseley"), 2);
    assert_eq!(modifier(3, "2 rifle_r, wolseley, graham"), 2, "one leader");
}

/// 8.2: −1 and −2 for the second and third roll; there is no fourth.
#[test]
fn three_rolls_at_most() {
    let mut table = egyptian(3, &[("0842", "1 rifle_r"), ("1242", "1 rifle_r")]);
    table.play(&["march 0842"]).roll(3).play(&["to 0742", "roll"]);
    assert_eq!(table.0.march_modifier(), -1);
    table.roll(4).play(&["to 0642", "roll"]);
    assert_eq!(table.0.march_modifier(), -2);
    table.roll(5).play(&["to 0542"]);
    assert_eq!(table.waits(), "march_hex", "nothing is left but to halt");
    assert!(!table.may("march 0542"), "it has marched");
    // A 2 is no march, and the group is done.
    let mut table = egyptian(3, &[("0842", "1 rifle_r"), ("1242", "1 rifle_r")]);
    table.play(&["march 0842"]).roll(2);
    assert_eq!((table.waits(), table.units("0842").as_str()), ("march_hex", "1 rifle_r"));
    assert!(!table.may("march 0842"));
}

/// 8.31: of five units on a 1 a quarter, that is one (13.1); with a civilian (−1) on a 2 as well.
#[test]
fn the_disrupted_share() {
    let mut table = egyptian(3, &[("0842", "3 rifle_r, 2 rifle_l"), ("1242", "1 rifle_r")]);
    table.play(&["march 0842", "march 0842 all"]).roll(1);
    assert_eq!(table.units("0842"), "2 rifle_r, 1 rifle_r disrupted, 2 rifle_l");
    let mut table = egyptian(3, &[("0842", "1 camel, 2 civilian, 2 rifle_l"), ("1242", "1 rifle_r")]);
    table.play(&["march 0842", "march 0842 all"]).roll(2);
    assert_eq!(table.units("0842"), "1 rifle_l, 1 rifle_l disrupted, 1 camel, 2 civilian");
    // A civilian: die 1 − 1 = 0. Of five units two are disrupted, both camels: civilians are last among train (9.8).
    let mut table = egyptian(3, &[("0842", "3 camel, 2 civilian"), ("1242", "1 rifle_r")]);
    table.play(&["march 0842", "march 0842 all"]).roll(1);
    assert_eq!(table.units("0842"), "1 camel, 2 camel disrupted, 2 civilian");
}

/// 8.3: one point a clear hex; six for infantry, nine for cavalry.
#[test]
fn costs_of_ground() {
    let mut table = egyptian(3, &[("0342", "1 rifle_r"), ("1242", "1 rifle_r")]);
    table.play(&["march 0342"]).roll(3);
    assert!(table.may("to 0942") && !table.may("to 1042"));
    let mut table = egyptian(3, &[("0342", "1 british_cavalry"), ("0350", "1 rifle_r")]);
    table.play(&["march 0342"]).roll(4);
    assert!(table.may("to 1242") && !table.may("to 1342"));
}

/// 8.3, 13.8: a good-order combat unit stops who comes next to it; a disrupted one does not.
#[test]
fn stop_next_to_the_enemy() {
    // 0742 is adjacent to 0741, and the only way of six hexes from 0242 to 0842 is the straight one through it.
    let reach = |enemy: &str| {
        let mut table = egyptian(3, &[("0242", "1 rifle_r"), ("0741", enemy), ("0350", "1 rifle_r")]);
        table.play(&["march 0242"]).roll(3);
        (table.may("to 0742"), table.may("to 0842"))
    };
    assert_eq!(reach("1 mahdist_spearmen"), (true, false));
    assert_eq!(reach("1 mahdist_spearmen disrupted"), (true, true));
}

/// 8.1: the quick picks.
#[test]
fn quick_picks() {
    let mut table = egyptian(3, &[("0842", "2 rifle_r, 1 levy disrupted, 2 supply, 1 camel")]);
    table.play(&["march 0842"]);
    assert_eq!(table.legal(), ["march 0842 all", "march 0842 all_good", "march 0842 choose"]);
    // One camel carries one supply (8.6): the other stays.
    table.play(&["march 0842 all_good"]).roll(3).play(&["to 0742"]);
    assert_eq!(table.units("0742"), "2 rifle_r, 1 supply, 1 camel");
    assert_eq!(table.units("0842"), "1 levy disrupted, 1 supply");
}

/// 8.6: without a camel a supply unit does not march.
#[test]
fn supply_needs_camels() {
    let table = egyptian(3, &[("0842", "2 supply"), ("1042", "1 rifle_r")]);
    assert!(!table.may("march 0842"));
    let table = egyptian(3, &[("0842", "2 supply, 1 camel disrupted"), ("1042", "1 rifle_r")]);
    assert!(table.may("march 0842"), "11.1: a disrupted camel still carries");
}

/// 8.10: nine points, without a roll, into no enemy hex.
#[test]
fn leaders_alone() {
    let mut table = egyptian(3, &[("0342", "1 rifle_r, graham"), ("0642", "1 mahdist_spearmen disrupted")]);
    table.play(&["march 0342", "march 0342 alone"]);
    assert!(table.may("to 1142") && !table.may("to 1342") && !table.may("to 0642"));
    table.play(&["to 0442"]);
    assert_eq!(table.leader("graham"), "0442");
    assert!(!table.may("march 0442"), "once in the phase");
}

/// 6.2, 13.4: train is taken, a leader escapes on 4-6 to the nearest stack with a combat unit.
#[test]
fn entering_a_hex_captures_what_cannot_fight() {
    for (die, place) in [(4, "1642"), (3, "lost")] {
        let stacks = [("0842", "1 mahdist_spearmen"), ("0742", "2 supply, 1 camel, graham"), ("1642", "1 rifle_r")];
        let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
        table.play(&["march 0842"]).roll(3).play(&["to 0742"]);
        assert_eq!((table.waits(), table.units("0742").as_str()), ("roll_escape", "1 mahdist_spearmen"));
        table.roll(die);
        assert_eq!(table.leader("graham"), place);
    }
}

/// 6.3: passing through changes nothing, ending there does, and leaving does not.
#[test]
fn control_stays_when_a_place_is_left() {
    let stacks = [("0346", "1 rifle_r"), ("0350", "1 rifle_r")];
    let mut table = Table::set("khartoum 2 egyptian march", &stacks, json!({"control": {"Bara": "mahdist"}}));
    table.play(&["march 0346"]).roll(3).play(&["to 0546", "roll"]);
    assert_eq!(table.controller("Bara"), Some("mahdist"));
    table.roll(4).play(&["to 0446"]);
    assert_eq!(table.controller("Bara"), Some("egyptian"));
    table.play(&["roll"]).roll(5).play(&["to 0546"]);
    assert_eq!(table.controller("Bara"), Some("egyptian"));
}
