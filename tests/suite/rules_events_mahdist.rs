//! Random events of the Mahdist (4.4): object present and absent, pool empty, what he may choose and what he must.

use dervish_env::dervish::catalogue::{Kind, Side};
use serde_json::json;

use crate::rules_events::{mahdist, rolled, rolled_with};
use crate::rules_table::Table;

#[test]
fn desertion() {
    let mut table = mahdist(11, &[("0842", "5 mahdist_spearmen")]);
    table.roll(3);
    assert_eq!(table.units("0842"), "2 mahdist_spearmen");
    // All, if fewer.
    let mut table = mahdist(11, &[("0842", "2 mahdist_spearmen"), ("Khartoum", "1 levy")]);
    table.roll(6);
    assert_eq!((table.units("0842").as_str(), table.0.eliminated(Side::Mahdist)), ("", 0));
    // A boat is no combat unit.
    let mut table = mahdist(11, &[("1633", "1 mahdist_spearmen, 1 mahdist_boat"), ("Khartoum", "1 levy")]);
    table.roll(6);
    assert_eq!(table.units("1633"), "1 mahdist_boat");
    // His choice.
    let mut table = mahdist(11, &[("0842", "1 mahdist_spearmen"), ("1042", "1 mahdist_rifles, 1 mahdist_gun")]);
    table.roll(1).play(&["desertion 1042", "desertion 1042 mahdist_gun"]);
    assert_eq!(
        (table.units("0842").as_str(), table.units("1042").as_str()),
        ("1 mahdist_spearmen", "1 mahdist_rifles")
    );
}

#[test]
fn religious_disagreement() {
    // 3406 is on the extension, 3306 beside it on the main map; Osman Digma is not there.
    let stacks = [("3306", "1 mahdist_spearmen"), ("3806", "1 mahdist_spearmen")];
    let mut table = mahdist(14, &stacks);
    let is_extension = |hex: &str| table.0.scenario().board.cell(table.hex(hex)).extension;
    assert!(is_extension("3406") && !is_extension("3306"));
    assert_eq!(table.legal(), ["march 3306", "march done"]);
    table.play(&["march 3306"]).roll(3);
    let extension: Vec<String> =
        table.legal().into_iter().filter(|to| table.0.scenario().board.cell(table.hex(&to[3..])).extension).collect();
    assert!(extension.is_empty(), "{extension:?}");
    assert!(table.may("to 3206"));
    // With him there, who is on the extension moves on it.
    let mut table = mahdist(14, &[("3306", "1 mahdist_spearmen"), ("3806", "1 mahdist_spearmen, osman_digma")]);
    while table.waits() == "roll_recruits" {
        table.roll(1);
    }
    assert!(table.may("march 3806"));
    // 13.7: attacks stay allowed, with the advance after them, also from the main map.
    let table = mahdist(14, &[("3806", "1 mahdist_spearmen"), ("3906", "1 rifle_r")]);
    assert!(table.may("march 3806"));
    let mut table = mahdist(14, &[("3306", "8 mahdist_spearmen"), ("3406", "1 levy")]);
    table.play(&["march 3306", "march 3306 all", "attack 3406"]).roll(12).roll(2).play(&["advance yes"]);
    assert_eq!(table.units("3406"), "8 mahdist_spearmen");
}

#[test]
fn boats() {
    let when = "el-obeid 1 mahdist event";
    // 1633 touches the White Nile above Khartoum; 0842 no river at all.
    let table = rolled(when, 21, &[("1633", "1 mahdist_spearmen"), ("0842", "1 mahdist_spearmen")]);
    assert_eq!(table.units("1633"), "1 mahdist_spearmen, 1 mahdist_boat");
    // A place of his, without units.
    let own = json!({"control": {"Omdurman": "mahdist"}});
    assert_eq!(rolled_with(when, 21, &[("0842", "1 mahdist_spearmen")], own).units("Omdurman"), "1 mahdist_boat");
    // A reach for boats that are hauled is not navigable (Abu Hamed); one for high Nile is, in January too (1727).
    let held = |hex: &str| rolled("el-obeid 4 mahdist event", 21, &[(hex, "1 mahdist_spearmen")]).units(hex);
    assert_eq!(held("Abu Hamed"), "1 mahdist_spearmen");
    assert_eq!(held("1727"), "1 mahdist_spearmen, 1 mahdist_boat");
    // 2.3: two boats.
    let table = rolled(when, 21, &[("1633", "1 mahdist_spearmen, 2 mahdist_boat")]);
    assert_eq!(table.units("1633"), "1 mahdist_spearmen, 2 mahdist_boat");
}

