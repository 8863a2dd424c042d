//! `dervish replay`: checks a game record against the rules, steps through it, and cuts it short.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use dervish_agents::agent::Event;
use dervish_env::encode::PolicyEncoder;
use dervish_env::game::{Actor, GameIdentity};
use dervish_env::record::{Ending, Forfeit, Ply, Record, RecordError, Replay};

use super::{CommandError, print_line};
use crate::arena::agents::ArenaGame;
use crate::games::{GameVisitor, with_game};

/// Checks a game record, steps through it, and cuts it short.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// The record.
    pub file: PathBuf,
    /// The scenario file that was played, where it does not come with the program.
    #[arg(long)]
    pub scenario: Option<String>,
    /// Stop after this many decisions and rolls instead of going to the end.
    #[arg(long, value_name = "N")]
    pub to: Option<usize>,
    /// Print every decision and roll with what it answered, below it what it meant and changed, and where a player's turn
    /// begins.
    #[arg(long)]
    pub steps: bool,
    /// New file for the record up to where it stopped, unfinished.
    #[arg(long, value_name = "FILE")]
    pub fork: Option<PathBuf>,
}

impl ReplayArgs {
    /// Replays and prints how the game stands.
    ///
    /// # Errors
    /// [`CommandError`] with the number of the first line that is wrong, or what else cannot be read or written.
    pub fn run(&self) -> Result<(), CommandError> {
        refuse_existing("--fork", self.fork.as_deref())?;
        let record = Record::read(&self.file).map_err(|error| record_fault(&self.file, &error))?;
        let identity = record.identity().clone();
        let text = with_recorded_game(&identity, self.scenario.as_deref(), Replayed { args: self, record })??;
        print_line(text.trim_end())
    }
}

/// Does something with the game of a record: that of the scenario given, or of the one that the record names.
///
/// # Errors
/// [`CommandError`] if there is no such scenario.
pub(super) fn with_recorded_game<V: GameVisitor>(
    identity: &GameIdentity,
    scenario: Option<&str>,
    visitor: V,
) -> Result<V::Output, CommandError> {
    let named = identity.name();
    with_game(scenario.unwrap_or(named), visitor).map_err(|faults| match scenario {
        Some(_) => CommandError::Data(faults),
        None => CommandError::Argument {
            argument: "--scenario",
            reason: format!("'{named}' does not come with the program: name the scenario file that was played"),
        },
    })
}

/// How a finished game ended, as people read it: the winner with the margin as he sees it, what decided, by which rule, and
/// the points where the game is won by points.
pub(super) fn result_text<P: ArenaGame>(position: &P) -> Option<String> {
    let result = position.result()?;
    let verdict = match result.winner {
        Some(seat) => format!("won by {}, margin {:.2}", P::seat_name(seat), result.margin_for(seat)),
        None => "drawn".to_owned(),
    };
    let decided_by = position.decided_by();
    // What decided a campaign begins with its rule, such as `14.3`, which would read as a number of points.
    let (rule, reason) = match decided_by.split_once(' ') {
        Some((rule, reason)) if rule.contains('.') => (Some(format!("rule {rule}")), reason),
        _ => (None, decided_by.as_str()),
    };
    let points = position.points_text().map(|points| format!("points: {points}"));
    let notes: Vec<String> = rule.into_iter().chain(points).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    Some(format!("{verdict}: {reason}{notes}"))
}

/// Refuses the file of a new record if anything has its name: a game that was kept is not written over.
///
/// # Errors
/// [`CommandError::Argument`].
pub(super) fn refuse_existing(argument: &'static str, file: Option<&Path>) -> Result<(), CommandError> {
    match file.filter(|file| file.symlink_metadata().is_ok()) {
        Some(file) => {
            Err(CommandError::Argument { argument, reason: format!("{} exists; name a new file", file.display()) })
        }
        None => Ok(()),
    }
}

