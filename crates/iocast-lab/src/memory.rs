//! The device's memory: anonymous pages, taken as they are written, zero before that.
//!
//! Reads and writes of the same bytes at the same time are not ordered, as on any device: the callers get
//! some mixture, and Rust never looks at the bytes, it only has them copied.

use std::io;
use std::ptr;

use memmap2::{MmapOptions, MmapRaw};

/// See the module.
pub struct Memory {
    mapped: MmapRaw,
}

impl Memory {
    /// Zeros that take no memory yet.
    pub fn new(size_bytes: u64) -> io::Result<Memory> {
        let size_bytes = usize::try_from(size_bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mapped = MmapOptions::new().len(size_bytes).no_reserve_swap().map_anon()?;
        Ok(Memory { mapped: MmapRaw::from(mapped) })
    }

    /// Size.
    pub fn size_bytes(&self) -> u64 {
        self.mapped.len() as u64
    }

    /// The bytes from `offset` on, cut at the end.
    pub fn slice(&self, offset: u64, len: usize) -> &[u8] {
        let offset = (offset as usize).min(self.mapped.len());
        let len = len.min(self.mapped.len() - offset);
        // SAFETY: inside the mapping.
        unsafe { std::slice::from_raw_parts(self.mapped.as_mut_ptr().add(offset), len) }
    }

    /// Puts bytes at `offset`; the caller has checked that they fit.
    pub fn put(&self, offset: u64, data: &[u8]) {
        let offset = offset as usize;
        assert!(offset <= self.mapped.len() && data.len() <= self.mapped.len() - offset, "inside the device");
        // SAFETY: inside the mapping, and `data` is a buffer of its own.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), self.mapped.as_mut_ptr().add(offset), data.len()) };
    }

    /// Zeros a range; the caller has checked that it fits.
    pub fn zero(&self, offset: u64, len: u64) {
        let (offset, len) = (offset as usize, len as usize);
        assert!(offset <= self.mapped.len() && len <= self.mapped.len() - offset, "inside the device");
        // SAFETY: inside the mapping.
        unsafe { ptr::write_bytes(self.mapped.as_mut_ptr().add(offset), 0, len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_there_and_the_rest_is_zero() {
        let memory = Memory::new(8192).unwrap();
        memory.put(8190, &[1, 2]);
        assert_eq!(memory.slice(8188, 100), [0, 0, 1, 2]);
        assert_eq!(memory.slice(9000, 1).len(), 0);
        memory.zero(8190, 1);
        assert_eq!(memory.slice(8190, 2), [0, 2]);
    }
}
