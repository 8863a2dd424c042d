//! Networks, checkpoints and batched evaluation on libtorch.
