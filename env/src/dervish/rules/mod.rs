//! The rules as pure functions, one file for each chapter of the rulebook (or a large part of one).
//!
//! * [`combat`]: chapter 9 from the first fire roll to the outcome, and the flag's part in it (12).
//! * [`modifiers`]: what a force brings to a combat, and the modifiers of its tests (9.4, 9.5).
//! * [`losses`]: who suffers (9.7, 9.8).
//! * [`odds`]: the exact distribution of a combat over all dice; [`odds_memo`]: those that were worked out before.
//! * `readings`: which throws of another roll the tables read alike.
//!
//! The others act on a position: `setup` (2.7), `events` (4), `reinforcements` (5, 8.9, 12), `march` (8) with `group_pick`
//! (8.1), `group_march` (8.2-8.6), `vessels` (8.7, 8.8) and `leaders_alone` (8.10), `movement` (8.3, 8.7), `fight` (9 on
//! the map), `capture` (6.2, 8.12, 9.11), `supply` (10), `recovery` (11), `victory` (14). For each decision of theirs
//! there is one function that lists its options, one that tells whether an answer is legal, and one that obeys it; the
//! order in which they come is in `turn`.

pub(crate) mod capture;
pub mod combat;
pub(crate) mod events;
pub(crate) mod fight;
pub(crate) mod group_march;
pub(crate) mod group_pick;
pub(crate) mod leaders_alone;
pub mod losses;
pub(crate) mod march;
pub mod modifiers;
pub(crate) mod movement;
pub mod odds;
pub mod odds_memo;
pub(crate) mod readings;
pub(crate) mod recovery;
pub(crate) mod reinforcements;
pub(crate) mod setup;
pub(crate) mod supply;
pub(crate) mod vessels;
pub(crate) mod victory;
