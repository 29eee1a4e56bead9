//! The table of engines: for each its name, how many threads use it, what it needs and is, and how it is built.
//!
//! A new engine is one file beside this one and one line here. Nothing else in the core names engines but
//! `choose`, which picks one for plans that leave it open.

use super::Engine;
use super::setup::Setup;
use crate::error::{Error, Result};
use crate::plan::AUTO;

/// How many threads use an engine, each with one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One for each user; the engine has a slot for each of its outstanding I/Os.
    PerUser,
    /// One for each outstanding I/O; the engine has one slot.
    PerIo,
    /// One for all users of all phases that run at once: they share a simulated device and its virtual clock.
    Virtual,
}

/// An engine, as the table describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What a plan calls it.
    pub name: &'static str,
    /// Who uses it.
    pub threads: Threads,
    /// It is made of io_uring: a probe says whether the kernel has what it needs, and it alone can poll.
    pub needs_ring: bool,
    /// What is written can be read back.
    pub stores: bool,
}

impl Row {
    /// True when its clock is the device's own, and waiting costs no time.
    pub fn virtual_time(&self) -> bool {
        self.threads == Threads::Virtual
    }
}

/// Whoever puts an engine to work. Generic, so that the loop of a worker is compiled for each engine and calls
/// it directly.
pub trait Employer {
    /// Puts the engines that `build` makes to work.
    fn employ<E: Engine + 'static>(self, build: fn(&Setup) -> Result<E>) -> Result<()>;
}

macro_rules! engines {
    ($($name:literal, $threads:expr, needs_ring: $ring:expr, stores: $stores:expr, $build:expr;)*) => {
        /// All engines.
        pub const ENGINES: &[Row] =
            &[$(Row { name: $name, threads: $threads, needs_ring: $ring, stores: $stores }),*];

        /// Hands the builder of an engine to whoever puts it to work.
        pub fn employ(engine: &str, employer: impl Employer) -> Result<()> {
            $(if engine == $name { return employer.employ($build); })*
            Err(unknown(engine))
        }
    };
}

engines! {
    // name   threads            what it needs       what it keeps   how it is built
    "uring",  Threads::PerUser,  needs_ring: true,   stores: true,   super::uring::UringEngine::new;
    "sync",   Threads::PerIo,    needs_ring: false,  stores: true,   super::sync::SyncEngine::new;
    "tree_ring",  Threads::PerUser,  needs_ring: true,   stores: true,   super::tree_ring::TreeRing::new;
    "tree_calls", Threads::PerIo,    needs_ring: false,  stores: true,   super::tree_calls::TreeCalls::new;
    "sim",    Threads::Virtual,  needs_ring: false,  stores: false,  super::sim::SimEngine::new;
}

fn unknown(engine: &str) -> Error {
    let names: Vec<&str> = ENGINES.iter().map(|row| row.name).collect();
    Error::Plan(format!("engine: unknown {engine:?}; known are {AUTO}, {}", names.join(", ")))
}

/// The line of an engine.
pub fn row(engine: &str) -> Result<&'static Row> {
    ENGINES.iter().find(|row| row.name == engine).ok_or_else(|| unknown(engine))
}

/// The line of the engine that a plan asks for, `None` when it leaves the choice open.
pub fn asked(engine: &str) -> Result<Option<&'static Row>> {
    if engine == AUTO { Ok(None) } else { row(engine).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Employer for Nobody {
        fn employ<E: Engine + 'static>(self, _build: fn(&Setup) -> Result<E>) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_line_can_be_employed_and_has_a_name_of_its_own() {
        for (at, line) in ENGINES.iter().enumerate() {
            assert!(employ(line.name, Nobody).is_ok());
            assert_eq!(row(line.name).unwrap(), line);
            assert!(ENGINES[..at].iter().all(|other| other.name != line.name) && line.name != AUTO);
        }
    }

    #[test]
    fn an_engine_that_is_not_in_the_table_is_refused() {
        assert_eq!(asked(AUTO).unwrap(), None);
        let refused = asked("nul").unwrap_err().to_string();
        assert!(
            refused.contains("\"nul\"") && refused.contains("auto, uring, sync, tree_ring, tree_calls, sim"),
            "{refused}"
        );
        assert!(employ("nul", Nobody).is_err());
    }
}
