//! The central interface: a position that is waiting for a player, waiting for chance, or finished.
//!
//! Rules are pure. A position never samples, reads a clock, logs, or allocates in its steady state; dice are
//! chance nodes whose outcomes a caller lists with [`Position::chance_outcomes_into`] and applies with
//! [`Position::resolve`]. Sampling happens only in [`crate::chance`].

use std::fmt;

/// One of the two players of a game, by the order in which the game names them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum Seat {
    /// The seat the game lists first.
    First,
    /// The seat the game lists second.
    Second,
}

impl Seat {
    /// Both seats, in order.
    pub const BOTH: [Seat; 2] = [Seat::First, Seat::Second];

    /// The opponent's seat.
    #[inline]
    pub const fn other(self) -> Seat {
        match self {
            Seat::First => Seat::Second,
            Seat::Second => Seat::First,
        }
    }

    /// 0 for the first seat, 1 for the second.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Who must act next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actor {
    /// A player chooses one of the legal actions (there are always at least two in Dervish).
    Player(Seat),
    /// A roll is due; see [`Position::chance_outcomes_into`].
    Chance,
    /// The game is over; see [`Position::result`].
    Finished,
}

/// An action: an index into the fixed action space `0..Position::ACTIONS` of its game.
/// What it means depends on the pending decision of the position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub struct Action(pub u16);

impl Action {
    /// The index as `usize`, for masks and logits.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A chance outcome of the pending roll: the number shown by the dice (a D6 face, a 2D6 sum, a D66 band's first number).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub struct Outcome(pub u16);

/// A chance outcome and its integer weight; the probability is weight / sum of weights of the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeightedOutcome {
    /// What comes up.
    pub outcome: Outcome,
    /// How many of the equally likely throws give it, at least 1.
    pub weight: u32,
}

/// The exact result of a whole procedure of several rolls: a weight and a sequence of single rolls that leads to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergedOutcome {
    /// Weight in units of the product of the totals of the single rolls, so weights of one node share one total.
    pub weight: u64,
    /// Representative rolls, to be applied one after another with [`Position::resolve`].
    pub rolls: Vec<Outcome>,
}

/// What names a roll, so that paired games share dice where they do the same: turn, side, rule and place packed into
/// one number by the game. [`crate::chance::Dice`] adds the game's seed and an ordinal among rolls of the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RollKey(pub u64);

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct GameResult {
    /// The winner, or `None` for a draw.
    pub winner: Option<Seat>,
    /// Points held over points at stake in [-1, 1], from the point of view of [`Seat::First`].
    pub margin: f32,
}

impl GameResult {
    /// Score of `seat`: 1 win, 0.5 draw, 0 loss.
    pub fn score(&self, seat: Seat) -> f64 {
        match self.winner {
            None => 0.5,
            Some(w) if w == seat => 1.0,
            Some(_) => 0.0,
        }
    }

    /// +1 win, 0 draw, -1 loss, for `seat`.
    pub fn sign(&self, seat: Seat) -> f32 {
        (2.0 * self.score(seat) - 1.0) as f32
    }

    /// The margin as `seat` sees it.
    pub fn margin_for(&self, seat: Seat) -> f32 {
        match seat {
            Seat::First => self.margin,
            Seat::Second => -self.margin,
        }
    }
}

/// What a record must say to be replayed: the game, its rules and its scenario.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct GameIdentity {
    /// Short name: `dervish`, `connect-four`, `pig`.
    pub game: String,
    /// Version of the rules implementation.
    pub rules_version: u32,
    /// Hash over all data that the rules read (16 hex digits); games with equal hashes play alike.
    pub rules_hash: String,
    /// Scenario name, empty where the game has but one start.
    pub scenario: String,
}

impl GameIdentity {
    /// The name of what is played, as `--scenario` takes it: the scenario, or the game where it has but one start.
    #[must_use]
    pub fn name(&self) -> &str {
        if self.scenario.is_empty() { &self.game } else { &self.scenario }
    }
}

/// Why an action was refused. The position is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IllegalMove {
    /// The position waits for chance or is finished.
    #[error("no player is to act: {0}")]
    NotToAct(&'static str),
    /// The action is not among the legal ones.
    #[error("illegal action {action}: {reason}")]
    NotLegal {
        /// Number or notation of what was tried.
        action: String,
        /// What was expected instead.
        reason: String,
    },
    /// The outcome cannot come up at this chance node, or this is no chance node.
    #[error("impossible roll {outcome}: {reason}")]
    NotARoll {
        /// What was tried.
        outcome: u16,
        /// What was expected instead.
        reason: String,
    },
}

