//! Absence: moments in which the generator itself did not run, told apart from a device that does not answer.
//!
//! Three signs, which cost next to nothing while all is well. Between the return of one system call and the
//! next a worker needs microseconds; a timer that ran out wakes it at once; and the kernel counts, for each
//! thread, how long it was ready to run and had no processor. That count is read at least every 10 ms between
//! two turns (0.6 µs), so that nothing older is taken for part of a turn that took long. A process that was
//! stopped as a whole counts nothing: there the watcher, which wakes ten times a second, notices that it was
//! woken late.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::cpu_usage::CpuUsage;
use crate::record::generator::{Absence, Cause, Generator, KEPT, keep_longest};

/// A turn of a worker that took longer is looked into.
pub const LEAST_NS: u64 = 10_000_000;
/// The watcher is one thread among many: only a longer delay says something of all of them.
const WATCHER_LEAST_NS: u64 = 50_000_000;
/// Watches one thread, from that thread itself.
#[derive(Default)]
pub struct Attendance {
    schedstat: Option<File>,
    queued_first_ns: u64,
    queued_ns: u64,
    counted_at_ns: u64,
    before: CpuUsage,
    absences: Vec<Absence>,
    watched: bool,
}

impl Attendance {
    /// Begins to watch the calling thread; on virtual time there is nothing to watch.
    pub fn begin(virtual_time: bool) -> Attendance {
        if virtual_time {
            return Attendance::default();
        }
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        let queued = schedstat.as_ref().and_then(queued_ns).unwrap_or(0);
        Attendance {
            schedstat,
            queued_first_ns: queued,
            queued_ns: queued,
            counted_at_ns: 0,
            before: CpuUsage::of_thread(),
            absences: Vec::new(),
            watched: true,
        }
    }

    /// A turn of a worker: it came from one wait at `from`, began the next at `submitted` and came from it at
    /// `now`; `timer` is when that wait was to end, if it could do nothing but wait.
    #[inline(always)]
    pub fn turn(&mut self, from: u64, submitted: u64, timer: Option<u64>, now: u64) {
        // Turns follow each other, so that none takes longer than it is since the kernel's count was read.
        if now - self.counted_at_ns >= LEAST_NS && self.watched {
            self.look(from, submitted, timer, now);
        }
    }

    #[cold]
    fn look(&mut self, from: u64, submitted: u64, timer: Option<u64>, now: u64) {
        self.counted_at_ns = now;
        let queued = self.newly_queued();
        let (busy, late) = (submitted - from, timer.map_or(0, |at| now.saturating_sub(at.max(submitted))));
        let duration = busy.max(late).max(queued.min(now - from));
        if duration < LEAST_NS {
            return;
        }
        let cause = match () {
            () if queued >= duration / 2 => Cause::Queued,
            () if busy > late => Cause::Busy,
            () => Cause::Stopped,
        };
        let start_ns = if busy >= duration { from } else { now - duration };
        self.note(Absence { start_ns, duration_ns: duration, cause });
    }

    /// The watcher asked to be woken at `asked` and was at `now`. That it was itself ready and had no processor
    /// says nothing of the workers.
    pub fn woken(&mut self, asked: u64, now: u64) {
        let late = now.saturating_sub(asked);
        let queued = self.newly_queued();
        if self.watched && late.saturating_sub(queued) >= WATCHER_LEAST_NS {
            self.note(Absence { start_ns: asked, duration_ns: late, cause: Cause::Stopped });
        }
    }

    fn note(&mut self, absence: Absence) {
        self.absences.push(absence);
        if self.absences.len() > 2 * KEPT {
            keep_longest(&mut self.absences);
        }
    }

    /// For how long the thread was queued since this was last asked.
    fn newly_queued(&mut self) -> u64 {
        let now = self.schedstat.as_ref().and_then(queued_ns).unwrap_or(self.queued_ns);
        now - std::mem::replace(&mut self.queued_ns, now).min(now)
    }

    /// What the thread did since the beginning.
    pub fn end(&mut self) -> Generator {
        if !self.watched {
            return Generator { threads: 1, ..Generator::default() };
        }
        self.newly_queued();
        let after = CpuUsage::of_thread();
        keep_longest(&mut self.absences);
        Generator {
            threads: 1,
            user_ns: after.user_ns - self.before.user_ns,
            system_ns: after.system_ns - self.before.system_ns,
            queued_ns: self.queued_ns - self.queued_first_ns,
            involuntary_switches: after.involuntary_switches - self.before.involuntary_switches,
            absences: std::mem::take(&mut self.absences),
        }
    }

