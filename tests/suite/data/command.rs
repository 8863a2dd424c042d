//! `dervish scenario` as its users call it.

use crate::dervish_binary::{dervish, refusal};

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
