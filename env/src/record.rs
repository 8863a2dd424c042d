//! Game records: readable text that holds a whole game, and its replay.
//!
//! # Format, version 1
//! ```text
//! record: 1
//! game: pig
//! rules-version: 1
//! rules-hash: 8d1f4c0ab52e7791
//! scenario:
//! seed: 42
//! seat: first random
//! seat: second hold-at:20
//! event: an example of an extra line
//! roll throw 4
//! first hold
//! result second -0.25
//! ```
//! The first line is the version of the format. The other header lines follow in any order, one `seat:` line for each
//! seat in the order of the game with the name of the seat and the agent that played it; further `key: value` lines
//! are kept. Then comes one line for each decision (the seat, and the action in the game's notation) and each roll
//! (`roll`, the kind of roll, and what came up), and last `result SEAT MARGIN` (`draw` for the seat if drawn, the margin
//! as [`GameResult::margin`]), `unfinished`, `truncated` where a limit ended the game, or `forfeit SEAT REASON` where a
//! player who had to decide gave no answer that counts and so lost. Blank lines and lines that begin with `#` are skipped.
//!
//! Results are stored, not generators, so a change of dice never breaks a record. Dates are left out on purpose: equal
//! games have equal records.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::game::{Action, Actor, GameIdentity, GameResult, IllegalMove, Outcome, Position, Seat};
use crate::persist::{read_text, write_whole};

mod replay;

pub use replay::Replay;

/// The version of the format that is written, and the only one that is read.
pub const FORMAT_VERSION: u32 = 1;

/// One game: who played what, every decision and roll, and how it ended.
///
/// `Display` gives the text of the format; [`Record::parse`] reads it back to an equal record.
#[derive(Clone, Debug)]
pub struct Record {
    identity: GameIdentity,
    seed: u64,
    seats: [SeatEntry; 2],
    extra: Vec<(String, String)>,
    plies: Vec<Ply>,
    ending: Ending,
    /// Where the parts stood in the file that was read; `None` for a record that was not read or has been changed.
    lines: Option<Lines>,
}

/// The name of a seat and the agent that played it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeatEntry {
    /// Name of the seat, as [`Position::seat_name`] gives it.
    pub name: String,
    /// Specification of the agent, empty if unknown.
    pub agent: String,
}

/// A decision or a roll.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ply {
    /// A player's decision.
    Decision {
        /// Who decided.
        seat: Seat,
        /// The action in the notation of the game.
        text: String,
    },
    /// What came up.
    Roll {
        /// The kind of roll, as [`Position::pending_kind`] gives it.
        kind: String,
        /// The outcome.
        outcome: Outcome,
    },
}

impl Ply {
    /// The line of the record, with the seats named by `seat_name`.
    pub fn text<'a>(&self, seat_name: impl Fn(Seat) -> &'a str) -> String {
        match self {
            Ply::Decision { seat, text } => format!("{} {text}", seat_name(*seat)),
            Ply::Roll { kind, outcome } => format!("roll {kind} {}", outcome.0),
        }
    }
}

/// How a record ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// By the rules.
    Finished(GameResult),
    /// The game was left; it can go on.
    Unfinished,
    /// A limit of steps or time ended the game.
    Truncated,
    /// A player lost outside the rules.
    Forfeit(Forfeit),
}

impl Ending {
    /// What the game counts: by the rules or forfeited; `None` if it was not decided.
    pub fn result(&self) -> Option<GameResult> {
        match self {
            Ending::Finished(result) => Some(*result),
            Ending::Forfeit(forfeit) => Some(forfeit.result()),
            Ending::Unfinished | Ending::Truncated => None,
        }
    }
}

/// A game that a player lost by giving no answer that counts when asked to decide.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Forfeit {
    /// Who lost.
    pub seat: Seat,
    /// Why, on one line.
    pub reason: String,
}

impl Forfeit {
    /// `seat` loses for `reason`, in which every run of white space becomes one space.
    pub fn new(seat: Seat, reason: &str) -> Forfeit {
        Forfeit { seat, reason: one_line(reason) }
    }

