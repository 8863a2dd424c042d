//! A person plays a game against an agent.
//!
//! # Layout
//! * [`terminal`]: the dialogue, for any game: legal actions, notation, undo back to the last roll.
//! * [`board_text`]: how a position is drawn in text; the campaign's map around the action.
//! * [`thinking_text`]: what an agent thought before it answered, in plain words and the game's notation.
//! * `aim_text`: how the campaign's scenarios are won and how they stand, in plain words.
//! * `change_text`: what a roll means, and what a roll or an order has changed, in plain words.

mod aim_text;
pub mod board_text;
mod change_text;
pub mod terminal;
pub mod thinking_text;
