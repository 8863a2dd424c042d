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

    /// Probabilities of winning of a player against the best play, as the first and as the second player; he throws on where
    /// `throws` says so of own points, other's and those of the running turn.
    pub fn against_the_best(&self, throws: impl Fn(usize, usize, usize) -> bool) -> [f64; 2] {
        let plan = |own, other| (0..POINTS - own).map(|running| running == 0 || throws(own, other, running)).collect();
        let best = |own, other| {
            let mut decided = vec![1.0; POINTS + 7];
            let mut plan = vec![true; POINTS - own];
            for running in (1..POINTS - own).rev() {
                let choices = [self.throw(own, other, running, &decided), self.hold(own, other, running)];
                decided[own + running] = choices[0].max(choices[1]);
                plan[running] = choices[0] > choices[1];
            }
            plan
        };
        // Where each of the two throws on, by own and other's points.
        let plans: [Vec<Vec<Vec<bool>>>; 2] = [
            (0..POINTS).map(|own| (0..POINTS).map(|other| plan(own, other)).collect()).collect(),
            (0..POINTS).map(|own| (0..POINTS).map(|other| best(own, other)).collect()).collect(),
        ];
        // Of the player about to make the first throw of a turn: the one, and the best.
        let mut turns = [(); 2].map(|()| vec![vec![0.5; POINTS]; POINTS]);
        loop {
            let mut change: f64 = 0.0;
            for own in (0..POINTS).rev() {
                for other in (0..POINTS).rev() {
                    for player in 0..2 {
                        let passed = |points: usize| 1.0 - turns[1 - player][other][points];
                        let mut values = vec![1.0; POINTS + 7];
                        for points in (own..POINTS).rev() {
                            values[points] = if plans[player][own][other][points - own] {
                                (passed(own) + (2..=6).map(|die| values[points + die]).sum::<f64>()) / 6.0
                            } else {
                                passed(points)
                            };
                        }
                        change = change.max((values[own] - turns[player][own][other]).abs());
                        turns[player][own][other] = values[own];
                    }
                }
            }
            if change < 1e-10 {
                return [turns[0][0][0], 1.0 - turns[1][0][0]];
            }
        }
    }

    fn throw(&self, own: usize, other: usize, running: usize, decided: &[f64]) -> f64 {
        let lost = 1.0 - self.turn[other][own];
        (lost + (2..=6).map(|die| decided[own + running + die]).sum::<f64>()) / 6.0
    }

    fn hold(&self, own: usize, other: usize, running: usize) -> f64 {
        1.0 - self.turn[other][own + running]
    }
}

/// Pig with the first seat to decide at these points, of which none is 1, which cannot be thrown.
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
    fn bank(pig: &mut Pig, points: u16) {
        if points == 0 {
            return pig.resolve(Outcome(1)).expect("a throw");
        }
        gather(pig, points);
        pig.apply(HOLD).expect("a choice");
    }
    let mut pig = Pig::new();
    bank(&mut pig, first);
    bank(&mut pig, second);
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
