//! Which steps are of one request: what is on its way, by where it begins and what it asks, live and in traces.
//!
//! The tracepoints name no request, so of two of one kind at the same sector the one that is as long as what ended is
//! taken, and first in, first out among those. An issue is of what was queued last there: one before it that was never
//! issued has gone into another request, and is forgotten when that ends.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// One multiplication a word: the table is looked at for every record, and its keys are nobody's to choose.
#[derive(Default)]
pub struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
pub struct Open<T> {
    /// What is known of it: as it was queued, and from its issue on as it was issued.
    pub record: T,
    /// When it came. None: that was not seen.
    pub queued_ns: Option<i64>,
    /// When it went to the driver, if it has.
    pub issued_ns: Option<i64>,
    /// Sectors that are not done: a driver may complete a request in parts.
    pub left: u64,
}

impl<T> Open<T> {
    fn is_issued(&self) -> bool {
        self.issued_ns.is_some()
    }

    fn is_queued(&self) -> bool {
        self.issued_ns.is_none()
    }
}

/// All requests that are on their way.
pub struct Requests<K, T> {
    open: HashMap<K, smallest::Few<Open<T>>, BuildHasherDefault<Quick>>,
    queued: usize,
    issued: usize,
}

impl<K, T> Default for Requests<K, T> {
    fn default() -> Self {
        Requests { open: HashMap::default(), queued: 0, issued: 0 }
    }
}

impl<K: Copy + Eq + Hash, T: Copy> Requests<K, T> {
    /// How many were queued and not issued.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// How many were issued and are not done.
    pub fn issued(&self) -> usize {
        self.issued
    }

    /// Where those are that were issued.
    pub fn issued_at(&self) -> impl Iterator<Item = &K> {
        self.open.iter().flat_map(|(key, slot)| slot.iter().filter(|open| open.is_issued()).map(move |_| key))
    }

    /// One came.
    #[inline(always)]
    pub fn queue(&mut self, key: K, record: T, at_ns: i64) {
        self.queued += 1;
        let fresh = Open { record, queued_ns: Some(at_ns), issued_ns: None, left: 0 };
        self.open.entry(key).or_default().push(fresh);
    }

    /// The one that was queued last there.
    pub fn queued_last(&self, key: K) -> Option<Open<T>> {
        self.open.get(&key)?.iter().filter(|open| open.is_queued()).last().copied()
    }

    /// The absorbed request stops being a request of its own.
    pub fn merge(&mut self, key: K) -> Option<Open<T>> {
        let slot = self.open.get_mut(&key)?;
        let found = slot.remove_last(Open::is_queued)?;
        self.queued -= 1;
        if slot.is_empty() {
            self.open.remove(&key);
        }
        Some(found)
    }

    /// What was queued last there goes to the driver as `record`; false where nothing was.
    #[inline(always)]
    pub fn issue_queued(&mut self, key: K, record: T, at_ns: i64, sectors: u64) -> bool {
        let slot = self.open.get_mut(&key);
        let Some(open) = slot.and_then(|slot| slot.last_where(Open::is_queued)) else { return false };
        *open = Open { record, queued_ns: open.queued_ns, issued_ns: Some(at_ns), left: sectors };
        self.queued -= 1;
        self.issued += 1;
        true
    }

    /// One goes to the driver, whether its queueing was seen or not.
    #[inline(always)]
    pub fn issue(&mut self, key: K, record: T, at_ns: i64, sectors: u64) {
        if !self.issue_queued(key, record, at_ns, sectors) {
            self.go_on(key, Open { record, queued_ns: None, issued_ns: Some(at_ns), left: sectors });
        }
    }

    /// The driver gave it back: all of the time until it is issued for good is queueing.
    pub fn requeue(&mut self, key: K) {
        let slot = self.open.get_mut(&key);
        let Some(back) = slot.and_then(|slot| slot.last_where(Open::is_issued)) else { return };
        back.queued_ns = back.queued_ns.or(back.issued_ns);
        back.issued_ns = None;
        self.issued -= 1;
        self.queued += 1;
    }

