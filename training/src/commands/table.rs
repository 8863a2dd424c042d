//! `dervish table`: what the printed tables say (8.31, 9.6, 10.3, 11.1) and the event tables (4.1).

use std::fmt::Debug;
use std::ops::RangeInclusive;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use comfy_table::{ContentArrangement, presets};
use dervish_env::dervish::catalogue::{Class, Side};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::tables::{
    AttritionRow, EVENT_BANDS, Event, MarchResult, Morale, Recovery, Tables, event_band,
};
use serde::Serialize;

use super::{CommandError, print_json, print_line};

/// Prints one of the tables, or looks a roll up in it.
///
/// A roll is given as it is read, modifiers added: --die is one D6, --roll is two (a D66 for an event). What the table says of it
/// is printed as JSON.
#[derive(Clone, Debug, clap::Args)]
pub struct TableArgs {
    /// Which table.
    #[command(subcommand)]
    pub table: Table,
}

/// The tables of the game. Without a roll the whole table is meant.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Table {
    /// The march table (8.31).
    March {
        /// Modified D6, one die.
        #[arg(long, allow_negative_numbers = true)]
        die: Option<i32>,
    },
    /// The combat morale table (9.6).
    Morale {
        /// Class of the units that test: R rabble, L line, F fanatic, V veteran.
        #[arg(long, value_parser = classes(), ignore_case = true)]
        class: Option<Class>,
        /// Modified 2D6, the sum of two dice.
        #[arg(long, allow_negative_numbers = true, requires = "class")]
        roll: Option<i32>,
    },
    /// The attrition table (10.3).
    Attrition {
        /// Where the stack is.
        #[arg(long, value_parser = attrition_rows(), ignore_case = true)]
        row: Option<AttritionRow>,
        /// Modified D6, one die.
        #[arg(long, allow_negative_numbers = true, requires = "row")]
        die: Option<i32>,
    },
    /// The recovery table (11.1).
    Recovery {
        /// Class of the units that try to recover: R rabble, L line, F fanatic, V veteran.
        #[arg(long, value_parser = classes(), ignore_case = true)]
        class: Option<Class>,
        /// Modified 2D6, the sum of two dice.
        #[arg(long, allow_negative_numbers = true, requires = "class")]
        roll: Option<i32>,
    },
    /// The random event tables (4.1).
    Event {
        /// Whose table.
        #[arg(long, value_parser = sides(), ignore_case = true)]
        side: Option<Side>,
        /// A built-in scenario or a scenario file, which says which column is read.
        #[arg(long)]
        scenario: String,
        /// D66: two digits, each 1-6.
        #[arg(long, value_parser = d66, requires = "side")]
        roll: Option<u8>,
    },
}

/// What a table says; serialized without a tag, as the command prints it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum TableAnswer {
    /// March.
    March {
        /// `march` or `no_march`.
        result: &'static str,
        /// Percentage of the group's units.
        disrupted_percent: u8,
    },
    /// Morale.
    Morale {
        /// The result of the class.
        result: Morale,
    },
    /// Attrition.
    Attrition {
        /// How many units are unaffected; `None` (JSON null) for all.
        unaffected: Option<u8>,
    },
    /// Recovery.
    Recovery {
        /// The result of the class.
        result: Recovery,
    },
    /// Event.
    Event {
        /// Its slug.
        event: Event,
        /// First and last roll of its band.
        rolls: [u8; 2],
        /// What it means to the players.
        meaning: &'static str,
    },
}

impl TableArgs {
    /// Prints the table, or the answer to a roll as one line of JSON.
    ///
    /// # Errors
    /// [`CommandError`] if the scenario is none, or standard output takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        match self.table.answer()? {
            Some(answer) => print_json(&answer),
            None => print_line(&self.table.whole()?),
        }
    }
}

