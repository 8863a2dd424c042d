//! The human as an agent.
