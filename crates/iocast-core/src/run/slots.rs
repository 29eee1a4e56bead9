//! `Slots`: the I/Os of a part from push to end, one a slot; what is pushed together is submitted together.

use crate::engine::{Engine, Request};
use crate::plan::Op;
use crate::record::tally::Ended;
use crate::workload::next_io::NextIo;
use crate::workload::payload::PayloadMaker;

/// The I/O of a slot, or the last one that it had: one cache line, and nothing in it twice.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) request: Request,
    /// Index of its user's lane.
    pub(crate) lane: u32,
    class: u32,
    /// Of a trace: which of its user's rows.
    pub(crate) row: u32,
    /// When it was due; while its user thinks, when the next one will be.
    pub(crate) due: u64,
    pub(crate) submitted: u64,
    /// It came in more than one piece.
    pub(crate) short: bool,
}

impl Slot {
    /// The I/O as the tally wants it, when it has moved so many bytes.
    #[inline(always)]
    pub(crate) fn ended(&self, bytes: u64) -> Ended {
        let Request { file, offset, .. } = self.request;
        let (class, due, submitted, short) = (self.class as usize, self.due, self.submitted, self.short);
        Ended { class, file, offset, due, submitted, bytes, short }
    }
}

/// See the module.
pub(crate) struct Slots {
    first: u32,
    slots: Vec<Option<Slot>>,
    /// Indices of those that were pushed and not yet submitted.
    batch: Vec<u32>,
    in_flight: u32,
    durable: bool,
    payload: Option<PayloadMaker>,
}

impl Slots {
    /// `count` empty slots, the first of which the engine knows as `first`.
    pub(crate) fn new(first: u32, count: usize, durable: bool) -> Slots {
        let (slots, batch) = (vec![None; count], Vec::with_capacity(count));
        Slots { first, slots, batch, in_flight: 0, durable, payload: None }
    }

    /// Fills the buffers, of `bytes` at most, with what is written from them.
    pub(crate) fn prepare(&mut self, engine: &mut impl Engine, mut maker: PayloadMaker, bytes: usize) {
        for slot in 0..self.len() as u32 {
            maker.prepare(engine.buffer(self.first + slot, bytes));
        }
        self.payload = Some(maker);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// What the engine calls the first of them.
    #[inline]
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// I/Os in flight, those not yet submitted included.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// How many wait to be submitted.
    #[inline]
    pub(crate) fn pushed(&self) -> u32 {
        self.batch.len() as u32
    }

    /// The I/O of a slot, or the last one that it had.
    #[inline]
    pub(crate) fn last(&self, slot: u32) -> Option<&Slot> {
        self.slots[(slot - self.first) as usize].as_ref()
    }

    /// The I/O of a slot in which there was one.
    #[inline]
    pub(crate) fn taken(&mut self, slot: u32) -> &mut Slot {
        self.slots[(slot - self.first) as usize].as_mut().expect("a slot that was pushed")
    }

    /// The I/Os of all slots that ever had one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    /// Puts an I/O into a slot and hands it to the engine.
    #[inline]
    pub(crate) fn push(&mut self, engine: &mut impl Engine, lane: u32, slot: u32, next: NextIo, due: u64) {
        let NextIo { class, op, row, size, place } = next;
        let (file, offset, durable) = (place.file, place.offset, self.durable);
        let request = Request { slot, op, file, offset, len: size as u32, done: 0, durable };
        let index = slot - self.first;
        self.slots[index as usize] =
            Some(Slot { request, lane, class: class as u32, row, due, submitted: 0, short: false });
        if let (Op::Write, Some(payload)) = (op, &mut self.payload) {
            payload.stamp(engine.buffer(slot, size as usize));
        }
        engine.push(request);
        self.batch.push(index);
        self.in_flight += 1;
    }

    /// What was pushed is submitted: `stamp` is told of each.
    #[inline]
    pub(crate) fn submitted(&mut self, mut stamp: impl FnMut(&mut Slot)) {
        for index in self.batch.drain(..) {
            stamp(self.slots[index as usize].as_mut().expect("a slot that was pushed"));
        }
    }

    /// An I/O came back.
    #[inline]
    pub(crate) fn ended(&mut self) {
        self.in_flight -= 1;
    }
}
