//! Engines that end their threads, or keep them: the crew goes on without, and with what they counted.

use std::sync::atomic::AtomicBool;

use serde_json::json;

use super::*;
use crate::engine::{Completion, Request};
use crate::run::lane::Lane;
use crate::testing::plan;
use crate::workload::stream::Stream;

/// Ends so many I/Os at once, then does `last` with its thread.
struct Odd {
    clock: Clock,
    good: u32,
    pushed: Vec<Request>,
    last: fn(),
}

impl Engine for Odd {
    fn start(&mut self, clock: Clock) {
        self.clock = clock;
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn push(&mut self, request: Request) {
        self.pushed.push(request);
    }

    fn submit(&mut self, _wait: u32, _until: Option<u64>) -> Result<()> {
        if self.good == 0 {
            (self.last)();
        }
        self.good -= 1;
        Ok(())
    }

    fn reap(&mut self, out: &mut Vec<Completion>) {
        let ended = |request: Request| Completion { slot: request.slot, result: i64::from(request.len) };
        out.extend(self.pushed.drain(..).map(ended));
    }

    fn buffer(&mut self, _slot: u32, _len: usize) -> &mut [u8] {
        &mut []
    }

    fn abandon(&mut self) {}

    fn report(&self) -> EngineReport {
        EngineReport::default()
    }
}

/// What comes of a phase of one user on this engine, when somebody stops it after so many ticks.
fn watched(last: fn(), ticks: u32) -> Result<Watched> {
    signals::install_waker();
    let plan = Arc::new(plan(json!({"length": {"seconds": 60.0}})));
    let mut crew = Crew::new(vec![Arc::clone(&plan)], false, false);
    let lane = Lane::new(0, Arc::new(Mutex::new(Stream::new(&plan, 0))), 0..1);
    let part = Part::new(0, plan, vec![lane], 0);
    let build = move || Ok(Odd { clock: Clock::start(), good: 100, pushed: Vec::new(), last });
    crew.start(vec![part], build)?;
    crew.wait_until_ready()?;
    let (begun, clock) = (Instant::now(), Clock::start());
    crew.begin(clock);
    let mut left = ticks;
    let watched = crew.watch((begun, clock), true, &mut |_| {
        left = left.saturating_sub(1);
        if left == 0 { Answer::Stop } else { Answer::GoOn }
    });
    crew.dismiss();
    watched
}

#[test]
fn a_thread_that_panics_ends_the_run() {
    let why = watched(|| panic!("as it was told"), u32::MAX).err().expect("an error");
    assert!(matches!(why, Error::Panicked), "{why}");
}

#[test]
fn what_a_thread_counted_that_never_comes_back_is_kept() {
    static HELD: AtomicBool = AtomicBool::new(true);
    let done = watched(
        || {
            while HELD.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
        },
        3,
    );
    HELD.store(false, Relaxed);
    let done = done.expect("no error");
    assert_eq!((done.missing, done.interrupted), (vec![0], true));
    let [outcome] = &done.outcomes[..] else { panic!("one worker") };
    assert_eq!((outcome.tallied.ios, outcome.abandoned, outcome.left_behind.len()), (100, 1, 1));
    assert!(outcome.left_behind[0].service_ns > 1_000_000_000, "it was waited for");
    assert!(outcome.cut);
}
