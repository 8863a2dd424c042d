//! Pig solved exactly, to test searches by.

use dervish_env::game::{Outcome, Position};
use dervish_env::reference::pig::{HOLD, Pig, ROLL, TARGET};

/// Exact values of pig with the best play, by iteration to the fixed point (Neller and Presser 2004).
pub struct SolvedPig {
    /// Probability of winning for the player about to make the first throw of a turn, by own and other's points.
    pub turn: Vec<Vec<f64>>,
}

const POINTS: usize = TARGET as usize;

impl SolvedPig {
    /// Solves the game.
    pub fn new() -> SolvedPig {
        let mut solved = SolvedPig { turn: vec![vec![0.5; POINTS]; POINTS] };
        loop {
            let mut change: f64 = 0.0;
            for own in (0..POINTS).rev() {
                for other in (0..POINTS).rev() {
                    let value = solved.turn_value(own, other);
                    change = change.max((value - solved.turn[own][other]).abs());
                    solved.turn[own][other] = value;
                }
            }
            if change < 1e-10 {
                return solved;
            }
        }
    }

    fn turn_value(&self, own: usize, other: usize) -> f64 {
        let mut decided = vec![1.0; POINTS + 7];
        for running in (1..POINTS - own).rev() {
            decided[own + running] = self.throw(own, other, running, &decided).max(self.hold(own, other, running));
        }
        self.throw(own, other, 0, &decided)
    }

    /// Probabilities of winning by throwing again and by holding.
    pub fn choices(&self, own: usize, other: usize, running: usize) -> [f64; 2] {
        let mut decided = vec![1.0; POINTS + 7];
        for more in (running + 1..POINTS - own).rev() {
            decided[own + more] = self.throw(own, other, more, &decided).max(self.hold(own, other, more));
        }
        [self.throw(own, other, running, &decided), self.hold(own, other, running)]
    }

    fn throw(&self, own: usize, other: usize, running: usize, decided: &[f64]) -> f64 {
        let lost = 1.0 - self.turn[other][own];
        (lost + (2..=6).map(|die| decided[own + running + die]).sum::<f64>()) / 6.0
    }

    fn hold(&self, own: usize, other: usize, running: usize) -> f64 {
        1.0 - self.turn[other][own + running]
    }
}

/// Pig with the first seat to decide at these points.
pub fn pig_at(first: u16, second: u16, running: u16) -> Pig {
    fn gather(pig: &mut Pig, mut points: u16) {
        while points > 0 {
            let die = if points == 7 { 5 } else { points.min(6) };
            pig.resolve(Outcome(die)).expect("a throw");
            points -= die;
            if points > 0 {
                pig.apply(ROLL).expect("a choice");
            }
        }
    }
    let mut pig = Pig::new();
    gather(&mut pig, first);
    pig.apply(HOLD).expect("a choice");
    gather(&mut pig, second);
    pig.apply(HOLD).expect("a choice");
    gather(&mut pig, running);
    pig
}

/// Expected result of pig with the best play, for the player to move.
pub fn exact_value(solved: &SolvedPig, pig: &Pig) -> f32 {
    let seat = pig.turn_of();
    let [own, other] = [seat, seat.other()].map(|seat| usize::from(pig.banked(seat)));
    let [roll, hold] = solved.choices(own, other, usize::from(pig.running()));
    (2.0 * roll.max(hold) - 1.0) as f32
}
