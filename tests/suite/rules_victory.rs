//! Victory (14): the last turn of each scenario, and what ends a game before it.

use dervish_env::dervish::catalogue::Side;
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
    // Twelve points are needed, as tuned. Berber 3 and Souakim 3 and five for 30-35 units are eleven; 36 units make twelve.
    let both = |lost: u16| {
        let control = held(json!({"Berber": "mahdist", "Souakim": "mahdist"}));
        json!({"control": control, "eliminated": {"egyptian": lost}})
    };
    assert_eq!(winner(last, &[("0842", "1 levy")], both(0)), "draw");
    assert_eq!(winner(last, &[("0842", "1 levy")], both(35)), "draw");
    assert_eq!(winner(last, &[("0842", "1 levy")], both(36)), "mahdist");
    // Khartoum ends it at the end of any turn.
    let khartoum = json!({"control": {"Khartoum": "mahdist"}});
    assert_eq!(winner("el-obeid 3 egyptian recovery", &[("El Obeid", "1 levy")], khartoum.clone()), "mahdist");
    assert_eq!(winner("el-obeid 3 egyptian march", &[("El Obeid", "1 levy")], khartoum), "goes on", "at its end only");
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

/// 14.3: Sinkat 2, Tokar 1, Tamai 2, El Teb 1; a point for eight Mahdists and for each of the enemy's (by tuning; the rule
/// has 2 for Tokar, three and two).
#[test]
fn scenario_3() {
    let last = "souakim 5 egyptian recovery";
    let of = |more: Value| winner(last, &[("Souakim", "1 levy")], more);
    let split = json!({"Sinkat": "mahdist", "Tamai": "egyptian"});
    assert_eq!(of(json!({"control": split})), "draw");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 7, "egyptian": 0}})), "draw");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 8, "egyptian": 0}})), "egyptian");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 8, "egyptian": 1}})), "draw");
    assert_eq!(of(json!({"control": split, "eliminated": {"mahdist": 7, "egyptian": 1}})), "mahdist");
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

/// 14.1: what each place is worth to the Mahdist, and a point for each full six enemy units eliminated.
#[test]
fn points_of_scenario_1() {
    let points = |more: Value| {
        let table = Table::set("el-obeid 3 egyptian march", &[("0842", "1 levy")], more);
        (table.0.points(Side::Mahdist), table.0.points(Side::Egyptian))
    };
    for place in ["Bara", "Duem", "Metemmeh", "Dongola", "Kassala", "Sennar", "Sinkat", "Tokar", "Goz Regeb"] {
        assert_eq!(points(json!({"control": {place: "mahdist"}})), (1, 0), "{place}");
    }
    for place in ["Berber", "Souakim"] {
        assert_eq!(points(json!({"control": {place: "mahdist"}})), (3, 0), "{place}");
        assert_eq!(points(json!({"control": {place: "egyptian"}})), (0, 0), "{place}");
    }
    for place in ["El Obeid", "Shendi", "Trinkitat"] {
        assert_eq!(points(json!({"control": {place: "mahdist"}})), (0, 0), "{place}");
    }
    for (eliminated, worth) in [(5, 0), (6, 1), (11, 1), (12, 2)] {
        assert_eq!(points(json!({"eliminated": {"egyptian": eliminated}})), (worth, 0), "{eliminated}");
        assert_eq!(points(json!({"eliminated": {"mahdist": eliminated}})), (0, 0), "his own do not count");
    }
}

/// 14.2: British units and no others hold Khartoum, at the end as after a withdrawal; control does not matter.
#[test]
fn who_holds_khartoum_for_the_british() {
    for now in ["khartoum 18 mahdist recovery", "khartoum 5 mahdist recovery"] {
        let of = |place: &str, units: &str| {
            let more = json!({"events": {"withdraw": true}});
            winner(now, &[(place, units)], more)
        };
        assert_eq!(of("Khartoum", "1 british_infantry"), "egyptian", "{now}");
        assert_eq!(of("Khartoum", "1 british_cavalry disrupted, 1 camel_corps disrupted"), "egyptian", "1 + 1; {now}");
        assert_eq!(of("Khartoum", "9 rifle_l, 1 british_gunboat, 1 supply, gordon"), "mahdist", "{now}");
        assert_eq!(of("Halfaya", "9 british_infantry"), "mahdist", "{now}");
    }
}

/// 14.3: each place of scenario 3 for either side, and their losses.
#[test]
fn points_of_scenario_3() {
    let points = |more: Value| {
        let table = Table::set("souakim 3 egyptian march", &[("Souakim", "1 levy")], more);
        (table.0.points(Side::Egyptian), table.0.points(Side::Mahdist))
    };
    for (place, worth) in [("Sinkat", 2), ("Tokar", 1), ("Tamai", 2), ("El Teb", 1), ("Souakim", 0), ("Trinkitat", 0)] {
        assert_eq!(points(json!({"control": {place: "egyptian"}})), (worth, 0), "{place}");
        if place != "Souakim" {
            assert_eq!(points(json!({"control": {place: "mahdist"}})), (0, worth), "{place}");
        }
    }
    assert_eq!(points(json!({"eliminated": {"mahdist": 7, "egyptian": 5}})), (0, 5), "7 / 8 and 5 / 1");
    assert_eq!(points(json!({"eliminated": {"mahdist": 16, "egyptian": 6}})), (2, 6));
}

/// 14.4, as the Egyptian player sees it: half a point for the win, half in proportion to points held over points at
/// stake.
fn margin(when: &str, stacks: &[(&str, &str)], more: Value) -> f32 {
    ends(when, stacks, more).expect("the game is over").margin
}

