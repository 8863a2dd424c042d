//! Games as pure rules with explicit chance nodes, and the gym-style environment around them.
//!
//! # Layout
//! * [`game`]: the central interface, [`game::Position`].
//! * [`dervish`]: the campaign in the Sudan, 1882-85.

pub mod dervish;
pub mod game;
