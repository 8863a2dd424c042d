//! What a checkpoint says of its run beside the weights, so that a session goes on as the run was.

use crate::self_play::pool::Met;
use crate::session::progress::Tally;
use dervish_models::checkpoint::Manifest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The figure of a checkpoint that says how many optimisation steps are behind the network that plays.
pub const PLAYING_STEP: &str = "playing_step";

/// A figure of a checkpoint with which no run goes on.
#[derive(Debug, thiserror::Error)]
#[error("{path}: the figure {name} {reason}", path = path.display())]
pub struct FigureError {
    /// The manifest.
    pub path: PathBuf,
    /// Name of the figure.
    pub name: String,
    /// What is wrong with it.
    #[source]
    pub reason: FigureFault,
}

/// What is wrong with a figure of a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum FigureFault {
    /// The checkpoint does not say it.
    #[error("is missing")]
    Missing,
    /// It cannot be.
    #[error("is {found:?}, which is not {expected}")]
    Wrong {
        /// What it says.
        found: f64,
        /// What it may say.
        expected: String,
    },
}

/// Refuses the manifest in the file `path` if no run goes on with its figures.
///
/// # Errors
/// [`FigureError`] with the first of them.
pub fn check(path: &Path, manifest: &Manifest) -> Result<(), FigureError> {
    /// Whole numbers up to it are floating-point numbers: 2 to the 53rd.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let Manifest { figures, step, .. } = manifest;
    let fault = |name: &str, reason| Err(FigureError { path: path.to_owned(), name: name.to_owned(), reason });
    let refused = |name: &str, found: f64, expected: String| fault(name, FigureFault::Wrong { found, expected });
    // Nothing is behind a network before its first step.
    let mut needed = COUNTS.into_iter().filter(|name| *name != NUMBERED).chain([SECONDS]);
    if *step > 0
        && let Some(name) = needed.find(|name| !figures.contains_key(*name))
    {
        return fault(name, FigureFault::Missing);
    }
    for (name, &found) in figures {
        let is_count = COUNTS.contains(&name.as_str()) || name == PLAYING_STEP;
        let is_amount = name == SECONDS || name.starts_with(MET[0]);
        if (is_count || is_amount) && !(0.0..=MOST).contains(&found) {
            return refused(name, found, format!("from 0 to {MOST}"));
        }
        if is_count && found.fract() != 0.0 {
            return refused(name, found, "a whole number".to_owned());
        }
    }
    let Tally { rounds, games, numbered, .. } = tally_from(figures);
    if games > 0 && rounds == 0 {
        return refused("games", games as f64, "0 before the first round".to_owned());
    }
    if numbered < games && figures.contains_key(NUMBERED) {
        return refused(NUMBERED, numbered as f64, format!("at least {games}, the number of games"));
    }
    match figures.get(PLAYING_STEP) {
        Some(&playing) if playing > *step as f64 => refused(PLAYING_STEP, playing, format!("at most {step}, the step")),
        _ => Ok(()),
    }
}

/// The figures of a checkpoint that count something of its run.
const COUNTS: [&str; 4] = ["rounds", "games", "decisions", NUMBERED];

/// The one of them that an older program did not say.
const NUMBERED: &str = "numbered";

/// The figure of a checkpoint that says how long its run took.
const SECONDS: &str = "seconds";

/// What a run has used and made, as figures of a checkpoint.
pub fn figures_of_tally(tally: &Tally) -> impl Iterator<Item = (String, f64)> {
    let Tally { seconds, rounds, games, decisions, numbered } = *tally;
    let counts = COUNTS.into_iter().zip([rounds, games, decisions, numbered]);
    let counts = counts.map(|(name, count)| (name, count as f64));
    counts.chain([(SECONDS, seconds)]).map(|(name, figure)| (name.to_string(), figure))
}

/// What figures of a checkpoint tell of what a run has used and made; what is missing, where [`check`] lets it be, is 0.
pub fn tally_from(figures: &BTreeMap<String, f64>) -> Tally {
    let figure = |name: &str| figures.get(name).copied().unwrap_or(0.0);
    let [rounds, games, decisions, numbered] = COUNTS.map(|name| figure(name) as u64);
    Tally { seconds: figure(SECONDS), rounds, games, decisions, numbered }
}

/// What goes before an opponent's name, and after it, in the figures of a checkpoint.
const MET: [&str; 3] = ["met ", " games", " points"];

/// What is known of opponents, as figures of a checkpoint.
pub fn figures_of_met(met: &BTreeMap<String, Met>) -> impl Iterator<Item = (String, f64)> {
    let [before, games, points] = MET;
    met.iter().flat_map(move |(name, met)| {
        [(format!("{before}{name}{games}"), met.games), (format!("{before}{name}{points}"), met.points)]
    })
}

/// What figures of a checkpoint tell of opponents.
pub fn met_from(figures: &BTreeMap<String, f64>) -> BTreeMap<String, Met> {
    let [before, games, points] = MET;
    let mut met: BTreeMap<String, Met> = BTreeMap::new();
    for (name, &figure) in figures {
        let Some(name) = name.strip_prefix(before) else { continue };
        if let Some(name) = name.strip_suffix(games) {
            met.entry(name.to_string()).or_default().games = figure;
        } else if let Some(name) = name.strip_suffix(points) {
            met.entry(name.to_string()).or_default().points = figure;
        }
    }
    met
}
