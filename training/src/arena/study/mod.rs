//! Studies: matches that answer a question, played in pieces over hours, and what they tell kept as a small document.
//!
//! # Layout
//! * [`mod@file`]: the study file, which says what is to be played.
//! * [`document`]: what was played, where, and what it tells.
//! * `figures`: what is held against the figures of a document that is read.
//! * [`table`]: the document as a table, and its place in a page such as README.

pub mod document;
mod figures;
pub mod file;
pub mod table;
