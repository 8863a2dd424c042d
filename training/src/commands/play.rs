//! `dervish play`: a person against an agent at the terminal.

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_env::record::{Ending, Record, Replay};
use dervish_play::game_file::GameFile;
use dervish_play::terminal::{HUMAN, Sitting, Table};

use rand::TryRng;
use rand::rngs::SysRng;

use super::match_args::{ThoughtArgs, time_of};
use super::replay::{record_fault, refuse_existing, result_text, with_recorded_game};
use super::{CommandError, print_line};
use crate::arena::agents::{ArenaGame, agents_of};
use crate::games::{GameVisitor, with_game};

/// Whom a person plays against if nobody is named.
const DEFAULT_OPPONENT: &str = "random";

/// Key of the line in the head of a record that says how much the agent may think.
const THINKING: &str = "thinking";

/// Plays a game at the terminal: you on one side, an agent on the other.
#[derive(Clone, Debug, clap::Args)]
pub struct PlayArgs {
    /// What to play: a built-in scenario, a scenario file, or a reference game such as `pig`; with --resume only the scenario
    /// file, where it does not come with the program.
    #[arg(long, required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// Your side, such as `mahdist`, in capitals or small letters; with --resume to take over a side that you have not played.
    #[arg(long, required_unless_present = "resume")]
    pub side: Option<String>,
    /// The agent you play against; `dervish agents` lists them [default: random, with --resume whoever played that side].
    #[arg(long, requires = "side")]
    pub against: Option<String>,
    /// Names the dice and the agent's random stream [default: another one each time, which is told].
    #[arg(long, conflicts_with = "resume")]
    pub seed: Option<u64>,
    /// How much the agent may think.
    #[command(flatten)]
    pub thought: ThoughtArgs,
    /// After each action of the agent, show what its search found: value for its side (1 is a sure win), visits, depth, nodes
    /// and nodes per second, and the line that it expects.
    #[arg(long)]
    pub thinking: bool,
    /// New file for the record of the game, finished or not; --resume goes on with it.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub record: Option<PathBuf>,
    /// Go on with a game that was left, and with its record: the same sides, agent and dice, but the agent draws from its
    /// random stream anew. It may think as much as before, unless a bound is given: then those given hold, and no other. With
    /// --side, go on with any unfinished record, such as `dervish replay --fork` writes of a game of agents.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

impl PlayArgs {
    /// Plays until the game is over, or the person leaves.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        let Some(file) = &self.resume else {
            return with_game(self.scenario.as_deref().unwrap_or_default(), Play { args: self })?;
        };
        let record = Record::read(file).map_err(|error| record_fault(file, &error))?;
        let identity = record.identity().clone();
        with_recorded_game(&identity, self.scenario.as_deref(), Resume { args: self, file, record })?
    }

    /// Plays at the terminal, and keeps the record where it is to be kept. `thought` is how much the agent may think.
    fn sit<P: ArenaGame>(&self, table: Table<P>, thought: &ThoughtArgs) -> Result<(), CommandError> {
        let mut table = table.showing_thinking(self.thinking);
        let argument = if self.resume.is_some() { "--resume" } else { "--record" };
        let refused = |reason: String| CommandError::Argument { argument, reason };
        let mut file = match (&self.resume, &self.record) {
            (Some(path), _) => {
                let read = GameFile::of_left_game(path);
                Some(read.map_err(|error| refused(format!("{}: {error}", path.display())))?)
            }
            (None, path) => path.as_deref().map(GameFile::new),
        };
        let bounds = bounds_text(thought);
        if !bounds.is_empty() {
            table = table.noting(THINKING, &bounds).map_err(|fault| refused(fault.to_string()))?;
        }
        let keep = |file: &mut Option<GameFile>, record: &Record| {
            file.as_mut().map_or(Ok(()), |file| file.keep(record)).map_err(|error| refused(error.to_string()))
        };
        // Before the first order, so that nobody plays a game that cannot be kept.
        keep(&mut file, table.record())?;
        if self.seed.is_none() && self.resume.is_none() {
            print_line(&format!("seed {}", table.record().seed()))?;
        }
        // Not locked: while the agent thinks, another thread says so.
        let sitting = table.play(&mut io::stdin().lock(), &mut BufWriter::new(io::stdout()), &mut file);
        keep(&mut file, table.record())?;
        match (sitting?, file) {
            (Sitting::Finished, _) => result_text(table.position()).map_or(Ok(()), |result| print_line(&result)),
            (Sitting::Left, file) => {
                match file {
                    Some(file) => {
                        let command = self.resume_command(file.path(), table.record());
                        print_line(&format!("{command} goes on with this game"))?;
                    }
                    None if table.record().plies().is_empty() => {}
                    None => print_line("this game was not kept")?,
                }
                print_line("left the game")
            }
        }
    }

    /// The command that goes on with the game of a record.
    fn resume_command(&self, file: &Path, record: &Record) -> String {
        let mut command = format!("dervish play --resume {}", shell_word(&file.to_string_lossy()));
        // A scenario of the program's own is known by its name, which the record has.
        let scenario = self.scenario.as_deref().filter(|given| *given != record.identity().name());
        if let Some(scenario) = scenario {
            command.push_str(" --scenario ");
            command.push_str(&shell_word(scenario));
        }
        if self.thinking {
            command.push_str(" --thinking");
        }
        command
    }
}

