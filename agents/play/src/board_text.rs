//! Positions drawn in text.

use std::fmt::Write;

use dervish_env::dervish::Campaign;
use dervish_env::dervish::board::{Board, COLUMNS, Ground, Hex, PlaceKind, ROWS, Relief};
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::catalogue::{COMBAT, GUNBOATS, Kind, LAND, Side, TRAIN, VESSELS};
use dervish_env::dervish::order::Order;
use dervish_env::game::{Action, IllegalMove, Outcome, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{Pig, TARGET};

use crate::aim_text::{aim_of_campaign, points_of_campaign};
use crate::change_text::{change_of_campaign, roll_of_campaign};

/// A game that can be drawn in text.
pub trait BoardText: Position {
    /// The position as lines of text, around where something is pending.
    fn board_text(&self) -> String;

    /// How the game is won, and how it stands if that can be told, as lines of text.
    fn aim_text(&self) -> String;

    /// The points of both sides as things stand, such as `egyptian 3, mahdist 8`, if the game is won by points.
    fn points_text(&self) -> Option<String> {
        None
    }

    /// An action as the person who chooses it reads it: its notation, and what makes it clearer.
    fn choice_text(&self, action: Action) -> String {
        self.action_text(action)
    }

    /// Reads a legal action as [`BoardText::choice_text`] shows it, in capitals or small letters, or in plain notation.
    ///
    /// # Errors
    /// [`IllegalMove::NotLegal`] with what was expected.
    fn parse_choice(&self, text: &str) -> Result<Action, IllegalMove> {
        let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>();
        let wanted = words(text);
        let mut legal = Vec::new();
        self.legal_actions_into(&mut legal);
        let shown = legal.into_iter().find(|action| words(&self.choice_text(*action)) == wanted);
        shown.map_or_else(|| self.parse_action(text), Ok)
    }

    /// A roll that has fallen, and what makes it clearer; sentences stand on indented lines below.
    fn roll_text(&self, outcome: Outcome) -> String {
        outcome.0.to_string()
    }

    /// What has changed by `after`, beyond what an order or a roll says; empty if nothing has.
    fn change_text(&self, _after: &Self) -> String {
        String::new()
    }
}

impl BoardText for ConnectFour {
    fn board_text(&self) -> String {
        format!("{self:?}\n")
    }

    fn aim_text(&self) -> String {
        "Four stones of one colour in a row, across, up or aslant, win; a full board is a draw.\n".to_owned()
    }
}

impl BoardText for Pig {
    fn board_text(&self) -> String {
        format!("{self}\n")
    }

    fn aim_text(&self) -> String {
        format!("Whoever is the first to bank {TARGET} points wins.\n")
    }

    fn points_text(&self) -> Option<String> {
        Some(Seat::BOTH.map(|seat| format!("{} {}", Pig::seat_name(seat), self.banked(seat))).join(", "))
    }
}

/// Rows above and below the centre of the drawn map.
const HALF_HEIGHT: usize = 7;
/// Columns left and right of it.
const HALF_WIDTH: usize = 7;

impl BoardText for Campaign {
    /// Date, phase and score, the map around the action, the stacks on it, what is still to be set up.
    fn board_text(&self) -> String {
        let centre = focus(self);
        let mut text = String::new();
        let scenario = self.scenario();
        let turn = self.game_turn();
        // Set-up comes before the first player turn, whosever that is.
        let player = if self.phase() == Phase::Setup { self.decider() } else { self.active() };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}: game turn {} of {}, {}-{:02}, {} player, {:?} phase; eliminated: Egyptian {}, Mahdist {}",
            scenario.title,
            turn + 1,
            scenario.turns,
            scenario.year(turn),
            scenario.month(turn),
            player.id(),
            self.phase(),
            self.eliminated(Side::Egyptian),
            self.eliminated(Side::Mahdist),
        );
        let rows = centre.row().saturating_sub(HALF_HEIGHT)..(centre.row() + HALF_HEIGHT + 1).min(ROWS);
        let first = centre.column().saturating_sub(HALF_WIDTH);
        let columns = first..(centre.column() + HALF_WIDTH + 1).min(COLUMNS);
        let _ = write!(text, "     ");
        for column in columns.clone() {
            let _ = write!(text, "{column:02}    ");
        }
        text.push('\n');
        let mut shown = Vec::new();
        for row in rows {
            let _ = write!(text, "{row:02} {}", if row % 2 == 1 { "   " } else { "" });
            for column in columns.clone() {
                let hex = Hex::at(column, row);
                let (open, close) = if hex == centre { ('[', ']') } else { (' ', ' ') };
                let _ = write!(text, "{open}{:4}{close}", cell_text(self, hex));
                if self.units().at(hex).iter().any(|c| LAND.has(c.kind()) || VESSELS.has(c.kind())) {
                    shown.push(hex);
                }
            }
            text.push('\n');
        }
        text.push_str(
            "ground . clear - desert + cultivated h hills m mountain ~ sea   place T town V village O oasis   \
             stack E/M and its land units, ! disrupted, * leader, g gunboat   [ ] where something is asked\n\
             a hex is its column and row: 4606 is column 46, row 06; rivers are not drawn\n",
        );
        for hex in shown {
            let _ = writeln!(text, "  {}", stack_text(self, hex));
        }
        let (units, leaders) = self.left_to_set_up();
        let units = units.iter().map(|(kind, count)| format!("{count} {}", kind.id()));
        let left: Vec<String> = units.chain(leaders.iter().map(|leader| leader.id().to_string())).collect();
        if !left.is_empty() {
            let _ = writeln!(text, "still to be placed: {}", left.join(", "));
        }
        text
    }

    fn aim_text(&self) -> String {
        aim_of_campaign(self)
    }

    fn points_text(&self) -> Option<String> {
        points_of_campaign(self)
    }

    fn roll_text(&self, outcome: Outcome) -> String {
        roll_of_campaign(self, outcome)
    }

    fn change_text(&self, after: &Campaign) -> String {
        change_of_campaign(self, after)
    }

    /// With the name of the place in the hex that is chosen; of no units, that it is none.
    fn choice_text(&self, action: Action) -> String {
        let text = self.action_text(action);
        match Order::of(action) {
            Some(Order::Hex(hex)) => match self.scenario().board.place_at(hex) {
                Some(place) => format!("{text} ({})", place.name),
                None => text,
            },
            Some(Order::Count(0)) => format!("{text} (none)"),
            _ => text,
        }
    }
}

