//! Combat on the map: who attacks (8.4, 8.5), who takes part (9.1), retreat, spoils, advance (9.9-9.13).

use dervish_env::dervish::catalogue::{Kind, Side};
use serde_json::json;

use crate::rules_table::Table;

/// A march phase of scenario 2 in March 1884.
fn march(side: &str, stacks: &[(&str, &str)]) -> Table {
    Table::set(&format!("khartoum 2 {side} march"), stacks, json!({}))
}

/// Units of the group that attacks, of one kind.
fn grouped(table: &Table, hex: &str, kind: Kind) -> u8 {
    let stack = table.0.units().at(table.hex(hex));
    stack.iter().filter(|c| c.kind() == kind && c.grouped()).map(|c| c.count()).sum()
}

#[test]
fn who_may_attack() {
    // 8.4: not with a disrupted unit; it only rolls.
    let mut table = march("egyptian", &[("0842", "1 rifle_r, 1 levy disrupted"), ("0942", "1 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all"]);
    assert_eq!(table.waits(), "roll_march");
    let mut table = march("egyptian", &[("0842", "1 rifle_r, 1 levy disrupted"), ("0942", "1 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all_good"]);
    assert_eq!(table.legal(), ["attack 0942", "roll"]);
    // 8.5: not across the Blue Nile, from Khartoum to 1832.
    let mut table = march("egyptian", &[("Khartoum", "2 rifle_r"), ("1832", "1 mahdist_spearmen")]);
    table.play(&["march 1732", "march 1732 all"]);
    assert_eq!(table.waits(), "roll_march");
}

#[test]
fn train_goes_into_the_attack_unless_guarded() {
    let stacks = [("0842", "2 rifle_r, 1 supply, 1 camel"), ("0942", "1 mahdist_spearmen")];
    for (rifles, camels) in [("take rifle_r 2", 1), ("take rifle_r 1", 0)] {
        let mut table = march("egyptian", &stacks);
        table.play(&["march 0842", "march 0842 choose", rifles, "take supply 0", "take camel 0", "attack 0942"]);
        assert_eq!(grouped(&table, "0842", Kind::Camel), camels, "{rifles}");
    }
}

/// 8.1, 8.11: a pick to attack takes the flag with it, marched or not.
#[test]
fn the_flag_goes_with_a_group_that_marched() {
    let stacks = [("0842", "1 british_infantry marched, 1 flag marched, 1 rifle_r"), ("0942", "1 mahdist_spearmen")];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0842", "march 0842 unfought"]);
    if table.waits() == "group_order" {
        table.play(&["attack 0942"]);
    }
    assert_eq!(grouped(&table, "0842", Kind::Flag), 1);
}

/// 9.1: without the fleet neither levies nor S fire; with it the marching side tests.
#[test]
fn gunboats_and_fleet_take_part() {
    for (defenders, waits) in [("1 levy", "roll_melee_marching"), ("1 levy, 1 fleet", "roll_fire_marching")] {
        let mut table = march("mahdist", &[("4506", "2 mahdist_spearmen"), ("Souakim", defenders)]);
        table.play(&["march 4506", "march 4506 all", "attack 4606"]);
        assert_eq!(table.waits(), waits, "{defenders}");
    }
    // The fleet lies off the hex from which Egyptians attack.
    let mut table = march("egyptian", &[("4506", "2 mahdist_spearmen"), ("Souakim", "2 levy, 1 fleet")]);
    table.play(&["march 4606", "march 4606 all", "attack 4506"]);
    assert_eq!(table.waits(), "roll_fire_defending");
}

/// 9.13: fire on the marching side, melee of both, spoils, advance, captures.
#[test]
fn order_of_a_combat() {
    let mut table = march("mahdist", &[("0842", "8 mahdist_spearmen"), ("0942", "2 rifle_r")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]);
    let mut order = Vec::new();
    // A 2 in melee: fail with N = 8 destroys both.
    for sum in [12, 12, 2] {
        order.push(table.waits());
        table.roll(sum);
    }
    assert_eq!(order, ["roll_fire_marching", "roll_melee_marching", "roll_melee_defending"]);
    assert_eq!((table.waits(), table.0.eliminated(Side::Egyptian)), ("advance", 2));
    table.play(&["advance yes"]);
    assert_eq!(table.units("0942"), "8 mahdist_spearmen");
    assert!(!table.may("march 0942"), "8.1: it has fought");
}

/// 9.10: a gun for the gun unit, one S rearmed for three rifle-armed units (levies are none).
#[test]
fn spoils_of_a_mahdist_win() {
    let mut table = march("mahdist", &[("0842", "8 mahdist_spearmen"), ("0942", "3 rifle_r, 1 levy, 1 egyptian_gun")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(12).roll(2);
    assert_eq!(table.units("0842"), "7 mahdist_spearmen, 1 mahdist_rifles, 1 mahdist_gun");
}

/// 9.12 and 6.2; and a leader is safe while units of his are left in the hex.
#[test]
fn leaders_of_a_stack_that_is_gone() {
    let stacks = [("0842", "8 mahdist_spearmen"), ("0942", "2 rifle_r, hicks"), ("1642", "1 rifle_r")];
    let mut table = march("mahdist", &stacks);
    table.play(&["march 0842", "march 0842 all", "attack 0942", "leader unused"]).roll(12).roll(12).roll(2);
    table.play(&["advance no"]);
    assert_eq!(table.waits(), "roll_escape");
    table.roll(4);
    assert_eq!(table.leader("hicks"), "1642");
    let mut table =
        march("egyptian", &[("0842", "1 rifle_r, 1 levy disrupted, graham"), ("0942", "9 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all_good", "attack 0942", "leader unused"]).roll(12).roll(2).roll(12);
    assert_ne!(table.waits(), "roll_escape");
    assert_eq!(table.leader("graham"), "0842");
}

/// A defender that is broken and left with two disrupted units: 7 − 2 for fanatics who charge = 5, shaken, N = 2.
fn broken_defender(others: &[(&str, &str)]) -> Table {
    let mut table = march("mahdist", &[&[("0842", "2 mahdist_spearmen"), ("0942", "4 rifle_l")], others].concat());
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(12).roll(7);
    table
}

/// 9.9: two hexes, each step farther from the winner in 0842; here all such hexes are open.
#[test]
fn retreat_of_a_defender() {
    let mut table = broken_defender(&[]);
    let hexes = ["1040", "1041", "1043", "1044", "1142"].map(|hex| format!("retreat {hex}"));
    assert_eq!(table.legal(), hexes);
    table.play(&["retreat 1142"]);
    assert_eq!(table.units("1142"), "2 rifle_l disrupted");
    assert_eq!(table.waits(), "advance");
    // 1042 is held, 0941 and 0943 are next to it: no way out, all are taken.
    let table = broken_defender(&[("1042", "1 mahdist_spearmen")]);
    assert_eq!((table.units("0942").as_str(), table.0.eliminated(Side::Egyptian)), ("", 4));
}

/// 3.2.
#[test]
fn the_other_side_decides_leader_use_and_retreat() {
    assert_eq!(broken_defender(&[]).decider(), Some("egyptian"));
    let mut table = march("mahdist", &[("0842", "2 mahdist_spearmen, mahdi"), ("0942", "4 rifle_l, graham")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]);
    assert_eq!((table.waits(), table.decider()), ("leader_marching", Some("mahdist")));
    table.play(&["leader melee"]);
    assert_eq!((table.waits(), table.decider()), ("leader_defending", Some("egyptian")));
}

/// 9.9: out of a town of his own the marching loser does not retreat. A 9 − 1 for veterans − 1 for eight fire factors is
/// 7, hold: N = 4 disrupts all four.
#[test]
fn a_marching_loser_stays_in_his_own_town() {
    let lose = |from: &str, target: &str| {
        let mut table = march("mahdist", &[(from, "4 mahdist_spearmen"), (target, "4 british_infantry")]);
        table.play(&[&format!("march {from}"), &format!("march {from} all"), &format!("attack {target}")]);
        table.roll(9).roll(12).roll(12);
        table
    };
    assert_eq!(lose("0446", "0546").units("Bara"), "4 mahdist_spearmen disrupted");
    assert_eq!(lose("0842", "0942").waits(), "retreat_hex");
}