/// A position of a game for two with perfect information and dice.
///
/// Laws that [`crate::conformance`] checks for every game:
/// * the legal actions come in a stable order, without repetition, all below `ACTIONS`, and agree with `is_legal`;
/// * the weights of a chance node are positive and sum to `chance_total`;
/// * `apply` and `resolve` refuse everything else with a typed error that leaves the position unchanged;
/// * equal positions have equal bytes and equal keys;
/// * `action_text` and `parse_action` are inverse on the legal actions;
/// * every game ends.
pub trait Position: Clone + Eq + fmt::Debug + Send + Sync + 'static {
    /// Size of the fixed action space.
    const ACTIONS: usize;
    /// An upper bound on player decisions in one game, for tests that must not hang.
    const MAX_DECISIONS: usize;

    /// Game, rules and scenario.
    fn identity(&self) -> GameIdentity;

    /// The name of a seat, lower case: `mahdist`.
    fn seat_name(seat: Seat) -> &'static str;

    /// Who must act.
    fn actor(&self) -> Actor;

    /// Clears `actions` and fills it with the legal actions of the player to move; leaves it empty otherwise.
    fn legal_actions_into(&self, actions: &mut Vec<Action>);

    /// Whether `action` is legal here. Written apart from the generator.
    fn is_legal(&self, action: Action) -> bool;

    /// Plays a legal action. Debug builds assert legality.
    fn apply_legal(&mut self, action: Action);

    /// Plays an action after checking it.
    ///
    /// # Errors
    /// [`IllegalMove`] if it is not legal; the position is then unchanged.
    fn apply(&mut self, action: Action) -> Result<(), IllegalMove> {
        if !matches!(self.actor(), Actor::Player(_)) {
            return Err(IllegalMove::NotToAct("the position waits for a roll or is finished"));
        }
        if !self.is_legal(action) {
            return Err(IllegalMove::NotLegal {
                action: action.0.to_string(),
                reason: format!("not among the legal actions for the pending decision ({})", self.pending_text()),
            });
        }
        self.apply_legal(action);
        Ok(())
    }

    /// Clears `outcomes` and fills it with the outcomes of the pending roll in ascending order; leaves it empty otherwise.
    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>);

    /// Sum of the weights of the pending roll (6, 36, ...); 0 if no roll is due.
    fn chance_total(&self) -> u32;

    /// The pending roll's name for keyed dice; meaningless if no roll is due. It contains [`Position::turn`] wherever
    /// that can change, because the dice forget the ordinals of earlier turns.
    fn roll_key(&self) -> RollKey;

    /// Applies a chance outcome that is known to be possible.
    fn resolve_possible(&mut self, outcome: Outcome);

    /// Applies a chance outcome after checking it.
    ///
    /// # Errors
    /// [`IllegalMove`] if it cannot come up here; the position is then unchanged.
    fn resolve(&mut self, outcome: Outcome) -> Result<(), IllegalMove> {
        let mut outcomes = Vec::new();
        self.chance_outcomes_into(&mut outcomes);
        if outcomes.iter().any(|w| w.outcome == outcome) {
            self.resolve_possible(outcome);
            return Ok(());
        }
        Err(IllegalMove::NotARoll {
            outcome: outcome.0,
            reason: if outcomes.is_empty() {
                "no roll is due".to_string()
            } else {
                format!(
                    "{} gives {} to {}",
                    self.pending_text(),
                    outcomes[0].outcome.0,
                    outcomes[outcomes.len() - 1].outcome.0
                )
            },
        })
    }

    /// The exact distribution of the procedure that begins with the pending roll, with equal results merged.
    /// Returns false, leaving `merged` empty, where the game offers none; callers then use the single roll.
    fn merged_outcomes_into(&self, merged: &mut Vec<MergedOutcome>) -> bool {
        merged.clear();
        false
    }

    /// The result, once finished.
    fn result(&self) -> Option<GameResult>;

    /// Turn number, for budgets that count in turns; never decreases. 0 throughout where [`Position::counts_turns`] says
    /// that there are none.
    fn turn(&self) -> u32;

    /// Whether [`Position::turn`] counts, so that thinking can be bounded by the turn; the same throughout a game. A game
    /// whose positions come back can have no number in them that grows.
    fn counts_turns(&self) -> bool {
        true
    }

    /// Appends the canonical bytes: equal positions (of one scenario) give equal bytes, different ones different bytes.
    fn write_bytes(&self, bytes: &mut Vec<u8>);

    /// A hash of the canonical bytes, the same on every machine.
    fn key(&self) -> u64 {
        self.key_with(&mut Vec::with_capacity(1024))
    }

    /// The same through a buffer, for callers that want many keys.
    fn key_with(&self, buffer: &mut Vec<u8>) -> u64 {
        buffer.clear();
        self.write_bytes(buffer);
        xxhash_rust::xxh3::xxh3_64(buffer)
    }

    /// Short text of a legal action, without newline; `parse_action` reads it back.
    fn action_text(&self, action: Action) -> String;

    /// Reads the notation of a legal action.
    ///
    /// # Errors
    /// [`IllegalMove::NotLegal`] with what was expected.
    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove>;

    /// One line that says what is waited for, such as `march roll at 2417 (8.31)`.
    fn pending_text(&self) -> String;

    /// A short stable name for the kind of pending node, for statistics such as the phase mix.
    fn pending_kind(&self) -> &'static str;
}
