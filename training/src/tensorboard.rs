//! Scalars in TensorBoard's event files: records of `TFRecord` around messages of TensorFlow's `event.proto` and
//! `summary.proto`, of which only the fields that scalars need are known here.
//!
//! A record is the length of its data (u64, little endian), the masked CRC-32C of these eight bytes (u32), the data, and the
//! masked CRC-32C of the data (tensorflow/core/lib/io/record_writer.h). A program that is killed cuts off at most the last
//! record, which readers pass over.

use crc::{CRC_32_ISCSI, Crc};
use prost::Message;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// `Event` of `event.proto`.
#[derive(Clone, PartialEq, Message)]
pub struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub wall_time: f64,
    /// Optimisation step.
    #[prost(int64, tag = "2")]
    pub step: i64,
    /// What the file is, in its first event.
    #[prost(string, optional, tag = "3")]
    pub file_version: Option<String>,
    /// Values, in all other events.
    #[prost(message, optional, tag = "5")]
    pub summary: Option<Summary>,
    /// The beginning of a session.
    #[prost(message, optional, tag = "7")]
    pub session_log: Option<SessionLog>,
}

/// `SessionLog` of `event.proto`.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct SessionLog {
    /// What the session does: [`SESSION_START`].
    #[prost(int32, tag = "1")]
    pub status: i32,
}

/// `SessionLog.START`: whatever other files of the run have from this step on, a session that was killed has put there, and
/// TensorBoard drops it.
pub const SESSION_START: i32 = 1;

/// `Summary` of `summary.proto`.
#[derive(Clone, PartialEq, Message)]
pub struct Summary {
    /// The values of one step.
    #[prost(message, repeated, tag = "1")]
    pub value: Vec<SummaryValue>,
}

/// `Summary.Value` of `summary.proto`.
#[derive(Clone, PartialEq, Message)]
pub struct SummaryValue {
    /// Name of the value, such as `loss/policy`: what stands before the first `/` groups it.
    #[prost(string, tag = "1")]
    pub tag: String,
    /// The value. Zero is written too: in `summary.proto` it is one of several kinds.
    #[prost(float, optional, tag = "2")]
    pub simple_value: Option<f32>,
}

/// The version that the first event of a file must state.
pub const FILE_VERSION: &str = "brain.Event:2";

const CRC_32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// CRC-32C, rotated and shifted as `TFRecord` stores it, so that data which hold checksums do not fool it.
pub fn masked_crc(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// `data` as a record.
pub fn record(data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u64).to_le_bytes();
    [&length, &masked_crc(&length).to_le_bytes()[..], data, &masked_crc(data).to_le_bytes()].concat()
}

/// A new event file that scalars are added to.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Makes a file in `folder` under a name by which TensorBoard finds it:
    /// `events.out.tfevents.SECONDS.dervish.PROCESS.NUMBER`.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn create(folder: &Path) -> io::Result<EventFile> {
        let stem = format!("events.out.tfevents.{:.0}.dervish.{}", now().floor(), std::process::id());
        let mut number = 0;
        let (path, file) = loop {
            let path = folder.join(format!("{stem}.{number}"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                // Another session of this second.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                opened => break (path, opened?),
            }
        };
        let mut events = EventFile { path, file };
        events.write(&Event { wall_time: now(), file_version: Some(FILE_VERSION.to_owned()), ..Event::default() })?;
        Ok(events)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that a session begins whose first step is `step`.
    ///
    /// # Errors
    /// Those of [`EventFile::add`].
    pub fn begin_session(&mut self, step: u64) -> io::Result<()> {
        let session_log = Some(SessionLog { status: SESSION_START });
        self.write(&Event { wall_time: now(), step: step.cast_signed(), session_log, ..Event::default() })
    }

    /// Adds values of a step. Values that are not finite are left out.
    ///
    /// # Errors
    /// Whatever the file system says; a part of the record may then be in the file.
    pub fn add(&mut self, step: u64, values: impl IntoIterator<Item = (impl Into<String>, f64)>) -> io::Result<()> {
        let finite = values.into_iter().filter(|(_, value)| value.is_finite());
        let value = finite.map(|(tag, value)| SummaryValue { tag: tag.into(), simple_value: Some(value as f32) });
        let summary = Some(Summary { value: value.collect() });
        self.write(&Event { wall_time: now(), step: step.cast_signed(), summary, ..Event::default() })
    }

    /// In one piece, so that nothing is left to be flushed.
    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.file.write_all(&record(&event.encode_to_vec()))
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
