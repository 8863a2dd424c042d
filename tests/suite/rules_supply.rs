//! Supply (10) and siege (6.4). Chains of supply units are in [`crate::rules_chains`].

use dervish_env::dervish::catalogue::Side;
use dervish_env::dervish::tables::AttritionRow;
use serde_json::{Value, json};

use crate::rules_table::Table;

/// A supply phase of scenario 2 in March 1884.
fn supply(side: &str, stacks: &[(&str, &str)]) -> Table {
    Table::set(&format!("khartoum 2 {side} supply"), stacks, json!({}))
}

/// 6.4: who besieges.
#[test]
fn besieged() {
    // 0449 is adjacent to El Obeid, 1832 to Khartoum across the Blue Nile.
    let by = |place: &str, stacks: &[(&str, &str)]| {
        let table = supply("egyptian", stacks);
        table.0.besieged(table.hex(place), Side::Egyptian)
    };
    assert!(by("El Obeid", &[("0449", "1 mahdist_spearmen")]));
    assert!(!by("El Obeid", &[("0449", "1 mahdist_spearmen disrupted")]));
    assert!(!by("El Obeid", &[("0449", "mahdi")]));
    assert!(by("Khartoum", &[("1832", "1 mahdist_gun")]));
    assert!(!by("Souakim", &[("4506", "9 mahdist_spearmen")]));
    // Of Mahdists: train does not besiege, but civilians do.
    let table = supply("mahdist", &[("0449", "1 camel, 1 supply"), ("1832", "1 civilian")]);
    assert!(!table.0.besieged(table.hex("El Obeid"), Side::Mahdist));
    assert!(table.0.besieged(table.hex("Khartoum"), Side::Mahdist));
}

/// 10.1, 13.3: hexes by row; not in an unbesieged town, nor where a 1 hurts nobody (six in the clear, 10.3).
#[test]
fn who_is_passed_over() {
    let table = supply("egyptian", &[("El Obeid", "9 rifle_r"), ("0842", "6 rifle_r"), ("1042", "7 rifle_r")]);
    assert_eq!((table.waits(), table.0.pending().hex), ("roll_attrition", table.hex("1042")));
    // Rows from the north, columns from the west.
    let mut table = supply("egyptian", &[("1242", "7 rifle_r"), ("0844", "7 rifle_r"), ("1042", "7 rifle_r")]);
    let mut order = Vec::new();
    while table.waits() == "roll_attrition" {
        order.push(table.0.pending().hex.to_string());
        table.roll(6);
    }
    assert_eq!(order, ["1042", "1242", "0844"]);
}

/// 10.3, 10.4: desert, a 3 leaves two units.
#[test]
fn who_is_kept() {
    // A civilian counts as two and is kept first: nobody else is left.
    let mut table = supply("egyptian", &[("2726", "2 rifle_r, 1 rifle_l, 1 civilian")]);
    table.roll(3);
    assert_eq!(table.units("2726"), "1 civilian");
    assert_eq!(table.0.eliminated(Side::Egyptian), 3, "14.5");
    // Of the others class L before supply, supply before camel, camel before class R.
    let mut table = supply("egyptian", &[("2726", "2 rifle_r, 1 rifle_l, 1 supply, 1 camel")]);
    table.play(&["supply 2726 roll"]).roll(3);
    assert_eq!(table.units("2726"), "1 rifle_l, 1 supply");
    // Mahdists are disrupted; those disrupted already are kept before the others.
    let mut table =
        supply("mahdist", &[("2726", "2 mahdist_spearmen, 1 mahdist_spearmen disrupted, 1 mahdist_rifles")]);
    table.roll(3);
    assert_eq!(table.0.eliminated(Side::Mahdist), 0);
    // The rolls of recovery follow (11.1) with the two others disrupted.
    assert_eq!(table.units("2726"), "3 mahdist_spearmen disrupted, 1 mahdist_rifles");
}

/// 10.3: modifiers one by one, in March.
#[test]
fn attrition_modifiers() {
    let modifier = |stacks: &[(&str, &str)], hex: &str| {
        // Somebody at the end of the map has to roll, so that it is still the Egyptian player's phase.
        let table = supply("egyptian", &[stacks, &[("1050", "9 rifle_r")]].concat());
        table.0.attrition_modifier(table.hex(hex))
    };
    assert_eq!(modifier(&[("0842", "9 rifle_r")], "0842"), 0);
    assert_eq!(modifier(&[("4506", "9 rifle_r")], "4506"), -1, "the extension from March on");
    assert_eq!(modifier(&[("Khartoum", "9 rifle_r, gordon")], "Khartoum"), 1);
    assert_eq!(modifier(&[("Khartoum", "9 british_infantry, 1 flag, gordon")], "Khartoum"), 2);
    assert_eq!(modifier(&[("Berber", "9 british_infantry, 1 flag, gordon")], "Berber"), 0);
}

