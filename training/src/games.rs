//! The games by name, so that one generic function serves them all.

use crate::arena::agents::ArenaGame;
use dervish_env::dervish::campaign::Campaign;
use dervish_env::dervish::data_file::DataError;
use dervish_env::dervish::encode::CampaignEncoder;
use dervish_env::dervish::scenario::Scenario;
use dervish_env::encode::PolicyEncoder;
use dervish_env::reference::connect_four::{ConnectFour, ConnectFourColumns};
use dervish_env::reference::pig::{Pig, PigPlayers};
use std::path::Path;

/// Something that can be done with any game.
pub trait GameVisitor {
    /// What comes of it.
    type Output;

    /// Does it with the game that begins at `start`; `encoder` is the game's usual one.
    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output;
}

/// Names of the reference games.
pub const REFERENCE_GAMES: [&str; 2] = ["connect-four", "pig"];

/// Names of all games that come with the program: the reference games and the built-in scenarios.
pub fn game_names() -> impl Iterator<Item = &'static str> {
    REFERENCE_GAMES.into_iter().chain(Scenario::BUILTIN_NAMES)
}

/// Does something with the game of this name: a reference game, a built-in scenario or a scenario file.
///
/// # Errors
/// The faults of the file; a name that is neither a game nor a file is one of them.
pub fn with_game<V: GameVisitor>(name: &str, visitor: V) -> Result<V::Output, Vec<DataError>> {
    match name {
        "connect-four" => Ok(visitor.visit(ConnectFour::new(), ConnectFourColumns::new())),
        "pig" => Ok(visitor.visit(Pig::new(), PigPlayers::new())),
        _ => {
            let scenario = Scenario::named_or_file(name).map_err(|mut faults| {
                // A name that is no file was meant to be that of a game.
                if !Path::new(name).exists() {
                    let games = format!("; reference games are {}", REFERENCE_GAMES.join(", "));
                    faults.iter_mut().for_each(|fault| fault.reason.push_str(&games));
                }
                faults
            })?;
            Ok(visitor.visit(Campaign::new(scenario), CampaignEncoder::new(scenario)))
        }
    }
}
