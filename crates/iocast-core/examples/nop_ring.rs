//! The real worker loop, with everything it always records, on a ring of no-ops: what one I/O costs the generator.
//!
//! `cargo run --release --package iocast-core --example nop_ring [DEPTH] [SECONDS]` prints one line of JSON.

use std::sync::{Arc, Mutex};

use io_uring::{IoUring, opcode};
use iocast_core::engine::{Clock, Completion, Engine, Request};
use iocast_core::error::{Error, Result};
use iocast_core::plan::PhasePlan;
use iocast_core::record::result::EngineReport;
use iocast_core::run::control::Control;
use iocast_core::run::lane::Lane;
use iocast_core::run::part::Part;
use iocast_core::run::worker::Worker;
use iocast_core::workload::stream::Stream;

struct NopRing {
    clock: Clock,
    ring: IoUring,
}

impl Engine for NopRing {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn push(&mut self, request: Request) {
        let entry = opcode::Nop::new().build().user_data(u64::from(request.slot));
        // SAFETY: a no-op touches no memory.
        unsafe { self.ring.submission().push(&entry) }.expect("a place in the ring for each slot");
    }

    fn submit(&mut self, wait: u32, _until: Option<u64>) -> Result<()> {
        let sent = self.ring.submit_and_wait(wait as usize);
        sent.map(drop).map_err(|source| Error::Ring { doing: "submission", source })
    }

    fn reap(&mut self, out: &mut Vec<Completion>) {
        // A read of 4 KiB came back whole.
        out.extend(self.ring.completion().map(|c| Completion { slot: c.user_data() as u32, result: 4096 }));
    }

    fn buffer(&mut self, _slot: u32, _len: usize) -> &mut [u8] {
        &mut []
    }

    fn abandon(&mut self) {}

    fn report(&self) -> EngineReport {
        EngineReport::default()
    }
}

fn cpu_ns() -> u64 {
    // SAFETY: rusage is plain data and getrusage fills it.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

fn plan(depth: u32, seconds: f64) -> Result<PhasePlan> {
    PhasePlan::from_json(&format!(
        r#"{{"name": "nop", "role": "measure", "engine": "uring",
        "files": [{{"path": "none", "start_bytes": 0, "size_bytes": 268435456}}],
        "mix": [{{"op": "read", "size_bytes": 4096}}], "locality": {{"kind": "uniform"}},
        "arrival": {{"kind": "closed"}}, "users": 1, "depth": {depth}, "direct": true, "sync": "none",
        "payload": {{"kind": "unique"}}, "length": {{"seconds": {seconds}}}, "interval_ns": 1000000000,
        "seed": 1, "slow_limit": 64, "error_limit": 1}}"#
    ))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let depth = arguments.next().map_or(128, |text| text.parse().expect("a depth"));
    let seconds = arguments.next().map_or(1.0, |text| text.parse().expect("seconds"));
    let plan = Arc::new(plan(depth, seconds).expect("a plan"));
    let ring = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .build(depth.next_power_of_two())
        .expect("a ring");
    let lane = Lane::new(0, Arc::new(Mutex::new(Stream::new(&plan, 0))), 0..depth);
    let parts = vec![Part::new(0, Arc::clone(&plan), vec![lane], 0)];
    let engine = NopRing { clock: Clock::start(), ring };
    let mut worker = Worker::new(Arc::new(Control::new(1)), engine, parts, 0, false, Arc::default());
    let before = cpu_ns();
    worker.engine_mut().start(Clock::start());
    let (outcomes, _engine) = worker.run();
    let cpu = cpu_ns() - before;
    let outcomes = outcomes.expect("nobody else took them").expect("no-ops do not fail");
    let ios: u64 = outcomes.iter().map(|outcome| outcome.tallied.ios).sum();
    println!(r#"{{"depth": {depth}, "ios": {ios}, "cpu_ns": {cpu}, "seconds": {seconds}}}"#);
}
