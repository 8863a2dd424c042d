//! The march (8.2-8.31), entering hexes (6.2) and control (6.3).

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
    assert_eq!(modifier(3, "1 naval_infantry"), -1);
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

/// 8.2: the slowest unit: guns 5, civilians 4, the flag 6; leaders do not count.
#[test]
fn the_slowest_unit_sets_the_pace() {
    let pace = |stack: &str| {
        let mut table = egyptian(2, &[("0042", stack), ("0350", "1 rifle_r")]);
        table.play(&["march 0042"]);
        if table.waits() == "march_pick" {
            table.play(&["march 0042 all"]);
        }
        table.roll(4);
        // Row 42 is clear from column 0 to 15.
        (0..=15).rev().find(|column| table.may(&format!("to {column:02}42"))).unwrap()
    };
    assert_eq!(pace("1 camel_corps, graham"), 9);
    assert_eq!(pace("1 camel_corps, 1 flag"), 6);
    assert_eq!(pace("1 egyptian_cavalry, 1 levy"), 6);
    assert_eq!(pace("1 egyptian_cavalry, 1 british_gun"), 5);
    assert_eq!(pace("1 egyptian_gun, 1 civilian"), 4);
    assert_eq!(pace("1 camel, 1 supply"), 6);
}

/// 8.2: it may stay where it is, and has then still used a roll.
#[test]
fn a_group_that_may_march_may_stay() {
    let mut table = egyptian(3, &[("0842", "1 rifle_r"), ("0350", "1 rifle_r")]);
    table.play(&["march 0842"]).roll(3).play(&["to 0842"]);
    assert_eq!((table.legal(), table.0.group().rolls), (vec!["halt".to_owned(), "roll".to_owned()], 1));
}

/// 8.3: hills 2, mountain 3, for the whole hex whatever ground or place is in it; cultivated and desert 1.
#[test]
fn hills_and_mountains_cost_more() {
    let reach = |from: &str| {
        let mut table = egyptian(3, &[(from, "1 rifle_r"), ("0350", "1 rifle_r")]);
        table.play(&[&format!("march {from}")]);
        if table.waits() == "group_order" {
            // From Souakim it could go by sea as well (8.8).
            table.play(&["roll"]);
        }
        table.roll(3);
        table
    };
    // Row 8: 3208 and 3308 flat desert, hills from 3408 to 4108.
    let west = reach("3208");
    assert!(west.may("to 3508") && !west.may("to 3608"), "1 + 2 + 2, and 2 more are not left");
    // From 4306 two mountains to the west, 3 + 3; two hills to the south-west, 2 + 2, and a third.
    let middle = reach("4306");
    assert!(middle.may("to 4106") && !middle.may("to 4006"));
    assert!(middle.may("to 4007") && !middle.may("to 3907"));
    // From Souakim 4506 and 4407 are flat and 4307 is mountain: 5 in all. Sinkat beyond is a village in hills, 2 more.
    let souakim = reach("4606");
    assert!(souakim.may("to 4307") && !souakim.may("to 4308"));
}

/// 8.3: the Atbara is crossed without means for one point more, from July to October for two.
#[test]
fn the_atbara_by_month() {
    // 3129 to 3529 on the left bank are four clear hexes, 3629 is across.
    let months = (2..=12).filter(|month| {
        let mut table = egyptian(*month, &[("3129", "1 rifle_r"), ("0350", "1 rifle_r")]);
        table.play(&["march 3129"]).roll(4);
        assert!(table.may("to 3529"), "month {month}");
        table.may("to 3629")
    });
    assert_eq!(months.collect::<Vec<_>>(), [2, 3, 4, 5, 6, 11, 12], "4 + 1 + 1, and 4 + 1 + 2 in the rains");
    // It does not take all that is left: 3428, 3528 and the Atbara, then 3628 and two more.
    let mut table = egyptian(3, &[("3528", "1 rifle_r"), ("0350", "1 rifle_r")]);
    table.play(&["march 3528"]).roll(4);
    assert!(table.may("to 4028") && !table.may("to 4128"), "1 + 1, then four");
}

/// 8.3: one adjacent hex a roll always: a civilian has 4, a mountain across the Atbara costs 5 in the rains.
#[test]
fn one_adjacent_hex_always() {
    let mut table = egyptian(8, &[("4152", "1 civilian"), ("0350", "1 rifle_r")]);
    table.play(&["march 4152"]).roll(4);
    // 4152/NW is a hexside of the Atbara and 4051 a mountain; 4050 beyond it is clear.
    assert!(table.may("to 4051") && !table.may("to 4050"));
}

