//! `dervish tournament`: every agent against every other, and the ratings.

use crate::arena::agents::{ArenaGame, agents_of};
use crate::arena::luck::value_function;
use crate::arena::match_play::{Match, MatchError, MatchOptions};
use crate::arena::standings::Standings;
use crate::arena::store::{Store, StoreError, StoredMatch, StoredVersion};
use crate::commands::match_args::GamesArgs;
use crate::commands::match_keeping::{MatchCommandError, Pace, play_and_keep};
use crate::commands::{CommandError, print_json, print_line, tell};
use crate::games::{GameVisitor, with_game};
use crate::interrupt;
use dervish_agents::registry::{AgentFactory, SpecError};
use dervish_env::chance::game_seed;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::GameIdentity;
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// Plays every agent against every other, every two with dice of their own, and rates them.
///
/// What is in the file already is not played again; games of `dervish match --db` by the same rules and bounds are rated with the
/// others, those of matches that a test ended (`--sprt`) too, which show a little more difference than there is.
#[derive(Clone, Debug, clap::Args)]
pub struct TournamentArgs {
    /// Agents with their options, at least two; their order does not matter.
    #[arg(required = true, num_args = 2.., value_name = "AGENT")]
    pub agents: Vec<String>,
    /// What is played, and how.
    #[command(flatten)]
    pub of: GamesArgs,
    /// SQLite file for the games.
    #[arg(long, value_name = "FILE")]
    pub db: PathBuf,
    /// JSON instead of tables.
    #[arg(long)]
    pub json: bool,
}

impl TournamentArgs {
    /// Plays and prints the standings of all games in the file that were played by the same rules and with the same bounds.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let standings = with_game(&self.of.scenario, Tournament { args: self })??;
        if self.json { print_json(&standings) } else { print_line(&standings.to_string()) }
    }
}

struct Tournament<'a> {
    args: &'a TournamentArgs,
}

impl GameVisitor for Tournament<'_> {
    type Output = Result<Standings, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let args = self.args;
        let options = args.of.options(&start)?;
        let registry = agents_of(&start, encoder);
        let agents: Result<Vec<AgentFactory<P>>, SpecError> =
            args.agents.iter().map(|spec| registry.factory(spec)).collect();
        let mut agents = agents.map_err(MatchCommandError::Spec)?;
        agents.sort_by(|one, other| one.spec().cmp(other.spec()));
        if let Some(twice) = agents.windows(2).find(|two| two[0].spec() == two[1].spec()) {
            let reason = format!("'{}' is given twice", twice[0].spec());
            return Err(CommandError::Argument { argument: "AGENT", reason });
        }
        let value = value_function(P::evaluation());
        let mut store = Store::open_or_create(&args.db)?;
        // They are rated with what is played now: what is wrong with them shows before hours have gone into that.
        matches_by(&store, &start.identity())?;
        let matches = agents.len() * (agents.len() - 1) / 2;
        let mut number = 0;
        for (place, a) in agents.iter().enumerate() {
            for b in &agents[place + 1..] {
                let options = MatchOptions { seed: pairing_seed(options.seed, a.spec(), b.spec()), ..options };
                let to_play = Match { start: &start, agents: [a, b], options, sprt: None, value: Some(&value) };
                number += 1;
                let pace = Pace { prefix: &format!("match {number} of {matches}: "), until: None };
                match play_and_keep(&to_play, Some(&mut store), None, pace) {
                    Err(MatchCommandError::Match(MatchError::Stopped)) => {}
                    played => drop(played?),
                }
                if interrupt::requested() {
                    tell("stopped; the same command goes on from here");
                    return rate(&mut store, &start.identity(), &options);
                }
            }
        }
        rate(&mut store, &start.identity(), &options)
    }
}

/// The seed of the match between two agents, so that matches have dice of their own and a further agent changes none.
fn pairing_seed(seed: u64, a: &str, b: &str) -> u64 {
    game_seed(seed, xxh3_64(format!("{a}\n{b}").as_bytes()))
}

/// The version of this program and these rules with its matches, if the file has any.
fn matches_by(store: &Store, identity: &GameIdentity) -> Result<Option<(StoredVersion, Vec<StoredMatch>)>, StoreError> {
    let Some(version) = store.versions()?.into_iter().find(|version| version.is_current(identity)) else {
        return Ok(None);
    };
    let matches = store.matches_of(&version)?;
    Ok(Some((version, matches)))
}

/// The standings of this program, these rules and these bounds, which are saved.
fn rate(store: &mut Store, identity: &GameIdentity, options: &MatchOptions) -> Result<Standings, CommandError> {
    let all = matches_by(store, identity)?.map_or_else(Vec::new, |(version, matches)| Standings::of(&version, matches));
    let as_bounded = |of: &Standings| (of.limits, of.max_decisions) == (options.limits, options.max_decisions);
    let standings = all.into_iter().find(as_bounded).ok_or(MatchCommandError::Match(MatchError::Stopped))?;
    standings.save(store)?;
    Ok(standings)
}
