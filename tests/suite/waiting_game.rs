//! A game in which a player may wait: whether it must end depends on whether waiting can cost it.

use dervish_env::chance::D6;
use dervish_env::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, Outcome, Position, RollKey, Seat, WeightedOutcome,
};

use crate::toy_game;

/// Where the game stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The first seat waits (action 0) or gambles (1).
    Choice,
    /// It waits at some risk: a 1 loses.
    Risk,
    /// It gambles: 4 or more wins, anything else loses.
    Gamble,
    /// It has won, or not.
    Over(bool),
}

/// The first seat decides alone, and decides again after it has waited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitingGame {
    /// Where it stands.
    pub place: Place,
    /// Whether there is a risk in waiting; else nothing comes of it.
    pub loses: bool,
}

impl Position for WaitingGame {
    const ACTIONS: usize = 2;
    const MAX_DECISIONS: usize = 10_000;

    fn identity(&self) -> GameIdentity {
        toy_game::identity("waiting")
    }

    fn seat_name(seat: Seat) -> &'static str {
        toy_game::seat_name(seat)
    }

    fn actor(&self) -> Actor {
        match self.place {
            Place::Choice => Actor::Player(Seat::First),
            Place::Risk | Place::Gamble => Actor::Chance,
            Place::Over(_) => Actor::Finished,
        }
    }

    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        actions.clear();
        actions.extend([Action(0), Action(1)].into_iter().filter(|&action| self.is_legal(action)));
    }

    fn is_legal(&self, action: Action) -> bool {
        self.place == Place::Choice && action.0 < 2
    }

    fn apply_legal(&mut self, action: Action) {
        self.place = match (action.0, self.loses) {
            (1, _) => Place::Gamble,
            (_, true) => Place::Risk,
            (_, false) => Place::Choice,
        };
    }

    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        outcomes.clear();
        if self.actor() == Actor::Chance {
            outcomes.extend(D6);
        }
    }

    fn chance_total(&self) -> u32 {
        if self.actor() == Actor::Chance { 6 } else { 0 }
    }

    fn roll_key(&self) -> RollKey {
        RollKey(0)
    }

    fn resolve_possible(&mut self, outcome: Outcome) {
        self.place = match (self.place, outcome.0) {
            (Place::Gamble, 4..) => Place::Over(true),
            (Place::Gamble, _) | (_, 1) => Place::Over(false),
            _ => Place::Choice,
        };
    }

    fn result(&self) -> Option<GameResult> {
        let Place::Over(won) = self.place else { return None };
        let winner = if won { Seat::First } else { Seat::Second };
        Some(GameResult { winner: Some(winner), margin: if won { 1.0 } else { -1.0 } })
    }

    fn turn(&self) -> u32 {
        0
    }

    fn counts_turns(&self) -> bool {
        false
    }

    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        let place = match self.place {
            Place::Choice => 0,
            Place::Risk => 1,
            Place::Gamble => 2,
            Place::Over(won) => 3 + u8::from(won),
        };
        bytes.extend([place, u8::from(self.loses)]);
    }

    fn action_text(&self, action: Action) -> String {
        ["wait", "gamble"].get(action.index()).copied().unwrap_or("nothing").to_string()
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        toy_game::parse_action(self, text)
    }

    fn pending_text(&self) -> String {
        format!("{:?}", self.place)
    }

    fn pending_kind(&self) -> &'static str {
        match self.place {
            Place::Choice => "choice",
            Place::Risk => "risk",
            Place::Gamble => "gamble",
            Place::Over(_) => "finished",
        }
    }
}
