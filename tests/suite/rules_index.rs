//! `env/RULES.md` against the rules, the code and the tests: nothing is missing on either side, nothing points nowhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dervish_env::dervish::tables::Event;

/// Chapters of the rules and how many rules each has.
const CHAPTERS: [(u32, u32); 14] = [
    (1, 7),
    (2, 7),
    (3, 3),
    (4, 4),
    (5, 4),
    (6, 4),
    (7, 2),
    (8, 12),
    (9, 13),
    (10, 5),
    (11, 1),
    (12, 3),
    (13, 9),
    (14, 5),
];
/// Rules with numbers out of the row.
const BETWEEN: [&str; 3] = ["2.1a", "8.31", "9.41"];
/// Events of both players.
const SHARED: [Event; 2] = [Event::DryWeather, Event::GoodHarvest];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// One row of the table.
struct Row {
    rule: String,
    source: String,
    reading: String,
    code: String,
    test: String,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("env/RULES.md")).unwrap();
    let rows: Vec<Row> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| {
            let cells: Vec<String> = line.split(" | ").map(|cell| cell.trim().to_owned()).collect();
            let [rule, source, reading, code, test] =
                <[String; 5]>::try_from(cells).unwrap_or_else(|cells| panic!("not five cells: {cells:?}"));
            let bare = |cell: String| cell.trim_matches('`').to_owned();
            Row { rule, source, reading, code: bare(code), test: bare(test) }
        })
        .collect();
    assert!(!rows.is_empty(), "no rows were read");
    rows
}

fn numbers() -> BTreeSet<String> {
    let counted =
        CHAPTERS.iter().flat_map(|(chapter, rules)| (1..=*rules).map(move |rule| format!("{chapter}.{rule}")));
    counted.chain(BETWEEN.iter().map(ToString::to_string)).collect()
}

/// Rule numbers in a comment: `8.31`, `2.1a`; not `0.5` (a number), nor `1.0.0` (a version).
fn cited(comment: &str) -> Vec<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut found = Vec::new();
    for token in comment.split(|c| !word(c)) {
        let token = token.trim_matches('.');
        let Some((chapter, rule)) = token.split_once('.') else { continue };
        let digits = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_digit()) && !s.starts_with('0');
        if digits(chapter) && digits(rule.strip_suffix('a').unwrap_or(rule)) {
            found.push(token.to_owned());
        }
    }
    found
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_rule_and_every_event_has_one_row() {
    let mut expected: Vec<String> = numbers().into_iter().collect();
    let mut add = |chapter: &str, event: Event| expected.push(format!("{chapter} `{}`", event.id()));
    // 4.1: the Egyptian player's events come first in the order of the slugs.
    let first_mahdist = Event::ALL.iter().position(|e| e.id() == "desertion").unwrap();
    for (i, event) in Event::ALL.iter().enumerate() {
        add(if i < first_mahdist { "4.3" } else { "4.4" }, *event);
    }
    for event in SHARED {
        add("4.4", event);
    }
    expected.sort();
    let mut found: Vec<String> = rows().into_iter().map(|row| row.rule).collect();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn every_row_has_a_source_and_a_reading() {
    for row in rows() {
        let tags: Vec<&str> = row.source.split(' ').collect();
        assert!(tags.iter().all(|t| ["[T]", "[S]", "[O]", "[X]", "[R]"].contains(t)), "{}: {}", row.rule, row.source);
        assert!(row.reading.ends_with('.'), "{}: {}", row.rule, row.reading);
    }
}

#[test]
fn rules_cited_in_code_are_rules() {
    let numbers = numbers();
    let mut cited_anywhere = BTreeSet::new();
    for path in sources(&root().join("env/src/dervish")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, text) in text.lines().enumerate() {
            let Some((_, comment)) = text.split_once("//") else { continue };
            for number in cited(comment) {
                assert!(numbers.contains(&number), "{}:{}: there is no rule {number}", path.display(), line + 1);
                cited_anywhere.insert(number);
            }
        }
    }
    for chapter in 1..=14 {
        let prefix = format!("{chapter}.");
        assert!(cited_anywhere.iter().any(|n| n.starts_with(&prefix)), "no rule of chapter {chapter} is cited");
    }
}

#[test]
fn citations_are_told_from_other_numbers() {
    assert_eq!(cited(" rule 8.31, (9.6); 2.1a. From 4.3-4.4 on"), ["8.31", "9.6", "2.1a", "4.3", "4.4"]);
    assert!(cited(" 0.5 of 1.0, version 1.2.3, e.g. x1.5").is_empty());
}

#[test]
fn code_items_exist() {
    for row in rows() {
        let (file, item) = row.code.split_once("::").unwrap_or_else(|| panic!("{}: {}", row.rule, row.code));
        let text = std::fs::read_to_string(root().join("env").join(file))
            .unwrap_or_else(|error| panic!("{}: {file}: {error}", row.rule));
        let defined = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == item);
        assert!(defined, "{}: no {item} in {file}", row.rule);
    }
}

#[test]
fn tests_exist() {
    for row in rows() {
        let (module, name) = row.test.rsplit_once("::").unwrap_or_else(|| panic!("{}: {}", row.rule, row.test));
        let file = format!("tests/suite/{}.rs", module.replace("::", "/"));
        let text =
            std::fs::read_to_string(root().join(&file)).unwrap_or_else(|error| panic!("{}: {file}: {error}", row.rule));
        let declared = format!("#[test]\nfn {name}()");
        let inner = format!("fn {name}(");
        assert!(text.contains(&declared) || text.contains(&inner), "{}: no test {name} in {file}", row.rule);
    }
}
