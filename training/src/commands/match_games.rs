//! `dervish match`: two agents, games in pairs, a table with intervals.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::luck::value_function;
use crate::arena::match_play::Match;
use crate::arena::report::MatchReport;
use crate::arena::sprt::SprtPlan;
use crate::arena::store::Store;
use crate::commands::match_args::GamesArgs;
use crate::commands::match_keeping::{MatchCommandError, Pace, kept_folder, play_and_keep};
use crate::commands::{CommandError, print_json, print_line, tell};
use crate::games::{GameVisitor, with_game};
use dervish_agents::registry::Registry;
use dervish_env::encode::PolicyEncoder;
use std::path::PathBuf;

/// Plays A against B: games in pairs with the seats swapped and common dice.
#[derive(Clone, Debug, clap::Args)]
pub struct MatchArgs {
    /// An agent with its options, such as `mcts:sims=400,seed=7`; `dervish agents` lists them.
    pub a: String,
    /// The other agent.
    pub b: String,
    /// What is played, and how.
    #[command(flatten)]
    pub of: GamesArgs,
    /// Stop as soon as the games tell `elo0` from `elo1` more Elo of A than of B, such as `elo0=0 elo1=10`, or `score0`
    /// from `score1`; --games is then the most. `alpha` and `beta` (0.05 each) say how often H1 and H0 may be accepted
    /// wrongly. The agents stand before it, or another option between.
    #[arg(long, value_name = "KEY=NUMBER", num_args = 1.., value_delimiter = ',', value_parser = sprt_item)]
    pub sprt: Vec<String>,
    /// Measure the luck of every game and tell the results without it.
    #[arg(long)]
    pub luck: bool,
    /// SQLite file for the games; a match that is in it already goes on where it stopped.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// New folder for match.json and the record of every game; that of the match's games if it goes on.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the match document as JSON instead of the table.
    #[arg(long)]
    pub json: bool,
}

/// An item of `--sprt`, which takes all that stands between it and the next option: an agent is none.
fn sprt_item(text: &str) -> Result<String, &'static str> {
    let is_item = text.split_once('=').is_some_and(|(key, _)| key.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let expected = "expected KEY=NUMBER, such as elo1=10; agents stand before --sprt";
    is_item.then(|| text.to_string()).ok_or(expected)
}

impl MatchArgs {
    /// Plays the match and prints what it tells.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let report = with_game(&self.of.scenario, MatchVisitor { args: self })??;
        if self.json {
            print_json(&report)?;
        } else {
            print_line(&report.to_string())?;
        }
        if self.luck && report.statistics.luck.is_none() {
            tell("nothing is told of luck: it takes three pairs, and results and dice that are not always the same");
        }
        if let Some(folder) = &self.out {
            tell(&format!("match.json and {} records are in {}", report.games.len(), folder.display()));
        }
        Ok(())
    }
}

struct MatchVisitor<'a> {
    args: &'a MatchArgs,
}

impl GameVisitor for MatchVisitor<'_> {
    type Output = Result<MatchReport, MatchCommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        match_games(&start, &agents_of(&start, encoder), self.args)
    }
}

/// Plays the match from `start` between agents of the registry and keeps it where `--db` and `--out` say.
///
/// # Errors
/// [`MatchCommandError`], one line.
pub fn match_games<P: ArenaGame>(
    start: &P,
    agents: &Registry<P>,
    args: &MatchArgs,
) -> Result<MatchReport, MatchCommandError> {
    let options = args.of.options(start)?;
    let sprt = (!args.sprt.is_empty()).then(|| SprtPlan::parse(&args.sprt)).transpose()?;
    let (a, b) = (agents.factory(&args.a)?, agents.factory(&args.b)?);
    let value = value_function(P::evaluation());
    let db = args.db.as_deref();
    let there = db.map(Store::open_if_there).transpose()?.flatten();
    let to_play =
        Match { start, agents: [&a, &b], options, sprt, value: (args.luck || db.is_some()).then_some(&value) };
    // What is in the way of records shows before a file of results is made.
    if let (Some(_), None, Some(out)) = (db, &there, &args.out) {
        drop(kept_folder(&to_play, &[], out)?);
    }
    let mut store = match there {
        None => db.map(Store::open_or_create).transpose()?,
        there => there,
    };
    let mut report = play_and_keep(&to_play, store.as_mut(), args.out.as_deref(), Pace::default())?;
    if !args.luck {
        report.statistics.luck = None;
    }
    Ok(report)
}
