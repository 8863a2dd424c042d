//! The tables of the sheet and the event tables, every cell typed from the print (8.31, 9.6, 10.3, 11.1, 4.1).

use dervish_env::dervish::board::{Ground, PlaceKind};
use dervish_env::dervish::catalogue::{Class, Side};
use dervish_env::dervish::scenario::EventColumn;
use dervish_env::dervish::tables::{
    AttritionRow, EVENT_BANDS, Event, MarchResult, Morale, Recovery, Tables, event_band,
};

const TABLES: &str = include_str!("../../env/data/dervish/tables.toml");
const EVENTS: &str = include_str!("../../env/data/dervish/events.toml");

#[test]
fn march_table_8_31() {
    let march = |percent| MarchResult::March { disrupted_percent: percent };
    for die in [-9, -1, 0] {
        assert_eq!(Tables::builtin().march(die), march(50), "die {die}, printed <1");
    }
    assert_eq!(Tables::builtin().march(1), march(25));
    assert_eq!(Tables::builtin().march(2), MarchResult::NoMarch);
    for die in [3, 4, 5, 6, 7, 12] {
        assert_eq!(Tables::builtin().march(die), march(0), "die {die}");
    }
}

#[test]
fn morale_table_9_6() {
    use Morale::{Fail, Good, Hold, Shaken, Steady};
    // Columns are the totals 2 to 13. The sheet has no cell for L and V at 4 and for F at 5: these fail.
    let rows = [
        (Class::R, [Fail, Fail, Fail, Fail, Shaken, Shaken, Hold, Hold, Steady, Steady, Good, Good]),
        (Class::L, [Fail, Fail, Fail, Shaken, Shaken, Hold, Hold, Hold, Steady, Good, Good, Good]),
        (Class::V, [Fail, Fail, Fail, Shaken, Shaken, Hold, Steady, Steady, Good, Good, Good, Good]),
        (Class::F, [Fail, Fail, Fail, Fail, Shaken, Hold, Hold, Steady, Steady, Good, Good, Good]),
    ];
    for (class, row) in rows {
        for (total, expected) in (2..).zip(row) {
            assert_eq!(Tables::builtin().morale(class, total), expected, "{class:?} at {total}");
        }
        assert_eq!(Tables::builtin().morale(class, -7), Fail, "{class:?} far below");
        assert_eq!(Tables::builtin().morale(class, 1), Fail, "{class:?} below the dice");
        assert_eq!(Tables::builtin().morale(class, 22), Good, "{class:?} far above");
    }
}

#[test]
fn attrition_table_10_3() {
    let rows = [
        (AttritionRow::BesiegedPlace, [4, 5, 6, 6, 8, 12]),
        (AttritionRow::Desert, [0, 0, 2, 4, 6, 8]),
        (AttritionRow::Clear, [6, 6, 8, 8, 12, 16]),
        (AttritionRow::Cultivated, [8, 10, 12, 16, 20, 20]),
    ];
    for (row, cells) in rows {
        for (die, units) in (1..).zip(cells) {
            assert_eq!(Tables::builtin().attrition(row, die), Some(units), "{row:?} at {die}");
        }
        // The modified die is clamped to 1-6.
        assert_eq!(Tables::builtin().attrition(row, -3), Some(cells[0]));
        assert_eq!(Tables::builtin().attrition(row, 0), Some(cells[0]));
        assert_eq!(Tables::builtin().attrition(row, 7), Some(cells[5]));
        assert_eq!(Tables::builtin().attrition(row, 40), Some(cells[5]));
    }
    for die in -3..10 {
        assert_eq!(Tables::builtin().attrition(AttritionRow::UnbesiegedTown, die), None, "town at {die}");
    }
}

