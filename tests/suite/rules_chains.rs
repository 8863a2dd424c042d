//! Chains of supply units (10.2): which are joined, by what they cost, and which unit is spent.

use serde_json::{Value, json};

use crate::rules_table::Table;

/// A supply phase of the Egyptian player in a month of 1884; nobody else has to roll or to choose.
fn supply(month: u8, stacks: &[(&str, &str)], more: Value) -> Table {
    Table::set(&format!("khartoum {} egyptian supply", month - 1), stacks, more)
}

/// Seven units who could starve in the clear, with a supply unit.
const HUNGRY: &str = "7 rifle_r, 1 supply";

/// Whether a stack in `from` that draws on its supply spends the one unit in `to`: whether the two are joined.
fn joined(month: u8, from: &str, to: &str, more: &[(&str, &str)]) -> bool {
    let mut table = supply(month, &[&[(from, HUNGRY), (to, "1 supply")], more].concat(), json!({}));
    table.play(&[&format!("supply {from} draw")]);
    let spent = !table.units(to).contains("supply");
    assert_ne!(spent, !table.units(from).contains("supply"), "one unit is spent");
    spent
}

/// Row 42 is clear: columns 0, 5, 10 and 14 are links of 5, 5 and 4.
#[test]
fn the_unit_at_the_far_end_is_spent() {
    let stacks = [("0042", HUNGRY), ("0542", "1 supply"), ("1042", "2 supply"), ("1442", "1 supply")];
    let mut table = supply(3, &stacks, json!({}));
    table.play(&["supply 0042 draw"]);
    let left = ["0042", "0542", "1042", "1442"].map(|hex| table.units(hex));
    assert_eq!(left, [HUNGRY, "1 supply", "2 supply", ""]);
    // From the middle both ends of 0042 and 1042 are five points away: the first in order (13.3).
    let mut table = supply(3, &[("0042", "1 supply"), ("0542", HUNGRY), ("1042", "1 supply")], json!({}));
    table.play(&["supply 0542 draw"]);
    assert_eq!((table.units("0042").as_str(), table.units("1042").as_str()), ("", "1 supply"));
    // Alone it is the end of its own chain.
    let mut table = supply(3, &[("0042", HUNGRY)], json!({}));
    table.play(&["supply 0042 draw"]);
    assert_eq!(table.units("0042"), "7 rifle_r");
}

/// Distance is the sum of the links: 0848 lies seven hexes from 1242 but twelve along the chain by 0642, and 0142, eleven
/// hexes away, eleven.
#[test]
fn distance_is_measured_along_the_chain() {
    let stacks = [("1242", HUNGRY), ("0642", "1 supply"), ("0142", "1 supply"), ("0848", "1 supply")];
    let mut table = supply(3, &stacks, json!({}));
    table.play(&["supply 1242 draw"]);
    let left = ["1242", "0642", "0142", "0848"].map(|hex| table.units(hex));
    assert_eq!(left, [HUNGRY, "1 supply", "1 supply", ""]);
}

/// All stacks whose chain reaches the spent unit are served; one whose chain does not spends its own, and who has no
/// supply unit in his hex rolls.
#[test]
fn one_spent_unit_serves_every_chain_that_reaches_it() {
    let stacks =
        [("0042", HUNGRY), ("0542", HUNGRY), ("1042", HUNGRY), ("0650", "7 rifle_l, 1 supply"), ("1142", "7 levy")];
    let mut table = supply(3, &stacks, json!({}));
    table.play(&["supply 0042 draw"]);
    assert_eq!(table.units("1042"), "7 rifle_r");
    // 0542 and 1042 are served and passed over. In 1142 nobody has supply, though it lies next to 1042.
    assert_eq!((table.waits(), table.0.pending().hex), ("roll_attrition", table.hex("1142")));
    table.roll(6);
    assert_eq!(table.legal(), ["supply 0650 draw", "supply 0650 roll"]);
    table.play(&["supply 0650 draw"]);
    assert_eq!(table.units("0650"), "7 rifle_l");
    assert_eq!(table.units("0042"), HUNGRY);
}

