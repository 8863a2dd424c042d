//! Self-play, training, arena and the `dervish` command line.

pub mod arena;
