//! The journal of a verified run: for each block which write was sent, which is certain to be there, which durable.
//!
//! It is a file in the run folder, written through the page cache, so that it outlives the death of this process at any
//! moment: the number of a write stands in it before the write is submitted. Sixteen bytes a block. It is not mapped:
//! whoever truncates a mapped file kills those who look at it (SIGBUS), here they get an error.
//!
//! Two writes of one block that are outstanding together may land in any order. They make one *spell*: from
//! the first sent while none is outstanding to the moment when none is any more. Once a write of a spell was
//! acknowledged, the block holds some write of that spell or a later one, but not an earlier one.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::{Error, Result};
use crate::plan::{PhasePlan, VerifyPlan, place_of};

const MAGIC: [u8; 8] = *b"iocjrnl1";
/// What stands before the entries: magic, run id, bytes of a block, number of entries.
pub const HEADER_BYTES: usize = 4096;
const ENTRY_BYTES: usize = 16;
const STRIPES: usize = 256;
/// So many entries are read and written together, under one lock.
const PIECE: u64 = 128;

const TRUNCATED: &str = "it is truncated";
const CHANGED: &str = "someone else changed it during the run";

/// An entry: what is known of one block. Numbers count its writes from 1; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The last write that was sent.
    pub sent: u32,
    /// No earlier write than this may be found after it was acknowledged.
    pub floor: u32,
    /// The same, of those that were made durable.
    pub durable: u32,
    /// Up to this write, sectors of several writes may stand side by side: they were outstanding together, or failed.
    pub blended: u32,
}

impl Known {
    fn decoded(bytes: &[u8]) -> Known {
        let number = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        Known { sent: number(0), floor: number(4), durable: number(8), blended: number(12) }
    }

    fn encode(self, bytes: &mut [u8]) {
        let numbers = [self.sent, self.floor, self.durable, self.blended];
        bytes.chunks_exact_mut(4).zip(numbers).for_each(|(four, n)| four.copy_from_slice(&n.to_ne_bytes()));
    }
}

struct Spell {
    index: u64,
    outstanding: u32,
    first: u32,
    last: u32,
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// See the module.
pub struct Journal {
    file: File,
    entries: u64,
    stripes: Vec<Mutex<Vec<Spell>>>,
    /// Of each file: blocks that were acknowledged since it was last flushed, with their floor.
    unflushed: Vec<Mutex<Vec<(u64, u32)>>>,
    plan: VerifyPlan,
    flushes: bool,
    /// Why nothing more can be recorded in it.
    failed: OnceLock<String>,
}

impl Journal {
    /// The journal of each phase that is verified. Phases that run at once and have the same one share it.
    pub fn for_plans(plans: &[Arc<PhasePlan>]) -> Result<Vec<Option<Arc<Journal>>>> {
        let flush = |plan: &PhasePlan| plan.fsync_every > 0 || plan.mix.iter().any(|m| !m.op.has_place());
        let flushes = plans.iter().any(|plan| flush(plan));
        let mut open: Vec<Arc<Journal>> = Vec::new();
        let mut journals = Vec::new();
        for verify in plans.iter().map(|plan| plan.verify.as_ref()) {
            let Some(verify) = verify else {
                journals.push(None);
                continue;
            };
            let known = open.iter().find(|journal| journal.plan.journal == verify.journal);
            let journal = match known {
                Some(journal) if journal.plan != *verify => {
                    let why = "verify: phases that share a journal have the same run_id, block_bytes and first_blocks";
                    return Err(Error::Plan(why.into()));
                }
                Some(journal) => Arc::clone(journal),
                None => {
                    let mut journal = Journal::open(verify, true)?;
                    journal.flushes = flushes;
                    Arc::new(journal)
                }
            };
            open.push(Arc::clone(&journal));
            journals.push(Some(journal));
        }
        Ok(journals)
    }

