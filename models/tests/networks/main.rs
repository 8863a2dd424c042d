//! The network, its evaluation and training, and its checkpoints, on made-up positions.

mod checkpoints;
mod evaluation;
mod optimizer;
mod positions;
mod training;
