//! A small game of one decision and one roll, and perhaps one more decision: its exact values are weighted means.

use std::sync::Arc;

use dervish_env::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, Outcome, Position, RollKey, Seat, WeightedOutcome,
};

use crate::toy_game;

/// One outcome of a lottery.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Prize {
    /// How many of the equally likely throws give it.
    pub weight: u32,
    /// 1 where the first seat wins, -1 where it loses, 0 for a draw: one ends the game, among several a player chooses.
    pub results: Vec<i8>,
}

/// A player chooses one of the lotteries, a roll one of its prizes, and the one who answers one of its results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LotteryGame {
    lotteries: Arc<[Vec<Prize>]>,
    chooses: Seat,
    answers: Seat,
    lottery: Option<u8>,
    prize: Option<u8>,
    result: Option<i8>,
}

impl LotteryGame {
    /// The game of at most as many lotteries, and results of a prize, as it has actions.
    pub fn new(lotteries: Vec<Vec<Prize>>, chooses: Seat, answers: Seat) -> LotteryGame {
        LotteryGame { lotteries: lotteries.into(), chooses, answers, lottery: None, prize: None, result: None }
    }

    /// What the first seat may expect of a lottery.
    pub fn value(&self, action: Action) -> f64 {
        let lottery = &self.lotteries[action.index()];
        let worth = |prize: &Prize| {
            let results = prize.results.iter().copied();
            let result = if self.answers == Seat::First { results.max() } else { results.min() };
            i64::from(prize.weight) * i64::from(result.expect("a prize has a result"))
        };
        let total: i64 = lottery.iter().map(|prize| i64::from(prize.weight)).sum();
        lottery.iter().map(worth).sum::<i64>() as f64 / total as f64
    }

    /// The lottery that was chosen.
    fn chosen(&self) -> &[Prize] {
        match self.lottery {
            Some(lottery) => &self.lotteries[usize::from(lottery)],
            None => &[],
        }
    }

    /// How many actions there are.
    fn choices(&self) -> usize {
        match (self.lottery, self.prize, self.result) {
            (None, _, _) => self.lotteries.len(),
            (_, Some(prize), None) => self.chosen()[usize::from(prize)].results.len(),
            _ => 0,
        }
    }
}

impl Position for LotteryGame {
    const ACTIONS: usize = 16;
    const MAX_DECISIONS: usize = 2;

    fn identity(&self) -> GameIdentity {
        toy_game::identity("lotteries")
    }

    fn seat_name(seat: Seat) -> &'static str {
        toy_game::seat_name(seat)
    }

    fn actor(&self) -> Actor {
        match (self.lottery, self.prize, self.result) {
            (_, _, Some(_)) => Actor::Finished,
            (_, Some(_), None) => Actor::Player(self.answers),
            (Some(_), None, None) => Actor::Chance,
            (None, None, None) => Actor::Player(self.chooses),
        }
    }

    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        actions.clear();
        actions.extend((0..self.choices() as u16).map(Action));
    }

    fn is_legal(&self, action: Action) -> bool {
        action.index() < self.choices()
    }

    fn apply_legal(&mut self, action: Action) {
        match self.prize {
            Some(prize) => self.result = Some(self.chosen()[usize::from(prize)].results[action.index()]),
            None => self.lottery = Some(action.0 as u8),
        }
    }

    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        outcomes.clear();
        if self.actor() == Actor::Chance {
            let prizes = self.chosen().iter().enumerate();
            outcomes
                .extend(prizes.map(|(n, prize)| WeightedOutcome { outcome: Outcome(n as u16), weight: prize.weight }));
        }
    }

    fn chance_total(&self) -> u32 {
        if self.actor() == Actor::Chance { self.chosen().iter().map(|prize| prize.weight).sum() } else { 0 }
    }

    fn roll_key(&self) -> RollKey {
        RollKey(0)
    }

    fn resolve_possible(&mut self, outcome: Outcome) {
        self.prize = Some(outcome.0 as u8);
        self.result = match self.chosen()[usize::from(outcome.0)].results[..] {
            [only] => Some(only),
            _ => None,
        };
    }

    fn result(&self) -> Option<GameResult> {
        self.result.map(|result| {
            let winner = match result {
                1 => Some(Seat::First),
                -1 => Some(Seat::Second),
                _ => None,
            };
            GameResult { winner, margin: f32::from(result) }
        })
    }

    fn turn(&self) -> u32 {
        0
    }

    fn counts_turns(&self) -> bool {
        false
    }

    /// The lotteries too, so that games of different ones do not share positions.
    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        let step = |of: Option<u8>| of.unwrap_or(u8::MAX);
        bytes.extend([self.chooses as u8, self.answers as u8, step(self.lottery), step(self.prize)]);
        bytes.push(self.result.map_or(u8::MAX, |result| (result + 1) as u8));
        for lottery in self.lotteries.iter() {
            bytes.push(lottery.len() as u8);
            for prize in lottery {
                bytes.extend(prize.weight.to_le_bytes());
                bytes.push(prize.results.len() as u8);
                bytes.extend(prize.results.iter().map(|&result| (result + 1) as u8));
            }
        }
    }

    fn action_text(&self, action: Action) -> String {
        format!("choose {}", action.0)
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        toy_game::parse_action(self, text)
    }

    fn pending_text(&self) -> String {
        format!("{:?}", self.actor())
    }

    fn pending_kind(&self) -> &'static str {
        match self.actor() {
            Actor::Player(_) => "choice",
            Actor::Chance => "prize",
            Actor::Finished => "finished",
        }
    }
}