    /// Opens a journal and checks that it is the one that is meant, and whole.
    pub fn open(verify: &VerifyPlan, writable: bool) -> Result<Journal> {
        let refuse = |source: io::Error| Error::Journal { path: verify.journal.clone(), source };
        let mut options = File::options();
        // A FIFO in its place does not hang.
        options.read(true).write(writable).custom_flags(libc::O_NONBLOCK);
        let file = options.open(&*place_of(verify.opened, &verify.journal)).map_err(refuse)?;
        let about = file.metadata().map_err(refuse)?;
        if !about.is_file() {
            return Err(refuse(invalid("it is not a regular file")));
        }
        let Some(room) = about.len().checked_sub(HEADER_BYTES as u64) else {
            return Err(refuse(invalid(TRUNCATED)));
        };
        let mut header = [0; 32];
        file.read_exact_at(&mut header, 0).map_err(refuse)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        if header[..8] != MAGIC || word(8) != verify.run_id || word(16) != verify.block_bytes {
            return Err(refuse(invalid("it is not the journal of this run")));
        }
        let entries = word(24);
        if entries > room / ENTRY_BYTES as u64 {
            return Err(refuse(invalid(TRUNCATED)));
        }
        if verify.block_bytes == 0 || verify.first_blocks.iter().any(|first| *first > entries) {
            return Err(refuse(invalid("it has no entries for these files")));
        }
        Ok(Journal {
            file,
            entries,
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            unflushed: verify.first_blocks.iter().map(|_| Mutex::default()).collect(),
            plan: verify.clone(),
            flushes: false,
            failed: OnceLock::new(),
        })
    }

