//! Two clocks: wall time that nobody moves by setting the clock, and the time of the kernel's tracepoints.

use std::fs::read_to_string;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// A clock of the kernel, in ns.
pub fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Wall time less the time since the boot, sleep included: what setting the clock changes.
static WALL_LESS_BOOT_NS: AtomicI64 = AtomicI64::new(i64::MIN);
const UNREAD: i64 = i64::MIN;
const TRIES: usize = 5;

/// Wall time (ns since 1970) as the clock of the machine stood when it was last read by [`follow_wall_clock`], and what
/// has passed since: differences are true whatever NTP or a person sets the clock to meanwhile.
pub fn unix_ns() -> i64 {
    let known = WALL_LESS_BOOT_NS.load(Ordering::Relaxed);
    let offset = if known == UNREAD { first_reading() } else { known };
    clock_ns(ClockId::Boottime) as i64 + offset
}

/// Reads the clock of the machine anew: a run that begins has the wall time that people see now.
pub fn follow_wall_clock() {
    WALL_LESS_BOOT_NS.store(wall_less_boot_ns(), Ordering::Relaxed);
}

/// How far the clock of the machine was set forward (or back) since it was last read.
pub fn clock_set_by_ns() -> i64 {
    let now = unix_ns();
    wall_less_boot_ns() + clock_ns(ClockId::Boottime) as i64 - now
}

fn first_reading() -> i64 {
    let read = wall_less_boot_ns();
    WALL_LESS_BOOT_NS
        .compare_exchange(UNREAD, read, Ordering::Relaxed, Ordering::Relaxed)
        .map_or_else(|other| other, |_| read)
}

/// The quickest of a few readings of both clocks.
fn wall_less_boot_ns() -> i64 {
    let readings = (0..TRIES).map(|_| {
        let before = clock_ns(ClockId::Boottime) as i64;
        let wall = wall_ns();
        let after = clock_ns(ClockId::Boottime) as i64;
        (after - before, wall - (before + after) / 2)
    });
    readings.min().map_or(0, |(_, offset)| offset)
}

/// By the C library, so that a test can bring a clock that is set.
fn wall_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes `now`; Linux always has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The monotonic clock as the kernel stamps its records with it: a time namespace moves ours, not theirs.
pub fn kernel_ns() -> u64 {
    static OFFSET_NS: OnceLock<i64> = OnceLock::new();
    let offset = *OFFSET_NS.get_or_init(|| {
        read_to_string("/proc/self/timens_offsets").map_or(0, |text| monotonic_offset_ns(&text))
    });
    clock_ns(ClockId::Monotonic).wrapping_add_signed(-offset)
}

/// What the time namespace adds to the monotonic clock: `monotonic SECONDS NANOSECONDS`.
fn monotonic_offset_ns(text: &str) -> i64 {
    let offset = text.lines().find_map(|line| {
        let mut words = line.strip_prefix("monotonic")?.split_whitespace().map(str::parse::<i64>);
        Some(words.next()?.ok()? * 1_000_000_000 + words.next()?.ok()?)
    });
    offset.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_is_that_of_the_machine_until_that_is_set() {
        follow_wall_clock();
        let (before, now, after) = (wall_ns(), unix_ns(), wall_ns());
        assert!(before - 1_000_000_000 < now && now < after + 1_000_000_000);
        assert!(unix_ns() >= now);
        assert!(clock_set_by_ns().abs() < 1_000_000_000);
    }

    #[test]
    fn the_offset_of_a_time_namespace_is_read() {
        assert_eq!(
            monotonic_offset_ns("monotonic     1000000         0\nboottime            7 500000000\n"),
            1_000_000_000_000_000
        );
        assert_eq!(monotonic_offset_ns("monotonic          -1 250000000\n"), -750_000_000);
        assert_eq!(monotonic_offset_ns("boottime   5 0\n"), 0);
        assert_eq!(monotonic_offset_ns(""), 0);
    }
}
