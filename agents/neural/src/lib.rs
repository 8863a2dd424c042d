//! Agents that evaluate with a network.
//!
//! # Layout
//! * [`encoding`]: from a position to what a network reads.
//! * [`network`]: a network as an evaluator of leaves.
//! * [`agent`]: the agent `neural`: a trained policy, alone or with search.

pub mod agent;
pub mod encoding;
pub mod network;
