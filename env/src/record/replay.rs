//! Stepping through a record with the rules at hand.

use super::{Ending, LineFault, Ply, Record, RecordError};
use crate::chance::Dice;
use crate::game::{Actor, GameResult, Position, Seat};

/// A record that is played again, line by line, and checked as it goes.
#[derive(Clone, Debug)]
pub struct Replay<P> {
    record: Record,
    start: P,
    position: P,
    ply: usize,
    dice: Dice,
}

impl<P: Position> Replay<P> {
    /// Sets up the replay at the start of the game; `start` is the first position of the scenario that the record names.
    ///
    /// # Errors
    /// [`RecordError::Line`] if the record is of another game, other rules, another scenario or other seats.
    pub fn new(record: Record, start: P) -> Result<Replay<P>, RecordError> {
        let lines = record.lines();
        let (ours, theirs) = (start.identity(), record.identity());
        let seats = record.seats();
        for (line, what, expected, found) in [
            (lines.game, "game", &ours.game[..], &theirs.game[..]),
            (lines.scenario, "scenario", &ours.scenario, &theirs.scenario),
            (lines.rules_version, "rules version", &ours.rules_version.to_string(), &theirs.rules_version.to_string()),
            (lines.rules_hash, "rules hash", &ours.rules_hash, &theirs.rules_hash),
            (lines.seats[0], "first seat", P::seat_name(Seat::First), &seats[0].name),
            (lines.seats[1], "second seat", P::seat_name(Seat::Second), &seats[1].name),
        ] {
            if expected != found {
                let fault = LineFault::OtherGame { what, expected: expected.to_string(), found: found.to_string() };
                return Err(RecordError::Line { line, fault });
            }
        }
        let dice = Dice::new(record.seed());
        Ok(Replay { record, position: start.clone(), start, ply: 0, dice })
    }

    /// The record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The position before ply [`Replay::ply`].
    pub fn position(&self) -> &P {
        &self.position
    }

    /// How many plies were played.
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// Plays the next line and returns it; `None` at the end.
    ///
    /// # Errors
    /// [`RecordError::Line`] if the rules refuse the line; the position is then unchanged.
    pub fn step(&mut self) -> Result<Option<&Ply>, RecordError> {
        let Some(ply) = self.record.plies().get(self.ply) else {
            return Ok(None);
        };
        if let Err(fault) = play(ply, &mut self.position, &mut self.dice) {
            return Err(RecordError::Line { line: self.record.lines().plies[self.ply], fault });
        }
        self.ply += 1;
        Ok(Some(ply))
    }

    /// Plays to the end and checks the ending; returns the result if the game finished by the rules.
    ///
    /// # Errors
    /// [`RecordError::Line`] with the first line that is wrong.
    pub fn verify(&mut self) -> Result<Option<GameResult>, RecordError> {
        while self.step()?.is_some() {}
        let result = self.position.result();
        let fits = match self.record.ending() {
            Ending::Finished(recorded) => result == Some(*recorded),
            Ending::Unfinished | Ending::Truncated => result.is_none(),
            // Only who is asked can fail to answer.
            Ending::Forfeit(forfeit) => self.position.actor() == Actor::Player(forfeit.seat),
        };
        if fits {
            return Ok(result);
        }
        let mut expected = self.record.clone();
        expected.finish(&self.position);
        Err(RecordError::Line {
            line: self.record.lines().ending,
            fault: LineFault::WrongEnding { expected: last_line(&expected), found: last_line(&self.record) },
        })
    }

    /// Goes to the position before ply `ply`, forwards or backwards.
    ///
    /// # Errors
    /// [`RecordError::PastEnd`], or [`RecordError::Line`] if a line on the way is wrong.
    pub fn seek(&mut self, ply: usize) -> Result<&P, RecordError> {
        let plies = self.record.plies().len();
        if ply > plies {
            return Err(RecordError::PastEnd { plies, asked: ply });
        }
        if ply < self.ply {
            self.position = self.start.clone();
            self.dice.reset(self.record.seed());
            self.ply = 0;
        }
        while self.ply < ply {
            self.step()?;
        }
        Ok(&self.position)
    }

    /// What is needed to play on from here in another way: the record up to this ply, the position, and dice that have
    /// counted the rolls so far.
    pub fn fork(&self) -> (Record, P, Dice) {
        (self.record.cut(self.ply), self.position.clone(), self.dice.clone())
    }
}

fn play<P: Position>(ply: &Ply, position: &mut P, dice: &mut Dice) -> Result<(), LineFault> {
    let actor = position.actor();
    match (ply, actor) {
        (Ply::Decision { seat, text }, Actor::Player(to_act)) if *seat == to_act => {
            let action = position.parse_action(text)?;
            position.apply(action)?;
        }
        (Ply::Roll { kind, outcome }, Actor::Chance) if kind == position.pending_kind() => {
            let before = position.clone();
            position.resolve(*outcome)?;
            dice.pass(&before);
        }
        _ => {
            let expected = match actor {
                Actor::Player(seat) => format!("a decision of {} ({})", P::seat_name(seat), position.pending_text()),
                Actor::Chance => format!("`roll {}` ({})", position.pending_kind(), position.pending_text()),
                Actor::Finished => "the result".to_string(),
            };
            let found = format!("`{}`", ply.text(P::seat_name));
            return Err(LineFault::OutOfTurn { expected, found });
        }
    }
    Ok(())
}

fn last_line(record: &Record) -> String {
    record.to_string().lines().last().unwrap_or_default().to_string()
}
