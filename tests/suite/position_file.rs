//! Position files: every position of play is read back as it was, short files by hand are understood, what cannot be is
//! refused with its reason, and whatever is accepted plays on.

mod faults;
mod mutation;

use std::collections::BTreeMap;
use std::path::Path;

use dervish_env::chance::SplitMix64;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::catalogue::{Leader, Side};
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::{Actor, Position, Seat};

/// The scenarios of the game and the one for checks.
const SCENARIOS: [&str; 5] = ["el-obeid", "khartoum", "souakim", "kordofan", "tiny"];

fn start(scenario: &str) -> Campaign {
    Campaign::new(Scenario::builtin(scenario).expect("built-in"))
}

/// Plays one random move or roll; false if the game is over.
fn play_one(position: &mut Campaign, random: &mut SplitMix64) -> bool {
    match position.actor() {
        Actor::Finished => return false,
        Actor::Chance => {
            let mut outcomes = Vec::new();
            position.chance_outcomes_into(&mut outcomes);
            position.resolve_possible(outcomes[random.below(outcomes.len())].outcome);
        }
        Actor::Player(_) => {
            let mut actions = Vec::new();
            position.legal_actions_into(&mut actions);
            position.apply_legal(actions[random.below(actions.len())]);
        }
    }
    true
}

/// Reads a text without a folder; the faults without the name of the file.
fn read(text: &str) -> Result<PositionFile, Vec<String>> {
    PositionFile::parse("p", text, Path::new("")).map_err(|faults| {
        let told = |fault: &dervish_env::dervish::data_file::DataError| fault.to_string();
        faults.iter().map(|fault| told(fault).trim_start_matches("p:").trim().to_owned()).collect()
    })
}

/// The position of a file that says this after what every file says.
fn position(scenario: &str, rest: &str) -> Campaign {
    let text = format!(r#"{{"format": 1, "game": "dervish", "scenario": "{scenario}", {rest}}}"#);
    read(&text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}")).position
}

#[test]
fn every_position_of_play_is_read_back() {
    let mut met: BTreeMap<&str, u32> = BTreeMap::new();
    for (scenario, games) in SCENARIOS.into_iter().zip([4, 4, 16, 16, 16]) {
        for seed in 0..games {
            let mut random = SplitMix64::new(seed);
            let mut position = start(scenario);
            let mut plies = 0;
            loop {
                plies += 1;
                let kind = met.entry(position.pending_kind()).or_default();
                *kind += 1;
                // Rare kinds always, the others now and then.
                if *kind < 100 || plies % 16 == 0 {
                    assert_eq!(position.faults(), Vec::<String>::new(), "{scenario} {seed}: {position:?}");
                    let file = PositionFile { scenario: scenario.to_owned(), position };
                    let text = file.text();
                    assert_eq!(read(&text).as_ref(), Ok(&file), "{text}");
                }
                if !play_one(&mut position, &mut random) {
                    break;
                }
            }
        }
    }
    // In the middle of set-up, event, reinforcement, march, combat, supply and recovery.
    for kind in [
        "setup_count",
        "setup_leader",
        "event_hex",
        "event_line",
        "event_count",
        "roll_event_dice",
        "arrive_hex",
        "recruit_hex",
        "flag_hex",
        "leave_hex",
        "group_count",
        "group_leader",
        "roll_march",
        "group_hex",
        "group_order",
        "vessel_load",
        "vessel_hex",
        "alone_hex",
        "leader_marching",
        "leader_defending",
        "roll_fire_marching",
        "roll_fire_defending",
        "roll_melee_marching",
        "roll_melee_defending",
        "retreat_hex",
        "advance",
        "roll_gunboat",
        "roll_escape",
        "spoilt_hex",
        "supply_choice",
        "roll_attrition",
        "roll_recovery",
        "finished",
    ] {
        assert!(met.contains_key(kind), "no {kind} was met");
    }
}

#[test]
fn a_file_is_laid_out_for_readers() {
    let file = PositionFile {
        scenario: "tiny".to_owned(),
        position: position(
            "tiny",
            r#""turn": 1, "active": "mahdist", "phase": "march", "control": {"Dem": "mahdist"}, "stacks": [
                {"hex": "Zariba", "units": [{"kind": "rifle_l", "count": 1}, {"kind": "rifle_r", "count": 2}]},
                {"hex": "0302", "units": [{"kind": "mahdist_spearmen", "count": 2, "disrupted": true}],
                 "leaders": ["mahdi"]}]"#,
        ),
    };
    let hash = &file.position.identity().rules_hash;
    let expected = format!(
        r#"{{
  "format": 1,
  "game": "dervish",
  "rules_version": 3,
  "rules_hash": "{hash}",
  "scenario": "tiny",
  "turn": 1,
  "month": "1884-02",
  "active": "mahdist",
  "phase": "march",
  "pending": {{
    "decision": "march_hex"
  }},
  "stacks": [
    {{"hex": "0101", "units": [{{"kind": "rifle_r", "count": 2}}, {{"kind": "rifle_l", "count": 1}}]}},
    {{"hex": "0302", "units": [{{"kind": "mahdist_spearmen", "count": 2, "disrupted": true}}], "leaders": ["mahdi"]}}
  ],
  "control": {{
    "Zariba": "egyptian",
    "Dem": "mahdist"
  }}
}}
"#
    );
    assert_eq!(file.text(), expected);
}

