//! Self-play, training, arena and the `dervish` command line.

pub mod arena;
pub mod commands;
pub mod games;
pub mod interrupt;
