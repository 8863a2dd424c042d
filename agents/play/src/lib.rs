//! A person plays a game against an agent.
//!
//! # Layout
//! * [`terminal`]: the dialogue, for any game: legal actions, notation, undo back to the last roll.
//! * [`board_text`]: how a position, its orders and its rolls are told in text, for any game.
//! * [`game_file`]: the file in which a game is kept while it is played.
//! * `map_text`: the campaign's map drawn, around the action, around a hex or whole; its stacks.
//! * `inquiry_text`: what else a person may ask of the campaign: units with their factors, odds, what orders mean.
//! * [`thinking_text`]: what an agent thought before it answered, in plain words and the game's notation.
//! * `aim_text`: how the campaign's scenarios are won and how they stand, in plain words.
//! * `change_text`: what a roll means, and what a roll or an order has changed, in plain words.

mod aim_text;
pub mod board_text;
mod change_text;
pub mod game_file;
mod inquiry_text;
mod map_text;
pub mod terminal;
pub mod thinking_text;
