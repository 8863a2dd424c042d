//! Pig (Scarne 1945): roll a die as often as you dare; a 1 loses the turn's points, holding banks them.
//!
//! Published fact used in tests of searches: with the best play on both sides the first player wins with probability
//! 0.5306 (Neller and Presser, *Optimal Play of the Dice Game Pig*, 2004).

use std::fmt;

use ndarray::ArrayViewMut1;

use crate::chance::D6;
use crate::encode::{ActionRows, Channel, Encoder, Layout, PolicyEncoder, Tokens};
use crate::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, Outcome, Position, RollKey, Seat, WeightedOutcome,
};

/// Points that win.
pub const TARGET: u8 = 100;
/// The action of throwing again, written `roll`.
pub const ROLL: Action = Action(0);
/// The action of banking the turn's points, written `hold`.
pub const HOLD: Action = Action(1);

/// A position of pig, 5 bytes.
///
/// The first throw of a turn is not a choice, and a turn whose points reach the target is banked at once because
/// throwing on could only lose: both leave the value of the game as it is and keep the space of positions finite.
/// A position does not remember how many turns were played, so that equal scores are equal positions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pig {
    banked: [u8; 2],
    /// Points of the running turn, 0 before its first throw.
    running: u8,
    seat: Seat,
    roll_due: bool,
}

impl Pig {
    /// Nothing banked, the first seat to throw.
    pub fn new() -> Pig {
        Pig { banked: [0; 2], running: 0, seat: Seat::First, roll_due: true }
    }

    /// Points that `seat` has banked, 0 to 105.
    pub fn banked(&self, seat: Seat) -> u8 {
        self.banked[seat.index()]
    }

    /// Points of the running turn, 0 to 99.
    pub fn running(&self) -> u8 {
        self.running
    }

    /// Whose turn it is; the winner once the game is over.
    pub fn turn_of(&self) -> Seat {
        self.seat
    }

    #[inline]
    fn finished(&self) -> bool {
        self.banked[self.seat.index()] >= TARGET
    }

    /// Passes the turn if `over` is 1, and does nothing if it is 0: by arithmetic, as a branch on what random players and
    /// dice do is mispredicted again and again.
    #[inline]
    fn pass_turn_if(&mut self, over: u8) {
        self.running *= 1 - over;
        self.seat = Seat::BOTH[self.seat.index() ^ usize::from(over)];
    }
}

impl Default for Pig {
    fn default() -> Self {
        Pig::new()
    }
}

impl fmt::Display for Pig {
    /// The scores and what the running turn adds: `banked of 100: first 23, second 40; 12 more if first holds`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scores = Seat::BOTH.map(|seat| format!("{} {}", Pig::seat_name(seat), self.banked(seat)));
        write!(f, "banked of {TARGET}: {}", scores.join(", "))?;
        match self.running {
            0 => Ok(()),
            points => write!(f, "; {points} more if {} holds", Pig::seat_name(self.seat)),
        }
    }
}

impl Position for Pig {
    const ACTIONS: usize = 2;
    /// Pig has no bound but ends with probability 1; a turn gains 2 points or more with probability 5/6 and more
    /// whatever the players do, so a game of this length is out of the question.
    const MAX_DECISIONS: usize = 100_000;

    fn identity(&self) -> GameIdentity {
        GameIdentity {
            game: "pig".to_string(),
            rules_version: 1,
            rules_hash: format!("{:016x}", xxhash_rust::xxh3::xxh3_64(b"target 100, one die, 1 loses the turn")),
            scenario: String::new(),
        }
    }

