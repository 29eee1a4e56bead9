//! The journal of a verified run: for each block which write was sent, which is certain to be there, which durable.
//!
//! It is a mapped file in the run folder, so that it outlives the death of this process at any moment: the
//! number of a write stands in it before the write is submitted. Sixteen bytes a block.
//!
//! Two writes of one block that are outstanding together may land in any order. They make one *spell*: from
//! the first sent while none is outstanding to the moment when none is any more. Once a write of a spell was
//! acknowledged, the block holds some write of that spell or a later one, but not an earlier one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use memmap2::{MmapOptions, MmapRaw};

use crate::error::{Error, Result};
use crate::plan::{PhasePlan, VerifyPlan};

const MAGIC: [u8; 8] = *b"iocjrnl1";
/// What stands before the entries: magic, run id, bytes of a block, number of entries.
pub const HEADER_BYTES: usize = 4096;
const ENTRY_BYTES: usize = std::mem::size_of::<Entry>();
const STRIPES: usize = 256;

/// What is known of one block. Numbers count its writes from 1; 0 is none.
#[repr(C)]
pub struct Entry {
    sent: AtomicU32,
    floor: AtomicU32,
    durable: AtomicU32,
    blended: AtomicU32,
}

/// An entry, read.
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

struct Spell {
    index: u64,
    outstanding: u32,
    first: u32,
}

/// See the module.
pub struct Journal {
    memory: MmapRaw,
    stripes: Vec<Mutex<Vec<Spell>>>,
    /// Of each file: blocks that were acknowledged since it was last flushed, with their floor.
    unflushed: Vec<Mutex<Vec<(u64, u32)>>>,
    plan: VerifyPlan,
    flushes: bool,
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

    /// Maps a journal and checks that it is the one that is meant.
    pub fn open(verify: &VerifyPlan, writable: bool) -> Result<Journal> {
        let refuse = |source: io::Error| Error::Journal { path: verify.journal.clone(), source };
        let invalid = |why: &str| refuse(io::Error::new(io::ErrorKind::InvalidData, why));
        let file =
            File::options().read(true).write(writable).open(Path::new(&verify.journal)).map_err(refuse)?;
        let bytes = file.metadata().map_err(refuse)?.len() as usize;
        if bytes < HEADER_BYTES {
            return Err(invalid("it is truncated"));
        }
        let mut options = MmapOptions::new();
        options.len(bytes);
        let memory = if writable { options.map_raw(&file) } else { options.map_raw_read_only(&file) };
        let journal = Journal {
            memory: memory.map_err(refuse)?,
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            unflushed: verify.first_blocks.iter().map(|_| Mutex::default()).collect(),
            plan: verify.clone(),
            flushes: false,
        };
        let mut header = [0; 32];
        file.read_exact_at(&mut header, 0).map_err(refuse)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        if header[..8] != MAGIC || word(8) != verify.run_id || word(16) != verify.block_bytes {
            return Err(invalid("it is not the journal of this run"));
        }
        if word(24).checked_mul(ENTRY_BYTES as u64).is_none_or(|n| n > (bytes - HEADER_BYTES) as u64) {
            return Err(invalid("it is truncated"));
        }
        Ok(journal)
    }

    /// How many blocks it has.
    pub fn len(&self) -> u64 {
        ((self.memory.len() - HEADER_BYTES) / ENTRY_BYTES) as u64
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How it was told to record.
    pub fn plan(&self) -> &VerifyPlan {
        &self.plan
    }

    fn entry(&self, index: u64) -> &Entry {
        assert!(index < self.len(), "a block of the journal");
        // SAFETY: inside the mapping, aligned (header and entries are of whole 16 bytes), only atomics.
        unsafe { &*self.memory.as_ptr().add(HEADER_BYTES + index as usize * ENTRY_BYTES).cast::<Entry>() }
    }

    /// What is known of a block.
    pub fn known(&self, index: u64) -> Known {
        let entry = self.entry(index);
        Known {
            sent: entry.sent.load(Relaxed),
            floor: entry.floor.load(Relaxed),
            durable: entry.durable.load(Relaxed),
            blended: entry.blended.load(Relaxed),
        }
    }

    /// The entry of the block at a byte of a file.
    #[inline]
    pub fn index(&self, file: u32, offset: u64) -> u64 {
        self.plan.first_blocks[file as usize] + offset / self.plan.block_bytes
    }

    /// A write of a block is about to be sent; returns its number.
    #[inline]
    pub fn sending(&self, index: u64) -> u32 {
        let entry = self.entry(index);
        let mut spells = self.stripes[index as usize % STRIPES].lock().expect("no panic while it is held");
        let sequence = entry.sent.load(Relaxed) + 1;
        entry.sent.store(sequence, Relaxed);
        match spells.iter_mut().find(|spell| spell.index == index) {
            Some(spell) => {
                spell.outstanding += 1;
                entry.blended.store(sequence, Relaxed);
            }
            None => spells.push(Spell { index, outstanding: 1, first: sequence }),
        }
        sequence
    }

    /// A write of a block came back, well or not; `durable` when its own flags made it so.
    #[inline]
    pub fn ended(&self, file: u32, index: u64, well: bool, durable: bool) {
        let entry = self.entry(index);
        let mut spells = self.stripes[index as usize % STRIPES].lock().expect("no panic while it is held");
        let Some(at) = spells.iter().position(|spell| spell.index == index) else { return };
        let first = spells[at].first;
        if well {
            entry.floor.store(first, Relaxed);
        } else {
            entry.blended.store(entry.sent.load(Relaxed), Relaxed);
        }
        spells[at].outstanding -= 1;
        if spells[at].outstanding == 0 {
            spells.swap_remove(at);
        }
        drop(spells);
        if well && durable {
            entry.durable.fetch_max(first, Relaxed);
        } else if well && self.flushes {
            self.unflushed[file as usize].lock().expect("no panic while it is held").push((index, first));
        }
    }

    /// A write came back short and may go on: until it has ended well its block may hold parts of two writes.
    pub fn interrupted(&self, index: u64) {
        let entry = self.entry(index);
        entry.blended.store(entry.sent.load(Relaxed), Relaxed);
    }

    /// A flush of a file is about to be sent: what it will make durable when it ends well.
    pub fn flushing(&self, file: u32) -> Vec<(u64, u32)> {
        std::mem::take(&mut *self.unflushed[file as usize].lock().expect("no panic while it is held"))
    }

    /// That flush ended well.
    pub fn flushed(&self, blocks: &[(u64, u32)]) {
        for (index, floor) in blocks {
            self.entry(*index).durable.fetch_max(*floor, Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
