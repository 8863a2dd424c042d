//! `dervish play`: a person against an agent at the terminal.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Position, Seat};
use dervish_env::record::Record;
use dervish_play::terminal::{Sitting, Table};

use rand::TryRng;
use rand::rngs::SysRng;

use super::match_args::ThoughtArgs;
use super::replay::result_text;
use super::{CommandError, print_line};
use crate::arena::agents::{ArenaGame, agents_of};
use crate::games::{GameVisitor, with_game};

/// Plays a game at the terminal: you on one side, an agent on the other.
#[derive(Clone, Debug, clap::Args)]
pub struct PlayArgs {
    /// What to play: a built-in scenario, a scenario file, or a reference game such as `pig`.
    #[arg(long)]
    pub scenario: String,
    /// Your side, such as `mahdist`, in capitals or small letters.
    #[arg(long)]
    pub side: String,
    /// The agent you play against; `dervish agents` lists them.
    #[arg(long, default_value = "random")]
    pub against: String,
    /// Names the dice and the agent's random stream [default: another one each time, which is told].
    #[arg(long)]
    pub seed: Option<u64>,
    /// How much the agent may think.
    #[command(flatten)]
    pub thought: ThoughtArgs,
    /// After each action of the agent, show what its search found: value for its side (1 is a sure win), visits, depth, nodes
    /// and nodes per second, and the line that it expects.
    #[arg(long)]
    pub thinking: bool,
    /// New file for the record of the game, finished or not.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl PlayArgs {
    /// Plays until the game is over, or the person leaves.
    ///
    /// # Errors
    /// [`CommandError`], one line.
    pub fn run(&self) -> Result<(), CommandError> {
        with_game(&self.scenario, Play { args: self })?
    }
}

struct Play<'a> {
    args: &'a PlayArgs,
}

impl GameVisitor for Play<'_> {
    type Output = Result<(), CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, encoder: E) -> Self::Output {
        let args = self.args;
        let seat = seat_named::<P>(&args.side)?;
        let opponent = agents_of(&start, encoder)
            .factory(&args.against)
            .map_err(|error| CommandError::Argument { argument: "--against", reason: error.to_string() })?;
        if let Some(path) = args.record.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
            let reason = format!("{} exists; name a new file", path.display());
            return Err(CommandError::Argument { argument: "--record", reason });
        }
        let limits = args.thought.limits(&start)?;
        let seed = match args.seed {
            Some(seed) => seed,
            None => {
                let drawn = SysRng.try_next_u32();
                let refused = |reason: String| CommandError::Argument { argument: "--seed", reason };
                u64::from(drawn.map_err(|error| refused(error.to_string()))?)
            }
        };
        let mut table = Table::new(start, seat, opponent.make(), limits, seed).showing_thinking(args.thinking);
        let write = |record: &Record| args.record.as_ref().map_or(Ok(()), |path| record.write(path));
        let keep = |record: &Record| {
            write(record).map_err(|error| CommandError::Argument { argument: "--record", reason: error.to_string() })
        };
        // Before the first order, so that nobody plays a game that cannot be kept.
        keep(table.record())?;
        if args.seed.is_none() {
            print_line(&format!("seed {seed}"))?;
        }
        let keep_on = |record: &Record| write(record).map_err(io::Error::other);
        let sitting = table.play(&mut io::stdin().lock(), &mut BufWriter::new(io::stdout().lock()), keep_on);
        keep(table.record())?;
        match sitting? {
            Sitting::Finished => result_text(table.position()).map_or(Ok(()), |result| print_line(&result)),
            Sitting::Left => print_line("left the game"),
        }
    }
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
