//! Supply (10), siege (6.4) and recovery (11).

use dervish_env::dervish::catalogue::Side;
use serde_json::json;

use crate::rules_table::Table;

/// A supply phase of scenario 2 in March 1884.
fn supply(side: &str, stacks: &[(&str, &str)]) -> Table {
    Table::set(&format!("khartoum 2 {side} supply"), stacks, json!({}))
}

/// 6.4: who besieges.
#[test]
fn besieged() {
    // 0449 is adjacent to El Obeid, 1832 to Khartoum across the Blue Nile.
    let by = |place: &str, stacks: &[(&str, &str)]| {
        let table = supply("egyptian", stacks);
        table.0.besieged(table.hex(place), Side::Egyptian)
    };
    assert!(by("El Obeid", &[("0449", "1 mahdist_spearmen")]));
    assert!(!by("El Obeid", &[("0449", "1 mahdist_spearmen disrupted")]));
    assert!(!by("El Obeid", &[("0449", "mahdi")]));
    assert!(by("Khartoum", &[("1832", "1 mahdist_gun")]));
    assert!(!by("Souakim", &[("4506", "9 mahdist_spearmen")]));
    // Of Mahdists: train does not besiege, but civilians do.
    let table = supply("mahdist", &[("0449", "1 camel, 1 supply"), ("1832", "1 civilian")]);
    assert!(!table.0.besieged(table.hex("El Obeid"), Side::Mahdist));
    assert!(table.0.besieged(table.hex("Khartoum"), Side::Mahdist));
}

/// 10.1, 13.3: hexes by row; not in an unbesieged town, nor where a 1 hurts nobody (six in the clear, 10.3).
#[test]
fn who_is_passed_over() {
    let table = supply("egyptian", &[("El Obeid", "9 rifle_r"), ("0842", "6 rifle_r"), ("1042", "7 rifle_r")]);
    assert_eq!((table.waits(), table.0.pending().hex), ("roll_attrition", table.hex("1042")));
    // Rows from the north, columns from the west.
    let mut table = supply("egyptian", &[("1242", "7 rifle_r"), ("0844", "7 rifle_r"), ("1042", "7 rifle_r")]);
    let mut order = Vec::new();
    while table.waits() == "roll_attrition" {
        order.push(table.0.pending().hex.to_string());
        table.roll(6);
    }
    assert_eq!(order, ["1042", "1242", "0844"]);
}

/// 10.2: links of six points; the unit farthest along the chain is spent, and serves all whose chain reaches it.
#[test]
fn the_farthest_of_a_chain_is_spent() {
    // 0342, 0842 (five on) and 1342 (ten on): a chain; each of the ends is farthest for the other.
    let stacks = [("0342", "7 rifle_r, 1 supply"), ("0842", "1 supply"), ("1342", "7 rifle_r, 1 supply")];
    let mut table = supply("egyptian", &stacks);
    assert_eq!(table.legal(), ["supply 0342 draw", "supply 0342 roll"]);
    table.play(&["supply 0342 draw"]);
    assert_eq!(table.units("1342"), "7 rifle_r", "the farthest is spent, and its own stack is served too");
    assert_eq!((table.units("0342").as_str(), table.units("0842").as_str()), ("7 rifle_r, 1 supply", "1 supply"));
    // Seven points are no link.
    let stacks = [("0342", "7 rifle_r, 1 supply"), ("1042", "7 rifle_r, 1 supply")];
    let mut table = supply("egyptian", &stacks);
    table.play(&["supply 0342 draw"]);
    assert_eq!(table.units("0342"), "7 rifle_r");
    assert_eq!(table.legal(), ["supply 1042 draw", "supply 1042 roll"]);
}

/// 10.3, 10.4: desert, a 3 leaves two units.
#[test]
fn who_is_kept() {
    // A civilian counts as two and is kept first: nobody else is left.
    let mut table = supply("egyptian", &[("2726", "2 rifle_r, 1 rifle_l, 1 civilian")]);
    table.roll(3);
    assert_eq!(table.units("2726"), "1 civilian");
    assert_eq!(table.0.eliminated(Side::Egyptian), 3, "14.5");
    // Of the others class L before supply, supply before camel, camel before class R.
    let mut table = supply("egyptian", &[("2726", "2 rifle_r, 1 rifle_l, 1 supply, 1 camel")]);
    table.play(&["supply 2726 roll"]).roll(3);
    assert_eq!(table.units("2726"), "1 rifle_l, 1 supply");
    // Mahdists are disrupted; those disrupted already are kept before the others.
    let mut table =
        supply("mahdist", &[("2726", "2 mahdist_spearmen, 1 mahdist_spearmen disrupted, 1 mahdist_rifles")]);
    table.roll(3);
    assert_eq!(table.0.eliminated(Side::Mahdist), 0);
    // The rolls of recovery follow (11.1) with the two others disrupted.
    assert_eq!(table.units("2726"), "3 mahdist_spearmen disrupted, 1 mahdist_rifles");
}

/// 10.3: modifiers one by one, in March.
#[test]
fn attrition_modifiers() {
    let modifier = |stacks: &[(&str, &str)], hex: &str| {
        // Somebody at the end of the map has to roll, so that it is still the Egyptian player's phase.
        let table = supply("egyptian", &[stacks, &[("1050", "9 rifle_r")]].concat());
        table.0.attrition_modifier(table.hex(hex))
    };
    assert_eq!(modifier(&[("0842", "9 rifle_r")], "0842"), 0);
    assert_eq!(modifier(&[("4506", "9 rifle_r")], "4506"), -1, "the extension from March on");
    assert_eq!(modifier(&[("Khartoum", "9 rifle_r, gordon")], "Khartoum"), 1);
    assert_eq!(modifier(&[("Khartoum", "9 british_infantry, 1 flag, gordon")], "Khartoum"), 2);
    assert_eq!(modifier(&[("Berber", "9 british_infantry, 1 flag, gordon")], "Berber"), 0);
}

/// 11.1: one roll a hex, read by class, +2 town, +1 village, + the leader's strategic value.
#[test]
fn recovery_by_class() {
    let recover = |hex: &str, units: &str, sum: u16| {
        let mut table = Table::set("khartoum 2 egyptian recovery", &[(hex, units)], json!({}));
        table.roll(sum);
        table.units(hex)
    };
    // A 6: R fails, L holds, V recovers at 7 only.
    let three = "1 rifle_r disrupted, 1 rifle_l disrupted, 1 british_infantry disrupted";
    assert_eq!(recover("0842", three, 6), "1 rifle_l disrupted, 1 british_infantry disrupted");
    // In a town 6 + 2 = 8: R holds, L holds, V recovers.
    let town = "1 rifle_r disrupted, 1 rifle_l disrupted, 1 british_infantry";
    assert_eq!(recover("El Obeid", three, 6), town);
    // In a village 7: R holds.
    assert_eq!(recover("Er Rahad", three, 6), town);
    // Gordon's 2 and a 7: L recovers at 9.
    assert_eq!(recover("0842", "1 rifle_l disrupted, gordon", 7), "1 rifle_l");
}
