//! Random events (4): object present and absent, month in and out of season, pool empty, place off the map.

use dervish_env::dervish::catalogue::{Kind, Side};
use dervish_env::dervish::tables::AttritionRow;
use serde_json::json;

use crate::rules_table::Table;

/// An Egyptian event phase of scenario 2 in February 1884 (a winter month), after the roll.
fn egyptian(d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled("khartoum 1 egyptian event", d66, stacks)
}

/// The same for the Mahdist.
fn mahdist(d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled("khartoum 1 mahdist event", d66, stacks)
}

fn rolled(when: &str, d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled_with(when, d66, stacks, json!({}))
}

fn rolled_with(when: &str, d66: u16, stacks: &[(&str, &str)], more: serde_json::Value) -> Table {
    let mut table = Table::set(when, stacks, more);
    table.roll(d66);
    table
}

/// 4.2: a place outside the scenario's map, or nobody to whom it could happen.
#[test]
fn events_about_places_off_the_map_are_none() {
    // Scenario 3 knows neither Khartoum nor Goz Regeb.
    let stacks = [("Souakim", "4 rifle_r"), ("4506", "3 mahdist_spearmen")];
    assert_ne!(rolled("souakim 1 egyptian event", 64, &stacks).waits(), "event_line");
    let war = rolled("souakim 1 mahdist event", 21, &stacks);
    assert_eq!(war.units("4506"), "3 mahdist_spearmen");
    assert_eq!(war.0.events().war, dervish_env::dervish::campaign::War::Never);
    // Scenario 4 has no Khartoum for the supply of 4.3.
    assert_eq!(rolled("kordofan 1 egyptian event", 21, &[("Bara", "1 rifle_r")]).units("Bara"), "1 rifle_r");
    // No gunboat, no gun, no rifles on the map.
    assert_ne!(egyptian(24, &[("Khartoum", "1 levy")]).waits(), "roll_gunboat");
    assert_ne!(mahdist(34, &[("0842", "1 mahdist_spearmen")]).waits(), "event_line");
    assert_eq!(mahdist(64, &[("0842", "1 mahdist_spearmen")]).units("0842"), "1 mahdist_spearmen");
}

#[test]
fn navy() {
    let when = "el-obeid 1 egyptian event";
    assert_eq!(rolled(when, 14, &[("Souakim", "1 rifle_r")]).units("Souakim"), "1 rifle_r, 1 naval_infantry, 1 fleet");
    // One that is on the map stays where it is.
    let there = rolled(when, 14, &[("Souakim", "1 rifle_r"), ("4506", "1 naval_infantry disrupted")]);
    assert_eq!(there.units("Souakim"), "1 rifle_r, 1 fleet");
    assert_eq!(there.units("4506"), "1 naval_infantry disrupted");
    // 5.1: not while the enemy controls the place.
    let held = rolled_with(when, 14, &[("Bara", "1 rifle_r")], json!({"control": {"Souakim": "mahdist"}}));
    assert_eq!(held.units("Souakim"), "");
    assert_eq!(held.controller("Souakim"), Some("mahdist"));
}

