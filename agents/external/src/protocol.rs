//! Protocol version 1: one JSON object a line. `PROTOCOL.md` explains every field.
//!
//! A message of ours has a `type` and may get new fields within a version. An answer has none, as there is but one that
//! is waited for, and must not have fields that are not named here: they would be slips of the pen.

use dervish_env::game::{GameIdentity, Position, Seat};
use dervish_env::record::{Ending, Forfeit};
use serde::{Deserialize, Deserializer, Serialize};

/// The version that is spoken, and the only one.
pub const PROTOCOL: u32 = 1;

/// What a program is told or asked; [`Message::Hello`] and [`Message::Choose`] wait for an answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// The first message; the answer is a [`HelloAnswer`].
    Hello(Hello),
    /// A game begins.
    NewGame(NewGame),
    /// A player has acted.
    Played(Played),
    /// A roll has fallen.
    Rolled(Rolled),
    /// An action is waited for; the answer is a [`ChooseAnswer`].
    Choose(Box<Choose>),
    /// The game has ended.
    GameOver(GameOver),
    /// There are no more games.
    Quit,
}

impl Message {
    /// The message as a line, without the line break.
    pub fn line(&self) -> String {
        // Nothing in a message is a map whose keys are not strings, which is all that could fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Who is talking, about which game, and on what terms.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Version of Dervish.
    pub version: String,
    /// Game, rules and scenario.
    pub game: GameIdentity,
    /// Names of the first and the second seat.
    pub seats: [String; 2],
    /// Size of the action space; every action is below it.
    pub actions: usize,
    /// What observations are made of.
    pub encoder: EncoderShape,
    /// What the program must keep to.
    pub terms: Terms,
}

/// What observations are made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EncoderShape {
    /// Name of the encoder.
    pub name: String,
    /// Version of the meaning of its arrays.
    pub version: u32,
    /// Features of a token.
    pub token_features: usize,
    /// Features of the whole position.
    pub global_features: usize,
}

/// What the program must keep to, or it forfeits the game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// Longest line of an answer in bytes, without its line break.
    pub line_bytes: usize,
    /// Time for the answer to the hello.
    pub start_seconds: f64,
    /// Time for the choice of an action.
    pub move_seconds: f64,
}

/// The answer to [`Message::Hello`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelloAnswer {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// What to send with each [`Choose`] besides the legal actions.
    #[serde(default)]
    pub send: Vec<Extra>,
}

/// What a program may ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extra {
    /// The position as a document.
    Position,
    /// The position as arrays.
    Observation,
}

/// A game begins at the start of the scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NewGame {
    /// Seeds what the program draws by itself in this game; below 2^53, exact in every language.
    pub seed: u64,
    /// The seat that the program plays.
    pub seat: String,
}

/// A player has acted, the program itself too.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Played {
    /// Who.
    pub seat: String,
    /// Number of the action.
    pub action: u16,
    /// Its notation; left out where the game did not begin at its usual start.
    #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
}

/// A roll has fallen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rolled {
    /// What was rolled for; left out where the game did not begin at its usual start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What came up.
    pub outcome: u16,
}

/// An action is waited for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Choose {
    /// Who has to decide.
    pub seat: String,
    /// Turn of the game, 0 throughout in games without turns.
    pub turn: u32,
    /// Name of the decision.
    pub kind: String,
    /// The decision in words.
    pub pending: String,
    /// The legal actions, at least one.
    pub legal: Vec<LegalAction>,
    /// How much the match lets an agent think. It is asked for, not enforced, as for every other agent.
    pub budget: Budget,
    /// The position, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<serde_json::Value>,
    /// The arrays, if asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Arrays>,
}

/// A legal action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LegalAction {
    /// Its number.
    pub action: u16,
    /// Its notation.
    #[serde(rename = "move")]
    pub notation: String,
}

/// What one choice may use; what is left out is not bounded.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Budget {
    /// Simulations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulations: Option<u32>,
    /// Wall-clock time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// An observation as the deciding seat sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Arrays {
    /// `[n, token_features]`.
    pub tokens: Vec<Vec<f32>>,
    /// `[global_features]`.
    pub globals: Vec<f32>,
}

/// The answer to [`Message::Choose`]: one of the two.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "ChooseFields")]
pub enum ChooseAnswer {
    /// The number of a legal action; any other number can be read too, to be told as an action that is not legal.
    Action(serde_json::Number),
    /// The notation of a legal action.
    Move(String),
}

/// The fields of a [`ChooseAnswer`], of which one is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChooseFields {
    #[serde(default, deserialize_with = "given")]
    action: Option<serde_json::Number>,
    #[serde(rename = "move", default, deserialize_with = "given")]
    notation: Option<String>,
}

/// A field that is there; `null` is no value of it.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(field: D) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

impl TryFrom<ChooseFields> for ChooseAnswer {
    type Error = &'static str;

    fn try_from(fields: ChooseFields) -> Result<ChooseAnswer, &'static str> {
        match (fields.action, fields.notation) {
            (Some(action), None) => Ok(ChooseAnswer::Action(action)),
            (None, Some(notation)) => Ok(ChooseAnswer::Move(notation)),
            (Some(_), Some(_)) => Err("it has both `action` and `move`"),
            (None, None) => Err("it has neither `action` nor `move`"),
        }
    }
}

/// The game has ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GameOver {
    /// How.
    pub ending: EndingKind,
    /// The seat that won, `None` if nobody did.
    pub winner: Option<String>,
    /// Margin in [-1, 1] as the first seat sees it.
    pub margin: f32,
    /// Who forfeited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forfeited_by: Option<String>,
}

/// How a game has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingKind {
    /// By the rules.
    Finished,
    /// It was left and may go on without the program.
    Unfinished,
    /// A limit of steps or time ended it.
    Truncated,
    /// A player broke the terms.
    Forfeit,
}

impl GameOver {
    /// What is told of the ending of a game whose positions are `P`.
    pub fn of<P: Position>(ending: &Ending) -> GameOver {
        let result = ending.result();
        let name = |seat: Seat| P::seat_name(seat).to_string();
        let (kind, forfeited_by) = match ending {
            Ending::Finished(_) => (EndingKind::Finished, None),
            Ending::Unfinished => (EndingKind::Unfinished, None),
            Ending::Truncated => (EndingKind::Truncated, None),
            Ending::Forfeit(Forfeit { seat, .. }) => (EndingKind::Forfeit, Some(name(*seat))),
        };
        GameOver {
            ending: kind,
            winner: result.and_then(|result| result.winner).map(name),
            margin: result.map_or(0.0, |result| result.margin),
            forfeited_by,
        }
    }
}
