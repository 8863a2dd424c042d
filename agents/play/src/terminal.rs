//! The dialogue between a person and a game at the terminal.

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::panic;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dervish_agents::agent::{Agent, AgentError, Choice, Event};
use dervish_agents::limits::Limits;
use dervish_env::chance::{Dice, agent_rng};
use dervish_env::game::{Action, Actor, IllegalMove, Position, Seat};
use dervish_env::record::{LineFault, Ply, Record, RecordError, Replay};

use crate::board_text::BoardText;
use crate::game_file::GameFile;
use crate::thinking_text::thinking_text;

/// A game between a person and an agent.
pub struct Table<P: Position> {
    position: P,
    /// The person's seat.
    person: Seat,
    opponent: Box<dyn Agent<P>>,
    limits: Limits,
    /// Whether the person sees what the opponent thought.
    shows_thinking: bool,
    dice: Dice,
    record: Record,
    /// The board as it was drawn last, apart from where something was asked.
    drawn: String,
    /// Where undo can go back to: before each decision of the person since the last roll or answer of the opponent,
    /// and that decision, of which the opponent hears only when it stands.
    undo: Vec<(P, Record, Action)>,
}

/// How a sitting ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sitting {
    /// The game is over.
    Finished,
    /// The person left, or there is no more input.
    Left,
}

