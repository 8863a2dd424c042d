//! Picking groups (8.1), what each may then do (8.4-8.6), and leaders alone (8.10).

use serde_json::json;

use crate::rules_table::Table;

/// A march phase of scenario 2 in March 1884.
fn march(side: &str, stacks: &[(&str, &str)]) -> Table {
    Table::set(&format!("khartoum 2 {side} march"), stacks, json!({}))
}

/// The units of the group that is under way: `"2 rifle_r, 1 levy disrupted"`.
fn group(table: &Table) -> String {
    let stack = table.0.units().at(table.0.group().hex);
    let text = |c: &dervish_env::dervish::units::Cohort| {
        format!("{} {}{}", c.count(), c.kind().id(), if c.disrupted() { " disrupted" } else { "" })
    };
    stack.iter().filter(|c| c.grouped()).map(text).collect::<Vec<_>>().join(", ")
}

/// All fresh; all fresh in good order; all in good order that has not fought.
#[test]
fn what_a_quick_pick_takes() {
    let stacks = [
        ("0842", "1 levy disrupted, 2 rifle_r, 3 rifle_l marched, 4 british_infantry fought, graham"),
        ("0942", "1 mahdist_spearmen"),
    ];
    let pick = |words: &[&str]| {
        let mut table = march("egyptian", &stacks);
        table.play(&["march 0842"]).play(words);
        table
    };
    let words = ["all", "all_good", "alone", "choose", "unfought"].map(|word| format!("march 0842 {word}"));
    assert_eq!(pick(&[]).legal(), words);
    let all = pick(&["march 0842 all"]);
    assert_eq!((all.waits(), group(&all).as_str()), ("roll_march", "1 levy disrupted, 2 rifle_r"));
    let good = pick(&["march 0842 all_good"]);
    assert_eq!((good.waits(), group(&good).as_str()), ("group_order", "2 rifle_r"));
    assert_eq!(good.legal(), ["attack 0942", "roll"], "it is not put back");
    // Some have marched: they attack or nothing, and so the leader's use comes next (9.2).
    let unfought = pick(&["march 0842 unfought"]);
    assert_eq!((unfought.waits(), group(&unfought).as_str()), ("leader_marching", "2 rifle_r, 3 rifle_l"));
}