/// The owner may roll instead (10.1): then nothing is spent, and the next stack is asked anew.
#[test]
fn who_rolls_spends_nothing() {
    let mut table = supply(3, &[("0042", HUNGRY), ("0542", HUNGRY)], json!({}));
    table.play(&["supply 0042 roll"]);
    assert_eq!(table.waits(), "roll_attrition");
    table.roll(6);
    assert_eq!((table.units("0042").as_str(), table.units("0542").as_str()), (HUNGRY, HUNGRY));
    assert_eq!(table.legal(), ["supply 0542 draw", "supply 0542 roll"]);
}

/// A link is six points by 8.3, hills 2; measured from the stack outward.
#[test]
fn links_cost_what_the_ground_costs() {
    assert!(joined(3, "0042", "0642", &[]));
    assert!(!joined(3, "0042", "0742", &[]));
    // 4426 lies in hills six hexes from flat 3826: 5 + 2 on the way there, 6 on the way back.
    assert!(!joined(3, "3826", "4426", &[]));
    assert!(joined(3, "4426", "3826", &[]));
}

/// A link runs through hexes free of enemies; enemies beside it do not matter.
#[test]
fn enemies_cut_a_link() {
    // From 0042 to 0642 there is but one way of six hexes.
    for enemy in ["1 mahdist_spearmen", "1 mahdist_spearmen disrupted"] {
        assert!(!joined(3, "0042", "0642", &[("0342", enemy)]), "{enemy}");
        assert!(joined(3, "0042", "0642", &[("0341", enemy)]), "{enemy}");
    }
    assert!(joined(3, "0042", "0642", &[("0342", "mahdi")]), "leaders are no units (2.1)");
}

/// A river hexside with means costs 2 more, without them it is closed: 1140 to 1440 are three points, 1540 is across.
#[test]
fn links_over_a_river() {
    for boat in [("1439", false), ("1440", true)] {
        assert_eq!(joined(3, "1140", "1540", &[(boat.0, "1 boat")]), boat.1, "3 + 1 + 2, boat in {}", boat.0);
    }
    assert!(!joined(3, "1040", "1540", &[("1440", "1 boat")]), "4 + 1 + 2");
    // Unlike a march (8.3) it goes on beyond the river.
    assert!(joined(3, "1340", "1740", &[("1440", "1 boat")]), "1 + 1 + 2 + 2");
    // A place that he controls is a means too: Duem in 1543, which 1643 faces over the river.
    let spent = |control: Value| {
        let stacks = [("1443", HUNGRY), ("1643", "1 supply")];
        let mut table = supply(3, &stacks, json!({"control": control}));
        table.play(&["supply 1443 draw"]);
        table.units("1643").is_empty()
    };
    assert!(spent(json!({"Duem": "egyptian"})));
    assert!(!spent(json!({})));
}

/// The Atbara needs no means: 3129 to 3529 are four points, 3629 across is 1 and 1 more, from July to October 2.
#[test]
fn links_over_the_atbara_by_month() {
    let months: Vec<u8> = (2..=12).filter(|month| joined(*month, "3129", "3629", &[])).collect();
    assert_eq!(months, [2, 3, 4, 5, 6, 11, 12]);
}

/// 11.1: a disrupted supply unit feeds as well, and is the first to be spent.
#[test]
fn disrupted_supply_feeds() {
    let mut table = supply(3, &[("0042", "7 rifle_r, 1 supply, 1 supply disrupted")], json!({}));
    table.play(&["supply 0042 draw"]);
    assert_eq!(table.units("0042"), HUNGRY);
    let mut table = supply(3, &[("0042", "7 rifle_r, 1 supply disrupted")], json!({}));
    table.play(&["supply 0042 draw"]);
    assert_eq!(table.units("0042"), "7 rifle_r");
}
