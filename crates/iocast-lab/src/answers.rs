//! Answers that wait for their time: one thread sleeps until shortly before the next, then spins.
//!
//! One thread is enough for all depths, and on a machine of few processors it is more exact than a thread
//! an I/O, of which the spinning ones would take the processor from the client that is being answered.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::thread::set_current_timer_slack;

/// It wakes so long before the time: timers and wake-ups come up to about this much late.
const SPIN_NS: u64 = 120_000;

/// Gives one answer.
pub type Answer = Box<dyn FnOnce() + Send>;

struct Waiting {
    due_ns: u64,
    /// Equal times are answered in the order in which they came.
    number: u64,
    answer: Answer,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        (other.due_ns, other.number).cmp(&(self.due_ns, self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

#[derive(Default)]
struct Queue {
    waiting: BinaryHeap<Waiting>,
    numbers: u64,
}

/// See the module.
pub struct Answers {
    began: Instant,
    queue: Mutex<Queue>,
    arrived: Condvar,
    /// The first due time, for the thread that spins without the lock.
    first_ns: AtomicU64,
}

impl Answers {
    /// Starts the thread.
    pub fn start() -> io::Result<Arc<Answers>> {
        let answers = Arc::new(Answers {
            began: Instant::now(),
            queue: Mutex::default(),
            arrived: Condvar::new(),
            first_ns: AtomicU64::new(u64::MAX),
        });
        let worker = Arc::clone(&answers);
        std::thread::Builder::new().name("lab-answers".into()).spawn(move || {
            // By default the kernel lets the timers of a thread be 50 us late.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            loop {
                (worker.next())();
            }
        })?;
        Ok(answers)
    }

    /// Time since the start.
    pub fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Answers at `due_ns`; at once when that is past.
    pub fn at(&self, due_ns: u64, answer: Answer) {
        if due_ns <= self.now_ns() {
            return answer();
        }
        let mut queue = self.lock();
        queue.numbers += 1;
        let number = queue.numbers;
        queue.waiting.push(Waiting { due_ns, number, answer });
        if due_ns < self.first_ns.fetch_min(due_ns, Relaxed) {
            self.arrived.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under the lock leaves it half done.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next answer whose time has come.
    fn next(&self) -> Answer {
        let mut queue = self.lock();
        loop {
            let first_ns = queue.waiting.peek().map_or(u64::MAX, |first| first.due_ns);
            let left_ns = first_ns.saturating_sub(self.now_ns());
            if first_ns == u64::MAX {
                queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner);
            } else if left_ns > SPIN_NS {
                let nap = Duration::from_nanos(left_ns - SPIN_NS);
                queue = self.arrived.wait_timeout(queue, nap).unwrap_or_else(PoisonError::into_inner).0;
            } else if left_ns > 0 {
                drop(queue);
                while self.now_ns() < first_ns && self.first_ns.load(Relaxed) >= first_ns {
                    std::hint::spin_loop();
                }
                queue = self.lock();
            } else if let Some(first) = queue.waiting.pop() {
                let then_ns = queue.waiting.peek().map_or(u64::MAX, |next| next.due_ns);
                self.first_ns.store(then_ns, Relaxed);
                return first.answer;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const MS: u64 = 1_000_000;

    #[test]
    fn answers_come_in_the_order_of_their_times_and_never_early() {
        let answers = Answers::start().unwrap();
        let (sender, receiver) = mpsc::channel();
        let now = answers.now_ns();
        for after in [300 * MS, 100 * MS, 200 * MS, 100 * MS, 0] {
            let (sender, clock, due) = (sender.clone(), Arc::clone(&answers), now + after);
            answers.at(due, Box::new(move || sender.send((after, clock.now_ns() >= due)).unwrap()));
        }
        let came: Vec<_> = receiver.iter().take(5).collect();
        let order: Vec<u64> = came.iter().map(|(after, _)| after / MS).collect();
        assert_eq!(order, [0, 100, 100, 200, 300]);
        assert!(came.iter().all(|(_, in_time)| *in_time));
    }
}
