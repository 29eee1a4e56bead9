//! The engines that make real I/O, on real files.

mod scratch;

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use iocast_core::error::Error;
use iocast_core::plan::PhasePlan;
use iocast_core::record::result::{PhaseResult, Stopped};
use iocast_core::run::control::Answer;
use iocast_core::run::perform::run_phase;
use scratch::{SIZE, Scratch, plan};
use serde_json::json;

const ENGINES: [&str; 2] = ["uring", "sync"];

fn run(plan: &PhasePlan) -> PhaseResult {
    run_phase(plan, |_| true).unwrap()
}

#[test]
fn little_holds_on_a_cached_file() {
    let file = Scratch::new("little");
    for engine in ENGINES {
        for (users, depth) in [(1, 1), (1, 8), (2, 4)] {
            let result = run(&plan(&file, engine, json!({"users": users, "depth": depth})));
            assert_eq!(result.engine.name, engine, "{:?}", result.engine.notes);
            let service = &result.classes[0].service;
            assert_eq!(service.total(), result.ios);
            assert_eq!(result.bytes, result.ios * 8192);
            let by_law = service.sum_ns as f64;
            assert!(
                (by_law / result.in_flight_ns - 1.0).abs() < 0.02,
                "{engine} {users}x{depth}: {by_law} {}",
                result.in_flight_ns
            );
            assert!(result.errors.is_empty());
            let series: u64 = result.intervals.iter().map(|row| row.service.total()).sum();
            assert_eq!(series, result.ios, "the series is complete");
        }
    }
}

#[test]
fn every_block_is_written_once_and_none_is_like_another() {
    for engine in ENGINES {
        let file = Scratch::new(&format!("fill-{engine}"));
        let changes = json!({"role": "fill", "mix": [{"op": "write", "size_bytes": 65536}], "locality": {"kind": "sequential"},
            "depth": 4, "length": {"bytes": SIZE}});
        let result = run(&plan(&file, engine, changes));
        assert_eq!((result.bytes, result.stopped), (SIZE, Stopped::Finished));
        let data = std::fs::read(&file.0).unwrap();
        let sectors: std::collections::HashSet<&[u8]> = data.chunks(512).collect();
        assert_eq!(sectors.len() as u64, SIZE / 512, "{engine}");
    }
}

#[test]
fn a_mix_of_reads_writes_and_fsyncs_has_a_class_for_each() {
    let file = Scratch::new("mix");
    for engine in ENGINES {
        let mix = json!([{"op": "read", "size_bytes": 4096, "weight": 50}, {"op": "write", "size_bytes": 8192, "weight": 50},
            {"op": "fdatasync", "size_bytes": 0, "weight": 5}]);
        let result = run(&plan(&file, engine, json!({"mix": mix, "depth": 4, "fsync_every": 10})));
        let ops: Vec<(String, bool)> =
            result.classes.iter().map(|c| (c.op.name().to_string(), c.ios > 0)).collect();
        let expected = ["read", "write", "fdatasync", "fsync"].map(|op| (op.to_string(), true));
        assert_eq!(ops, expected, "{engine}");
    }
}

#[test]
fn the_end_of_a_file_is_an_error_with_a_name_and_a_place() {
    let file = Scratch::new("eof");
    for engine in ENGINES {
        // The plan believes the file is twice as long as it is, and the last block is cut in half.
        std::fs::File::options().write(true).open(&file.0).unwrap().set_len(SIZE - 4096).unwrap();
        let region = json!([{"path": file.0, "start_bytes": 0, "size_bytes": 2 * SIZE}]);
        let changes = json!({"files": region, "locality": {"kind": "sequential"}, "length": {"ios": 1024}, "error_limit": 10_000});
        let result = run(&plan(&file, engine, changes));
        assert_eq!(result.ios, 511, "{engine}: whole blocks");
        assert_eq!((result.errors[0].name.as_str(), result.errors[0].count), ("end of file", 513));
        assert_eq!(result.errors[0].first[0].offset_bytes, SIZE - 8192);
    }
}

#[test]
fn a_full_disk_is_counted_by_its_errno() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else { return };
    assert!(full.write_at(b"x", 0).is_err());
    for engine in ENGINES {
        let region = json!([{"path": "/dev/full", "start_bytes": 0, "size_bytes": SIZE}]);
        let file = Scratch::new(&format!("full-{engine}"));
        let changes =
            json!({"files": region, "mix": [{"op": "write", "size_bytes": 8192}], "error_limit": 40});
        let result = run(&plan(&file, engine, changes));
        assert_eq!((result.stopped, result.ios), (Stopped::Errors, 0), "{engine}");
        assert_eq!(result.errors[0].name, "ENOSPC");
        assert!(result.errors[0].count >= 40);
    }
}

