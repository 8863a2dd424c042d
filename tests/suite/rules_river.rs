//! Rivers: crossing them (8.3), vessels (8.7), the sea (8.8), and vessels in a lost hex (8.12).

use dervish_env::dervish::catalogue::Kind;
use serde_json::{Value, json};

use crate::rules_table::Table;

/// A march phase of scenario 2 in a month of 1884.
fn march(side: &str, month: u8, stacks: &[(&str, &str)], more: Value) -> Table {
    Table::set(&format!("khartoum {} {side} march", month - 1), stacks, more)
}

/// A far stack, so that the phase goes on when another has done all it can.
const FAR: (&str, &str) = ("0350", "1 rifle_r");

/// The gorge of Shabluka (1728 to 1727) is open from July to November, to boats as to steamers.
#[test]
fn reach_of_vessels_by_season() {
    for month in 2..=12 {
        for vessel in ["1 gunboat", "1 boat"] {
            let mut table = march("egyptian", month, &[("1728", vessel), FAR], json!({}));
            table.play(&["march 1728"]);
            let open = (7..=11).contains(&month);
            assert_eq!(table.may("sail 1727"), open, "{vessel}, month {month}");
            // One in the gorge, between 1727 and 1827, stays there.
            let table = march("egyptian", month, &[("1827", vessel), FAR], json!({}));
            assert_eq!(table.may("march 1827"), open, "{vessel} in the gorge, month {month}");
        }
    }
}

/// 8.3: over the White Nile between 1440 and 1540 with a vessel in one of the two hexes.
#[test]
fn a_vessel_in_either_hex_carries_a_group_over() {
    let crosses = |side: &str, stacks: &[(&str, &str)]| {
        let mut table = march(side, 3, stacks, json!({}));
        table.play(&["march 1440"]);
        if table.waits() == "march_pick" {
            table.play(&["march 1440 all"]);
        }
        table.roll(3);
        table.may("to 1540")
    };
    let egyptian = |more: &[(&str, &str)]| crosses("egyptian", &[&[("1440", "1 rifle_r"), FAR], more].concat());
    assert!(!egyptian(&[]));
    assert!(!egyptian(&[("1539", "1 boat")]), "in neither hex");
    for vessel in ["1 boat", "1 gunboat", "1 british_gunboat"] {
        assert!(egyptian(&[("1540", vessel)]), "{vessel}");
        assert!(crosses("egyptian", &[("1440", &format!("1 rifle_r, {vessel}")), FAR]), "{vessel}");
    }
    let far = ("0350", "1 mahdist_spearmen");
    assert!(crosses("mahdist", &[("1440", "1 mahdist_spearmen, 1 mahdist_boat"), far]));
    assert!(!crosses("mahdist", &[("1440", "1 mahdist_spearmen"), far]));
}

/// 8.3: or where he controls a town or village in one of them; not where the enemy does.
#[test]
fn a_town_or_village_carries_a_group_over() {
    let crosses = |from: &str, to: &str, control: Value| {
        let mut table = march("egyptian", 3, &[(from, "1 rifle_r"), FAR], json!({"control": control}));
        table.play(&[&format!("march {from}")]).roll(3);
        table.may(&format!("to {to}"))
    };
    // Duem (town) and 1642 face each other, as do the village Kawa in 1745 and 1645.
    for (bank, place, name) in [("1642", "1543", "Duem"), ("1645", "1745", "Kawa")] {
        assert!(!crosses(bank, place, json!({})), "{name} is nobody's");
        assert!(!crosses(bank, place, json!({name: "mahdist"})));
        assert!(crosses(bank, place, json!({name: "egyptian"})));
    }
    assert!(crosses("1543", "1642", json!({})), "who stands in the town controls it");
}

