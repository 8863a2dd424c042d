//! The campaign obeys the laws of the framework, in every scenario.

use dervish_env::conformance::{Options, Report, check_game};
use dervish_env::dervish::Campaign;
use dervish_env::dervish::decision::Decision;
use dervish_env::dervish::order::{ACTIONS, Order};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::game::Action;

fn report_of(name: &str, games: usize) -> Report {
    let scenario = Scenario::builtin(name).expect("built in");
    // Rule 3.3: with one option or none nobody is asked, so every decision has two at least. A whole combat has 36^4
    // sequences of rolls at most, too many to check in full; of those that have fewer, and of the single rolls of which
    // throws are merged, all that come up are checked.
    let options =
        Options { games, least_choices: 2, merged_nodes: usize::MAX, merged_sequences: 20_000, ..Options::default() };
    check_game(Campaign::new(scenario), &options).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn souakim_conforms() {
    let report = report_of("souakim", 8);
    // Five months of two player turns with one event roll each (2.6, 4.1), unless Souakim falls before.
    assert_eq!(report.games, 8);
    assert!(report.kinds["roll_event"] > 2 * 8 && report.kinds["roll_event"] <= 10 * 8, "{:?}", report.kinds);
    // An escape has two ends, and so has a march, on most dice.
    assert!(report.merged_nodes as u64 > report.kinds["roll_march"] / 2, "{report:?}");
}

#[test]
fn kordofan_conforms() {
    let report = report_of("kordofan", 5);
    // Six months of two player turns (2.6); nothing ends the game early.
    assert_eq!(report.kinds["roll_event"], 12 * 5);
}

#[test]
fn el_obeid_conforms() {
    let report = report_of("el-obeid", 1);
    // Seventeen months at most (2.4).
    assert!(report.kinds["roll_event"] <= 34, "{:?}", report.kinds);
}

#[test]
fn khartoum_conforms() {
    let report = report_of("khartoum", 1);
    // Eighteen months at most (2.5).
    assert!(report.kinds["roll_event"] <= 36, "{:?}", report.kinds);
}

#[test]
fn the_tiny_campaign_conforms() {
    let report = report_of("tiny", 200);
    assert!(report.distinct_positions > 100, "{report:?}");
}

#[test]
fn orders_are_numbered_without_gaps() {
    for i in 0..ACTIONS as u16 {
        let order = Order::of(Action(i)).expect("in the space");
        assert_eq!(order.action(), Action(i));
    }
    assert_eq!(Order::of(Action(ACTIONS as u16)), None);
    // Cells, counts, lines, leaders and verbs: 2754 + 64 + 50 + 12 + 17.
    assert_eq!(ACTIONS, 2897);
}

#[test]
fn a_position_is_small() {
    assert!(size_of::<Campaign>() < 2048);
}

#[test]
fn every_kind_of_decision_has_its_own_name() {
    let mut names: Vec<&str> = Decision::ALL.iter().map(|d| d.id()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Decision::ALL.len());
}
