//! Whatever is handed in as a plan: it is refused, or it is a plan whose users can be asked for their I/Os.

use iocast_core::plan::PhasePlan;
use iocast_core::workload::stream::Stream;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Plans that are valid, with all that a plan may have between them.
fn valid() -> Vec<Value> {
    let common = json!({
        "name": "fuzz", "role": "measure", "engine": "auto", "polling": "none",
        "files": [{"path": "a", "start_bytes": 0, "size_bytes": 1u64 << 26},
            {"path": "b", "start_bytes": 4096, "size_bytes": 1u64 << 26}],
        "layout": {"kind": "striped", "stripe_bytes": 65536},
        "mix": [{"op": "read", "size_bytes": 8192, "weight": 70.0}, {"op": "write", "size_bytes": 4096, "weight": 1.0},
            {"op": "trim", "size_bytes": 4096, "weight": 0.5}, {"op": "fsync", "size_bytes": 0}],
        "locality": {"kind": "zipf", "theta": 0.9}, "arrival": {"kind": "poisson", "rate_per_s": 1000.0},
        "users": 2, "depth": 4, "direct": true, "sync": "rwf_dsync", "fsync_every": 3, "fsync_op": "fdatasync",
        "payload": {"kind": "compressible", "percent": 50.0},
        "length": {"seconds": 1.0, "ios": 1000, "bytes": 1u64 << 30, "follows": false},
        "interval_ns": 1_000_000_000u64, "seed": 1, "payload_seed": 2, "slow_limit": 8, "error_limit": 10,
    });
    let with = |changes: Value| {
        let mut plan = common.clone();
        changes.as_object().unwrap().iter().for_each(|(key, value)| plan[key] = value.clone());
        plan
    };
    let whole = json!({"kind": "unique"});
    vec![
        common.clone(),
        with(json!({"locality": {"kind": "sequential", "start": "own_region", "backwards": true},
            "arrival": {"kind": "closed", "think_ns": 1000}, "layout": {"kind": "concatenated"}})),
        with(json!({"locality": {"kind": "sequential", "start": "own_offset"},
            "arrival": {"kind": "bursts", "ios": 10, "every_ns": 1_000_000}})),
        with(json!({"locality": {"kind": "stride", "stride_bytes": 1 << 20},
            "arrival": {"kind": "constant", "rate_per_s": 50.0}})),
        with(
            json!({"locality": {"kind": "uniform", "repeats": false}, "mix": [{"op": "fsync", "size_bytes": 0}]}),
        ),
        with(json!({"locality": {"kind": "hotspot", "space_percent": 10.0, "access_percent": 90.0}})),
        with(json!({"engine": "uring", "payload": whole, "mix": [{"op": "write", "size_bytes": 8192}],
            "verify": {"journal": "j", "run_id": 7, "block_bytes": 4096, "first_blocks": [0, 16384]}})),
        with(json!({"engine": "sim", "simulated": {"size_bytes": 1u64 << 30, "servers": 2,
            "service": {"kind": "table", "points": [{"percent": 50.0, "ns": 10}, {"percent": 100.0, "ns": 90}]},
            "write_service": {"kind": "gamma", "mean_ns": 1000, "cv": 0.5},
            "cache": {"hit_ns": 10, "size_bytes": 1 << 20}, "stripe": {"members": 2, "stripe_bytes": 65536},
            "limits": [{"counts": "ios", "rate_per_s": 100.0, "bucket": 10.0}], "thin": {"unit_bytes": 65536}}})),
    ]
}

