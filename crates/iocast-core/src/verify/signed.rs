//! An engine around another one that seals what is written and keeps the journal. Without a journal it does nothing.

use std::sync::Arc;

use super::journal::Journal;
use super::seal::{Address, seal};
use crate::engine::{Clock, Completion, Engine, Request};
use crate::error::Result;
use crate::plan::Op;
use crate::record::result::EngineReport;

/// What a slot has outstanding.
enum Open {
    Nothing,
    Write { request: Request, moved: u32 },
    Flush(Vec<(u64, u32)>),
}

/// See the module.
pub struct Signed<E: Engine> {
    inner: E,
    journal: Option<Arc<Journal>>,
    open: Vec<Open>,
    /// Of the blocks of the write that is signed.
    numbers: Vec<u32>,
}

impl<E: Engine> Signed<E> {
    /// `inner` with the journal of the phase.
    pub fn new(inner: E, journal: Option<Arc<Journal>>) -> Signed<E> {
        Signed { inner, journal, open: Vec::new(), numbers: Vec::new() }
    }

    #[cold]
    fn sign(&mut self, journal: &Journal, request: Request) -> Result<()> {
        let slot = request.slot as usize;
        while self.open.len() <= slot {
            self.open.push(Open::Nothing);
        }
        if request.done > 0 && matches!(self.open[slot], Open::Write { .. }) {
            return Ok(()); // the rest of a short write: its seals are there
        }
        // What came back interrupted and is not gone on with has failed.
        self.close(journal, slot, false)?;
        self.open[slot] = match request.op {
            Op::Write => {
                let block_bytes = journal.plan().block_bytes;
                let run_id = journal.plan().run_id;
                let (first, count) = blocks(journal, &request);
                journal.sending(first, count, &mut self.numbers)?;
                let buffer = self.inner.buffer(request.slot, request.len as usize);
                let sealed = buffer.chunks_exact_mut(block_bytes as usize).zip(&self.numbers);
                for (at, (block, number)) in sealed.enumerate() {
                    let offset = request.offset + at as u64 * block_bytes;
                    seal(block, Address { run_id, file: request.file, offset }, *number);
                }
                Open::Write { request, moved: 0 }
            }
            Op::Fsync | Op::Fdatasync => Open::Flush(journal.flushing(request.file)),
            // Neither trims nor trees are verified.
            _ => Open::Nothing,
        };
        Ok(())
    }

    fn close(&mut self, journal: &Journal, slot: usize, well: bool) -> Result<()> {
        match std::mem::replace(&mut self.open[slot], Open::Nothing) {
            Open::Nothing => Ok(()),
            Open::Write { request, .. } => {
                let (first, count) = blocks(journal, &request);
                journal.ended(request.file, first, count, well, request.durable)
            }
            Open::Flush(blocks) if well => journal.flushed(blocks),
            // What a failed flush did to the data nobody knows: it stays undurable.
            Open::Flush(_) => Ok(()),
        }
    }

    fn note(&mut self, journal: &Journal, completion: Completion) -> Result<()> {
        let slot = completion.slot as usize;
        match &mut self.open[slot] {
            Open::Write { request, moved } if completion.result > 0 => {
                *moved += completion.result as u32;
                if *moved < request.len {
                    let (first, count) = blocks(journal, request);
                    return journal.interrupted(first, count);
                }
                self.close(journal, slot, true)
            }
            Open::Write { .. } => self.close(journal, slot, false),
            _ => self.close(journal, slot, completion.result >= 0),
        }
    }
}

/// The first block of a write in the journal, and how many it has.
fn blocks(journal: &Journal, request: &Request) -> (u64, u64) {
    let Request { file, offset, len, .. } = *request;
    (journal.index(file, offset), u64::from(len) / journal.plan().block_bytes)
}

impl<E: Engine> Engine for Signed<E> {
    fn start(&mut self, clock: Clock) {
        self.inner.start(clock);
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.inner.now()
    }

    #[inline]
    fn push(&mut self, request: Request) {
        if let Some(journal) = self.journal.take() {
            let signed = self.sign(&journal, request);
            self.journal = Some(journal);
            if signed.is_err() {
                return; // nothing is written that is not recorded; the submission that follows says why
            }
        }
        self.inner.push(request);
    }

    #[inline]
    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        if let Some(why) = self.journal.as_ref().and_then(|journal| journal.failure()) {
            return Err(why);
        }
        self.inner.submit(wait, until)
    }

    #[inline]
    fn reap(&mut self, out: &mut Vec<Completion>) {
        let before = out.len();
        self.inner.reap(out);
        if let Some(journal) = self.journal.take() {
            let noted = out[before..].iter().try_for_each(|completion| self.note(&journal, *completion));
            self.journal = Some(journal);
            if noted.is_err() {
                // As long as they are outstanding there is one more submission, which says why.
                out.truncate(before);
            }
        }
    }

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.inner.buffer(slot, len)
    }

    fn virtual_time(&self) -> bool {
        self.inner.virtual_time()
    }

    fn abandon(&mut self) {
        self.inner.abandon();
    }

    fn report(&self) -> EngineReport {
        let mut report = self.inner.report();
        report.flags.extend(self.journal.is_some().then(|| "writes sealed and journalled".to_string()));
        report
    }
}