#[test]
fn field_force() {
    // 2.5: the first force, and the supply unit of each month with a force in play.
    let first = "4 rifle_r, 6 british_infantry, 2 british_cavalry, 1 naval_infantry, 1 british_gun, 3 supply, 2 camel";
    let table = egyptian(14, &[("Souakim", "4 rifle_r")]);
    assert_eq!(table.units("Souakim"), first);
    assert_eq!(table.leader("graham"), "4606");
    assert!(table.0.events().in_play);
    // The second relieves the first: own kind and good order; the Naval infantry by an Indian infantry. What remains of
    // 7, 2, 2, 4 and 1 lands: 5, 2, 2, 3 and 1.
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let stacks = [("Souakim", "1 rifle_r"), ("4506", "2 british_infantry disrupted, 1 naval_infantry, graham")];
    let mut table = rolled_with("khartoum 1 egyptian event", 14, &stacks, in_play.clone());
    table.play(&["field_force_leaves no"]);
    assert_eq!(table.units("4506"), "2 british_infantry, 1 indian_infantry");
    assert_eq!(
        table.units("Souakim"),
        "1 rifle_r, 5 british_infantry, 2 british_cavalry, 2 british_gun, 3 indian_infantry, 1 indian_cavalry, \
         5 supply, 4 camel"
    );
    assert_eq!(table.leader("graham"), "4506");
    // 13.6: of fourteen 7 are relieved by British and 4 by Indian infantry; for 3 nobody is left, and they stay.
    let stacks = [("Souakim", "1 rifle_r"), ("4506", "14 british_infantry disrupted")];
    let mut table = rolled_with("khartoum 1 egyptian event", 14, &stacks, in_play);
    table.play(&["field_force_leaves no"]);
    assert_eq!(table.units("4506"), "7 british_infantry, 3 british_infantry disrupted, 4 indian_infantry");
    // From the third time on there is none, and none if the Mahdist controls Souakim.
    let third = json!({"events": {"field_forces": 2}});
    let table = rolled_with("khartoum 1 egyptian event", 14, &[("Souakim", "1 rifle_r")], third);
    assert_eq!(table.units("Souakim"), "1 rifle_r");
    let held = json!({"control": {"Souakim": "mahdist"}});
    let table = rolled_with("khartoum 1 egyptian event", 14, &[("Khartoum", "1 rifle_r")], held);
    assert_eq!((table.units("Souakim").as_str(), table.0.events().field_forces), ("", 0));
}

#[test]
fn field_force_again() {
    let stacks = [("Souakim", "1 british_infantry")];
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let mut table = rolled_with("khartoum 1 egyptian event", 61, &stacks, in_play);
    table.play(&["field_force_leaves no"]);
    assert_eq!(table.0.events().field_forces, 1);
    // The first has left: the second lands, beside a British unit that is there already.
    let left = json!({"events": {"field_forces": 1}});
    let table = rolled_with("khartoum 1 egyptian event", 61, &[("Souakim", "1 rifle_r")], left);
    assert_eq!(table.0.events().field_forces, 2);
    assert!(table.units("Souakim").contains("7 british_infantry"), "{}", table.units("Souakim"));
}

#[test]
fn field_force_leaves() {
    let stacks = [
        ("Souakim", "4 rifle_r, 1 british_gun, 1 fleet"),
        ("4506", "2 british_infantry, graham"),
        ("Berber", "1 british_infantry"),
    ];
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let mut table = rolled_with("khartoum 1 egyptian event", 21, &stacks, in_play.clone());
    // 13.3: Souakim (row 06) is asked about before Berber (row 14).
    table.play(&["leave 4606 no", "leave 2614 yes"]);
    assert_eq!(table.units("Souakim"), "4 rifle_r, 1 fleet");
    assert_eq!((table.units("4506"), table.units("Berber")), (String::new(), String::new()));
    assert_eq!(table.leader("graham"), "away");
    // Of his own will, after any event.
    let mut table = rolled_with("khartoum 1 egyptian event", 54, &stacks, in_play);
    table.play(&["field_force_leaves yes", "leave 4606 yes", "leave 2614 no"]);
    assert_eq!((table.units("Souakim").as_str(), table.units("Berber").as_str()), ("1 fleet", "1 british_infantry"));
    // No event if no force is in play.
    assert_eq!(egyptian(21, &stacks).units("4506"), "2 british_infantry");
}

#[test]
fn supply() {
    let when = "el-obeid 1 egyptian event";
    assert_eq!(rolled(when, 21, &[("Khartoum", "1 levy")]).units("Khartoum"), "1 levy, 1 supply, 1 camel");
    // 1832 is adjacent to Khartoum, across the Blue Nile.
    let mut table = rolled(
        when,
        21,
        &[("Khartoum", "1 levy"), ("Duem", "1 levy"), ("Berber", "1 levy"), ("1832", "1 mahdist_gun")],
    );
    assert_eq!(table.legal(), ["supply 1543", "supply 2614"]);
    table.play(&["supply 1543"]);
    assert_eq!(table.units("Duem"), "1 levy, 1 supply, 1 camel");
    // 2.3: eight supply counters; the camel comes alone.
    let table = rolled(when, 21, &[("Khartoum", "1 levy, 8 supply")]);
    assert_eq!(table.units("Khartoum"), "1 levy, 8 supply, 1 camel");
}

