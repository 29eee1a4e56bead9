//! The device's memory: anonymous pages, taken as they are written, zero before that.
//!
//! Reads and writes of the same bytes at the same time are not ordered, as on any device: the callers get
//! some mixture, and Rust never looks at the bytes, it only has them copied.

use std::io;
use std::ptr;

/// See the module.
pub struct Memory {
    base: *mut u8,
    size_bytes: usize,
}

// SAFETY: the mapping lives as long as the value, and is only copied to and from.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Zeros that take no memory yet.
    pub fn new(size_bytes: u64) -> io::Result<Memory> {
        let size_bytes = usize::try_from(size_bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping, of no file.
        let base = unsafe { libc::mmap(ptr::null_mut(), size_bytes, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Memory { base: base.cast(), size_bytes })
    }

    /// Size.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes as u64
    }

    /// The bytes from `offset` on, cut at the end.
    pub fn slice(&self, offset: u64, len: usize) -> &[u8] {
        let offset = (offset as usize).min(self.size_bytes);
        let len = len.min(self.size_bytes - offset);
        // SAFETY: inside the mapping.
        unsafe { std::slice::from_raw_parts(self.base.add(offset), len) }
    }

    /// Puts bytes at `offset`; the caller has checked that they fit.
    pub fn put(&self, offset: u64, data: &[u8]) {
        let offset = offset as usize;
        assert!(offset <= self.size_bytes && data.len() <= self.size_bytes - offset, "inside the device");
        // SAFETY: inside the mapping, and `data` is a buffer of its own.
        unsafe { ptr::copy_nonoverlapping(data.as_ptr(), self.base.add(offset), data.len()) };
    }

    /// Zeros a range; the caller has checked that it fits.
    pub fn zero(&self, offset: u64, len: u64) {
        let (offset, len) = (offset as usize, len as usize);
        assert!(offset <= self.size_bytes && len <= self.size_bytes - offset, "inside the device");
        // SAFETY: inside the mapping.
        unsafe { ptr::write_bytes(self.base.add(offset), 0, len) };
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, unmapped once.
        unsafe { libc::munmap(self.base.cast(), self.size_bytes) };
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