#[test]
fn rifles() {
    let when = "el-obeid 1 mahdist event";
    let table = rolled(when, 24, &[("0842", "2 mahdist_spearmen")]);
    assert_eq!(table.units("0842"), "1 mahdist_spearmen, 1 mahdist_rifles");
    assert_eq!(
        rolled(when, 24, &[("0842", "1 mahdist_spearmen disrupted")]).units("0842"),
        "1 mahdist_rifles disrupted"
    );
    // 2.3: all twelve are there.
    let table = rolled(when, 24, &[("0842", "2 mahdist_spearmen, 12 mahdist_rifles")]);
    assert_eq!(table.units("0842"), "2 mahdist_spearmen, 12 mahdist_rifles");
}

#[test]
fn gun_shortage() {
    assert_eq!(
        mahdist(34, &[("0842", "2 mahdist_spearmen, 2 mahdist_gun")]).units("0842"),
        "2 mahdist_spearmen, 1 mahdist_gun"
    );
}

#[test]
fn rifle_shortage() {
    let table = mahdist(64, &[("0842", "1 mahdist_rifles disrupted")]);
    assert_eq!(table.units("0842"), "1 mahdist_spearmen disrupted");
    // It is lost if no S is available (60, 2.3).
    let table = mahdist(64, &[("0842", "2 mahdist_rifles"), ("1042", "60 mahdist_spearmen")]);
    assert_eq!(table.units("0842"), "1 mahdist_rifles");
    assert_eq!(table.0.eliminated(Side::Mahdist), 0, "14.5");
}

/// 4.4 `ethiopia_war`: while it lasts nothing is removed from Goz Regeb, by whatever event; to turn is not to go.
#[test]
fn the_war_keeps_goz_regeb_as_it_is() {
    let event = |side: &str, d66: u16, garrison: &str, others: &[(&str, &str)]| {
        let stacks = [&[("Goz Regeb", garrison)], others].concat();
        let when = format!("khartoum 1 {side} event");
        rolled_with(&when, d66, &stacks, json!({"events": {"war": "now"}}))
    };
    let stays = |side: &str, d66: u16, garrison: &str, others: &[(&str, &str)]| {
        let table = event(side, d66, garrison, others);
        assert_ne!(table.waits(), "event_hex", "{side} {d66}");
        assert_eq!(table.units("Goz Regeb"), garrison, "{side} {d66}");
    };
    stays("mahdist", 11, "2 mahdist_spearmen", &[]);
    stays("mahdist", 34, "1 mahdist_gun", &[]);
    stays("mahdist", 64, "1 mahdist_rifles", &[("0842", "60 mahdist_spearmen")]);
    stays("egyptian", 34, "1 mahdist_spearmen", &[]);
    stays("mahdist", 44, "1 levy", &[("3429", "1 mahdist_spearmen")]);
    assert_eq!(event("mahdist", 64, "1 mahdist_rifles", &[]).units("Goz Regeb"), "1 mahdist_spearmen");
    // 13.7: it may attack and advance.
    let now = json!({"events": {"war": "now"}});
    let stacks = [("Goz Regeb", "8 mahdist_spearmen"), ("3429", "1 levy")];
    let mut table = Table::set("khartoum 1 mahdist march", &stacks, now);
    table.play(&["march 3529", "march 3529 all"]);
    assert_eq!(table.waits(), "roll_melee_marching", "there is nothing to do but to attack");
    table.roll(12).roll(2).play(&["advance yes"]);
    assert_eq!(table.units("3429"), "8 mahdist_spearmen");
    // It may retreat, over the Atbara: 7 - 2 + 1 for the village = 6, shaken, N = 2: all four are lost or disrupted.
    let now = json!({"events": {"war": "now"}});
    let stacks = [("3429", "2 mahdist_spearmen"), ("Goz Regeb", "4 rifle_l")];
    let mut table = Table::set("khartoum 1 mahdist march", &stacks, now);
    table.play(&["march 3429", "march 3429 all", "attack 3529"]).roll(12).roll(12).roll(7);
    assert_eq!(table.waits(), "retreat_hex");
}

