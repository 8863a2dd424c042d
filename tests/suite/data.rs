//! Bad and good scenario files, and hashes. The built-in ones are checked against the rules in the modules below.

mod catalogue;
mod command;
mod map;
mod scenarios;

use std::path::{Path, PathBuf};

use dervish_env::dervish::data_file::DataError;
use dervish_env::dervish::map_file::MapFile;
use dervish_env::dervish::scenario::Scenario;

/// Each built-in file is sound, for reading it panics otherwise, and is that of its name.
#[test]
fn every_builtin_scenario_loads() {
    for name in Scenario::BUILTIN_NAMES.into_iter().chain(["tiny"]) {
        assert_eq!(Scenario::builtin(name).map(|s| s.name.as_str()), Some(name));
    }
    assert!(Scenario::builtin("omdurman").is_none());
}

/// Every file of `data/bad_scenarios` names its faults in its first lines, as `# fault: LINE: REASON` with `-` for no
/// line: just these are found, in this order.
#[test]
fn bad_scenarios_are_refused_with_line_and_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/bad_scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 40, "only {} files", files.len());
    let mut wrong = String::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let expected: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# fault: ")).collect();
        let faults = Scenario::load(&path).err().unwrap_or_default();
        let line = |fault: &DataError| fault.line.map_or("-".to_owned(), |line| line.to_string());
        let found: Vec<String> = faults.iter().map(|fault| format!("{}: {}", line(fault), fault.reason)).collect();
        if found != expected || expected.is_empty() {
            wrong += &format!("{}\n  expected {expected:#?}\n  found {found:#?}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The hash is over what a file says: comments and layout do not count, numbers do.
#[test]
fn the_hash_is_of_the_content() {
    let text = include_str!("../../env/data/dervish/scenarios/souakim.toml");
    let hash = |text: &str| Scenario::parse("x.toml", text, &|_| Err("none".to_owned())).unwrap().hash;
    let builtin = &Scenario::builtin("souakim").unwrap().hash;
    assert_eq!(builtin.len(), 16);
    assert_eq!(hash(text), *builtin);
    assert_eq!(hash(&text.replace(" = ", "  =  ").replace("\n\n", "\n\n# a comment\n")), *builtin);
    assert_ne!(hash(&text.replace("mahdist_spearmen = 10", "mahdist_spearmen = 11")), *builtin);
    let hashes: std::collections::BTreeSet<&str> =
        Scenario::BUILTIN_NAMES.iter().map(|name| Scenario::builtin(name).unwrap().hash.as_str()).collect();
    assert_eq!(hashes.len(), 4);
}

/// A user's scenario with a map of its own beside it, in a file and by name.
#[test]
fn scenarios_come_by_name_or_from_a_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../env/data/dervish");
    let loaded = Scenario::load(&folder.join("tiny/scenario.toml")).unwrap();
    let builtin = Scenario::builtin("tiny").unwrap();
    assert_eq!((&loaded.hash, &loaded.board), (&builtin.hash, &builtin.board));
    assert!(std::ptr::eq(Scenario::named_or_file("tiny").unwrap(), builtin));
    for name in Scenario::BUILTIN_NAMES {
        let file = folder.join(format!("scenarios/{name}.toml"));
        let loaded = Scenario::named_or_file(&file.display().to_string()).unwrap();
        assert_eq!(loaded.hash, Scenario::builtin(name).unwrap().hash);
    }
}

/// A fault is shown on one line, and a name that is neither built in nor a file says so.
#[test]
fn faults_are_shown_on_one_line() {
    let faults = Scenario::named_or_file("no-such-scenario").unwrap_err();
    assert_eq!(faults.len(), 1);
    let shown = faults[0].to_string();
    assert!(shown.starts_with("no-such-scenario: cannot be read: "), "{shown}");
    assert!(shown.ends_with("(built-in are el-obeid, khartoum, souakim, kordofan)"), "{shown}");
    let fault = DataError { file: "a.toml".to_owned(), line: Some(3), reason: "one\ntwo".to_owned() };
    assert_eq!(fault.to_string(), "a.toml:3: one; two");
}

/// Faults of a scenario's own map name the map file, as it lies beside the scenario file.
#[test]
fn faults_of_a_scenarios_map_name_the_map() {
    let text = include_str!("../../env/data/dervish/tiny/scenario.toml");
    let map = include_str!("../../env/data/dervish/tiny/map.toml").replacen("columns = 4", "columns = 60", 1);
    let faults = Scenario::parse("study/tiny.toml", text, &|_| Ok(map.clone())).unwrap_err();
    let shown: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["study/map.toml:4: a map has 1 to 51 columns, not 60"]);
}

/// A file that lacks a line, or ends early, is read or refused with reasons, and never ends the program.
#[test]
fn mangled_files_are_never_a_panic() {
    let scenario = include_str!("../../env/data/dervish/scenarios/khartoum.toml");
    let map = include_str!("../../env/data/dervish/map.toml");
    let without = |text: &str, line: usize| {
        text.lines().enumerate().filter(|&(at, _)| at != line).map(|(_, l)| format!("{l}\n")).collect::<String>()
    };
    let read = |text: &str| Scenario::parse("x.toml", text, &|_| Err("none".to_owned()));
    let read_map = |text: &str| MapFile::parse("x.toml", text);
    let reasons = |faults: Option<Vec<DataError>>| faults.is_none_or(|faults| !faults.is_empty());
    for line in 0..scenario.lines().count() {
        assert!(reasons(read(&without(scenario, line)).err()), "without line {line}");
    }
    for end in (0..scenario.len()).filter(|&end| scenario.is_char_boundary(end)).step_by(7) {
        assert!(reasons(read(&scenario[..end]).err()), "up to {end}");
    }
    for line in (0..map.lines().count()).step_by(3) {
        assert!(reasons(read_map(&without(map, line)).err()), "without line {line}");
        // Hexes, hexsides and counts that are not there.
        let text: String = map
            .lines()
            .enumerate()
            .map(|(at, l)| {
                if at == line {
                    format!("{}\n", l.replace(['1', '4'], "9").replace("NE", "W"))
                } else {
                    format!("{l}\n")
                }
            })
            .collect();
        assert!(reasons(read_map(&text).err()), "with another line {line}");
    }
}
