//! Reinforcements (5), field forces by the calendar (2.6), the railway (8.9) and the flag (12).

use dervish_env::dervish::catalogue::Kind;
use serde_json::json;

use crate::rules_table::Table;

/// 2.4: December 1883, the fifteenth month of scenario 1: one rifle L and one rifle R at Souakim.
#[test]
fn reinforcements_wait_for_their_place() {
    let when = "el-obeid 15 egyptian reinforcement";
    let come = Table::set(when, &[("Souakim", "1 levy")], json!({}));
    assert_eq!(come.units("Souakim"), "1 levy, 1 rifle_r, 1 rifle_l");
    // 5.1, 13.5: not where the enemy stands, nor where he controls the place; a besieged place takes them.
    let held = json!({"control": {"Souakim": "mahdist"}});
    assert_eq!(Table::set(when, &[("Bara", "1 levy")], held).units("Souakim"), "");
    let taken = Table::set(when, &[("Bara", "1 levy"), ("Souakim", "1 mahdist_spearmen")], json!({}));
    assert_eq!(taken.units("Souakim"), "1 mahdist_spearmen");
    let besieged = Table::set(when, &[("Souakim", "1 levy"), ("4506", "3 mahdist_spearmen")], json!({}));
    assert_eq!(besieged.units("Souakim"), "1 levy, 1 rifle_r, 1 rifle_l");
    // What has waited comes with that of the next month, in good order, and may march at once.
    let late = json!({"arrived": [1, 2, 3, 4, 5, 6]});
    let table = Table::set("el-obeid 16 egyptian reinforcement", &[("Souakim", "1 levy disrupted")], late);
    let all = "1 levy disrupted, 4 rifle_r, 1 rifle_l, 1 egyptian_cavalry, 1 fleet";
    assert_eq!((table.units("Souakim").as_str(), table.leader("baker").as_str()), (all, "4606"));
    assert!(table.may("march 4606"));
    // 6.3: a place that nobody holds is theirs.
    assert_eq!(Table::set(when, &[("Bara", "1 levy")], json!({})).controller("Souakim"), Some("egyptian"));
}

/// 5.1, 2.5: of the two hexes at the north edge one takes all that comes in the month, the leader too.
#[test]
fn one_hex_for_all_units_of_the_month() {
    // October 1884, the ninth month.
    let when = "khartoum 9 egyptian reinforcement";
    let mut table = Table::set(when, &[("Khartoum", "1 levy")], json!({}));
    assert_eq!(table.legal(), ["arrive 0500", "arrive 0600"]);
    table.play(&["arrive 0600"]);
    let force = "2 british_infantry, 1 british_gun, 2 supply, 2 camel";
    assert_eq!((table.units("0600").as_str(), table.leader("wolseley").as_str()), (force, "0600"));
    // 13.5: where the enemy stands nothing arrives.
    let table = Table::set(when, &[("Khartoum", "1 levy"), ("0600", "1 mahdist_spearmen")], json!({}));
    assert_eq!(table.units("0500"), force);
    // 13.4, 6.2: a leader alone does not bar them, he is found.
    let mut table = Table::set(when, &[("Khartoum", "1 levy"), ("0600", "mahdi")], json!({}));
    table.play(&["arrive 0600"]);
    assert_eq!((table.units("0600").as_str(), table.waits()), (force, "roll_escape"));
}

/// 2.4: Abdullahi comes to any Mahdist stack; without one he waits. 2.3: a lost leader never comes.
#[test]
fn leaders_come_once() {
    let when = "el-obeid 9 mahdist reinforcement";
    let stacks = [("0842", "1 mahdist_spearmen"), ("1242", "1 mahdist_spearmen"), ("Bara", "1 levy")];
    let mut table = Table::set(when, &stacks, json!({}));
    assert_eq!(table.legal(), ["arrive 0842", "arrive 1242"]);
    table.play(&["arrive 1242"]);
    assert_eq!(table.leader("abdullahi"), "1242");
    assert_eq!(Table::set(when, &[("Bara", "1 levy")], json!({})).leader("abdullahi"), "away");
    for (more, hicks) in [(json!({}), "4606"), (json!({"lost_leaders": ["hicks"]}), "lost")] {
        let table = Table::set("el-obeid 5 egyptian reinforcement", &[("Souakim", "1 levy")], more);
        assert_eq!(
            (table.units("Souakim").as_str(), table.leader("hicks").as_str()),
            ("2 levy, 1 egyptian_cavalry", hicks)
        );
    }
}

/// 2.3: all 26 rifles R are on the map.
#[test]
fn units_without_a_counter_are_lost() {
    let stacks = [("Souakim", "1 levy"), ("Khartoum", "26 rifle_r")];
    let table = Table::set("el-obeid 15 egyptian reinforcement", &stacks, json!({}));
    assert_eq!(table.units("Souakim"), "1 levy, 1 rifle_l");
}

