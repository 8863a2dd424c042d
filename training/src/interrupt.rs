//! Ctrl-C and termination signals as a flag that long work looks at, so that it can stop cleanly and keep what it has.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// Takes over Ctrl-C for the rest of the process: the first one only sets the flag that [`requested`] reads, a second one
/// ends the process with status 130 in case the work does not heed it.
///
/// # Errors
/// What the system said, if it allows no handler.
pub fn install() -> Result<(), String> {
    let handler = || {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    INSTALLED.get_or_init(|| ctrlc::set_handler(handler).map_err(|error| error.to_string())).clone()
}

/// Whether the process was asked to stop since [`install`].
#[inline]
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
