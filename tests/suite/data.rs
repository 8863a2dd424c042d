//! The built-in data: catalogue, map and scenarios, against the rules and against the map read by hand.

use dervish_env::dervish::scenario::Scenario;

/// Each built-in file is sound, for reading it panics otherwise, and is that of its name.
#[test]
fn every_builtin_scenario_loads() {
    for name in Scenario::BUILTIN_NAMES.into_iter().chain(["tiny"]) {
        assert_eq!(Scenario::builtin(name).map(|s| s.name.as_str()), Some(name));
    }
}
