//! Connect four (Wexler and Strongin 1974) on the usual board of seven columns and six rows; no dice.
//!
//! Published facts used in tests: the counts of its game tree, and that the first player wins by the middle column
//! (Allen 1988; Allis 1988).

use std::fmt;

use ndarray::ArrayViewMut1;

use crate::encode::{ActionRows, Channel, Encoder, Layout, PlaneLayout, PlaneWriter, PolicyEncoder, Tokens};
use crate::game::{
    Action, Actor, GameIdentity, GameResult, IllegalMove, Outcome, Position, RollKey, Seat, WeightedOutcome,
};

/// A position of connect four, 24 bytes.
///
/// Bit `7 * column + row` of a seat's board is its stone in that cell, rows from the bottom; the seventh bit of each
/// column stays empty and keeps lines from running from one column into the next.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ConnectFour {
    stones: [u64; 2],
    plies: u8,
    /// Whether the player of the last stone has four in a row.
    won: bool,
}

/// Columns of the board; action `c` drops a stone into column `c`, written `drop 1` to `drop 7`.
pub const COLUMNS: usize = 7;
/// Rows of the board.
pub const ROWS: usize = 6;

/// Bits from one column to the next.
const STRIDE: usize = ROWS + 1;

impl ConnectFour {
    /// The empty board, first seat to move.
    pub fn new() -> ConnectFour {
        ConnectFour { stones: [0; 2], plies: 0, won: false }
    }

    /// The position after stones in these columns, one after another: the digits 1 to 7, as in `4435`.
    ///
    /// # Errors
    /// [`IllegalMove`] for another character, a full column, or a stone after the end of the game.
    pub fn after(columns: &str) -> Result<ConnectFour, IllegalMove> {
        let mut position = ConnectFour::new();
        for column in columns.chars() {
            let action = position.parse_action(&format!("drop {column}"))?;
            position.apply(action)?;
        }
        Ok(position)
    }

    /// Whose stone lies in a cell; columns from the left and rows from the bottom, both from 0. `None` too for a cell
    /// off the board.
    pub fn stone(&self, column: usize, row: usize) -> Option<Seat> {
        if column >= COLUMNS || row >= ROWS {
            return None;
        }
        let bit = 1 << (STRIDE * column + row);
        Seat::BOTH.into_iter().find(|seat| self.stones[seat.index()] & bit != 0)
    }

    #[inline]
    fn to_move(&self) -> Seat {
        if self.plies & 1 == 0 { Seat::First } else { Seat::Second }
    }

    #[inline]
    fn finished(&self) -> bool {
        self.won || usize::from(self.plies) == COLUMNS * ROWS
    }
}

/// Whether a board holds four in a row: upright, level, or along either diagonal.
#[inline]
fn has_four(stones: u64) -> bool {
    [1, STRIDE, STRIDE - 1, STRIDE + 1].into_iter().any(|step| {
        let pairs = stones & (stones >> step);
        pairs & (pairs >> (2 * step)) != 0
    })
}

impl Default for ConnectFour {
    fn default() -> Self {
        ConnectFour::new()
    }
}

impl Position for ConnectFour {
    const ACTIONS: usize = COLUMNS;
    const MAX_DECISIONS: usize = COLUMNS * ROWS;

    fn identity(&self) -> GameIdentity {
        GameIdentity {
            game: "connect-four".to_string(),
            rules_version: 1,
            rules_hash: format!("{:016x}", xxhash_rust::xxh3::xxh3_64(b"7 columns, 6 rows, 4 in a row")),
            scenario: String::new(),
        }
    }

