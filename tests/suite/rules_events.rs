//! Random events (4): the Egyptian player's (4.3), those of both, and what holds for all (4.2, 3.2): object present and
//! absent, month in and out of season, pool empty, place off the map.

use dervish_env::dervish::catalogue::{Kind, Side};
use dervish_env::dervish::tables::AttritionRow;
use serde_json::json;

use crate::rules_table::Table;

/// An Egyptian event phase of scenario 2 in February 1884 (a winter month), after the roll.
fn egyptian(d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled("khartoum 1 egyptian event", d66, stacks)
}

/// The same for the Mahdist.
pub fn mahdist(d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled("khartoum 1 mahdist event", d66, stacks)
}

/// An event phase after the roll.
pub fn rolled(when: &str, d66: u16, stacks: &[(&str, &str)]) -> Table {
    rolled_with(when, d66, stacks, json!({}))
}

/// The same of a position with more than stacks.
pub fn rolled_with(when: &str, d66: u16, stacks: &[(&str, &str)], more: serde_json::Value) -> Table {
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
    // Nor does scenario 4 know Souakim, where the navy lands.
    let navy = rolled("kordofan 1 egyptian event", 14, &[("Bara", "1 rifle_r")]);
    assert_eq!(navy.0.units().on_map(Kind::NavalInfantry), 0);
}

/// 4.3: to the end of the game turn, in the tests of combat and recovery (11.1: L holds on a 6, R fails).
#[test]
fn poor_morale() {
    let mut table = rolled("el-obeid 1 egyptian event", 11, &[("El Obeid", "1 rifle_l")]);
    assert!(table.0.events().poor_morale);
    while table.0.game_turn() == 0 {
        table.play(&["march done"]);
    }
    assert!(!table.0.events().poor_morale);
    for (poor_morale, left) in [(false, "1 rifle_l disrupted"), (true, "")] {
        let events = json!({"events": {"poor_morale": poor_morale}});
        let mut table = Table::set("el-obeid 1 egyptian recovery", &[("0842", "1 rifle_l disrupted")], events);
        table.roll(6);
        assert_eq!(table.units("0842"), left);
    }
}

/// 3.2: what is said of "this turn" ends with the player turn.
#[test]
fn events_of_a_turn_end_with_it() {
    // Dry weather in March, religious disagreement, poor communications, a named hex.
    let stacks = [("0842", "1 rifle_r"), ("1242", "1 mahdist_spearmen, nejumi")];
    for (side, d66) in [("egyptian", 51), ("mahdist", 14), ("mahdist", 31), ("egyptian", 41), ("mahdist", 41)] {
        let mut table = rolled(&format!("khartoum 2 {side} event"), d66, &stacks);
        let before = *table.0.events();
        while table.waits() == "roll_recruits" {
            table.roll(1);
        }
        table.play(&["march done"]);
        assert_eq!(table.waits(), "roll_event");
        let mut after = *table.0.events();
        assert_ne!(before, after, "{side} {d66}");
        after.war = before.war;
        assert_eq!(after, dervish_env::dervish::campaign::EventState::NONE, "{side} {d66}");
    }
}

