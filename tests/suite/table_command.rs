//! `dervish table` as its users call it. The tables themselves are tested in `tables`.

use std::collections::BTreeSet;

use dervish_env::dervish::tables::Event;
use serde_json::{Value, json};

use crate::dervish_binary::{dervish, json_of, refusal};

fn table(args: &str) -> Value {
    json_of(&[&["table"], args.split(' ').collect::<Vec<_>>().as_slice()].concat())
}

fn refused(args: &str) -> String {
    refusal(&[&["table"], args.split(' ').collect::<Vec<_>>().as_slice()].concat())
}

#[test]
fn rolls_are_looked_up() {
    assert_eq!(table("march --die 0"), json!({"result": "march", "disrupted_percent": 50}));
    assert_eq!(table("march --die 1"), json!({"result": "march", "disrupted_percent": 25}));
    assert_eq!(table("march --die 2"), json!({"result": "no_march", "disrupted_percent": 0}));
    assert_eq!(table("march --die=7"), json!({"result": "march", "disrupted_percent": 0}));
    assert_eq!(table("morale --class L --roll 4"), json!({"result": "fail"}));
    assert_eq!(table("morale --class V --roll 8"), json!({"result": "steady"}));
    assert_eq!(table("attrition --row desert --die 6"), json!({"unaffected": 8}));
    assert_eq!(table("attrition --row unbesieged_town --die 1"), json!({"unaffected": null}));
    assert_eq!(table("recovery --class F --roll 7"), json!({"result": "hold"}));
}

#[test]
fn negative_numbers_are_numbers() {
    for die in ["--die -3", "--die=-3"] {
        assert_eq!(table(&format!("march {die}")), json!({"result": "march", "disrupted_percent": 50}));
        assert_eq!(table(&format!("attrition --row cultivated {die}")), json!({"unaffected": 8}));
    }
    for roll in ["--roll -3", "--roll=-3"] {
        assert_eq!(table(&format!("morale --class V {roll}")), json!({"result": "fail"}));
        assert_eq!(table(&format!("recovery --class V {roll}")), json!({"result": "fail"}));
    }
}

#[test]
fn events_by_scenario() {
    let event = |args: &str| table(&format!("event {args}"))["event"].as_str().map(str::to_owned);
    assert_eq!(event("--side egyptian --scenario el-obeid --roll 13").as_deref(), Some("poor_morale"));
    assert_eq!(event("--side egyptian --scenario khartoum --roll 13").as_deref(), Some("withdraw"));
    assert_eq!(event("--side mahdist --scenario el-obeid --roll 21").as_deref(), Some("boats"));
    // Scenario 3 reads the column of 2, scenario 4 that of 1 (4.1).
    assert_eq!(event("--side mahdist --scenario souakim --roll 21").as_deref(), Some("ethiopia_war"));
    assert_eq!(event("--side mahdist --scenario kordofan --roll 21").as_deref(), Some("boats"));
    let answer = table("event --side mahdist --scenario khartoum --roll 66");
    let meaning = "One unit of Mahdist rifles becomes spearmen.";
    assert_eq!(answer, json!({"event": "rifle_shortage", "rolls": [64, 66], "meaning": meaning}));
    let answer = table("event --side egyptian --scenario khartoum --roll 12");
    let meaning = "If the Mahdist holds Khartoum, this game turn is the last.";
    assert_eq!(answer, json!({"event": "withdraw", "rolls": [11, 13], "meaning": meaning}));
}

