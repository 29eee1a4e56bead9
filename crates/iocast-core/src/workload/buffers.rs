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
        let stride_bytes = size_bytes.max(1).checked_next_multiple_of(PAGE_BYTES);
        let bytes = stride_bytes.and_then(|stride| slots.max(1).checked_mul(stride));
        let room =
            bytes.and_then(|bytes| bytes.checked_next_multiple_of(HUGE_BYTES)?.checked_add(HUGE_BYTES));
        let (Some(stride_bytes), Some(bytes), Some(room)) = (stride_bytes, bytes, room) else {
            let source = std::io::ErrorKind::OutOfMemory.into();
            return Err(Error::Memory { size_bytes: usize::MAX, source });
        };
        let (bytes, mapped) = match bytes < HUGE_FROM_BYTES {
            true => (bytes, MmapOptions::new().len(bytes).populate().map_anon()),
            // One huge page more than needed, so that an aligned start can be found in it; what is not
            // touched takes no memory.
            false => (room - HUGE_BYTES, MmapOptions::new().len(room).no_reserve_swap().map_anon()),
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

    /// The memory of bytes `from..to` of a slot. Panics when the slot does not have them: whoever is handed the
    /// pointer (the kernel) writes to it without another look.
    #[inline]
    pub fn pointer(&self, slot: u32, from: usize, to: usize) -> *mut u8 {
        let at = slot as usize * self.stride_bytes;
        // A slot is a u32 and a stride is below 2^48: the product is a number.
        assert!(from <= to && to <= self.stride_bytes && at < self.bytes, "bytes of a slot's buffer");
        with_exposed_provenance_mut(self.first + at + from)
    }

    /// The first `len` bytes of a slot that has no I/O in flight. Panics when the slot does not have them.
    #[inline]
    pub fn slice(&mut self, slot: u32, len: usize) -> &mut [u8] {
        let start = self.pointer(slot, 0, len);
        // SAFETY: inside the mapping (`pointer` looked), and borrowed with it.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// Start and length of all buffers together, for registration.
    pub fn mapping(&self) -> (*mut u8, usize) {
        (with_exposed_provenance_mut(self.first), self.bytes)
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
            assert_eq!(buffers.pointer(slot, 0, 5000) as usize % PAGE_BYTES, 0);
            assert!(buffers.slice(slot, 5000).iter().all(|b| *b == slot as u8 + 1));
        }
    }

    #[test]
    fn bytes_that_a_slot_does_not_have_are_never_handed_out() {
        let refused = |asks: fn(&mut Buffers)| {
            std::panic::catch_unwind(|| asks(&mut Buffers::new(3, 5000).unwrap())).is_err()
        };
        assert!(refused(|buffers| drop(buffers.slice(0, 8193).to_vec())), "8192 bytes is the stride");
        assert!(refused(|buffers| drop(buffers.slice(3, 1).to_vec())), "three slots");
        assert!(refused(|buffers| drop(buffers.slice(u32::MAX, 1).to_vec())));
        assert!(refused(|buffers| assert!(buffers.pointer(0, 2, 1).is_null())), "it ends before it begins");
        assert!(!refused(|buffers| drop(buffers.slice(2, 8192).to_vec())));
    }

    #[test]
    fn buffers_that_no_memory_holds_are_refused() {
        for (slots, bytes) in [(1, usize::MAX), (usize::MAX, 2), (1 << 40, 1 << 40), (3, usize::MAX / 2)] {
            assert!(matches!(Buffers::new(slots, bytes), Err(Error::Memory { .. })), "{slots} {bytes}");
        }
    }

    #[test]
    fn huge_pages_are_counted_from_the_kernel() {
        let mut buffers = Buffers::new(4, 1 << 20).unwrap();
        buffers.slice(0, 4096).fill(1);
        assert!(buffers.huge_bytes() <= buffers.mapping().1);
    }
}
