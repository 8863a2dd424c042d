//! Documents of studies that somebody has edited, and the places of their tables in pages.

use dervish_training::arena::study::document::StudyDocument;
use dervish_training::arena::study::table::{markdown, put_into};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Every figure of a document that another one contradicts is refused, with file and match; so is every field that no document
/// has, in whose place another would be taken for one that is not told.
#[test]
fn figures_that_cannot_be_are_refused() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").join("training/studies");
    let text = fs::read_to_string(studies.join("gates.json")).expect("a study");
    let sound: Value = serde_json::from_str(&text).expect("JSON");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("study.json");
    let read = |document: &Value| {
        fs::write(&path, document.to_string()).expect("written");
        StudyDocument::read(&path).map(|read| read.expect("it is there")).map_err(|error| error.to_string())
    };
    read(&sound).expect("as it was played");
    // A score above 0.6 whose interval has 0.6 in it.
    let statistics = "/matches/4/statistics";
    for (place, value, expected) in [
        ("/score/value", json!(65536), "score of A: 65536 ["),
        ("/score/low", json!(-2), "[-2, "),
        ("/score/low", json!(1), "is no score with its interval"),
        ("/score/value", json!(0.6), "score of A: 0.6 is not the "),
        ("/first_seat_score/high", json!(1.5), "score of the first seat: "),
        ("/contestants/1/seats/0/score/high", json!(2), "score of B on the first seat: "),
        ("/elo/value", json!(1), "score of A: its Elo difference is another score's"),
        ("/contestants/0/total/wins", json!(4_294_967_296_u64), "a count of 4294967296 in "),
        ("/contestants/0/seats/1/tally/wins", json!(0), "the wins, draws and losses of A do not sum to its "),
        ("/contestants/0/forfeits", json!(1_000_000), "A forfeited 1000000 games"),
        ("/pentanomial/0", json!(u64::MAX), "a count of 18446744073709551615 in "),
        ("/pentanomial", json!([0, 0, 0, 0, 0]), "0 pairs are not "),
        ("/games", json!(2), "a count of "),
        ("/distinct_games", json!(0), "0 distinct, in "),
        ("/margin/value", json!(-1.5), "margin: no mean of "),
        ("/margin/standard_error", Value::Null, "margin: no mean of "),
    ] {
        let mut edited = sound.clone();
        *edited.pointer_mut(&format!("{statistics}{place}")).expect("a figure") = value;
        let line = read(&edited).expect_err(place);
        assert!(line.contains("study.json: match 5, doctrine:") && line.contains(expected), "{place}: {line}");
    }
    for (place, value, expected) in [
        ("/matches/1/complete", json!(false), "study.json: match 2, doctrine:"),
        ("/matches/1/games_requested", json!(1), "study.json: match 2, doctrine:"),
        ("/matches/1/sprt/plan/alpha", json!(7), ": sprt: alpha=7 is not between 0 and 1"),
        ("/matches/1/thinking/0/seconds_per_turn", json!(-1), ": thinking: -1 is below 0"),
        ("/played_on/0/seconds", json!(-1), "study.json: -1 seconds are no time"),
        ("/played_on/0/games", json!(u64::MAX), "study.json: more games were played than the "),
    ] {
        let mut edited = sound.clone();
        *edited.pointer_mut(place).expect("a figure") = value;
        let line = read(&edited).expect_err(place);
        assert!(line.contains(expected), "{place}: {line}");
    }
    for (place, field) in
        [("/elo", "low"), ("/margin", "standard_error"), ("/contestants/0", "forfeits"), ("", "games")]
    {
        let mut edited = sound.clone();
        let object =
            edited.pointer_mut(&format!("{statistics}{place}")).and_then(Value::as_object_mut).expect("an object");
        let value = object.remove(field).expect("a field");
        object.insert("null".to_string(), value);
        let line = read(&edited).expect_err(place);
        assert!(line.contains("study.json: not the document of a study: unknown field `null`"), "{line}");
    }
    // What stands for no bound where it is left out is told by the score.
    let mut edited = sound.clone();
    edited.pointer_mut("/matches/4/statistics/elo").and_then(Value::as_object_mut).expect("an object").remove("low");
    assert!(read(&edited).expect_err("no bound").contains("its Elo difference is another score's"));
}

/// Where time was bounded, a table tells how many simulations that came to, a dash for an agent without; elsewhere specs tell.
#[test]
fn tables_of_timed_matches_tell_their_simulations() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").join("training/studies");
    let document = |name: &str| StudyDocument::read(&studies.join(name)).expect("readable").expect("it is there");
    let header = "| time a turn, A and B | simulations a decision, A and B | allowed |";
    let mut strength = document("strength.json");
    let [search, doctrine] = &mut strength.matches[0].thinking;
    (search.simulations_per_decision, doctrine.simulations_per_decision) = (110.4, 0.0);
    let table = markdown(&strength);
    assert!(table.contains(header), "{table}");
    let first = table.lines().find(|line| line.starts_with("| souakim |")).expect("a row");
    assert!(first.contains(" | 110, - | 0.50 s a turn |"), "{first}");
    // The gates bound nothing.
    assert!(!markdown(&document("gates.json")).contains("simulations a decision"));
}

const BEGIN: &str = "<!-- study: s -->";
const END: &str = "<!-- end of study: s -->";

#[test]
fn a_page_keeps_its_line_ends() {
    for line_end in ["\n", "\r\n"] {
        let page = |table: &str| ["above", BEGIN, table, END, "below", ""].join(line_end);
        let [old, new] = [page("old"), page(&["new", "lines"].join(line_end))];
        assert_eq!(put_into(&old, "s", "new\nlines\n").expect("a place"), new);
        assert_eq!(put_into(&new, "s", "new\nlines\n").expect("a place"), new);
    }
}

/// A table ends at the end of its own study: what stands between is lost when it is renewed.
#[test]
fn text_between_two_tables_is_not_lost() {
    let put = |lines: &[&str]| put_into(&lines.join("\n"), "s", "new\n").map_err(|error| error.to_string());
    let [begin, end] = ["<!-- study: other -->", "<!-- end of study: other -->"];
    let between = |line: usize| -> Result<String, String> {
        Err(format!("line {line} begins or ends a table before `{END}` ends that of s"))
    };
    assert_eq!(put(&["", BEGIN, "old", begin, "text", end, END, ""]), between(4));
    assert_eq!(put(&[BEGIN, "text", BEGIN, "old", END, ""]), between(3));
    assert_eq!(put(&[begin, BEGIN, "text", end, END, ""]), between(4));
    // One study after another is as it should be.
    let page = |of_s: &str| [begin, "other", end, "text", BEGIN, of_s, END, begin, end, ""].join("\n");
    assert_eq!(put_into(&page("old"), "s", "new\n").expect("a place"), page("new"));
    for missing in [&[""][..], &[END, BEGIN, ""], &[BEGIN, "old", ""], &[BEGIN], &[begin, end, ""]] {
        assert_eq!(put(missing), Err(format!("has no line `{BEGIN}` with `{END}` below it")));
    }
}
