//! A panic of a decoder is an error of its table.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use parquet::errors::{ParquetError, Result};

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns; a panic in it is an error, of which nothing is printed.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !CAUGHT.get() {
                loud(panic);
            }
        }));
    });
    let before = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    done.map_err(|_| ParquetError::General("it is damaged".to_string()))
}
