//! A person plays a game against an agent.
//!
//! # Layout
//! * [`terminal`]: the dialogue, for any game: legal actions, notation, undo back to the last roll.
//! * [`board_text`]: how a position is drawn in text; the campaign's map around the action.

pub mod board_text;
pub mod terminal;
