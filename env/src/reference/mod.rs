//! Reference games: small, well known, with published facts to test searches and the environment against.

pub mod connect_four;
pub mod pig;
