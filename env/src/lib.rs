//! Games as pure rules with explicit chance nodes, and the gym-style environment around them.
//!
//! # Layout
//! * [`game`]: the central interface, [`game::Position`].
//! * [`chance`]: keyed dice and named random streams, the only place that samples.
//! * [`conformance`]: the checks that every game and every encoder must pass; [`perft`](mod@perft) counts of game trees.
//! * [`encode`]: observations as arrays; [`gym`]: one or many games as a learning environment.
//! * [`record`]: game records as text and their replay; [`persist`]: files that appear whole or not at all.
//! * [`bench`](mod@bench): how fast a game plays.
//! * [`reference`](mod@reference): connect four and pig, to test everything generic against.
//! * [`dervish`]: the campaign in the Sudan, 1882-85.

pub mod bench;
pub mod chance;
pub mod conformance;
pub mod dervish;
pub mod encode;
pub mod game;
pub mod gym;
pub mod perft;
pub mod persist;
pub mod record;
pub mod reference;
