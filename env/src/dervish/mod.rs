//! The campaign: the Mahdist War in the Sudan, 1882-85. Rules by number in `env/RULES.md`.

pub mod board;
pub mod catalogue;
pub mod force;
pub mod scenario;
pub mod tables;
