//! The `dervish` command.

fn main() {}