/// 8.3: crossing takes all that is left of the move, two points at least.
#[test]
fn crossing_takes_all_that_is_left() {
    let reach = |from: &str| {
        let mut table = march("egyptian", 3, &[(from, "1 rifle_r"), ("1440", "1 boat"), FAR], json!({}));
        table.play(&[&format!("march {from}")]).roll(3);
        (table.may("to 1440"), table.may("to 1540"), table.may("to 1640"))
    };
    // Row 40 to the west of 1440 is clear: four hexes leave two points, five leave one.
    assert_eq!(reach("1340"), (true, true, false));
    assert_eq!(reach("1040"), (true, true, false));
    assert_eq!(reach("0940"), (true, false, false));
}

/// 8.7: 18 hexes for a gunboat, 12 for a boat, one point each, without a roll, once in the phase.
#[test]
fn how_far_vessels_go() {
    let sail = |vessel: &str| {
        let mut table = march("egyptian", 3, &[("Khartoum", vessel), FAR], json!({}));
        table.play(&["march 1732"]);
        table
    };
    // Up the White Nile a row of hexes is a point: 1850 lies 18 rows south of Khartoum, 1744 twelve.
    let gunboat = sail("1 gunboat");
    assert!(gunboat.may("sail 1850") && !gunboat.may("sail 1851"));
    let mut boat = sail("1 boat");
    assert!(boat.may("sail 1744") && !boat.may("sail 1745"));
    boat.play(&["sail 1744"]);
    assert_eq!((boat.units("1744").as_str(), boat.may("march 1744")), ("1 boat", false));
}

/// 8.7: from one river to another, at Khartoum from any of the three; not over land.
#[test]
fn from_one_river_to_another() {
    // 1634 touches the White Nile, 1834 the Blue Nile and 1730 the Nile below.
    for (from, to) in [("1634", "1834"), ("1834", "1730"), ("1730", "1634")] {
        let mut table = march("egyptian", 3, &[(from, "1 gunboat"), FAR], json!({}));
        table.play(&[&format!("march {from}")]);
        assert!(table.may(&format!("sail {to}")), "{from} to {to}");
        assert!(!table.may("sail 1930"), "1930 touches no river");
    }
}

/// 8.7: through reaches marked `none` boats are hauled at two points a hex, at any Nile; steamers stay out of them.
#[test]
fn boats_are_hauled_through_closed_reaches() {
    for month in [3, 9] {
        // From Merowe, foot of the last rapids, six hexes up: 1410, 1409, 1508 or 1509, 1608, 1607 or 1708, 1707.
        let mut table = march("egyptian", month, &[("Merowe", "1 boat"), FAR], json!({}));
        table.play(&["march 1311"]);
        assert!(table.may("sail 1707") && !table.may("sail 1806"), "month {month}");
        // From the north edge two hexes of rapids and one of open water to Kerma, then seven to 0510: 2 + 2 + 8.
        let mut table = march("egyptian", month, &[("0500", "1 boat"), FAR], json!({}));
        table.play(&["march 0500"]);
        assert!(table.may("sail 0510") && !table.may("sail 0511"), "month {month}");
        // A steamer goes down from Merowe, not up, and one in the rapids stays there.
        let mut table = march("egyptian", month, &[("Merowe", "1 british_gunboat"), FAR], json!({}));
        table.play(&["march 1311"]);
        assert!(table.may("sail 1312") && !table.may("sail 1410"), "month {month}");
        let table = march("egyptian", month, &[("1608", "1 british_gunboat"), FAR], json!({}));
        assert!(!table.may("march 1608"), "month {month}");
    }
    // Up the Atbara, which is marked `none` too, six hexes from Ed Damer: 2718, 2818, 2819, 2919, 2920, 3021 or so.
    let mut table = march("mahdist", 3, &[("2617", "1 mahdist_boat"), ("0350", "1 mahdist_spearmen")], json!({}));
    table.play(&["march 2617"]);
    assert!(table.may("sail 3021") && !table.may("sail 3122"));
}

