//! The engine that is chosen for a target, and the polling modes that are only chosen by hand.

mod scratch;

use std::os::fd::AsRawFd;
use std::path::Path;

use iocast_core::error::Error;
use iocast_core::plan::PhasePlan;
use iocast_core::record::result::PhaseResult;
use iocast_core::run::perform::run_phase;
use scratch::{SIZE, Scratch, plan};
use serde_json::json;

fn run(plan: &PhasePlan) -> PhaseResult {
    let result = run_phase(plan, |_| true).unwrap();
    assert!(result.errors.is_empty(), "{:?}", result.errors);
    assert!(result.ios > 0);
    result
}

/// Whether a read of it may be started without blocking; one that may not goes to a kernel worker.
fn takes_nowait(path: &Path) -> bool {
    let file = std::fs::File::open(path).unwrap();
    let mut byte = [0u8; 1];
    let vector = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // SAFETY: one byte of our own.
    unsafe { libc::preadv2(file.as_raw_fd(), &vector, 1, 0, libc::RWF_NOWAIT) >= 0 }
}

#[test]
fn what_ends_while_it_is_submitted_is_a_system_call_alone_and_a_ring_in_numbers() {
    let file = Scratch::new("hot");
    let alone = run(&plan(&file, "auto", json!({})));
    assert_eq!(alone.engine.name, "sync", "{:?}", alone.engine);
    if takes_nowait(&file.0) {
        let many = run(&plan(&file, "auto", json!({"depth": 32})));
        assert_eq!(many.engine.name, "uring", "{:?}", many.engine);
        assert!(
            many.engine.flags.iter().any(|f| f == "I/Os complete during submission"),
            "{:?}",
            many.engine
        );
        assert_eq!((many.asked_depth, many.engine.notes.len()), (32, 0));
    }
}

#[test]
fn a_target_that_punts_is_named_and_gets_threads() {
    let Some(file) = Scratch::within(Path::new("/dev/shm"), "punted") else { return };
    if takes_nowait(&file.0) {
        return;
    }
    let alone = run(&plan(&file, "auto", json!({})));
    assert_eq!(alone.engine.name, "sync");
    assert!(alone.engine.notes[0].contains("punts requests to kernel workers"), "{:?}", alone.engine);
    let many = run(&plan(&file, "auto", json!({"depth": 8})));
    let said = format!("{:?}", many.engine);
    assert!(said.contains("trial"), "measured, not assumed: {said}");
    assert_eq!(many.asked_depth, 8);
    let paced = json!({"depth": 8, "arrival": {"kind": "poisson", "rate_per_s": 500.0}});
    let open = run(&plan(&file, "auto", paced));
    assert_eq!(open.engine.name, "uring", "threads would wake each other at every arrival");
    assert!(open.engine.notes[0].contains("punts requests to kernel workers"), "{:?}", open.engine);
}

#[test]
fn durable_writes_one_at_a_time_are_system_calls() {
    let file = Scratch::new("durable");
    let write = json!([{"op": "write", "size_bytes": 8192}]);
    for changes in [json!({"sync": "dsync"}), json!({"sync": "rwf_dsync"}), json!({"fsync_every": 4})] {
        let mut changes = changes;
        (changes["mix"], changes["length"]) = (write.clone(), json!({"ios": 10}));
        let result = run(&plan(&file, "auto", changes));
        assert_eq!(result.engine.name, "sync", "{:?}", result.engine);
    }
}

#[test]
fn a_fill_is_not_probed() {
    let file = Scratch::new("fill");
    let fill = json!({"role": "fill", "mix": [{"op": "write", "size_bytes": 65536}],
        "locality": {"kind": "sequential"}, "length": {"bytes": SIZE}});
    let result = run(&plan(&file, "auto", fill));
    assert_eq!((result.engine.name.as_str(), result.bytes), ("uring", SIZE));
}

#[test]
fn a_probe_writes_nothing_that_the_phase_would_not() {
    let file = Scratch::new("within");
    let before = std::fs::read(&file.0).unwrap();
    let region = json!([{"path": file.0, "start_bytes": SIZE / 2, "size_bytes": SIZE / 2}]);
    let writes = json!({"files": region, "mix": [{"op": "write", "size_bytes": 8192}], "depth": 4});
    run(&plan(&file, "auto", writes));
    let after = std::fs::read(&file.0).unwrap();
    assert_eq!(before[..SIZE as usize / 2], after[..SIZE as usize / 2]);
    assert_ne!(before[SIZE as usize / 2..], after[SIZE as usize / 2..]);
    let reads = Scratch::new("reads");
    run(&plan(&reads, "auto", json!({"depth": 4})));
    assert_eq!(std::fs::read(&reads.0).unwrap(), before);
}

#[test]
fn a_kernel_thread_polls_when_asked() {
    let file = Scratch::new("sqpoll");
    let result = run(&plan(&file, "auto", json!({"polling": "sqpoll", "depth": 4})));
    assert_eq!(result.engine.name, "uring");
    assert!(result.engine.flags.iter().any(|flag| flag == "SQPOLL"), "{:?}", result.engine);
}

#[test]
fn a_device_without_polling_queues_is_refused_before_the_phase() {
    let file = Scratch::new("iopoll");
    let polled = plan(&file, "uring", json!({"polling": "iopoll", "direct": true}));
    match run_phase(&polled, |_| true) {
        Err(error @ Error::Ring { .. }) => {
            assert!(error.to_string().contains("polling for completions"), "{error}");
            assert!(error.hint().contains("omit polling"));
        }
        Err(Error::Open { .. }) => {} // a temporary folder without O_DIRECT
        Ok(result) => assert!(result.errors.is_empty(), "a device that polls: {:?}", result.errors),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_cannot_poll_is_refused_with_the_plan() {
    let file = Scratch::new("refused");
    let writes = json!([{"op": "write", "size_bytes": 8192}]);
    for changes in [
        json!({"polling": "sqpoll", "engine": "sync"}),
        json!({"polling": "iopoll"}),
        json!({"polling": "iopoll", "direct": true, "mix": writes, "fsync_every": 2}),
    ] {
        let said = scratch::try_plan(&file, "uring", changes.clone()).unwrap_err().to_string();
        assert!(said.contains("polling"), "{changes}: {said}");
    }
}
