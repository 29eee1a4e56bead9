//! Phases that run at once: on the simulated device, where the answers are known, and on a real file.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use iocast_core::plan::PhasePlan;
use iocast_core::record::result::{PhaseResult, Stopped};
use iocast_core::run::perform::{run_phase, run_together};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

fn plan(changes: Value) -> PhasePlan {
    let mut json = json!({
        "name": "t", "role": "measure", "engine": "sim",
        "files": [{"path": "sim", "start_bytes": 0, "size_bytes": 1u64 << 30}],
        "mix": [{"op": "read", "size_bytes": 8192}], "locality": {"kind": "uniform"}, "arrival": {"kind": "closed"},
        "users": 1, "depth": 1, "direct": true, "sync": "none", "payload": {"kind": "unique"},
        "length": {"seconds": 10.0}, "interval_ns": 1_000_000_000u64, "seed": 1, "slow_limit": 16, "error_limit": 1000,
        "simulated": {"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": MS}},
    });
    for (key, value) in changes.as_object().unwrap() {
        json[key] = value.clone();
    }
    PhasePlan::from_json(&json.to_string()).unwrap()
}

fn run(plans: &[PhasePlan]) -> Vec<PhaseResult> {
    run_together(plans, |_| true).unwrap()
}

fn mean_ms(result: &PhaseResult) -> f64 {
    let service = &result.classes[0].service;
    service.sum_ns as f64 / service.total() as f64 / 1e6
}

#[test]
fn two_streams_on_one_server_take_turns() {
    let results = run(&[plan(json!({})), plan(json!({"seed": 2}))]);
    for result in &results {
        assert!((5000..=5001).contains(&result.ios), "half of what the server does: {}", result.ios);
        assert!((mean_ms(result) - 2.0).abs() < 0.001, "each waits for the other: {}", mean_ms(result));
        assert!((result.depth_mean - 1.0).abs() < 1e-6, "{}", result.depth_mean);
        assert!((10_000 * MS..=10_001 * MS).contains(&result.elapsed_ns), "{}", result.elapsed_ns);
        assert_eq!(result.cpu_phases, 2);
        assert!((result.classes[0].service.sum_ns as f64 / result.in_flight_ns - 1.0).abs() < 1e-9);
    }
    let alone = run_phase(&plan(json!({})), |_| true).unwrap();
    assert_eq!((alone.ios, alone.cpu_phases), (10_000, 1));
}

#[test]
fn shares_of_a_server_are_those_of_the_users() {
    let results = run(&[
        plan(json!({"users": 3})),
        plan(json!({"seed": 2, "mix": [{"op": "write", "size_bytes": 4096}]})),
    ]);
    // Three are in flight at the end and are waited for.
    assert_eq!((results[0].ios, results[1].ios), (7503, 2500));
    assert_eq!(results[1].classes[0].size_bytes, 4096, "each has its own classes");
    assert_eq!(results[0].users.len(), 3);
    let series: u64 = results[1].intervals.iter().map(|row| row.service.total()).sum();
    assert_eq!(series, 2500, "and its own series");
}

#[test]
fn a_queue_of_two_poisson_streams_has_the_response_of_both_together() {
    // M/D/1 at 0.6: the wait is rho S / 2 (1 - rho), 0.75 ms, for both, however little one of them asks.
    let load = |rate: f64, seed: u64| {
        plan(
            json!({"arrival": {"kind": "poisson", "rate_per_s": rate}, "depth": 500, "seed": seed, "length": {"seconds": 1000.0}}),
        )
    };
    let results = run(&[load(500.0, 1), load(100.0, 2)]);
    for result in &results {
        let response = &result.classes[0].response;
        let mean = response.sum_ns as f64 / response.total() as f64 / 1e6;
        assert!((mean / 1.75 - 1.0).abs() < 0.05, "{mean}");
    }
}

#[test]
fn the_shorter_one_leaves_the_device_to_the_other() {
    let results = run(&[plan(json!({})), plan(json!({"seed": 2, "length": {"ios": 1000}}))]);
    assert_eq!((results[1].ios, results[1].elapsed_ns), (1000, 2000 * MS));
    assert_eq!(results[0].ios, 1000 + 8000);
    assert_eq!(results[1].stopped, Stopped::Finished);
}

#[test]
fn who_follows_ends_with_the_last_of_the_others() {
    // The follower comes first in the list, and would next be due long after the others have ended.
    let follower = plan(
        json!({"seed": 2, "arrival": {"kind": "constant", "rate_per_s": 0.4}, "length": {"follows": true}}),
    );
    let results = run(&[
        follower,
        plan(json!({"length": {"ios": 2000}})),
        plan(json!({"length": {"ios": 1000}, "seed": 3})),
    ]);
    assert_eq!((results[1].ios, results[2].ios), (2000, 1000));
    assert_eq!(results[0].ios, 2, "due at 0 and 2.5 s");
    assert_eq!(results[0].stopped, Stopped::Finished);
    assert_eq!(results[0].elapsed_ns, results[1].elapsed_ns);
}

