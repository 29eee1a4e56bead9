//! Aligned I/O memory in huge pages.
//!
//! Huge pages matter twice: a 1 MiB buffer of 4 KiB pages has 256 segments, which is more than many
//! devices take in one request, so the kernel splits every I/O; and pinning one page is cheaper than 256.

use std::io;
use std::ptr::NonNull;

use crate::error::{Error, Result};

const HUGE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;
/// Less than this is not worth a huge page: a thousand users would take gigabytes.
const HUGE_FROM_BYTES: usize = 64 << 10;
/// One buffer for each slot, all in one mapping.
pub struct Buffers {
    memory: NonNull<u8>,
    mapped_bytes: usize,
    stride_bytes: usize,
    leak: bool,
}

// SAFETY: the mapping belongs to this value alone; it is only ever used by the worker that owns it.
unsafe impl Send for Buffers {}

impl Buffers {
    /// `slots` page-aligned buffers of at least `size_bytes`.
    pub fn new(slots: usize, size_bytes: usize) -> Result<Buffers> {
        let stride_bytes = size_bytes.max(1).next_multiple_of(PAGE_BYTES);
        let wanted = (slots * stride_bytes).next_multiple_of(HUGE_BYTES);
        if slots * stride_bytes < HUGE_FROM_BYTES {
            return Buffers::small(slots * stride_bytes, stride_bytes);
        }
        // One huge page more than needed, so that an aligned start can be cut out of it.
        let reserve = wanted + HUGE_BYTES;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping, checked below.
        let raw = unsafe {
            libc::mmap(std::ptr::null_mut(), reserve, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if raw == libc::MAP_FAILED {
            return Err(Error::Memory { size_bytes: wanted, source: io::Error::last_os_error() });
        }
        let start = (raw as usize).next_multiple_of(HUGE_BYTES);
        let (before, after) = (start - raw as usize, reserve - wanted - (start - raw as usize));
        // SAFETY: both parts lie inside the mapping just made and outside the aligned range that is kept;
        // madvise only asks for huge pages and may be refused.
        unsafe {
            if before > 0 {
                libc::munmap(raw, before);
            }
            if after > 0 {
                libc::munmap((start + wanted) as *mut libc::c_void, after);
            }
            libc::madvise(start as *mut libc::c_void, wanted, libc::MADV_HUGEPAGE);
        }
        let memory = NonNull::new(start as *mut u8).expect("mmap never returns null");
        let buffers = Buffers { memory, mapped_bytes: wanted, stride_bytes, leak: false };
        for page in (0..wanted).step_by(PAGE_BYTES) {
            // SAFETY: inside the mapping; touching every page now keeps faults out of the measurement.
            unsafe { memory.as_ptr().add(page).write_volatile(0) };
        }
        Ok(buffers)
    }

    fn small(bytes: usize, stride_bytes: usize) -> Result<Buffers> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        // SAFETY: a new anonymous mapping, checked below.
        let raw = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        if raw == libc::MAP_FAILED {
            return Err(Error::Memory { size_bytes: bytes, source: io::Error::last_os_error() });
        }
        let memory = NonNull::new(raw.cast()).expect("mmap never returns null");
        Ok(Buffers { memory, mapped_bytes: bytes, stride_bytes, leak: false })
    }

    /// The memory of one slot.
    pub fn pointer(&self, slot: u32) -> *mut u8 {
        // SAFETY: slots are below the number the mapping was made for.
        unsafe { self.memory.as_ptr().add(slot as usize * self.stride_bytes) }
    }

    /// The first `len` bytes of a slot that has no I/O in flight.
    pub fn slice(&mut self, slot: u32, len: usize) -> &mut [u8] {
        debug_assert!(len <= self.stride_bytes);
        // SAFETY: inside the mapping, and borrowed with it.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(slot), len) }
    }

    /// Start and length of the whole mapping, for registration.
    pub fn mapping(&self) -> (*mut u8, usize) {
        (self.memory.as_ptr(), self.mapped_bytes)
    }

    /// How many of the mapping's bytes really are in huge pages, as smaps tells.
    pub fn huge_bytes(&self) -> usize {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let wanted = self.memory.as_ptr() as usize;
        let mut inside = false;
        let mut huge = 0;
        for line in smaps.lines() {
            if let Some((from, rest)) =
                line.split_once('-').filter(|(from, _)| from.bytes().all(|b| b.is_ascii_hexdigit()))
            {
                let to = rest.split(' ').next().unwrap_or("");
                let parse = |text: &str| usize::from_str_radix(text, 16).unwrap_or(0);
                inside = parse(from) < wanted + self.mapped_bytes && parse(to) > wanted;
            } else if let Some(rest) = line.strip_prefix("AnonHugePages:").filter(|_| inside) {
                huge += rest.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) * 1024;
            }
        }
        huge.min(self.mapped_bytes)
    }

    /// How the memory turned out, for the report; `registered` with a ring.
    pub fn described(&self, registered: bool) -> String {
        let pages = match () {
            () if self.mapped_bytes < HUGE_FROM_BYTES => "4 KiB pages (small enough for them)",
            () if self.huge_bytes() == self.mapped_bytes => "huge pages",
            () => "4 KiB pages (no huge pages to be had)",
        };
        if registered { format!("registered, {pages}") } else { pages.to_string() }
    }

    /// Never give the memory back: the kernel may still write into it.
    pub fn leak(&mut self) {
        self.leak = true;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if !self.leak {
            // SAFETY: the mapping made in `new`, nothing uses it any more.
            unsafe { libc::munmap(self.memory.as_ptr().cast(), self.mapped_bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_apart_and_aligned() {
        let mut buffers = Buffers::new(3, 5000).unwrap();
        for slot in 0..3 {
            buffers.slice(slot, 5000).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert_eq!(buffers.pointer(slot) as usize % PAGE_BYTES, 0);
            assert!(buffers.slice(slot, 5000).iter().all(|b| *b == slot as u8 + 1));
        }
    }

    #[test]
    fn huge_pages_are_counted_from_the_kernel() {
        let mut buffers = Buffers::new(4, 1 << 20).unwrap();
        buffers.slice(0, 4096).fill(1);
        assert!(buffers.huge_bytes() <= buffers.mapping().1);
    }
}
