//! Scenario files (rules 2.4-2.7, 14): the built-in ones of `data/dervish/scenarios` and those of users.
//!
//! # Format
//! TOML; `el-obeid.toml` and `khartoum.toml` show most forms. What is not named here is refused. A *place* is a
//! name or alias of the map file, or a hex `CCRR`; a *month* is `"YYYY-MM"`.
//!
//! | field | meaning |
//! |---|---|
//! | `format` | 1 |
//! | `name`, `title` | short name (letters a-z, digits, hyphens), and title for people |
//! | `map` | map file, relative to this file; left out: the built-in map of the Sudan |
//! | `hexes` | `"all"`, `{ region = "souakim" }`, `{ within = { distance = 12, of = "El Obeid" } }` or `{ list = ["0349"] }` |
//! | `first_month`, `turns` | month of the first game turn, and how many game turns (1-120) |
//! | `first_player` | `egyptian` or `mahdist` (3.1) |
//! | `events` | column of the event tables: `el-obeid` or `khartoum` (4.1) |
//! | `railway` | whether the railway may be built (8.9); left out: false |
//! | `[recruits]` | in a district the Mahdist gains a D6 less `less` (3 if left out), at least 0, and `mahdi` (1) with the Mahdi there, `town` (1) with a town there (5.2) |
//! | `[options]` | `flag` (12), true if left out; `fanatic_charge` (9.4), `marching` or `always` |
//! | `[[garrison]]` | fixed set-up: `at` a place, `units` a table of kind and count, `leaders` a list |
//! | `[[region]]` | set-up by choice (2.7), Mahdist only: `name`, `hexes` a region, `units`, `leaders` |
//! | `[[reinforcement]]` | `side`, `month` or `every_month = { first, last }`, where, `units`, `leaders`, `while_field_force` (5.1) |
//! | `[[field_force]]` | Field Forces 1 and 2: `units`, `leaders`, months `lands` and `leaves` if scheduled (2.5, 2.6) |
//! | `[victory.KIND]` | `el-obeid`, `khartoum`, `points` or `holder`, with the fields of [`Victory`](super::scenario::Victory) |
//!
//! *Where* a reinforcement arrives is one of `at` (a place, or a list of places of which its owner chooses one),
//! `entry` (an entry of the map), `region`, or `any_stack = true`. A region is a table with any of `near` (places),
//! `at_least` and `at_most` (hexes from the nearest of them), `touching` (a river), `south_of` (a place),
//! `joined_to = { bank, river }` (land joined to the bank without crossing a river); all conditions must hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use toml::Spanned;
use xxhash_rust::xxh3::xxh3_64;

use super::board::{Board, CELLS, Ground, Hex};
use super::catalogue::Side;
use super::data_file::{DataError, DataFile, canonical};
use super::map_file::MapFile;
use super::region_file::{RegionTable, anchor};
use super::scenario::{EventColumn, FanaticCharge, Scenario};
use super::scenario_reader::Reader;
use super::{catalogue_file, map_file, tables_file};
use crate::persist::read_text;

/// The format of scenario files that is read.
pub const FORMAT: u32 = 1;
/// Most game turns of a scenario.
pub const MAX_TURNS: u8 = 120;
/// Most reinforcements of a scenario, one for each month of a monthly one.
pub const MAX_REINFORCEMENTS: usize = 64;

/// A scenario that is compiled in, parsed when it is first asked for.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    /// Text of its own map file, if it has one.
    map: &'static str,
    scenario: OnceLock<Scenario>,
}

const fn built_in(name: &'static str, text: &'static str, map: &'static str) -> BuiltIn {
    BuiltIn { name, text, map, scenario: OnceLock::new() }
}

static BUILT_IN: [BuiltIn; 5] = [
    built_in("el-obeid", include_str!("../../data/dervish/scenarios/el-obeid.toml"), ""),
    built_in("khartoum", include_str!("../../data/dervish/scenarios/khartoum.toml"), ""),
    built_in("souakim", include_str!("../../data/dervish/scenarios/souakim.toml"), ""),
    built_in("kordofan", include_str!("../../data/dervish/scenarios/kordofan.toml"), ""),
    built_in(
        "tiny",
        include_str!("../../data/dervish/tiny/scenario.toml"),
        include_str!("../../data/dervish/tiny/map.toml"),
    ),
];

impl Scenario {
    /// The campaigns and studies that come with the game. `tiny` comes with it too, but is for checks.
    pub const BUILTIN_NAMES: [&'static str; 4] = ["el-obeid", "khartoum", "souakim", "kordofan"];

    /// A scenario that comes with the game: one of [`Scenario::BUILTIN_NAMES`] or `tiny`.
    pub fn builtin(name: &str) -> Option<&'static Scenario> {
        let found = BUILT_IN.iter().find(|b| b.name == name)?;
        Some(found.scenario.get_or_init(|| {
            // The file is part of the program, so a fault in it is a fault of the program; a test reads each.
            Scenario::parse(name, found.text, &|_| Ok(found.map.to_owned()))
                .unwrap_or_else(|faults| panic!("built-in scenario: {}", faults[0]))
        }))
    }

