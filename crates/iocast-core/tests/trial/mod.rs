//! A small trial on a simulated device, with the fields that a test cares about changed.

use iocast_core::engine::sim::world::SimWorld;
use iocast_core::plan::PhasePlan;
use iocast_core::record::result::PhaseResult;
use iocast_core::run::perform::run_together_in;
use serde_json::{Value, json};

/// A mebibyte.
pub const MIB: u64 = 1 << 20;

fn lay_over(base: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().unwrap() {
        base[key] = value.clone();
    }
}

/// 8 KiB uniform reads, one at a time, for 10 s, of a device of 1 GiB with one server of 1 ms.
pub fn run(changes: Value, device: Value) -> PhaseResult {
    run_in(&SimWorld::default(), changes, device)
}

/// The same on the device that earlier phases left.
pub fn run_in(world: &SimWorld, changes: Value, device: Value) -> PhaseResult {
    let mut plan = json!({
        "name": "t", "role": "measure", "engine": "sim",
        "files": [{"path": "sim", "start_bytes": 0, "size_bytes": 1u64 << 30}],
        "mix": [{"op": "read", "size_bytes": 8192}], "locality": {"kind": "uniform"}, "arrival": {"kind": "closed"},
        "users": 1, "depth": 1, "direct": true, "sync": "none", "payload": {"kind": "unique"},
        "length": {"seconds": 10.0}, "interval_ns": 1_000_000_000u64, "seed": 1, "slow_limit": 16, "error_limit": 1_000_000,
        "simulated": {"size_bytes": 1u64 << 30, "service": {"kind": "constant", "mean_ns": 1_000_000}},
    });
    lay_over(&mut plan, &changes);
    lay_over(&mut plan["simulated"], &device);
    let plan = PhasePlan::from_json(&plan.to_string()).unwrap();
    run_together_in(&[plan], world, |_| true).unwrap().pop().unwrap()
}

/// `got` is `wanted` within this share of it.
pub fn near(got: f64, wanted: f64, within: f64) {
    assert!((got / wanted - 1.0).abs() <= within, "{got} is not {wanted} within {within}");
}

/// I/Os a second.
pub fn rate(result: &PhaseResult) -> f64 {
    result.ios as f64 * 1e9 / result.elapsed_ns as f64
}

/// Bytes a second.
pub fn bytes_per_s(result: &PhaseResult) -> f64 {
    result.bytes as f64 * 1e9 / result.elapsed_ns as f64
}

/// Mean service time of the first class.
pub fn mean_ns(result: &PhaseResult) -> f64 {
    let service = &result.classes[0].service;
    service.sum_ns as f64 / service.total() as f64
}

/// Only writes of this size.
pub fn writes(size: u64) -> Value {
    json!([{"op": "write", "size_bytes": size}])
}

/// Only reads of this size.
pub fn reads(size: u64) -> Value {
    json!([{"op": "read", "size_bytes": size}])
}

/// I/Os by interval, over all classes.
pub fn series(result: &PhaseResult) -> Vec<u64> {
    let mut ios = vec![0; result.intervals.last().map_or(0, |row| row.interval as usize + 1)];
    result.intervals.iter().for_each(|row| ios[row.interval as usize] += row.service.total());
    ios
}