#[test]
fn navy() {
    let when = "el-obeid 1 egyptian event";
    assert_eq!(rolled(when, 14, &[("Souakim", "1 rifle_r")]).units("Souakim"), "1 rifle_r, 1 naval_infantry, 1 fleet");
    // One that is on the map stays where it is.
    let there = rolled(when, 14, &[("Souakim", "1 rifle_r"), ("4506", "1 naval_infantry disrupted")]);
    assert_eq!(there.units("Souakim"), "1 rifle_r, 1 fleet");
    assert_eq!(there.units("4506"), "1 naval_infantry disrupted");
    let off = rolled(when, 14, &[("Souakim", "1 rifle_r"), ("Trinkitat", "1 fleet")]);
    assert_eq!(off.units("Souakim"), "1 rifle_r, 1 naval_infantry");
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
    // What is on the map stays there, and of the infantry four of fourteen counters are free (2.3).
    let table = egyptian(14, &[("Souakim", "4 rifle_r"), ("0842", "10 british_infantry, 1 naval_infantry")]);
    assert_eq!(
        table.units("Souakim"),
        "4 rifle_r, 4 british_infantry, 2 british_cavalry, 1 british_gun, 3 supply, 2 camel"
    );
    assert_eq!(table.units("0842"), "10 british_infantry, 1 naval_infantry");
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
    // 6.2, 6.3: it takes a Souakim that nobody holds, and finds a leader who is alone there.
    let table = egyptian(14, &[("Khartoum", "1 levy"), ("Souakim", "osman_digma"), ("0842", "1 mahdist_spearmen")]);
    assert_eq!((table.waits(), table.controller("Souakim")), ("roll_escape", Some("egyptian")));
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
    assert_eq!(table.leader("graham"), "4606");
    // 13.9: the last British unit of the first is gone, so it is in play no more.
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let mut table = Table::set("khartoum 1 mahdist recovery", &[("Souakim", "1 rifle_r")], in_play);
    assert!(!table.0.events().in_play);
    table.roll(61);
    assert_eq!(table.0.events().field_forces, 2);
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
    // Indians are British here (1.1). Train is asked about, other leaders and the British elsewhere stay, and the flag
    // does not outlast them (12.1). Nobody is eliminated (14.5).
    let stacks = [
        ("Souakim", "1 camel, 1 indian_infantry, baker"),
        ("4506", "1 british_infantry, 1 flag"),
        ("0842", "1 british_infantry, graham"),
    ];
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let mut table = rolled_with("khartoum 1 egyptian event", 21, &stacks, in_play);
    table.play(&["leave 4606 no"]);
    assert_eq!(["Souakim", "4506", "0842"].map(|hex| table.units(hex)), ["1 camel", "", "1 british_infantry"]);
    assert_eq!(["baker", "graham"].map(|leader| table.leader(leader)), ["4606", "0842"]);
    assert_eq!(table.0.eliminated(Side::Egyptian), 0);
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
    // 5.1: Khartoum that the enemy holds is not besieged, whoever is near, and nothing comes; one that nobody holds
    // is no less Khartoum.
    let stacks = [("Khartoum", "1 mahdist_spearmen"), ("1832", "1 mahdist_gun"), ("Duem", "1 levy")];
    assert_eq!(rolled(when, 21, &stacks).0.units().on_map(Kind::Supply), 0);
    assert_eq!(rolled(when, 21, &[("Duem", "1 levy")]).units("Khartoum"), "1 supply, 1 camel");
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
    // He names the kind as well; a British one is out for as many turns as the dice show.
    let mut table = egyptian(24, &[("Khartoum", "1 levy, 1 gunboat, 1 british_gunboat")]);
    table.play(&["gunboat_sinks 1732 british_gunboat"]).roll(5);
    assert_eq!((table.units("Khartoum").as_str(), table.0.available(Kind::BritishGunboat)), ("1 levy, 1 gunboat", 1));
    // A 5 in turn 1: out until turn 6.
    let out = json!([{"kind": "british_gunboat", "hex": "1732", "returns": 6}]);
    assert_eq!(table.field("gunboats_out"), out);
    // Then it comes to the nearest town of his: 2224 is one hex from 2223.
    let out = json!({"gunboats_out": [{"kind": "gunboat", "hex": "2223", "returns": 6}]});
    let stacks = [("Khartoum", "1 levy"), ("Metemmeh", "1 levy")];
    assert_eq!(Table::set("khartoum 5 egyptian reinforcement", &stacks, out.clone()).units("Metemmeh"), "1 levy");
    let back = Table::set("khartoum 6 egyptian reinforcement", &stacks, out.clone());
    assert_eq!(back.units("Metemmeh"), "1 levy, 1 gunboat");
    // Without a town it waits, and El Obeid is no river town, nor Omdurman a town.
    let waits = Table::set("khartoum 6 egyptian reinforcement", &[("0842", "1 levy")], out.clone());
    assert_eq!(waits.0.available(Kind::Gunboat), 6);
    let stacks = [("El Obeid", "1 levy"), ("Omdurman", "1 levy")];
    assert_eq!(Table::set("khartoum 6 egyptian reinforcement", &stacks, out).0.units().on_map(Kind::Gunboat), 0);
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
    // A boat is lost with them, and he may let them be.
    let mut table = egyptian(34, &[("1633", "1 mahdist_spearmen, 1 mahdist_boat")]);
    table.play(&["dissension 1633"]);
    assert_eq!(table.units("1633"), "1 levy");
    // 6.3: the levies hold the place.
    let mut table = egyptian(34, &[("Bara", "1 mahdist_spearmen")]);
    table.play(&["dissension 0446"]);
    assert_eq!(table.controller("Bara"), Some("egyptian"));
    let mut table = egyptian(34, &[("0842", "3 mahdist_spearmen")]);
    table.play(&["dissension done"]);
    assert_eq!(table.units("0842"), "3 mahdist_spearmen");
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
    let mut table = egyptian(44, &[("Khartoum", "1 rifle_r")]);
    table.play(&["training done"]);
    assert_eq!(table.units("Khartoum"), "1 rifle_r");
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
    // 12.1: the flag is not chosen, but goes with the last combat unit.
    let table = egyptian(64, &[("Khartoum", "1 british_infantry, 1 flag, 1 civilian")]);
    assert_eq!(table.units("Khartoum"), "1 civilian");
}
