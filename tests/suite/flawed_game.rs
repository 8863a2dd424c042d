//! A small game that obeys every law, or breaks the one that a test asks it to break.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use dervish_env::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, MergedOutcome, Outcome, Position, RollKey, Seat,
    WeightedOutcome,
};

use crate::toy_game;

/// Which law the game breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    None,
    ScenarioChanges,
    ShortHash,
    ListNotCleared,
    ActionTwice,
    ActionOutside,
    ActionsAtRoll,
    NoActions,
    LegalButNotListed,
    ListedButNotLegal,
    ApplyAcceptsAll,
    ApplyChangesWhenRefusing,
    ResolveAcceptsAll,
    ApplyDiffers,
    WeightZero,
    WeightsDescend,
    WrongTotal,
    KeyWithoutTurn,
    TextNotReadBack,
    TextsEqual,
    GarbageAccepted,
    BytesForget,
    BytesRemember,
    KeyConstant,
    KeyRemembers,
    SharedClones,
    NoResult,
    EarlyResult,
    MarginTooGreat,
    MarginAgainstWinner,
    TurnFalls,
    TurnUncounted,
    KindOfTwoWords,
    MergedWeights,
    MergedRolls,
    MergedMissing,
    MergedTwice,
    NeverEnds,
}

/// Seven stones; the players take one or two in turn, and who takes the last wins. After each taking two coins are
/// thrown, worth 1 (one throw in three) or 2; if both show 2, one more stone goes.
#[derive(Clone, Debug)]
pub struct FlawedGame {
    flaw: Flaw,
    left: u8,
    seat: Seat,
    rolls_due: u8,
    rolled: u8,
    turn: u8,
    /// Remembers the order of the moves, which is no part of what makes positions equal.
    history: u8,
    shared: Arc<AtomicU8>,
}

impl FlawedGame {
    pub fn new(flaw: Flaw) -> FlawedGame {
        FlawedGame {
            flaw,
            left: 7,
            seat: Seat::First,
            rolls_due: 0,
            rolled: 0,
            turn: 0,
            history: 0,
            shared: Arc::default(),
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn bytes(&self) -> [u8; 7] {
        let turn = if self.has(Flaw::BytesForget) { 0 } else { self.turn };
        let history = if self.has(Flaw::BytesRemember) { self.history } else { 0 };
        let shared = if self.has(Flaw::SharedClones) { self.shared.load(Ordering::Relaxed) } else { 0 };
        [self.left, self.seat as u8, self.rolls_due, self.rolled, turn, history, shared]
    }
}

impl PartialEq for FlawedGame {
    fn eq(&self, other: &FlawedGame) -> bool {
        (self.left, self.seat, self.rolls_due, self.rolled, self.turn)
            == (other.left, other.seat, other.rolls_due, other.rolled, other.turn)
    }
}

impl Eq for FlawedGame {}

impl Position for FlawedGame {
    const ACTIONS: usize = 4;
    const MAX_DECISIONS: usize = 7;

    fn identity(&self) -> GameIdentity {
        let sound = toy_game::identity("seven-stones");
        match self.flaw {
            Flaw::ShortHash => GameIdentity { rules_hash: "abc".to_string(), ..sound },
            Flaw::ScenarioChanges => GameIdentity { scenario: self.left.to_string(), ..sound },
            _ => sound,
        }
    }

    fn seat_name(seat: Seat) -> &'static str {
        toy_game::seat_name(seat)
    }

    fn actor(&self) -> Actor {
        if self.left == 0 {
            Actor::Finished
        } else if self.rolls_due > 0 {
            Actor::Chance
        } else {
            Actor::Player(self.seat)
        }
    }

    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        if !self.has(Flaw::ListNotCleared) {
            actions.clear();
        }
        if matches!(self.actor(), Actor::Player(_)) && !self.has(Flaw::NoActions) {
            actions.extend((1..=self.left.min(2)).map(|stones| Action(u16::from(stones))));
            if self.has(Flaw::ActionTwice) {
                actions.push(Action(1));
            }
            if self.has(Flaw::ActionOutside) {
                actions.push(Action(4));
            }
        } else if self.has(Flaw::ActionsAtRoll) {
            actions.push(Action(1));
        }
    }

    fn is_legal(&self, action: Action) -> bool {
        let decides = matches!(self.actor(), Actor::Player(_));
        match self.flaw {
            Flaw::NoActions => false,
            Flaw::LegalButNotListed if action == Action(3) => decides,
            Flaw::ListedButNotLegal if action == Action(2) => false,
            Flaw::ActionOutside if action == Action(4) => decides,
            Flaw::ActionsAtRoll if !decides => action == Action(1),
            _ => decides && (1..=u16::from(self.left.min(2))).contains(&action.0),
        }
    }

    fn apply_legal(&mut self, action: Action) {
        if !self.has(Flaw::NeverEnds) {
            self.left -= (action.0 as u8).min(self.left);
        }
        self.history = self.history.wrapping_mul(3).wrapping_add(action.0 as u8);
        self.turn = if self.has(Flaw::TurnFalls) { self.left } else { self.turn + 1 };
        self.shared.fetch_add(1, Ordering::Relaxed);
        self.rolls_due = 2;
    }

