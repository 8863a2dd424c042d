//! `dervish position`: position files checked, looked into and played on from, one order or roll at a time.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use dervish_env::dervish::Campaign;
use dervish_env::dervish::data_file::DataError;
use dervish_env::dervish::decision::DiceKind;
use dervish_env::dervish::position_file::PositionFile;
use dervish_env::dervish::tables::{EVENT_BANDS, event_band};
use dervish_env::game::{Action, Actor, GameResult, IllegalMove, Outcome, Position};
use dervish_env::persist::read_text_from;
use serde::Serialize;

use super::{CommandError, print_json, print_line, tell};

/// Checks a position file, looks into it, or plays on from it.
#[derive(Clone, Debug, clap::Args)]
pub struct PositionArgs {
    /// What to do.
    #[command(subcommand)]
    pub task: PositionTask,
}

/// What can be done with a position. FILE may be `-` for standard input.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum PositionTask {
    /// Prints the start of a scenario as a position file.
    New {
        /// A built-in scenario or a scenario file.
        #[arg(long)]
        scenario: String,
    },
    /// Says every fault of a position file, or `ok`.
    Check {
        /// The position file.
        file: PathBuf,
    },
    /// Prints who is to act and the legal orders, in the notation that `apply` takes, each with its number in the action space.
    Legal {
        /// The position file.
        file: PathBuf,
    },
    /// Prints the outcomes of the roll that is due, with weights.
    Chance {
        /// The position file.
        file: PathBuf,
    },
    /// Plays orders and rolls, and prints the position after them.
    Apply {
        /// The position file.
        file: PathBuf,
        /// Orders in notation, such as `march 2417 all`, and rolls, such as `4`, `roll 4` or `d6 4` (`doubles` where a
        /// gunboat may sink). Orders without an alternative, which play takes by itself, may be given or left out.
        #[arg(required = true, value_name = "MOVE|ROLL")]
        moves: Vec<String>,
    },
}

impl PositionArgs {
    /// Does the task; the answer goes to standard output.
    ///
    /// # Errors
    /// [`CommandError`]: the faults of the file or its scenario, a move that is not legal, or standard output that takes
    /// nothing. `check` writes all faults but the last to standard error itself, a line each.
    pub fn run(self) -> Result<(), CommandError> {
        match self.task {
            PositionTask::New { scenario } => print_line(PositionFile::start(&scenario)?.text().trim_end()),
            PositionTask::Check { file } => match read_position(&file) {
                Ok(_) => print_line("ok"),
                Err(mut faults) => {
                    let last = faults.pop();
                    for fault in faults {
                        tell(&format!("dervish: {fault}"));
                    }
                    Err(CommandError::Data(last.into_iter().collect()))
                }
            },
            PositionTask::Legal { file } => print_json(&LegalOrders::of(&read_position(&file)?.position)),
            PositionTask::Chance { file } => print_json(&PendingRoll::of(&read_position(&file)?.position)),
            PositionTask::Apply { file, moves } => {
                let mut game = read_position(&file)?;
                let mut played = Played { position: &mut game.position, forced: VecDeque::new() };
                for (i, text) in moves.iter().enumerate() {
                    played.play(text).map_err(|error| CommandError::Move {
                        number: i + 1,
                        text: text.clone(),
                        reason: error.to_string(),
                    })?;
                }
                print_line(game.text().trim_end())
            }
        }
    }
}

/// Reads a position file, or standard input for `-`.
///
/// # Errors
/// Every fault found in it or in its scenario.
pub fn read_position(file: &Path) -> Result<PositionFile, Vec<DataError>> {
    if file != Path::new("-") {
        return PositionFile::load(file);
    }
    let name = "standard input";
    let text = read_text_from(std::io::stdin())
        .map_err(|error| vec![DataError { file: name.to_owned(), line: None, reason: error.to_string() }])?;
    PositionFile::parse(name, &text, Path::new(""))
}

/// Who is to act: `egyptian`, `mahdist`, `chance` or `finished`.
fn actor_name(actor: Actor) -> &'static str {
    match actor {
        Actor::Player(seat) => Campaign::seat_name(seat),
        Actor::Chance => "chance",
        Actor::Finished => "finished",
    }
}

/// The orders that answer what is pending.
#[derive(Clone, Debug, Serialize)]
pub struct LegalOrders {
    /// `egyptian`, `mahdist`, `chance` or `finished`.
    pub actor: &'static str,
    /// Name of the decision, such as `march_hex`.
    pub decision: &'static str,
    /// What is waited for, in words.
    pub text: String,
    /// The legal orders; none where no player is to act.
    pub actions: Vec<LegalOrder>,
    /// Of a finished game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<FinalResult>,
}

/// An order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LegalOrder {
    /// Its number in the action space.
    pub id: u16,
    /// Its notation.
    pub text: String,
}

/// How a game has ended.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FinalResult {
    /// `egyptian`, `mahdist` or `draw`.
    pub winner: &'static str,
    /// Points held over points at stake, in [-1, 1], as the Egyptian player sees it (14.4).
    pub margin: f32,
}

impl From<GameResult> for FinalResult {
    fn from(result: GameResult) -> FinalResult {
        FinalResult { winner: result.winner.map_or("draw", Campaign::seat_name), margin: result.margin }
    }
}