#[test]
fn ethiopia_war() {
    // 4406 is on the extension, Goz Regeb keeps its own: only 0842 is asked.
    let stacks = [("0842", "5 mahdist_spearmen"), ("4406", "2 mahdist_spearmen"), ("Goz Regeb", "2 mahdist_spearmen")];
    let mut table = mahdist(21, &stacks);
    table.roll(4);
    assert_eq!((table.units("0842").as_str(), table.0.eliminated(Side::Mahdist)), ("1 mahdist_spearmen", 0));
    assert_eq!(table.units("4406"), "2 mahdist_spearmen");
    assert_eq!(table.units("Goz Regeb"), "2 mahdist_spearmen");
    while table.waits() == "roll_recruits" {
        table.roll(1);
    }
    assert!(table.may("march 0842") && !table.may("march 3529"), "{:?}", table.legal());
    // Once per game.
    let over = json!({"events": {"war": "over"}});
    let table = rolled_with("khartoum 1 mahdist event", 21, &stacks, over);
    assert_ne!(table.waits(), "roll_event_dice");
    // Neither side moves out.
    let now = json!({"events": {"war": "now"}});
    let table = Table::set("khartoum 1 egyptian march", &[("Goz Regeb", "2 rifle_r"), ("0842", "1 rifle_r")], now);
    assert_eq!(table.legal(), ["march 0842", "march done"]);
}

#[test]
fn ethiopia_peace() {
    let peace = |stacks: &[(&str, &str)]| {
        rolled_with("khartoum 1 mahdist event", 24, stacks, json!({"events": {"war": "now"}}))
    };
    // 1-3: nothing more.
    let mut table = peace(&[("0842", "1 mahdist_spearmen")]);
    table.roll(3);
    assert_ne!(table.waits(), "roll_event_dice");
    assert_eq!(table.units("Goz Regeb"), "");
    assert_eq!(table.0.events().war, dervish_env::dervish::campaign::War::Over);
    // 4-6: 2D6 units, one of them rifles.
    let mut table = peace(&[("0842", "1 mahdist_spearmen")]);
    table.roll(4).roll(7);
    assert_eq!(table.units("Goz Regeb"), "6 mahdist_spearmen, 1 mahdist_rifles");
    assert_eq!(table.controller("Goz Regeb"), Some("mahdist"));
    // 2.3: no rifles are left, the others come.
    let mut table = peace(&[("0842", "12 mahdist_rifles")]);
    table.roll(4).roll(7);
    assert_eq!(table.units("Goz Regeb"), "6 mahdist_spearmen");
    // An enemy there: one adjacent hex. As far as available: 60 - 58 S.
    let stacks = [("0842", "58 mahdist_spearmen"), ("Goz Regeb", "1 levy"), ("3428", "1 levy")];
    let mut table = peace(&stacks);
    table.roll(6).roll(12);
    assert!(!table.may("ethiopia_peace 3428"), "an enemy is there too");
    assert_eq!((table.waits(), table.decider()), ("event_hex", Some("mahdist")));
    table.play(&["ethiopia_peace 3429"]);
    assert_eq!(table.units("3429"), "2 mahdist_spearmen, 1 mahdist_rifles");
    // 6.2: a leader who is alone there is found.
    let mut table = peace(&[("0842", "1 mahdist_spearmen"), ("Goz Regeb", "graham")]);
    table.roll(4).roll(7);
    assert_eq!(
        (table.units("Goz Regeb").as_str(), table.waits()),
        ("6 mahdist_spearmen, 1 mahdist_rifles", "roll_escape")
    );
    // Without a war there is none.
    assert_ne!(mahdist(24, &[("0842", "1 mahdist_spearmen")]).waits(), "roll_event_die");
}

#[test]
fn poor_communications() {
    let stacks = [("0842", "2 mahdist_spearmen"), ("1042", "2 mahdist_spearmen, nejumi")];
    let mut table = mahdist(31, &stacks);
    while table.waits() == "roll_recruits" {
        table.roll(1);
    }
    assert_eq!(table.legal(), ["march 1042", "march done"]);
    // 13.7: the others may attack, and advance.
    let table = mahdist(31, &[("0842", "2 mahdist_spearmen"), ("0942", "1 levy")]);
    assert_eq!(table.legal(), ["march 0842", "march done"]);
    // Leaders march, with a group or alone.
    let mut table = mahdist(31, &[("0842", "2 mahdist_spearmen, nejumi"), ("1242", "mahdi")]);
    while table.waits() == "roll_recruits" {
        table.roll(1);
    }
    assert_eq!(table.legal(), ["march 0842", "march 1242", "march done"]);
    table.play(&["march 0842"]);
    assert!(table.may("march 0842 alone") && table.may("march 0842 all"));
    // No vessel without a leader either.
    let table = mahdist(31, &[("1633", "1 mahdist_spearmen, 1 mahdist_boat")]);
    assert!(!table.may("march 1633"));
}