#[test]
fn arrivals_that_were_never_sent_are_those_of_the_phase_that_fell_behind() {
    // One server of 1 ms for both: 2000 a second are due of one, 10 a second of the other.
    let paced = |rate: f64, seed: u64| {
        plan(json!({"arrival": {"kind": "constant", "rate_per_s": rate}, "seed": seed}))
    };
    let results = run(&[paced(2000.0, 1), paced(10.0, 2)]);
    let due = |result: &PhaseResult| result.ios + result.unsent_arrivals;
    assert!(due(&results[0]).abs_diff(20_000) <= 1, "{}", due(&results[0]));
    assert!(results[0].unsent_arrivals > 9_000, "{}", results[0].unsent_arrivals);
    assert!(due(&results[1]).abs_diff(100) <= 1, "{}", due(&results[1]));
    assert!(results[1].unsent_arrivals <= 1);
}

#[test]
fn too_many_errors_of_one_end_all_and_only_it_has_them() {
    let device = json!({"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": MS},
        "errors": {"start_bytes": 1u64 << 29, "end_bytes": 1u64 << 30}});
    let good = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 1u64 << 29}]);
    let bad = json!([{"path": "sim", "start_bytes": 1u64 << 29, "size_bytes": 1u64 << 29}]);
    let results = run(&[
        plan(json!({"files": good, "simulated": device})),
        plan(json!({"files": bad, "simulated": device, "error_limit": 50, "seed": 2})),
        plan(json!({"files": good, "simulated": device, "length": {"ios": 10}, "seed": 3})),
    ]);
    assert_eq!((results[1].ios, results[1].stopped), (0, Stopped::Errors));
    assert!(results[0].errors.is_empty() && results[0].ios < 200);
    assert_eq!(results[0].stopped, Stopped::Errors, "it was to last ten seconds");
    assert_eq!(results[2].stopped, Stopped::Finished, "it was done before");
}

#[test]
fn only_the_durable_writes_of_the_two_pay_for_it() {
    let device = json!({"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": MS}, "servers": 2, "fsync_ns": 5 * MS});
    let write = json!([{"op": "write", "size_bytes": 8192}]);
    let results = run(&[
        plan(json!({"mix": write, "sync": "dsync", "simulated": device})),
        plan(json!({"mix": write, "simulated": device, "seed": 2})),
    ]);
    assert_eq!((mean_ms(&results[0]), mean_ms(&results[1])), (6.0, 1.0));
}

#[test]
fn a_commit_is_the_write_and_the_sync_after_it() {
    let device =
        json!({"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": MS}, "fsync_ns": 4 * MS});
    let log =
        plan(json!({"mix": [{"op": "write", "size_bytes": 4096}], "fsync_every": 1, "fsync_op": "fdatasync",
        "locality": {"kind": "sequential"}, "simulated": device, "length": {"ios": 200}}));
    let result = run_phase(&log, |_| true).unwrap();
    let of: Vec<(&str, u64, u64)> =
        result.classes.iter().map(|c| (c.op.name(), c.ios, c.service.max_ns / MS)).collect();
    assert_eq!(of, [("write", 100, 1), ("fdatasync", 100, 4)]);
    assert_eq!((result.commit.total(), result.commit.min_ns, result.commit.max_ns), (100, 5 * MS, 5 * MS));
}

#[test]
fn neither_a_pause_nor_the_clock_comes_between_a_write_and_its_sync() {
    let device =
        json!({"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": MS}, "fsync_ns": 4 * MS});
    for arrival in
        [json!({"kind": "closed", "think_ns": 15 * MS}), json!({"kind": "constant", "rate_per_s": 50.0})]
    {
        let log = plan(
            json!({"mix": [{"op": "write", "size_bytes": 4096}], "fsync_every": 1, "fsync_op": "fdatasync",
            "arrival": arrival, "simulated": device, "length": {"seconds": 2.0}}),
        );
        let result = run_phase(&log, |_| true).unwrap();
        assert_eq!(result.commit.total(), 100, "one every 20 ms: {arrival}");
        assert_eq!((result.commit.min_ns, result.commit.max_ns), (5 * MS, 5 * MS), "{arrival}");
    }
}

