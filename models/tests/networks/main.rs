//! The network, its evaluation and training, and its checkpoints, on made-up positions.

mod checkpoints;
mod devices;
mod evaluation;
mod interchange;
mod optimizer;
mod positions;
mod training;