    /// One that was issued there, and of which no end will come.
    #[inline(always)]
    pub fn give_up(&mut self, key: K) -> Option<Open<T>> {
        let slot = self.open.get_mut(&key)?;
        let lost = slot.remove_first(Open::is_issued)?;
        self.issued -= 1;
        if slot.is_empty() {
            self.open.remove(&key);
        }
        Some(lost)
    }

    /// So many sectors of one are done.
    ///
    /// Where lengths differ: taken for one that ended in part, the longer one would leave a rest behind, and each
    /// request at that place would be given the beginning of the one before.
    #[inline(always)]
    pub fn complete(&mut self, key: K, sectors: u64) -> Option<Open<T>> {
        let slot = self.open.get_mut(&key)?;
        let whole = slot.remove_first(|open| open.is_issued() && open.left == sectors);
        let open = whole.or_else(|| slot.remove_first(Open::is_issued))?;
        self.issued -= 1;
        if !slot.is_empty() {
            let older = |left: &Open<T>| left.is_queued() && left.queued_ns <= open.queued_ns;
            self.queued -= slot.drop_where(older);
        }
        if slot.is_empty() {
            self.open.remove(&key);
        }
        Some(open)
    }

    /// The rest of one of which a part is done.
    pub fn go_on(&mut self, key: K, rest: Open<T>) {
        self.issued += 1;
        self.open.entry(key).or_default().push(rest);
    }

    /// Forgets what was never issued.
    pub fn take_queued(&mut self) -> Vec<Open<T>> {
        self.queued = 0;
        self.take(Open::is_queued)
    }

    /// Forgets what was issued and is not done.
    pub fn take_issued(&mut self) -> Vec<Open<T>> {
        self.issued = 0;
        self.take(Open::is_issued)
    }

    fn take(&mut self, which: impl Fn(&Open<T>) -> bool) -> Vec<Open<T>> {
        let mut taken = Vec::new();
        self.open.retain(|_, slot| {
            taken.extend(slot.iter().filter(|open| which(open)).copied());
            slot.drop_where(&which);
            !slot.is_empty()
        });
        taken
    }
}

/// A list that is nearly always one long, and then needs no memory of its own.
mod smallest {
    /// In the order of arrival.
    pub struct Few<T> {
        first: Option<T>,
        more: Vec<T>,
    }

    impl<T> Default for Few<T> {
        fn default() -> Self {
            Few { first: None, more: Vec::new() }
        }
    }

    impl<T> Few<T> {
        pub fn push(&mut self, value: T) {
            if self.first.is_none() && self.more.is_empty() {
                self.first = Some(value);
            } else {
                self.more.push(value);
            }
        }

        pub fn is_empty(&self) -> bool {
            self.first.is_none() && self.more.is_empty()
        }

        pub fn iter(&self) -> impl Iterator<Item = &T> {
            self.first.iter().chain(&self.more)
        }

        pub fn last_where(&mut self, test: impl Fn(&T) -> bool) -> Option<&mut T> {
            self.first.iter_mut().chain(&mut self.more).rev().find(|value| test(value))
        }

        pub fn remove_first(&mut self, test: impl Fn(&T) -> bool) -> Option<T> {
            if self.first.as_ref().is_some_and(&test) {
                return self.first.take();
            }
            self.more.iter().position(test).map(|at| self.more.remove(at))
        }

        pub fn remove_last(&mut self, test: impl Fn(&T) -> bool) -> Option<T> {
            match self.more.iter().rposition(&test) {
                Some(at) => Some(self.more.remove(at)),
                None if self.first.as_ref().is_some_and(test) => self.first.take(),
                None => None,
            }
        }

        /// How many were dropped.
        pub fn drop_where(&mut self, test: impl Fn(&T) -> bool) -> usize {
            let before = usize::from(self.first.is_some()) + self.more.len();
            if self.first.as_ref().is_some_and(&test) {
                self.first = None;
            }
            self.more.retain(|value| !test(value));
            before - usize::from(self.first.is_some()) - self.more.len()
        }
    }
}
