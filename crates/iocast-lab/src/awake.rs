//! Keeps idle processors awake while the device is served, because to wake one takes tens of microseconds.

use std::fs::{File, OpenOptions};
use std::io::Write;

/// Asks the kernel for wake-ups without delay for as long as the file is held (its power management: PM QoS).
/// `None` where the kernel has no such file, or does not let us: then times are less exact, no more.
pub fn hold() -> Option<File> {
    let mut wish = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
    wish.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(wish)
}