    /// What a forfeited game counts: the other seat wins with the greatest margin, however the game stood.
    pub fn result(&self) -> GameResult {
        let margin = if self.seat == Seat::First { -1.0 } else { 1.0 };
        GameResult { winner: Some(self.seat.other()), margin }
    }
}

impl Record {
    /// An unfinished record without plies of a game that begins at `start`; `agents` in the order of the seats.
    pub fn begin<P: Position>(start: &P, seed: u64, agents: [&str; 2]) -> Record {
        Record {
            identity: start.identity(),
            seed,
            seats: Seat::BOTH
                .map(|seat| SeatEntry { name: P::seat_name(seat).to_string(), agent: one_line(agents[seat.index()]) }),
            extra: Vec::new(),
            plies: Vec::new(),
            ending: Ending::Unfinished,
            lines: None,
        }
    }

    /// Game, rules and scenario.
    pub fn identity(&self) -> &GameIdentity {
        &self.identity
    }

    /// Seed of the game's dice.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Names and agents in the order of the seats.
    pub fn seats(&self) -> &[SeatEntry; 2] {
        &self.seats
    }

    /// The value of an extra header line.
    pub fn extra(&self, key: &str) -> Option<&str> {
        self.extra.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Sets an extra header line; line breaks in the value become spaces.
    ///
    /// # Errors
    /// [`LineFault::Key`] if the key is not of lower-case letters, digits and `-`, or is one of the format's own.
    pub fn set_extra(&mut self, key: &str, value: &str) -> Result<(), LineFault> {
        if !is_key(key) || OWN_KEYS.contains(&key) {
            return Err(LineFault::Key(key.to_string()));
        }
        let value = one_line(value);
        match self.extra.iter_mut().find(|(known, _)| known == key) {
            Some(entry) => entry.1 = value,
            None => self.extra.push((key.to_string(), value)),
        }
        self.lines = None;
        Ok(())
    }

    /// Names another agent for a seat: whoever goes on with the game.
    pub fn set_agent(&mut self, seat: Seat, agent: &str) {
        self.seats[seat.index()].agent = one_line(agent);
        self.lines = None;
    }

    /// Decisions and rolls in order.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// How the record ends.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Notes the decision that is about to be made in `position`; nothing if no player is to act there.
    pub fn push_action<P: Position>(&mut self, position: &P, action: Action) {
        if let Actor::Player(seat) = position.actor() {
            self.push(Ply::Decision { seat, text: position.action_text(action) });
        }
    }

    /// Notes the roll that is about to be applied to `position`.
    pub fn push_roll<P: Position>(&mut self, position: &P, outcome: Outcome) {
        self.push(Ply::Roll { kind: position.pending_kind().to_string(), outcome });
    }

    fn push(&mut self, ply: Ply) {
        self.plies.push(ply);
        self.lines = None;
    }

    /// Notes how the game stands at its last position: its result, or unfinished.
    pub fn finish<P: Position>(&mut self, position: &P) {
        self.ending = position.result().map_or(Ending::Unfinished, Ending::Finished);
    }

    /// Notes that a limit ended the game.
    pub fn truncate(&mut self) {
        self.ending = Ending::Truncated;
    }

    /// Notes that a player lost outside the rules.
    pub fn forfeit(&mut self, forfeit: Forfeit) {
        self.ending = Ending::Forfeit(forfeit);
    }

    /// Reads a record. What the game makes of the notation is checked by [`Replay`], which alone knows the rules.
    ///
    /// # Errors
    /// [`RecordError::Line`] with the number of the first line that cannot be read, and why.
    pub fn parse(text: &str) -> Result<Record, RecordError> {
        Parser::default().parse(text)
    }

    /// Reads a record from a file.
    ///
    /// # Errors
    /// [`RecordError::Read`] if the file cannot be read as text, or as [`Record::parse`].
    pub fn read(path: &Path) -> Result<Record, RecordError> {
        let text = read_text(path).map_err(|source| RecordError::Read { path: path.to_path_buf(), source })?;
        Record::parse(&text)
    }

    /// Writes the record to a file, whole or not at all.
    ///
    /// # Errors
    /// [`RecordError::Write`] with what the file system says.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        write_whole(path, self.to_string().as_bytes())
            .map_err(|source| RecordError::Write { path: path.to_path_buf(), source })
    }