/// One sentence for each event, with what rules 4.3 and 4.4 say of it.
#[test]
fn every_event_says_what_it_means() {
    let meanings: BTreeSet<&str> = Event::ALL.iter().map(|event| event.meaning()).collect();
    assert_eq!(meanings.len(), Event::ALL.len());
    for meaning in meanings {
        let sentence = meaning.ends_with('.') && !meaning.contains('\n') && !meaning.contains(". ");
        assert!(sentence && meaning.len() <= 120, "{meaning}");
    }
    for (event, said) in [
        (Event::PoorMorale, &["class L", "class R", "game turn"][..]),
        (Event::Withdraw, &["Mahdist holds Khartoum", "game turn", "last"]),
        (Event::Navy, &["fleet", "Naval infantry", "Souakim"]),
        (Event::FieldForce, &["Souakim", "reinforcement phase"]),
        (Event::FieldForceLeaves, &["British", "Souakim extension", "reinforcement phase"]),
        (Event::Supply, &["supply", "camel", "Khartoum", "besieged"]),
        (Event::GunboatSinks, &["gunboat", "doubles", "2D6"]),
        (Event::SpoiltBiscuits, &["supply phase", "supply unit"]),
        (Event::Dissension, &["may", "three combat units", "leader", "levies"]),
        (Event::Urgency, &["first group", "+1", "march rolls"]),
        (Event::Training, &["may", "levy", "rifle_r", "rifle_l"]),
        (Event::DryWeather, &["Not from November to February", "oases", "-1"]),
        (Event::GoodHarvest, &["Only from November to February", "+1"]),
        (Event::ElObeidShortage, &["El Obeid", "one unit", "no civilian"]),
        (Event::KhartoumShortage, &["Khartoum", "one unit", "no civilian"]),
        (Event::Desertion, &["combat units", "D6", "choice"]),
        (Event::ReligiousDisagreement, &["Souakim extension", "Osman Digma"]),
        (Event::Boats, &["boat", "navigable"]),
        (Event::EthiopiaWar, &["Once", "2D6", "main map", "Goz Regeb"]),
        (Event::EthiopiaPeace, &["4 or more", "2D6", "Goz Regeb"]),
        (Event::PoorCommunications, &["leaders", "march or sail", "attack"]),
        (Event::GunShortage, &["gun"]),
        (Event::ReligiousFervour, &["first group", "+1", "march rolls", "attrition"]),
        (Event::GarrisonSurrenders, &["besieged", "not in Khartoum", "without British"]),
        (Event::LocalsDeclare, &["2D6 spearmen", "towns and oases"]),
    ] {
        assert!(said.iter().all(|words| event.meaning().contains(words)), "{}", event.meaning());
    }
}

