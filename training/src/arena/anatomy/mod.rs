//! What decides a game: how games ended, who held what, what happened where, and how each side began, from their records.
//!
//! # Layout
//! * `campaign`: what the campaign tells of itself.
//! * [`collect`]: the counts over many games, as a document.
//! * `table`: the document as tables.

use dervish_env::game::{Action, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{Pig, TARGET};

mod campaign;
pub mod collect;
mod table;

/// A game that tells what happens in it. A game that tells nothing still has its endings and its first decisions.
pub trait Course: Position {
    /// The round that is played, as people count it.
    fn round(&self) -> u32 {
        self.turn()
    }

    /// By what a finished game was decided, on one line.
    fn decided_by(&self) -> String {
        "the end of the game".to_owned()
    }

    /// What can be held, and who holds it, always in the same order.
    fn holdings(&self) -> Vec<Holding> {
        Vec::new()
    }

    /// What has happened from `before`, by one decision or roll and what followed of itself.
    fn incidents(&self, _before: &Self, _note: &mut dyn FnMut(Incident)) {}

    /// The move that a decision makes, if it is one of those that make up an opening.
    fn opening_move(&self, action: Action) -> Option<OpeningMove> {
        Some(OpeningMove { from: String::new(), to: self.action_text(action) })
    }
}

impl Course for Pig {
    fn decided_by(&self) -> String {
        format!("{TARGET} points")
    }
}

impl Course for ConnectFour {
    fn decided_by(&self) -> String {
        let won = self.result().is_some_and(|result| result.winner.is_some());
        if won { "four in a row" } else { "a full board" }.to_owned()
    }
}

/// Something that can be held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holding {
    /// Its name.
    pub what: String,
    /// Whether victory is judged by it.
    pub counts: bool,
    /// Points for holding it, 0 where there are none.
    pub points: u32,
    /// Who holds it.
    pub holder: Option<Seat>,
}

/// Something that has happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incident {
    /// What.
    pub kind: &'static str,
    /// Who did it, or to whom it was done.
    pub seat: Seat,
    /// Where, if that matters.
    pub place: Option<String>,
    /// How much of it, at least 1.
    pub amount: u32,
}

/// A move of an opening. One that begins where the last one ended goes on with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpeningMove {
    /// Where it begins; empty where that means nothing.
    pub from: String,
    /// Where it leads.
    pub to: String,
}
