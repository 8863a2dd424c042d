//! Playing a match while showing how it goes and keeping what is finished: in a file of results, and as records.

use crate::arena::agents::ArenaGame;
use crate::arena::folder::{FolderError, KnownGames, MatchFolder};
use crate::arena::match_play::{Contestant, Match, MatchError, PlayedGame, Spectator};
use crate::arena::report::MatchReport;
use crate::arena::sprt::SprtError;
use crate::arena::store::{MatchId, MatchIdentity, Store, StoreError};
use crate::commands::progress::WorkProgress;
use crate::interrupt;
use dervish_agents::agent::Event;
use dervish_agents::registry::SpecError;
use dervish_env::chance::game_seed;
use dervish_env::game::{IllegalMove, Seat};
use dervish_env::record::{Ply, Record};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// How a match is watched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace<'p> {
    /// Goes before the progress: which match of several this is.
    pub prefix: &'p str,
    /// When to stop, as if by Ctrl-C.
    pub until: Option<Instant>,
}

/// Plays a match, or what is missing of it in `store`, writes every pair there, and records and document into the
/// folder `out`: a new one, or that of the games which are in `store`.
///
/// # Errors
/// [`MatchCommandError`].
pub(super) fn play_and_keep<P: ArenaGame>(
    to_play: &Match<'_, P>,
    store: Option<&mut Store>,
    out: Option<&Path>,
    pace: Pace<'_>,
) -> Result<MatchReport, MatchCommandError> {
    interrupt::install().map_err(MatchCommandError::Interrupt)?;
    let mut earlier: Vec<[PlayedGame; 2]> = Vec::new();
    let mut book = None;
    let is_kept = store.is_some();
    if let Some(store) = store {
        let id = store.enter_match(&identity_of(to_play))?;
        earlier = store.pairs_of(id)?;
        book = Some(Mutex::new((store, id)));
    }
    let folder_at = |path| if is_kept { kept_folder(to_play, &earlier, path) } else { MatchFolder::create(path) };
    let folder = out.map(folder_at).transpose()?;
    let watch = Watch::new(to_play, book, folder, &earlier, pace);
    let report = to_play.play(earlier, &watch);
    watch.progress.finish();
    let report = report?;
    if let Some(folder) = &watch.folder {
        folder.write_report(&report)?;
    }
    Ok(report)
}

/// The folder for records of a match whose games are in a file of results too, which has these so far.
///
/// # Errors
/// As [`MatchFolder::go_on`].
pub(super) fn kept_folder<P: ArenaGame>(
    to_play: &Match<'_, P>,
    earlier: &[[PlayedGame; 2]],
    path: &Path,
) -> Result<MatchFolder, FolderError> {
    let is_record_of = |game: u32, record: &Record| is_record_of(to_play, earlier, game, record);
    let games =
        KnownGames { played: 2 * earlier.len() as u32, asked: 2 * to_play.options.pairs, is_record_of: &is_record_of };
    MatchFolder::go_on(path, &games)
}

/// Whether a record can be that of a game of the match: of one that was played already, or that is played next.
fn is_record_of<P: ArenaGame>(to_play: &Match<'_, P>, earlier: &[[PlayedGame; 2]], game: u32, record: &Record) -> bool {
    let seats = if Contestant::first_in(game) == Contestant::A { [0, 1] } else { [1, 0] };
    let agents = seats.map(|agent| to_play.agents[agent].spec());
    let decisions = || record.plies().iter().filter(|ply| matches!(ply, Ply::Decision { .. })).count();
    let as_played = |played: &PlayedGame| decisions() == played.outcome.decisions as usize;
    record.identity() == &to_play.start.identity()
        && record.seed() == game_seed(to_play.options.seed, u64::from(game / 2))
        && record.seats().iter().zip(agents).all(|(seat, agent)| seat.agent == agent)
        && earlier.as_flattened().get(game as usize).is_none_or(as_played)
}

/// What the games of a match depend on.
pub(super) fn identity_of<P: ArenaGame>(to_play: &Match<'_, P>) -> MatchIdentity {
    MatchIdentity {
        game: to_play.start.identity(),
        seats: Seat::BOTH.map(|seat| P::seat_name(seat).to_string()),
        agents: to_play.agents.map(|agent| agent.spec().to_string()),
        fingerprints: to_play.agents.map(|agent| agent.fingerprint().map(str::to_string)),
        seed: to_play.options.seed,
        limits: to_play.options.limits,
        max_decisions: to_play.options.max_decisions,
    }
}

