//! The tables as files: `data/dervish/tables.toml` (8.31, 9.6, 10.3, 11.1) and `data/dervish/events.toml` (4.1), whose
//! headers document the format.

use std::sync::LazyLock;

use serde::Deserialize;
use toml::Spanned;

use super::catalogue::Class;
use super::data_file::{DataError, DataFile};
use super::tables::{AttritionRow, EVENT_BANDS, Event, MarchResult, Tables};

/// The format of both files that is read.
pub const FORMAT: u32 = 1;

/// Text of the built-in tables.
pub(super) const BUILTIN_TABLES: &str = include_str!("../../data/dervish/tables.toml");
/// Text of the built-in event tables.
pub(super) const BUILTIN_EVENTS: &str = include_str!("../../data/dervish/events.toml");

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // The files are part of the program, so a fault in them is a fault of the program; a test reads them.
    Tables::parse(BUILTIN_TABLES, BUILTIN_EVENTS).unwrap_or_else(|faults| panic!("built-in tables: {}", faults[0]))
});

impl Tables {
    /// The tables that come with the game.
    pub fn builtin() -> &'static Tables {
        &TABLES
    }

    /// Reads the texts of `tables.toml` and `events.toml`.
    ///
    /// # Errors
    /// Every fault found, with file and line: unknown or missing fields, columns out of order, totals that do not
    /// ascend, unknown events.
    pub fn parse(tables: &str, events: &str) -> Result<Tables, Vec<DataError>> {
        let mut file = DataFile::parse("tables.toml", tables)?;
        let sheet = sheet(&mut file);
        let mut faults = file.into_faults();
        let mut file = DataFile::parse("events.toml", events)?;
        let events = event_bands(&mut file);
        faults.extend(file.into_faults());
        match (sheet, events) {
            (Some((march, morale, attrition, recovery)), Some(events)) if faults.is_empty() => {
                Ok(Tables { march, morale, attrition, recovery, events })
            }
            _ => Err(faults),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarchColumn {
    die: Spanned<usize>,
    result: MarchWord,
    disrupted_percent: Spanned<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum MarchWord {
    March,
    NoMarch,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "UPPERCASE")]
struct Classes<T> {
    r: Spanned<T>,
    l: Spanned<T>,
    v: Spanned<T>,
    f: Spanned<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoraleRow {
    shaken: i32,
    hold: i32,
    steady: i32,
    good: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecoveryRow {
    hold: i32,
    good: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttritionRows {
    unbesieged_town: [Unaffected; 6],
    besieged_place: [Unaffected; 6],
    desert: [Unaffected; 6],
    clear: [Unaffected; 6],
    cultivated: [Unaffected; 6],
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of units (0-255) or \"all\"")]
enum Unaffected {
    Units(u8),
    Word(All),
}

#[derive(Deserialize)]
enum All {
    #[serde(rename = "all")]
    All,
}

/// March, morale, attrition and recovery as [`Tables`] holds them.
type Sheet = ([MarchResult; 7], [[i32; 4]; 4], [[Option<u8>; 6]; 5], [[i32; 2]; 4]);

fn sheet(file: &mut DataFile<'_>) -> Option<Sheet> {
    file.format(FORMAT);
    let columns = file.list::<MarchColumn>("march");
    let morale = file.required::<Classes<MoraleRow>>("morale");
    let attrition = file.required::<AttritionRows>("attrition");
    let recovery = file.required::<Classes<RecoveryRow>>("recovery");
    file.no_more();
    let march = march(file, &columns);
    let morale = totals(file, &morale?, |row| [row.shaken, row.hold, row.steady, row.good]);
    let recovery = totals(file, &recovery?, |row| [row.hold, row.good]);
    Some((march, morale, attrition?.cells(), recovery))
}

fn march(file: &mut DataFile<'_>, columns: &[Spanned<MarchColumn>]) -> [MarchResult; 7] {
    let mut march = [MarchResult::NoMarch; 7];
    if columns.len() != march.len() {
        file.fault_at(None, format!("the march table has {} columns, not 7 (die 0 to 6)", columns.len()));
    }
    for (expected, (result, column)) in march.iter_mut().zip(columns).enumerate() {
        let MarchColumn { die, result: word, disrupted_percent } = column.get_ref();
        if *die.get_ref() != expected {
            file.fault(die.span(), format!("march column for die {}, not {expected}", die.get_ref()));
        }
        *result = match (word, *disrupted_percent.get_ref()) {
            (MarchWord::March, percent) if percent <= 100 => MarchResult::March { disrupted_percent: percent },
            (MarchWord::NoMarch, 0) => MarchResult::NoMarch,
            (_, percent) => {
                file.fault(disrupted_percent.span(), format!("disrupted_percent {percent} does not fit the result"));
                continue;
            }
        };
    }
    march
}

/// The lowest totals of each class, by [`Class`], which must ascend.
fn totals<T, const N: usize>(
    file: &mut DataFile<'_>,
    rows: &Classes<T>,
    totals_of: impl Fn(&T) -> [i32; N],
) -> [[i32; N]; 4] {
    Class::ALL.map(|class| {
        let row = match class {
            Class::R => &rows.r,
            Class::L => &rows.l,
            Class::V => &rows.v,
            Class::F => &rows.f,
        };
        let totals = totals_of(row.get_ref());
        if !totals.is_sorted_by(|lower, higher| lower < higher) {
            file.fault(row.span(), format!("the totals of class {} do not ascend", class.id()));
        }
        totals
    })
}

impl AttritionRows {
    /// By [`AttritionRow`] and die less 1.
    fn cells(&self) -> [[Option<u8>; 6]; 5] {
        let mut cells = [[None; 6]; 5];
        for (row, texts) in [
            (AttritionRow::UnbesiegedTown, &self.unbesieged_town),
            (AttritionRow::BesiegedPlace, &self.besieged_place),
            (AttritionRow::Desert, &self.desert),
            (AttritionRow::Clear, &self.clear),
            (AttritionRow::Cultivated, &self.cultivated),
        ] {
            for (cell, text) in cells[row as usize].iter_mut().zip(texts) {
                *cell = match text {
                    Unaffected::Units(units) => Some(*units),
                    Unaffected::Word(All::All) => None,
                };
            }
        }
        cells
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Band {
    first: Spanned<u8>,
    egyptian: Columns,
    mahdist: Columns,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Columns {
    el_obeid: Event,
    khartoum: Event,
}

/// By band, event column and side.
fn event_bands(file: &mut DataFile<'_>) -> Option<[[[Event; 2]; 2]; 12]> {
    file.format(FORMAT);
    let bands = file.list::<Band>("band");
    file.no_more();
    if bands.len() != EVENT_BANDS.len() {
        file.fault_at(None, format!("the event tables have {} sound bands, not 12", bands.len()));
        return None;
    }
    for (band, first) in bands.iter().zip(EVENT_BANDS) {
        let found = &band.get_ref().first;
        if *found.get_ref() != first {
            file.fault(found.span(), format!("band with the first roll {}, not {first}", found.get_ref()));
        }
    }
    let events = bands.iter().map(Spanned::get_ref).map(|Band { egyptian, mahdist, .. }| {
        [[egyptian.el_obeid, mahdist.el_obeid], [egyptian.khartoum, mahdist.khartoum]]
    });
    <[[[Event; 2]; 2]; 12]>::try_from(events.collect::<Vec<_>>()).ok()
}