/// 2.6: it lands in March, the second month, and leaves in May, the fourth.
#[test]
fn the_field_force_of_scenario_3_keeps_its_months() {
    let march = Table::set("souakim 2 egyptian reinforcement", &[("Souakim", "1 rifle_r")], json!({}));
    assert!(march.units("Souakim").contains("6 british_infantry, 2 british_cavalry, 1 naval_infantry, 1 british_gun"));
    let in_play = json!({"events": {"field_forces": 1, "in_play": true}});
    let stacks = [("Souakim", "1 rifle_r"), ("4506", "3 british_infantry, graham")];
    let may = Table::set("souakim 4 egyptian reinforcement", &stacks, in_play);
    assert_eq!((may.units("4506").as_str(), may.leader("graham").as_str()), ("", "away"));
    // An event may bring it at another time, or the second, which does not leave with May.
    let mut april = Table::set("souakim 3 egyptian event", &[("Souakim", "1 rifle_r")], json!({}));
    april.roll(14);
    assert!(april.units("Souakim").contains("6 british_infantry"), "{}", april.units("Souakim"));
    let second = json!({"events": {"field_forces": 2, "in_play": true}});
    assert_eq!(Table::set("souakim 4 egyptian reinforcement", &stacks, second).units("4506"), "3 british_infantry");
}

/// 5.2.
#[test]
fn recruits_are_the_die_less_three() {
    let gain = |hex: &str, stack: &str, die: u16, others: &[(&str, &str)]| {
        let mut table = Table::set("khartoum 2 mahdist reinforcement", &[&[(hex, stack)], others].concat(), json!({}));
        assert_eq!(table.waits(), "roll_recruits");
        table.roll(die);
        table.units(hex)
    };
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 3, &[]), "1 mahdist_spearmen");
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 1, &[]), "1 mahdist_spearmen");
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 6, &[]), "4 mahdist_spearmen");
    assert_eq!(gain("0842", "1 mahdist_spearmen, mahdi", 2, &[]), "2 mahdist_spearmen", "+1 for the Mahdi");
    // +1 for a town, +1 for the Mahdi, whatever the die lacks.
    assert_eq!(gain("El Obeid", "1 mahdist_spearmen, mahdi", 1, &[]), "3 mahdist_spearmen");
    assert_eq!(gain("El Obeid", "1 mahdist_spearmen", 5, &[]), "4 mahdist_spearmen");
    assert_eq!(gain("Er Rahad", "1 mahdist_spearmen", 5, &[]), "3 mahdist_spearmen", "a village is no town");
    // Next to British or Indian units nobody gathers; next to Egyptians they do.
    let british = [("0942", "1 british_infantry")];
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 6, &british), "1 mahdist_spearmen");
    let indian = [("0942", "1 indian_cavalry")];
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 6, &indian), "1 mahdist_spearmen");
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 6, &[("0942", "1 rifle_r")]), "4 mahdist_spearmen");
    // 2.3: one of sixty is left.
    let pool = [("1850", "58 mahdist_spearmen")];
    assert_eq!(gain("0842", "1 mahdist_spearmen, nejumi", 6, &pool), "2 mahdist_spearmen");
}

/// The numbers of 5.2 are the scenario's: in scenario 1 the die less 4, 1 for the Mahdi, nothing for a town.
#[test]
fn recruits_by_the_numbers_of_scenario_1() {
    let gain = |stack: &str, die: u16| {
        let mut table = Table::set("el-obeid 2 mahdist reinforcement", &[("El Obeid", stack)], json!({}));
        table.roll(die);
        table.units("El Obeid")
    };
    assert_eq!(gain("1 mahdist_spearmen", 4), "1 mahdist_spearmen");
    assert_eq!(gain("1 mahdist_spearmen", 6), "3 mahdist_spearmen");
    assert_eq!(gain("1 mahdist_spearmen, mahdi", 4), "2 mahdist_spearmen");
}

