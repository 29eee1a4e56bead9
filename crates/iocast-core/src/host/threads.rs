//! Threads that share work: as many as are wanted, fewer where this process may start no more.

use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

use crate::error::{Error, Result};

/// Starts up to `count` threads, each with what `body` makes for it. Fails where not even one may be started.
pub(crate) fn hire<'scope, T, W>(
    scope: &'scope Scope<'scope, '_>,
    count: usize,
    mut body: impl FnMut() -> W,
) -> Result<Vec<ScopedJoinHandle<'scope, T>>>
where
    T: Send + 'scope,
    W: FnOnce() -> T + Send + 'scope,
{
    let mut hired = Vec::with_capacity(count);
    for _ in 0..count {
        match Builder::new().spawn_scoped(scope, body()) {
            Ok(thread) => hired.push(thread),
            Err(why) if hired.is_empty() => return Err(Error::Thread(why)),
            Err(_) => break,
        }
    }
    Ok(hired)
}

/// Calls `work` on up to `count` threads, of which the calling one is the first, until all calls have returned.
pub(crate) fn share(count: usize, work: impl Fn() + Sync) {
    scope(|scope| {
        let _fewer_will_do = hire(scope, count - 1, || &work);
        work();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    #[test]
    fn the_calling_thread_works_too() {
        for count in [1, 4] {
            let calls = AtomicUsize::new(0);
            share(count, || {
                calls.fetch_add(1, Relaxed);
            });
            assert_eq!(calls.into_inner(), count);
        }
    }

    #[test]
    fn each_thread_has_a_body_of_its_own() {
        let mut number = 0;
        let mut body = || {
            number += 1;
            let own = number;
            move || own
        };
        let answers: Vec<i32> = scope(|scope| {
            hire(scope, 3, &mut body).unwrap().into_iter().map(|each| each.join().unwrap()).collect()
        });
        assert_eq!(answers, [1, 2, 3]);
    }
}
