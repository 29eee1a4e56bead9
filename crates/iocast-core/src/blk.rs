//! Where block requests spend their time, from the kernel's own tracepoints: queue and device apart.
//!
//! A private tracing [`instance`] has rings that are read as raw [`pages`], in time by a
//! [`ring_thread`]; a [`watch`] owns one with the [`request_points`], whose records it understands by the kernel's own description of them ([`layout`]). A [`pairing`] puts insert, issue and
//! completion of a request together, [`timed_requests`] says how long each took, and [`device_times`] counts. Where watching everything would cost too much, a
//! [`gate`] opens it for a part of each second only. Text (`trace_pipe`) says the same and costs 60 to 90
//! times as much a record.

pub mod device_times;
pub mod gate;
pub mod instance;
mod instance_record;
pub mod layout;
pub mod pages;
pub mod pairing;
pub mod request_points;
pub mod ring_thread;
pub mod timed_requests;
pub mod tracefs;
pub mod watch;

use serde::{Deserialize, Serialize};

/// A device by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Device {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl Device {
    /// From the kernel's own number (20 bits for the minor), which is not that of stat(2).
    pub fn from_kernel(number: u32) -> Device {
        Device { major: number >> 20, minor: number & ((1 << 20) - 1) }
    }

    /// The kernel's own number.
    pub fn to_kernel(self) -> u32 {
        (self.major << 20) | self.minor
    }
}

/// What a request asks of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlkOp {
    /// Data from the device.
    Read,
    /// Data to the device.
    Write,
    /// Room given back: discard, secure erase.
    Trim,
    /// The write cache made durable, without data.
    Flush,
    /// Anything else: commands that are passed through, zones.
    Other,
}

impl BlkOp {
    /// From the kernel's letters ("RA", "WFS", "FF", "D"): a flush that comes before a write is part of the write.
    pub fn from_letters(letters: &[u8]) -> BlkOp {
        let op = match letters {
            [b'F', second, ..] if b"WDRNF".contains(second) => second,
            [first, ..] => first,
            [] => return BlkOp::Other,
        };
        match op {
            b'R' => BlkOp::Read,
            b'W' => BlkOp::Write,
            b'D' => BlkOp::Trim,
            b'F' => BlkOp::Flush,
            _ => BlkOp::Other,
        }
    }
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was put into the scheduler's, or the software, queue.
    Insert,
    /// It went to the driver.
    Issue,
    /// The driver gave it back; it will be issued again.
    Requeue,
    /// It became part of another request.
    Merge,
    /// It, or the first part of it, is done.
    Complete,
    /// A bio, of which requests are made, came in.
    Bio,
    /// A bio was cut in two: the event's sectors are those of the first part.
    Split,
}

/// One record of a tracepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// What happened.
    pub step: Step,
    /// Kernel's number of the device.
    pub device: u32,
    /// Where it begins, in 512 bytes.
    pub sector: u64,
    /// How long it is (of a completion: how much is done), in 512 bytes.
    pub sectors: u32,
    /// What it asks.
    pub op: BlkOp,
    /// A completion that failed.
    pub failed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_the_operation() {
        let said: Vec<BlkOp> =
            [b"RA", b"WS", b"FF", b"FW", b"DS"].iter().map(|l| BlkOp::from_letters(*l)).collect();
        assert_eq!(said, [BlkOp::Read, BlkOp::Write, BlkOp::Flush, BlkOp::Write, BlkOp::Trim]);
        assert_eq!(BlkOp::from_letters(b"F"), BlkOp::Flush);
        assert_eq!(BlkOp::from_letters(b"WFS"), BlkOp::Write);
        assert_eq!(BlkOp::from_letters(b"N"), BlkOp::Other);
        assert_eq!(BlkOp::from_letters(b""), BlkOp::Other);
    }

    #[test]
    fn numbers_of_devices_are_the_kernels() {
        let nvme = Device { major: 259, minor: 3 };
        assert_eq!(nvme.to_kernel(), 271_581_187);
        assert_eq!(Device::from_kernel(nvme.to_kernel()), nvme);
    }
}