impl LegalOrders {
    /// Those of a position.
    pub fn of(position: &Campaign) -> LegalOrders {
        let mut actions = Vec::new();
        position.legal_actions_into(&mut actions);
        LegalOrders {
            actor: actor_name(position.actor()),
            decision: position.pending_kind(),
            text: position.pending_text(),
            actions: actions.into_iter().map(|a| LegalOrder { id: a.0, text: position.action_text(a) }).collect(),
            result: position.result().map(FinalResult::from),
        }
    }
}

/// The roll that is due.
#[derive(Clone, Debug, Serialize)]
pub struct PendingRoll {
    /// Name of the roll, such as `roll_march`; `None` (JSON null) where none is due.
    pub roll: Option<&'static str>,
    /// What is waited for, in words.
    pub text: String,
    /// Sum of the weights: 6 or 36; 0 where none is due.
    pub total: u32,
    /// The outcomes, ascending.
    pub outcomes: Vec<WeightedRoll>,
}

/// An outcome of a roll.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct WeightedRoll {
    /// The die, the sum of two, the first roll of a band of the event tables, or 0 for doubles (9.11).
    pub outcome: u16,
    /// How many of `total` equally likely throws give it.
    pub weight: u32,
}

impl PendingRoll {
    /// That of a position.
    pub fn of(position: &Campaign) -> PendingRoll {
        let mut outcomes = Vec::new();
        position.chance_outcomes_into(&mut outcomes);
        PendingRoll {
            roll: (position.actor() == Actor::Chance).then(|| position.pending_kind()),
            text: position.pending_text(),
            total: position.chance_total(),
            outcomes: outcomes.iter().map(|w| WeightedRoll { outcome: w.outcome.0, weight: w.weight }).collect(),
        }
    }
}

/// A position that is played on, and the orders that play has taken by itself since the last move, in notation.
struct Played<'p> {
    position: &'p mut Campaign,
    forced: VecDeque<String>,
}

impl Played<'_> {
    /// Plays an order, or an order and the beginning of it that comes first (`march 2417`, then `march 2417 all`), or a
    /// roll. An order that play has taken by itself is passed over.
    fn play(&mut self, text: &str) -> Result<(), IllegalMove> {
        if let Some(dice) = self.position.pending().decision.dice() {
            if let Some(outcome) = roll_of(dice, text) {
                self.position.resolve_possible(outcome);
                self.forced.clear();
                return Ok(());
            }
            if self.was_forced(text) {
                return Ok(());
            }
            return Err(IllegalMove::NotLegal {
                action: format!("'{}'", text.trim()),
                reason: format!("expected {} for {}", throws(dice), self.position.pending_text()),
            });
        }
        let refused = match self.position.parse_action(text) {
            Ok(action) => {
                self.order(action);
                return Ok(());
            }
            Err(_) if self.was_forced(text) => return Ok(()),
            Err(refused) => refused,
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        for length in (1..words.len()).rev() {
            let Ok(action) = self.position.parse_action(&words[..length].join(" ")) else { continue };
            let before = *self.position;
            self.order(action);
            if self.was_forced(text) {
                return Ok(());
            }
            if let Ok(action) = self.position.parse_action(text) {
                self.order(action);
                return Ok(());
            }
            *self.position = before;
        }
        Err(refused)
    }

    fn order(&mut self, action: Action) {
        let mut forced = Vec::new();
        self.position.apply_telling(action, &mut forced);
        self.forced = forced.into();
    }

    /// Whether play has taken this order by itself; it and those before it are then done with.
    fn was_forced(&mut self, text: &str) -> bool {
        let said = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        let found = self.forced.iter().position(|forced| said(forced) == said(text));
        if let Some(last) = found {
            self.forced.drain(..=last);
        }
        found.is_some()
    }
}

/// The outcome of `dice` that a text names: its last word, after the name of the dice if there is one.
fn roll_of(dice: DiceKind, text: &str) -> Option<Outcome> {
    let name = match dice {
        DiceKind::D6 => "d6",
        DiceKind::TwoD6 | DiceKind::TwoD6Doubles => "2d6",
        DiceKind::D66 => "d66",
    };
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let number = match &words[..] {
        [number] => number,
        [first, number] if first == "roll" || first == name => number,
        _ => return None,
    };
    let outcome = match (dice, number.as_str()) {
        (DiceKind::TwoD6Doubles, "doubles") => 0,
        // Every D66 stands for its line of the event tables.
        (DiceKind::D66, number) => u16::from(EVENT_BANDS[event_band(number.parse().ok()?)?]),
        (_, number) => number.parse().ok()?,
    };
    dice.outcomes().iter().any(|(possible, _)| *possible == outcome).then_some(Outcome(outcome))
}

/// What `dice` can give, in words.
fn throws(dice: DiceKind) -> &'static str {
    match dice {
        DiceKind::D6 => "a D6 of 1 to 6",
        DiceKind::TwoD6 => "a 2D6 of 2 to 12",
        DiceKind::TwoD6Doubles => "`doubles` or another 2D6 of 3 to 11",
        DiceKind::D66 => "a D66 of 11 to 66",
    }
}
