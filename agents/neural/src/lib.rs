//! Agents that evaluate with a network.
