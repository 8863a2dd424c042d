//! Reading of data files: TOML, strict, with every fault found named by file and line.
//!
//! A file is read section by section, so that a fault in one section hides none in another.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// A fault of a data file, shown on one line: `FILE:LINE: reason`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct DataError {
    /// The file, as the user named it, or the name of a built-in one.
    pub file: String,
    /// Line, from 1, where the fault can be placed.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", on_one_line(&self.file))?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", on_one_line(&self.reason))
    }
}

/// Characters of a fault that are shown in any case, as of a list of all that could stand somewhere; in more, a file is
/// quoted at length.
const LONGEST: usize = 1000;
/// Characters at either end that are shown of more.
const SHOWN: usize = 100;

/// A text on one line, without its middle if it is longer than [`LONGEST`].
fn on_one_line(text: &str) -> String {
    let line = text.replace('\n', "; ");
    let length = line.chars().count();
    if length <= LONGEST {
        return line;
    }
    let begin: String = line.chars().take(SHOWN).collect();
    let end: String = line.chars().skip(length - SHOWN).collect();
    format!("{begin}...{end}")
}

/// A data file in the course of being read, and the faults found in it so far.
pub struct DataFile<'t> {
    name: &'t str,
    text: &'t str,
    sections: DeTable<'t>,
    faults: Vec<DataError>,
}

impl<'t> DataFile<'t> {
    /// Parses the text of a file. Faults of syntax are kept with the others; where there are any, nothing else of the
    /// file can be trusted, so they are returned at once.
    ///
    /// # Errors
    /// What is not TOML, in the order of the file.
    pub fn parse(name: &'t str, text: &'t str) -> Result<DataFile<'t>, Vec<DataError>> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut file = DataFile { name, text, sections: DeTable::new(), faults: Vec::new() };
        for error in &errors {
            file.toml_fault(error);
        }
        if file.faults.is_empty() {
            file.sections = root.into_inner();
            Ok(file)
        } else {
            Err(file.faults)
        }
    }

    /// Takes a section, if the file has it and it is sound.
    pub fn optional<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.sections.remove(key)?;
        self.value(value)
    }

    /// Takes a section that the file must have.
    pub fn required<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        if !self.sections.contains_key(key) {
            self.fault_at(None, format!("missing field `{key}`"));
        }
        self.optional(key)
    }

    /// Takes the items of a list, such as the tables `[[key]]`; none if the file has no such list. Unsound items are
    /// left out, each with its fault.
    pub fn list<T: DeserializeOwned>(&mut self, key: &str) -> Vec<Spanned<T>> {
        let Some(value) = self.sections.remove(key) else { return Vec::new() };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(items) => items.into_iter().filter_map(|item| self.value(item)).collect(),
            other => {
                self.fault(span, format!("`{key}` is a {}, not a list", other.type_str()));
                Vec::new()
            }
        }
    }

    /// Takes `format`, which must be `known`: files of another format mean other things.
    pub fn format(&mut self, known: u32) {
        if let Some(format) = self.required::<Spanned<u32>>("format")
            && *format.get_ref() != known
        {
            self.fault(format.span(), format!("format {} is unknown, not {known}", format.get_ref()));
        }
    }

    fn value<T: DeserializeOwned>(&mut self, value: Spanned<DeValue<'t>>) -> Option<T> {
        let start = value.span();
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some(value),
            Err(error) => {
                self.fault(error.span().unwrap_or(start), error.message());
                None
            }
        }
    }

    /// Faults every section that was not taken.
    pub fn no_more(&mut self) {
        for (key, _) in std::mem::take(&mut self.sections) {
            self.fault(key.span(), format!("unknown field `{key}`"));
        }
    }

    /// Notes a fault at a place of the text.
    pub fn fault(&mut self, span: Range<usize>, reason: impl Into<String>) {
        let line = self.line(&span);
        self.fault_at(Some(line), reason);
    }

    /// Notes a fault at a line, from 1, or of the file as a whole.
    pub fn fault_at(&mut self, line: Option<usize>, reason: impl Into<String>) {
        self.faults.push(DataError { file: self.name.to_owned(), line, reason: reason.into() });
    }

    fn toml_fault(&mut self, error: &toml::de::Error) {
        let line = error.span().map(|span| self.line(&span));
        self.fault_at(line, error.message());
    }

    /// The line, from 1, on which a span of the text begins.
    pub fn line(&self, span: &Range<usize>) -> usize {
        self.text.as_bytes().iter().take(span.start).filter(|&&b| b == b'\n').count() + 1
    }

    /// Whether no fault was found so far.
    pub fn sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// The faults found, in the order of the file.
    pub fn into_faults(mut self) -> Vec<DataError> {
        self.faults.sort_by_key(|fault| fault.line);
        self.faults
    }
}

/// What a file says, whatever its comments, its layout and the order of its keys: the text that is hashed.
///
/// # Errors
/// What is not TOML.
pub fn canonical(name: &str, text: &str) -> Result<String, DataError> {
    let fault = |line, reason: String| DataError { file: name.to_owned(), line, reason };
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| fault(None, e.message().to_owned()))?;
    serde_json::to_string(&table).map_err(|e| fault(None, e.to_string()))
}
