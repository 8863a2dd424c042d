//! Movement on maps of users, for what no hex of the Sudan shows.

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rules_table::Table;

/// A map all clear but for regions, rivers and railway, and a scenario of twelve months on it from February 1884.
struct OwnMap {
    folder: TempDir,
}

impl OwnMap {
    /// `regions`: a letter a hex, `m` main map and `s` extension; `sections`: rivers, reaches, railway.
    fn new(regions: &[String], sections: &str) -> OwnMap {
        let layer = |letter: char| vec![letter.to_string().repeat(regions[0].len()); regions.len()].join("\n");
        let map = format!(
            "[grid]\ncolumns = {}\nrows = {}\n[terrain]\nkinds = {{ \".\" = \"clear\" }}\nrows = \"\"\"\n{}\n\"\"\"\n\
             [regions]\nkinds = {{ m = \"main\", s = \"souakim\" }}\nrows = \"\"\"\n{}\n\"\"\"\n\
             [districts]\nkinds = {{ p = \"plain\" }}\nrows = \"\"\"\n{}\n\"\"\"\n{sections}\n\
             [[place]]\nname = \"Zariba\"\nkind = \"town\"\nhex = \"0000\"\n",
            regions[0].len(),
            regions.len(),
            layer('.'),
            regions.join("\n"),
            layer('p'),
        );
        let railway = sections.contains("[railway]");
        let scenario = format!(
            "format = 1\nname = \"plain\"\ntitle = \"Plain\"\nmap = \"map.toml\"\nhexes = \"all\"\n\
             first_month = \"1884-02\"\nturns = 12\nfirst_player = \"egyptian\"\nevents = \"khartoum\"\n\
             railway = {railway}\n[victory.points]\npoints = {{ Zariba = 1 }}\nmahdists_per_point = 1\n\
             egyptians_per_point = 1\n"
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("map.toml"), map).unwrap();
        std::fs::write(folder.path().join("scenario.toml"), scenario).unwrap();
        OwnMap { folder }
    }

    /// As [`Table::set`], without the name of the scenario.
    fn set(&self, when: &str, stacks: &[(&str, &str)], more: Value) -> Table {
        Table::set(&format!("{} {when}", self.folder.path().join("scenario.toml").display()), stacks, more)
    }
}

/// Two hexsides round 0101, the lower one of a `high` reach, the upper one of a `none` reach: 0201 lies over the first,
/// 0200 over the second.
fn two_reaches(regions: &[&str; 3]) -> OwnMap {
    let reach = |side: &str, navigable: bool, season: &str| {
        format!(
            "[[reach]]\nriver = \"wadi\"\nname = \"{side}\"\nfirst = \"{side}\"\nlast = \"{side}\"\n\
             navigable = {navigable}\nseason = \"{season}\"\n"
        )
    };
    let river = "[[river]]\nid = \"wadi\"\nname = \"Wadi\"\nseasonal = false\njoins = \"\"\n\
                 hexsides = [\"0101/E\", \"0101/NE\"]\n";
    let sections = [river, &reach("0101/E", true, "high"), &reach("0101/NE", false, "none")].concat();
    OwnMap::new(&regions.map(str::to_owned), &sections)
}

/// 8.9: with railway from edge to edge a group of cavalry goes anywhere within nine hexes of it: on a grid of 51 columns
/// that is nineteen rows.
#[test]
fn a_long_railway_opens_all_the_country_beside_it() {
    let line: Vec<String> = (0..51).map(|column| format!("\"{column:02}27\"")).collect();
    let sections = format!("[railway]\nhexes = [{}]\n", line.join(", "));
    let map = OwnMap::new(&vec!["m".repeat(51); 54], &sections);
    let more = json!({"railway": 50, "events": {"field_forces": 0}});
    let mut table = map.set("1 egyptian march", &[("2527", "1 british_cavalry"), ("0000", "1 rifle_r")], more);
    table.play(&["march 2527"]).roll(4);
    assert!(table.may("to 0018") && table.may("to 5036") && !table.may("to 2517"));
    assert_eq!(table.legal().len(), 19 * 51);
}

/// 8.7: the way between a `high` and a `none` reach is a haul, at high Nile only.
#[test]
fn from_a_high_reach_into_a_closed_one() {
    let map = two_reaches(&["mmm", "mmm", "mmm"]);
    let ways = |month: u8, vessel: &str, from: &str| -> Vec<String> {
        let stacks = [(from, vessel), ("0002", "1 rifle_r")];
        let mut table = map.set(&format!("{} egyptian march", month - 1), &stacks, json!({}));
        if !table.may(&format!("march {from}")) {
            return Vec::new();
        }
        table.play(&[&format!("march {from}")]);
        // With one way it is taken at once (3.3).
        if table.waits() == "vessel_hex" { table.legal() } else { vec!["the only one".to_owned()] }
    };
    for month in [6, 12] {
        assert!(ways(month, "1 boat", "0201").is_empty(), "month {month}");
        assert!(ways(month, "1 gunboat", "0201").is_empty(), "month {month}");
    }
    for month in [7, 11] {
        assert_eq!(ways(month, "1 boat", "0201"), ["sail 0101", "sail 0200"], "month {month}");
        assert_eq!(ways(month, "1 gunboat", "0201"), ["the only one"], "month {month}");
    }
    // The closed reach by itself is hauled at any season.
    assert_eq!(ways(6, "1 boat", "0200"), ["the only one"]);
    assert!(ways(6, "1 gunboat", "0200").is_empty());
}

/// 4.4 `religious_disagreement`: no boat goes from the main map to the extension, and one that has no other way stays.
#[test]
fn a_boat_that_may_not_enter_the_extension_stays() {
    let map = two_reaches(&["mmm", "mms", "mmm"]);
    let sails = |religious: bool| {
        let more = json!({"events": {"religious_disagreement": religious}});
        let stacks = [("0101", "1 mahdist_boat"), ("0002", "1 mahdist_spearmen")];
        let mut table = map.set("6 mahdist march", &stacks, more);
        // In July 0201 is open to it, and 0200 too, but for the hauling.
        table.play(&["march 0101"]);
        (table.may("sail 0201"), table.may("sail 0200"))
    };
    assert_eq!(sails(false), (true, true));
    let map = two_reaches(&["mms", "mms", "mmm"]);
    let more = json!({"events": {"religious_disagreement": true}});
    let stacks = [("0101", "1 mahdist_boat"), ("0002", "1 mahdist_spearmen")];
    let table = map.set("6 mahdist march", &stacks, more);
    assert!(!table.may("march 0101"));
}
