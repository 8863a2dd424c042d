//! Combat on the map: who attacks (8.4, 8.5), who takes part (9.1), retreat, spoils, advance (9.9-9.13).

use dervish_env::dervish::board::{PlaceKind, Relief};
use dervish_env::dervish::catalogue::{Kind, Side};
use dervish_env::dervish::rules::combat::CombatHex;
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
    // A gunboat fires from the attacking hex and from the attacked one. 1542 and Duem (1543) lie on one bank.
    let mut table = march("egyptian", &[("1542", "2 levy, 1 gunboat"), ("Duem", "1 mahdist_spearmen")]);
    table.play(&["march 1542", "march 1542 all", "attack 1543"]);
    assert_eq!(table.waits(), "roll_fire_defending");
    let mut table = march("mahdist", &[("1542", "2 mahdist_spearmen"), ("Duem", "1 levy, 1 gunboat, 1 boat")]);
    table.play(&["march 1542", "march 1542 all", "attack 1543"]);
    assert_eq!(table.waits(), "roll_fire_marching");
    // Vessels alone are not attacked: there is only a march.
    let mut table = march("mahdist", &[("1542", "2 mahdist_spearmen"), ("Duem", "1 gunboat")]);
    table.play(&["march 1542", "march 1542 all"]);
    assert_eq!(table.waits(), "roll_march");
}

/// 9.4, 7.2: ground, place, rivers and sea of both hexes.
#[test]
fn the_ground_of_a_combat() {
    let ground = |from: &str, target: &str| {
        let mut table = march("mahdist", &[(from, "2 mahdist_spearmen"), (target, "1 levy")]);
        let (from, target) = (table.hex(from), table.hex(target));
        table.play(&[&format!("march {from}"), &format!("march {from} all"), &format!("attack {target}")]);
        let combat = table.0.combat();
        (combat.from, combat.target)
    };
    // Handub (4506) is an oasis, Souakim a town by the sea.
    let (handub, souakim) = ground("4506", "Souakim");
    assert_eq!(handub.place, Some(PlaceKind::Oasis));
    let by_the_sea = CombatHex { place: Some(PlaceKind::Town), sea: true, ..CombatHex::OPEN };
    assert_eq!(souakim, by_the_sea);
    // 4208 is a mountain, Sinkat (4308) lies in hills; the Atbara runs along Goz Regeb (3529).
    let (mountain, sinkat) = ground("4208", "Sinkat");
    assert_eq!((mountain.relief, sinkat.relief), (Relief::Mountain, Relief::Hills));
    assert!(ground("3429", "Goz Regeb").1.river && !ground("0842", "0942").1.river);
}

