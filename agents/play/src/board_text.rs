//! Positions as people read them: drawn, with what they may ask of them, and what orders and rolls mean.

use dervish_agents::agent::Event;
use dervish_env::dervish::Campaign;
use dervish_env::dervish::campaign::Phase;
use dervish_env::dervish::order::Order;
use dervish_env::game::{Action, IllegalMove, Outcome, Position, Seat};
use dervish_env::reference::connect_four::ConnectFour;
use dervish_env::reference::pig::{Pig, TARGET};

use crate::aim_text::{aim_of_campaign, points_of_campaign};
use crate::change_text::{change_of_campaign, roll_of_campaign};
use crate::inquiry_text::{QUESTIONS, answer_of_campaign, odds_of_campaign};
use crate::map_text::{board_of_campaign, turn_of_campaign};

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

    /// Which turn it is and whose, such as `game turn 2 of 5, 1884-03, mahdist player`: the same throughout a turn. `None` where
    /// turns are not told.
    fn turn_text(&self) -> Option<String> {
        None
    }

    /// Which questions [`BoardText::answer_text`] answers, as lines of text; empty if none.
    fn questions_text() -> &'static str {
        ""
    }

    /// The answer to a question about the position, in capitals or small letters, as lines of text; `None` if it is none of
    /// those that the game knows.
    fn answer_text(&self, _question: &str) -> Option<String> {
        None
    }

    /// The chances of the actions at hand, as lines of text, where they can be worked out and are worth telling; else empty.
    fn odds_text(&self) -> String {
        String::new()
    }

    /// The number of an action that stands for one: how many. A list in which every action has one is numbered by it.
    fn count_of(&self, _action: Action) -> Option<usize> {
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

    /// A roll that has fallen, beginning with its number, and what makes it clearer; sentences stand on indented lines below.
    fn roll_text(&self, outcome: Outcome) -> String {
        outcome.0.to_string()
    }

    /// What has changed by `after`, beyond what an order or a roll says; empty if nothing has. All lines but the first are
    /// indented.
    fn change_text(&self, _after: &Self) -> String {
        String::new()
    }

    /// The orders that are taken by themselves after an event, because there is no other, in notation and in order.
    fn forced_texts(&self, _event: Event) -> Vec<String> {
        Vec::new()
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

impl BoardText for Campaign {
    fn board_text(&self) -> String {
        board_of_campaign(self)
    }

    fn aim_text(&self) -> String {
        aim_of_campaign(self)
    }

    fn points_text(&self) -> Option<String> {
        points_of_campaign(self)
    }

    fn turn_text(&self) -> Option<String> {
        let set_up = if self.phase() == Phase::Setup { ", set-up" } else { "" };
        Some(format!("{}{set_up}", turn_of_campaign(self)))
    }

    fn questions_text() -> &'static str {
        QUESTIONS
    }

    fn answer_text(&self, question: &str) -> Option<String> {
        answer_of_campaign(self, question)
    }

    fn odds_text(&self) -> String {
        odds_of_campaign(self)
    }

    fn count_of(&self, action: Action) -> Option<usize> {
        match Order::of(action) {
            Some(Order::Count(count)) => Some(usize::from(count)),
            _ => None,
        }
    }

    fn roll_text(&self, outcome: Outcome) -> String {
        roll_of_campaign(self, outcome)
    }

    fn change_text(&self, after: &Campaign) -> String {
        change_of_campaign(self, after)
    }

    fn forced_texts(&self, event: Event) -> Vec<String> {
        let (mut after, mut forced) = (*self, Vec::new());
        match event {
            Event::Played(_, action) => after.apply_telling(action, &mut forced),
            Event::Rolled(outcome) => after.resolve_telling(outcome, &mut forced),
        }
        forced
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
