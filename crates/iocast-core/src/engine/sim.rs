//! The `sim` engine: a storage device on virtual time, exact and without waiting.
//!
//! I/Os are served in order of arrival; each takes what the service law says, then its share of the transfer
//! rate, so that its end is known when it reaches the device: waiting is moving the clock to the next event.
//! What a device remembers (written blocks, caches, tiers, credits) outlives the phase in a `SimWorld`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use self::machine::Machine;
use self::world::SimWorld;
use super::setup::Setup;
use super::{Clock, Completion, Engine, Request};
use crate::error::{Error, Result};
use crate::plan::Op;
use crate::plan::simulated::Serialised;
use crate::record::result::EngineReport;
use crate::workload::random::mix64;

mod blocks;
mod flow;
mod hash;
pub(crate) mod law;
mod lru;
mod machine;
mod members;
mod streams;
mod tier;
pub mod world;

/// What happens next to an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// It reaches the device.
    Arrives,
    /// It is done, with this result.
    Ends(i64),
}

/// See the module.
pub struct SimEngine {
    world: SimWorld,
    machine: Option<Box<Machine>>,
    epoch: u64,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, u32, Event)>>,
    order: u64,
    in_flight: u32,
    /// By slot: what is on its way to the device.
    travelling: Vec<Option<Request>>,
    one_at_a_time: Serialised,
    /// The slot that holds the lock, and who waits for it.
    holder: Option<u32>,
    waiting: VecDeque<Request>,
    ended: Vec<Completion>,
}

impl SimEngine {
    /// The device that the plans share: the one of the world if it is the same, else a new one. Its clock is at
    /// 0, the plans have its slots in their order.
    pub fn new(setup: &Setup) -> Result<SimEngine> {
        let device = setup.plan().simulated.as_ref();
        let device = device.ok_or_else(|| Error::Plan("the sim engine needs a device".into()))?;
        let mut machine = setup
            .world
            .take()
            .filter(|machine| machine.spec() == device)
            .unwrap_or_else(|| Box::new(Machine::new(device, setup.plan().seed)));
        machine.begin(&setup.plans);
        Ok(SimEngine {
            world: setup.world.clone(),
            epoch: machine.epoch_ns,
            machine: Some(machine),
            now: 0,
            events: BinaryHeap::new(),
            order: 0,
            in_flight: 0,
            travelling: Vec::new(),
            one_at_a_time: device.serialised,
            holder: None,
            waiting: VecDeque::new(),
            ended: Vec::new(),
        })
    }

    fn machine(&mut self) -> &mut Machine {
        self.machine.as_mut().expect("it is handed back only at the end")
    }

    /// A tree has no places on the device: what is asked of one of its names is a read of a block, what changes it a write of
    /// one, at a place that follows from its number; what is read and written in files goes where the number leads.
    fn on_the_device(&mut self, request: Request) -> Request {
        const BLOCK_BYTES: u64 = 4096;
        let size_bytes = self.machine().spec().size_bytes;
        if !request.op.of_trees_only() {
            let beyond = request.offset.saturating_add(u64::from(request.len)) > size_bytes;
            let room = size_bytes.saturating_sub(u64::from(request.len)).max(1);
            let offset = if beyond { request.offset % room / 512 * 512 } else { request.offset };
            return Request { offset, ..request };
        }
        let changes = request.op.changes_names() || matches!(request.op, Op::Setattr | Op::Setxattr);
        let op = match request.op {
            Op::Fsyncdir => Op::Fsync,
            _ if changes => Op::Write,
            _ => Op::Read,
        };
        let blocks = (size_bytes / BLOCK_BYTES).max(1);
        let (offset, len) = (mix64(request.offset) % blocks * BLOCK_BYTES, BLOCK_BYTES as u32);
        Request { op, offset, len, ..request }
    }

    fn at(&mut self, time: u64, slot: u32, event: Event) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, slot, event)));
    }

    /// It reaches the device, or the lock in front of it.
    fn arrive(&mut self, now: u64, request: Request) {
        let locks = match self.one_at_a_time {
            Serialised::None => false,
            Serialised::Writes => request.op == Op::Write,
            Serialised::All => request.op.moves_data(),
        };
        if locks && self.holder.is_some() {
            self.waiting.push_back(request);
            return;
        }
        if locks {
            self.holder = Some(request.slot);
        }
        let (epoch, in_flight) = (self.epoch, self.in_flight);
        let (end, result) = self.machine().serve(epoch + now, &request, in_flight);
        self.at(end - epoch, request.slot, Event::Ends(result));
    }

    fn end(&mut self, now: u64, slot: u32, result: i64) {
        self.in_flight -= 1;
        self.ended.push(Completion { slot, result });
        if self.holder == Some(slot) {
            self.holder = None;
            if let Some(next) = self.waiting.pop_front() {
                self.arrive(now, next);
            }
        }
    }

    /// When the next event is due.
    fn next(&self) -> Option<u64> {
        self.events.peek().map(|Reverse(event)| event.0)
    }

    /// Moves the clock to `to`; everything until then happens.
    fn advance(&mut self, to: u64) {
        self.now = self.now.max(to);
        while self.next().is_some_and(|time| time <= self.now) {
            let Some(Reverse((time, _, slot, event))) = self.events.pop() else { return };
            match event {
                Event::Ends(result) => self.end(time, slot, result),
                Event::Arrives => {
                    if let Some(request) = self.travelling[slot as usize].take() {
                        self.arrive(time, request);
                    }
                }
            }
        }
    }
}

impl Engine for SimEngine {
    fn start(&mut self, _clock: Clock) {}

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn push(&mut self, request: Request) {
        let request = self.on_the_device(request);
        self.in_flight += 1;
        let (epoch, now) = (self.epoch, self.now);
        let reaches = self.machine().admit(epoch + now, request.op, u64::from(request.len)) - epoch;
        if reaches <= now {
            self.arrive(now, request);
            return;
        }
        let slot = request.slot as usize;
        if self.travelling.len() <= slot {
            self.travelling.resize(slot + 1, None);
        }
        self.travelling[slot] = Some(request);
        self.at(reaches, request.slot, Event::Arrives);
    }

    fn submit(&mut self, wait: u32, until: Option<u64>) -> Result<()> {
        self.advance(self.now);
        let last = until.unwrap_or(u64::MAX);
        while wait > 0 && self.ended.is_empty() {
            match self.next() {
                Some(time) if time <= last => self.advance(time),
                _ => break,
            }
        }
        if let (true, Some(until)) = (wait == 0 || self.ended.is_empty(), until) {
            self.advance(until);
        }
        Ok(())
    }

    fn reap(&mut self, out: &mut Vec<Completion>) {
        out.append(&mut self.ended);
    }

    fn buffer(&mut self, _slot: u32, _len: usize) -> &mut [u8] {
        &mut []
    }

    fn virtual_time(&self) -> bool {
        true
    }

    fn abandon(&mut self) {}

    fn report(&self) -> EngineReport {
        EngineReport {
            name: "sim".into(),
            flags: vec!["virtual time".into()],
            buffers: "none".into(),
            notes: Vec::new(),
        }
    }
}

impl Drop for SimEngine {
    fn drop(&mut self) {
        if let Some(mut machine) = self.machine.take() {
            machine.epoch_ns = self.epoch + self.now;
            self.world.keep(machine);
        }
    }
}
