//! Reinforcements (5), field forces by the calendar (2.6), the railway (8.9) and the flag (12).

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
    // Where only an Egyptian is with it, it stays.
    let table = Table::set(when, &[("Souakim", "1 rifle_r, 1 flag")], json!({}));
    assert_ne!(table.waits(), "flag_remove");
}
