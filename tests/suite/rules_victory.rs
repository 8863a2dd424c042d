//! Victory (14): the last turn of each scenario, and what ends a game before it.

use dervish_env::game::{GameResult, Position, Seat};
use serde_json::{Value, json};

use crate::rules_table::Table;

/// The end of a game turn: the recovery phase of the second player, in which nobody rolls.
fn ends(when: &str, stacks: &[(&str, &str)], more: Value) -> Option<GameResult> {
    Table::set(when, stacks, more).0.result()
}

fn winner(when: &str, stacks: &[(&str, &str)], more: Value) -> &'static str {
    match ends(when, stacks, more).map(|result| result.winner) {
        None => "goes on",
        Some(None) => "draw",
        Some(Some(Seat::First)) => "egyptian",
        Some(Some(Seat::Second)) => "mahdist",
    }
}

#[test]
fn scenario_1() {
    let last = "el-obeid 17 egyptian recovery";
    assert_eq!(winner(last, &[("El Obeid", "1 levy")], json!({})), "egyptian");
    let held = |more: Value| {
        let mut control = json!({"El Obeid": "mahdist"});
        control.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        control
    };
    // Nine points are needed, as tuned. Berber 3 and Souakim 3 and two for 12-17 units are eight; 18 units make nine.
    let both = |lost: u16| {
        let control = held(json!({"Berber": "mahdist", "Souakim": "mahdist"}));
        json!({"control": control, "eliminated": {"egyptian": lost}})
    };
    assert_eq!(winner(last, &[("0842", "1 levy")], both(0)), "draw");
    assert_eq!(winner(last, &[("0842", "1 levy")], both(17)), "draw");
    assert_eq!(winner(last, &[("0842", "1 levy")], both(18)), "mahdist");
    // Khartoum ends it at the end of any turn.
    let khartoum = json!({"control": {"Khartoum": "mahdist"}});
    assert_eq!(winner("el-obeid 3 egyptian recovery", &[("El Obeid", "1 levy")], khartoum), "mahdist");
    assert_eq!(winner("el-obeid 3 egyptian recovery", &[("El Obeid", "1 levy")], json!({})), "goes on");
}

/// 14.2: British strength 2, half for disrupted units; Indians count (1.1), guns have no melee.
#[test]
fn scenario_2() {
    let last = "khartoum 18 mahdist recovery";
    let of = |units: &str| winner(last, &[("Khartoum", units)], json!({}));
    assert_eq!(of("1 british_infantry"), "egyptian");
    assert_eq!(of("1 british_infantry disrupted"), "mahdist");
    assert_eq!(of("2 british_infantry disrupted"), "egyptian");
    assert_eq!(of("1 indian_infantry"), "egyptian");
    assert_eq!(of("2 british_gun, 9 rifle_l"), "mahdist");
}

#[test]
fn withdraw_ends_the_game_only_if_khartoum_is_mahdist() {
    let now = "khartoum 5 mahdist recovery";
    assert_eq!(winner(now, &[("0842", "1 levy")], json!({"events": {"withdraw": true}})), "mahdist");
    assert_eq!(winner(now, &[("0842", "1 levy")], json!({})), "goes on");
    let event = |more: Value| {
        let mut table = Table::set("khartoum 5 egyptian event", &[("0842", "1 levy")], more);
        table.roll(11);
        table.0.events().withdraw
    };
    assert!(event(json!({"control": {"Khartoum": "mahdist"}})));
    assert!(!event(json!({"control": {"Khartoum": "egyptian"}})));
    assert!(!event(json!({})));
}

/// 14.3: Sinkat 2, Tokar 2, Tamai 2, El Teb 1; a point for three Mahdists, one for two of the enemy's.
#[test]
fn scenario_3() {
    let last = "souakim 5 egyptian recovery";
    let of = |more: Value| winner(last, &[("Souakim", "1 levy")], more);
    let split = json!({"Sinkat": "mahdist", "Tokar": "egyptian"});
    assert_eq!(of(json!({"control": split})), "draw");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 2, "egyptian": 1}})), "draw");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 3, "egyptian": 1}})), "egyptian");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 2, "egyptian": 2}})), "mahdist");
    // Souakim ends it at once.
    let taken = json!({"control": {"Souakim": "mahdist"}});
    assert_eq!(winner("souakim 1 mahdist march", &[("Tokar", "1 levy")], taken), "mahdist");
}

#[test]
fn scenario_4() {
    let last = "kordofan 6 egyptian recovery";
    assert_eq!(winner(last, &[("El Obeid", "1 levy")], json!({})), "egyptian");
    assert_eq!(winner(last, &[("El Obeid", "1 mahdist_spearmen")], json!({})), "mahdist");
    assert_eq!(winner("kordofan 5 egyptian recovery", &[("El Obeid", "1 levy")], json!({})), "goes on");
}

/// 14.4, as the Egyptian player sees it.
#[test]
fn margins_have_the_sign_of_the_result() {
    let margin = |when: &str, stacks: &[(&str, &str)]| ends(when, stacks, json!({})).unwrap().margin;
    let egyptian = margin("khartoum 18 mahdist recovery", &[("Khartoum", "4 british_infantry")]);
    assert!(egyptian > 0.0 && egyptian <= 1.0, "{egyptian}");
    let mahdist = margin("khartoum 18 mahdist recovery", &[("Khartoum", "1 levy")]);
    assert!((-1.0..0.0).contains(&mahdist), "{mahdist}");
}