/// Scenario 1: fifteen points of places are at stake. What the Mahdist holds of them lessens an Egyptian win.
#[test]
fn margin_of_scenario_1() {
    let last = "el-obeid 17 egyptian recovery";
    let held = |places: &[&str], lost: u16, el_obeid: &str| {
        let mut control = json!({"El Obeid": el_obeid});
        for place in places {
            control[place] = json!("mahdist");
        }
        margin(last, &[("0842", "1 levy")], json!({"control": control, "eliminated": {"egyptian": lost}}))
    };
    assert_eq!(held(&[], 0, "egyptian"), 1.0);
    assert_eq!(held(&["Berber"], 0, "egyptian"), 0.5 + 0.5 * (1.0 - 3.0 / 15.0));
    assert_eq!(held(&["Berber", "Bara"], 13, "egyptian"), 0.5 + 0.5 * (1.0 - 6.0 / 15.0));
    assert_eq!(held(&["Berber", "Souakim"], 36, "mahdist"), -(0.5 + 0.5 * 12.0 / 15.0));
    // More than there is to hold is all of it.
    assert_eq!(held(&["Berber", "Souakim"], 66, "mahdist"), -1.0);
    assert_eq!(held(&["Berber"], 0, "mahdist"), 0.0, "a draw");
    // Khartoum is everything, on the last turn and before.
    let khartoum = json!({"control": {"Khartoum": "mahdist", "El Obeid": "egyptian"}});
    assert_eq!(margin(last, &[("0842", "1 levy")], khartoum.clone()), -1.0);
    assert_eq!(margin("el-obeid 3 egyptian recovery", &[("0842", "1 levy")], khartoum), -1.0);
}

/// Scenario 2: strength beyond the 2 that are needed, of 8; for the Mahdist, whether Khartoum is his.
#[test]
fn margin_of_scenario_2() {
    let of = |units: &str| margin("khartoum 18 mahdist recovery", &[("Khartoum", units)], json!({}));
    assert_eq!(of("1 british_infantry"), 0.5);
    assert_eq!(of("1 british_infantry, 1 british_infantry disrupted"), 0.5 + 0.5 / 8.0);
    assert_eq!(of("4 british_infantry"), 0.5 + 0.5 * 6.0 / 8.0);
    assert_eq!(of("5 british_infantry"), 1.0);
    assert_eq!(of("9 british_infantry"), 1.0);
    assert_eq!(of("9 rifle_l"), -0.5);
    assert_eq!(of("1 mahdist_spearmen"), -1.0);
}

/// Scenario 3: the lead, of the six points of places; Souakim is everything.
#[test]
fn margin_of_scenario_3() {
    let of = |control: Value, mahdists: u16, egyptians: u16| {
        let more = json!({"control": control, "eliminated": {"mahdist": mahdists, "egyptian": egyptians}});
        margin("souakim 5 egyptian recovery", &[("4506", "1 levy")], more)
    };
    assert_eq!(of(json!({"Sinkat": "egyptian"}), 0, 0), 0.5 + 0.5 * 2.0 / 6.0);
    assert_eq!(of(json!({"Sinkat": "egyptian", "El Teb": "mahdist"}), 0, 0), 0.5 + 0.5 / 6.0);
    assert_eq!(of(json!({"Sinkat": "egyptian", "El Teb": "mahdist"}), 0, 3), -(0.5 + 0.5 * 2.0 / 6.0));
    assert_eq!(of(json!({"Sinkat": "egyptian"}), 40, 0), 1.0);
    assert_eq!(of(json!({"Sinkat": "egyptian"}), 0, 2), 0.0, "a draw");
    let souakim = json!({"Souakim": "mahdist", "Sinkat": "egyptian", "Tokar": "egyptian"});
    assert_eq!(of(souakim, 30, 0), -1.0);
}

/// Scenario 4: half for the months of the holder, of six, half for Bara.
#[test]
fn margin_of_scenario_4() {
    let of = |units: &str, held: Value, bara: Value| {
        let more = json!({"held": held, "control": bara});
        margin("kordofan 6 egyptian recovery", &[("El Obeid", units)], more)
    };
    let by = |side: &str, months: u8| json!({"by": side, "months": months});
    // The sixth month is counted by the check at its end.
    assert_eq!(of("1 levy", by("egyptian", 5), json!({"Bara": "egyptian"})), 1.0);
    assert_eq!(of("1 levy", by("egyptian", 5), json!({"Bara": "mahdist"})), 0.5 + 0.5 * 0.5);
    assert_eq!(
        of("1 mahdist_spearmen", by("mahdist", 2), json!({"Bara": "mahdist"})),
        -(0.5 + 0.25 * (3.0 / 6.0 + 1.0))
    );
    assert_eq!(of("1 mahdist_spearmen", by("mahdist", 2), json!({})), -(0.5 + 0.25 * 3.0 / 6.0));
    // It has just changed hands: this month is the first of the new holder.
    assert_eq!(of("1 mahdist_spearmen", by("egyptian", 5), json!({})), -(0.5 + 0.25 / 6.0));
}

/// 14.5: what an event takes off the map is not eliminated.
#[test]
fn desertion_eliminates_nobody() {
    let mut table = Table::set("khartoum 2 mahdist event", &[("0842", "2 mahdist_spearmen")], json!({}));
    table.roll(11).roll(6);
    assert_eq!((table.units("0842").as_str(), table.0.eliminated(Side::Mahdist)), ("", 0));
}