    fn seat_name(seat: Seat) -> &'static str {
        match seat {
            Seat::First => "yellow",
            Seat::Second => "red",
        }
    }

    #[inline]
    fn actor(&self) -> Actor {
        if self.finished() { Actor::Finished } else { Actor::Player(self.to_move()) }
    }

    #[inline]
    fn legal_actions_into(&self, actions: &mut Vec<Action>) {
        actions.clear();
        if self.finished() {
            return;
        }
        // A column has room while its highest cell is free. All are written, in place, and those without room written over:
        // a branch would be mispredicted, and a copy from an array waits for the short writes before it.
        actions.resize(COLUMNS, Action(0));
        let mut count = 0;
        let taken = self.stones[0] | self.stones[1];
        for column in 0..COLUMNS {
            actions[count] = Action(column as u16);
            count += usize::from((taken >> (STRIDE * column + ROWS - 1)) & 1 == 0);
        }
        actions.truncate(count);
    }

    #[inline]
    fn is_legal(&self, action: Action) -> bool {
        let column = action.index();
        let column_mask = (1u64 << ROWS) - 1;
        !self.finished()
            && column < COLUMNS
            && ((self.stones[0] | self.stones[1]) >> (STRIDE * column)) & column_mask != column_mask
    }

    #[inline]
    fn apply_legal(&mut self, action: Action) {
        debug_assert!(self.is_legal(action));
        let bottom = 1u64 << (STRIDE * action.index());
        let taken = self.stones[0] | self.stones[1];
        let column = taken & (bottom * ((1 << ROWS) - 1));
        // Adding the bottom bit to a filled run of bits carries into the first free cell.
        let stone = column + bottom;
        let mover = self.to_move().index();
        self.stones[mover] |= stone & !column & (bottom * ((1 << ROWS) - 1));
        self.plies += 1;
        self.won = has_four(self.stones[mover]);
    }

    fn chance_outcomes_into(&self, outcomes: &mut Vec<WeightedOutcome>) {
        outcomes.clear();
    }

    fn chance_total(&self) -> u32 {
        0
    }

    fn roll_key(&self) -> RollKey {
        RollKey(0)
    }

    fn resolve_possible(&mut self, _outcome: Outcome) {
        debug_assert!(false, "connect four has no dice");
    }

    #[inline]
    fn result(&self) -> Option<GameResult> {
        if self.won {
            let winner = self.to_move().other();
            let margin = if winner == Seat::First { 1.0 } else { -1.0 };
            Some(GameResult { winner: Some(winner), margin })
        } else if self.finished() {
            Some(GameResult { winner: None, margin: 0.0 })
        } else {
            None
        }
    }

    fn turn(&self) -> u32 {
        u32::from(self.plies)
    }

    fn write_bytes(&self, bytes: &mut Vec<u8>) {
        // The number of stones and the win follow from the boards.
        for board in self.stones {
            bytes.extend_from_slice(&board.to_le_bytes());
        }
    }

    fn action_text(&self, action: Action) -> String {
        format!("drop {}", action.0 + 1)
    }

    fn parse_action(&self, text: &str) -> Result<Action, IllegalMove> {
        let refused = |reason: &str| IllegalMove::NotLegal { action: text.to_string(), reason: reason.to_string() };
        let column = match text.strip_prefix("drop ").map(str::as_bytes) {
            Some(&[digit @ b'1'..=b'7']) => u16::from(digit - b'1'),
            _ => return Err(refused("expected `drop 1` to `drop 7`")),
        };
        if self.finished() {
            return Err(refused("the game is over"));
        }
        if !self.is_legal(Action(column)) {
            return Err(refused("that column is full"));
        }
        Ok(Action(column))
    }

    fn pending_text(&self) -> String {
        match self.actor() {
            Actor::Player(seat) => format!("column for {}", ConnectFour::seat_name(seat)),
            _ => "finished".to_string(),
        }
    }

    fn pending_kind(&self) -> &'static str {
        if self.finished() { "finished" } else { "column" }
    }
}

impl fmt::Debug for ConnectFour {
    /// The board from the top row down: `X` for the first seat, `O` for the second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in (0..ROWS).rev() {
            for column in 0..COLUMNS {
                f.write_str(match self.stone(column, row) {
                    Some(Seat::First) => "X",
                    Some(Seat::Second) => "O",
                    None => ".",
                })?;
            }
            writeln!(f)?;
        }
        write!(f, "{}", self.pending_text())
    }
}

/// Planes `[2, 6, 7]`: the viewer's stones and the opponent's, rows from the bottom.
#[derive(Clone, Debug)]
pub struct ConnectFourPlanes {
    layout: Layout,
}

impl ConnectFourPlanes {
    /// The encoder.
    pub fn new() -> ConnectFourPlanes {
        let channels = vec![Channel::flag("own stone"), Channel::flag("opponent's stone")];
        let planes = Some(PlaneLayout { channels, rows: ROWS, columns: COLUMNS });
        ConnectFourPlanes { layout: Layout { planes, ..Layout::default() } }
    }
}

impl Default for ConnectFourPlanes {
    fn default() -> Self {
        ConnectFourPlanes::new()
    }
}

impl Encoder<ConnectFour> for ConnectFourPlanes {
    fn name(&self) -> &'static str {
        "connect-four-planes"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_planes(&self, position: &ConnectFour, view: Seat, planes: &mut PlaneWriter<'_>) {
        for (plane, seat) in [view, view.other()].into_iter().enumerate() {
            let mut stones = position.stones[seat.index()];
            while stones != 0 {
                let bit = stones.trailing_zeros() as usize;
                planes.set(plane, bit % STRIDE, bit / STRIDE, 1.0);
                stones &= stones - 1;
            }
        }
    }
}