    /// What it noticed, for the watcher, which is no worker.
    pub fn noticed(&mut self) -> Vec<Absence> {
        std::mem::take(&mut self.absences)
    }
}

/// The second number of schedstat: ns ready to run and waiting for a processor.
fn queued_ns(schedstat: &File) -> Option<u64> {
    let mut text = [0u8; 96];
    let len = schedstat.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..len]).ok()?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn watched() -> Attendance {
        // Without schedstat, so that what this machine does meanwhile changes nothing.
        Attendance { watched: true, ..Attendance::default() }
    }

    #[test]
    fn a_device_that_takes_long_is_no_absence() {
        let mut attendance = watched();
        attendance.turn(0, MS, None, 2000 * MS);
        attendance.turn(0, 0, Some(2000 * MS), 2001 * MS);
        assert!(attendance.noticed().is_empty());
    }

    #[test]
    fn a_long_way_between_two_system_calls_is_one() {
        let mut attendance = watched();
        attendance.turn(100 * MS, 150 * MS, None, 151 * MS);
        let seen = Absence { start_ns: 100 * MS, duration_ns: 50 * MS, cause: Cause::Busy };
        assert_eq!(attendance.noticed(), [seen]);
    }

    #[test]
    fn a_timer_that_ran_out_long_ago_is_one() {
        let mut attendance = watched();
        attendance.turn(100 * MS, 100 * MS, Some(110 * MS), 1110 * MS);
        let seen = Absence { start_ns: 110 * MS, duration_ns: 1000 * MS, cause: Cause::Stopped };
        assert_eq!(attendance.noticed(), [seen]);
    }

    #[test]
    fn the_watcher_notices_what_is_longer_than_its_own_hurry() {
        let mut attendance = watched();
        attendance.woken(100 * MS, 149 * MS);
        attendance.woken(200 * MS, 900 * MS);
        let seen = Absence { start_ns: 200 * MS, duration_ns: 700 * MS, cause: Cause::Stopped };
        assert_eq!(attendance.noticed(), [seen]);
    }

    /// The kernel's count, as it would stand in schedstat.
    fn counting(queued_ns: u64) -> (tempfile::NamedTempFile, Attendance) {
        let file = tempfile::NamedTempFile::new().expect("a file");
        count(&file, queued_ns);
        let schedstat = Some(File::open(file.path()).expect("that file"));
        (file, Attendance { watched: true, queued_ns, schedstat, ..Attendance::default() })
    }

    fn count(file: &tempfile::NamedTempFile, queued_ns: u64) {
        std::fs::write(file.path(), format!("1 {queued_ns} 1\n")).expect("written");
    }

    #[test]
    fn what_was_queued_long_before_is_no_part_of_a_slow_io() {
        let (file, mut attendance) = counting(0);
        for i in 0..1000u64 {
            count(&file, (i + 1) * MS / 2);
            attendance.turn(i * MS, i * MS, None, (i + 1) * MS);
        }
        attendance.turn(1000 * MS, 1000 * MS, None, 2000 * MS);
        assert!(attendance.noticed().is_empty());
        count(&file, 1400 * MS);
        attendance.turn(2000 * MS, 2000 * MS, None, 3000 * MS);
        let seen = Absence { start_ns: 2100 * MS, duration_ns: 900 * MS, cause: Cause::Queued };
        assert_eq!(attendance.noticed(), [seen]);
    }

    #[test]
    fn what_the_watcher_was_queued_before_hides_no_stop() {
        let (file, mut attendance) = counting(0);
        for i in 1..100u64 {
            count(&file, i * 10 * MS);
            attendance.woken(i * 100 * MS, i * 100 * MS + 10 * MS);
        }
        attendance.woken(10_000 * MS, 10_900 * MS);
        let seen = Absence { start_ns: 10_000 * MS, duration_ns: 900 * MS, cause: Cause::Stopped };
        assert_eq!(attendance.noticed(), [seen]);
    }

    #[test]
    fn the_longest_are_kept() {
        let mut attendance = watched();
        for i in 1..500u64 {
            attendance.turn(
                i * 1000 * MS,
                i * 1000 * MS + (10 + i) * MS,
                None,
                i * 1000 * MS + (10 + i) * MS,
            );
        }
        let kept = attendance.end().absences;
        assert_eq!((kept.len(), kept.iter().map(|a| a.duration_ns).min()), (KEPT, Some(446 * MS)));
    }

    #[test]
    fn a_thread_that_has_no_processor_is_queued() {
        let file = File::open("/proc/thread-self/schedstat").expect("Linux with CONFIG_SCHED_INFO");
        let before = queued_ns(&file).expect("the second number");
        assert!(queued_ns(&file).expect("read twice") >= before);
    }
}