#[test]
fn attrition_row_of_a_hex() {
    let grounds = [
        (Ground::Desert, AttritionRow::Desert),
        (Ground::Clear, AttritionRow::Clear),
        (Ground::Cultivated, AttritionRow::Cultivated),
    ];
    for (ground, row) in grounds {
        for besieged in [false, true] {
            assert_eq!(AttritionRow::of(ground, None, besieged), row);
            // 6.4: a village or oasis always has its own row. 10.5: the place goes before the ground.
            for place in [PlaceKind::Village, PlaceKind::Oasis] {
                assert_eq!(AttritionRow::of(ground, Some(place), besieged), AttritionRow::BesiegedPlace);
            }
        }
        assert_eq!(AttritionRow::of(ground, Some(PlaceKind::Town), false), AttritionRow::UnbesiegedTown);
        assert_eq!(AttritionRow::of(ground, Some(PlaceKind::Town), true), AttritionRow::BesiegedPlace);
    }
}

#[test]
fn recovery_table_11_1() {
    use Recovery::{Fail, Good, Hold};
    // Columns are the totals 2 to 12.
    let rows = [
        (Class::R, [Fail, Fail, Fail, Fail, Fail, Hold, Hold, Hold, Good, Good, Good]),
        (Class::L, [Fail, Fail, Fail, Hold, Hold, Hold, Hold, Good, Good, Good, Good]),
        (Class::V, [Fail, Fail, Hold, Hold, Hold, Good, Good, Good, Good, Good, Good]),
        (Class::F, [Fail, Fail, Fail, Fail, Fail, Hold, Good, Good, Good, Good, Good]),
    ];
    for (class, row) in rows {
        for (total, expected) in (2..).zip(row) {
            assert_eq!(Tables::builtin().recovery(class, total), expected, "{class:?} at {total}");
        }
        assert_eq!(Tables::builtin().recovery(class, -2), Fail);
        assert_eq!(Tables::builtin().recovery(class, 17), Good);
    }
}

#[test]
fn event_tables_4_1() {
    use Event::*;
    // First roll of the band; Egyptian in the El Obeid and the Khartoum game; Mahdist in the same.
    let bands = [
        (11, PoorMorale, Withdraw, Desertion, Desertion),
        (14, Navy, FieldForce, ReligiousDisagreement, ReligiousDisagreement),
        (21, Supply, FieldForceLeaves, Boats, EthiopiaWar),
        (24, GunboatSinks, GunboatSinks, Rifles, EthiopiaPeace),
        (31, SpoiltBiscuits, SpoiltBiscuits, PoorCommunications, PoorCommunications),
        (34, Dissension, Dissension, GunShortage, GunShortage),
        (41, Urgency, Urgency, ReligiousFervour, ReligiousFervour),
        (44, Training, Training, GarrisonSurrenders, GarrisonSurrenders),
        (51, DryWeather, DryWeather, LocalsDeclare, LocalsDeclare),
        (54, GoodHarvest, GoodHarvest, DryWeather, DryWeather),
        (61, ElObeidShortage, FieldForceAgain, GoodHarvest, GoodHarvest),
        (64, KhartoumShortage, KhartoumShortage, RifleShortage, RifleShortage),
    ];
    let tables = Tables::builtin();
    for (band, (first, e_obeid, e_khartoum, m_obeid, m_khartoum)) in bands.into_iter().enumerate() {
        assert_eq!(EVENT_BANDS[band], first);
        for roll in first..first + 3 {
            assert_eq!(event_band(roll), Some(band), "{roll}");
            assert_eq!(tables.event(EventColumn::ElObeid, Side::Egyptian, roll), Some(e_obeid), "{roll}");
            assert_eq!(tables.event(EventColumn::Khartoum, Side::Egyptian, roll), Some(e_khartoum), "{roll}");
            assert_eq!(tables.event(EventColumn::ElObeid, Side::Mahdist, roll), Some(m_obeid), "{roll}");
            assert_eq!(tables.event(EventColumn::Khartoum, Side::Mahdist, roll), Some(m_khartoum), "{roll}");
        }
    }
    let rolls = (0..=u8::MAX).filter(|&roll| event_band(roll).is_some()).count();
    assert_eq!(rolls, 36);
    for not_a_roll in [0, 1, 10, 17, 20, 27, 60, 67, 71, 101, 166, 255] {
        assert_eq!(tables.event(EventColumn::ElObeid, Side::Egyptian, not_a_roll), None, "{not_a_roll}");
    }
}