struct Play<'a> {
    args: &'a PlayArgs,
}

impl GameVisitor for Play<'_> {
    type Output = Result<(), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let args = self.args;
        let seat = seat_named::<P>(args.side.as_deref().unwrap_or_default())?;
        let opponent = agents_of(&start, encoder)
            .factory(args.against.as_deref().unwrap_or(DEFAULT_OPPONENT))
            .map_err(|error| CommandError::Argument { argument: "--against", reason: error.to_string() })?;
        refuse_existing("--record", args.record.as_deref())?;
        let limits = args.thought.limits(&start)?;
        let seed = match args.seed {
            Some(seed) => seed,
            None => {
                let drawn = SysRng.try_next_u32();
                let refused = |reason: String| CommandError::Argument { argument: "--seed", reason };
                u64::from(drawn.map_err(|error| refused(error.to_string()))?)
            }
        };
        if let Some(folder) = args.record.as_deref().and_then(Path::parent) {
            fs::create_dir_all(folder).map_err(|error| CommandError::Argument {
                argument: "--record",
                reason: format!("cannot make the folder {}: {error}", folder.display()),
            })?;
        }
        args.sit(Table::new(start, seat, opponent.make(), limits, seed), &args.thought)
    }
}

struct Resume<'a> {
    args: &'a PlayArgs,
    file: &'a Path,
    record: Record,
}

impl GameVisitor for Resume<'_> {
    type Output = Result<(), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let Resume { args, file, record } = self;
        let refused = |reason: String| CommandError::Argument { argument: "--resume", reason };
        if *record.ending() != Ending::Unfinished {
            return Err(refused(format!("{}: the game is over", file.display())));
        }
        let agent = |seat: Seat| record.seats()[seat.index()].agent.as_str();
        let person = match &args.side {
            Some(side) => seat_named::<P>(side)?,
            None => Seat::BOTH.into_iter().find(|seat| agent(*seat) == HUMAN).ok_or_else(|| {
                refused(format!("{}: no person played it; --side SIDE takes over a side", file.display()))
            })?,
        };
        let opponent = args.against.as_deref().unwrap_or_else(|| agent(person.other()));
        if opponent == HUMAN {
            let side = P::seat_name(person.other());
            return Err(refused(format!("{}: a person played {side}; name an agent with --against", file.display())));
        }
        let argument = if args.against.is_some() { "--against" } else { "--resume" };
        let opponent = agents_of(&start, encoder)
            .factory(opponent)
            .map_err(|error| CommandError::Argument { argument, reason: error.to_string() })?;
        let bounds = record.extra(THINKING).unwrap_or_default();
        let thought = if bounds_text(&args.thought).is_empty() {
            let unread = || refused(format!("{}: cannot read `{THINKING}: {bounds}`", file.display()));
            thought_of(bounds).ok_or_else(unread)?
        } else {
            args.thought
        };
        let limits = thought.limits(&start)?;
        let table =
            Replay::new(record, start).and_then(|replay| Table::resume(replay, person, opponent.make(), limits));
        args.sit(table.map_err(|error| record_fault(file, &error))?, &thought)
    }
}

/// Bounds on thinking as a record has them, by the names of their options: `time=0.5, turn-sims=1000`; empty for none.
fn bounds_text(thought: &ThoughtArgs) -> String {
    let ThoughtArgs { sims, time, turn_sims, turn_time } = thought;
    let number = |number: &u32| number.to_string();
    let seconds = |time: &Duration| time.as_secs_f64().to_string();
    let bounds = [
        ("sims", sims.as_ref().map(number)),
        ("time", time.as_ref().map(seconds)),
        ("turn-sims", turn_sims.as_ref().map(number)),
        ("turn-time", turn_time.as_ref().map(seconds)),
    ];
    let given = bounds.into_iter().filter_map(|(name, bound)| bound.map(|bound| format!("{name}={bound}")));
    given.collect::<Vec<_>>().join(", ")
}

/// Reads what [`bounds_text`] gives; `None` for anything else.
fn thought_of(bounds: &str) -> Option<ThoughtArgs> {
    let mut thought = ThoughtArgs::default();
    for bound in bounds.split(", ").filter(|bound| !bound.is_empty()) {
        let (name, value) = bound.split_once('=')?;
        let number = || value.parse::<u32>().ok();
        let seconds = || time_of(value.parse().ok()?).ok();
        match name {
            "sims" => thought.sims = Some(number()?),
            "time" => thought.time = Some(seconds()?),
            "turn-sims" => thought.turn_sims = Some(number()?),
            "turn-time" => thought.turn_time = Some(seconds()?),
            _ => return None,
        }
    }
    Some(thought)
}

/// A word as a shell reads it: in quotes if it has anything but letters, digits and the signs of plain names of files.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The seat of a side's name, in capitals or small letters.
fn seat_named<P: Position>(name: &str) -> Result<Seat, CommandError> {
    let named = Seat::BOTH.into_iter().find(|seat| P::seat_name(*seat).eq_ignore_ascii_case(name));
    named.ok_or_else(|| CommandError::Argument {
        argument: "--side",
        reason: format!(
            "'{name}' is no side; there are {} and {}",
            P::seat_name(Seat::First),
            P::seat_name(Seat::Second)
        ),
    })
}
