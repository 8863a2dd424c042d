//! Where a network computes and how exactly, as a person chooses it.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tch::Cuda;

pub use tch::Device;

/// A choice among the devices of this machine, written `auto`, `cpu`, `cuda` (the first GPU) or `cuda:N`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The first GPU if libtorch finds one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU of this number, from 0.
    Cuda(usize),
}

/// How exactly a network computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// All in `f32`.
    #[default]
    Full,
    /// On a GPU products of matrices and convolutions in `f16` (libtorch's autocast), the rest in `f32`; on a CPU the same
    /// as [`Precision::Full`]. Weights are `f32` in any case.
    Mixed,
}

impl Precision {
    /// Whether anything is computed in `f16` on this device.
    pub(crate) fn is_mixed_on(self, device: Device) -> bool {
        self == Precision::Mixed && device.is_cuda()
    }
}

/// Why there is no such device.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeviceError {
    /// The words are no choice.
    #[error("no device is called {0:?}: choose auto, cpu, cuda or cuda:N")]
    Unknown(String),
    /// libtorch does not find the GPU.
    #[error("there is no {choice}: libtorch finds {found} GPUs")]
    Missing {
        /// What was chosen.
        choice: DeviceChoice,
        /// GPUs of this machine.
        found: usize,
    },
}

impl DeviceChoice {
    /// The device.
    ///
    /// # Errors
    /// [`DeviceError::Missing`].
    pub fn device(self) -> Result<Device, DeviceError> {
        match self {
            DeviceChoice::Auto => Ok(Device::cuda_if_available()),
            DeviceChoice::Cpu => Ok(Device::Cpu),
            DeviceChoice::Cuda(number) => {
                let found = if Cuda::is_available() { usize::try_from(Cuda::device_count()).unwrap_or(0) } else { 0 };
                let missing = DeviceError::Missing { choice: self, found };
                if number < found { Ok(Device::Cuda(number)) } else { Err(missing) }
            }
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = DeviceError;

    fn try_from(text: String) -> Result<DeviceChoice, DeviceError> {
        text.parse()
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> String {
        choice.to_string()
    }
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<DeviceChoice, DeviceError> {
        let unknown = || DeviceError::Unknown(text.to_owned());
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                number.parse().map(DeviceChoice::Cuda).map_err(|_| unknown())
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}