    /// Line numbers of the parts: those of the file read, else those that writing would give.
    fn lines(&self) -> Lines {
        self.lines.clone().unwrap_or_else(|| {
            let first_ply = 9 + self.extra.len();
            Lines {
                game: 2,
                rules_version: 3,
                rules_hash: 4,
                scenario: 5,
                seats: [7, 8],
                plies: (first_ply..first_ply + self.plies.len()).collect(),
                ending: first_ply + self.plies.len(),
            }
        })
    }

    /// A copy that stops before ply `plies`, unfinished.
    fn cut(&self, plies: usize) -> Record {
        Record { plies: self.plies[..plies].to_vec(), ending: Ending::Unfinished, lines: None, ..self.clone() }
    }
}

/// Where a record stood in its file is no part of what it says.
impl PartialEq for Record {
    fn eq(&self, other: &Record) -> bool {
        self.identity == other.identity
            && self.seed == other.seed
            && self.seats == other.seats
            && self.extra == other.extra
            && self.plies == other.plies
            && self.ending == other.ending
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        header_line(f, "record", &FORMAT_VERSION.to_string())?;
        header_line(f, "game", &self.identity.game)?;
        header_line(f, "rules-version", &self.identity.rules_version.to_string())?;
        header_line(f, "rules-hash", &self.identity.rules_hash)?;
        header_line(f, "scenario", &self.identity.scenario)?;
        header_line(f, "seed", &self.seed.to_string())?;
        for SeatEntry { name, agent } in &self.seats {
            header_line(f, "seat", format!("{name} {agent}").trim_end())?;
        }
        for (key, value) in &self.extra {
            header_line(f, key, value)?;
        }
        for ply in &self.plies {
            writeln!(f, "{}", ply.text(|seat| &self.seats[seat.index()].name))?;
        }
        match &self.ending {
            Ending::Finished(GameResult { winner, margin }) => {
                let winner = winner.map_or("draw", |seat| self.seats[seat.index()].name.as_str());
                writeln!(f, "result {winner} {margin}")
            }
            Ending::Unfinished => writeln!(f, "unfinished"),
            Ending::Truncated => writeln!(f, "truncated"),
            Ending::Forfeit(Forfeit { seat, reason }) => {
                writeln!(f, "{}", format!("forfeit {} {reason}", self.seats[seat.index()].name).trim_end())
            }
        }
    }
}

fn header_line(f: &mut fmt::Formatter<'_>, key: &str, value: &str) -> fmt::Result {
    f.write_str(key)?;
    f.write_char(':')?;
    if !value.is_empty() {
        write!(f, " {value}")?;
    }
    f.write_char('\n')
}

/// What went wrong with a record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A line cannot be read or does not fit the game.
    #[error("line {line}: {fault}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: LineFault,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the file system says.
        source: io::Error,
    },
    /// A ply beyond the end of the record was asked for.
    #[error("the record has {plies} plies, not {asked}")]
    PastEnd {
        /// Plies that there are.
        plies: usize,
        /// Ply that was asked for.
        asked: usize,
    },
}

/// What is wrong with a line of a record.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LineFault {
    /// The text does not begin as a record does.
    #[error("not a game record: expected `record: {FORMAT_VERSION}`")]
    NotARecord,
    /// The format is not the one that is read here.
    #[error("format version {0} is not known, only {FORMAT_VERSION}")]
    Version(String),
    /// A header line is missing.
    #[error("header line `{0}:` is missing")]
    Missing(&'static str),
    /// A header line stands twice, or a third seat.
    #[error("header line `{0}:` stands once too often")]
    Repeated(String),
    /// A header key cannot be used.
    #[error("`{0}` cannot be the key of an extra header line")]
    Key(String),
    /// A header value cannot be read.
    #[error("`{key}: {value}`: expected {expected}")]
    Value {
        /// Key of the line.
        key: &'static str,
        /// What stands there.
        value: String,
        /// What should.
        expected: &'static str,
    },
    /// The line is neither a decision, a roll nor an ending.
    #[error("cannot read `{0}`: expected a seat and an action, `roll KIND NUMBER`, or an ending")]
    Unreadable(String),
    /// Something follows the ending.
    #[error("the record has ended before this line")]
    AfterEnding,
    /// The last line is not an ending.
    #[error("the record is cut off: expected `result`, `unfinished`, `truncated` or `forfeit`")]
    CutOff,
    /// The record is of another game, of other rules or of another scenario.
    #[error("the record has {what} `{found}`, this game `{expected}`")]
    OtherGame {
        /// What differs.
        what: &'static str,
        /// That of the game.
        expected: String,
        /// That of the record.
        found: String,
    },
    /// The wrong player, or a roll for a decision, or the other way round.
    #[error("expected {expected}, found {found}")]
    OutOfTurn {
        /// What the position waits for.
        expected: String,
        /// What the line has.
        found: String,
    },
    /// The action is not legal or the roll impossible.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// The result is not that of the last position.
    #[error("the record ends with `{found}`, the game with `{expected}`")]
    WrongEnding {
        /// How the game stands.
        expected: String,
        /// What the line has.
        found: String,
    },
}