    fn seat_name(seat: Seat) -> &'static str {
        match seat {
            Seat::First => "first",
            Seat::Second => "second",
        }
    }

    #[inline]
    fn actor(&self) -> Actor {
        if self.roll_due {
            Actor::Chance
        } else if self.finished() {
            Actor::Finished
        } else {
            Actor::Player(self.seat)
        }
    }

    #[inline]
    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        actions.clear();
        if matches!(self.actor(), Actor::Player(_)) {
            actions.extend_from_slice(&[ROLL, HOLD]);
        }
    }

    #[inline]
    fn is_legal(&self, action: Action) -> bool {
        !self.roll_due && !self.finished() && (action == ROLL || action == HOLD)
    }

    #[inline]
    fn apply_legal(&mut self, action: Action) {
        debug_assert!(self.is_legal(action));
        let held = u8::from(action == HOLD);
        self.banked[self.seat.index()] += self.running * held;
        self.pass_turn_if(held);
        self.roll_due = true;
    }

    #[inline]
    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        outcomes.clear();
        if self.roll_due {
            outcomes.extend_from_slice(&D6);
        }
    }

    #[inline]
    fn chance_total(&self) -> u32 {
        if self.roll_due { 6 } else { 0 }
    }

    /// The seat alone: paired games share the n-th throw of each seat.
    #[inline]
    fn roll_key(&self) -> RollKey {
        RollKey(self.seat.index() as u64)
    }

    #[inline]
    fn resolve_possible(&mut self, outcome: Outcome) {
        debug_assert!(self.roll_due && (1..=6).contains(&outcome.0));
        let lost = outcome.0 == 1;
        self.roll_due = lost;
        self.running += outcome.0 as u8;
        self.pass_turn_if(u8::from(lost));
        // After a loss this is the other player's score, which is below the target.
        let seat = self.seat.index();
        if self.banked[seat] + self.running >= TARGET {
            self.banked[seat] += self.running;
            self.running = 0;
        }
    }

    /// The margin is the difference of the scores, no score counting beyond the target, over the target.
    #[inline]
    fn result(&self) -> Option<GameResult> {
        if self.actor() != Actor::Finished {
            return None;
        }
        let points = self.banked.map(|banked| f32::from(banked.min(TARGET)));
        Some(GameResult { winner: Some(self.seat), margin: (points[0] - points[1]) / f32::from(TARGET) })
    }

    /// Always 0: see [`Pig::counts_turns`].
    #[inline]
    fn turn(&self) -> u32 {
        0
    }

    /// No: with the number of the turn no position would come back, and there would be no end of them.
    fn counts_turns(&self) -> bool {
        false
    }

    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&[
            self.banked[0],
            self.banked[1],
            self.running,
            self.seat.index() as u8,
            u8::from(self.roll_due),
        ]);
    }

    fn action_text(&self, action: Action) -> String {
        if action == ROLL { "roll" } else { "hold" }.to_string()
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        let refused = |reason: &str| IllegalMove::NotLegal { action: text.to_string(), reason: reason.to_string() };
        let action = match text {
            "roll" => ROLL,
            "hold" => HOLD,
            _ => return Err(refused("expected `roll` or `hold`")),
        };
        if self.is_legal(action) { Ok(action) } else { Err(refused("no player is to act")) }
    }

    fn pending_text(&self) -> String {
        match self.actor() {
            Actor::Player(seat) => format!("roll or hold for {} at {}", Pig::seat_name(seat), self.running),
            Actor::Chance => format!("throw of {}", Pig::seat_name(self.seat)),
            Actor::Finished => "finished".to_string(),
        }
    }

    fn pending_kind(&self) -> &'static str {
        match self.actor() {
            Actor::Player(_) => "roll-or-hold",
            Actor::Chance => "throw",
            Actor::Finished => "finished",
        }
    }
}

/// Globals `[5]`: the scores and the points of the running turn in parts of the target, whose turn it is, and whether a
/// throw is due.
#[derive(Clone, Debug)]
pub struct PigGlobals {
    layout: Layout,
}

impl PigGlobals {
    /// The encoder.
    pub fn new() -> PigGlobals {
        // The last throw can take a score to 99 + 6.
        let highest = 105.0 / f32::from(TARGET);
        let globals = Some(vec![
            Channel::new("own score", "targets", 0.0, highest),
            Channel::new("opponent's score", "targets", 0.0, highest),
            Channel::new("points of the turn", "targets", 0.0, 1.0),
            Channel::flag("own turn"),
            Channel::flag("throw due"),
        ]);
        PigGlobals { layout: Layout { globals, ..Layout::default() } }
    }
}

impl Default for PigGlobals {
    fn default() -> Self {
        PigGlobals::new()
    }
}

impl Encoder<Pig> for PigGlobals {
    fn name(&self) -> &'static str {
        "pig-globals"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_globals(&self, position: &Pig, view: Seat, mut globals: ArrayViewMut1<'_, f32>) {
        let target = f32::from(TARGET);
        globals[0] = f32::from(position.banked(view)) / target;
        globals[1] = f32::from(position.banked(view.other())) / target;
        globals[2] = f32::from(position.running) / target;
        globals[3] = f32::from(u8::from(position.seat == view));
        globals[4] = f32::from(u8::from(position.roll_due));
    }
}

/// For policies over the legal actions: one token for each player, `[2, 3]`, the viewer's first, and globals `[2]`. Both
/// actions name the token of the player who throws.
#[derive(Clone, Debug)]
pub struct PigPlayers {
    layout: Layout,
    actions: Vec<Channel>,
}

