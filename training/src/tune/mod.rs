//! Tuning: the numbers of an agent's weights file, made better by playing.
//!
//! The method is SPSA, simultaneous perturbation stochastic approximation (Spall 1992), as chess programs are tuned with
//! it: all chosen numbers are moved at once, each up or down by chance, and the two agents that lie on either side of the
//! present numbers play paired games on common dice. One difference of scores so tells something of every number,
//! however many there are. What is kept is the mean of the later steps (Polyak and Juditsky 1992), which the noise of
//! single steps has left.
//!
//! # Layout
//! * [`spsa`]: the method, which knows no games.
//! * [`weight_file`]: numbers in a TOML file, by dotted name, changed in place.
//! * [`measure`]: the difference of scores, from games.
//! * [`folder`]: what a run keeps, so that it can be stopped and gone on with.
//! * [`tuning`]: all of these together.

pub mod folder;
pub mod measure;
pub mod spsa;
pub mod tuning;
pub mod weight_file;
