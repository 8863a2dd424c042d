//! Position files: any position of any scenario as readable JSON, for tests, studies, reports of faults and checks from
//! outside.
//!
//! # Format
//! One object. Whatever has the value that stands for "nothing" may be left out and is not written; what is not named
//! here is refused. A *hex* is `"CCRR"` or the name of the place in it. Numbers of game turns, regions and reinforcements
//! count from 1, reinforcements in the order of the scenario by turn.
//!
//! | field | meaning |
//! |---|---|
//! | `format`, `game` | 1 and `"dervish"` |
//! | `rules_version`, `rules_hash` | refused if they are not those of the program and the scenario; may be left out |
//! | `scenario` | a built-in scenario, or a scenario file: a relative path starts in the folder of the position file |
//! | `turn`, `active`, `phase` | game turn, side whose player turn it is, and `setup`, `event`, `reinforcement`, `march`, `supply` or `recovery` |
//! | `month` | `"YYYY-MM"` of the turn, only checked |
//! | `pending` | what is waited for: `decision`, `hex`, `subject`, `amount`; left out: the phase is at its start |
//! | `stacks` | for each hex: `hex`, `units` (`kind`, `count`, `disrupted`, `status`, `group`), `leaders` (a name, or `name`, `status`, `group`) |
//! | `lost_leaders` | leaders who never come back (2.3) |
//! | `control` | place to side (6.3); a place with a combat unit need not be named |
//! | `eliminated` | `egyptian`, `mahdist`: combat units eliminated so far (14.5) |
//! | `held` | `by`, `months`: months in a row at whose end the prize of scenario 4 was held (14.3) |
//! | `arrived` | reinforcements that have come; left out: those whose phase is over |
//! | `gunboats_out` | gunboats away (9.11): `kind`, `hex` where they were hit, `returns` the turn from which they may come |
//! | `gunboats_lost` | `gunboat`, `british_gunboat`: destroyed for good |
//! | `railway` | hexes built (8.9) |
//! | `events` | what events have left behind, the fields of [`EventState`](super::campaign::EventState) |
//! | `group` | the group or vessel under way: `kind` (`march`, `vessel`), `hex`, `came_from`, `rolls`, `failed`, `favoured` |
//! | `battle` | the combat: `from`, `target`, `leader_use`, `dice` (`fire` and `melee`, each `marching` and `defending`), then `winner`, `guns_taken`, `rifles_taken`, `gunboats_hit` |
//! | `escaping`, `sinking` | leaders (6.2) and gunboats (9.11) who must roll |
//! | `spent` | hexes of supply units spent in this supply phase (10.2), in order |
//! | `region`, `to_place` | set-up: the region, and units of it still to be placed |
//! | `resume` | a roll for losses in a reinforcement phase: `{"arrival": 3}` or `{"district": "..."}` dealt with last |
//! | `winner` | of a finished game: `egyptian`, `mahdist` or `draw`, only checked |
//!
//! `status` is `marched` or `fought` (8.1), `group` says that the units belong to the group. `decision` is a name of
//! [`Decision`](super::decision::Decision); `subject` is the kind, leader, `flag`, line (`"rifle_r disrupted"`), district
//! or number of a reinforcement that it is about.
//!
//! A file is accepted only if play can go on from it: the state is consistent
//! ([`Campaign::faults`](super::Campaign::faults)) and what is pending is what the rules ask there.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use super::Campaign;
use super::data_file::DataError;
use super::position_sections::Sections;
use super::scenario::Scenario;
use crate::persist::read_text;

/// The format of position files that is read and written.
pub const FORMAT: u32 = 1;
/// What a position file names as its game.
pub const GAME: &str = "dervish";

/// A position and the name under which its scenario is found again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionFile {
    /// A built-in scenario, or the path of a scenario file, seen from the current folder if it is relative.
    pub scenario: String,
    /// The position.
    pub position: Campaign,
}