/// 8.7: an enemy land unit in a hex bars it, one on the other bank does not; both banks held close the river.
#[test]
fn holding_both_banks_closes_a_river() {
    let passes = |enemies: &[(&str, &str)]| {
        let mut table = march("egyptian", 3, &[&[("1543", "1 gunboat"), FAR], enemies].concat(), json!({}));
        table.play(&["march 1543"]);
        table.may("sail 1538")
    };
    // At 1440 on the left and 1540 on the right bank; 1439 and 1441 meet 1540 over the river.
    assert!(passes(&[]));
    assert!(passes(&[("1440", "9 mahdist_spearmen")]));
    assert!(passes(&[("1540", "9 mahdist_spearmen")]));
    assert!(!passes(&[("1440", "9 mahdist_spearmen"), ("1540", "1 mahdist_spearmen disrupted")]));
    // Sides never share a hex (6.2), so a boat bars it as well; train does too, being a land unit.
    let bars = |enemy: &str| {
        let stacks = [("1440", "1 mahdist_boat"), ("1439", enemy), ("0350", "1 mahdist_spearmen")];
        let mut table = march("mahdist", 3, &stacks, json!({}));
        table.play(&["march 1440"]);
        !table.may("sail 1439")
    };
    assert!(bars("1 boat") && bars("1 gunboat") && bars("1 camel") && !bars("graham"));
}

/// 8.7: one unit in a gunboat, two in a boat; landed units have marched.
#[test]
fn what_vessels_carry() {
    let mut table = march("egyptian", 3, &[("Khartoum", "3 rifle_r, 1 gunboat")], json!({}));
    table.play(&["march 1732", "march 1732 vessel", "load rifle_r", "sail 1731"]);
    assert_eq!(table.units("Halfaya"), "1 rifle_r, 1 gunboat");
    assert!(!table.may("march 1731"), "both have marched");
    let mut table = march("egyptian", 3, &[("Khartoum", "3 rifle_r, 1 boat")], json!({}));
    table.play(&["march 1732", "march 1732 vessel", "load rifle_r", "load rifle_r", "sail 1731"]);
    assert_eq!(table.units("Halfaya"), "2 rifle_r, 1 boat");
    let mut table = march("mahdist", 3, &[("1440", "3 mahdist_spearmen, 1 mahdist_boat")], json!({}));
    let two = ["load mahdist_spearmen", "load mahdist_spearmen", "sail 1439"];
    table.play(&["march 1440", "march 1440 vessel"]).play(&two);
    assert_eq!(table.units("1439"), "2 mahdist_spearmen, 1 mahdist_boat", "Mahdist boats are boats");
}

/// 8.7: leaders and the flag go free, supply needs no camel (8.6), and whoever is not fresh stays ashore.
#[test]
fn who_goes_aboard() {
    let stack =
        "1 british_infantry marched, 1 levy disrupted, 1 camel_corps, 1 supply, 1 flag, 1 gunboat, gordon, graham";
    let mut table = march("egyptian", 3, &[("Khartoum", stack), FAR], json!({}));
    table.play(&["march 1732", "march 1732 vessel"]);
    assert_eq!(table.legal(), ["load camel_corps", "load done", "load levy disrupted", "load supply"]);
    table.play(&["load supply", "load gordon yes", "load graham no", "load flag no", "sail 1631"]);
    assert_eq!(table.units("Omdurman"), "1 supply, 1 gunboat");
    assert_eq!((table.leader("gordon").as_str(), table.leader("graham").as_str()), ("1631", "1732"));
    // The flag is free too: the gunboat's one unit goes with it.
    let mut table = march("egyptian", 3, &[("Khartoum", stack), FAR], json!({}));
    let aboard = ["load camel_corps", "load gordon no", "load graham no", "load flag yes", "sail 1631"];
    table.play(&["march 1732", "march 1732 vessel"]).play(&aboard);
    assert_eq!(table.units("Omdurman"), "1 camel_corps, 1 gunboat, 1 flag");
    assert_eq!(table.controller("Omdurman"), Some("egyptian"), "6.3: a combat unit has ended its move there");
    // Landed with the camel corps marched, the flag marches no farther.
    assert!(!table.may("march 1631"));
}

