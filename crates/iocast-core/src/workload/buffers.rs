//! Aligned I/O memory in huge pages.
//!
//! Huge pages matter twice: a 1 MiB buffer of 4 KiB pages has 256 segments, which is more than many
//! devices take in one request, so the kernel splits every I/O; and pinning one page is cheaper than 256.

use std::hint::black_box;
use std::ptr::with_exposed_provenance_mut;

use memmap2::{Advice, MmapOptions, MmapRaw};

use crate::error::{Error, Result};

const HUGE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;
/// Less than this is not worth a huge page: a thousand users would take gigabytes.
const HUGE_FROM_BYTES: usize = 64 << 10;
/// One buffer for each slot, all in one mapping.
pub struct Buffers {
    /// `None` once it was leaked.
    memory: Option<MmapRaw>,
    /// The address of the first buffer.
    first: usize,
    bytes: usize,
    stride_bytes: usize,
}

impl Buffers {
    /// `slots` page-aligned buffers of at least `size_bytes`.
    pub fn new(slots: usize, size_bytes: usize) -> Result<Buffers> {
        let stride_bytes = size_bytes.max(1).next_multiple_of(PAGE_BYTES);
        let bytes = slots * stride_bytes;
        let (bytes, mapped) = match bytes < HUGE_FROM_BYTES {
            true => (bytes, MmapOptions::new().len(bytes).populate().map_anon()),
            false => {
                let bytes = bytes.next_multiple_of(HUGE_BYTES);
                // One huge page more than needed, so that an aligned start can be found in it; what is not
                // touched takes no memory.
                (bytes, MmapOptions::new().len(bytes + HUGE_BYTES).no_reserve_swap().map_anon())
            }
        };
        let mut mapped = mapped.map_err(|source| Error::Memory { size_bytes: bytes, source })?;
        let start = mapped.as_ptr() as usize;
        let from = if mapped.len() == bytes { 0 } else { start.next_multiple_of(HUGE_BYTES) - start };
        if mapped.len() > bytes {
            // Only asked for: it may be refused.
            let _ = mapped.advise_range(Advice::HugePage, from, bytes);
            // Touching every page now keeps faults out of the measurement.
            mapped[from..from + bytes].iter_mut().step_by(PAGE_BYTES).for_each(|byte| *black_box(byte) = 0);
        }
        let memory = MmapRaw::from(mapped);
        let first = memory.as_mut_ptr().expose_provenance() + from;
        Ok(Buffers { memory: Some(memory), first, bytes, stride_bytes })
    }

    /// The memory of one slot, which is below the number that the mapping was made for.
    pub fn pointer(&self, slot: u32) -> *mut u8 {
        with_exposed_provenance_mut(self.first + slot as usize * self.stride_bytes)
    }

    /// The first `len` bytes of a slot that has no I/O in flight.
    pub fn slice(&mut self, slot: u32, len: usize) -> &mut [u8] {
        debug_assert!(len <= self.stride_bytes);
        // SAFETY: inside the mapping, and borrowed with it.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(slot), len) }
    }

    /// Start and length of all buffers together, for registration.
    pub fn mapping(&self) -> (*mut u8, usize) {
        (self.pointer(0), self.bytes)
    }

    /// How many of the mapping's bytes really are in huge pages, as smaps tells.
    pub fn huge_bytes(&self) -> usize {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let wanted = self.first;
        let mut inside = false;
        let mut huge = 0;
        for line in smaps.lines() {
            if let Some((from, rest)) =
                line.split_once('-').filter(|(from, _)| from.bytes().all(|b| b.is_ascii_hexdigit()))
            {
                let to = rest.split(' ').next().unwrap_or("");
                let parse = |text: &str| usize::from_str_radix(text, 16).unwrap_or(0);
                inside = parse(from) < wanted + self.bytes && parse(to) > wanted;
            } else if let Some(rest) = line.strip_prefix("AnonHugePages:").filter(|_| inside) {
                huge += rest.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) * 1024;
            }
        }
        huge.min(self.bytes)
    }

    /// How the memory turned out, for the report; `registered` with a ring.
    pub fn described(&self, registered: bool) -> String {
        let pages = match () {
            () if self.bytes < HUGE_FROM_BYTES => "4 KiB pages (small buffers)",
            () if self.huge_bytes() == self.bytes => "huge pages",
            () => "4 KiB pages (huge pages not available)",
        };
        if registered { format!("registered, {pages}") } else { pages.to_string() }
    }

    /// Never give the memory back: the kernel may still write into it.
    pub fn leak(&mut self) {
        std::mem::forget(self.memory.take());
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