#[test]
fn a_burst_queues_behind_itself() {
    let result = run_phase(
        &plan(json!({"arrival": {"kind": "bursts", "ios": 100, "every_ns": 1000 * MS}, "depth": 4})),
        |_| true,
    )
    .unwrap();
    assert_eq!(result.ios, 1000);
    assert_eq!(result.asked_rate_per_s, Some(100.0));
    let response = &result.classes[0].response;
    assert_eq!(
        (response.min_ns, response.max_ns),
        (MS, 100 * MS),
        "the last of a burst waits for all others"
    );
    assert_eq!(result.classes[0].service.max_ns, 4 * MS, "of which the device sees four at a time");
}

#[test]
fn what_cannot_run_at_once_is_refused_with_the_field() {
    let refusal = |plans: &[PhasePlan]| run_together(plans, |_| true).unwrap_err().to_string();
    let follower = plan(json!({"length": {"follows": true}}));
    assert!(refusal(std::slice::from_ref(&follower)).contains("length"));
    assert!(refusal(&[follower.clone(), follower]).contains("length"));
    let mut other = plan(json!({}));
    other.simulated.as_mut().unwrap().servers = 2;
    assert!(refusal(&[plan(json!({})), other]).contains("simulated"));
    assert!(refusal(&[plan(json!({})), plan(json!({"engine": "sync"}))]).contains("simulated"));
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("iocast-core-{name}-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).unwrap();
        for block in 0..1024u32 {
            file.write_all(&[(block % 251) as u8; 4096]).unwrap();
        }
        file.sync_all().unwrap();
        Scratch(path)
    }

    fn plan(&self, engine: &str, changes: Value) -> PhasePlan {
        let mut json = json!({"engine": engine, "direct": false, "simulated": null, "length": {"seconds": 0.4},
            "files": [{"path": self.0, "start_bytes": 0, "size_bytes": 4u64 << 20}], "interval_ns": 100 * MS});
        for (key, value) in changes.as_object().unwrap() {
            json[key] = value.clone();
        }
        plan(json)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn readers_by_ring_and_a_log_writer_by_system_calls_share_one_file() {
    let file = Scratch::new("together");
    let log = json!({"mix": [{"op": "write", "size_bytes": 4096}], "fsync_every": 1, "fsync_op": "fdatasync",
        "locality": {"kind": "sequential"}, "users": 2, "length": {"follows": true}});
    let results = run(&[
        file.plan("uring", json!({"users": 2, "depth": 4})),
        file.plan("sync", log),
        file.plan("uring", json!({"length": {"ios": 50}, "mix": [{"op": "read", "size_bytes": 65536}]})),
    ]);
    let engines: Vec<&str> = results.iter().map(|r| r.engine.name.as_str()).collect();
    assert_eq!(engines, ["uring", "sync", "uring"]);
    assert!(results.iter().all(|r| r.stopped == Stopped::Finished && r.errors.is_empty() && r.ios > 0));
    assert_eq!(results[2].ios, 50);
    let [writes, syncs] = &results[1].classes[..] else { panic!("two classes") };
    assert!(writes.ios - syncs.ios <= 2, "a sync after each write, but for those at the end");
    assert_eq!(results[1].commit.total(), syncs.ios);
    assert!(results[1].commit.min_ns >= writes.service.min_ns + syncs.service.min_ns);
    assert!(results[1].elapsed_ns >= 400 * MS, "it writes as long as the readers read");
    assert_eq!(results[0].started_unix_ns, results[2].started_unix_ns);
}

#[test]
fn a_follower_that_waits_is_woken_when_the_others_end() {
    let file = Scratch::new("woken");
    for engine in ["uring", "sync"] {
        let begun = Instant::now();
        let waits = json!({"arrival": {"kind": "constant", "rate_per_s": 0.01}, "length": {"follows": true}});
        let results = run(&[file.plan(engine, waits), file.plan(engine, json!({}))]);
        assert!(begun.elapsed() < Duration::from_secs(20), "and not after 100 s");
        assert_eq!((results[0].ios, results[0].stopped), (1, Stopped::Finished), "{engine}");
    }
}

#[test]
fn stopping_stops_all_but_what_was_done_is_whole() {
    let file = Scratch::new("stopped");
    let plans = [
        file.plan("uring", json!({"length": {"seconds": 600.0}})),
        file.plan("sync", json!({"length": {"ios": 10}})),
        file.plan("sync", json!({"length": {"follows": true}})),
    ];
    let mut ticks = 0;
    let results = run_together(&plans, |_| {
        ticks += 1;
        ticks < 4
    })
    .unwrap();
    let stopped: Vec<Stopped> = results.iter().map(|r| r.stopped).collect();
    assert_eq!(stopped, [Stopped::Interrupted, Stopped::Finished, Stopped::Interrupted]);
}
