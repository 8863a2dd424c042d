//! Self-play: agents that play themselves, and what is kept of it to learn from.
//!
//! # Layout
//! * [`game`]: a game of self-play as it is kept: decisions and sparse policies, no features.
//! * [`actor`]: one thread that plays many games at once and evaluates their positions in batches.
//! * [`targets`]: what the decisions of a finished game should have been judged and played like.
//! * [`replay`]: the window of the latest games, in memory and on disk.
//! * [`weights`]: how new weights reach the actors.

pub mod actor;
pub mod game;
pub mod replay;
pub mod targets;
pub mod weights;