impl Table {
    /// What the table says; `None` without a roll.
    ///
    /// # Errors
    /// [`CommandError`] if the scenario is none.
    pub fn answer(&self) -> Result<Option<TableAnswer>, CommandError> {
        let tables = Tables::builtin();
        Ok(Some(match *self {
            Table::March { die: Some(die) } => match tables.march(die) {
                MarchResult::NoMarch => TableAnswer::March { result: "no_march", disrupted_percent: 0 },
                MarchResult::March { disrupted_percent } => TableAnswer::March { result: "march", disrupted_percent },
            },
            Table::Morale { class: Some(class), roll: Some(roll) } => {
                TableAnswer::Morale { result: tables.morale(class, roll) }
            }
            Table::Attrition { row: Some(row), die: Some(die) } => {
                TableAnswer::Attrition { unaffected: tables.attrition(row, die) }
            }
            Table::Recovery { class: Some(class), roll: Some(roll) } => {
                TableAnswer::Recovery { result: tables.recovery(class, roll) }
            }
            Table::Event { side: Some(side), ref scenario, roll: Some(roll) } => {
                let scenario = Scenario::named_or_file(scenario)?;
                let not_a_roll = || CommandError::Argument { argument: "--roll", reason: NOT_A_D66.to_owned() };
                let band = event_band(roll).ok_or_else(not_a_roll)?;
                let event = scenario.tables.event(scenario.events, side, roll).ok_or_else(not_a_roll)?;
                let rolls = [EVENT_BANDS[band], EVENT_BANDS[band] + 2];
                TableAnswer::Event { event, rolls, meaning: event.meaning() }
            }
            _ => return Ok(None),
        }))
    }

    /// The table as people read it; where a class, a row or a side is named, that part of it.
    ///
    /// # Errors
    /// [`CommandError`] if the scenario is none.
    pub fn whole(&self) -> Result<String, CommandError> {
        let tables = Tables::builtin();
        let (caption, table) = match *self {
            Table::March { .. } => {
                let mut table = empty(["D6", "the group"]);
                for (result, dice) in bands(|die| tables.march(die)) {
                    table.add_row([dice, march_text(result)]);
                }
                ("March table (8.31), by modified D6", table)
            }
            Table::Morale { class, .. } => {
                let results = [Morale::Fail, Morale::Shaken, Morale::Hold, Morale::Steady, Morale::Good];
                let table = by_class(&results, class, |class, roll| tables.morale(class, roll));
                ("Combat morale table (9.6), by modified 2D6", table)
            }
            Table::Attrition { row, .. } => {
                let mut table = empty(["stack in", "1", "2", "3", "4", "5", "6"]);
                for row in AttritionRow::ALL.into_iter().filter(|&of| row.is_none_or(|row| row == of)) {
                    let unaffected =
                        |die| tables.attrition(row, die).map_or("all".to_owned(), |units| units.to_string());
                    table.add_row(std::iter::once(row.id().to_owned()).chain((1..=6).map(unaffected)));
                }
                ("Attrition table (10.3): units of the stack that are unaffected, by modified D6, from 1 to 6", table)
            }
            Table::Recovery { class, .. } => {
                let results = [Recovery::Fail, Recovery::Hold, Recovery::Good];
                let table = by_class(&results, class, |class, roll| tables.recovery(class, roll));
                ("Recovery table (11.1), by modified 2D6", table)
            }
            Table::Event { side, ref scenario, .. } => {
                let scenario = Scenario::named_or_file(scenario)?;
                let mut table = empty(["side", "D66", "event", "meaning"]);
                table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
                for side in Side::BOTH.into_iter().filter(|&of| side.is_none_or(|side| side == of)) {
                    for first in EVENT_BANDS {
                        if let Some(event) = scenario.tables.event(scenario.events, side, first) {
                            let rolls = format!("{first}-{}", first + 2);
                            table.add_row([side.id(), &rolls, event.id(), event.meaning()]);
                        }
                    }
                }
                ("Random event tables (4.1), by D66", table)
            }
        };
        Ok(format!("{caption}\n{table}"))
    }
}

