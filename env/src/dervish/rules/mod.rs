//! The rules as pure functions, one file for each chapter of the rulebook (or a large part of one).
//!
//! * [`combat`]: chapter 9 from the first fire roll to the outcome, and the flag's part in it (12).
//! * [`modifiers`]: what a force brings to a combat, and the modifiers of its tests (9.4, 9.5).
//! * [`losses`]: who suffers (9.7, 9.8).
//! * [`odds`]: the exact distribution of a combat over all dice.

pub mod combat;
pub mod losses;
pub mod modifiers;
pub mod odds;
