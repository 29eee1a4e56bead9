//! How long the device works on one I/O, and whether it fails: the laws that know offsets and chance.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::options::Options;

/// Tier and first-write cost are kept by extents of this size.
pub const EXTENT_BYTES: u64 = 64 << 10;
/// Hits are kept by blocks of this size.
const BLOCK_BYTES: u64 = 4 << 10;

/// One read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Or a read.
    pub write: bool,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Of a write: nothing but zeros.
    pub zeros: bool,
}

/// See the module.
pub struct Service {
    options: Arc<Options>,
    chance: Chance,
    read_before: Extents,
    written_before: Extents,
    /// What was read last, and written last.
    recent: Recent,
    fresh: Recent,
}

impl Service {
    /// All extents fresh.
    pub fn new(options: Arc<Options>) -> Service {
        let extents = options.size_bytes.div_ceil(EXTENT_BYTES);
        Service {
            chance: Chance(options.seed),
            read_before: Extents::new(if options.tier_ns.is_some() { extents } else { 0 }),
            written_before: Extents::new(if options.first_write_ns > 0 { extents } else { 0 }),
            recent: Recent::new(options.recent.map(|recent| recent.0), options.size_bytes),
            fresh: Recent::new(options.fresh.map(|fresh| fresh.0), options.size_bytes),
            options,
        }
    }

    /// How long the device works on it, in ns.
    pub fn time_ns(&mut self, io: &Io) -> u64 {
        let told = Arc::clone(&self.options);
        let mut time_ns = if io.write { told.write_ns } else { told.read_ns };
        time_ns = placed_ns(&told, io, time_ns);
        time_ns = self.remembered_ns(io, time_ns);
        if let Some((share, hit_ns)) = told.hit.filter(|(share, _)| !io.write && hits(io.offset, *share)) {
            debug_assert!(share > 0.0);
            time_ns = hit_ns;
        }
        if let Some(tier_ns) = told.tier_ns.filter(|_| !io.write) {
            if !self.read_before.touch(io) {
                time_ns = tier_ns;
            }
        }
        if io.write && told.first_write_ns > 0 && self.written_before.touch(io) {
            time_ns += told.first_write_ns;
        }
        if told.jitter_ns > 0 {
            time_ns += (self.chance.next() * told.jitter_ns as f64) as u64;
        }
        match told.tail {
            Some((share, tail_ns)) if self.chance.next() < share => tail_ns,
            _ => time_ns,
        }
    }

    /// The time of a read of what was read or written last, else `else_ns`; remembers this I/O.
    fn remembered_ns(&mut self, io: &Io, else_ns: u64) -> u64 {
        let mut time_ns = else_ns;
        match self.options.fresh {
            Some(_) if io.write => self.fresh.add(io),
            Some((_, fresh_ns)) if self.fresh.holds(io) => time_ns = fresh_ns,
            _ => {}
        }
        if let Some((_, recent_ns)) = self.options.recent.filter(|_| !io.write) {
            if self.recent.holds(io) {
                time_ns = recent_ns;
            }
            self.recent.add(io);
        }
        time_ns
    }

    /// The errno it ends with, if it fails.
    pub fn errno(&mut self, io: &Io) -> Option<i32> {
        let touched = |(low, high): (u64, u64)| io.offset < high && io.offset + io.len > low;
        let fails = self.options.error_range.is_some_and(touched)
            || (self.options.error_share > 0.0 && self.chance.next() < self.options.error_share);
        fails.then_some(self.options.errno)
    }
}

/// The time by the place and the size of an I/O, or that of a write of zeros; else `else_ns`.
fn placed_ns(told: &Options, io: &Io, else_ns: u64) -> u64 {
    if let Some(zero_write_ns) = told.zero_write_ns.filter(|_| io.write && io.zeros) {
        return zero_write_ns;
    }
    if let Some(bad) = told.bad.filter(|bad| io.offset < bad.1 && io.offset + io.len > bad.0) {
        return bad.2;
    }
    let time_ns = told.zone.filter(|zone| io.offset >= zone.0).map_or(else_ns, |zone| zone.1);
    let more_ns = told.piece.map_or(0, |(bytes, each_ns)| (io.len.div_ceil(bytes).max(1) - 1) * each_ns);
    time_ns + more_ns
}