/// 2.2, 9.2: of several leaders the best counts; on the marching side he must be with the group.
#[test]
fn the_best_leader_with_the_units_counts() {
    // Tactical ratings: Graham 2, Wolseley 1; Abdullahi 1, Nejumi 2.
    let stacks = [("0842", "2 rifle_r, graham, wolseley"), ("0942", "2 mahdist_spearmen, abdullahi, nejumi")];
    let ratings = |orders: &[&str]| {
        let mut table = march("egyptian", &stacks);
        table.play(orders);
        let combat = table.0.combat();
        (combat.marching.tactical, combat.defending.tactical)
    };
    assert_eq!(ratings(&["march 0842", "march 0842 all", "attack 0942"]), (2, 2));
    let without_graham =
        ["march 0842", "march 0842 choose", "take rifle_r 2", "take graham no", "take wolseley yes", "attack 0942"];
    assert_eq!(ratings(&without_graham), (1, 2));
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
    assert_eq!(table.0.available(Kind::RifleR), 26, "2.3: back in the pool");
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

/// 9.10: the defending winner takes spoils as well, prisoners count, a draw gives nothing.
#[test]
fn who_takes_spoils() {
    // A 2 in melee with N = 9: the rifles (R) and the gun (L) fail and are destroyed.
    let mut table = march("egyptian", &[("0842", "3 rifle_r, 1 egyptian_gun"), ("0942", "9 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(2).roll(12);
    assert_eq!(table.units("0942"), "8 mahdist_spearmen, 1 mahdist_rifles, 1 mahdist_gun");
    // 2.3: without counters there is nothing to take.
    let full = ("1642", "6 mahdist_gun, 12 mahdist_rifles");
    let stacks = [("0842", "3 rifle_r, 1 egyptian_gun"), ("0942", "9 mahdist_spearmen"), full];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(12).roll(2).roll(12);
    assert_eq!(table.units("0942"), "9 mahdist_spearmen");
    // Two rifles destroyed and two taken prisoner are four: one S is rearmed.
    let table = broken_defender(&[("1042", "1 mahdist_spearmen")]);
    assert_eq!(table.units("0842"), "1 mahdist_spearmen, 1 mahdist_rifles");
    // Under fire 7 - 1 for the gun = 6, shaken, N = 1: two of four are lost. The gun fails in melee: both are broken.
    let mut table = march("mahdist", &[("0842", "4 mahdist_spearmen"), ("0942", "1 egyptian_gun")]);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(7).roll(12).roll(2);
    assert_eq!(table.units("0842"), "2 mahdist_spearmen, 1 mahdist_spearmen disrupted");
    // 9.9: no enemy combat unit is left, so he may advance after a draw too.
    assert_eq!((table.units("0942").as_str(), table.waits()), ("", "advance"));
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
    // 6.2: with no stack to go to he is taken, whatever he rolls.
    let mut table = march("mahdist", &stacks[..2]);
    table.play(&["march 0842", "march 0842 all", "attack 0942", "leader unused"]).roll(12).roll(12).roll(2);
    table.play(&["advance no"]).roll(6);
    assert_eq!(table.leader("hicks"), "lost");
    // 9.9: he goes along on a retreat, and is not of the prisoners: he rolls.
    let lose = |others: &[(&str, &str)]| {
        let stacks = [("0842", "2 mahdist_spearmen"), ("0942", "4 rifle_l, hicks"), ("1642", "1 rifle_r")];
        let mut table = march("mahdist", &[&stacks, others].concat());
        table.play(&["march 0842", "march 0842 all", "attack 0942", "leader unused"]).roll(12).roll(12).roll(7);
        table
    };
    assert_eq!(lose(&[]).play(&["retreat 1142"]).leader("hicks"), "1142");
    let mut table = lose(&[("1042", "1 mahdist_spearmen")]);
    assert_eq!((table.units("0942").as_str(), table.waits()), ("", "advance"));
    table.play(&["advance yes"]).roll(4);
    assert_eq!(table.leader("hicks"), "1642");
    // Units that stayed out of the attack keep him.
    let mut table =
        march("egyptian", &[("0842", "1 rifle_r, 1 levy disrupted, graham"), ("0942", "9 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all_good", "attack 0942", "leader unused"]).roll(12).roll(2).roll(12);
    assert_ne!(table.waits(), "roll_escape");
    assert_eq!(table.leader("graham"), "0842");
    // A stack is all that stands in the hex (1.7): he need not have joined the group.
    let stacks = [("0842", "1 rifle_r, graham"), ("0942", "9 mahdist_spearmen"), ("1642", "1 rifle_r")];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0842", "march 0842 choose", "take graham no", "attack 0942"]).roll(12).roll(2).roll(12);
    assert_eq!(table.waits(), "roll_escape");
    table.roll(3);
    assert_eq!(table.leader("graham"), "lost");
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

/// 9.9: the marching loser goes back the way he came, from 1042 to beyond 0942; a march roll with which he stayed where he was
/// does not open other ways.
#[test]
fn a_roll_that_moves_nobody_is_no_way_back() {
    let beaten = |stays: bool| {
        let stacks = [("0942", "12 mahdist_spearmen"), ("1142", "6 british_infantry")];
        let mut table = march("mahdist", &stacks);
        table.play(&["march 0942", "march 0942 all"]).roll(4).play(&["to 1042"]);
        if stays {
            table.play(&["roll"]).roll(4).play(&["to 1042"]);
        }
        table.play(&["attack 1142"]).roll(12).roll(4).roll(12);
        table.legal()
    };
    let back = ["0841", "0842", "0843"].map(|hex| format!("retreat {hex}"));
    assert_eq!(beaten(false), back);
    assert_eq!(beaten(true), back);
}

/// 9.9: one hex where there is no second, here at the map's edge with the two ways on barred (a disrupted unit stops
/// nobody, 13.8, but nobody retreats into its hex, 13.5).
#[test]
fn a_retreat_of_one_hex() {
    let barred = "1 mahdist_spearmen disrupted";
    let stacks = [("0242", "2 mahdist_spearmen"), ("0142", "4 rifle_l"), ("0040", barred), ("0044", barred)];
    let mut table = march("mahdist", &stacks);
    table.play(&["march 0242", "march 0242 all", "attack 0142"]).roll(12).roll(12).roll(7);
    assert_eq!(table.legal(), ["retreat 0041", "retreat 0042", "retreat 0043"]);
}

/// 6.3: a retreat takes control of the place where it ends, here Bara (0446), two hexes behind.
#[test]
fn a_retreat_takes_control() {
    let stacks = [("0746", "2 mahdist_spearmen"), ("0646", "4 rifle_l")];
    let mut table = Table::set("khartoum 2 mahdist march", &stacks, json!({"control": {"Bara": "mahdist"}}));
    table.play(&["march 0746", "march 0746 all", "attack 0646"]).roll(12).roll(12).roll(7);
    table.play(&["retreat 0446"]);
    assert_eq!(table.controller("Bara"), Some("egyptian"));
}

/// 9.9, 8.3: over a river only with means. East of 1645 runs the White Nile; 1746, on the same bank, is barred.
#[test]
fn no_retreat_over_a_river_without_means() {
    let lose = |defenders: &str| {
        let stacks = [("1545", "2 mahdist_spearmen"), ("1645", defenders), ("1746", "1 mahdist_spearmen disrupted")];
        let mut table = march("mahdist", &stacks);
        table.play(&["march 1545", "march 1545 all", "attack 1645"]).roll(12).roll(12).roll(7);
        table
    };
    let taken = lose("4 rifle_l");
    assert_eq!((taken.units("1645").as_str(), taken.0.eliminated(Side::Egyptian)), ("", 4));
    assert_eq!(lose("4 rifle_l, 1 boat").waits(), "retreat_hex");
}

/// 9.9: "back the way it came": the last move began in 0642, two hexes behind.
#[test]
fn a_marching_loser_goes_back_the_way_it_came() {
    let mut table = march("mahdist", &[("0642", "4 mahdist_spearmen"), ("0942", "4 british_infantry")]);
    table.play(&["march 0642", "march 0642 all"]).roll(3).play(&["to 0842", "attack 0942"]);
    // 9 - 1 - 1 = 7, hold: all four disrupted.
    table.roll(9).roll(12).roll(12);
    assert_eq!((table.units("0842").as_str(), table.units("0642").as_str()), ("", "4 mahdist_spearmen disrupted"));
}

/// 13.5, 13.4: train bars a retreat like any unit; a leader alone does not, he is found and rolls (6.2).
#[test]
fn retreat_into_a_hex_with_train_or_a_leader() {
    // 9 - 1 for veterans - 1 for eight factors = 7, hold: N = 4 disrupts all four.
    let stacks = [("0842", "4 british_infantry"), ("0942", "4 mahdist_spearmen"), ("1142", "1 camel")];
    let mut table = march("egyptian", &stacks);
    table.play(&["march 0842", "march 0842 all", "attack 0942"]).roll(9).roll(12).roll(12);
    assert_eq!(table.legal(), ["1040", "1041", "1043", "1044"].map(|hex| format!("retreat {hex}")));
    for (die, place) in [(4, "0842"), (3, "lost")] {
        let mut table = broken_defender(&[("1142", "mahdi")]);
        table.play(&["retreat 1142"]);
        assert_eq!((table.units("1142").as_str(), table.waits()), ("2 rifle_l disrupted", "roll_escape"));
        table.roll(die);
        assert_eq!(table.leader("mahdi"), place);
    }
}

/// 8.12, 9.13: vessels go before the group comes, so not into the hex that it leaves. 1542 and Duem (1543) lie on the left
/// bank of the White Nile; over the river are 1642 and 1643, upstream on the left bank is 1644.
#[test]
fn vessels_flee_before_an_advance() {
    let advance = |others: &[(&str, &str)]| {
        let stacks = [("1542", "8 mahdist_spearmen"), ("Duem", "1 levy, 1 gunboat, 1 boat")];
        let mut table = march("mahdist", &[&stacks, others].concat());
        table.play(&["march 1542", "march 1542 all", "attack 1543"]).roll(12).roll(12).roll(2);
        assert_eq!(table.units("Duem"), "1 gunboat, 1 boat");
        table.play(&["advance yes"]);
        assert_eq!(table.units("Duem"), "8 mahdist_spearmen, 1 mahdist_boat");
        assert_eq!(table.controller("Duem"), Some("mahdist"), "6.3");
        table
    };
    // Of the nearest the first in order (13.3).
    let fled = advance(&[]);
    assert_eq!((fled.units("1542").as_str(), fled.units("1642").as_str()), ("", "1 gunboat"));
    // A friendly stack goes before.
    assert_eq!(advance(&[("1643", "1 levy")]).units("1643"), "1 levy, 1 gunboat");
    // With no way out it is destroyed: one of seven.
    let around = ["1642", "1643", "1644"].map(|hex| (hex, "1 mahdist_spearmen"));
    assert_eq!(advance(&around).0.available(Kind::Gunboat), 6);
}

/// 9.9, 6.2: who advances after a draw takes the train that is left. The spearmen: 6 + 1 for 2:1 = 7, hold, N = 1: all are
/// disrupted. The others: 8 - 2 for the charge = 6, shaken, N = 1: the levy destroyed, a supply unit disrupted, two of four.
#[test]
fn train_is_taken_by_an_advance() {
    let mut table = march("mahdist", &[("0842", "1 mahdist_spearmen"), ("0942", "1 levy, 3 supply")]);
    table.play(&["march 0842", "attack 0942"]).roll(6).roll(8);
    assert_eq!((table.units("0942").as_str(), table.waits()), ("2 supply, 1 supply disrupted", "advance"));
    table.play(&["advance yes"]);
    assert_eq!(table.units("0942"), "1 mahdist_spearmen disrupted");
    assert_eq!(table.0.eliminated(Side::Egyptian), 1, "14.5: the levy");
}

/// 8.12, 2.3: of captured boats the Mahdist keeps one, if a counter is free, the Egyptian player none.
#[test]
fn captured_boats() {
    let boats = |marching: (&str, &str), target: &str, other: (&str, &str)| {
        let side = if marching.1.contains("mahdist") { "mahdist" } else { "egyptian" };
        let mut table = march(side, &[marching, ("Duem", target), other]);
        table.play(&["march 1542", "march 1542 all", "attack 1543"]).roll(12).roll(2).play(&["advance yes"]);
        table.units("Duem")
    };
    let mahdists = ("1542", "8 mahdist_spearmen");
    assert_eq!(boats(mahdists, "1 levy, 3 boat", ("0842", "1 levy")), "8 mahdist_spearmen, 1 mahdist_boat");
    assert_eq!(boats(mahdists, "1 levy, 3 boat", ("1633", "2 mahdist_boat")), "8 mahdist_spearmen");
    assert_eq!(boats(("1542", "8 levy"), "1 mahdist_spearmen, 1 mahdist_boat", ("0842", "1 levy")), "8 levy");
}

/// 9.11, 9.13: a gunboat that is hit rolls after the spoils and before the advance. The marching
/// side: 12 - 1 for eight factors - 1 for the gun - 1 for the gunboat by the river = 9, steady, half of N = 3: one disrupted.
/// The other: 2 + 1 for fanatics + 2 for the town = 5, shaken by N = 4: three rifles and the gunboat are destroyed.
#[test]
fn a_gunboat_hit_in_combat_rolls() {
    let stacks = [("1542", "4 mahdist_rifles, 4 mahdist_spearmen"), ("Duem", "3 rifle_l, 1 gunboat")];
    let mut table = march("mahdist", &stacks);
    table.play(&["march 1542", "march 1542 all", "attack 1543"]).roll(12).roll(2);
    assert_eq!((table.waits(), table.units("Duem").as_str()), ("roll_gunboat", ""));
    assert_eq!(table.0.pending().hex, table.hex("Duem"));
    // 9.10: one S is rearmed for the three rifles.
    assert_eq!(table.units("1542"), "2 mahdist_spearmen, 1 mahdist_spearmen disrupted, 5 mahdist_rifles");
    table.roll(7);
    assert_eq!((table.waits(), table.0.available(Kind::Gunboat)), ("advance", 6));
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
    // He stays though nobody is left who could keep him from advancing. He: 3 + 3 for 4:1 = 6, shaken by N = 1, two of two
    // lost. They: 8 - 2 for the charge = 6, shaken by N = 2: the levy and a supply unit destroyed, two disrupted, four of nine.
    let stacks = [("0446", "2 mahdist_spearmen"), ("0546", "1 levy, 8 supply")];
    let mut table = march("mahdist", &stacks);
    table.play(&["march 0446", "march 0446 all", "attack 0546"]).roll(3).roll(8);
    assert_ne!(table.waits(), "advance");
    assert_eq!(table.units("Bara"), "1 mahdist_spearmen disrupted");
    assert_eq!(table.units("0546"), "5 supply, 2 supply disrupted");
}

/// 8.5: Khartoum lies where the two Niles meet, and no hexside but that to 1733, south of it, is free of a river.
#[test]
fn khartoum_is_attacked_from_the_south_alone() {
    for (hex, may) in
        [("1631", false), ("1632", false), ("1731", false), ("1733", true), ("1831", false), ("1832", false)]
    {
        let stacks = [(hex, "5 mahdist_spearmen"), ("Khartoum", "3 rifle_l")];
        let control = json!({"control": {"Khartoum": "egyptian"}});
        let mut table = Table::set("khartoum 3 mahdist march", &stacks, control);
        table.play(&[&format!("march {hex}"), &format!("march {hex} all")]);
        assert_eq!(table.may("attack 1732"), may, "{hex}");
    }
}