/// Four characters for a hex: ground, place, stack.
fn cell_text(position: &Campaign, hex: Hex) -> String {
    let board: &Board = &position.scenario().board;
    let cell = board.cell(hex);
    if cell.ground == Ground::Off {
        return String::new();
    }
    let place = match board.place_kind(hex) {
        Some(PlaceKind::Town) => Some('T'),
        Some(PlaceKind::Village) => Some('V'),
        Some(PlaceKind::Oasis) => Some('O'),
        None => None,
    };
    let ground = match (cell.ground, cell.relief) {
        (Ground::Sea, _) => '~',
        (_, Relief::Hills) => 'h',
        (_, Relief::Mountain) => 'm',
        (Ground::Desert, _) => '-',
        (Ground::Cultivated, _) => '+',
        _ => '.',
    };
    let mut text = String::from(place.unwrap_or(ground));
    for side in Side::BOTH {
        let force = position.units().force(hex, side, |_| true);
        let units = force.count_of(LAND);
        if units > 0 {
            let _ = write!(text, "{}{units}", if side == Side::Egyptian { 'E' } else { 'M' });
            if force.disrupted_of(LAND) > 0 && text.len() < 4 {
                text.push('!');
            }
        }
        if force.count_of(GUNBOATS) > 0 && text.len() < 4 {
            text.push('g');
        }
        if position.has_leader(hex, side) && text.len() < 4 {
            text.push('*');
        }
    }
    text
}

/// One line for the stacks of a hex.
fn stack_text(position: &Campaign, hex: Hex) -> String {
    let mut names = Vec::new();
    for cohort in position.units().at(hex) {
        names.push(format!(
            "{} {}{}{}",
            cohort.count(),
            cohort.kind().id(),
            if cohort.disrupted() { " disrupted" } else { "" },
            if cohort.grouped() { " in the group" } else { "" },
        ));
    }
    for side in Side::BOTH {
        names.extend(position.leaders_at(hex, side).map(|leader| leader.id().to_string()));
    }
    format!("{}: {}", position.place_text(hex), names.join(", "))
}

/// Where the action is: the hex that is asked about, else the group, else the largest stack of who acts; before he has
/// one, the middle of the hexes that he can choose.
fn focus(position: &Campaign) -> Hex {
    let pending = position.pending().hex;
    if pending.is_some() {
        return pending;
    }
    if position.group().hex.is_some() {
        return position.group().hex;
    }
    let side = position.decider();
    let weight = |kind: Kind| if COMBAT.has(kind) { 2 } else { u32::from(TRAIN.has(kind)) };
    let largest = position
        .units()
        .as_slice()
        .iter()
        .filter(|c| c.side() == side)
        .max_by_key(|c| (weight(c.kind()) * u32::from(c.count()), std::cmp::Reverse(c.hex())));
    if let Some(cohort) = largest {
        return cohort.hex();
    }
    let mut legal = Vec::new();
    position.legal_actions_into(&mut legal);
    let hexes = legal.into_iter().filter_map(|action| match Order::of(action) {
        Some(Order::Hex(hex)) => Some(hex),
        _ => None,
    });
    let hexes: Vec<Hex> = hexes.collect();
    let middle = |sum: usize, all: usize| sum.checked_div(hexes.len()).unwrap_or(all / 2);
    Hex::at(
        middle(hexes.iter().map(|hex| hex.column()).sum(), COLUMNS),
        middle(hexes.iter().map(|hex| hex.row()).sum(), ROWS),
    )
}
