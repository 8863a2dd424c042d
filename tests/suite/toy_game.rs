//! What the small games of these tests have in common: they are of one version and one start, and their actions are read back by
//! their texts.

use dervish_env::game::{Action, GameIdentity, IllegalMove, Position, Seat};

/// The identity of a game that has but one start.
pub fn identity(game: &str) -> GameIdentity {
    GameIdentity {
        game: game.to_string(),
        rules_version: 1,
        rules_hash: "0123456789abcdef".to_string(),
        scenario: String::new(),
    }
}

/// The name of a seat.
pub fn seat_name(seat: Seat) -> &'static str {
    match seat {
        Seat::First => "one",
        Seat::Second => "two",
    }
}

/// The legal action of this text.
pub fn parse_action<P: Position>(position: &P, text: &str) -> Result<Action, IllegalMove> {
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    let refused = || IllegalMove::NotLegal { action: text.to_string(), reason: "the text of a legal one".to_string() };
    legal.into_iter().find(|&action| position.action_text(action) == text).ok_or_else(refused)
}