/// 10.1: leaders, vessels and the flag are not counted; train is, a civilian as two (10.4). 1733 is cultivated: a 1 leaves
/// eight units.
#[test]
fn who_is_counted() {
    let rolls = |units: &str| {
        let table = supply("egyptian", &[("1733", units), ("1050", "9 rifle_r")]);
        table.0.pending().hex == table.hex("1733")
    };
    assert!(!rolls("8 british_infantry, 1 gunboat, 1 british_gunboat, 2 boat, 1 flag, gordon, graham"));
    assert!(rolls("9 british_infantry"));
    assert!(rolls("8 british_infantry, 1 camel"));
    assert!(!rolls("6 british_infantry, 1 civilian"));
    assert!(rolls("7 british_infantry, 1 civilian"));
    // 13.4: a leader by himself needs nothing, not even in the desert.
    let table = supply("egyptian", &[("2726", "graham"), ("1050", "9 rifle_r")]);
    assert_eq!((table.0.pending().hex, table.leader("graham").as_str()), (table.hex("1050"), "2726"));
}

/// 10.1: in a besieged town they roll, on the row of besieged places, of which a 1 leaves four. Mahdists always roll.
#[test]
fn a_besieged_town_rolls() {
    let row = |side: &str, stacks: &[(&str, &str)]| {
        let table = supply(side, stacks);
        (table.waits(), table.0.pending().hex.to_string())
    };
    let besieger = ("0449", "1 mahdist_spearmen");
    let far = ("1050", "9 rifle_r");
    let roll = |hex: &str| ("roll_attrition", hex.to_owned());
    assert_eq!(row("egyptian", &[("El Obeid", "5 rifle_r"), besieger, far]), roll("0349"));
    assert_eq!(row("egyptian", &[("El Obeid", "4 rifle_r"), besieger, far]), roll("1050"));
    assert_eq!(row("egyptian", &[("El Obeid", "5 rifle_r"), far]), roll("1050"));
    // With a supply unit the owner is asked, in a village that nobody besieges as well (6.4).
    let choice = |hex: &str| ("supply_choice", hex.to_owned());
    assert_eq!(row("egyptian", &[("El Obeid", "4 rifle_r, 1 supply"), besieger]), choice("0349"));
    assert_eq!(row("egyptian", &[("Er Rahad", "4 rifle_r, 1 supply")]), choice("0553"));
    assert_eq!(row("mahdist", &[("Er Rahad", "5 mahdist_spearmen")]), roll("0553"));
}

/// 10.4 for the Egyptian player: civilians, classes V and L, supply, camels, class R; good order before disrupted, then
/// catalogue order. Er Rahad is a village: 1 to 6 leave 4, 5, 6, 6, 8, 12.
#[test]
fn whom_the_egyptian_player_keeps() {
    let keep = |units: &str, die: u16, more: Value| {
        let mut table = Table::set("khartoum 2 egyptian supply", &[("Er Rahad", units)], more);
        if table.waits() == "supply_choice" {
            table.play(&["supply 0553 roll"]);
        }
        table.roll(die);
        table.units("0553")
    };
    let all = "1 levy, 1 rifle_l, 1 british_infantry disrupted, 1 supply, 2 camel, 1 civilian";
    assert_eq!(keep(all, 1, json!({})), "1 rifle_l, 1 british_infantry disrupted, 1 civilian");
    assert_eq!(keep(all, 2, json!({})), "1 rifle_l, 1 british_infantry disrupted, 1 supply, 1 civilian");
    assert_eq!(keep(all, 3, json!({})), "1 rifle_l, 1 british_infantry disrupted, 1 supply, 1 camel, 1 civilian");
    // V and L are one group: whoever is in good order first, whatever his class.
    let veterans = "3 rifle_l disrupted, 3 rifle_l, 3 british_infantry";
    assert_eq!(keep(veterans, 1, json!({})), "3 rifle_l, 1 british_infantry");
    assert_eq!(keep(veterans, 5, json!({})), "3 rifle_l, 2 rifle_l disrupted, 3 british_infantry");
    // Class R in good order before disrupted, then catalogue order.
    assert_eq!(keep("2 levy disrupted, 2 rifle_r, 2 egyptian_cavalry", 2, json!({})), {
        "1 levy disrupted, 2 rifle_r, 2 egyptian_cavalry"
    });
    // Poor morale makes rifles L class R (4.3): camels go before them.
    let poor = json!({"events": {"poor_morale": true}});
    assert_eq!(keep("3 rifle_l, 3 camel", 1, poor), "1 rifle_l, 3 camel");
}

