//! Self-play, training, arena and the `dervish` command line.
