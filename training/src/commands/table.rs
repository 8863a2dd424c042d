//! `dervish table`: what the printed tables say (8.31, 9.6, 10.3, 11.1) and the event tables (4.1).

use clap::builder::{PossibleValuesParser, TypedValueParser};
use dervish_env::dervish::catalogue::{Class, Side};
use dervish_env::dervish::scenario::Scenario;
use dervish_env::dervish::tables::{
    AttritionRow, EVENT_BANDS, Event, MarchResult, Morale, Recovery, Tables, event_band,
};
use serde::Serialize;

use super::{CommandError, print_json};

/// Looks a roll up in one of the tables.
#[derive(Clone, Debug, clap::Args)]
pub struct TableArgs {
    /// Which table.
    #[command(subcommand)]
    pub table: Table,
}

/// The tables of the game. Rolls are given as they are read, modifiers added.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Table {
    /// The march table (8.31).
    March {
        /// Modified D6.
        #[arg(long, allow_negative_numbers = true)]
        die: i32,
    },
    /// The combat morale table (9.6).
    Morale {
        /// Class of the units that test.
        #[arg(long, value_parser = classes(), ignore_case = true)]
        class: Class,
        /// Modified 2D6.
        #[arg(long, allow_negative_numbers = true)]
        roll: i32,
    },
    /// The attrition table (10.3).
    Attrition {
        /// Where the stack is.
        #[arg(long, value_parser = attrition_rows(), ignore_case = true)]
        row: AttritionRow,
        /// Modified D6.
        #[arg(long, allow_negative_numbers = true)]
        die: i32,
    },
    /// The recovery table (11.1).
    Recovery {
        /// Class of the units that try to recover.
        #[arg(long, value_parser = classes(), ignore_case = true)]
        class: Class,
        /// Modified 2D6.
        #[arg(long, allow_negative_numbers = true)]
        roll: i32,
    },
    /// The random event tables (4.1).
    Event {
        /// Whose table.
        #[arg(long, value_parser = sides(), ignore_case = true)]
        side: Side,
        /// A built-in scenario or a scenario file, which says which column is read.
        #[arg(long)]
        scenario: String,
        /// D66: two digits, each 1-6.
        #[arg(long, value_parser = d66)]
        roll: u8,
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
    /// Prints the answer as one line of JSON.
    ///
    /// # Errors
    /// [`CommandError`] if the scenario is none, or standard output takes nothing.
    pub fn run(self) -> Result<(), CommandError> {
        print_json(&self.table.answer()?)
    }
}

impl Table {
    /// What the table says.
    ///
    /// # Errors
    /// [`CommandError`] if the scenario is none.
    pub fn answer(&self) -> Result<TableAnswer, CommandError> {
        let tables = Tables::builtin();
        Ok(match *self {
            Table::March { die } => match tables.march(die) {
                MarchResult::NoMarch => TableAnswer::March { result: "no_march", disrupted_percent: 0 },
                MarchResult::March { disrupted_percent } => TableAnswer::March { result: "march", disrupted_percent },
            },
            Table::Morale { class, roll } => TableAnswer::Morale { result: tables.morale(class, roll) },
            Table::Attrition { row, die } => TableAnswer::Attrition { unaffected: tables.attrition(row, die) },
            Table::Recovery { class, roll } => TableAnswer::Recovery { result: tables.recovery(class, roll) },
            Table::Event { side, ref scenario, roll } => {
                let scenario = Scenario::named_or_file(scenario)?;
                let not_a_roll = || CommandError::Argument { argument: "--roll", reason: NOT_A_D66.to_owned() };
                let band = event_band(roll).ok_or_else(not_a_roll)?;
                let event = scenario.tables.event(scenario.events, side, roll).ok_or_else(not_a_roll)?;
                let rolls = [EVENT_BANDS[band], EVENT_BANDS[band] + 2];
                TableAnswer::Event { event, rolls, meaning: event.meaning() }
            }
        })
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