/// The slugs of rule 4.1 are those of the files and the command.
#[test]
fn event_slugs() {
    for event in Event::ALL {
        assert_eq!(serde_json::to_value(event).unwrap(), event.id());
        assert!(EVENTS.contains(&format!("\"{}\"", event.id())), "{} is in no column", event.id());
    }
}

/// Number (from 1) of the first line that contains `needle`.
fn line_of(text: &str, needle: &str) -> usize {
    1 + text.lines().position(|line| line.contains(needle)).expect("the text has the line")
}

/// The faults of the two files, each on one line as a user sees it.
fn faults(tables: &str, events: &str) -> Vec<String> {
    let faults = Tables::parse(tables, events).expect_err("a fault");
    faults.iter().map(ToString::to_string).inspect(|line| assert!(!line.contains('\n'), "{line}")).collect()
}

#[test]
fn faults_of_table_files_are_named_with_their_line() {
    let cases = [
        // (what is replaced, by what, text of the line that is named, part of the reason)
        ("good = 12", "good = 12\nbrilliant = 13", "brilliant = 13", "unknown field `brilliant`"),
        ("steady = 10", "steady = 8", "[morale.R]", "the totals of class R do not ascend"),
        ("desert = [0, 0, 2, 4, 6, 8]", "desert = [0, 0, 2, 4, 6]", "desert =", "length"),
        ("desert = [0, 0, 2, 4, 6, 8]", "desert = [0, 0, 2, 4, 6, \"some\"]", "desert =", "or \"all\""),
        ("die = 2", "die = 9", "die = 9", "die 9, not 2"),
        ("disrupted_percent = 25", "disrupted_percent = 125", "disrupted_percent = 125", "percent 125"),
        ("[recovery.F]", "[retreat.F]", "[retreat.F]", "unknown field `retreat`"),
        ("format = 1", "format = 2", "format = 2", "format 2 is unknown"),
    ];
    for (good, bad, at, reason) in cases {
        let text = TABLES.replacen(good, bad, 1);
        let faults = faults(&text, EVENTS);
        let place = format!("tables.toml:{}: ", line_of(&text, at));
        assert!(faults.iter().any(|f| f.starts_with(&place) && f.contains(reason)), "{place}{reason}: {faults:?}");
    }
    let short = TABLES.replacen("[[march]]\ndie = 6\nresult = \"march\"\ndisrupted_percent = 0\n", "", 1);
    assert_eq!(faults(&short, EVENTS), ["tables.toml: the march table has 6 columns, not 7 (die 0 to 6)"]);
}

#[test]
fn faults_of_event_files_are_named_with_their_line() {
    let unknown = EVENTS.replacen("withdraw", "withdrawal", 1);
    let place = format!("events.toml:{}: unknown variant `withdrawal`", line_of(&unknown, "withdrawal"));
    assert!(faults(TABLES, &unknown)[0].starts_with(&place) || faults(TABLES, &unknown)[1].starts_with(&place));

    let disordered = EVENTS.replacen("first = 14", "first = 15", 1);
    let line = line_of(&disordered, "first = 15");
    assert_eq!(faults(TABLES, &disordered), [format!("events.toml:{line}: band with the first roll 15, not 14")]);

    let short = EVENTS.split("# 64-66").next().expect("text before the last band");
    assert_eq!(faults(TABLES, short), ["events.toml: the event tables have 11 sound bands, not 12"]);
}
