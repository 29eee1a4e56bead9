//! Plans for tests: a small valid one, with the fields that a test cares about changed.

use crate::plan::PhasePlan;

/// 8 KiB uniform reads of a 1 MiB region, one user, closed loop, 0.1 s, with `changes` laid over it.
pub fn plan(changes: serde_json::Value) -> PhasePlan {
    let mut json = serde_json::json!({
        "name": "test", "role": "measure", "engine": "sync",
        "files": [{"path": "f", "start_bytes": 0, "size_bytes": 1_048_576}],
        "mix": [{"op": "read", "size_bytes": 8192}],
        "locality": {"kind": "uniform"}, "arrival": {"kind": "closed"},
        "users": 1, "depth": 1, "direct": false, "sync": "none", "payload": {"kind": "unique"},
        "length": {"seconds": 0.1}, "interval_ns": 1_000_000_000u64, "seed": 1, "slow_limit": 8, "error_limit": 1000
    });
    for (key, value) in changes.as_object().expect("an object of changes") {
        json[key] = value.clone();
    }
    PhasePlan::from_json(&json.to_string()).expect("a valid plan")
}
