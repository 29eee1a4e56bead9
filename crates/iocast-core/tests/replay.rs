//! Traces on real files: every I/O is made once, at its place, whichever engine and however many users make it.

use std::fs;
use std::path::Path;

use iocast_core::plan::PhasePlan;
use iocast_core::record::result::{PhaseResult, Stopped};
use iocast_core::run::perform::run_phase;
use iocast_core::trace::read_traces::read_to_parquet;
use iocast_core::trace::reader::Options;
use serde_json::json;

const IOS: u64 = 300;
const BLOCK: u64 = 4096;

/// A trace of reads at many places, 100 µs apart, that took 250 µs each; its event table, and a file to replay it on.
fn trace(folder: &Path) -> (String, String) {
    let csv = folder.join("trace.csv");
    let line = |n: u64| {
        let (at, offset) = (128_166_372_000_000_000 + n * 1000, n * 37 % IOS * BLOCK);
        format!("{at},host,0,Read,{offset},{BLOCK},2500\n")
    };
    fs::write(&csv, (0..IOS).map(line).collect::<String>()).unwrap();
    let (events, file) = (folder.join("events.parquet"), folder.join("file"));
    let report = read_to_parquet(&[csv], &Options::default(), &events, None).unwrap();
    assert_eq!(report.events, IOS);
    fs::write(&file, vec![7u8; (IOS * BLOCK) as usize]).unwrap();
    (events.display().to_string(), file.display().to_string())
}

fn replayed(engine: &str, mode: &str, users: u32, speed: f64) -> PhaseResult {
    let folder = tempfile::tempdir().unwrap();
    let (events, file) = trace(folder.path());
    let arrival = match mode {
        "fast" => json!({"kind": "closed"}),
        _ => json!({"kind": "recorded", "rate_per_s": 1e4, "longest_gap_ns": 1_000_000}),
    };
    let plan = json!({
        "name": "replay", "role": "measure", "engine": engine,
        "files": [{"path": file, "start_bytes": 0, "size_bytes": IOS * BLOCK}],
        "mix": [{"op": "read", "size_bytes": BLOCK}], "locality": {"kind": "recorded"}, "arrival": arrival,
        "users": users, "depth": 4, "direct": false, "sync": "none", "payload": {"kind": "unique"},
        "length": {"ios": IOS}, "interval_ns": 10_000_000, "seed": 1, "slow_limit": 1000, "error_limit": 10,
        "replay": {"events": events, "mode": mode, "speed": speed, "remap": "refuse", "block_bytes": 512,
            "reads_only": false, "targets": []},
    });
    run_phase(&PhasePlan::from_json(&plan.to_string()).unwrap(), |_| true).unwrap()
}

#[test]
fn every_io_of_a_trace_is_made_once_at_its_place() {
    for (engine, mode, users) in [
        ("sync", "timed", 1),
        ("sync", "timed", 3),
        ("sync", "dependent", 1),
        ("sync", "dependent", 2),
        ("sync", "fast", 2),
        ("auto", "timed", 2),
        ("auto", "dependent", 1),
        ("auto", "fast", 1),
    ] {
        let result = replayed(engine, mode, users, 1.0);
        let said = format!("{engine} {mode} with {users} users");
        assert_eq!((result.ios, result.stopped), (IOS, Stopped::Finished), "{said}");
        assert_eq!((result.unsent_arrivals, result.errors.len()), (0, 0), "{said}");
        let mut offsets: Vec<u64> = result.slow.iter().map(|io| io.offset_bytes).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..IOS).map(|n| n * BLOCK).collect::<Vec<_>>(), "{said}");
        let facts = result.replay.expect("the facts of a replay");
        assert_eq!((facts.events, facts.replayed, facts.rounded, facts.moved), (IOS, IOS, 0, 0));
        assert_eq!(facts.recorded_ns, (IOS - 1) * 100_000);
        assert_eq!(result.issue_error.total(), if mode == "fast" { 0 } else { IOS }, "{said}");
    }
}

#[test]
fn no_io_is_issued_before_its_time() {
    let result = replayed("sync", "timed", 1, 0.5);
    // 200 µs apart at half the speed.
    assert!(result.elapsed_ns >= (IOS - 1) * 200_000, "{}", result.elapsed_ns);
    let mut submitted: Vec<u64> = result.slow.iter().map(|io| io.time_ns).collect();
    submitted.sort_unstable();
    for (n, at_ns) in submitted.iter().enumerate() {
        assert!(*at_ns >= n as u64 * 200_000, "I/O {n} at {at_ns} ns");
    }
    assert_eq!(result.replay.unwrap().due_ios.iter().sum::<u64>(), IOS);
}

#[test]
fn plans_that_mix_what_is_drawn_and_what_is_recorded_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (events, file) = trace(folder.path());
    let with = |changes: serde_json::Value| {
        let mut plan = json!({
            "name": "replay", "role": "measure", "engine": "sync",
            "files": [{"path": file, "start_bytes": 0, "size_bytes": IOS * BLOCK}],
            "mix": [{"op": "read", "size_bytes": BLOCK}], "locality": {"kind": "recorded"},
            "arrival": {"kind": "recorded", "rate_per_s": 1e4, "longest_gap_ns": 0},
            "users": 1, "depth": 4, "direct": false, "sync": "none", "payload": {"kind": "unique"},
            "length": {"ios": IOS}, "interval_ns": 10_000_000, "seed": 1, "slow_limit": 8, "error_limit": 10,
            "replay": {"events": events, "mode": "timed", "speed": 1.0, "remap": "refuse", "block_bytes": 512,
                "reads_only": false, "targets": []},
        });
        for (key, value) in changes.as_object().unwrap() {
            match key.split_once('.') {
                Some((outer, inner)) => plan[outer][inner] = value.clone(),
                None => plan[key] = value.clone(),
            }
        }
        PhasePlan::from_json(&plan.to_string()).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(json!({})), Ok(()));
    for changes in [
        json!({"replay": null}),
        json!({"arrival": {"kind": "closed"}}),
        json!({"replay.mode": "fast"}),
        json!({"arrival": {"kind": "constant", "rate_per_s": 5.0}}),
        json!({"replay.speed": 0.0}),
        json!({"replay.block_bytes": 700}),
        json!({"fsync_every": 3}),
        json!({"arrival": {"kind": "closed", "think_ns": 5}, "replay.mode": "fast"}),
    ] {
        let refused = with(changes.clone()).expect_err(&changes.to_string());
        assert!(refused.contains("replay") || refused.contains("recorded"), "{refused}");
    }
}
