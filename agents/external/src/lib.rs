//! Agents in any language: a program of its own that is asked for actions over its standard input and output.
//!
//! `PROTOCOL.md` beside this crate is what the author of such a program reads; `example.py` is one.
//!
//! # Layout
//! * [`agent`]: the agent `external`, which asks, checks and forfeits.
//! * [`protocol`]: the messages and answers.
//! * [`program`]: the process, its lines and its end.

pub mod agent;
pub mod program;
pub mod protocol;