#[test]
fn gunboat_sinks() {
    // 9.11: doubles destroy it: 7 less 1 on the map less 1 lost.
    let mut table = egyptian(24, &[("Khartoum", "1 levy, 2 gunboat")]);
    assert_eq!(table.waits(), "roll_gunboat");
    table.roll(0);
    assert_eq!((table.units("Khartoum").as_str(), table.0.available(Kind::Gunboat)), ("1 levy, 1 gunboat", 5));
    // The Mahdist names it.
    let table = egyptian(24, &[("Khartoum", "1 levy, 2 gunboat"), ("Metemmeh", "1 gunboat")]);
    assert_eq!(table.decider(), Some("mahdist"));
    // A 5 in turn 1: out until turn 6, when it comes to the nearest town of his: 2224 is one hex from 2223.
    let out = json!({"gunboats_out": [{"kind": "gunboat", "hex": "2223", "returns": 6}]});
    let stacks = [("Khartoum", "1 levy"), ("Metemmeh", "1 levy")];
    assert_eq!(Table::set("khartoum 5 egyptian reinforcement", &stacks, out.clone()).units("Metemmeh"), "1 levy");
    let back = Table::set("khartoum 6 egyptian reinforcement", &stacks, out.clone());
    assert_eq!(back.units("Metemmeh"), "1 levy, 1 gunboat");
    // Without a town it waits.
    let waits = Table::set("khartoum 6 egyptian reinforcement", &[("0842", "1 levy")], out);
    assert_eq!(waits.0.available(Kind::Gunboat), 6);
}

#[test]
fn spoilt_biscuits() {
    // 1726 is desert: three units would roll. The spent unit feeds its own stack, and only that.
    let mut table = egyptian(31, &[("2726", "3 rifle_r, 1 supply"), ("0930", "3 rifle_r")]);
    table.play(&["march done"]);
    assert_eq!(table.units("2726"), "3 rifle_r");
    assert_eq!((table.waits(), table.0.pending().hex), ("roll_attrition", table.hex("0930")));
    // Nothing to spend.
    let mut table = egyptian(31, &[("2726", "3 rifle_r")]);
    table.play(&["march done"]);
    assert_eq!(table.waits(), "roll_attrition");
}

#[test]
fn dissension() {
    let mut table = egyptian(34, &[("0842", "3 mahdist_spearmen disrupted")]);
    assert_eq!(table.legal(), ["dissension 0842", "dissension done"]);
    table.play(&["dissension 0842"]);
    assert_eq!(table.units("0842"), "3 levy");
    assert_eq!(table.0.eliminated(Side::Mahdist), 0, "14.5: an event eliminates nobody");
    // 2.3: one of fourteen levies is left.
    let mut table = egyptian(34, &[("0842", "3 mahdist_spearmen"), ("Khartoum", "13 levy")]);
    table.play(&["dissension 0842"]);
    assert_eq!(table.units("0842"), "1 levy");
    // A leader, or a fourth unit, and there is no object.
    assert_ne!(egyptian(34, &[("0842", "3 mahdist_spearmen, mahdi")]).waits(), "event_hex");
    assert_ne!(egyptian(34, &[("0842", "4 mahdist_spearmen")]).waits(), "event_hex");
}

#[test]
fn urgency() {
    let mut table = egyptian(41, &[("0842", "2 rifle_r")]);
    table.play(&["march 0842", "march 0842 choose", "take rifle_r 1"]);
    assert_eq!(table.0.march_modifier(), 1);
    // On all its rolls: 1 - 1 for the second.
    table.roll(3).play(&["to 0742", "roll"]);
    assert_eq!(table.0.march_modifier(), 0);
    // The second group from there has nothing of it.
    table.roll(3).play(&["to 0642", "halt", "march 0842"]);
    assert_eq!(table.0.march_modifier(), 0);
}

