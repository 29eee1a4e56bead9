//! Pieces in a ring: each is written as soon as it is read, while others are read.

use std::io;

use io_uring::types::Fd;
use io_uring::{IoUring, opcode, squeue};

use super::way::{End, Way};
use super::way::{PIECE_BYTES, PIECES};
use crate::workload::buffers::Buffers;

/// Offsets and lengths of direct I/O are multiples of it.
const ALIGNED: usize = 4096;

/// A piece of the file, in the buffer of its slot.
#[derive(Clone, Copy, Default)]
struct Piece {
    at: u64,
    bytes: usize,
    /// How much of it is read, or written.
    done: usize,
    writing: bool,
}

struct Pipeline<'a, 'b, 'c> {
    way: &'a mut Way<'b>,
    ring: IoUring,
    buffers: &'c Buffers,
    pieces: [Piece; PIECES],
    /// Where the next piece begins, and where the last one ends.
    next: u64,
    end: u64,
    outstanding: usize,
}

/// Copies with PIECES outstanding I/Os. What O_DIRECT cannot write, the end of a file that is no multiple of its blocks,
/// goes through the page cache.
pub fn pipelined(way: &mut Way, buffers: &Buffers, direct: bool) -> Result<(), End> {
    let ring = match ring() {
        Ok(ring) => ring,
        Err(why) => return Err(way.refused("io_uring_setup", why.raw_os_error().unwrap_or(libc::ENOSYS))),
    };
    if direct {
        way.set_direct(way.from, true)?;
        way.set_direct(way.to, true)?;
    }
    let rest = if direct { way.size % ALIGNED as u64 } else { 0 };
    let end = way.size - rest;
    let pieces = [Piece::default(); PIECES];
    let mut pipeline = Pipeline { way, ring, buffers, pieces, next: 0, end, outstanding: 0 };
    let copied = pipeline.run();
    pipeline.drain();
    copied?;
    if rest > 0 {
        way.set_direct(way.from, false)?;
        way.set_direct(way.to, false)?;
        last(way, buffers, end, rest as usize)?;
    }
    Ok(())
}

fn ring() -> io::Result<IoUring> {
    let entries = PIECES as u32;
    IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .build(entries)
        .or_else(|_| IoUring::new(entries))
}

/// The end that is no whole block.
fn last(way: &mut Way, buffers: &Buffers, at: u64, bytes: usize) -> Result<(), End> {
    let (buffer, from, to) = (buffers.pointer(0, 0, bytes), way.from, way.to);
    let mut done = 0;
    while done < bytes {
        let offset = (at + done as u64) as libc::off_t;
        // SAFETY: `bytes` bytes of the buffer are free from `done` on.
        let read =
            way.call("read", || unsafe { libc::pread(from, buffer.add(done).cast(), bytes - done, offset) })?;
        // SAFETY: they were read just now.
        let wrote =
            way.call("write", || unsafe { libc::pwrite(to, buffer.add(done).cast(), read, offset) })?;
        done += wrote;
        way.moved(wrote)?;
    }
    Ok(())
}

impl Pipeline<'_, '_, '_> {
    fn run(&mut self) -> Result<(), End> {
        for slot in 0..PIECES {
            self.begin(slot)?;
        }
        while self.outstanding > 0 {
            self.wait()?;
            while let Some((slot, result)) = self.reap() {
                self.ended(slot, result)?;
            }
        }
        Ok(())
    }

    /// Slot and result of an I/O that has ended.
    fn reap(&mut self) -> Option<(usize, i32)> {
        let done = self.ring.completion().next()?;
        self.outstanding -= 1;
        Some((done.user_data() as usize, done.result()))
    }

    /// Reads the next piece, if there is one.
    fn begin(&mut self, slot: usize) -> Result<(), End> {
        if self.next >= self.end {
            return Ok(());
        }
        let bytes = (self.end - self.next).min(PIECE_BYTES as u64) as usize;
        self.pieces[slot] = Piece { at: self.next, bytes, done: 0, writing: false };
        self.next += bytes as u64;
        self.push(slot)
    }

    fn ended(&mut self, slot: usize, result: i32) -> Result<(), End> {
        let piece = &mut self.pieces[slot];
        if result <= 0 && ![-libc::EINTR, -libc::EAGAIN].contains(&result) {
            return Err(self.way.refused(if piece.writing { "write" } else { "read" }, -result));
        }
        piece.done += result.max(0) as usize;
        if piece.done < piece.bytes {
            return self.push(slot);
        }
        if !piece.writing {
            *piece = Piece { done: 0, writing: true, ..*piece };
            return self.push(slot);
        }
        let bytes = piece.bytes;
        self.way.moved(bytes)?;
        self.begin(slot)
    }

    /// Submits what of a piece is not yet read, or written.
    fn push(&mut self, slot: usize) -> Result<(), End> {
        let piece = self.pieces[slot];
        let memory = self.buffers.pointer(slot as u32, piece.done, piece.bytes);
        let (bytes, at) = ((piece.bytes - piece.done) as u32, piece.at + piece.done as u64);
        let entry: squeue::Entry = match piece.writing {
            true => opcode::Write::new(Fd(self.way.to), memory, bytes).offset(at).build(),
            false => opcode::Read::new(Fd(self.way.from), memory, bytes).offset(at).build(),
        };
        // SAFETY: the buffers live until nothing is outstanding (`drain`), and each slot has one I/O at most.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(slot as u64)) };
        if pushed.is_err() {
            return Err(self.way.refused("io_uring_enter", libc::EBUSY));
        }
        self.outstanding += 1;
        self.way.calls += 1;
        Ok(())
    }

    /// Submits, and waits for one completion.
    fn wait(&mut self) -> Result<(), End> {
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => return Ok(()),
                Err(why) if why.raw_os_error() == Some(libc::EINTR) => {}
                Err(why) => {
                    let errno = why.raw_os_error().unwrap_or(libc::EIO);
                    return Err(self.way.refused("io_uring_enter", errno));
                }
            }
        }
    }

    /// Waits until no I/O works on the buffers any more.
    fn drain(&mut self) {
        while self.outstanding > 0 && self.wait().is_ok() {
            while self.reap().is_some() {}
        }
    }
}
