//! The built railway: free movement (8.9), supply without camels (8.6) and links of supply chains (10.2).
//!
//! Its hexes from Souakim on: 4606 4506 4406 4306 4207 4107 4108 4008 3909 3809 3709 3609 3610 3510. Nine are built.

use serde_json::json;

use crate::rules_table::Table;

const FAR: (&str, &str) = ("0350", "1 rifle_r");

fn with_railway(built: u8, when: &str, stacks: &[(&str, &str)]) -> Table {
    Table::set(when, stacks, json!({"railway": built, "events": {"field_forces": 2}}))
}

/// A march phase of March 1885 in which all units in `from` have rolled a 4 together.
fn marching(built: u8, side: &str, from: &str, stacks: &[(&str, &str)]) -> Table {
    let far = if side == "egyptian" { FAR } else { ("0350", "1 mahdist_spearmen") };
    let mut table = with_railway(built, &format!("khartoum 14 {side} march"), &[stacks, &[far]].concat());
    table.play(&[&format!("march {from}")]);
    if table.waits() == "march_pick" {
        table.play(&[&format!("march {from} all")]);
    }
    if table.waits() == "group_count" {
        table.play(&["take supply 2"]);
    }
    if table.waits() == "group_order" {
        table.play(&["roll"]);
    }
    assert_eq!(table.waits(), "roll_march", "who goes by rail still rolls");
    table.roll(4);
    table
}

/// Built hexes cost nothing, what lies beside and beyond them costs what it costs.
#[test]
fn groups_go_free_along_the_railway() {
    let table = marching(9, "egyptian", "4606", &[("4606", "1 rifle_r")]);
    for hex in ["4506", "4306", "4108", "3809"] {
        assert!(table.may(&format!("to {hex}")), "{hex}");
    }
    // From 3809 on nothing is built: three hexes of hills, 2 each.
    assert!(table.may("to 3610") && !table.may("to 3510"));
    // Without it 4306 is 1 + 2 + 2, and 4207 beyond is 2 more.
    let table = marching(0, "egyptian", "4606", &[("4606", "1 rifle_r")]);
    assert!(table.may("to 4306") && !table.may("to 4207"));
    // One built hex alone joins 4506 to Souakim.
    let table = marching(1, "egyptian", "4606", &[("4606", "1 rifle_r")]);
    assert!(table.may("to 4207"), "0 + 2 + 2 + 2");
    assert!(!table.may("to 4107"));
}

/// Enemies on the railway or next to it stop a group as anywhere (8.3), and the Mahdists have no use for it.
#[test]
fn enemies_close_the_railway() {
    // 4207 is held: trains end in 4306, next to it. Who would go round meets mountains.
    let table = marching(9, "egyptian", "4606", &[("4606", "1 rifle_r"), ("4207", "1 mahdist_spearmen")]);
    assert!(table.may("to 4306") && !table.may("to 4107"));
    // A disrupted stack beside it does not stop the train, one in good order does.
    let beside = |enemy: &str| {
        let table = marching(9, "egyptian", "4606", &[("4606", "1 rifle_r"), ("4206", enemy)]);
        (table.may("to 4306"), table.may("to 3809"))
    };
    assert_eq!(beside("1 mahdist_spearmen disrupted"), (true, true));
    assert_eq!(beside("1 mahdist_spearmen"), (true, false));
    let table = marching(9, "mahdist", "4506", &[("4506", "1 mahdist_spearmen")]);
    assert!(table.may("to 4207") && !table.may("to 4108"), "2 + 2 + 2");
}

/// 8.6: by rail a supply unit needs no camel, and without one it goes by rail only.
#[test]
fn supply_without_camels_keeps_to_the_railway() {
    let table = marching(9, "egyptian", "4306", &[("4306", "2 supply")]);
    let built = ["3809", "3909", "4008", "4107", "4108", "4207", "4306", "4406", "4506", "4606"];
    assert_eq!(table.legal(), built.map(|hex| format!("to {hex}")));
    // With a camel for each it leaves the railway: 3610 is three hills beyond its end.
    let table = marching(9, "egyptian", "4306", &[("4306", "1 supply, 1 camel")]);
    assert!(table.may("to 3610"));
    // Enemies on both sides of it leave no way by rail.
    let stacks = [("4306", "2 supply"), ("4406", "1 mahdist_spearmen"), ("4207", "1 mahdist_spearmen"), FAR];
    assert!(!with_railway(9, "khartoum 14 egyptian march", &stacks).may("march 4306"));
    let table = with_railway(0, "khartoum 14 egyptian march", &[("4306", "2 supply"), FAR]);
    assert!(!table.may("march 4306"));
}

/// A supply phase of March 1885 (−1 on the extension).
fn supply(built: u8, stacks: &[(&str, &str)]) -> Table {
    with_railway(built, "khartoum 14 egyptian supply", stacks)
}

/// 10.2: railway hexes free of enemies cost nothing, so a chain has links of any length along it; the unit at its far
/// end is spent, though both are no points away.
#[test]
fn links_along_the_railway_cost_nothing() {
    for (stack, other) in [("4506", "3809"), ("3809", "4506")] {
        let mut table = supply(9, &[(stack, "7 rifle_r, 1 supply"), (other, "1 supply")]);
        table.play(&[&format!("supply {stack} draw")]);
        assert_eq!((table.units(stack).as_str(), table.units(other).as_str()), ("7 rifle_r, 1 supply", ""), "{stack}");
    }
    // Nothing built, no link; nor with an enemy on the line in 4107 and another in 4208, on the way round him.
    let enemies = [("4107", "1 mahdist_spearmen"), ("4208", "1 mahdist_spearmen")];
    for (built, more) in [(0, &enemies[..0]), (9, &enemies[..])] {
        let mut table = supply(built, &[&[("4506", "7 rifle_r, 1 supply"), ("3809", "1 supply")], more].concat());
        table.play(&["supply 4506 draw"]);
        assert_eq!((table.units("4506").as_str(), table.units("3809").as_str()), ("7 rifle_r", "1 supply"), "{built}");
    }
    // Who comes to the railway from beside it pays for the ground before it alone: from 3510 three hills, then nothing.
    let mut table = supply(9, &[("3510", "7 rifle_r, 1 supply"), ("4506", "1 supply")]);
    table.play(&["supply 3510 draw"]);
    assert_eq!((table.units("3510").as_str(), table.units("4506").as_str()), ("7 rifle_r, 1 supply", ""));
    // From the end of the railway six points more: 3610 is three hills on, 3510 four.
    for (end, spent) in [("3610", true), ("3510", false)] {
        let mut table = supply(9, &[("4506", "7 rifle_r, 1 supply"), (end, "1 supply")]);
        table.play(&["supply 4506 draw"]);
        assert_eq!(table.units(end).is_empty(), spent, "{end}");
    }
}