/// Characters in a line of the event tables, whose sentences are broken to fit.
const WIDTH: u16 = 100;

/// Modified rolls, beyond which no table has a column.
const ROLLS: RangeInclusive<i32> = -1..=15;

fn empty<const COLUMNS: usize>(header: [&str; COLUMNS]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header);
    table
}

fn march_text(result: MarchResult) -> String {
    match result {
        MarchResult::NoMarch => "does not march".to_owned(),
        MarchResult::March { disrupted_percent: 0 } => "marches".to_owned(),
        MarchResult::March { disrupted_percent } => format!("marches, {disrupted_percent}% of its units are disrupted"),
    }
}

/// Every answer of a table with the rolls that give it, written as on the sheet: `<6`, `8-9`, `12+`.
fn bands<T: PartialEq>(answer: impl Fn(i32) -> T) -> Vec<(T, String)> {
    let mut bands: Vec<(T, i32, i32)> = Vec::new();
    for roll in ROLLS {
        let says = answer(roll);
        match bands.last_mut() {
            Some((last, _, to)) if *last == says => *to = roll,
            _ => bands.push((says, roll, roll)),
        }
    }
    let written = |(answer, from, to): (T, i32, i32)| {
        let rolls = match (from, to) {
            (from, to) if from == *ROLLS.start() => format!("<{}", to + 1),
            (from, to) if to == *ROLLS.end() => format!("{from}+"),
            (from, to) if from == to => from.to_string(),
            (from, to) => format!("{from}-{to}"),
        };
        (answer, rolls)
    };
    bands.into_iter().map(written).collect()
}

/// A row for each class, or for the `only` one, with the rolls that give each result.
fn by_class<T: PartialEq + Debug>(
    results: &[T],
    only: Option<Class>,
    answer: impl Fn(Class, i32) -> T,
) -> comfy_table::Table {
    let names = results.iter().map(|result| format!("{result:?}").to_lowercase());
    let mut table = comfy_table::Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(std::iter::once("class".to_owned()).chain(names));
    for class in Class::ALL.into_iter().filter(|&of| only.is_none_or(|only| only == of)) {
        let bands = bands(|roll| answer(class, roll));
        let rolls_of = |result: &T| {
            let band = bands.iter().find(|(answer, _)| answer == result);
            band.map_or_else(|| "-".to_owned(), |(_, rolls)| rolls.clone())
        };
        let name = format!("{} {}", class.id(), class_name(class));
        table.add_row(std::iter::once(name).chain(results.iter().map(rolls_of)));
    }
    table
}

/// What a class is called (2.1).
fn class_name(class: Class) -> &'static str {
    match class {
        Class::R => "rabble",
        Class::L => "line",
        Class::F => "fanatic",
        Class::V => "veteran",
    }
}

const NOT_A_D66: &str = "a D66 has two digits, each 1-6";

/// Reads a D66.
fn d66(text: &str) -> Result<u8, &'static str> {
    text.parse().ok().filter(|&roll| event_band(roll).is_some()).ok_or(NOT_A_D66)
}

/// Reads one of the `values` by the name that `id` gives it, in capitals or small letters where its argument ignores case.
fn named<T: Copy + Send + Sync + 'static>(
    values: &'static [T],
    id: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(values.iter().map(|&value| id(value))).try_map(move |name| {
        values.iter().copied().find(|&value| id(value).eq_ignore_ascii_case(&name)).ok_or("unknown name")
    })
}

fn classes() -> impl TypedValueParser<Value = Class> {
    named(&Class::ALL, Class::id)
}

fn sides() -> impl TypedValueParser<Value = Side> {
    named(&Side::BOTH, Side::id)
}

fn attrition_rows() -> impl TypedValueParser<Value = AttritionRow> {
    named(&AttritionRow::ALL, AttritionRow::id)
}