/// Left out: the phase is at its start, places are their garrisons' (2.7), reinforcements of earlier turns have come.
#[test]
fn a_short_file_is_the_start_of_its_phase() {
    let march = position(
        "khartoum",
        r#""turn": 9, "active": "egyptian", "phase": "march",
           "stacks": [{"hex": "Korti", "units": [{"kind": "camel_corps", "count": 3}], "leaders": ["stewart"]}]"#,
    );
    assert_eq!((march.pending().decision, march.actor()), (Decision::MarchHex, Actor::Player(Seat::First)));
    assert_eq!((march.game_turn(), march.month(), march.phase()), (8, 10, Phase::March));
    let korti = march.scenario().board.place_named("Korti").expect("a place");
    assert_eq!(march.controller(korti), Some(Side::Egyptian));
    let khartoum = march.scenario().board.place_named("Khartoum").expect("a place");
    assert_eq!(march.controller(khartoum), None);
    assert!(march.leader(Leader::Stewart).hex.is_some() && !march.leader(Leader::Gordon).hex.is_some());

    let event = position("souakim", r#""turn": 1, "active": "mahdist", "phase": "event""#);
    assert_eq!((event.pending().decision, event.actor()), (Decision::RollEvent, Actor::Chance));
    let setup = position("souakim", r#""turn": 1, "active": "mahdist", "phase": "setup""#);
    assert_eq!((setup.pending().decision, setup.actor()), (Decision::SetupHex, Actor::Player(Seat::Second)));
}

/// 10.1: a stack in the desert rolls unless a supply unit is in its hex, when its owner has the choice; one in an
/// unbesieged town is passed over. 11.1: disrupted units roll for recovery.
#[test]
fn supply_and_recovery_begin_with_the_stack_that_is_there() {
    let supply = |units: &str| {
        let rest = format!(
            r#""turn": 1, "active": "egyptian", "phase": "supply", "stacks": [{{"hex": "4608", "units": [{units}]}}]"#
        );
        position("souakim", &rest).pending()
    };
    let alone = supply(r#"{"kind": "rifle_r", "count": 9}"#);
    assert_eq!((alone.decision, alone.hex.to_string().as_str()), (Decision::RollAttrition, "4608"));
    let supplied = supply(r#"{"kind": "rifle_r", "count": 9}, {"kind": "supply", "count": 1}"#);
    assert_eq!(supplied.decision, Decision::SupplyChoice);
    let town = position(
        "souakim",
        r#""turn": 1, "active": "egyptian", "phase": "supply",
           "stacks": [{"hex": "Souakim", "units": [{"kind": "rifle_r", "count": 9}]}]"#,
    );
    // An unbesieged town is passed over (10.1), nobody is disrupted, and the next game turn begins.
    assert_eq!((town.pending().decision, town.game_turn()), (Decision::RollEvent, 1));
    let recovery = position(
        "souakim",
        r#""turn": 1, "active": "egyptian", "phase": "recovery",
           "stacks": [{"hex": "Sinkat", "units": [{"kind": "rifle_r", "count": 9, "disrupted": true}]}]"#,
    );
    assert_eq!(recovery.pending().decision, Decision::RollRecovery);
}

/// 14.3: Sinkat 2 and Tokar 1 for the Egyptian player; the Mahdist has Tamai 2 and 1 for each combat unit eliminated:
/// 3 to 2 wins, 3 to 3 is a draw.
#[test]
fn the_last_recovery_phase_ends_the_game() {
    let end = |eliminated: u16| {
        let rest = format!(
            r#""turn": 5, "active": "egyptian", "phase": "recovery", "eliminated": {{"egyptian": {eliminated}}},
               "control": {{"Sinkat": "egyptian", "Tokar": "egyptian", "Tamai": "mahdist"}}"#
        );
        position("souakim", &rest).result().map(|result| result.winner)
    };
    assert_eq!(end(0), Some(Some(Seat::First)));
    assert_eq!(end(1), Some(None));
    assert_eq!(end(2), Some(Some(Seat::Second)));
}

/// The scenario of a file is looked for in the folder of the position file.
#[test]
fn a_scenario_file_is_found_beside_the_position() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = include_str!("../../env/data/dervish/scenarios/souakim.toml").replace("turns = 5 ", "turns = 9 ");
    std::fs::write(folder.path().join("long.toml"), own).expect("written");
    let text = r#"{"format": 1, "game": "dervish", "scenario": "long.toml", "turn": 9, "active": "mahdist", "phase": "march"}"#;
    let path = folder.path().join("p.json");
    std::fs::write(&path, text).expect("written");
    let file = PositionFile::load(&path).expect("sound");
    assert_eq!((file.position.scenario().turns, file.position.game_turn()), (9, 8));
    assert_eq!(Path::new(&file.scenario), folder.path().join("long.toml"));
    // Its own text finds the scenario from anywhere.
    assert_eq!(read(&file.text()), Ok(file));
    let reason = PositionFile::load(Path::new("no_such_position.json")).expect_err("not there")[0].to_string();
    assert!(reason.starts_with("no_such_position.json: "), "{reason}");
}