/// 10.4 for the Mahdist: disrupted units first, for the others are only disrupted; then rifles, guns, cavalry, S.
#[test]
fn whom_the_mahdist_keeps() {
    let keep = |units: &str, die: u16| {
        let mut table = supply("mahdist", &[("Er Rahad", units)]);
        table.roll(die);
        (table.units("0553"), table.0.eliminated(Side::Mahdist))
    };
    let all = "3 mahdist_spearmen, 1 mahdist_rifles, 1 mahdist_cavalry, 1 mahdist_gun";
    let left = "1 mahdist_spearmen, 2 mahdist_spearmen disrupted, 1 mahdist_rifles, 1 mahdist_cavalry, 1 mahdist_gun";
    assert_eq!(keep(all, 1), (left.to_owned(), 0));
    let two = "1 mahdist_rifles, 2 mahdist_rifles disrupted, 2 mahdist_gun, 1 mahdist_cavalry";
    let left = "1 mahdist_rifles, 2 mahdist_rifles disrupted, 1 mahdist_cavalry disrupted, 1 mahdist_gun, \
                1 mahdist_gun disrupted";
    assert_eq!(keep(two, 1), (left.to_owned(), 0), "rifles before guns");
    // Five are disrupted already, and four are kept: the last of them is eliminated, all others are disrupted.
    let worn =
        "3 mahdist_spearmen disrupted, 1 mahdist_cavalry disrupted, 1 mahdist_rifles disrupted, 2 mahdist_rifles";
    let left = "2 mahdist_spearmen disrupted, 3 mahdist_rifles disrupted, 1 mahdist_cavalry disrupted";
    assert_eq!(keep(worn, 1), (left.to_owned(), 1));
}

/// 10.3: the extension has −1 from March to November, a mountain −1, and they add up.
#[test]
fn attrition_modifiers_of_place_and_month() {
    let modifier = |month: u8, hex: &str| {
        let stacks = [(hex, "9 rifle_r"), ("1050", "9 rifle_r")];
        let table = Table::set(&format!("khartoum {} egyptian supply", month - 1), &stacks, json!({}));
        table.0.attrition_modifier(table.hex(hex))
    };
    for month in 2..=12 {
        let hot = -i32::from((3..=11).contains(&month));
        assert_eq!(modifier(month, "4506"), hot, "the extension, month {month}");
        assert_eq!(modifier(month, "4208"), hot - 1, "a mountain there, month {month}");
        assert_eq!(modifier(month, "0349"), 0, "the main map, month {month}");
    }
    assert_eq!(modifier(3, "4308"), -1, "hills do not matter (10.5)");
}

/// 10.5: the row is the place's, else that of the ground beneath hills and mountains.
#[test]
fn attrition_rows_of_the_map() {
    let row = |hex: &str, more: &[(&str, &str)]| {
        let table = supply("egyptian", &[more, &[("1050", "9 rifle_r")]].concat());
        table.0.attrition_row(table.hex(hex))
    };
    assert_eq!(row("2726", &[]), AttritionRow::Desert);
    assert_eq!(row("0842", &[]), AttritionRow::Clear);
    assert_eq!(row("1733", &[]), AttritionRow::Cultivated);
    assert_eq!(row("4208", &[]), AttritionRow::Desert, "mountain on desert");
    assert_eq!(row("0435", &[]), AttritionRow::Desert, "hills on desert");
    assert_eq!(row("4139", &[]), AttritionRow::Clear, "hills on clear");
    for place in ["Er Rahad", "Abu Klea"] {
        assert_eq!(row(place, &[]), AttritionRow::BesiegedPlace, "{place}");
    }
    assert_eq!(row("El Obeid", &[]), AttritionRow::UnbesiegedTown);
    assert_eq!(row("El Obeid", &[("0449", "1 mahdist_spearmen")]), AttritionRow::BesiegedPlace);
}