impl PositionFile {
    /// The start of a scenario, built-in or of a file.
    ///
    /// # Errors
    /// The faults of the scenario.
    pub fn start(scenario: &str) -> Result<PositionFile, Vec<DataError>> {
        let position = Campaign::new(Scenario::named_or_file(scenario)?);
        // Whoever reads the position looks for a scenario file from where the position is, wherever that may be.
        let scenario = match (Scenario::builtin(scenario), std::path::absolute(scenario)) {
            (None, Ok(path)) => path.display().to_string(),
            _ => scenario.to_owned(),
        };
        Ok(PositionFile { scenario, position })
    }

    /// Reads a position file.
    ///
    /// # Errors
    /// Every fault found in it or in its scenario.
    pub fn load(path: &Path) -> Result<PositionFile, Vec<DataError>> {
        let file = path.display().to_string();
        let text = read_text(path)
            .map_err(|error| vec![DataError { file: file.clone(), line: None, reason: error.to_string() }])?;
        PositionFile::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a position file; `file` is its name in faults, and `folder` where the path of its scenario
    /// starts.
    ///
    /// # Errors
    /// Every fault found in it or in its scenario. Faults of syntax or of a field's form, and a scenario that is not there,
    /// end the reading.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<PositionFile, Vec<DataError>> {
        let fault = |line, reason| vec![DataError { file: file.to_owned(), line, reason }];
        // Another format may have other fields: say so before any of them is called unknown.
        #[derive(Deserialize)]
        struct Header {
            format: u32,
        }
        if let Ok(Header { format }) = serde_json::from_str(text)
            && format != FORMAT
        {
            return Err(fault(None, format!("format {format} is unknown, not {FORMAT}")));
        }
        let mut sections: Sections = serde_json::from_str(text).map_err(|error| {
            let line = (error.line() > 0).then_some(error.line());
            let at = format!(" at line {} column {}", error.line(), error.column());
            let reason = error.to_string();
            fault(line, reason.strip_suffix(at.as_str()).unwrap_or(&reason).to_owned())
        })?;
        if Scenario::builtin(&sections.scenario).is_none() {
            sections.scenario = folder.join(&sections.scenario).display().to_string();
        }
        let scenario = Scenario::named_or_file(&sections.scenario).map_err(|faults| {
            // Faults in a scenario file have their places there; that there is no such file is a fault of this one.
            if Path::new(&sections.scenario).is_file() {
                return faults;
            }
            faults.iter().flat_map(|cause| fault(None, format!("scenario: {cause}"))).collect()
        })?;
        let name = sections.scenario.clone();
        let position = Campaign::of_sections(scenario, sections)
            .map_err(|reasons| reasons.into_iter().flat_map(|reason| fault(None, reason)).collect::<Vec<_>>())?;
        Ok(PositionFile { scenario: name, position })
    }

    /// The text of the file: a line for each field, stack and other item of a list.
    pub fn text(&self) -> String {
        let mut text = Vec::new();
        let mut json = serde_json::Serializer::with_formatter(&mut text, Lines { depth: 0, filled: false });
        // Writing to memory cannot fail, and no key of the sections is anything but a string.
        let written = self.position.sections(&self.scenario).serialize(&mut json);
        debug_assert!(written.is_ok());
        text.push(b'\n');
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// JSON whose two outer levels are broken into lines.
struct Lines {
    depth: usize,
    /// Whether the list or object that ends has anything in it.
    filled: bool,
}

impl Lines {
    const BROKEN: usize = 2;

    fn begin<W: io::Write + ?Sized>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        out.write_all(bracket)
    }

    fn end<W: io::Write + ?Sized>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled && self.depth < Lines::BROKEN {
            self.line(out)?;
        }
        self.filled = true;
        out.write_all(bracket)
    }

    fn item<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth <= Lines::BROKEN {
            self.line(out)
        } else if first {
            Ok(())
        } else {
            out.write_all(b" ")
        }
    }

    fn line<W: io::Write + ?Sized>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }
    fn end_array<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }
    fn end_array_value<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
    fn begin_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }
    fn end_object<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }
    fn begin_object_key<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.item(out, first)
    }
    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
    fn end_object_value<W: io::Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}