    /// How many blocks it has.
    pub fn len(&self) -> u64 {
        self.entries
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// How it was told to record.
    pub fn plan(&self) -> &VerifyPlan {
        &self.plan
    }

    fn refused(&self, source: io::Error) -> Error {
        let source = match source.kind() {
            io::ErrorKind::UnexpectedEof => invalid(TRUNCATED),
            _ => source,
        };
        Error::Journal { path: self.plan.journal.clone(), source }
    }

    /// Why nothing more can be recorded: somebody has truncated it, or its storage fails.
    pub fn failure(&self) -> Option<Error> {
        self.failed.get().map(|why| self.refused(invalid(why)))
    }

    /// What is known of blocks that follow each other.
    pub fn read(&self, first: u64, known: &mut [Known]) -> Result<()> {
        let mut at = first;
        for piece in known.chunks_mut(PIECE as usize) {
            self.read_piece(at, piece).map_err(|why| self.refused(why))?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Where the bytes of entries are, of which it has all.
    fn place(&self, first: u64, count: usize) -> io::Result<u64> {
        match first.checked_add(count as u64) {
            Some(past) if past <= self.entries => Ok(HEADER_BYTES as u64 + first * ENTRY_BYTES as u64),
            _ => Err(invalid("it has no entry for a block")),
        }
    }

    fn read_piece(&self, first: u64, known: &mut [Known]) -> io::Result<()> {
        let mut room = [0; PIECE as usize * ENTRY_BYTES];
        let bytes = &mut room[..known.len() * ENTRY_BYTES];
        self.file.read_exact_at(bytes, self.place(first, known.len())?)?;
        let entries = bytes.chunks_exact(ENTRY_BYTES).map(Known::decoded);
        known.iter_mut().zip(entries).for_each(|(known, entry)| *known = entry);
        Ok(())
    }

    fn write_piece(&self, first: u64, known: &[Known]) -> io::Result<()> {
        let mut room = [0; PIECE as usize * ENTRY_BYTES];
        let bytes = &mut room[..known.len() * ENTRY_BYTES];
        bytes.chunks_exact_mut(ENTRY_BYTES).zip(known).for_each(|(bytes, known)| known.encode(bytes));
        self.file.write_all_at(bytes, self.place(first, known.len())?)
    }

    /// Changes the entries of blocks that follow each other, a piece at a time, each under its lock. Once that has
    /// failed nothing more is recorded.
    fn change(
        &self,
        first: u64,
        count: u64,
        mut change: impl FnMut(u64, &mut Known, &mut Vec<Spell>) -> io::Result<()>,
    ) -> Result<()> {
        let mut pieces = || {
            self.place(first, count as usize)?;
            let mut at = first;
            while at < first + count {
                let mut room = [Known::default(); PIECE as usize];
                let known = &mut room[..(PIECE - at % PIECE).min(first + count - at) as usize];
                let stripe = (at / PIECE) as usize % STRIPES;
                let mut spells = self.stripes[stripe].lock().expect("no panic while it is held");
                self.read_piece(at, known)?;
                for (index, entry) in (at..).zip(known.iter_mut()) {
                    change(index, entry, &mut spells)?;
                }
                self.write_piece(at, known)?;
                at += known.len() as u64;
            }
            Ok(())
        };
        if let Some(why) = self.failure() {
            return Err(why);
        }
        pieces().map_err(|why| {
            let why = self.refused(why);
            if let Error::Journal { source, .. } = &why {
                let _ = self.failed.set(source.to_string());
            }
            why
        })
    }

    /// The entry of the block at a byte of a file.
    #[inline]
    pub fn index(&self, file: u32, offset: u64) -> u64 {
        self.plan.first_blocks[file as usize] + offset / self.plan.block_bytes
    }

    /// Writes of blocks that follow each other are about to be sent; `numbers` gets the number of each.
    pub fn sending(&self, first: u64, count: u64, numbers: &mut Vec<u32>) -> Result<()> {
        numbers.clear();
        self.change(first, count, |index, entry, spells| {
            let number =
                entry.sent.checked_add(1).ok_or_else(|| invalid("a block was written 2^32 times"))?;
            entry.sent = number;
            match spells.iter_mut().find(|spell| spell.index == index) {
                Some(spell) => {
                    (spell.outstanding, spell.last) = (spell.outstanding + 1, number);
                    entry.blended = number;
                }
                None => spells.push(Spell { index, outstanding: 1, first: number, last: number }),
            }
            numbers.push(number);
            Ok(())
        })
    }

    /// The writes of blocks that follow each other came back, well or not; `durable` when their own flags made them so.
    pub fn ended(&self, file: u32, first: u64, count: u64, well: bool, durable: bool) -> Result<()> {
        let mut floors = Vec::new();
        self.change(first, count, |index, entry, spells| {
            let Some(at) = spells.iter().position(|spell| spell.index == index) else { return Ok(()) };
            let spell = &mut spells[at];
            if entry.sent < spell.last {
                return Err(invalid(CHANGED));
            }
            match (well, durable) {
                (true, true) => entry.durable = entry.durable.max(spell.first),
                (true, false) if self.flushes => floors.push((index, spell.first)),
                _ => {}
            }
            if well {
                entry.floor = spell.first;
            } else {
                entry.blended = entry.sent;
            }
            spell.outstanding -= 1;
            if spell.outstanding == 0 {
                spells.swap_remove(at);
            }
            Ok(())
        })?;
        if !floors.is_empty() {
            self.unflushed[file as usize].lock().expect("no panic while it is held").append(&mut floors);
        }
        Ok(())
    }

    /// A write came back short and may go on: until it has ended well its blocks may hold parts of two writes.
    pub fn interrupted(&self, first: u64, count: u64) -> Result<()> {
        self.change(first, count, |_, entry, _| {
            entry.blended = entry.sent;
            Ok(())
        })
    }

    /// A flush of a file is about to be sent: what it will make durable when it ends well.
    pub fn flushing(&self, file: u32) -> Vec<(u64, u32)> {
        std::mem::take(&mut *self.unflushed[file as usize].lock().expect("no panic while it is held"))
    }

    /// That flush ended well.
    pub fn flushed(&self, mut blocks: Vec<(u64, u32)>) -> Result<()> {
        blocks.sort_unstable();
        for piece in blocks.chunk_by(|a, b| a.0 / PIECE == b.0 / PIECE) {
            let (first, last) = (piece[0].0, piece[piece.len() - 1].0);
            let mut left = piece.iter().copied().peekable();
            self.change(first, last + 1 - first, |index, entry, _| {
                while let Some((_, floor)) = left.next_if(|(of, _)| *of == index) {
                    entry.durable = entry.durable.max(floor);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