impl PigPlayers {
    /// The encoder.
    pub fn new() -> PigPlayers {
        // The last throw can take a score to 99 + 6.
        let highest = 105.0 / f32::from(TARGET);
        let tokens = vec![
            Channel::flag("own"),
            Channel::new("score", "targets", 0.0, highest),
            Channel::new("points of the turn", "targets", 0.0, 1.0),
        ];
        let globals = vec![Channel::flag("own turn"), Channel::flag("throw due")];
        PigPlayers {
            layout: Layout { tokens: Some(tokens), globals: Some(globals), planes: None },
            actions: vec![
                Channel::flag("roll"),
                Channel::flag("hold"),
                Channel::new("score if held", "targets", 0.0, 1.0),
            ],
        }
    }
}

impl Default for PigPlayers {
    fn default() -> Self {
        PigPlayers::new()
    }
}

impl Encoder<Pig> for PigPlayers {
    fn name(&self) -> &'static str {
        "pig-players"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_tokens(&self, position: &Pig, view: Seat, tokens: &mut Tokens) {
        for seat in [view, view.other()] {
            let token = tokens.push();
            token[0] = f32::from(u8::from(seat == view));
            token[1] = f32::from(position.banked(seat)) / f32::from(TARGET);
            if position.seat == seat {
                token[2] = f32::from(position.running) / f32::from(TARGET);
            }
        }
    }

    fn encode_globals(&self, position: &Pig, view: Seat, mut globals: ArrayViewMut1<'_, f32>) {
        globals[0] = f32::from(u8::from(position.seat == view));
        globals[1] = f32::from(u8::from(position.roll_due));
    }
}

impl PolicyEncoder<Pig> for PigPlayers {
    fn named(&self, name: &str) -> Option<PigPlayers> {
        (name == self.name()).then(|| self.clone())
    }

    fn token_groups(&self) -> usize {
        2
    }

    fn group_tokens(&self, tokens: &Tokens, groups: &mut Vec<u8>) {
        groups.extend(0..tokens.len() as u8);
    }

    fn action_layout(&self) -> &[Channel] {
        &self.actions
    }

    fn encode_actions(&self, position: &Pig, view: Seat, legal: &[Action], rows: &mut ActionRows) {
        let thrower = u32::from(position.seat != view);
        let held = f32::from(position.banked(position.seat) + position.running) / f32::from(TARGET);
        for &action in legal {
            let row = rows.push([Some(thrower), None]);
            row[action.index()] = 1.0;
            row[2] = if action == HOLD { held } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throw(position: &mut Pig, face: u16) {
        position.resolve(Outcome(face)).expect("a roll is due");
    }

    #[test]
    fn a_one_loses_the_points_of_the_turn_and_the_turn() {
        let mut position = Pig::new();
        throw(&mut position, 6);
        position.apply(ROLL).expect("legal");
        throw(&mut position, 1);
        assert_eq!((position.banked(Seat::First), position.running()), (0, 0));
        assert_eq!((position.turn_of(), position.actor()), (Seat::Second, Actor::Chance));
    }

    #[test]
    fn a_position_is_told_in_one_line() {
        let mut position = Pig::new();
        assert_eq!(position.to_string(), "banked of 100: first 0, second 0");
        throw(&mut position, 6);
        position.apply(ROLL).expect("legal");
        throw(&mut position, 3);
        assert_eq!(position.to_string(), "banked of 100: first 0, second 0; 9 more if first holds");
        position.apply(HOLD).expect("legal");
        throw(&mut position, 5);
        assert_eq!(position.to_string(), "banked of 100: first 9, second 0; 5 more if second holds");
    }

    #[test]
    fn holding_banks_the_points() {
        let mut position = Pig::new();
        throw(&mut position, 6);
        position.apply(ROLL).expect("legal");
        throw(&mut position, 3);
        position.apply(HOLD).expect("legal");
        assert_eq!(position.banked(Seat::First), 9);
        assert_eq!(position.turn_of(), Seat::Second);
    }

    #[test]
    fn reaching_the_target_wins() {
        let mut position = Pig::new();
        // 16 turns of 6 points make 96 for the first seat; the second loses each turn.
        for _ in 0..16 {
            throw(&mut position, 6);
            position.apply(HOLD).expect("legal");
            throw(&mut position, 1);
        }
        assert_eq!(position.banked(Seat::First), 96);
        throw(&mut position, 4);
        assert_eq!(position.result(), Some(GameResult { winner: Some(Seat::First), margin: 1.0 }));
        assert!(position.apply(ROLL).is_err());
        assert!(position.resolve(Outcome(3)).is_err());
    }

    #[test]
    fn a_die_has_no_seven() {
        let mut position = Pig::new();
        for face in [0, 7] {
            assert!(matches!(position.resolve(Outcome(face)), Err(IllegalMove::NotARoll { .. })));
        }
        assert_eq!(position, Pig::new());
    }
}
