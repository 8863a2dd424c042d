//! Ctrl-C and termination signals as a flag that long work looks at, so that it can stop cleanly and keep what it has.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// What is said at the first Ctrl-C: work may take a while to come to where it can stop.
pub const HEARD: &str =
    "stopping and keeping what is done, which may take a while; again to leave at once with what is kept so far";

/// Status of a process that a second Ctrl-C has ended: 128 + 2, as shells give for SIGINT.
const LEFT: i32 = 130;

/// Takes over Ctrl-C for the rest of the process: the first one sets the flag that [`requested`] reads and says so on
/// standard error, a second one ends the process with status 130 in case the work does not heed it.
///
/// # Errors
/// What the system said, if it allows no handler.
pub fn install() -> Result<(), String> {
    INSTALLED.get_or_init(|| ctrlc::set_handler(heed).map_err(|error| error.to_string())).clone()
}

/// Whether the process was asked to stop since [`install`].
#[inline]
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

fn heed() {
    if REQUESTED.swap(true, Ordering::Relaxed) {
        leave();
    }
    let mut errors = io::stderr();
    // Below a bar and the `^C` of the terminal.
    let below = if errors.is_terminal() { "\n" } else { "" };
    // A terminal that was closed hears nothing; the work stops all the same.
    let _ = writeln!(errors, "{below}dervish: {HEARD}");
}

/// Ends the process as it is: with `exit` libtorch's statics would be destroyed under the threads that compute with them.
#[cfg(unix)]
#[allow(unsafe_code)]
fn leave() -> ! {
    // SAFETY: _exit takes an integer, runs nothing of this process and does not return.
    unsafe { libc::_exit(LEFT) }
}

#[cfg(not(unix))]
fn leave() -> ! {
    std::process::exit(LEFT)
}