/// 8.3, 6.2: a hex with enemy units is not passed through; it may be the last if no combat unit is there.
#[test]
fn enemies_are_not_passed_through() {
    let reach = |enemy: &str| {
        let mut table =
            Table::set("khartoum 2 mahdist march", &[("0242", "1 mahdist_rifles"), ("0442", enemy)], json!({}));
        table.play(&["march 0242"]).roll(3);
        // In a straight row 0842 is six hexes away, by no other way.
        (table.may("to 0442"), table.may("to 0842"))
    };
    assert_eq!(reach("1 camel"), (true, false));
    assert_eq!(reach("1 rifle_r disrupted"), (false, false));
    assert_eq!(reach("graham"), (true, true), "leaders are no units (2.1)");
}

/// 8.3: an enemy over a river stops nobody. The one way by land out of Khartoum is 1733, which touches 1834 by land and
/// 1832 over the Blue Nile.
#[test]
fn an_enemy_over_the_river_stops_nobody() {
    let reach = |enemy: &str| {
        let mut table = egyptian(3, &[("Khartoum", "1 rifle_r"), (enemy, "1 mahdist_spearmen"), ("0350", "1 rifle_r")]);
        table.play(&["march 1732"]).roll(3);
        assert!(table.may("to 1733"));
        table.may("to 1734")
    };
    assert!(reach("1832"));
    assert!(!reach("1834"));
}

/// 8.3: from the main map to the extension by land as anywhere (1.3); the sea is closed.
#[test]
fn the_extension_and_the_sea() {
    let mut table = egyptian(3, &[("3208", "1 rifle_r"), ("4606", "1 rifle_r")]);
    table.play(&["march 3208"]).roll(3);
    assert!(table.0.scenario().board.cell(table.hex("3408")).extension && table.may("to 3408"));
    let mut table = egyptian(3, &[("4606", "1 rifle_r"), ("0350", "1 rifle_r")]);
    table.play(&["march 4606", "roll"]).roll(3);
    assert!(table.may("to 4506") && !table.may("to 4706"));
}

/// 8.31: the share is of the units without leaders and flag, and falls on those in good order.
#[test]
fn whom_the_disrupted_share_counts() {
    let after = |stack: &str, die: u16| {
        let mut table = egyptian(3, &[("0842", stack), ("0350", "1 rifle_r")]);
        table.play(&["march 0842", "march 0842 all"]).roll(die);
        table.units("0842")
    };
    // A quarter of three is none, of four one: with the flag there are three Indians, with Hicks (+1) and a civilian (−1)
    // two rifles and the civilian.
    assert_eq!(after("3 indian_infantry, 1 flag", 1), "3 indian_infantry, 1 flag");
    assert_eq!(after("2 rifle_r, 1 civilian, hicks", 1), "2 rifle_r, 1 civilian");
    assert_eq!(after("3 rifle_r, 1 civilian, hicks", 1), "2 rifle_r, 1 rifle_r disrupted, 1 civilian");
    // A 1 − 1 for British infantry is half: two of four, but only one is in good order, and nobody is eliminated.
    assert_eq!(
        after("1 british_infantry, 3 rifle_r disrupted", 1),
        "3 rifle_r disrupted, 1 british_infantry disrupted"
    );
    // Half of seven is three, one of each kind in good order (9.8).
    let three = "1 british_infantry, 1 british_infantry disrupted, 1 camel_corps, 1 camel_corps disrupted, \
                 2 british_gun, 1 british_gun disrupted";
    assert_eq!(after("2 british_infantry, 2 camel_corps, 3 british_gun", 1), three);
}

/// 8.31: the modifiers add up; the best of two leaders counts, and only leaders in the group.
#[test]
fn modifiers_add_up() {
    let mut table = egyptian(5, &[("0842", "1 british_infantry, 1 civilian, stewart, gordon"), ("0350", "1 rifle_r")]);
    table.play(&["march 0842", "march 0842 choose", "take british_infantry 1", "take civilian 1"]);
    table.play(&["take gordon no", "take stewart no"]);
    assert_eq!(table.0.march_modifier(), -2, "−1 from March to October, −1 for the civilian");
    // A 2 is read as 0: it marches, one of two disrupted. The second roll has another −1.
    table.roll(2).play(&["to 0842", "roll"]);
    assert_eq!(
        (table.units("0842").as_str(), table.0.march_modifier()),
        ("1 british_infantry disrupted, 1 civilian", -3)
    );
}
