//! A TOML file of weights whose numbers are changed in place: comments, units and order stay as they are.
//!
//! A weight is a number with a dotted name such as `march.pace`; numbers of an array count from 0, `march.settles.0`. A
//! comment on its line that begins with `share` or `probability` says that it lies in [0, 1].

use dervish_agents::doctrine::weights::WeightsError;
use dervish_env::persist::read_text;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a file with its weights.
#[derive(Clone, PartialEq, Debug)]
pub struct WeightFile {
    path: PathBuf,
    text: String,
    weights: Vec<Weight>,
}

/// A number of the file.
#[derive(Clone, PartialEq, Debug)]
pub struct Weight {
    /// Dotted name.
    pub name: String,
    /// What it is.
    pub value: f64,
    /// Whether it is a whole number and has to stay one.
    pub whole: bool,
    /// Whether it lies in [0, 1].
    pub share: bool,
    /// Where it stands in the text, in bytes.
    span: Range<usize>,
}

/// What is wrong with a file of weights, or with what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum WeightFileError {
    /// It cannot be read, or is not TOML.
    #[error(transparent)]
    File(#[from] WeightsError),
    /// There is no such weight.
    #[error("{}: there is no weight '{name}'; there are: {known}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The groups of the file.
        known: String,
    },
    /// A weight from whose size no step follows.
    #[error("{}: the weight '{name}' is 0, from which no size of a step follows", path.display())]
    Zero {
        /// The file.
        path: PathBuf,
        /// Its name.
        name: String,
    },
    /// There is nothing to tune.
    #[error("{}: there is no number in it", .0.display())]
    Empty(PathBuf),
}

impl WeightFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`WeightFileError::File`].
    pub fn read(path: &Path) -> Result<WeightFile, WeightFileError> {
        let text = read_text(path).map_err(|source| WeightsError::Read { path: path.to_path_buf(), source })?;
        WeightFile::parse(text, path)
    }

    /// Finds the weights in a text; errors name the file `path`.
    ///
    /// # Errors
    /// [`WeightFileError::File`].
    pub fn parse(text: String, path: &Path) -> Result<WeightFile, WeightFileError> {
        let mut weights = Vec::new();
        let table = DeTable::parse(&text).map_err(|error| WeightsError::parse(path, &text, &error))?;
        for (key, value) in table.get_ref() {
            collect(key.get_ref(), value, &text, &mut weights);
        }
        drop(table);
        weights.sort_by_key(|weight| weight.span.start);
        Ok(WeightFile { path: path.to_path_buf(), text, weights })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The weights that a list of names stands for, in the order of the file: a name stands for the weight and for all
    /// whose names go on from it after a dot; no names stand for all weights.
    ///
    /// # Errors
    /// [`WeightFileError::Unknown`], [`WeightFileError::Zero`] for one that is 0, and [`WeightFileError::Empty`].
    pub fn chosen(&self, names: &[String]) -> Result<Vec<Weight>, WeightFileError> {
        let path = || self.path.clone();
        if self.weights.is_empty() {
            return Err(WeightFileError::Empty(path()));
        }
        let stands_for = |name: &str, weight: &Weight| {
            weight.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if let Some(name) = names.iter().find(|name| !self.weights.iter().any(|weight| stands_for(name, weight))) {
            let mut groups: Vec<&str> =
                self.weights.iter().map(|w| w.name.split('.').next().unwrap_or_default()).collect();
            groups.dedup();
            return Err(WeightFileError::Unknown { path: path(), name: name.clone(), known: groups.join(", ") });
        }
        let wanted = |weight: &&Weight| names.is_empty() || names.iter().any(|name| stands_for(name, weight));
        let chosen: Vec<Weight> = self.weights.iter().filter(wanted).cloned().collect();
        match chosen.iter().find(|weight| weight.value == 0.0) {
            Some(weight) => Err(WeightFileError::Zero { path: path(), name: weight.name.clone() }),
            None => Ok(chosen),
        }
    }

    /// The text with other values for some of its weights, whole numbers rounded.
    pub fn with(&self, weights: &[Weight], values: &[f64]) -> String {
        let mut text = self.text.clone();
        let mut changes: Vec<(&Weight, f64)> = weights.iter().zip(values.iter().copied()).collect();
        changes.sort_by_key(|(weight, _)| std::cmp::Reverse(weight.span.start));
        for (weight, value) in changes {
            let mut number = weight.written(value);
            let old = weight.span.len();
            // What stands behind it on the line stays in its column as far as it can.
            let room = text[weight.span.end..].bytes().take_while(|byte| *byte == b' ').count();
            let mut end = weight.span.end;
            if room > 0 {
                let spaces = (old + room).saturating_sub(number.len()).max(1);
                number.push_str(&" ".repeat(spaces));
                end += room;
            }
            text.replace_range(weight.span.start..end, &number);
        }
        text
    }
}

impl Weight {
    /// A value of it as it stands in a file: four significant digits.
    pub fn written(&self, value: f64) -> String {
        if self.whole {
            return format!("{}", value.round());
        }
        let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
        let rounded = format!("{:.*}", (3 - digits).clamp(1, 9) as usize, value);
        let short = rounded.trim_end_matches('0');
        if short.ends_with('.') { format!("{short}0") } else { short.to_string() }
    }
}

fn collect(name: &str, value: &Spanned<DeValue<'_>>, text: &str, weights: &mut Vec<Weight>) {
    let mut add = |number: Option<f64>, whole: bool| {
        let span = value.span();
        let line = text[span.end..].lines().next().unwrap_or_default();
        let unit = line.split_once('#').map_or("", |(_, comment)| comment.trim_start());
        let share = unit.starts_with("share") || unit.starts_with("probability");
        weights.extend(number.map(|value| Weight { name: name.to_string(), value, whole, share, span }));
    };
    match value.get_ref() {
        DeValue::Integer(integer) if integer.radix() == 10 => add(integer.as_str().parse().ok(), true),
        DeValue::Float(float) => add(float.as_str().parse().ok().filter(|value: &f64| value.is_finite()), false),
        DeValue::Array(array) => {
            for (i, item) in array.iter().enumerate() {
                collect(&format!("{name}.{i}"), item, text, weights);
            }
        }
        DeValue::Table(table) => {
            for (key, item) in table {
                collect(&format!("{name}.{}", key.get_ref()), item, text, weights);
            }
        }
        _ => {}
    }
}