/// Whether the block at `offset` is one of the share that always hits.
fn hits(offset: u64, share: f64) -> bool {
    Chance(offset / BLOCK_BYTES).next() < share
}

/// A stream of evenly spread numbers from 0 to below 1 (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The blocks that were used last, up to a fixed number of uses.
struct Recent {
    most: usize,
    order: VecDeque<u32>,
    /// How often each block is in `order`.
    uses: Vec<u32>,
}

impl Recent {
    fn new(bytes: Option<u64>, size_bytes: u64) -> Recent {
        let most = bytes.map_or(0, |bytes| (bytes / BLOCK_BYTES).max(1) as usize);
        let blocks = if most > 0 { size_bytes.div_ceil(BLOCK_BYTES) as usize } else { 0 };
        Recent { most, order: VecDeque::new(), uses: vec![0; blocks] }
    }

    /// Whether all of the I/O is among them.
    fn holds(&self, io: &Io) -> bool {
        blocks(io).all(|block| self.uses[block as usize] > 0)
    }

    fn add(&mut self, io: &Io) {
        for block in blocks(io) {
            self.order.push_back(block);
            self.uses[block as usize] += 1;
            if self.order.len() > self.most {
                if let Some(oldest) = self.order.pop_front() {
                    self.uses[oldest as usize] -= 1;
                }
            }
        }
    }
}

fn blocks(io: &Io) -> impl Iterator<Item = u32> {
    (io.offset / BLOCK_BYTES) as u32..=((io.offset + io.len.max(1) - 1) / BLOCK_BYTES) as u32
}

/// One bit an extent.
struct Extents(Vec<u64>);

impl Extents {
    fn new(count: u64) -> Extents {
        Extents(vec![0; count.div_ceil(64) as usize])
    }

