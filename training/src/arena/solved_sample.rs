//! Positions of any game with their exact values, drawn from random games.

use crate::arena::regret::{BY_RESULT, SolvedPosition, Unsolved};
use dervish_env::chance::{Dice, SplitMix64, game_seed};
use dervish_env::game::{Action, Actor, Position};
use dervish_search::exact::{NotSolved, Solver};
use dervish_search::fixed_point::FixedPoint;

/// Positions that may follow from a drawn one, if no other bound is set: some tenths of a second for each game.
pub const DRAWN_LIMIT: usize = 100_000;
/// Positions of a whole game in which positions come back, if no other bound is set. Pig has 2.3 million.
pub const WHOLE_LIMIT: usize = 5_000_000;

/// Why positions were not drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotDrawn {
    /// The game can go on for ever and is too large to be solved as a whole.
    #[error("its positions can come back, and there are more than {limit}")]
    TooLarge {
        /// The bound on its positions.
        limit: usize,
    },
    /// The game can go on for ever, and nothing but the players ends it.
    #[error("its positions can come back, and the players can keep it from ever ending")]
    Endless,
    /// Random games end where nothing is left to choose, or before they come near enough to their end.
    #[error("only {found} positions with something to choose were solved in {games} random games")]
    TooFew {
        /// Positions that were found.
        found: usize,
        /// Games that were played.
        games: u64,
    },
}

/// Draws `count` different positions in which it matters what is chosen, one from a random game each, from the streams that
/// `seed` names.
///
/// Of a game whose positions never come back, those near enough to the end are taken, from which at most `limit` positions
/// follow. Another game is solved as a whole, if it has at most `limit` positions, and any of its positions is taken.
///
/// # Errors
/// [`NotDrawn`].
pub fn draw<P: Position>(
    start: &P,
    count: usize,
    seed: u64,
    limit: Option<usize>,
) -> Result<Vec<SolvedPosition<P>>, NotDrawn> {
    let most_games = 100 + 20 * count as u64;
    let mut drawn: Vec<SolvedPosition<P>> = Vec::new();
    let mut whole: Option<FixedPoint> = None;
    for game in 0..most_games {
        if drawn.len() == count {
            break;
        }
        let (decisions, mut rng) = random_game(start, game_seed(seed, game));
        let mut solved = Vec::new();
        let mut solver = Solver::new(BY_RESULT, true, limit.unwrap_or(DRAWN_LIMIT));
        for position in decisions.into_iter().rev() {
            if whole.is_none() {
                match SolvedPosition::by(&position, &mut solver) {
                    Err(Unsolved::NotSolved(NotSolved::Cycle)) => {
                        let limit = limit.unwrap_or(WHOLE_LIMIT);
                        let solved = FixedPoint::of(start, BY_RESULT, limit);
                        whole = Some(solved.map_err(|error| match error {
                            NotSolved::Endless => NotDrawn::Endless,
                            NotSolved::TooLarge { .. } | NotSolved::Cycle => NotDrawn::TooLarge { limit },
                        })?);
                    }
                    Err(_) => break,
                    Ok(solution) => solved.push(solution),
                }
            }
            solved.extend(whole.as_ref().and_then(|whole| SolvedPosition::of_whole(&position, whole)));
        }
        solved.retain(SolvedPosition::is_a_choice);
        if !solved.is_empty() {
            let one = solved.swap_remove(rng.below(solved.len()));
            if drawn.iter().all(|other| other.position.key() != one.position.key()) {
                drawn.push(one);
            }
        }
    }
    let found = drawn.len();
    if found == count { Ok(drawn) } else { Err(NotDrawn::TooFew { found, games: most_games }) }
}

/// The decisions between several actions in a random game, and the stream that goes on from it.
///
/// Players are fond of what they did last, more in one game than in another: by uniformly random actions a turn of pig would
/// never get to where it matters whether to go on.
fn random_game<P: Position>(start: &P, seed: u64) -> (Vec<P>, SplitMix64) {
    let (mut dice, mut rng) = (Dice::new(seed), SplitMix64::new(seed));
    let (mut position, mut decisions, mut legal) = (start.clone(), Vec::new(), Vec::<Action>::new());
    // Repetitions of the latest action of each seat among 100 decisions.
    let fondness = rng.below(101);
    let mut latest: [Option<Action>; 2] = [None; 2];
    loop {
        match position.actor() {
            Actor::Finished => return (decisions, rng),
            Actor::Chance => {
                let outcome = dice.roll(&position);
                position.resolve_possible(outcome);
            }
            Actor::Player(seat) => {
                position.legal_actions_into(&mut legal);
                if legal.len() > 1 {
                    decisions.push(position.clone());
                }
                let again = latest[seat.index()].filter(|action| legal.contains(action) && rng.below(100) < fondness);
                let action = again.unwrap_or_else(|| legal[rng.below(legal.len())]);
                latest[seat.index()] = Some(action);
                position.apply_legal(action);
            }
        }
    }
}
