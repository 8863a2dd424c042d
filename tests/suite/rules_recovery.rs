//! Recovery (11).

use dervish_env::dervish::catalogue::Side;
use serde_json::json;

use crate::rules_table::Table;

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

/// 11.1: train rolls as class R, an oasis gives nothing, the better of two leaders counts.
#[test]
fn recovery_of_train_and_modifiers() {
    let recover = |hex: &str, units: &str, sum: u16| {
        let mut table = Table::set("khartoum 2 egyptian recovery", &[(hex, units)], json!({}));
        table.roll(sum);
        (table.units(hex), table.0.eliminated(Side::Egyptian))
    };
    let train = "1 supply disrupted, 1 camel disrupted, 1 civilian disrupted";
    assert_eq!(recover("0842", train, 6), (String::new(), 0));
    assert_eq!(recover("0842", train, 7), (train.to_owned(), 0));
    assert_eq!(recover("0842", train, 10), ("1 supply, 1 camel, 1 civilian".to_owned(), 0));
    assert_eq!(recover("Abu Klea", "1 rifle_r disrupted", 9).0, "1 rifle_r disrupted");
    assert_eq!(recover("Er Rahad", "1 rifle_r disrupted", 9).0, "1 rifle_r");
    // Graham's strategic 1, with Wolseley his 2.
    assert_eq!(recover("0842", "1 rifle_r disrupted, graham", 8).0, "1 rifle_r disrupted");
    assert_eq!(recover("0842", "1 rifle_r disrupted, graham, wolseley", 8).0, "1 rifle_r");
    // Who is in good order does not roll; 14.5: combat units that fail are eliminated, train is not counted.
    let mixed = "2 rifle_r, 3 rifle_r disrupted, 1 camel disrupted";
    assert_eq!(recover("0842", mixed, 2), ("2 rifle_r".to_owned(), 3));
    // Fanatics: 7 holds, 8 recovers, 6 fails.
    for (sum, left) in [(6, ""), (7, "1 mahdist_spearmen disrupted"), (8, "1 mahdist_spearmen")] {
        let stacks = [("0842", "1 mahdist_spearmen disrupted")];
        let mut table = Table::set("khartoum 2 mahdist recovery", &stacks, json!({}));
        table.roll(sum);
        assert_eq!(table.units("0842"), left, "{sum}");
    }
}

/// 11.1, 13.3: once per hex, by row from the north, then by column from the west; poor morale counts (4.3).
#[test]
fn hexes_recover_in_order() {
    let stacks = [("1242", "1 rifle_l disrupted"), ("0844", "1 rifle_l disrupted"), ("1042", "9 rifle_l disrupted")];
    let mut table = Table::set("khartoum 2 egyptian recovery", &stacks, json!({}));
    let mut order = Vec::new();
    while table.waits() == "roll_recovery" {
        order.push(table.0.pending().hex.to_string());
        table.roll(9);
    }
    assert_eq!(order, ["1042", "1242", "0844"]);
    assert_eq!(table.units("1042"), "9 rifle_l");
    let poor = json!({"events": {"poor_morale": true}});
    let mut table = Table::set("khartoum 2 egyptian recovery", &[("0842", "1 rifle_l disrupted")], poor);
    table.roll(9);
    assert_eq!(table.units("0842"), "1 rifle_l disrupted", "class R recovers at 10");
}