#[test]
fn training() {
    let mut table = egyptian(44, &[("Khartoum", "1 levy disrupted")]);
    assert!(table.may("training done"));
    table.play(&["training 1732"]);
    assert_eq!(table.units("Khartoum"), "1 rifle_r disrupted");
    let mut table = egyptian(44, &[("Khartoum", "1 rifle_r")]);
    table.play(&["training 1732"]);
    assert_eq!(table.units("Khartoum"), "1 rifle_l");
    // 2.3: no rifle R and no rifle L left.
    let full = [("Khartoum", "1 levy"), ("Berber", "26 rifle_r"), ("Duem", "14 rifle_l")];
    assert_ne!(egyptian(44, &full).waits(), "event_hex");
}

#[test]
fn dry_weather() {
    // Handub (4506) is an oasis in the desert of the extension.
    let stacks = [("4506", "5 rifle_r"), ("4406", "5 mahdist_spearmen")];
    let february = egyptian(51, &stacks);
    assert_eq!(february.0.attrition_row(february.hex("4506")), AttritionRow::BesiegedPlace);
    assert_eq!(february.0.attrition_modifier(february.hex("4506")), 0);
    // March: -1 and the extension's -1 from March on.
    let march = rolled("khartoum 2 egyptian event", 51, &stacks);
    assert_eq!(march.0.attrition_row(march.hex("4506")), AttritionRow::Desert);
    assert_eq!(march.0.attrition_modifier(march.hex("4506")), -2);
    let march = rolled("khartoum 2 mahdist event", 54, &stacks);
    assert_eq!(march.0.attrition_modifier(march.hex("4406")), -2);
    assert!(!mahdist(54, &stacks).0.events().dry_weather);
}

#[test]
fn good_harvest() {
    let stacks = [("0842", "9 rifle_r"), ("1042", "9 mahdist_spearmen")];
    let february = egyptian(54, &stacks);
    assert_eq!(february.0.attrition_modifier(february.hex("0842")), 1);
    let march = rolled("khartoum 2 egyptian event", 54, &stacks);
    assert_eq!(march.0.attrition_modifier(march.hex("0842")), 0);
    let february = mahdist(61, &stacks);
    assert_eq!(february.0.attrition_modifier(february.hex("1042")), 1);
    assert!(!rolled("khartoum 2 mahdist event", 61, &stacks).0.events().good_harvest);
}

#[test]
fn el_obeid_shortage() {
    let when = "el-obeid 1 egyptian event";
    let mut table = rolled(when, 61, &[("El Obeid", "1 civilian, 2 rifle_l, 1 egyptian_gun disrupted")]);
    assert_eq!(table.decider(), Some("egyptian"));
    assert_eq!(table.legal(), ["el_obeid_shortage 0349 egyptian_gun disrupted", "el_obeid_shortage 0349 rifle_l"]);
    table.play(&["el_obeid_shortage 0349 rifle_l"]);
    assert_eq!(table.units("El Obeid"), "1 rifle_l, 1 egyptian_gun disrupted, 1 civilian");
    assert_eq!(table.0.eliminated(Side::Egyptian), 0);
    // Whoever holds it: the owner chooses.
    let table = rolled(when, 61, &[("El Obeid", "2 mahdist_spearmen, 1 mahdist_gun, mahdi")]);
    assert_eq!((table.waits(), table.decider()), ("event_line", Some("mahdist")));
    // Civilians stay.
    assert_eq!(rolled(when, 61, &[("El Obeid", "1 civilian")]).units("El Obeid"), "1 civilian");
}

#[test]
fn khartoum_shortage() {
    // One line only: it goes without a question; gunboats and civilians do not count.
    let table = egyptian(64, &[("Khartoum", "2 rifle_l, 1 civilian, 3 gunboat, gordon")]);
    assert_eq!(table.units("Khartoum"), "1 rifle_l, 1 civilian, 3 gunboat");
    assert_eq!(egyptian(64, &[("Khartoum", "1 civilian, 3 gunboat")]).units("Khartoum"), "1 civilian, 3 gunboat");
}

