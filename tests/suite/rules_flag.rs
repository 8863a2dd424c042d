//! The flag on the map (12.1, 12.2): whom it helps, how it moves, when it is destroyed.

use dervish_env::dervish::rules::combat::Test;
use serde_json::json;

use crate::rules_table::Table;

/// A march phase of the Egyptian player in scenario 2, February 1884.
fn march(stacks: &[(&str, &str)]) -> Table {
    Table::set("khartoum 1 egyptian march", stacks, json!({}))
}

/// 12.2: it helps all Egyptian units of its hex, in the group with it or not, and stays where it is.
#[test]
fn the_flag_helps_a_group_that_leaves_it_behind() {
    let flag_of = |orders: &[&str]| {
        let stacks = [("0842", "2 rifle_r, 1 british_infantry, 1 flag"), ("0942", "3 mahdist_rifles")];
        let mut table = march(&stacks);
        table.play(&["march 0842"]).play(orders).play(&["attack 0942"]);
        let reading = table.0.combat().reading(Test::FireMarching, &[7, 0, 0, 0]).expect("it is called for");
        // Twelves cost nobody anything: 12 is good in every row (9.6), and no modifier here is below 0.
        table.roll(12).roll(12).roll(12).roll(12);
        assert_eq!(table.units("0842"), "2 rifle_r, 1 british_infantry, 1 flag");
        reading.flag
    };
    assert_eq!(flag_of(&["march 0842 all"]), 1);
    let rifles = ["march 0842 choose", "take rifle_r 2", "take british_infantry 0", "take flag no"];
    assert_eq!(flag_of(&rifles), 1);
    // There is no Egyptian in a group of British alone.
    let british = ["march 0842 choose", "take rifle_r 0", "take flag yes"];
    assert_eq!(flag_of(&british), 0);
}

/// 12.1: destroyed in a hex without a combat unit, also when it has stayed out of the attack.
#[test]
fn the_flag_does_not_outlast_the_last_combat_unit_of_its_hex() {
    let lose = |stack: &str, orders: &[&str]| {
        let mut table = march(&[("0842", stack), ("0942", "9 mahdist_spearmen")]);
        table.play(&["march 0842"]).play(orders).play(&["attack 0942"]);
        // A 2 in melee against N = 9 destroys the group.
        table.roll(12).roll(2).roll(12);
        table.units("0842")
    };
    assert_eq!(lose("1 rifle_r, 1 flag", &["march 0842 choose", "take flag no"]), "");
    assert_eq!(
        lose("1 levy, 1 rifle_r, 1 flag", &["march 0842 choose", "take levy 0", "take flag no"]),
        "1 levy, 1 flag"
    );
}

/// 12.1: it moves 6, and so do cavalry (9) that carry it.
#[test]
fn the_flag_moves_six() {
    for (stack, far) in [("1 british_cavalry", true), ("1 british_cavalry, 1 flag", false)] {
        let mut table = march(&[("0342", stack), ("0350", "1 rifle_r")]);
        table.play(&["march 0342"]);
        if table.waits() == "march_pick" {
            table.play(&["march 0342 all"]);
        }
        table.roll(3);
        assert_eq!((table.may("to 0942"), table.may("to 1242")), (true, far), "{stack}");
    }
}
