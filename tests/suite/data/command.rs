//! `dervish scenario` as its users call it.

use crate::dervish_binary::{dervish, refusal};

const SOUAKIM: &str = include_str!("../../../env/data/dervish/scenarios/souakim.toml");

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
}

#[test]
fn the_four_scenarios_are_listed() {
    let output = dervish(&["scenario", "list"]);
    assert!(output.status.success() && output.stderr.is_empty());
    // Titles, months and turns of 2.4-2.6.
    let expected = [
        "el-obeid   The Relief of El Obeid, 1882-10 to 1884-02 (17 turns)",
        "khartoum   The Relief (Siege) of Khartoum, 1884-02 to 1885-07 (18 turns)",
        "souakim    Souakim, 1884-02 to 1884-06 (5 turns)",
        "kordofan   Kordofan, 1882-10 to 1883-03 (6 turns)",
    ];
    let found = lines(&output.stdout);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
}

/// Every fault is told on a line of its own, sound scenarios are told too, and the status is 2.
#[test]
fn check_tells_every_fault_of_every_file() {
    let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/data/bad_scenarios/several_faults.toml");
    let output = dervish(&["scenario", "check", bad, "souakim", "nowhere.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let ok = lines(&output.stdout);
    assert!(ok.len() == 1 && ok[0].starts_with("souakim: ok: Souakim, "), "{ok:?}");
    let faults = lines(&output.stderr);
    let expected = [
        format!("{bad}:11: unknown field `wind`"),
        format!("{bad}:22: unknown unit `rifle_y`"),
        format!("{bad}:32: `March` is not a month YYYY-MM"),
        format!("{bad}:37: unknown place `Atlantis`"),
    ];
    assert_eq!(faults[..4], expected);
    assert!(faults[4].starts_with("nowhere.toml: cannot be read: "), "{}", faults[4]);
    assert_eq!(faults[5..], ["dervish: 2 of 3 scenarios have faults"]);
}

#[test]
fn check_asks_for_a_file() {
    assert!(refusal(&["scenario", "check"]).contains("<FILE>"));
}

#[test]
fn the_scenarios_of_the_game_and_of_its_players_are_sound() {
    let names = ["el-obeid", "khartoum", "souakim", "kordofan"];
    let output = dervish(&[&["scenario", "check"], &names[..]].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let built_in = lines(&output.stdout);
    assert_eq!(built_in.len(), names.len());
    for (line, name) in built_in.iter().zip(names) {
        assert!(line.starts_with(&format!("{name}: ok: ")), "{line}");
    }
    // A copy of a scenario in a file of one's own has the same data, and so the same hash.
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.toml");
    std::fs::write(&own, SOUAKIM).expect("written");
    let own = own.to_str().expect("UTF-8");
    let output = dervish(&["scenario", "check", own]);
    assert_eq!(lines(&output.stdout), [built_in[2].replacen("souakim", own, 1)]);
    let agents = |game| dervish(&["agents", "--scenario", game]).stdout;
    assert_eq!(agents(own), agents("souakim"));
}

/// A record names its scenario: one that is called as another game, of other content, is played and told all the same.
#[test]
fn a_scenario_with_the_name_of_another_game_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own.toml");
    let own = own.to_str().expect("UTF-8");
    let other = SOUAKIM.replacen("title = \"Souakim\"", "title = \"Another Souakim\"", 1);
    for (text, told) in [
        (other.clone(), Some("souakim")),
        (other.replacen("name = \"souakim\"", "name = \"tiny\"", 1), Some("tiny")),
        (other.replacen("name = \"souakim\"", "name = \"pig\"", 1), Some("pig")),
        (other.replacen("name = \"souakim\"", "name = \"my-souakim\"", 1), None),
        // Comments are no content.
        (format!("# A copy.\n{SOUAKIM}"), None),
    ] {
        std::fs::write(own, text).expect("written");
        let output = dervish(&["scenario", "check", own]);
        assert!(output.status.success(), "{output:?}");
        assert!(lines(&output.stdout)[0].starts_with(&format!("{own}: ok: ")), "{output:?}");
        let warning = told.map(|name| {
            format!(
                "dervish: warning: {own}: `{name}` is the name of another game, which comes with the program; give it one \
                 of its own, or replay its records with --scenario {own}"
            )
        });
        assert_eq!(lines(&output.stderr), Vec::from_iter(warning));
    }
}

/// What cannot be read as text or as TOML is a fault of that file, and the others are checked all the same.
#[test]
fn files_that_are_no_scenarios_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let here = folder.path().to_str().expect("UTF-8").to_owned();
    for (bad, expected) in [
        (here.clone(), "cannot be read"),
        (format!("{here}/none.toml"), "cannot be read"),
        (file("noise.toml", &[0xff, 0xfe, 0x00]), "cannot be read"),
        (file("empty.toml", b""), "missing field `format`"),
        (file("prose.toml", b"format = 1\nThe Mahdi rose in 1881."), ":2: "),
        (file("new.toml", SOUAKIM.replacen("format = 1", "format = 99", 1).as_bytes()), "format 99 is unknown, not 1"),
    ] {
        let output = dervish(&["scenario", "check", &bad, "kordofan"]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(lines(&output.stdout)[0].starts_with("kordofan: ok: "), "{output:?}");
        let faults = lines(&output.stderr);
        assert!(faults[0].starts_with(&bad) && faults[0].contains(expected), "{faults:?}");
        assert!(faults[..faults.len() - 1].iter().all(|fault| fault.starts_with(&bad)), "{faults:?}");
        assert_eq!(faults.last().map(String::as_str), Some("dervish: 1 of 2 scenarios have faults"));
        // Whoever wants to use it hears of the first fault.
        let told = refusal(&["agents", "--scenario", &bad]);
        assert!(told.starts_with(&format!("dervish: {}", faults[0])), "{told}");
    }
    assert!(refusal(&["agents"]).contains("--scenario <SCENARIO>"));
    assert!(refusal(&["scenario"]).contains("dervish scenario --help"));
    assert!(refusal(&["scenario", "list", "souakim"]).contains("'souakim'"));
}