#[test]
fn desertion() {
    let mut table = mahdist(11, &[("0842", "5 mahdist_spearmen")]);
    table.roll(3);
    assert_eq!(table.units("0842"), "2 mahdist_spearmen");
    // All, if fewer.
    let mut table = mahdist(11, &[("0842", "2 mahdist_spearmen"), ("Khartoum", "1 levy")]);
    table.roll(6);
    assert_eq!((table.units("0842").as_str(), table.0.eliminated(Side::Mahdist)), ("", 0));
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
    // 3306 is on the extension, 3206 on the main map; Osman Digma is not there.
    let stacks = [("3206", "1 mahdist_spearmen"), ("3806", "1 mahdist_spearmen")];
    let mut table = mahdist(14, &stacks);
    assert_eq!(table.legal(), ["march 3206", "march done"]);
    table.play(&["march 3206"]).roll(3);
    let extension: Vec<String> =
        table.legal().into_iter().filter(|to| table.0.scenario().board.cell(table.hex(&to[3..])).extension).collect();
    assert!(extension.is_empty(), "{extension:?}");
    assert!(table.may("to 3106"));
    // With him there, who is on the extension moves on it.
    let mut table = mahdist(14, &[("3206", "1 mahdist_spearmen"), ("3806", "1 mahdist_spearmen, osman_digma")]);
    while table.waits() == "roll_recruits" {
        table.roll(1);
    }
    assert!(table.may("march 3806"));
    // Attacks stay allowed.
    let table = mahdist(14, &[("3806", "1 mahdist_spearmen"), ("3906", "1 rifle_r")]);
    assert!(table.may("march 3806"));
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
    // 2.3: two boats.
    let table = rolled(when, 21, &[("1633", "1 mahdist_spearmen, 2 mahdist_boat")]);
    assert_eq!(table.units("1633"), "1 mahdist_spearmen, 2 mahdist_boat");
}

#[test]
fn rifles() {
    let when = "el-obeid 1 mahdist event";
    let table = rolled(when, 24, &[("0842", "2 mahdist_spearmen")]);
    assert_eq!(table.units("0842"), "1 mahdist_spearmen, 1 mahdist_rifles");
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
}

#[test]
fn ethiopia_war() {
    // 4406 is on the extension, Goz Regeb keeps its own: only 0842 is asked.
    let stacks = [("0842", "5 mahdist_spearmen"), ("4406", "2 mahdist_spearmen"), ("Goz Regeb", "2 mahdist_spearmen")];
    let mut table = mahdist(21, &stacks);
    table.roll(4);
    assert_eq!(table.units("0842"), "1 mahdist_spearmen");
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
    assert_eq!(table.units("Goz Regeb"), "");
    assert_eq!(table.0.events().war, dervish_env::dervish::campaign::War::Over);
    // 4-6: 2D6 units, one of them rifles.
    let mut table = peace(&[("0842", "1 mahdist_spearmen")]);
    table.roll(4).roll(7);
    assert_eq!(table.units("Goz Regeb"), "6 mahdist_spearmen, 1 mahdist_rifles");
    assert_eq!(table.controller("Goz Regeb"), Some("mahdist"));
    // An enemy there: one adjacent hex. As far as available: 60 - 58 S.
    let mut table = peace(&[("0842", "58 mahdist_spearmen"), ("Goz Regeb", "1 levy")]);
    table.roll(6).roll(12);
    assert_eq!((table.waits(), table.decider()), ("event_hex", Some("mahdist")));
    table.play(&["ethiopia_peace 3429"]);
    assert_eq!(table.units("3429"), "2 mahdist_spearmen, 1 mahdist_rifles");
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
    // A village is besieged in the same way.
    let table = mahdist(44, &[("Kawa", "1 levy"), ("1645", "1 mahdist_spearmen")]);
    assert_eq!(table.units("Kawa"), "1 mahdist_spearmen");
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
    // 2.3: no S left, no event.
    assert_ne!(mahdist(51, &[("0842", "60 mahdist_spearmen")]).waits(), "roll_event_dice");
}
