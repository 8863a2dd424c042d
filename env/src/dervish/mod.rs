//! The campaign: the Mahdist War in the Sudan, 1882-85. Rules by number in `env/RULES.md`.

pub mod board;
pub mod campaign;
pub mod catalogue;
pub mod catalogue_file;
pub mod data_file;
pub mod decision;
pub mod encode;
pub mod force;
pub mod hexside;
pub mod map_file;
mod map_layers;
mod notation;
pub mod odds_speed;
pub mod order;
mod position;
mod position_check;
pub mod position_file;
mod position_pending;
mod position_reader;
mod position_sections;
mod position_writer;
mod region_file;
pub mod rules;
pub mod scenario;
pub mod scenario_file;
mod scenario_reader;
pub mod tables;
pub mod tables_file;
mod turn;
pub mod units;

pub use campaign::Campaign;
pub use encode::CampaignEncoder;
pub use position::RULES_VERSION;