/// What is wrong with a record in this file.
pub(super) fn record_fault(file: &Path, error: &RecordError) -> CommandError {
    let (file, reason) = match error {
        RecordError::Read { path, source } | RecordError::Write { path, source } => {
            (path.as_path(), source.to_string())
        }
        RecordError::Line { .. } | RecordError::PastEnd { .. } => (file, error.to_string()),
    };
    CommandError::File { file: file.display().to_string(), reason }
}

struct Replayed<'a> {
    args: &'a ReplayArgs,
    record: Record,
}

impl GameVisitor for Replayed<'_> {
    type Output = Result<String, CommandError>;

    fn visit<P: ArenaGame, E: PolicyEncoder<P> + Clone + 'static>(self, start: P, _encoder: E) -> Self::Output {
        let args = self.args;
        let plies = self.record.plies().len();
        // A copy of a scenario under its old name looks like the scenario.
        let other = args.scenario.is_none() && start.identity().rules_hash != self.record.identity().rules_hash;
        replay(self.record, start, args, plies).map_err(|error| match record_fault(&args.file, &error) {
            CommandError::File { file, reason } if other => {
                let reason = format!("{reason}; if a scenario file was played, name it with --scenario");
                CommandError::File { file, reason }
            }
            fault => fault,
        })
    }
}

fn replay<P: ArenaGame>(record: Record, start: P, args: &ReplayArgs, plies: usize) -> Result<String, RecordError> {
    let mut text = String::new();
    let mut replay = Replay::new(record, start)?;
    let last = args.to.unwrap_or(plies);
    if last > plies {
        return Err(RecordError::PastEnd { plies, asked: last });
    }
    let mut turn = None;
    while replay.ply() < last {
        let (number, before) = (replay.ply() + 1, replay.position().clone());
        let Some(ply) = replay.step()?.cloned() else { break };
        if args.steps {
            let of_turn = before.turn_text();
            if of_turn != turn {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "== {} ==", of_turn.as_deref().unwrap_or_default());
                turn = of_turn;
            }
            let _ = writeln!(text, "{number}\t{}\t{}", ply.text(P::seat_name), before.pending_text());
            text.push_str(&told_text(&before, &ply, replay.position()));
        }
    }
    if args.to.is_none() {
        replay.verify()?;
    }
    if let Some(path) = &args.fork {
        replay.fork().0.write(path)?;
    }
    let stands = match (result_text(replay.position()), replay.record().ending()) {
        (Some(result), _) => result,
        (None, Ending::Truncated) if args.to.is_none() => "truncated by a limit".to_string(),
        (None, Ending::Forfeit(Forfeit { seat, reason })) if args.to.is_none() => {
            format!("won by {}: {} forfeited ({reason})", P::seat_name(seat.other()), P::seat_name(*seat))
        }
        (None, _) => {
            let actor = match replay.position().actor() {
                Actor::Player(seat) => P::seat_name(seat),
                _ => "a roll",
            };
            format!("waiting for {actor}: {}", replay.position().pending_text())
        }
    };
    let _ = writeln!(text, "{last} of {plies} decisions and rolls are right; {stands}");
    Ok(text)
}

/// What a line meant and changed, as `dervish play` tells it: indented lines, or none.
fn told_text<P: ArenaGame>(before: &P, ply: &Ply, after: &P) -> String {
    let mut text = String::new();
    if let Ply::Roll { outcome, .. } = ply {
        let told = before.roll_text(*outcome);
        // The number stands in the line itself.
        let meaning = told.strip_prefix(&outcome.0.to_string()).unwrap_or(&told);
        let meaning = meaning.trim_start_matches([',', ' ', '\n']);
        if !meaning.is_empty() {
            let _ = writeln!(text, "  {meaning}");
        }
    }
    let event = match ply {
        Ply::Roll { outcome, .. } => Some(Event::Rolled(*outcome)),
        Ply::Decision { seat, text } => before.parse_action(text).ok().map(|action| Event::Played(*seat, action)),
    };
    for order in event.into_iter().flat_map(|event| before.forced_texts(event)) {
        let _ = writeln!(text, "  the only choice: {order}");
    }
    let change = before.change_text(after);
    if !change.is_empty() {
        let _ = writeln!(text, "  {change}");
    }
    text
}