/// For policies over the legal actions: one token for each column from the left, `[7, 12]` (own stones, then the
/// opponent's, rows from the bottom), and globals `[2]`. An action names its column's token.
#[derive(Clone, Debug)]
pub struct ConnectFourColumns {
    layout: Layout,
    actions: Vec<Channel>,
}

impl ConnectFourColumns {
    /// The encoder.
    pub fn new() -> ConnectFourColumns {
        let column = ["own", "opponent's"]
            .into_iter()
            .flat_map(|whose| (1..=ROWS).map(move |row| Channel::flag(format!("{whose} stone in row {row}"))));
        let globals = vec![Channel::flag("own turn"), Channel::new("stones", "parts of the board", 0.0, 1.0)];
        ConnectFourColumns {
            layout: Layout { tokens: Some(column.collect()), globals: Some(globals), planes: None },
            actions: (1..=COLUMNS).map(|column| Channel::flag(format!("column {column}"))).collect(),
        }
    }
}

impl Default for ConnectFourColumns {
    fn default() -> Self {
        ConnectFourColumns::new()
    }
}

impl Encoder<ConnectFour> for ConnectFourColumns {
    fn name(&self) -> &'static str {
        "connect-four-columns"
    }

    fn version(&self) -> u32 {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn encode_tokens(&self, position: &ConnectFour, view: Seat, tokens: &mut Tokens) {
        for column in 0..COLUMNS {
            let token = tokens.push();
            for row in 0..ROWS {
                let stone = position.stone(column, row);
                token[row] = f32::from(u8::from(stone == Some(view)));
                token[ROWS + row] = f32::from(u8::from(stone == Some(view.other())));
            }
        }
    }

    fn encode_globals(&self, position: &ConnectFour, view: Seat, mut globals: ArrayViewMut1<'_, f32>) {
        globals[0] = f32::from(u8::from(position.actor() == Actor::Player(view)));
        globals[1] = f32::from(position.plies) / (COLUMNS * ROWS) as f32;
    }
}

impl PolicyEncoder<ConnectFour> for ConnectFourColumns {
    /// Each column is a group of its own, because columns do not stand for one another.
    fn named(&self, name: &str) -> Option<ConnectFourColumns> {
        (name == self.name()).then(|| self.clone())
    }

    fn token_groups(&self) -> usize {
        COLUMNS
    }

    fn group_tokens(&self, tokens: &Tokens, groups: &mut Vec<u8>) {
        groups.extend(0..tokens.len() as u8);
    }

    fn action_layout(&self) -> &[Channel] {
        &self.actions
    }

    fn encode_actions(&self, _position: &ConnectFour, _view: Seat, legal: &[Action], rows: &mut ActionRows) {
        for &action in legal {
            rows.push([Some(u32::from(action.0)), None])[action.index()] = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(columns: &str) -> ConnectFour {
        ConnectFour::after(columns).expect("legal columns")
    }

    #[test]
    fn four_in_a_row_wins_in_each_direction() {
        // Level, upright, rising and falling diagonal, drawn by hand.
        for (columns, winner) in [
            ("1122334", Seat::First),
            ("1212121", Seat::First),
            ("12233434474", Seat::First),
            ("76655454414", Seat::First),
            ("71122334", Seat::Second),
        ] {
            let position = play(columns);
            let result = position.result().expect("won");
            assert_eq!(result.winner, Some(winner), "{columns}\n{position:?}");
            assert_eq!(result.margin_for(winner), 1.0);
            assert_eq!(position.actor(), Actor::Finished);
        }
    }

    #[test]
    fn lines_do_not_run_from_a_column_into_the_next() {
        // Rows 4 to 6 of column 1 and row 1 of column 2 would be neighbours in memory without the spare bit.
        let position = play("13111315152");
        assert_eq!(position.result(), None, "{position:?}");
    }

    #[test]
    fn a_full_column_is_refused_and_nothing_changes() {
        let mut position = play("444444");
        let before = position.clone();
        assert!(!position.is_legal(Action(3)));
        assert!(matches!(position.apply(Action(3)), Err(IllegalMove::NotLegal { .. })));
        assert!(matches!(position.parse_action("drop 4"), Err(IllegalMove::NotLegal { .. })));
        assert_eq!(position, before);
    }

    #[test]
    fn a_full_board_without_a_line_is_a_draw() {
        let position = play("212121121212434343343434656565565656777777");
        assert_eq!(position.result(), Some(GameResult { winner: None, margin: 0.0 }), "{position:?}");
    }
}