    /// Marks what the I/O covers; true when some of it was fresh.
    fn touch(&mut self, io: &Io) -> bool {
        let (first, last) = (io.offset / EXTENT_BYTES, (io.offset + io.len.max(1) - 1) / EXTENT_BYTES);
        let mut fresh = false;
        for extent in first..=last {
            let (word, bit) = (&mut self.0[(extent / 64) as usize], 1 << (extent % 64));
            fresh |= *word & bit == 0;
            *word |= bit;
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(change: impl FnOnce(&mut Options)) -> Service {
        let mut options = Options { read_ns: 1_000, write_ns: 2_000, ..Options::default() };
        change(&mut options);
        Service::new(Arc::new(options))
    }

    fn read(offset: u64) -> Io {
        Io { write: false, offset, len: 4096, zeros: false }
    }

    fn write(offset: u64) -> Io {
        Io { write: true, offset, len: 4096, zeros: false }
    }

    #[test]
    fn reads_and_writes_have_their_own_time() {
        let mut service = service(|_| {});
        assert_eq!((service.time_ns(&read(0)), service.time_ns(&write(0))), (1_000, 2_000));
    }

    #[test]
    fn a_block_hits_always_or_never_and_the_share_is_kept() {
        let mut service = service(|o| o.hit = Some((0.8, 7)));
        let times: Vec<u64> = (0..10_000).map(|block| service.time_ns(&read(block * 4096))).collect();
        let share = times.iter().filter(|t| **t == 7).count() as f64 / 10_000.0;
        assert!((share - 0.8).abs() < 0.015, "{share}");
        assert!(times.iter().enumerate().all(|(b, t)| service.time_ns(&read(b as u64 * 4096)) == *t));
        assert_eq!(service.time_ns(&write(0)), 2_000);
    }

    #[test]
    fn the_tail_is_as_frequent_as_told() {
        let mut service = service(|o| o.tail = Some((0.02, 9)));
        let tail = (0..100_000).filter(|_| service.time_ns(&read(0)) == 9).count();
        assert!((1_850..2_150).contains(&tail), "{tail}");
    }

    #[test]
    fn jitter_stays_below_what_was_told_and_uses_it() {
        let mut service = service(|o| o.jitter_ns = 500);
        let times: Vec<u64> = (0..1000).map(|_| service.time_ns(&read(0))).collect();
        assert!(times.iter().all(|t| (1_000..1_500).contains(t)));
        assert!(times.iter().any(|t| *t < 1_050) && times.iter().any(|t| *t > 1_450));
    }

    #[test]
    fn a_tier_is_slow_once_an_extent() {
        let mut service = service(|o| o.tier_ns = Some(3));
        assert_eq!(service.time_ns(&read(0)), 1_000);
        assert_eq!(service.time_ns(&read(60 << 10)), 3);
        assert_eq!(service.time_ns(&read(64 << 10)), 1_000);
        // Over the end of an extent read before, into a fresh one.
        assert_eq!(service.time_ns(&read(126 << 10)), 1_000);
    }

    #[test]
    fn the_first_write_of_an_extent_costs_more() {
        let mut service = service(|o| o.first_write_ns = 5_000);
        let times = [0, 4096, 65_536, 0].map(|offset| service.time_ns(&write(offset)));
        assert_eq!(times, [7_000, 2_000, 7_000, 2_000]);
        assert_eq!(service.time_ns(&read(1 << 20)), 1_000);
    }

    #[test]
    fn where_an_io_lies_and_how_large_it_is_decide() {
        let mut service = service(|o| {
            (o.zone, o.bad) = (Some((1 << 20, 5_000)), Some((8192, 12_288, 9_000)));
            o.piece = Some((4096, 10));
        });
        let large = Io { len: 16_384, ..read(1 << 20) };
        let times = [read(0), read(1 << 20), read(8192), Io { len: 16_384, ..read(0) }, large]
            .map(|io| service.time_ns(&io));
        assert_eq!(times, [1_000, 5_000, 9_000, 9_000, 5_030]);
    }

    #[test]
    fn what_was_read_or_written_last_has_its_own_time() {
        let mut service = service(|o| (o.recent, o.fresh) = (Some((8192, 7)), Some((4096, 8_000))));
        let mut read_at = |block: u64| service.time_ns(&read(block * 4096));
        assert_eq!(
            [read_at(0), read_at(0), read_at(1), read_at(2), read_at(0)],
            [1_000, 7, 1_000, 1_000, 1_000]
        );
        service.time_ns(&write(5 * 4096));
        assert_eq!(service.time_ns(&read(5 * 4096)), 8_000);
        service.time_ns(&write(6 * 4096));
        assert_eq!(service.time_ns(&read(5 * 4096)), 7, "read before, and no longer fresh");
    }

    #[test]
    fn zeros_are_written_in_their_own_time() {
        let mut service = service(|o| o.zero_write_ns = Some(5));
        let zeros = Io { zeros: true, ..write(0) };
        assert_eq!((service.time_ns(&zeros), service.time_ns(&write(0))), (5, 2_000));
    }

    #[test]
    fn the_last_extent_may_be_a_part() {
        let mut service = service(|o| (o.size_bytes, o.tier_ns) = (68 << 10, Some(3)));
        assert_eq!(service.time_ns(&read(64 << 10)), 1_000);
    }

    #[test]
    fn errors_are_exactly_in_their_range() {
        let mut service = service(|o| o.error_range = Some((8192, 12_288)));
        let failed = [4096, 8192, 12_288].map(|offset| service.errno(&read(offset)));
        assert_eq!(failed, [None, Some(libc::EIO), None]);
        assert_eq!(service.errno(&Io { len: 1, ..write(8191) }), None);
        assert_eq!(service.errno(&Io { len: 2, ..write(8191) }), Some(libc::EIO));
    }

    #[test]
    fn a_share_of_errors_is_as_frequent_as_told() {
        let mut service = service(|o| (o.error_share, o.errno) = (0.01, libc::ENOSPC));
        let failed = (0..100_000).filter(|_| service.errno(&read(0)) == Some(libc::ENOSPC)).count();
        assert!((900..1_100).contains(&failed), "{failed}");
    }
}