    /// A built-in scenario by its name, or else the scenario of a file.
    ///
    /// # Errors
    /// The faults of the file.
    pub fn named_or_file(name: &str) -> Result<&'static Scenario, Vec<DataError>> {
        match Scenario::builtin(name) {
            Some(scenario) => Ok(scenario),
            None => Scenario::load(Path::new(name)),
        }
    }

    /// Reads a scenario file. What is read stays in memory as long as the process lives, since positions refer to it.
    ///
    /// # Errors
    /// Every fault found in the file, or in its map file.
    pub fn load(path: &Path) -> Result<&'static Scenario, Vec<DataError>> {
        let name = if path.as_os_str().is_empty() { "''".to_owned() } else { path.display().to_string() };
        let text = read_text(path).map_err(|error| {
            let reason = format!("cannot be read: {error} (built-in are {})", Scenario::BUILTIN_NAMES.join(", "));
            vec![DataError { file: name.clone(), line: None, reason }]
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let read_map = |map: &str| read_text(&folder.join(map)).map_err(|error| error.to_string());
        Scenario::parse(&name, &text, &read_map).map(|scenario| &*Box::leak(Box::new(scenario)))
    }

    /// Reads the text of a scenario; `file` is its name in faults, and `read_map` gives the text of a map file that it
    /// names, or why there is none.
    ///
    /// The hash of the result is taken over what the scenario, the map, the catalogue and the tables say, titles and
    /// notes included; comments, layout and the order of keys do not count.
    ///
    /// # Errors
    /// Every fault found.
    pub fn parse(
        file: &str,
        text: &str,
        read_map: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Scenario, Vec<DataError>> {
        let mut data = DataFile::parse(file, text)?;
        let sections = Sections::take(&mut data);
        let (own_map, map_text) = match &sections.map {
            None => (None, map_file::BUILTIN.to_owned()),
            Some(name) => match read_map(name.get_ref()) {
                Ok(text) => {
                    let beside = Path::new(file).with_file_name(name.get_ref());
                    match MapFile::parse(&beside.display().to_string(), &text) {
                        Ok(map) => (Some(map), text),
                        Err(faults) => return Err([data.into_faults(), faults].concat()),
                    }
                }
                Err(reason) => {
                    data.fault(name.span(), format!("map `{}` cannot be read: {reason}", name.get_ref()));
                    return Err(data.into_faults());
                }
            },
        };
        let map = own_map.as_ref().unwrap_or_else(|| MapFile::builtin());
        let Some(board) = sections.hexes.as_ref().and_then(|hexes| hexes.board(&mut data, map)) else {
            return Err(data.into_faults());
        };
        let mut hashed = canonical(file, text).map_err(|fault| vec![fault])?;
        hashed += &canonical("map", &map_text).map_err(|fault| vec![fault])?;
        for (name, text) in [
            ("units.toml", catalogue_file::BUILTIN),
            ("tables.toml", tables_file::BUILTIN_TABLES),
            ("events.toml", tables_file::BUILTIN_EVENTS),
        ] {
            hashed += &canonical(name, text).map_err(|fault| vec![fault])?;
        }
        let mut reader = Reader::new(&mut data, map, board, &sections);
        let scenario = reader.scenario(sections, format!("{:016x}", xxh3_64(hashed.as_bytes())));
        match scenario {
            Some(scenario) if data.sound() => Ok(scenario),
            _ => Err(data.into_faults()),
        }
    }
}

// The sections of the file.

pub(super) type UnitTable = BTreeMap<Spanned<String>, Spanned<u8>>;
pub(super) type PointTable = BTreeMap<Spanned<String>, u8>;

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum HexChoice {
    All,
    Region(Spanned<String>),
    Within(Within),
    List(Vec<Spanned<String>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Within {
    pub(super) distance: u32,
    pub(super) of: Spanned<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RecruitTable {
    pub(super) less: Option<Spanned<u8>>,
    pub(super) mahdi: Option<Spanned<u8>>,
    pub(super) town: Option<Spanned<u8>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionTable {
    pub(super) flag: Option<bool>,
    #[serde(default)]
    pub(super) fanatic_charge: FanaticCharge,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GarrisonTable {
    pub(super) at: Spanned<String>,
    #[serde(default)]
    pub(super) units: UnitTable,
    #[serde(default)]
    pub(super) leaders: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetupTable {
    pub(super) name: Spanned<String>,
    pub(super) hexes: RegionTable,
    pub(super) units: UnitTable,
    #[serde(default)]
    pub(super) leaders: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReinforcementTable {
    pub(super) side: Side,
    pub(super) month: Option<Spanned<String>>,
    pub(super) every_month: Option<Months>,
    pub(super) at: Option<Spanned<Places>>,
    pub(super) entry: Option<Spanned<String>>,
    pub(super) region: Option<Spanned<RegionTable>>,
    pub(super) any_stack: Option<Spanned<bool>>,
    #[serde(default)]
    pub(super) units: UnitTable,
    #[serde(default)]
    pub(super) leaders: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) while_field_force: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Places {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Months {
    pub(super) first: Spanned<String>,
    pub(super) last: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FieldForceTable {
    pub(super) units: UnitTable,
    #[serde(default)]
    pub(super) leaders: Vec<Spanned<String>>,
    pub(super) lands: Option<Spanned<String>>,
    pub(super) leaves: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum VictoryTable {
    ElObeid(ElObeidTable),
    Khartoum(KhartoumTable),
    Points(PointsTable),
    Holder(HolderTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ElObeidTable {
    pub(super) sudden_death: Spanned<String>,
    pub(super) prize: Spanned<String>,
    pub(super) points: PointTable,
    pub(super) units_per_point: Spanned<u8>,
    pub(super) needed: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KhartoumTable {
    pub(super) prize: Spanned<String>,
    pub(super) british_strength: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PointsTable {
    pub(super) sudden_death: Option<Spanned<String>>,
    pub(super) points: PointTable,
    pub(super) mahdists_per_point: u8,
    pub(super) egyptians_per_point: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HolderTable {
    pub(super) prize: Spanned<String>,
    pub(super) lesser: Option<Spanned<String>>,
}

pub(super) struct Sections {
    pub(super) name: Option<Spanned<String>>,
    pub(super) title: Option<String>,
    pub(super) map: Option<Spanned<String>>,
    hexes: Option<HexChoice>,
    pub(super) first_month: Option<Spanned<String>>,
    pub(super) turns: Option<Spanned<u8>>,
    pub(super) first_player: Option<Side>,
    pub(super) events: Option<EventColumn>,
    pub(super) railway: Option<Spanned<bool>>,
    pub(super) recruits: RecruitTable,
    pub(super) options: OptionTable,
    pub(super) garrisons: Vec<Spanned<GarrisonTable>>,
    pub(super) regions: Vec<Spanned<SetupTable>>,
    pub(super) reinforcements: Vec<Spanned<ReinforcementTable>>,
    pub(super) field_forces: Vec<Spanned<FieldForceTable>>,
    pub(super) victory: Option<Spanned<VictoryTable>>,
}

impl Sections {
    fn take(file: &mut DataFile<'_>) -> Sections {
        file.format(FORMAT);
        let sections = Sections {
            name: file.required("name"),
            title: file.required("title"),
            map: file.optional("map"),
            hexes: file.required("hexes"),
            first_month: file.required("first_month"),
            turns: file.required("turns"),
            first_player: file.required("first_player"),
            events: file.required("events"),
            railway: file.optional("railway"),
            recruits: file.optional("recruits").unwrap_or_default(),
            options: file.optional("options").unwrap_or_default(),
            garrisons: file.list("garrison"),
            regions: file.list("region"),
            reinforcements: file.list("reinforcement"),
            field_forces: file.list("field_force"),
            victory: file.required("victory"),
        };
        file.no_more();
        sections
    }
}

impl HexChoice {
    /// The board of the hexes chosen; none, with a fault, if there is no land in them.
    fn board(&self, file: &mut DataFile<'_>, map: &MapFile) -> Option<Board> {
        let mut inside = vec![false; CELLS];
        match self {
            HexChoice::All => inside.fill(true),
            HexChoice::Region(name) => match map.regions.iter().position(|r| r == name.get_ref()) {
                Some(region) => map.region(region).for_each(|hex| inside[hex.index()] = true),
                None => {
                    file.fault(name.span(), format!("unknown region `{}`", name.get_ref()));
                    return None;
                }
            },
            HexChoice::Within(within) => {
                let of = anchor(file, map, &within.of)?;
                for (i, inside) in inside.iter_mut().enumerate() {
                    *inside = Board::distance(of, Hex(i as u16)) <= within.distance;
                }
            }
            HexChoice::List(names) => {
                for name in names {
                    match Hex::parse(name.get_ref()).filter(|&hex| map.whole().cell(hex).ground != Ground::Off) {
                        Some(hex) => inside[hex.index()] = true,
                        None => file.fault(name.span(), format!("{} is not a hex of the map", name.get_ref())),
                    }
                }
            }
        }
        let board = map.restrict(&inside);
        if super::region_file::land(&board).next().is_none() {
            file.fault_at(None, "the scenario has no land hex");
            return None;
        }
        Some(board)
    }
}
