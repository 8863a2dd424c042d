//! Agents: the trait, the registry, and those that need neither search nor a network.
