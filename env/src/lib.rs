//! Games as pure rules with explicit chance nodes, and the gym-style environment around them.
//!
//! # Layout
//! * [`game`]: the central interface, [`game::Position`].
//! * [`chance`]: keyed dice and named random streams, the only place that samples.
//! * [`reference`](mod@reference): connect four and pig, to test everything generic against.
//! * [`dervish`]: the campaign in the Sudan, 1882-85.

pub mod chance;
pub mod dervish;
pub mod game;
pub mod reference;