/// Why a game could not go on.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The record cannot be kept.
    #[error("record: {0}")]
    Record(io::Error),
    /// The terminal is gone.
    #[error("terminal: {0}")]
    Terminal(#[from] io::Error),
    /// The opponent has no answer.
    #[error("opponent: {0}")]
    Opponent(#[from] AgentError),
    /// The opponent's answer is not legal.
    #[error("opponent: {0}")]
    Illegal(#[from] IllegalMove),
}

/// What a record has for the agent of the person's seat.
pub const HUMAN: &str = "human";

const HELP: &str = "a number or the text of an order plays it, and so does a hex, or the name of the place in it, that only \
                    one of them names; l lists the orders; b draws the board; v tells how the game is won; u takes back \
                    orders given since the last roll; w FILE keeps the game in a new file; q leaves the game; ? tells \
                    this again\n";
const SIGNS: &str = "* is a roll, - an order of the other side, and what they change stands below\n";
/// Bytes of a line without its line break: more is no order.
const LONGEST_LINE: usize = 1024;
/// Orders listed without being asked.
const SHORT_LIST: usize = 24;
/// How long the opponent may think before the person is told that he does.
const PATIENCE: Duration = Duration::from_secs(1);

impl<P: BoardText> Table<P> {
    /// A new game from `start`. `opponent_spec` names the opponent in the record.
    pub fn new(start: P, person: Seat, opponent: Box<dyn Agent<P>>, limits: Limits, seed: u64) -> Table<P> {
        let spec = opponent.spec();
        let mut agents = [HUMAN; 2];
        agents[person.other().index()] = &spec;
        let record = Record::begin(&start, seed, agents);
        let dice = Dice::new(seed);
        let mut table = Table::at(start, person, opponent, limits, dice, record);
        table.opponent.new_game(agent_rng(seed, 0, person.other()));
        table
    }

    fn at(
        position: P,
        person: Seat,
        opponent: Box<dyn Agent<P>>,
        limits: Limits,
        dice: Dice,
        record: Record,
    ) -> Table<P> {
        let (shows_thinking, drawn, undo) = (false, String::new(), Vec::new());
        Table { position, person, opponent, limits, shows_thinking, dice, record, drawn, undo }
    }

    /// A game that was left, from the end of its record on, with the dice that would have fallen; whoever played it, the record
    /// names the person and the opponent from then on. The opponent hears of all that was played, but draws from its stream
    /// anew.
    ///
    /// # Errors
    /// [`RecordError::Line`] with the first line that is wrong.
    pub fn resume(
        mut replay: Replay<P>,
        person: Seat,
        mut opponent: Box<dyn Agent<P>>,
        limits: Limits,
    ) -> Result<Table<P>, RecordError> {
        opponent.new_game(agent_rng(replay.record().seed(), 0, person.other()));
        loop {
            let before = replay.position().clone();
            let event = match replay.step()? {
                None => break,
                Some(Ply::Roll { outcome, .. }) => Some(Event::Rolled(*outcome)),
                // What the rules have just taken is read once more.
                Some(Ply::Decision { seat, text }) => {
                    before.parse_action(text).ok().map(|action| Event::Played(*seat, action))
                }
            };
            if let Some(event) = event {
                opponent.observe(event);
            }
        }
        replay.verify()?;
        let (mut record, position, dice) = replay.fork();
        record.set_agent(person, HUMAN);
        record.set_agent(person.other(), &opponent.spec());
        Ok(Table::at(position, person, opponent, limits, dice, record))
    }

    /// The same, where the person sees after each of the opponent's actions what his search found, or not.
    pub fn showing_thinking(mut self, shows_thinking: bool) -> Table<P> {
        self.shows_thinking = shows_thinking;
        self
    }

    /// The same, with one more line in the head of its record.
    ///
    /// # Errors
    /// [`LineFault::Key`] if the key cannot be that of such a line.
    pub fn noting(mut self, key: &str, value: &str) -> Result<Table<P>, LineFault> {
        self.record.set_extra(key, value)?;
        Ok(self)
    }

    /// The position that the game has come to.
    pub fn position(&self) -> &P {
        &self.position
    }

    /// The record of the game so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Plays until the game is over, and shows its last board, or the person leaves; whoever reads no more has left. Before
    /// anybody is asked, the record is written to `file`, so that no order is lost whatever ends the program while he thinks;
    /// the person may name the file during the game.
    ///
    /// # Errors
    /// [`PlayError`]; the record holds everything up to there.
    pub fn play(
        &mut self,
        input: &mut impl BufRead,
        output: &mut (impl Write + Send),
        file: &mut Option<GameFile>,
    ) -> Result<Sitting, PlayError> {
        match self.sit(input, output, file) {
            Err(PlayError::Terminal(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Sitting::Left),
            sitting => sitting,
        }
    }

    fn sit(
        &mut self,
        input: &mut impl BufRead,
        output: &mut (impl Write + Send),
        file: &mut Option<GameFile>,
    ) -> Result<Sitting, PlayError> {
        self.help(output)?;
        write!(output, "{}", self.position.aim_text())?;
        loop {
            match self.position.actor() {
                Actor::Finished => {
                    self.record.finish(&self.position);
                    self.opponent.game_over(self.record.ending());
                    write!(output, "{}", self.position.board_text())?;
                    return Ok(Sitting::Finished);
                }
                Actor::Chance => {
                    let outcome = self.dice.roll(&self.position);
                    writeln!(output, "* {}: {}", self.position.pending_text(), self.position.roll_text(outcome))?;
                    let before = self.position.clone();
                    self.record.push_roll(&before, outcome);
                    self.position.resolve(outcome)?;
                    let event = Event::Rolled(outcome);
                    self.tell_change(&before, event, output)?;
                    self.let_stand();
                    self.opponent.observe(event);
                }
                Actor::Player(seat) if seat == self.person => {
                    self.keep(file)?;
                    if self.ask(input, output, file)? == Sitting::Left {
                        return Ok(Sitting::Left);
                    }
                }
                Actor::Player(seat) => {
                    self.let_stand();
                    self.keep(file)?;
                    let choice = self.answer(seat, output)?;
                    writeln!(output, "- {} {}", P::seat_name(seat), self.position.choice_text(choice.action))?;
                    if self.shows_thinking {
                        write!(output, "{}", thinking_text(&self.position, &choice))?;
                    }
                    let before = self.play_action(choice.action)?;
                    let event = Event::Played(seat, choice.action);
                    self.tell_change(&before, event, output)?;
                    self.opponent.observe(event);
                }
            }
        }
    }

    fn keep(&self, file: &mut Option<GameFile>) -> Result<(), PlayError> {
        file.as_mut().map_or(Ok(()), |file| file.keep(&self.record)).map_err(PlayError::Record)
    }

    /// The opponent's answer. What has happened is shown before he thinks, and if he thinks for long, that he does.
    fn answer(&mut self, seat: Seat, output: &mut (impl Write + Send)) -> Result<Choice, PlayError> {
        output.flush()?;
        let Table { opponent, position, limits, .. } = self;
        let bound = if *limits == Limits::default() { "; --time SECONDS bounds it" } else { "" };
        let (answered, waiting) = mpsc::channel::<()>();
        let (choice, told) = thread::scope(|scope| {
            let teller = scope.spawn(move || match waiting.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) => {
                    writeln!(output, "{} is thinking{bound}", P::seat_name(seat)).and_then(|()| output.flush())
                }
                _ => Ok(()),
            });
            let choice = opponent.choose(position, limits);
            drop(answered);
            (choice, teller.join())
        });
        match told {
            Ok(told) => told?,
            Err(fault) => panic::resume_unwind(fault),
        }
        choice.map_err(PlayError::Opponent)
    }

    /// Plays an action; returns the position before it.
    fn play_action(&mut self, action: Action) -> Result<P, IllegalMove> {
        let before = self.position.clone();
        self.position.apply(action)?;
        self.record.push_action(&before, action);
        Ok(before)
    }

    /// Tells what has followed an event: the orders that were taken by themselves, and what has changed.
    fn tell_change(&self, before: &P, event: Event, output: &mut impl Write) -> io::Result<()> {
        for order in before.forced_texts(event) {
            writeln!(output, "  the only choice: {order}")?;
        }
        match before.change_text(&self.position).as_str() {
            "" => Ok(()),
            change => writeln!(output, "  {change}"),
        }
    }

    /// The person's decisions can no longer be taken back: the opponent hears of them.
    fn let_stand(&mut self) {
        for (_, _, action) in self.undo.drain(..) {
            self.opponent.observe(Event::Played(self.person, action));
        }
    }

    /// One decision of the person. [`Sitting::Finished`] stands for a decision made.
    fn ask(
        &mut self,
        input: &mut impl BufRead,
        output: &mut impl Write,
        file: &mut Option<GameFile>,
    ) -> Result<Sitting, PlayError> {
        let orders = self.numbered_orders();
        let board = self.position.board_text();
        let unmarked = board.replace(['[', ']'], " ");
        if unmarked != self.drawn {
            write!(output, "{board}")?;
            self.drawn = unmarked;
        }
        writeln!(output, "{}: {}", P::seat_name(self.person), self.position.pending_text())?;
        self.list(&orders, SHORT_LIST, output)?;
        write!(output, "{}", self.position.odds_text())?;
        let mut line = Vec::new();
        let mut warned = false;
        loop {
            write!(output, "> ")?;
            output.flush()?;
            line.clear();
            // As bytes: a line that is no text is a slip of the person like any other, and ends no game. One more for the
            // line break.
            if input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)? == 0 {
                writeln!(output)?;
                return Ok(Sitting::Left);
            }
            if line.len() > LONGEST_LINE && !line.ends_with(b"\n") {
                input.skip_until(b'\n')?;
                writeln!(output, "a line of more than {LONGEST_LINE} bytes is no order")?;
                continue;
            }
            match String::from_utf8_lossy(&line).trim() {
                "" => {}
                "q" | "quit" => {
                    if warned || file.is_some() || self.record.plies().is_empty() {
                        return Ok(Sitting::Left);
                    }
                    warned = true;
                    writeln!(output, "this game is not kept: w FILE keeps it in a new file, another q leaves it")?;
                }
                "?" | "h" | "help" => {
                    self.help(output)?;
                    write!(output, "{}", self.position.answer_text("?").unwrap_or_default())?;
                }
                "l" | "list" => self.list(&orders, usize::MAX, output)?,
                "b" | "board" => write!(output, "{}", self.position.board_text())?,
                "v" | "victory" => write!(output, "{}", self.position.aim_text())?,
                "w" | "write" => writeln!(output, "w FILE keeps this game in a new file")?,
                "u" | "undo" => match self.undo.pop() {
                    Some((position, record, _)) => {
                        self.position = position;
                        self.record = record;
                        return Ok(Sitting::Finished);
                    }
                    None => writeln!(output, "nothing to take back since the last roll")?,
                },
                text => {
                    if let Some(name) = file_to_write(text) {
                        match self.write_file(name, file) {
                            Ok(told) | Err(told) => writeln!(output, "{told}")?,
                        }
                        continue;
                    }
                    if let Some(answer) = self.position.answer_text(text) {
                        write!(output, "{answer}")?;
                        continue;
                    }
                    match self.read_order(text, &orders) {
                        Ok(action) => {
                            let record = self.record.clone();
                            let before = self.play_action(action)?;
                            self.tell_change(&before, Event::Played(self.person, action), output)?;
                            self.undo.push((before, record, action));
                            return Ok(Sitting::Finished);
                        }
                        Err(reason) => writeln!(output, "{reason}")?,
                    }
                }
            }
        }
    }

    fn help(&self, output: &mut impl Write) -> io::Result<()> {
        write!(output, "{HELP}{}{SIGNS}", P::questions_text())
    }

    /// Writes the record to a new file, in which the game is kept from then on unless it is kept already; returns what to say
    /// of it.
    fn write_file(&self, name: &str, file: &mut Option<GameFile>) -> Result<String, String> {
        let path = Path::new(name);
        if path.symlink_metadata().is_ok() {
            return Err(format!("{name} exists; name a new file"));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| format!("cannot make the folder {}: {error}", folder.display()))?;
        }
        let mut begun = GameFile::new(path);
        begun.keep(&self.record).map_err(|error| error.to_string())?;
        if let Some(kept) = file {
            return Ok(format!("{name} is a copy as things stand; this game is kept in {}", kept.path().display()));
        }
        *file = Some(begun);
        Ok(format!("from now on this game is kept in {name}"))
    }

    /// The legal orders, each with the number that plays it: how many, in a list of counts, else its place in the list.
    fn numbered_orders(&self) -> Vec<(usize, Action)> {
        let mut legal = Vec::new();
        self.position.legal_actions_into(&mut legal);
        let counts: Option<Vec<usize>> = legal.iter().map(|action| self.position.count_of(*action)).collect();
        let numbers = counts.unwrap_or_else(|| (1..=legal.len()).collect());
        numbers.into_iter().zip(legal).collect()
    }

    /// A number of the list, the text of an order, or another number that stands in the text of one order alone: a hex, or
    /// the 0 of an order for no units. For such a number its name can stand.
    fn read_order(&self, text: &str, orders: &[(usize, Action)]) -> Result<Action, String> {
        let Ok(number) = text.parse::<usize>() else {
            let read = self.position.parse_choice(text).map_err(|error| error.to_string());
            return read.or_else(|reason| self.order_by_name(text, orders).ok_or(reason));
        };
        // Hexes of the first columns begin with a 0, numbers of the list do not.
        if let Some((_, action)) = orders.iter().find(|(listed, _)| *listed == number && listed.to_string() == text) {
            return Ok(*action);
        }
        let names = |action: &Action| self.position.action_text(*action).split_whitespace().any(|word| word == text);
        let named: Vec<Action> = orders.iter().map(|(_, action)| *action).filter(names).collect();
        match named.as_slice() {
            [action] => Ok(*action),
            [] => {
                let [first, last] = [orders.first(), orders.last()].map(|order| order.map_or(0, |(number, _)| *number));
                Err(format!("{text}: the orders are numbered {first} to {last}, and none of them names {text}"))
            }
            [first, ..] => Err(format!(
                "{text}: {} orders name it; type the number of one, or its text, such as '{}'",
                named.len(),
                self.position.action_text(*first)
            )),
        }
    }

    /// The order whose text ends in a number for which the list shows a name in brackets, such as that of a place, if `text` is
    /// that name, or the order with the name for the number.
    fn order_by_name(&self, text: &str, orders: &[(usize, Action)]) -> Option<Action> {
        let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        let wanted = words(text);
        let named = |action: &Action| {
            let (order, shown) = (self.position.action_text(*action), self.position.choice_text(*action));
            let name = shown.strip_prefix(&order).and_then(|rest| rest.trim().strip_prefix('(')?.strip_suffix(')'));
            let before = order.rsplit_once(' ').map_or("", |(before, _)| before);
            name.is_some_and(|name| wanted == words(name) || wanted == words(&format!("{before} {name}")))
        };
        orders.iter().map(|(_, action)| *action).find(named)
    }

    fn list(&self, orders: &[(usize, Action)], most: usize, output: &mut impl Write) -> io::Result<()> {
        for (number, action) in orders.iter().take(most) {
            writeln!(output, "  {number:3} {}", self.position.choice_text(*action))?;
        }
        if orders.len() > most {
            writeln!(output, "  ... {} more; l lists all", orders.len() - most)?;
        }
        Ok(())
    }
}

/// The file of a line that asks to keep the game in one.
fn file_to_write(line: &str) -> Option<&str> {
    let (word, file) = line.split_once(char::is_whitespace)?;
    ["w", "write"].contains(&word).then(|| file.trim())
}
