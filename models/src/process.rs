//! What a program that uses libtorch sets once, before its first tensor.

use std::sync::Once;

/// Prepares the process for inference and training with one network in each worker thread.
///
/// Operators run on the calling thread only: the workers are the parallelism, and results then don't depend on how an
/// operator was divided. On glibc, freed memory stays with the process, to be used again by the next pass. Calls after the
/// first do nothing.
pub fn prepare() {
    static PREPARED: Once = Once::new();
    PREPARED.call_once(|| {
        keep_freed_memory();
        tch::set_num_threads(1);
        tch::set_num_interop_threads(1);
    });
}

/// Keeps glibc from mapping large activations anew, and faulting in each of their pages, on every pass; for large batches
/// that costs more than half of the time. It is MALLOC_MMAP_MAX_=0, MALLOC_TRIM_THRESHOLD_ and MALLOC_TOP_PAD_ from inside.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn keep_freed_memory() {
    const TOP_PAD_BYTES: libc::c_int = 256 << 20;
    // SAFETY: mallopt takes two integers, takes the allocator's lock and may be called at any time; it refuses values out
    // of range by returning 0, which leaves the default in force.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        libc::mallopt(libc::M_TOP_PAD, TOP_PAD_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}
