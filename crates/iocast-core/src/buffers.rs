//! Aligned I/O memory in huge pages, and what is written from it.
//!
//! Huge pages matter twice: a 1 MiB buffer of 4 KiB pages has 256 segments, which is more than many
//! devices take in one request, so the kernel splits every I/O; and pinning one page is cheaper than 256.

use std::io;
use std::ptr::NonNull;

use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};

use crate::error::{Error, Result};
use crate::plan::Payload;

const HUGE_BYTES: usize = 2 << 20;
const PAGE_BYTES: usize = 4096;
/// Less than this is not worth a huge page: a thousand users would take gigabytes.
pub const HUGE_FROM_BYTES: usize = 64 << 10;
/// The unit that payloads keep unique: no storage dedupes smaller blocks than 4 KiB.
const BLOCK_BYTES: usize = 4096;

/// Repeated blocks of a dedupable payload are drawn from so many.
const DEDUPE_SET: u64 = 16;

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

/// Writes payloads into buffers.
pub struct PayloadMaker {
    kind: Payload,
    fresh: bool,
    rng: SmallRng,
    stamp: u64,
}

impl PayloadMaker {
    /// `fresh` draws every byte anew at each write (files are laid out so); otherwise each slot keeps its
    /// random bytes and only the first 8 of each 4 KiB block change, which costs a hundredth of it.
    pub fn new(kind: Payload, fresh: bool, seed: u64, worker: u32) -> PayloadMaker {
        let seed = mix64(seed);
        // A million million blocks for each worker before two stamps of a phase could be the same.
        let stamp = seed.wrapping_add(u64::from(worker) << 44);
        PayloadMaker { kind, fresh, rng: SmallRng::seed_from_u64(seed ^ u64::from(worker)), stamp }
    }

    /// Fills a slot's buffer before the phase begins.
    pub fn prepare(&mut self, buffer: &mut [u8]) {
        match self.kind {
            Payload::Zeros {} => buffer.fill(0),
            Payload::Repeated {} => SmallRng::seed_from_u64(0x0010_ca57).fill_bytes(buffer),
            Payload::Unique {} | Payload::Dedupable { .. } => self.rng.fill_bytes(buffer),
            Payload::Compressible { percent } => {
                for page in buffer.chunks_mut(PAGE_BYTES) {
                    let random = random_bytes(percent, page.len());
                    self.rng.fill_bytes(&mut page[..random]);
                    page[random..].fill(0);
                }
            }
        }
    }

    /// Makes a buffer ready for its next write.
    #[inline]
    pub fn stamp(&mut self, buffer: &mut [u8]) {
        match self.kind {
            Payload::Zeros {} | Payload::Repeated {} => {}
            Payload::Unique {} => {
                if self.fresh {
                    self.rng.fill_bytes(buffer);
                }
                self.stamp_blocks(buffer);
            }
            Payload::Dedupable { percent } => {
                for block in buffer.chunks_mut(BLOCK_BYTES) {
                    if self.rng.random::<f64>() * 100.0 < percent {
                        let which = self.rng.random_range(0..DEDUPE_SET);
                        SmallRng::seed_from_u64(which).fill_bytes(block);
                    } else {
                        self.rng.fill_bytes(block);
                        self.stamp_blocks(block);
                    }
                }
            }
            Payload::Compressible { percent } => {
                for page in buffer.chunks_mut(PAGE_BYTES) {
                    let random = random_bytes(percent, page.len()).max(8);
                    self.stamp_blocks(&mut page[..random]);
                }
            }
        }
    }

    #[inline]
    fn stamp_blocks(&mut self, buffer: &mut [u8]) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            if block.len() >= 8 {
                self.stamp = self.stamp.wrapping_add(1);
                block[..8].copy_from_slice(&mix64(self.stamp).to_le_bytes());
            }
        }
    }
}

fn random_bytes(percent: f64, len: usize) -> usize {
    (len as f64 * (1.0 - percent / 100.0)).round().clamp(0.0, len as f64) as usize
}

/// splitmix64's finaliser: a bijection, so that different stamps stay different.
pub fn mix64(value: u64) -> u64 {
    let mut x = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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

    #[test]
    fn no_two_unique_blocks_are_the_same() {
        let mut seen = HashSet::new();
        for worker in 0..3 {
            let mut maker = PayloadMaker::new(Payload::Unique {}, false, 9, worker);
            let mut buffer = vec![0u8; 8192];
            maker.prepare(&mut buffer);
            for _ in 0..100 {
                maker.stamp(&mut buffer);
                for block in buffer.chunks(BLOCK_BYTES) {
                    assert!(seen.insert(block.to_vec()));
                }
            }
        }
    }

    #[test]
    fn compressible_is_zero_in_the_share_it_was_told() {
        let mut maker = PayloadMaker::new(Payload::Compressible { percent: 50.0 }, false, 9, 0);
        let mut buffer = vec![1u8; 65536];
        maker.prepare(&mut buffer);
        maker.stamp(&mut buffer);
        let zeros = buffer.iter().filter(|b| **b == 0).count() as f64 / 65536.0;
        assert!((zeros - 0.5).abs() < 0.01, "{zeros}");
    }

    #[test]
    fn dedupable_repeats_the_share_it_was_told() {
        let mut maker = PayloadMaker::new(Payload::Dedupable { percent: 40.0 }, false, 9, 0);
        let mut seen = HashSet::new();
        let mut buffer = vec![0u8; 1 << 20];
        maker.prepare(&mut buffer);
        for _ in 0..8 {
            maker.stamp(&mut buffer);
            seen.extend(buffer.chunks(BLOCK_BYTES).map(<[u8]>::to_vec));
        }
        let saved = 1.0 - seen.len() as f64 / 2048.0;
        assert!((saved - 0.4).abs() < 0.05, "{saved}");
    }

    #[test]
    fn repeated_is_the_same_everywhere() {
        let (mut a, mut b) = (vec![0u8; 8192], vec![1u8; 8192]);
        PayloadMaker::new(Payload::Repeated {}, false, 1, 0).prepare(&mut a);
        PayloadMaker::new(Payload::Repeated {}, false, 2, 5).prepare(&mut b);
        assert_eq!(a, b);
    }
}
