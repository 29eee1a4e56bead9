//! `Handoff`: where a worker leaves what it counted while it waits in the kernel, so that it can be fetched when the
//! kernel does not give the worker back.

use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

/// Room for one thing, or empty. To leave it costs a store, to take it an exchange.
pub struct Handoff<T>(AtomicPtr<T>);

impl<T: Send> Handoff<T> {
    /// Leaves `what` to whoever takes it first.
    #[inline]
    pub fn leave(&self, what: Box<T>) {
        debug_assert!(self.0.load(Relaxed).is_null(), "only one thing lies there");
        self.0.store(Box::into_raw(what), Release);
    }

    /// What lies there; `None` when somebody else took it.
    #[inline]
    pub fn take(&self) -> Option<Box<T>> {
        let there = self.0.swap(null_mut(), AcqRel);
        // SAFETY: whatever is not null came from a box in `leave`, and no other exchange returned it.
        (!there.is_null()).then(|| unsafe { Box::from_raw(there) })
    }
}

impl<T> Default for Handoff<T> {
    fn default() -> Self {
        Handoff(AtomicPtr::new(null_mut()))
    }
}

impl<T> Drop for Handoff<T> {
    fn drop(&mut self) {
        let there = *self.0.get_mut();
        if !there.is_null() {
            // SAFETY: as in `take`; nobody else is left to take it.
            drop(unsafe { Box::from_raw(there) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn it_goes_to_one_of_two() {
        let handoff = Arc::new(Handoff::<usize>::default());
        let taken = Arc::new(AtomicUsize::new(0));
        let other = {
            let (handoff, taken) = (Arc::clone(&handoff), Arc::clone(&taken));
            std::thread::spawn(move || {
                while taken.load(Relaxed) < 1000 {
                    taken.fetch_add(handoff.take().map_or(0, |_| 1), Relaxed);
                }
            })
        };
        let mut own = Some(Box::new(0));
        let mut left = 0;
        while taken.load(Relaxed) < 1000 {
            handoff.leave(own.take().unwrap_or_else(|| Box::new(left)));
            left += 1;
            own = handoff.take();
            left -= usize::from(own.is_some());
        }
        other.join().expect("the other thread");
        assert!(left >= 1000);
    }

    #[test]
    fn what_nobody_takes_is_dropped_with_it() {
        let kept = Arc::new(());
        let handoff = Handoff::default();
        handoff.leave(Box::new(Arc::clone(&kept)));
        assert_eq!(Arc::strong_count(&kept), 2);
        drop(handoff);
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