/// One by one: kinds in catalogue order, good order first, fresh before marched, then leaders as in 2.1a and the flag.
#[test]
fn units_are_asked_about_in_catalogue_order() {
    let units = "1 camel, 1 british_infantry, 2 rifle_r disrupted, 3 rifle_r, 1 rifle_r marched, 1 levy, 1 flag";
    let mut table = march("egyptian", &[("0842", &format!("{units}, graham, baker")), ("0942", "1 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 choose"]);
    assert_eq!(table.legal(), ["take levy 0", "take levy 1"]);
    table.play(&["take levy 0"]);
    assert_eq!(table.legal(), ["take rifle_r 0", "take rifle_r 1", "take rifle_r 2", "take rifle_r 3"]);
    // With a disrupted unit it can only march, so the one that has marched is not asked about (3.3).
    table.play(&["take rifle_r 2", "take rifle_r marched 0", "take rifle_r disrupted 1"]);
    table.play(&["take british_infantry 1", "take camel 1", "take baker yes", "take graham no", "take flag yes"]);
    assert_eq!(table.waits(), "roll_march");
    assert_eq!(group(&table), "2 rifle_r, 1 rifle_r disrupted, 1 british_infantry, 1 camel, 1 flag");
    // Baker's 1, and −1 for British infantry in March.
    assert_eq!(table.0.march_modifier(), 0);
    table.roll(3).play(&["to 0742"]);
    assert_eq!((table.leader("baker").as_str(), table.leader("graham").as_str()), ("0742", "0842"));
    assert_eq!(table.units("0742"), "2 rifle_r, 1 rifle_r disrupted, 1 british_infantry, 1 camel, 1 flag");
}

/// A group marches only if all of it is fresh, and attacks only if none has fought.
#[test]
fn status_bounds_what_a_group_may_do() {
    let picks = |units: &str, enemy: &str| {
        let table = march("egyptian", &[("0842", units), (enemy, "1 mahdist_spearmen"), ("0350", "1 rifle_r")]);
        table.may("march 0842")
    };
    assert!(picks("1 rifle_r", "1242"));
    assert!(!picks("1 rifle_r marched", "1242"), "nothing to attack");
    assert!(picks("1 rifle_r marched", "0942"));
    assert!(!picks("1 rifle_r fought", "0942"));
    assert!(!picks("1 rifle_r marched disrupted", "0942"), "8.4");
    assert!(!picks("1 camel marched", "0942"), "8.5: no combat unit");
    // With one that has marched there is no roll.
    let mut table = march("egyptian", &[("0842", "1 rifle_r, 1 rifle_l marched"), ("0942", "1 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 choose", "take rifle_r 1", "take rifle_l marched 1"]);
    assert_eq!(table.waits(), "roll_fire_defending", "nothing was left but to attack");
}

/// A leader who has marched can still join an attack, but no march.
#[test]
fn leaders_have_a_status_too() {
    let with = |answer: &str| {
        let stacks = [("0742", "1 levy, graham"), ("0842", "1 rifle_r"), ("0942", "1 mahdist_spearmen")];
        let mut table = march("egyptian", &stacks);
        table.play(&["march 0742", "march 0742 alone", "to 0842", "march 0842", "march 0842 choose", answer]);
        table
    };
    assert_eq!(with("take graham no").legal(), ["attack 0942", "roll"]);
    assert_eq!(with("take graham yes").waits(), "leader_marching");
}

/// 8.4: a march that disrupts leaves the group unable to attack, whatever it meets.
#[test]
fn a_march_that_disrupts_ends_the_attack() {
    let after = |die: u16| {
        let mut table = march("egyptian", &[("0642", "4 rifle_r"), ("0842", "1 mahdist_spearmen")]);
        table.play(&["march 0642", "march 0642 all"]).roll(die).play(&["to 0742"]);
        table.legal()
    };
    assert_eq!(after(3), ["attack 0842", "halt", "roll"]);
    assert_eq!(after(1), ["halt", "roll"], "a quarter of four is disrupted (8.31)");
}

/// 8.2, 8.5: a group whose roll fails has marched, but may attack from where it stands.
#[test]
fn a_failed_roll_leaves_the_attack() {
    let mut table = march("egyptian", &[("0842", "1 rifle_r"), ("0942", "1 mahdist_spearmen"), ("0350", "1 rifle_r")]);
    table.play(&["march 0842", "roll"]).roll(2);
    assert_eq!(table.legal(), ["attack 0942", "halt"]);
    table.play(&["halt", "march 0842"]);
    assert_eq!(table.waits(), "roll_fire_defending", "a group that has marched may only attack");
}

/// 8.5, 7.2: the Atbara, between 3529 and 3629, is a river but for its crossing: nobody attacks over it.
#[test]
fn no_attack_over_the_atbara() {
    let pick = |from: &str, enemy: &str| {
        let stacks = [(from, "2 mahdist_rifles"), (enemy, "1 rifle_r"), ("0350", "1 mahdist_spearmen")];
        let mut table = march("mahdist", &stacks);
        table.play(&[&format!("march {from}"), &format!("march {from} all")]);
        table
    };
    assert_eq!(pick("3529", "3629").waits(), "roll_march", "it can only march");
    assert_eq!(pick("3529", "3429").legal(), ["attack 3429", "roll"]);
}

/// 8.5: who met in a hex attacks as one group, and others may attack the hex again.
#[test]
fn groups_that_met_attack_together_and_others_again() {
    let stacks = [("0642", "2 rifle_r"), ("0742", "3 rifle_l"), ("0842", "9 mahdist_spearmen")];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0642", "march 0642 all"]).roll(3).play(&["to 0742", "halt", "march 0742"]);
    table.play(&["march 0742 unfought"]);
    assert_eq!(group(&table), "2 rifle_r, 3 rifle_l");
    // The rifles attack alone and draw: nobody tests worse than steady.
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0742", "march 0742 choose", "take rifle_l 2", "attack 0842"]).roll(12).roll(12).roll(12);
    assert_eq!(table.waits(), "march_hex");
    table.play(&["march 0742"]);
    assert_eq!(table.legal(), ["attack 0842", "roll"]);
    assert_eq!(group(&table), "1 rifle_l", "two have fought");
}

/// 8.5: only good-order train goes along.
#[test]
fn disrupted_train_stays_out_of_the_attack() {
    let stacks = [("0842", "2 rifle_r, 1 camel disrupted, 2 camel"), ("0942", "1 mahdist_spearmen")];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0842", "march 0842 choose", "take rifle_r 2", "take camel 0", "take camel disrupted 0"]);
    table.play(&["attack 0942"]);
    assert_eq!(group(&table), "2 rifle_r, 2 camel");
}

/// 13.8: a stack all disrupted holds its hex and must be fought.
#[test]
fn a_disrupted_stack_must_be_fought() {
    let mut table = march("egyptian", &[("0842", "2 rifle_r"), ("0942", "1 mahdist_spearmen disrupted")]);
    table.play(&["march 0842", "march 0842 all"]);
    assert_eq!(table.legal(), ["attack 0942", "roll"]);
    table.play(&["roll"]).roll(3);
    assert!(!table.may("to 0942") && table.may("to 0943"));
}

/// 8.6: one camel carries one supply unit, whatever else is in the group.
#[test]
fn each_supply_unit_needs_a_camel_of_its_own() {
    let mut table = march("egyptian", &[("0842", "1 rifle_r, 3 supply, 2 camel"), ("0350", "1 rifle_r")]);
    table.play(&["march 0842", "march 0842 choose", "take rifle_r 0"]);
    assert_eq!(table.legal(), ["take supply 0", "take supply 1", "take supply 2"]);
    table.play(&["take supply 1"]);
    assert_eq!(table.legal(), ["take camel 1", "take camel 2"]);
    table.play(&["take camel 1"]).roll(3).play(&["to 0742"]);
    assert_eq!(
        (table.units("0742").as_str(), table.units("0842").as_str()),
        ("1 supply, 1 camel", "1 rifle_r, 2 supply, 1 camel")
    );
}

/// 8.10, 8.3: costs, stops and rivers are those of a group, up to nine points.
#[test]
fn leaders_alone_move_by_the_costs_of_a_group() {
    let reach = |stacks: &[(&str, &str)], from: &str| {
        let mut table = march("egyptian", &[stacks, &[("0350", "1 rifle_r")]].concat());
        table.play(&[&format!("march {from}"), &format!("march {from} alone")]);
        table
    };
    // Nine clear hexes from 0342 to the east; eight where the enemy in 1141 stops him in 1142.
    let open = reach(&[("0342", "1 levy, graham")], "0342");
    assert!(open.may("to 1242") && !open.may("to 1342"));
    let stopped = reach(&[("0342", "1 levy, graham"), ("1141", "1 mahdist_spearmen")], "0342");
    assert!(stopped.may("to 1142") && !stopped.may("to 1242"));
    // Over the White Nile from 1440 to 1540 with a boat only.
    let dry = reach(&[("1440", "1 levy, graham")], "1440");
    assert!(!dry.may("to 1540"));
    let boat = reach(&[("1440", "1 levy, 1 boat, graham")], "1440");
    assert!(boat.may("to 1540") && !boat.may("to 1640"), "it takes all that is left");
}

/// 8.1: the quick picks.
#[test]
fn quick_picks() {
    let mut table = march("egyptian", &[("0842", "2 rifle_r, 1 levy disrupted, 2 supply, 1 camel")]);
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
    let table = march("egyptian", &[("0842", "2 supply"), ("1042", "1 rifle_r")]);
    assert!(!table.may("march 0842"));
    let table = march("egyptian", &[("0842", "2 supply, 1 camel disrupted"), ("1042", "1 rifle_r")]);
    assert!(table.may("march 0842"), "11.1: a disrupted camel still carries");
}

/// 8.10: nine points, without a roll, into no enemy hex.
#[test]
fn leaders_alone() {
    let mut table = march("egyptian", &[("0342", "1 rifle_r, graham"), ("0642", "1 mahdist_spearmen disrupted")]);
    table.play(&["march 0342", "march 0342 alone"]);
    assert!(table.may("to 1142") && !table.may("to 1342") && !table.may("to 0642"));
    table.play(&["to 0442"]);
    assert_eq!(table.leader("graham"), "0442");
    assert!(!table.may("march 0442"), "once in the phase");
}

/// 8.10: no enemy unit lets him in or past, not even train, which a group may take (6.2).
#[test]
fn leaders_alone_enter_no_enemy_hex() {
    let reach = |enemy: &str| {
        let stacks = [("0342", "1 mahdist_spearmen, nejumi"), ("0642", enemy), ("0350", "1 mahdist_spearmen")];
        let mut table = march("mahdist", &stacks);
        table.play(&["march 0342", "march 0342 alone"]);
        // In a straight row 1242 is nine hexes away, by no other way.
        (table.may("to 0642"), table.may("to 1242"))
    };
    assert_eq!(reach("1 camel"), (false, false));
    assert_eq!(reach("1 rifle_r disrupted"), (false, false));
    assert_eq!(reach("graham"), (true, true), "leaders are no units (2.1)");
}

/// 8.6: without camels supply may still retreat. 7 − 2 for fanatics who charge is 5: class R fails, which with N = 2 costs
/// it four destroyed and four disrupted, and that is all that the hex can lose (9.8): eight of twelve are lost.
#[test]
fn supply_retreats_without_camels() {
    let mut table = march("mahdist", &[("0842", "2 mahdist_spearmen"), ("0942", "4 rifle_l, 8 supply")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(12).roll(7);
    table.play(&["retreat 1142"]);
    assert_eq!(table.units("1142"), "4 rifle_l, 4 supply disrupted");
}