#[test]
fn religious_fervour() {
    let mut table = mahdist(41, &[("0842", "9 mahdist_spearmen")]);
    table.play(&["march 0842", "march 0842 all"]);
    assert_eq!(table.0.march_modifier(), 1);
    table.roll(3).play(&["to 0642", "halt"]);
    // Nobody else may march: the supply phase is there, and the bonus is where the group is.
    if table.waits() == "march_hex" {
        table.play(&["march done"]);
    }
    assert_eq!(table.waits(), "roll_attrition");
    assert_eq!(table.0.attrition_modifier(table.hex("0642")), 1);
    // If none marched, it is in the named hex.
    let mut table = mahdist(41, &[("0842", "9 mahdist_spearmen")]);
    table.play(&["march done"]);
    assert_eq!(table.0.attrition_modifier(table.hex("0842")), 1);
}

/// 4.4: "where that group then is", if it attacks in a later pick and advances. Units that have marched and stay behind
/// keep the bonus, fresh ones do not.
#[test]
fn religious_fervour_goes_with_a_later_pick() {
    let modifiers = |fresh: &[(&str, &str)], orders: &[&str]| {
        let stacks = [&[("0842", "9 mahdist_spearmen"), ("0542", "1 levy")], fresh].concat();
        let mut table = mahdist(41, &stacks);
        if table.waits() == "event_hex" {
            table.play(&["religious_fervour 0842"]);
        }
        table.play(&["march 0842", "march 0842 all"]).roll(3).play(&["to 0642", "halt", "march 0642"]).play(orders);
        table.roll(12).roll(2).play(&["advance yes"]);
        if table.waits() == "march_hex" {
            table.play(&["march done"]);
        }
        ["0642", "0542"].map(|hex| table.0.attrition_modifier(table.hex(hex)))
    };
    assert_eq!(modifiers(&[], &["march 0642 unfought"]), [0, 1]);
    assert_eq!(modifiers(&[], &["march 0642 choose", "take mahdist_spearmen marched 8"]), [1, 0]);
    let marched_only = ["march 0642 choose", "take mahdist_spearmen 0", "take mahdist_spearmen marched 9"];
    assert_eq!(modifiers(&[("0642", "7 mahdist_spearmen")], &marched_only), [0, 1]);
}