/// The place of every value in a plan, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_string());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, inner)| places(inner, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let numbers = [0u64, 1, 2, 511, 512, 4096, 1 << 31, 1 << 32, 1 << 62, i64::MAX as u64, u64::MAX];
    let fractions = [-1.0, -0.0, 1e-308, 0.5, 1.0, 99.9, 100.0, 1e9, 1e18, 1e19, 1e308];
    let words =
        ["", "auto", "sim", "null", "read", "trim", "fsync", "closed", "uniform", "none", "iopoll", "\0"];
    let leaf = prop_oneof![
        4 => prop::sample::select(numbers.to_vec()).prop_map(|n| json!(n)),
        4 => prop::sample::select(fractions.to_vec()).prop_map(|n| json!(n)),
        2 => any::<u64>().prop_map(|n| json!(n)),
        1 => any::<i64>().prop_map(|n| json!(n)),
        2 => any::<f64>().prop_map(|n| json!(n)),
        3 => prop::sample::select(words.to_vec()).prop_map(|word| json!(word)),
        1 => any::<bool>().prop_map(|is| json!(is)),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::hash_map("(kind|op|size_bytes|x)", inner, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// What is done to a plan: which place, by its share of all places, and what comes there, `None` for nothing.
fn any_change() -> impl Strategy<Value = (prop::sample::Index, Option<Value>)> {
    (any::<prop::sample::Index>(), prop::option::weighted(0.85, any_json()))
}

fn changed(mut plan: Value, changes: &[(prop::sample::Index, Option<Value>)]) -> Value {
    for (which, to) in changes {
        let mut all = Vec::new();
        places(&plan, "", &mut all);
        let place = which.get(&all);
        match (to, place.rsplit_once('/')) {
            (Some(value), _) => *plan.pointer_mut(place).unwrap() = value.clone(),
            (None, Some((parent, key))) => {
                if let Some(fields) = plan.pointer_mut(parent).and_then(Value::as_object_mut) {
                    fields.remove(key);
                }
            }
            (None, None) => {}
        }
    }
    plan
}

/// The plan is refused with a reason, or its users have I/Os inside its files.
fn refused_or_sound(text: &str) -> Result<(), TestCaseError> {
    let plan = match PhasePlan::from_json(text) {
        Ok(plan) => plan,
        Err(why) => {
            prop_assert!(!why.to_string().is_empty());
            return Ok(());
        }
    };
    for user in [0, plan.users - 1] {
        let mut stream = Stream::new(&plan, user);
        for _ in 0..64 {
            if stream.exhausted() {
                break;
            }
            let next = stream.take();
            let file = &plan.files[next.place.file as usize];
            if next.op.has_place() {
                let end = file.start_bytes + file.size_bytes;
                prop_assert!(next.place.offset >= file.start_bytes && next.place.offset + next.size <= end);
            }
        }
        stream.unsent(1 << 60);
    }
    let again = serde_json::to_string(&plan).expect("a plan can be written");
    prop_assert!(PhasePlan::from_json(&again).is_ok(), "and read again: {again}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_bytes_are_no_plan(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        refused_or_sound(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn a_plan_with_changed_values_is_refused_or_sound(
        plan in prop::sample::select(valid()),
        changes in prop::collection::vec(any_change(), 1..5),
    ) {
        refused_or_sound(&changed(plan, &changes).to_string())?;
    }

    #[test]
    fn a_plan_with_changed_bytes_is_refused_or_sound(
        plan in prop::sample::select(valid()),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = plan.to_string().into_bytes();
        flips.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
        let end = end.map_or(bytes.len(), |at| at.index(bytes.len()));
        refused_or_sound(&String::from_utf8_lossy(&bytes[..end]))?;
    }
}

#[test]
fn the_plans_that_are_changed_are_valid() {
    for plan in valid() {
        PhasePlan::from_json(&plan.to_string()).unwrap_or_else(|why| panic!("{why}: {plan}"));
    }
}

#[test]
fn numbers_with_which_nothing_can_be_counted_are_refused() {
    for (place, number, said) in [
        ("/files/1/start_bytes", json!(u64::MAX), "2^62"),
        ("/files/0/size_bytes", json!(0), "less room"),
        ("/length/seconds", json!(1e30), "31 years"),
        ("/interval_ns", json!(u64::MAX), "31 years"),
        ("/arrival/rate_per_s", json!(1e-300), "10^-9"),
        ("/arrival/rate_per_s", json!(1e300), "10^12"),
        ("/mix/1/weight", json!(f64::MAX), "weight"),
    ] {
        let mut plan = valid().swap_remove(0);
        if place.starts_with("/mix") {
            plan["mix"][0]["weight"] = json!(f64::MAX);
        }
        *plan.pointer_mut(place).unwrap() = number;
        let refused = PhasePlan::from_json(&plan.to_string()).unwrap_err().to_string();
        assert!(refused.contains(said), "{place}: {refused}");
    }
}
