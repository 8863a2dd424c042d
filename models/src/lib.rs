//! Networks, checkpoints and batched evaluation on libtorch.
//!
//! # Layout
//! - [`batch`]: samples of different sizes flattened into one batch, with or without training targets
//! - [`network`]: the network, of several architectures: values of a position, one logit for every legal action
//! - [`evaluator`]: from a batch to probabilities and values
//! - [`trainer`]: one optimisation step, and the average of the weights that actors play with
//! - [`adamw`]: the optimiser, with a state that can be saved
//! - [`checkpoint`]: weights, the trainer's state and a manifest on disk
//! - [`checkpoint_series`]: the checkpoints of one run
//! - [`device`]: where a network computes
//! - [`process`]: what a program sets once, before its first tensor
//!
//! Nothing here knows a game. A caller encodes a position into a [`batch::Sample`]; all values are from the point of view
//! that the caller encoded from.
//!
//! ```
//! use dervish_models::batch::{Batch, Sample};
//! use dervish_models::device::DeviceChoice;
//! use dervish_models::evaluator::{Evaluations, NetEvaluator};
//! use dervish_models::network::{Architecture, InputSizes, Network, NetworkConfig};
//! use dervish_models::process;
//!
//! process::prepare();
//! let config = NetworkConfig {
//!     inputs: InputSizes {
//!         token_features: 2, token_groups: 1, global_features: 1, action_features: 1, planes: [0; 3],
//!     },
//!     architecture: Architecture::TokenMlp { hidden: 8, trunk: 8 },
//!     by_seat: false,
//! };
//! let mut batch = Batch::new(&config);
//! // One token; two legal actions, of which the second names it.
//! batch.push(&Sample {
//!     second_seat: false,
//!     globals: &[1.0],
//!     tokens: &[0.5, 0.0],
//!     groups: &[0],
//!     planes: &[],
//!     cells: &[],
//!     actions: &[0.0, 1.0],
//!     action_tokens: &[[None, None], [Some(0), None]],
//! })?;
//! let net = Network::new(config, 1, DeviceChoice::Auto.device()?)?;
//! let mut evaluator = NetEvaluator::new(net);
//! let mut evaluations = Evaluations::default();
//! evaluator.evaluate(&batch, &mut evaluations)?;
//! assert_eq!(evaluations.policy(0).len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod adamw;
pub mod batch;
pub mod checkpoint;
pub mod checkpoint_series;
mod cpu_mlp;
pub mod device;
pub mod evaluator;
pub mod network;
pub mod process;
pub mod trainer;
