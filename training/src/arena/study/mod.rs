//! Studies: matches that answer a question, played in pieces over hours, and what they tell kept as a small document.
//!
//! # Layout
//! * [`mod@file`]: the study file, which says what is to be played.
//! * [`document`]: what was played, where, and what it tells.
//! * [`table`]: the document as a table, and its place in a page such as README.

pub mod document;
pub mod file;
pub mod table;