#[test]
fn durable_writes_work_by_every_way() {
    let file = Scratch::new("durable");
    for engine in ENGINES {
        for sync in ["sync", "dsync", "rwf_dsync"] {
            let mix = json!([{"op": "write", "size_bytes": 4096}]);
            let changes = json!({"mix": mix, "sync": sync, "length": {"ios": 20}});
            let result = run(&plan(&file, engine, changes));
            assert_eq!((result.ios, result.errors.len()), (20, 0), "{engine} {sync}: {:?}", result.errors);
        }
    }
}

#[test]
fn an_open_loop_keeps_its_rate_and_its_due_times() {
    let file = Scratch::new("open");
    for engine in ENGINES {
        let changes = json!({"arrival": {"kind": "constant", "rate_per_s": 1000.0}, "depth": 4, "length": {"seconds": 0.5}});
        let result = run(&plan(&file, engine, changes));
        // The last arrivals of a generator that had no processor are not sent any more, and are counted.
        assert_eq!(result.ios + result.unsent_arrivals, 500, "{engine}: no arrival is forgotten");
        assert!(result.ios >= 400, "{engine}: {} of 500 arrivals were made", result.ios);
        assert_eq!(result.lag.total(), result.ios);
        let class = &result.classes[0];
        assert!(class.response.sum_ns >= class.service.sum_ns);
    }
}

#[test]
fn stopping_takes_well_under_two_seconds_and_keeps_what_was_measured() {
    let file = Scratch::new("stop");
    for engine in ENGINES {
        let plan = plan(&file, engine, json!({"users": 4, "length": {"seconds": 600.0}}));
        let (begun, mut ticks) = (Instant::now(), 0);
        let result = run_phase(&plan, |_| {
            ticks += 1;
            ticks < 3
        })
        .unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2));
        assert_eq!(result.stopped, Stopped::Interrupted);
        assert!(result.ios > 0);
    }
}

#[test]
fn a_reader_that_blocks_for_ever_is_left_behind() {
    let path = std::env::temp_dir().join(format!("iocast-core-fifo-{}", std::process::id()));
    let c_path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a valid C string.
    assert_eq!(unsafe { libc::mkfifo(c_path.as_ptr(), 0o600) }, 0);
    // Held open for writing, so that a read neither ends nor sees the end of the file; preads of a FIFO
    // fail with ESPIPE, so a read through the ring at offset 0 is what blocks.
    let hold = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let file = Scratch::new("hang");
    let region = json!([{"path": path, "start_bytes": 0, "size_bytes": SIZE}]);
    let plan = plan(
        &file,
        "uring",
        json!({"files": region, "length": {"seconds": 600.0}, "error_limit": 1_000_000_000}),
    );
    let (begun, mut ticks) = (Instant::now(), 0);
    let result = run_phase(&plan, |_| {
        ticks += 1;
        ticks < 3
    })
    .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(result.stopped, Stopped::Interrupted);
    drop(hold);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn who_had_enough_ends_the_phase_well() {
    let file = Scratch::new("enough");
    for engine in ENGINES {
        for changes in [json!({}), json!({"arrival": {"kind": "constant", "rate_per_s": 2.0}})] {
            let mut changes = changes;
            changes["length"] = json!({"seconds": 600.0});
            let (mut seen, mut told) = (Vec::new(), 0);
            let result = run_phase(&plan(&file, engine, changes), |tick| {
                seen.push(tick.counts);
                told = tick.elapsed_ns;
                if seen.len() < 4 { Answer::GoOn } else { Answer::Enough }
            })
            .unwrap();
            assert_eq!(result.stopped, Stopped::Finished, "{engine}");
            assert!(result.elapsed_ns >= told && result.issuing_ns < 100_000_000_000, "{engine}");
            assert_eq!(result.unsent_arrivals, 0);
            let last = seen.last().unwrap();
            assert!(last.ios <= result.ios && last.response_ns >= last.ios);
        }
    }
}

#[test]
fn workers_say_what_they_did_with_their_time() {
    let file = Scratch::new("time");
    for engine in ENGINES {
        let result = run(&plan(&file, engine, json!({"users": 2, "depth": 2, "length": {"ios": 20_000}})));
        let generator = &result.generator;
        assert_eq!(generator.threads, if engine == "sync" { 4 } else { 2 });
        assert!(generator.user_ns + generator.system_ns > 0);
    }
}

#[test]
fn stopped_before_the_first_io_is_interrupted_not_finished() {
    let file = Scratch::new("unbegun");
    for engine in ENGINES {
        let result =
            run_phase(&plan(&file, engine, json!({"length": {"seconds": 600.0}})), |_| false).unwrap();
        assert_eq!(result.stopped, Stopped::Interrupted, "{engine}");
    }
}

#[test]
fn a_missing_file_is_named_with_the_way_out() {
    let mut missing = plan(&Scratch::new("missing"), "uring", json!({}));
    missing.files[0].path = "/nonexistent/file".into();
    match run_phase(&missing, |_| true) {
        Err(error @ Error::Open { .. }) => {
            assert!(error.to_string().contains("/nonexistent/file"));
            assert_eq!(error.hint(), "check the path");
        }
        other => panic!("{other:?}"),
    }
}