/// 8.8: no roll, only where no enemy is, only the Egyptian player; supply needs no camel, and the group has marched.
#[test]
fn by_sea() {
    let mut table = march("egyptian", 3, &[("Souakim", "2 rifle_r, 1 supply"), FAR], json!({}));
    table.play(&["march 4606", "march 4606 choose", "take rifle_r 2", "take supply 1"]);
    // Without a camel it could go no other way, so nobody is asked (3.3).
    assert_eq!(table.units("Trinkitat"), "2 rifle_r, 1 supply");
    assert_eq!((table.controller("Trinkitat"), table.may("march 4910")), (Some("egyptian"), false));
    for enemy in ["1 mahdist_spearmen", "1 mahdist_spearmen disrupted", "1 mahdist_gun"] {
        let mut table = march("egyptian", 3, &[("Souakim", "2 rifle_r"), ("Trinkitat", enemy)], json!({}));
        table.play(&["march 4606", "march 4606 all"]);
        assert_eq!(table.waits(), "roll_march", "{enemy}");
    }
    let mut table = march("mahdist", 3, &[("Trinkitat", "2 mahdist_spearmen")], json!({}));
    table.play(&["march 4910", "march 4910 all"]);
    assert_eq!(table.waits(), "roll_march");
    // From Trinkitat back; not from anywhere else on the coast, and not after a march roll.
    let mut table = march("egyptian", 3, &[("Trinkitat", "1 rifle_r"), ("4608", "1 rifle_r"), FAR], json!({}));
    table.play(&["march 4910", "sea", "march 4608"]);
    assert_eq!((table.units("Souakim").as_str(), table.waits()), ("1 rifle_r", "roll_march"));
    let mut table = march("egyptian", 3, &[("Souakim", "1 rifle_r"), FAR], json!({}));
    table.play(&["march 4606", "roll"]).roll(3).play(&["to 4606"]);
    assert_eq!(table.legal(), ["halt", "roll"]);
}

/// 8.8: the fleet changes between the two ports once a phase, whoever holds them.
#[test]
fn the_fleet_changes_ports_once() {
    let stacks = [("Souakim", "1 rifle_r, 1 fleet"), ("Trinkitat", "1 mahdist_spearmen"), FAR];
    let mut table = march("egyptian", 3, &stacks, json!({}));
    table.play(&["march 4606", "march 4606 fleet"]);
    assert_eq!(table.units("Souakim"), "1 rifle_r");
    assert_eq!(table.units("Trinkitat"), "1 fleet, 1 mahdist_spearmen");
    assert!(!table.may("march 4910"));
}

/// 8.12: the boat becomes a Mahdist one, the gunboat goes to the nearest hex in its reach, to friends first.
#[test]
fn vessels_in_a_lost_hex() {
    // 1633 lies on the White Nile's left bank with 1533 west of it; Khartoum is over the river, one hex away, as 1632 is.
    let lose = |more: &[(&str, &str)]| {
        let stacks = [&[("1533", "2 mahdist_spearmen"), ("1633", "1 gunboat, 1 boat")], more].concat();
        let mut table = march("mahdist", 3, &stacks, json!({}));
        table.play(&["march 1533", "march 1533 all"]).roll(3).play(&["to 1633"]);
        assert_eq!(table.units("1633"), "2 mahdist_spearmen, 1 mahdist_boat");
        table
    };
    assert_eq!(lose(&[("Khartoum", "1 levy")]).units("Khartoum"), "1 levy, 1 gunboat");
    assert_eq!(lose(&[]).units("1632"), "1 gunboat", "13.3: the northernmost of those one hex away");
    // In the rapids a steamer has nowhere to go: it is destroyed, one of seven.
    let stacks = [("1609", "2 mahdist_spearmen"), ("1608", "1 gunboat"), ("0350", "1 mahdist_spearmen")];
    let mut table = march("mahdist", 3, &stacks, json!({}));
    table.play(&["march 1609", "march 1609 all"]).roll(3).play(&["to 1608"]);
    assert_eq!((table.units("1608").as_str(), table.0.available(Kind::Gunboat)), ("2 mahdist_spearmen", 6));
}
