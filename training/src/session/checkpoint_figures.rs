//! What a checkpoint says of its run beside the weights, so that a session goes on as the run was.

use crate::self_play::pool::Met;
use crate::session::progress::Tally;
use std::collections::BTreeMap;

/// The figure of a checkpoint that says how many optimisation steps are behind the network that plays.
pub const PLAYING_STEP: &str = "playing_step";

/// What a run has used and made, as figures of a checkpoint.
pub fn figures_of_tally(tally: &Tally) -> impl Iterator<Item = (String, f64)> {
    let Tally { seconds, rounds, games, decisions, numbered } = *tally;
    let counts = [("rounds", rounds), ("games", games), ("decisions", decisions), ("numbered", numbered)];
    let counts = counts.into_iter().map(|(name, count)| (name, count as f64));
    counts.chain([("seconds", seconds)]).map(|(name, figure)| (name.to_string(), figure))
}

/// What figures of a checkpoint tell of what a run has used and made; what is missing is 0.
pub fn tally_from(figures: &BTreeMap<String, f64>) -> Tally {
    let figure = |name: &str| figures.get(name).copied().unwrap_or(0.0);
    Tally {
        seconds: figure("seconds"),
        games: figure("games") as u64,
        decisions: figure("decisions") as u64,
        rounds: figure("rounds") as u64,
        numbered: figure("numbered") as u64,
    }
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