/// 5.2: where he recruits, in which order, and where the recruits appear.
#[test]
fn districts_that_recruit() {
    let when = "khartoum 2 mahdist reinforcement";
    // A village that he controls is enough, an oasis is not.
    let held = |place: &str| {
        let control = json!({"control": {place: "mahdist"}});
        Table::set(when, &[("4406", "1 mahdist_spearmen")], control).waits()
    };
    assert_eq!((held("Er Rahad"), held("Shekan")), ("roll_recruits", "march_hex"));
    // In the order of the map file: Kordofan, then the White Nile.
    let stacks = [("0842", "1 mahdist_spearmen, nejumi"), ("1542", "1 mahdist_spearmen, mahdi")];
    let mut table = Table::set(when, &stacks, json!({}));
    let mut districts = Vec::new();
    while table.waits() == "roll_recruits" {
        let district = usize::from(table.0.pending().subject);
        districts.push(table.0.scenario().board.districts[district].as_str());
        table.roll(1);
    }
    assert_eq!(districts, ["kordofan", "white_nile"]);
    // A place that he controls will do: 6 - 3, and 1 for the town.
    let control = json!({"control": {"Bara": "mahdist"}});
    let mut table = Table::set(when, &[("4406", "1 mahdist_spearmen")], control);
    table.roll(6);
    assert_eq!(table.units("Bara"), "4 mahdist_spearmen");
    // 6.2: an enemy leader alone there is found.
    let control = json!({"control": {"Bara": "mahdist"}});
    let mut table = Table::set(when, &[("4406", "1 mahdist_spearmen"), ("Bara", "graham")], control);
    table.roll(6);
    assert_eq!((table.units("Bara").as_str(), table.waits()), ("4 mahdist_spearmen", "roll_escape"));
    // A leader alone draws them, but there is no hex for them: they are lost.
    let mut table = Table::set(when, &[("0842", "nejumi"), ("4406", "1 mahdist_spearmen")], json!({}));
    table.roll(6);
    assert_eq!(table.0.units().on_map(Kind::MahdistSpearmen), 1);
    // One hex, his choice.
    let stacks = [("0842", "1 mahdist_spearmen, nejumi"), ("0942", "1 mahdist_spearmen")];
    let mut table = Table::set(when, &stacks, json!({}));
    table.roll(6);
    assert_eq!(table.legal(), ["recruit 0842", "recruit 0942"]);
}

/// 8.9: after the second field force, two hexes for a supply unit at the railhead, none next to an enemy.
#[test]
fn railway() {
    let forces = |n: u8| json!({"events": {"field_forces": n}});
    let when = "khartoum 5 egyptian reinforcement";
    let mut table = Table::set(when, &[("Souakim", "1 rifle_r, 1 supply")], forces(2));
    assert_eq!(table.legal(), ["rail 0", "rail 1", "rail 2"]);
    table.play(&["rail 2"]);
    assert_eq!((table.0.railway_built(), table.units("Souakim").as_str()), (2, "1 rifle_r"));
    let one = Table::set(when, &[("Souakim", "1 rifle_r, 1 supply")], forces(1));
    assert_ne!(one.waits(), "rail_count");
    let none = Table::set(when, &[("Souakim", "1 rifle_r")], forces(2));
    assert_ne!(none.waits(), "rail_count");
    // 4305 is next to the second hex (4406) and not to the first (4506); a disrupted enemy is one.
    let near = |hex: &str| {
        let stacks = [("Souakim", "1 rifle_r, 1 supply"), (hex, "1 mahdist_spearmen disrupted")];
        Table::set(when, &stacks, forces(2))
    };
    assert_eq!(near("4305").legal(), ["rail 0", "rail 1"]);
    assert_ne!(near("4506").waits(), "rail_count");
    // What is built stays, and the railhead is its last hex.
    let built = json!({"events": {"field_forces": 2}, "railway": 2});
    let mut table = Table::set(when, &[("Souakim", "1 supply"), ("4406", "1 rifle_r, 1 supply")], built);
    table.play(&["rail 2"]);
    assert_eq!(
        (table.0.railway_built(), table.units("Souakim").as_str(), table.units("4406").as_str()),
        (4, "1 supply", "1 rifle_r")
    );
}

/// 12.1, 12.3: with a British combat unit, one at a time; Indians are not British here (1.1).
#[test]
fn the_flag_is_shown_and_taken_off() {
    let when = "khartoum 2 egyptian reinforcement";
    let mut table = Table::set(when, &[("Souakim", "1 british_infantry"), ("4506", "1 indian_infantry")], json!({}));
    assert_eq!(table.legal(), ["flag 4606", "flag done"]);
    table.play(&["flag 4606"]);
    assert_eq!(table.units("Souakim"), "1 british_infantry, 1 flag");
    let stacks = [("Souakim", "1 british_infantry, 1 flag"), ("4506", "1 british_infantry")];
    let mut table = Table::set(when, &stacks, json!({}));
    table.play(&["take_flag_off yes", "flag 4506"]);
    assert_eq!(
        (table.units("Souakim").as_str(), table.units("4506").as_str()),
        ("1 british_infantry", "1 british_infantry, 1 flag")
    );
    // One at a time.
    let mut table = Table::set(when, &stacks, json!({}));
    table.play(&["take_flag_off no"]);
    assert_ne!(table.waits(), "flag_hex");
    // Where only an Egyptian is with it, it stays.
    let table = Table::set(when, &[("Souakim", "1 rifle_r, 1 flag")], json!({}));
    assert_ne!(table.waits(), "flag_remove");
}
