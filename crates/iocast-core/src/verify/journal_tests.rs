//! Tests of the journal: numbers, spells, flushes, and what a process that opens it later finds.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

struct Scratch(PathBuf, VerifyPlan);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn scratch(name: &str, entries: u64) -> Scratch {
    let path = std::env::temp_dir().join(format!("iocast-journal-{name}-{}", std::process::id()));
    let mut bytes = vec![0u8; HEADER_BYTES + entries as usize * ENTRY_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    for (at, word) in [(8, 7u64), (16, 8192), (24, entries)] {
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    std::fs::write(&path, bytes).unwrap();
    let journal = path.to_string_lossy().into_owned();
    Scratch(
        path,
        VerifyPlan {
            journal,
            run_id: 7,
            block_bytes: 8192,
            first_blocks: vec![0, entries / 2],
            opened: None,
        },
    )
}

/// One block at a time, as most tests want it.
trait One {
    fn known(&self, index: u64) -> Known;
    fn send(&self, index: u64) -> u32;
    fn end(&self, file: u32, index: u64, well: bool, durable: bool);
}

impl One for Journal {
    fn known(&self, index: u64) -> Known {
        let mut known = [Known::default()];
        self.read(index, &mut known).unwrap();
        known[0]
    }

    fn send(&self, index: u64) -> u32 {
        let mut numbers = Vec::new();
        self.sending(index, 1, &mut numbers).unwrap();
        numbers[0]
    }

    fn end(&self, file: u32, index: u64, well: bool, durable: bool) {
        self.ended(file, index, 1, well, durable).unwrap();
    }
}

fn known(sent: u32, floor: u32, durable: u32, blended: u32) -> Known {
    Known { sent, floor, durable, blended }
}

#[test]
fn one_write_after_the_other_raises_the_floor_to_the_last() {
    let scratch = scratch("alone", 8);
    let journal = Journal::open(&scratch.1, true).unwrap();
    for sequence in 1..=5 {
        assert_eq!(journal.send(3), sequence);
        journal.end(0, 3, true, false);
    }
    assert_eq!(journal.send(3), 6);
    drop(journal);
    let later = Journal::open(&scratch.1, false).unwrap();
    assert_eq!(later.known(3), known(6, 5, 0, 0), "the one in flight was sent, not acknowledged");
    assert_eq!(later.known(2), Known::default());
}

#[test]
fn writes_that_overlap_leave_open_which_of_them_is_there() {
    let scratch = scratch("spell", 8);
    let journal = Journal::open(&scratch.1, true).unwrap();
    (0..3).for_each(|_| {
        journal.send(1);
    });
    for _ in 0..3 {
        journal.end(0, 1, true, false);
        assert_eq!(journal.known(1), known(3, 1, 0, 3));
    }
    journal.send(1);
    journal.end(0, 1, true, false);
    assert_eq!(journal.known(1), known(4, 4, 0, 3), "a write alone ends the doubt");
}

#[test]
fn a_failed_write_leaves_the_floor_and_allows_parts() {
    let scratch = scratch("failed", 8);
    let journal = Journal::open(&scratch.1, true).unwrap();
    journal.send(1);
    journal.end(0, 1, true, false);
    journal.send(1);
    journal.end(0, 1, false, false);
    assert_eq!(journal.known(1), known(2, 1, 0, 2));
}

#[test]
fn a_flush_makes_durable_what_was_acknowledged_before_it_was_sent() {
    let scratch = scratch("flush", 8);
    let mut journal = Journal::open(&scratch.1, true).unwrap();
    journal.flushes = true;
    for index in [0, 5] {
        journal.send(index);
        journal.end(u32::from(index == 5), index, true, false);
    }
    let flush = journal.flushing(0);
    journal.send(0);
    journal.end(0, 0, true, false);
    journal.flushed(flush).unwrap();
    assert_eq!(journal.known(0), known(2, 2, 1, 0), "not what came later");
    assert_eq!(journal.known(5), known(1, 1, 0, 0), "nor the other file");
    journal.send(5);
    journal.end(1, 5, true, true);
    assert_eq!(journal.known(5), known(2, 2, 2, 0));
}

#[test]
fn the_journal_of_another_run_is_refused() {
    let scratch = scratch("other", 8);
    for (run_id, block_bytes) in [(8, 8192), (7, 4096)] {
        let verify = VerifyPlan { run_id, block_bytes, ..scratch.1.clone() };
        let refused = Journal::open(&verify, true).err().expect("refused").to_string();
        assert!(refused.contains("not the journal of this run"), "{refused}");
    }
    std::fs::write(&scratch.0, vec![0u8; 100]).unwrap();
    assert!(Journal::open(&scratch.1, true).err().expect("refused").to_string().contains("truncated"));
}

fn refused<T>(result: Result<T>) -> String {
    result.err().expect("refused").to_string()
}

fn shorten(scratch: &Scratch, bytes: u64) {
    File::options().write(true).open(&scratch.0).unwrap().set_len(bytes).unwrap();
}

#[test]
fn blocks_that_follow_each_other_are_recorded_together() {
    let scratch = scratch("range", 1000);
    let journal = Journal::open(&scratch.1, true).unwrap();
    let mut numbers = Vec::new();
    journal.send(300);
    journal.sending(100, 400, &mut numbers).unwrap();
    assert_eq!((numbers.len(), numbers[199], numbers[200], numbers[201]), (400, 1, 2, 1));
    journal.ended(0, 100, 400, true, false).unwrap();
    journal.end(0, 300, true, false);
    assert_eq!([99, 100, 300, 499, 500].map(|at| journal.known(at).floor), [0, 1, 1, 1, 0]);
    assert_eq!(journal.known(300), known(2, 1, 0, 2));
}

#[test]
fn a_journal_that_is_truncated_at_any_length_is_refused() {
    let scratch = scratch("lengths", 8);
    let whole = std::fs::read(&scratch.0).unwrap();
    for bytes in (0..whole.len()).rev().step_by(7).chain([0, 31, 32, 4095, 4096]) {
        std::fs::write(&scratch.0, &whole[..bytes]).unwrap();
        assert!(refused(Journal::open(&scratch.1, true)).contains("truncated"), "{bytes}");
    }
}

#[test]
fn a_journal_that_is_truncated_while_it_is_used_is_an_error_and_no_signal() {
    for bytes in [0, HEADER_BYTES as u64, (HEADER_BYTES + 5 * ENTRY_BYTES + 3) as u64] {
        let scratch = scratch("during", 8);
        let journal = Journal::open(&scratch.1, true).unwrap();
        journal.send(7);
        shorten(&scratch, bytes);
        assert!(refused(journal.read(7, &mut [Known::default()])).contains("truncated"));
        assert!(refused(journal.ended(0, 7, 1, true, false)).contains("truncated"));
        assert!(refused(journal.sending(0, 1, &mut Vec::new())).contains("truncated"), "once failed, always");
        assert!(journal.failure().is_some());
        assert_eq!(std::fs::metadata(&scratch.0).unwrap().len(), bytes, "it is not made long again");
    }
}

#[test]
fn a_journal_that_is_emptied_and_made_long_again_is_noticed() {
    let scratch = scratch("emptied", 8);
    let journal = Journal::open(&scratch.1, true).unwrap();
    journal.send(7);
    let bytes = std::fs::metadata(&scratch.0).unwrap().len();
    shorten(&scratch, HEADER_BYTES as u64);
    shorten(&scratch, bytes);
    assert!(refused(journal.ended(0, 7, 1, true, false)).contains("changed"));
}

#[test]
fn hostile_numbers_are_refused() {
    let scratch = scratch("hostile", 8);
    let change = |at: usize, bytes: &[u8]| {
        File::options().write(true).open(&scratch.0).unwrap().write_all_at(bytes, at as u64).unwrap();
    };
    change(HEADER_BYTES, &[0xFF; ENTRY_BYTES]);
    let journal = Journal::open(&scratch.1, true).unwrap();
    assert!(refused(journal.sending(0, 1, &mut Vec::new())).contains("2^32"));
    let journal = Journal::open(&scratch.1, true).unwrap();
    for (first, count) in [(8, 1), (0, 9), (u64::MAX, 1), (u64::MAX, 2)] {
        let journal = Journal::open(&scratch.1, true).unwrap();
        assert!(refused(journal.sending(first, count, &mut Vec::new())).contains("no entry"));
    }
    assert!(refused(journal.read(7, &mut [Known::default(); 2])).contains("no entry"));
    let first_blocks = vec![0, u64::MAX];
    let verify = VerifyPlan { first_blocks, ..scratch.1.clone() };
    assert!(refused(Journal::open(&verify, true)).contains("no entries"));
    for entries in [9u64, u64::MAX, u64::MAX / 16, 1 << 60] {
        change(24, &entries.to_le_bytes());
        assert!(refused(Journal::open(&scratch.1, true)).contains("truncated"), "{entries}");
    }
}

proptest! {
    /// A device that lands each write at some moment between its sending and its acknowledgement: whatever
    /// the order, what stands there at the end is never below the floor, and never above what was sent.
    #[test]
    fn what_lands_is_never_below_the_floor(steps in prop::collection::vec(0u8..3, 1..200), picks in prop::collection::vec(any::<prop::sample::Index>(), 200)) {
        let scratch = scratch("property", 2);
        let journal = Journal::open(&scratch.1, true).unwrap();
        let (mut flying, mut landed, mut there) = (BTreeSet::new(), BTreeSet::new(), 0u32);
        for (step, pick) in steps.iter().zip(&picks) {
            match step {
                0 => {
                    flying.insert(journal.send(0));
                }
                1 if !flying.is_empty() => {
                    let sequence = *flying.iter().nth(pick.index(flying.len())).unwrap();
                    flying.remove(&sequence);
                    landed.insert(sequence);
                    there = sequence;
                }
                2 if !landed.is_empty() => {
                    let sequence = *landed.iter().nth(pick.index(landed.len())).unwrap();
                    landed.remove(&sequence);
                    journal.end(0, 0, true, false);
                }
                _ => {}
            }
            let known = journal.known(0);
            prop_assert!(known.floor <= there || there == 0 && known.floor == 0, "{known:?}, {there} is there");
            prop_assert!(there <= known.sent);
        }
    }
}