/// The rows of a whole table, cell by cell.
fn whole(args: &str) -> Vec<Vec<String>> {
    let output = dervish(&[&["table"], args.split(' ').collect::<Vec<_>>().as_slice()].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{args}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows = text.lines().filter(|line| line.starts_with('│'));
    rows.map(|row| row.trim_matches('│').split('┆').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// As the sheet has them, but that its gaps are filled (9.6: the rolls below shaken fail).
#[test]
fn without_a_roll_the_whole_table_is_shown() {
    let march = [["D6", "the group"], ["<1", "marches, 50% of its units are disrupted"]];
    let march = march.into_iter().chain([["1", "marches, 25% of its units are disrupted"], ["2", "does not march"]]);
    assert_eq!(whole("march"), march.chain([["3+", "marches"]]).collect::<Vec<_>>());
    let morale = [
        ["class", "fail", "shaken", "hold", "steady", "good"],
        ["R rabble", "<6", "6-7", "8-9", "10-11", "12+"],
        ["L line", "<5", "5-6", "7-9", "10", "11+"],
        ["F fanatic", "<6", "6", "7-8", "9-10", "11+"],
        ["V veteran", "<5", "5-6", "7", "8-9", "10+"],
    ];
    assert_eq!(whole("morale"), morale);
    // A part of it.
    assert_eq!(whole("morale --class v"), [morale[0], morale[4]]);
    let recovery = [
        ["class", "fail", "hold", "good"],
        ["R rabble", "<7", "7-9", "10+"],
        ["L line", "<5", "5-8", "9+"],
        ["F fanatic", "<7", "7", "8+"],
        ["V veteran", "<4", "4-6", "7+"],
    ];
    assert_eq!(whole("recovery"), recovery);
    let attrition = [
        ["stack in", "1", "2", "3", "4", "5", "6"],
        ["unbesieged_town", "all", "all", "all", "all", "all", "all"],
        ["besieged_place", "4", "5", "6", "6", "8", "12"],
        ["desert", "0", "0", "2", "4", "6", "8"],
        ["clear", "6", "6", "8", "8", "12", "16"],
        ["cultivated", "8", "10", "12", "16", "20", "20"],
    ];
    assert_eq!(whole("attrition"), attrition);
    assert_eq!(whole("attrition --row desert"), [attrition[0], attrition[3]]);
}

/// Twelve lines of three rolls for each side (4.1); a meaning may take more than one line.
#[test]
fn the_event_tables_of_a_scenario_are_shown() {
    let lines = |args: &str| -> Vec<[String; 3]> {
        let rows = whole(args).into_iter().skip(1).filter(|row| !row[1].is_empty());
        rows.map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]).collect()
    };
    let khartoum = lines("event --scenario khartoum");
    assert_eq!(khartoum.len(), 24);
    let line = |side: &str, rolls: &str, event: &str| [side, rolls, event].map(str::to_owned);
    assert_eq!(khartoum[0], line("egyptian", "11-13", "withdraw"));
    assert_eq!(khartoum[23], line("mahdist", "64-66", "rifle_shortage"));
    assert!(khartoum.contains(&line("mahdist", "21-23", "ethiopia_war")));
    assert_eq!(lines("event --scenario khartoum --side mahdist"), khartoum[12..]);
    assert!(lines("event --scenario el-obeid").contains(&line("mahdist", "21-23", "boats")));
}

/// 2.1: the letters of the classes in words; how many dice an option means.
#[test]
fn the_help_tells_classes_and_dice_in_words() {
    // Lines are broken at spaces.
    let help = |args: &[&str]| {
        let text = String::from_utf8(dervish(args).stdout).expect("UTF-8");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for table in ["morale", "recovery"] {
        let help = help(&["table", table, "--help"]);
        assert!(help.contains("R rabble, L line, F fanatic, V veteran"), "{help}");
        assert!(help.contains("the sum of two dice"), "{help}");
    }
    assert!(help(&["table", "march", "--help"]).contains("one die"));
    assert!(help(&["table", "--help"]).contains("--die is one D6, --roll is two (a D66 for an event)"));
}

#[test]
fn names_are_read_in_capitals_and_small_letters() {
    for (typed, usual) in [
        ("morale --class l --roll 4", "morale --class L --roll 4"),
        ("attrition --row Unbesieged_Town --die 1", "attrition --row unbesieged_town --die 1"),
        ("event --side Egyptian --scenario khartoum --roll 12", "event --side egyptian --scenario khartoum --roll 12"),
    ] {
        assert_eq!(table(typed), table(usual));
    }
}

#[test]
fn bad_arguments_are_told_on_one_line() {
    let cases = [
        ("march --die six", "six"),
        ("march --die 99999999999", "99999999999"),
        ("morale --roll 7", "--class"),
        ("attrition --die 3", "--row"),
        ("event --scenario khartoum --roll 11", "--side"),
        ("morale --class X --roll 7", "X"),
        ("attrition --row swamp --die 3", "swamp"),
        ("event --side british --scenario khartoum --roll 11", "british"),
        ("event --side egyptian --scenario khartoum --roll 17", "17"),
        ("event --side egyptian --scenario khartoum --roll 71", "71"),
        ("event --side egyptian --scenario fashoda --roll 11", "fashoda"),
        ("cavalry --die 3", "cavalry"),
        ("march --die 3 --roll 7", "--roll"),
    ];
    for (args, names) in cases {
        let line = refused(args);
        assert!(line.contains(names), "{args}: {line}");
    }
    assert_eq!(refusal(&[]), "dervish: no command given; see `dervish --help`\n");
    assert_eq!(refusal(&["table"]), "dervish: no command given; see `dervish table --help`\n");
    assert_eq!(refusal(&["position"]), "dervish: no command given; see `dervish position --help`\n");
    let misspelt = refusal(&["tabel"]);
    assert!(misspelt.contains("'tabel'") && misspelt.contains("'table'"), "{misspelt}");
}

#[test]
fn help_is_no_error() {
    for args in [&["--help"][..], &["table", "--help"], &["battle", "--help"], &["--version"]] {
        let output = dervish(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn no_sentence_of_the_help_is_broken() {
    let help = |args: &[&str]| String::from_utf8(dervish(args).stdout).expect("UTF-8");
    let all = help(&["--help"]);
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() >= 14, "{all}");
    for command in commands {
        for line in help(&[command, "-h"]).lines() {
            // clap reads `{n}` in a comment as a line break, and leaves the space before it.
            assert!(!line.ends_with(' '), "{command}: {line:?}");
        }
    }
}
