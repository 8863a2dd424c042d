//! What the network of a run does, from its latest games against itself.

use crate::arena::agents::ArenaGame;
use crate::arena::anatomy::collect::{Anatomy, Collector};
use crate::games::{GameVisitor, with_game};
use crate::run_files::RunFiles;
use crate::self_play::game::{SelfPlayGame, UnplayableGame};
use crate::self_play::replay::{ReplayError, latest_games};
use dervish_env::chance::Dice;
use dervish_env::dervish::data_file::DataError;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Actor, Position, Seat};
use dervish_env::record::{Record, RecordError};

/// Games of the network against itself that are taken apart: the latest whole rounds with as many, or all that are kept.
pub const GAMES: usize = 256;
/// Moves that make up an opening.
const OPENING: usize = 2;

/// What the latest games of a run's network against itself tell.
#[derive(Clone, PartialEq, Debug)]
pub struct Behaviour {
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Of each scenario that has games, in the order of the configuration.
    pub anatomies: Vec<Anatomy>,
}

/// Why nothing is told of the games of a run.
#[derive(Debug, thiserror::Error)]
pub enum BehaviourError {
    /// They cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A scenario cannot be read; its first fault.
    #[error("{0}")]
    Scenario(String),
    /// A game does not fit the rules.
    #[error(transparent)]
    Game(#[from] UnplayableGame),
    /// A game cannot be counted.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<Vec<DataError>> for BehaviourError {
    fn from(faults: Vec<DataError>) -> BehaviourError {
        BehaviourError::Scenario(faults.first().map_or_else(String::new, DataError::to_string))
    }
}

impl Behaviour {
    /// Plays the latest games of `run` again, those of its teacher and those against opponents left out.
    ///
    /// # Errors
    /// [`BehaviourError`]
    pub fn of(run: &RunFiles) -> Result<Behaviour, BehaviourError> {
        let taught = run.outline().imitation.games;
        let by_itself = |game: &SelfPlayGame| game.number >= taught && game.opponent.is_none();
        let games = latest_games(&run.replay_folder(), GAMES, by_itself)?;
        let (mut seats, mut anatomies) = (Seat::BOTH.map(|seat| format!("{seat:?}").to_lowercase()), Vec::new());
        for (index, scenario) in run.outline().scenarios.iter().enumerate() {
            let games: Vec<&SelfPlayGame> = games.iter().filter(|game| game.scenario == index).collect();
            let anatomy = with_game(scenario, TakeApart { games: &games })??;
            seats.clone_from(&anatomy.seats);
            if anatomy.games > 0 {
                anatomies.push(anatomy);
            }
        }
        Ok(Behaviour { seats, anatomies })
    }
}

struct TakeApart<'g> {
    games: &'g [&'g SelfPlayGame],
}

impl GameVisitor for TakeApart<'_> {
    type Output = Result<Anatomy, BehaviourError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, _encoder: E) -> Self::Output {
        let mut collector = Collector::new(start.clone(), OPENING);
        for game in self.games {
            collector.add(record_of(game, &start)?)?;
        }
        Ok(collector.anatomy())
    }
}

/// A game of self-play as a record, with the rolls that follow from its dice.
///
/// # Errors
/// [`UnplayableGame`] if a decision is not possible where it stands, or the game does not end with the last one.
pub fn record_of<P: Position>(game: &SelfPlayGame, start: &P) -> Result<Record, UnplayableGame> {
    let mut record = Record::begin(start, game.dice_seed, ["self-play"; 2]);
    let mut position = start.clone();
    let mut dice = Dice::new(game.dice_seed);
    let mut decisions = game.decisions.iter().enumerate();
    let unplayable = |decision, reason| UnplayableGame { number: game.number, decision, reason };
    loop {
        match position.actor() {
            Actor::Chance => {
                let outcome = dice.roll(&position);
                record.push_roll(&position, outcome);
                position.resolve_possible(outcome);
            }
            Actor::Player(seat) => {
                let Some((index, decision)) = decisions.next() else {
                    return Err(unplayable(game.decisions.len(), "the game does not end there as it says"));
                };
                if decision.seat != seat || !position.is_legal(decision.action) {
                    return Err(unplayable(index, "the action is not legal there"));
                }
                record.push_action(&position, decision.action);
                position.apply_legal(decision.action);
            }
            Actor::Finished => {
                if decisions.next().is_some() || position.result() != Some(game.result) {
                    return Err(unplayable(game.decisions.len(), "the game ends otherwise than it says"));
                }
                record.finish(&position);
                return Ok(record);
            }
        }
    }
}
