//! Matches between agents and what they tell.
//!
//! # Layout
//! * [`agents`]: which agents can play which game.
//! * [`anatomy`]: what decides a scenario, from the records of games.
//! * `booking`: putting the pairs that threads finish in any order into their order.
//! * [`brief`]: agents and scenarios as people read them.
//! * [`folder`]: the folder of a match, with its document and records.
//! * [`html`]: standings as one page with plots.
//! * [`luck`]: how much of a result was the dice, and results without it.
//! * [`match_play`]: games in pairs with the seats swapped and common dice, on all cores.
//! * [`nash`]: who is strong where strength is not transitive.
//! * [`plots`]: plots of standings as SVG.
//! * [`ratings`]: ratings of many agents with intervals, and what the first seat is worth.
//! * [`regret`]: agents against perfect play.
//! * [`report`]: a match as a document and as a table.
//! * [`solved_sample`]: positions with their exact values, drawn from random games.
//! * [`sprt`]: the test that ends a match when it has told enough.
//! * [`standings`]: what all games of one version and the same bounds tell.
//! * [`statistics`]: scores, intervals and Elo differences from results, as pure functions.
//! * [`store`]: all results in one SQLite file.
//! * [`study`]: matches that answer a question, played in pieces over hours.

pub mod agents;
pub mod anatomy;
mod booking;
pub mod brief;
pub mod folder;
pub mod html;
pub mod luck;
pub mod match_play;
pub mod nash;
pub mod plots;
pub mod ratings;
pub mod regret;
pub mod report;
pub mod solved_sample;
pub mod sprt;
pub mod standings;
pub mod statistics;
pub mod store;
pub mod study;