/// Shows the progress, and writes records and results.
struct Watch<'m, P: ArenaGame> {
    to_play: &'m Match<'m, P>,
    /// Where the pairs of this match are written.
    book: Option<Mutex<(&'m mut Store, MatchId)>>,
    folder: Option<MatchFolder>,
    until: Option<Instant>,
    progress: WorkProgress,
    /// Games in all.
    games: u64,
    /// Points of A and games.
    score_of_a: Mutex<(f64, u64)>,
}

impl<'m, P: ArenaGame> Watch<'m, P> {
    fn new(
        to_play: &'m Match<'m, P>,
        book: Option<Mutex<(&'m mut Store, MatchId)>>,
        folder: Option<MatchFolder>,
        earlier: &[[PlayedGame; 2]],
        pace: Pace<'_>,
    ) -> Watch<'m, P> {
        let games = earlier.as_flattened();
        let points = games.iter().map(|game| game.outcome.score_of(Contestant::A)).sum();
        let played = games.len() as u64;
        let games = 2 * u64::from(to_play.options.pairs);
        let progress = WorkProgress::new(played as f64 / games as f64, pace.prefix, to_play.sprt.is_some());
        Watch { to_play, book, folder, until: pace.until, progress, games, score_of_a: Mutex::new((points, played)) }
    }

    fn record(&self, game: &PlayedGame) -> Result<Record, IllegalMove> {
        let spec_on = |seat| self.to_play.agents[game.outcome.contestant_on(seat).index()].spec();
        let mut record = Record::begin(self.to_play.start, game.outcome.dice_seed, Seat::BOTH.map(spec_on));
        let mut position = self.to_play.start.clone();
        for &event in &game.events {
            match event {
                Event::Played(_, action) => {
                    record.push_action(&position, action);
                    position.apply(action)?;
                }
                Event::Rolled(outcome) => {
                    record.push_roll(&position, outcome);
                    position.resolve(outcome)?;
                }
            }
        }
        match &game.outcome.forfeit {
            Some(forfeit) => record.forfeit(forfeit.clone()),
            None if game.outcome.truncated => record.truncate(),
            None => record.finish(&position),
        }
        Ok(record)
    }
}

impl<P: ArenaGame> Spectator for Watch<'_, P> {
    fn stop_requested(&self) -> bool {
        interrupt::requested() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn pair_over(&self, games: &[PlayedGame; 2]) -> io::Result<()> {
        if let Some(folder) = &self.folder {
            for game in games {
                let record = self.record(game).map_err(io::Error::other)?;
                folder.write_record(game.outcome.game, &record)?;
            }
        }
        if let Some(book) = &self.book {
            let mut book = book.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (store, id) = &mut *book;
            store.add_pair(*id, games).map_err(io::Error::other)?;
        }
        let mut score = self.score_of_a.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (points, played) = &mut *score;
        *points += games.iter().map(|game| game.outcome.score_of(Contestant::A)).sum::<f64>();
        *played += 2;
        let (games, score) = (self.games, *points / *played as f64);
        let (words, more) = (format!("{played} of {games} games"), format!("A has {score:.3}"));
        self.progress.tell(*played as f64 / games as f64, &words, &more);
        Ok(())
    }
}

/// Why a match was not played or not kept.
#[derive(Debug, thiserror::Error)]
pub enum MatchCommandError {
    /// Games are played in pairs.
    #[error("--games {0}: games are played in pairs, so their number must be even and above 0")]
    UnevenGames(u32),
    /// A budget of nothing.
    #[error("--{0}: an agent needs at least one simulation")]
    NoSimulations(&'static str),
    /// A budget that is no time.
    #[error("{0}")]
    Time(String),
    /// A game of nothing.
    #[error("--max-decisions 0: a game needs at least one decision")]
    NoDecisions,
    /// Budgets that contradict each other.
    #[error("--{option} {}: more for one decision than --turn-{option} {} for all of its turn", bounds[0], bounds[1])]
    MoreThanTheTurn {
        /// The option for a decision.
        option: &'static str,
        /// What was given for a decision and for a turn.
        bounds: [String; 2],
    },
    /// A budget for turns in a game that does not count them.
    #[error("--turn-{option}: {game} counts no turns; bound its decisions with --{option}")]
    NoTurns {
        /// The option for a decision.
        option: &'static str,
        /// The game.
        game: String,
    },
    /// The test of `--sprt` cannot be made.
    #[error("--sprt: {0}")]
    Sprt(#[from] SprtError),
    /// The file of results cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An agent's spec is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The match failed.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The folder for records cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The system allows no handler for Ctrl-C.
    #[error("cannot watch for Ctrl-C: {0}")]
    Interrupt(String),
}