#[test]
fn garrison_surrenders() {
    // El Obeid (0349) besieged from 0449: two levies, three rifles, one gun and one cavalry.
    let stacks = [
        ("El Obeid", "2 levy, 1 rifle_r, 2 rifle_l, 1 egyptian_gun, 1 egyptian_cavalry, 1 supply"),
        ("0449", "1 mahdist_spearmen"),
    ];
    let table = mahdist(44, &stacks);
    assert_eq!(table.units("El Obeid"), "2 mahdist_spearmen, 3 mahdist_rifles, 1 mahdist_cavalry, 1 mahdist_gun");
    assert_eq!(table.0.eliminated(Side::Egyptian), 7, "14.5");
    assert_eq!(table.controller("El Obeid"), Some("mahdist"));
    // S where the weapon lacks: six guns are there already.
    let table = mahdist(44, &[("El Obeid", "1 egyptian_gun"), ("0449", "1 mahdist_spearmen, 6 mahdist_gun")]);
    assert_eq!(table.units("El Obeid"), "1 mahdist_spearmen");
    // Not in Khartoum, not with British or Indian units, not unbesieged, not in Souakim (6.4).
    for stacks in [
        [("Khartoum", "1 levy"), ("1832", "1 mahdist_spearmen")],
        [("El Obeid", "1 levy, 1 indian_infantry"), ("0449", "1 mahdist_spearmen")],
        [("El Obeid", "1 levy"), ("0449", "1 mahdist_spearmen disrupted")],
        [("Souakim", "1 levy"), ("4506", "1 mahdist_spearmen")],
    ] {
        assert!(mahdist(44, &stacks).units(stacks[0].0).starts_with("1 levy"), "{stacks:?}");
    }
    // 6.4: it is Mahdists who never besiege Souakim; Egyptians may.
    let stacks = [("Souakim", "1 mahdist_spearmen"), ("4506", "1 levy")];
    let held = Table::set("khartoum 1 mahdist event", &stacks, json!({}));
    assert!(held.0.besieged(held.hex("Souakim"), Side::Mahdist));
    // A village is besieged in the same way.
    let table = mahdist(44, &[("Kawa", "1 levy"), ("1645", "1 mahdist_spearmen")]);
    assert_eq!(table.units("Kawa"), "1 mahdist_spearmen");
    // Of two the Mahdist names one, and must.
    let two =
        [("El Obeid", "1 levy"), ("0449", "1 mahdist_spearmen"), ("Duem", "1 levy"), ("1542", "1 mahdist_spearmen")];
    let table = mahdist(44, &two);
    assert_eq!(table.legal(), ["garrison_surrenders 0349", "garrison_surrenders 1543"]);
    assert_eq!(table.decider(), Some("mahdist"));
    // In good order. Train and flag are lost, the boat changes hands, the gunboat leaves (8.12) for the first of the
    // nearest free hexes, over the river; the leader rolls (6.2).
    let duem = "1 levy disrupted, 1 supply, 1 camel, 1 gunboat, 1 boat, 1 flag, hicks";
    let mut table = mahdist(44, &[("Duem", duem), ("1542", "1 mahdist_spearmen"), ("Khartoum", "1 levy")]);
    assert_eq!(table.units("Duem"), "1 mahdist_spearmen, 1 mahdist_boat");
    assert_eq!((table.units("1642").as_str(), table.waits()), ("1 gunboat", "roll_escape"));
    table.roll(4);
    assert_eq!((table.leader("hicks").as_str(), table.0.eliminated(Side::Egyptian)), ("1732", 1));
}

#[test]
fn locals_declare() {
    let mut table = mahdist(51, &[("0842", "1 mahdist_spearmen"), ("El Obeid", "1 levy")]);
    table.roll(5);
    assert!(table.may("locals_declare 0446") && table.may("locals_declare 0351"), "Bara, a town, and Shekan, an oasis");
    assert!(!table.may("locals_declare 0553"), "Er Rahad is a village");
    assert!(!table.may("locals_declare 0349"), "an enemy is in El Obeid");
    table.play(&["locals_declare 0446", "locals_declare 0446 3", "locals_declare 0351"]);
    assert!(table.may("locals_declare 0351 2") && !table.may("locals_declare 0351 3"), "five in all");
    table.play(&["locals_declare 0351 1", "locals_declare done"]);
    assert_eq!(
        (table.units("Bara").as_str(), table.units("Shekan").as_str()),
        ("3 mahdist_spearmen", "1 mahdist_spearmen")
    );
    // 6.2, 6.3: a leader alone there is found, and the place is his who declares. He may stop when he likes.
    let stacks = [("0842", "1 mahdist_spearmen"), ("Shekan", "graham"), ("El Obeid", "1 levy")];
    let mut table = mahdist(51, &stacks);
    table.roll(9).play(&["locals_declare 0351", "locals_declare 0351 1"]);
    assert_eq!((table.waits(), table.controller("Shekan")), ("roll_escape", Some("mahdist")));
    table.roll(4);
    assert_eq!((table.leader("graham").as_str(), table.waits()), ("0349", "event_hex"));
    table.play(&["locals_declare done"]);
    assert_eq!(table.0.units().on_map(Kind::MahdistSpearmen), 2);
    // Enemy vessels are no bar, for the event asks for a place without enemy land units: they leave (8.12).
    let mut table = mahdist(51, &[("0842", "1 mahdist_spearmen"), ("Berber", "1 gunboat")]);
    table.roll(3).play(&["locals_declare 2614", "locals_declare 2614 1", "locals_declare done"]);
    assert_eq!((table.units("Berber").as_str(), table.0.units().on_map(Kind::Gunboat)), ("1 mahdist_spearmen", 1));
    // 2.3: no S left, no event.
    assert_ne!(mahdist(51, &[("0842", "60 mahdist_spearmen")]).waits(), "roll_event_dice");
}