    fn apply(&mut self, action: Action) -> Result<(), IllegalMove> {
        if !self.is_legal(action) && !self.has(Flaw::ApplyAcceptsAll) {
            if self.has(Flaw::ApplyChangesWhenRefusing) {
                self.left = 1;
            }
            return Err(IllegalMove::NotToAct("not legal"));
        }
        self.apply_legal(action);
        if self.has(Flaw::ApplyDiffers) {
            self.rolls_due = 1;
        }
        Ok(())
    }

    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        outcomes.clear();
        if self.actor() == Actor::Chance {
            let one = if self.has(Flaw::WeightZero) { 0 } else { 1 };
            outcomes.extend([(1, one), (2, 2)].map(|(n, weight)| WeightedOutcome { outcome: Outcome(n), weight }));
            if self.has(Flaw::WeightsDescend) {
                outcomes.reverse();
            }
        }
    }

    fn chance_total(&self) -> u32 {
        match self.actor() {
            Actor::Chance if self.has(Flaw::WrongTotal) => 4,
            Actor::Chance if self.has(Flaw::WeightZero) => 2,
            Actor::Chance => 3,
            _ => 0,
        }
    }

    fn roll_key(&self) -> RollKey {
        RollKey(if self.has(Flaw::KeyWithoutTurn) { 0 } else { u64::from(self.turn) })
    }

    fn resolve_possible(&mut self, outcome: Outcome) {
        self.rolled += outcome.0.min(9) as u8;
        self.rolls_due -= 1;
        if self.rolls_due == 0 {
            self.left -= u8::from(self.rolled == 4);
            self.rolled = 0;
            self.seat = self.seat.other();
        }
    }

    fn resolve(&mut self, outcome: Outcome) -> Result<(), IllegalMove> {
        let accepted = [1, 2].contains(&outcome.0) || self.has(Flaw::ResolveAcceptsAll);
        if self.actor() != Actor::Chance || !accepted {
            return Err(IllegalMove::NotARoll { outcome: outcome.0, reason: "1 or 2".to_string() });
        }
        self.resolve_possible(outcome);
        Ok(())
    }

    fn merged_outcomes_into(&self, merged: &mut Vec<MergedOutcome>) -> bool {
        merged.clear();
        if self.actor() != Actor::Chance || self.rolls_due != 2 {
            return false;
        }
        // Both show 2 in 2 x 2 of 9 throws.
        let both = if self.has(Flaw::MergedWeights) { 3 } else { 4 };
        let both_rolls = if self.has(Flaw::MergedRolls) { vec![Outcome(3)] } else { vec![Outcome(2); 2] };
        merged.push(MergedOutcome { weight: 9 - both, rolls: vec![Outcome(1); 2] });
        if !self.has(Flaw::MergedMissing) {
            merged.push(MergedOutcome { weight: both, rolls: both_rolls });
        }
        if self.has(Flaw::MergedTwice) {
            merged[0].weight -= 1;
            merged.push(MergedOutcome { weight: 1, rolls: vec![Outcome(1), Outcome(2)] });
        }
        true
    }

    fn result(&self) -> Option<GameResult> {
        let finished = self.left == 0 && !self.has(Flaw::NoResult);
        (finished || self.has(Flaw::EarlyResult)).then(|| {
            let sign = if self.seat == Seat::First { 1.0 } else { -1.0 };
            let margin = match self.flaw {
                Flaw::MarginTooGreat => 2.0 * sign,
                Flaw::MarginAgainstWinner => -sign,
                _ => sign,
            };
            GameResult { winner: Some(self.seat), margin }
        })
    }

    fn turn(&self) -> u32 {
        u32::from(self.turn)
    }

    fn counts_turns(&self) -> bool {
        !self.has(Flaw::TurnUncounted)
    }

    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.bytes());
    }

    fn key(&self) -> u64 {
        let word = self.bytes().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        match self.flaw {
            Flaw::KeyConstant => 1,
            Flaw::KeyRemembers => word << 8 | u64::from(self.history),
            _ => word,
        }
    }

    fn action_text(&self, action: Action) -> String {
        match self.flaw {
            Flaw::TextNotReadBack => format!("remove {}", action.0),
            Flaw::TextsEqual => "take 1".to_string(),
            _ => format!("take {}", action.0),
        }
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        let refused = || IllegalMove::NotLegal { action: text.to_string(), reason: "`take 1` or `take 2`".to_string() };
        if self.has(Flaw::GarbageAccepted) && text.is_empty() {
            return Ok(Action(1));
        }
        let action = match text {
            "take 1" => Action(1),
            "take 2" => Action(2),
            _ => return Err(refused()),
        };
        if self.is_legal(action) { Ok(action) } else { Err(refused()) }
    }

    fn pending_text(&self) -> String {
        format!("{} stones", self.left)
    }

    fn pending_kind(&self) -> &'static str {
        if self.has(Flaw::KindOfTwoWords) { "two words" } else { "stones" }
    }
}
