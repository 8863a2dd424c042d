//! The unit catalogue against rules 2.1-2.3, typed from the rules.

use dervish_env::dervish::catalogue::{Arm, Catalogue, Class, Kind, Leader, Nation};

/// A row of 2.1 with the pool of 2.3: kind, nation, arm, class (none for what never tests), melee, fire, gun, cavalry
/// and move, pool.
type Row = (&'static str, Nation, Arm, Option<Class>, [u8; 5], u8);

#[rustfmt::skip]
const KINDS: [Row; 25] = {
    use Arm::*;
    use Class::*;
    use Nation::{British, Egyptian, Indian, Mahdist};
    const NO_NATION: Nation = Nation::None;
    [
        ("levy", Egyptian, Infantry, Some(R), [2, 0, 0, 0, 6], 14),
        ("rifle_r", Egyptian, Infantry, Some(R), [2, 2, 0, 0, 6], 26),
        ("rifle_l", Egyptian, Infantry, Some(L), [2, 2, 0, 0, 6], 14),
        ("egyptian_cavalry", Egyptian, Cavalry, Some(R), [2, 0, 0, 2, 9], 4),
        ("egyptian_gun", Egyptian, Gun, Some(L), [0, 2, 1, 0, 5], 10),
        ("british_infantry", British, Infantry, Some(V), [2, 2, 0, 0, 6], 14),
        ("camel_corps", British, MountedInfantry, Some(V), [2, 2, 0, 0, 9], 3),
        ("british_cavalry", British, Cavalry, Some(V), [2, 0, 0, 2, 9], 3),
        ("naval_infantry", British, Infantry, Some(V), [2, 2, 0, 0, 6], 1),
        ("british_gun", British, Gun, Some(V), [0, 2, 1, 0, 5], 3),
        ("indian_infantry", Indian, Infantry, Some(L), [2, 2, 0, 0, 6], 4),
        ("indian_cavalry", Indian, Cavalry, Some(L), [2, 0, 0, 2, 9], 1),
        ("supply", NO_NATION, Train, Some(R), [0, 0, 0, 0, 6], 8),
        ("camel", NO_NATION, Train, Some(R), [0, 0, 0, 0, 6], 8),
        ("civilian", NO_NATION, Train, Some(R), [0, 0, 0, 0, 4], 2),
        ("gunboat", Egyptian, River, Some(L), [0, 2, 1, 0, 18], 7),
        ("british_gunboat", British, River, Some(V), [0, 2, 1, 0, 18], 2),
        ("boat", NO_NATION, River, None, [0, 0, 0, 0, 12], 4),
        ("fleet", British, Sea, Some(V), [0, 4, 2, 0, 0], 1),
        ("flag", British, Marker, None, [0, 0, 0, 0, 6], 1),
        ("mahdist_spearmen", Mahdist, Infantry, Some(F), [4, 0, 0, 0, 6], 60),
        ("mahdist_rifles", Mahdist, Infantry, Some(F), [4, 4, 0, 0, 6], 12),
        ("mahdist_cavalry", Mahdist, Cavalry, Some(F), [4, 0, 0, 4, 9], 8),
        ("mahdist_gun", Mahdist, Gun, Some(R), [0, 2, 1, 0, 5], 6),
        ("mahdist_boat", NO_NATION, River, None, [0, 0, 0, 0, 12], 2),
    ]
};

#[test]
fn kinds_are_those_of_rules_2_1_and_2_3() {
    for (kind, (id, nation, arm, class, [melee, fire, gun, cavalry, movement], pool)) in
        Kind::ALL.into_iter().zip(KINDS)
    {
        let data = Catalogue::builtin().of(kind);
        assert_eq!(kind.id(), id);
        assert_eq!((data.nation, data.arm), (nation, arm), "{id}");
        if let Some(class) = class {
            assert_eq!(data.class, class, "{id}");
        }
        assert_eq!(
            [data.melee, data.fire, data.gun, data.cavalry, data.movement],
            [melee, fire, gun, cavalry, movement],
            "{id}"
        );
        assert_eq!(data.pool, pool, "{id}");
    }
}

/// 9.10: all infantry of the Egyptian player but levies.
#[test]
fn rifle_armed_are_the_egyptian_players_infantry_but_levies() {
    let armed: Vec<&str> =
        Kind::ALL.into_iter().filter(|&k| Catalogue::builtin().of(k).rifle_armed).map(Kind::id).collect();
    let expected = ["rifle_r", "rifle_l", "british_infantry", "camel_corps", "naval_infantry", "indian_infantry"];
    assert_eq!(armed, expected);
}

/// 2.2 strategic and tactical; 8.10 all move 9.
#[test]
fn leaders_are_those_of_rule_2_2() {
    let expected = [
        ("gordon", 2, 1),
        ("hicks", 1, 1),
        ("baker", 1, 1),
        ("graham", 1, 2),
        ("wolseley", 2, 1),
        ("stewart", 2, 1),
        ("earle", 1, 1),
        ("mahdi", 3, 2),
        ("osman_digma", 2, 1),
        ("abdullahi", 2, 1),
        ("nejumi", 2, 2),
        ("abu_anga", 1, 2),
    ];
    for (leader, expected) in Leader::ALL.into_iter().zip(expected) {
        let data = Catalogue::builtin().leader(leader);
        assert_eq!((leader.id(), data.strategic, data.tactical), expected);
        assert_eq!(data.movement, 9);
    }
}

/// Faults of a catalogue: an unknown field, an unknown kind, kinds out of order, a missing kind, no class, a pool that
/// does not fit.
#[test]
fn a_bad_catalogue_is_refused_with_line_and_reason() {
    let good = include_str!("../../../env/data/dervish/units.toml");
    let line = |text: &str, of: &str| text.lines().position(|l| l.contains(of)).map(|at| at + 1);
    let faults = |text: &str| -> Vec<(Option<usize>, String)> {
        Catalogue::parse("units.toml", text).err().unwrap_or_default().into_iter().map(|f| (f.line, f.reason)).collect()
    };
    assert!(Catalogue::parse("units.toml", good).is_ok());

    let text = good.replacen("id = \"levy\"", "id = \"levy\"\nspeed = 3", 1);
    let [(at, reason), ..] = &faults(&text)[..] else { panic!("no fault") };
    assert_eq!(*at, line(&text, "speed"));
    assert!(reason.starts_with("unknown field `speed`"), "{reason}");

    let text = good.replacen("id = \"camel\"", "id = \"donkey\"", 1);
    assert_eq!(faults(&text)[0], (line(&text, "donkey"), "unknown kind `donkey`".to_owned()));

    let text = good.replacen("id = \"hicks\"", "id = \"baker\"", 1);
    assert_eq!(faults(&text)[0], (line(&text, "\"baker\""), "leader `baker` is out of order".to_owned()));

    let start = good.find("[[leader]]\nid = \"abu_anga\"").unwrap();
    assert_eq!(faults(&good[..start]), [(None, "leader `abu_anga` is missing".to_owned())]);

    let text = good.replacen("class = \"F\"\n", "", 1);
    assert_eq!(
        faults(&text),
        [(line(&text, "\"mahdist_spearmen\""), "kind `mahdist_spearmen` has no class".to_owned())]
    );

    // The pools of 2.3 hold 99 + 31 + 88 = 218 counters; 60 spearmen more by 23 are 241.
    let text = good.replacen("pool = 60", "pool = 83", 1);
    assert_eq!(faults(&text), [(None, "the pools hold 241 counters, more than 240".to_owned())]);
}

/// 8.7: a gunboat carries one land unit, a boat two, and nothing else carries any.
#[test]
fn vessels_carry_as_rule_8_7_says() {
    let carriers: Vec<(&str, u8)> = Kind::ALL
        .into_iter()
        .map(|kind| (kind.id(), Catalogue::builtin().of(kind).carries))
        .filter(|&(_, carries)| carries > 0)
        .collect();
    assert_eq!(carriers, [("gunboat", 1), ("british_gunboat", 1), ("boat", 2), ("mahdist_boat", 2)]);
}
