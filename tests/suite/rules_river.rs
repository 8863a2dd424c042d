//! Rivers (8.7) and the sea (8.8).

use serde_json::json;

use crate::rules_table::Table;

/// The gorge of Shabluka (1728 to 1727) is open from July to November.
#[test]
fn reach_of_vessels_by_season() {
    for (month, open) in [(6, false), (7, true), (11, true), (12, false)] {
        let when = format!("khartoum {} egyptian march", month - 1);
        let mut table = Table::set(&when, &[("1728", "1 gunboat"), ("0842", "1 rifle_r")], json!({}));
        table.play(&["march 1728"]);
        assert_eq!(table.may("sail 1727"), open, "month {month}");
    }
}

/// 8.7: one unit in a gunboat, two in a boat; landed units have marched.
#[test]
fn what_vessels_carry() {
    let mut table = Table::set("khartoum 2 egyptian march", &[("Khartoum", "3 rifle_r, 1 gunboat")], json!({}));
    table.play(&["march 1732", "march 1732 vessel", "load rifle_r", "sail 1731"]);
    assert_eq!(table.units("Halfaya"), "1 rifle_r, 1 gunboat");
    assert!(!table.may("march 1731"), "both have marched");
    let mut table = Table::set("khartoum 2 egyptian march", &[("Khartoum", "3 rifle_r, 1 boat")], json!({}));
    table.play(&["march 1732", "march 1732 vessel", "load rifle_r", "load rifle_r", "sail 1731"]);
    assert_eq!(table.units("Halfaya"), "2 rifle_r, 1 boat");
}

/// 8.8: no roll, and only where no enemy is.
#[test]
fn by_sea() {
    let mut table = Table::set("khartoum 2 egyptian march", &[("Souakim", "2 rifle_r")], json!({}));
    table.play(&["march 4606", "march 4606 all", "sea"]);
    assert_eq!((table.units("Trinkitat").as_str(), table.controller("Trinkitat")), ("2 rifle_r", Some("egyptian")));
    let stacks = [("Souakim", "2 rifle_r"), ("Trinkitat", "1 mahdist_spearmen")];
    let mut table = Table::set("khartoum 2 egyptian march", &stacks, json!({}));
    table.play(&["march 4606", "march 4606 all"]);
    assert_eq!(table.waits(), "roll_march");
}

/// 8.12: the boat becomes a Mahdist one, the gunboat goes to the nearest hex with friends.
#[test]
fn vessels_in_a_lost_hex() {
    // 1633 lies on the White Nile's left bank with 1533 west of it; Khartoum is over the river, one hex away.
    let stacks = [("1533", "2 mahdist_spearmen"), ("1633", "1 gunboat, 1 boat"), ("Khartoum", "1 levy")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({}));
    table.play(&["march 1533", "march 1533 all"]).roll(3);
    if table.may("to 1633") {
        table.play(&["to 1633"]);
        assert_eq!(table.units("1633"), "2 mahdist_spearmen, 1 mahdist_boat");
        assert_eq!(table.units("Khartoum"), "1 levy, 1 gunboat");
    } else {
        panic!("{:?}", table.legal());
    }
}
