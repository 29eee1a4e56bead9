//! A thread that empties the rings of a tracing instance in time, and the door to what it has read so far.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::run::signals;

/// What reads rings, round after round.
pub trait Emptied: Send + 'static {
    /// Takes all that happened until now; returns how long the rings may fill until the next round.
    fn round(&mut self) -> Result<Duration>;
}

struct Kept<R> {
    reader: R,
    failed: Option<Error>,
}

struct Shared<R> {
    kept: Mutex<Kept<R>>,
    ended: Mutex<bool>,
    end: Condvar,
}

/// A reader and its thread, which ends when this is dropped.
pub struct RingThread<R> {
    shared: Arc<Shared<R>>,
    thread: Option<JoinHandle<()>>,
}

impl<R: Emptied> RingThread<R> {
    /// Begins, the first round after a pause. `name` is that of the thread.
    pub fn start(name: &str, reader: R, pause: Duration) -> Result<RingThread<R>> {
        let kept = Kept { reader, failed: None };
        let shared = Arc::new(Shared { kept: kept.into(), ended: false.into(), end: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let work = move || {
            signals::only_waker();
            empty_rings(&theirs, pause);
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(work).map_err(Error::Thread)?;
        Ok(RingThread { shared, thread: Some(thread) })
    }

    /// Asks the reader something between two rounds. Fails, once, with what a round has failed with.
    pub fn ask<T>(&self, question: impl FnOnce(&mut R) -> Result<T>) -> Result<T> {
        let mut kept = lock(&self.shared.kept);
        match kept.failed.take() {
            Some(error) => Err(error),
            None => question(&mut kept.reader),
        }
    }

    /// Ends it; the reader is given back. Fails with what a round has failed with.
    pub fn end(mut self) -> Result<R> {
        self.stop();
        let shared = Arc::clone(&self.shared);
        drop(self);
        let shared = Arc::into_inner(shared).expect("the thread that had the other one has ended");
        let Kept { reader, failed } = shared.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(reader), Err)
    }
}

impl<R> RingThread<R> {
    fn stop(&mut self) {
        *lock(&self.shared.ended) = true;
        self.shared.end.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<R> Drop for RingThread<R> {
    fn drop(&mut self) {
        self.stop();
    }
}

fn empty_rings<R: Emptied>(shared: &Shared<R>, mut pause: Duration) {
    loop {
        let ended = lock(&shared.ended);
        let waited = shared.end.wait_timeout_while(ended, pause, |ended| !*ended);
        if *waited.unwrap_or_else(PoisonError::into_inner).0 {
            return;
        }
        let mut kept = lock(&shared.kept);
        match kept.reader.round() {
            Ok(next) => pause = next,
            Err(error) => {
                kept.failed = Some(error);
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rounds {
        done: u64,
        fails_at: u64,
    }

    impl Emptied for Rounds {
        fn round(&mut self) -> Result<Duration> {
            self.done += 1;
            if self.done == self.fails_at {
                return Err(Error::Plan("no more".into()));
            }
            Ok(Duration::from_micros(10))
        }
    }

    fn begun(fails_at: u64) -> RingThread<Rounds> {
        RingThread::start("test", Rounds { done: 0, fails_at }, Duration::ZERO).unwrap()
    }

    #[test]
    fn rounds_go_on_until_the_end_and_the_reader_comes_back() {
        let rounds = begun(u64::MAX);
        while rounds.ask(|reader| Ok(reader.done)).unwrap() < 3 {
            std::thread::yield_now();
        }
        assert!(rounds.end().unwrap().done >= 3);
    }

    #[test]
    fn a_round_that_fails_is_told_once() {
        let rounds = begun(2);
        while rounds.ask(|reader| Ok(reader.done)).is_ok() {
            std::thread::yield_now();
        }
        assert_eq!(rounds.ask(|reader| Ok(reader.done)).unwrap(), 2);
        assert!(begun(1).shared.kept.lock().is_ok(), "dropping it ends the thread");
    }
}