/// Line numbers, from 1.
#[derive(Clone, Default, Debug)]
struct Lines {
    game: usize,
    rules_version: usize,
    rules_hash: usize,
    scenario: usize,
    seats: [usize; 2],
    plies: Vec<usize>,
    ending: usize,
}

/// Keys of the format itself.
const OWN_KEYS: [&str; 7] = ["record", "game", "rules-version", "rules-hash", "scenario", "seed", "seat"];

/// Words that begin a line, or a winner, and so cannot name a seat.
const PLY_WORDS: [&str; 6] = ["roll", "result", "draw", "unfinished", "truncated", "forfeit"];

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// `text` with every run of white space or control characters made one space, so that it fits on a header line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

#[derive(Default)]
struct Parser {
    game: Option<String>,
    rules_version: Option<u32>,
    rules_hash: Option<String>,
    scenario: Option<String>,
    seed: Option<u64>,
    seats: Vec<SeatEntry>,
    extra: Vec<(String, String)>,
    plies: Vec<Ply>,
    ending: Option<Ending>,
    lines: Lines,
}

impl Parser {
    fn parse(mut self, text: &str) -> Result<Record, RecordError> {
        let mut last = 0;
        let mut first_seen = false;
        for (index, line) in text.lines().enumerate() {
            let (number, line) = (index + 1, line.trim());
            last = number;
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = if first_seen { self.line(number, line) } else { version_line(line) };
            read.map_err(|fault| RecordError::Line { line: number, fault })?;
            first_seen = true;
        }
        let at_end = |fault| RecordError::Line { line: last + 1, fault };
        if !first_seen {
            return Err(at_end(LineFault::NotARecord));
        }
        let ending = self.ending.ok_or_else(|| at_end(LineFault::CutOff))?;
        let missing = |key| at_end(LineFault::Missing(key));
        Ok(Record {
            identity: GameIdentity {
                game: self.game.ok_or_else(|| missing("game"))?,
                rules_version: self.rules_version.ok_or_else(|| missing("rules-version"))?,
                rules_hash: self.rules_hash.ok_or_else(|| missing("rules-hash"))?,
                scenario: self.scenario.ok_or_else(|| missing("scenario"))?,
            },
            seed: self.seed.ok_or_else(|| missing("seed"))?,
            seats: self.seats.try_into().map_err(|_| missing("seat"))?,
            extra: self.extra,
            plies: self.plies,
            ending,
            lines: Some(self.lines),
        })
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), LineFault> {
        if self.ending.is_some() {
            return Err(LineFault::AfterEnding);
        }
        let in_header = self.plies.is_empty();
        if let Some((key, value)) = line.split_once(':')
            && in_header
            && is_key(key)
        {
            return self.header(number, key, value.trim());
        }
        if in_header {
            self.header_complete()?;
        }
        let unreadable = || LineFault::Unreadable(line.to_string());
        let (word, rest) = line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim()));
        if let Some(ending) = self.ending(word, rest) {
            self.ending = Some(ending);
            self.lines.ending = number;
            return Ok(());
        }
        let ply = if word == "roll" {
            let (kind, outcome) = rest.rsplit_once(' ').ok_or_else(unreadable)?;
            let outcome = Outcome(outcome.parse().map_err(|_| unreadable())?);
            Ply::Roll { kind: kind.trim().to_string(), outcome }
        } else {
            let seat = self.seat(word).filter(|_| !rest.is_empty()).ok_or_else(unreadable)?;
            Ply::Decision { seat, text: rest.to_string() }
        };
        self.plies.push(ply);
        self.lines.plies.push(number);
        Ok(())
    }

    fn header(&mut self, number: usize, key: &str, value: &str) -> Result<(), LineFault> {
        let repeated = || LineFault::Repeated(key.to_string());
        let invalid = |key, expected| LineFault::Value { key, value: value.to_string(), expected };
        match key {
            "record" => return Err(repeated()),
            "game" => set_once(&mut self.game, value.to_string(), repeated)?,
            "rules-version" => {
                let version = value.parse().map_err(|_| invalid("rules-version", "a whole number"))?;
                set_once(&mut self.rules_version, version, repeated)?;
            }
            "rules-hash" => set_once(&mut self.rules_hash, value.to_string(), repeated)?,
            "scenario" => set_once(&mut self.scenario, value.to_string(), repeated)?,
            "seed" => {
                let seed = value.parse().map_err(|_| invalid("seed", "a whole number below 2^64"))?;
                set_once(&mut self.seed, seed, repeated)?;
            }
            "seat" => {
                let (name, agent) = value.split_once(' ').unwrap_or((value, ""));
                if !is_key(name) || PLY_WORDS.contains(&name) || self.seat(name).is_some() {
                    return Err(invalid("seat", "the name of a seat and an agent"));
                }
                if self.seats.len() == 2 {
                    return Err(repeated());
                }
                self.lines.seats[self.seats.len()] = number;
                self.seats.push(SeatEntry { name: name.to_string(), agent: one_line(agent) });
            }
            _ => {
                if self.extra.iter().any(|(known, _)| known == key) {
                    return Err(repeated());
                }
                self.extra.push((key.to_string(), one_line(value)));
            }
        }
        match key {
            "game" => self.lines.game = number,
            "rules-version" => self.lines.rules_version = number,
            "rules-hash" => self.lines.rules_hash = number,
            "scenario" => self.lines.scenario = number,
            _ => {}
        }
        Ok(())
    }

    fn header_complete(&self) -> Result<(), LineFault> {
        for (there, key) in [
            (self.game.is_some(), "game"),
            (self.rules_version.is_some(), "rules-version"),
            (self.rules_hash.is_some(), "rules-hash"),
            (self.scenario.is_some(), "scenario"),
            (self.seed.is_some(), "seed"),
            (self.seats.len() == 2, "seat"),
        ] {
            if !there {
                return Err(LineFault::Missing(key));
            }
        }
        Ok(())
    }

    fn seat(&self, name: &str) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|seat| self.seats.get(seat.index()).is_some_and(|entry| entry.name == name))
    }

    fn ending(&self, word: &str, rest: &str) -> Option<Ending> {
        match (word, rest) {
            ("unfinished", "") => Some(Ending::Unfinished),
            ("truncated", "") => Some(Ending::Truncated),
            ("forfeit", _) => {
                let (seat, reason) = rest.split_once(' ').unwrap_or((rest, ""));
                Some(Ending::Forfeit(Forfeit::new(self.seat(seat)?, reason)))
            }
            ("result", _) => {
                let (winner, margin) = rest.split_once(' ')?;
                let winner = if winner == "draw" { None } else { Some(self.seat(winner)?) };
                let margin: f32 = margin.trim().parse().ok()?;
                (-1.0..=1.0).contains(&margin).then_some(Ending::Finished(GameResult { winner, margin }))
            }
            _ => None,
        }
    }
}

fn version_line(line: &str) -> Result<(), LineFault> {
    let version = line.strip_prefix("record:").ok_or(LineFault::NotARecord)?.trim();
    if version.parse() == Ok(FORMAT_VERSION) { Ok(()) } else { Err(LineFault::Version(version.to_string())) }
}

fn set_once<T>(slot: &mut Option<T>, value: T, repeated: impl Fn() -> LineFault) -> Result<(), LineFault> {
    if slot.is_some() {
        return Err(repeated());
    }
    *slot = Some(value);
    Ok(())
}
