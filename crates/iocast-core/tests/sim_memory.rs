//! What the simulated device remembers: written blocks, caches, tiers, credits, each with its known answer.

use iocast_core::engine::sim::world::SimWorld;
use serde_json::{Value, json};

#[allow(dead_code, reason = "one file of helpers, several test files")]
mod trial;

use trial::{MIB, bytes_per_s, mean_ns, near, reads, run, run_in, series, writes};

#[test]
fn credits_come_back_while_nothing_is_asked() {
    let limits = json!([
        {"counts": "ios", "rate_per_s": 1000.0},
        {"counts": "ios", "rate_per_s": 100.0, "bucket": 9000.0},
    ]);
    let (world, device) = (SimWorld::default(), json!({"servers": 16, "limits": limits}));
    let busy = |seconds: f64| {
        series(&run_in(&world, json!({"depth": 8, "length": {"seconds": seconds}}), device.clone()))
    };
    let first = busy(20.0);
    assert_eq!((first[5], first[15]), (1000, 100));
    let idle = json!({"arrival": {"kind": "constant", "rate_per_s": 10.0}, "length": {"seconds": 50.0}});
    run_in(&world, idle, device.clone());
    // 50 s at 100/s less 10/s are 4,500 credits: 5 s at 1,000/s less 100/s
    let again = busy(10.0);
    assert_eq!((again[3], again[7]), (1000, 100));
}

#[test]
fn writes_are_fast_until_the_write_buffer_is_full_and_then_go_as_it_empties() {
    let cache = json!({"hit_ns": 100_000, "write_back": true, "dirty_bytes": 1000 * MIB, "destage_bytes_per_s": 50 * MIB});
    let plan = json!({"mix": writes(MIB), "length": {"seconds": 20.0}, "interval_ns": 10_000_000});
    let device = json!({"cache": cache, "bandwidth_bytes_per_s": 250 * MIB});
    let result = run(plan, device);
    let ios = series(&result);
    // 4.1 ms a MiB in, less what empties meanwhile: full after 1000 / (1/0.0041 - 50) s
    let full = 1000.0 / (1.0 / 0.0041 - 50.0);
    let cliff = ios.windows(10).position(|ten| ten.iter().sum::<u64>() < 12).unwrap() as f64 / 100.0;
    near(cliff, full, 0.01);
    near(ios[1000..1900].iter().sum::<u64>() as f64 / 9.0, 50.0, 0.01);
}

#[test]
fn flash_writes_fast_for_one_volume_and_slowly_after_it_whatever_the_size() {
    for size in [131_072, MIB] {
        let plan =
            json!({"mix": writes(size), "depth": 4, "length": {"seconds": 20.0}, "interval_ns": 10_000_000});
        let slc = json!({"size_bytes": 1024 * MIB, "slow_bytes_per_s": 20 * MIB});
        let result = run(plan, json!({"servers": 4, "bandwidth_bytes_per_s": 200 * MIB, "slc": slc}));
        let fast: u64 = result.intervals.iter().filter(|row| row.interval < 520).map(|row| row.bytes).sum();
        near(fast as f64, 1024.0 * MIB as f64, 0.01);
        let slow: u64 = result
            .intervals
            .iter()
            .filter(|row| (600..1900).contains(&row.interval))
            .map(|row| row.bytes)
            .sum();
        near(slow as f64 / 13.0, 20.0 * MIB as f64, 0.01);
    }
}

#[test]
fn flash_recovers_while_it_only_reads() {
    let (world, slc) = (
        SimWorld::default(),
        json!({"size_bytes": 100 * MIB, "slow_bytes_per_s": MIB, "recover_bytes_per_s": 10 * MIB}),
    );
    let device = json!({"bandwidth_bytes_per_s": 100 * MIB, "slc": slc});
    let write = |seconds: f64| {
        run_in(&world, json!({"mix": writes(65536), "length": {"seconds": seconds}}), device.clone())
    };
    write(20.0);
    near(bytes_per_s(&write(2.0)), MIB as f64, 0.05);
    run_in(&world, json!({"length": {"seconds": 5.0}}), device.clone());
    // 50 MiB are free again: at 1.625 ms each 64 KiB they take 1.3 s, and then it is slow
    near(write(3.0).bytes as f64, 51.7 * MIB as f64, 0.02);
}

#[test]
fn passes_become_faster_by_the_share_of_the_fast_tier() {
    let tier = json!({"size_bytes": 64 * MIB, "fast_ns": 100_000, "extent_bytes": MIB, "after": 20});
    let device = json!({"tier": tier});
    let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 256 * MIB}]);
    let world = SimWorld::default();
    let pass = || {
        let plan = json!({"files": files, "mix": reads(131_072), "locality": {"kind": "sequential"}, "length": {"ios": 2048}});
        mean_ns(&run_in(&world, plan, device.clone()))
    };
    let means: Vec<f64> = (0..6).map(|_| pass()).collect();
    assert_eq!(means[..2], [1e6, 1e6], "eight reads an extent and pass: the twentieth is in the third");
    assert_eq!(means[3..], [0.25 * 1e5 + 0.75 * 1e6; 3], "a quarter fits");
}

#[test]
fn the_hot_part_is_moved_at_the_end_of_a_period() {
    let tier = json!({"size_bytes": 128 * MIB, "fast_ns": 100_000, "period_ns": 5_000_000_000u64});
    let plan = json!({"locality": {"kind": "hotspot", "space_percent": 10.0, "access_percent": 90.0}});
    let ios = series(&run(plan, json!({"tier": tier})));
    assert_eq!(ios[4], 1000);
    assert!((4500..=6500).contains(&ios[7]), "nine of ten in 0.1 ms: {}", ios[7]);
}

#[test]
fn the_first_write_of_a_unit_costs_more_and_only_the_first() {
    let (world, device) =
        (SimWorld::default(), json!({"thin": {"unit_bytes": 65536, "first_write_ns": 3_000_000}}));
    let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 16 * MIB}]);
    let plan = json!({"files": files, "mix": writes(65536), "locality": {"kind": "sequential"}, "length": {"ios": 256}});
    let pass = || mean_ns(&run_in(&world, plan.clone(), device.clone()));
    assert_eq!([pass(), pass()], [4e6, 1e6]);
    let small = json!({"files": files, "mix": writes(8192), "locality": {"kind": "sequential"}, "length": {"ios": 2048}});
    let fresh = run(small, device);
    assert_eq!(mean_ns(&fresh), 1e6 + 3e6 / 8.0);
}

#[test]
fn holes_answer_at_once_until_they_are_written() {
    let (world, device) = (SimWorld::default(), json!({"thin": {"hole_ns": 20_000}}));
    let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 16 * MIB}]);
    let read = || mean_ns(&run_in(&world, json!({"files": files, "length": {"ios": 500}}), device.clone()));
    assert_eq!(read(), 20_000.0);
    let fill = json!({"files": files, "mix": writes(MIB), "locality": {"kind": "sequential"}, "length": {"ios": 16}});
    run_in(&world, fill, device.clone());
    assert_eq!(read(), 1_000_000.0);
}

#[test]
fn what_was_trimmed_is_a_hole_again_and_costs_a_first_write() {
    let (world, device) =
        (SimWorld::default(), json!({"thin": {"hole_ns": 20_000, "first_write_ns": 3_000_000}}));
    let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 16 * MIB}]);
    let pass = |op: &str| {
        let mix = json!([{"op": op, "size_bytes": 65536}]);
        let plan =
            json!({"files": files, "mix": mix, "locality": {"kind": "sequential"}, "length": {"ios": 256}});
        mean_ns(&run_in(&world, plan, device.clone()))
    };
    assert_eq!([pass("write"), pass("read"), pass("trim")], [4e6, 1e6, 50_000.0]);
    assert_eq!([pass("read"), pass("write"), pass("write")], [20_000.0, 4e6, 1e6]);
}

#[test]
fn zeros_are_not_written_and_leave_a_hole() {
    let device = json!({"thin": {"hole_ns": 20_000, "zero_ns": 50_000}});
    let zeros = json!({"mix": writes(65536), "payload": {"kind": "zeros"}, "length": {"ios": 100}});
    let world = SimWorld::default();
    assert_eq!(mean_ns(&run_in(&world, zeros, device.clone())), 50_000.0);
    assert_eq!(mean_ns(&run_in(&world, json!({"length": {"ios": 100}}), device)), 20_000.0);
}

#[test]
fn a_full_pool_refuses_new_units_and_takes_old_ones() {
    let device = json!({"thin": {"unit_bytes": 65536, "pool_bytes": 16 * MIB}});
    let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 32 * MIB}]);
    let plan = json!({"files": files, "mix": writes(65536), "locality": {"kind": "sequential"}, "length": {"ios": 512}});
    let world = SimWorld::default();
    for _ in 0..2 {
        let result = run_in(&world, plan.clone(), device.clone());
        assert_eq!((result.ios, result.errors[0].count, &*result.errors[0].name), (256, 256, "ENOSPC"));
    }
}

#[test]
fn what_can_be_made_smaller_is_served_and_moved_in_proportion() {
    let write = |payload: Value, compress: bool, dedupe: bool| {
        let reduction = json!({"compress": compress, "dedupe": dedupe, "least_percent": 5.0});
        let device = json!({"reduction": reduction, "bandwidth_bytes_per_s": 100_000_000});
        let plan = json!({"mix": writes(100_000), "payload": payload, "length": {"ios": 1000}});
        mean_ns(&run(plan, device))
    };
    let half = json!({"kind": "compressible", "percent": 50.0});
    assert_eq!(write(json!({"kind": "unique"}), true, true), 2e6);
    assert_eq!(write(half.clone(), true, false), 1e6);
    assert_eq!(write(half, false, true), 2e6);
    assert_eq!(write(json!({"kind": "dedupable", "percent": 75.0}), false, true), 0.5e6);
    assert_eq!(write(json!({"kind": "repeated"}), true, false), 2e6);
    assert_eq!(write(json!({"kind": "zeros"}), true, false), 0.1e6);
}

#[test]
fn reads_of_compressed_data_are_faster_too() {
    let (world, device) = (SimWorld::default(), json!({"reduction": {"compress": true}}));
    let read = || mean_ns(&run_in(&world, json!({"length": {"ios": 200}}), device.clone()));
    assert_eq!(read(), 1e6, "nothing is known of what was never written");
    let fill = json!({"mix": writes(MIB), "locality": {"kind": "sequential"}, "length": {"ios": 1024},
        "payload": {"kind": "compressible", "percent": 60.0}});
    run_in(&world, fill, device.clone());
    near(read(), 0.4e6, 1e-6);
}

#[test]
fn a_cache_keeps_what_was_used_last() {
    let device = json!({"cache": {"hit_ns": 100_000, "size_bytes": 64 * MIB, "line_bytes": 8192}});
    let hits = |space: u64| {
        let files = json!([{"path": "sim", "start_bytes": 0, "size_bytes": space}]);
        let world = SimWorld::default();
        let warm = json!({"files": files, "length": {"ios": 100_000}});
        run_in(&world, warm, device.clone());
        let mean = mean_ns(&run_in(
            &world,
            json!({"files": files, "seed": 2, "length": {"ios": 20_000}}),
            device.clone(),
        ));
        (1e6 - mean) / 0.9e6
    };
    assert_eq!(hits(64 * MIB), 1.0);
    near(hits(128 * MIB), 0.5, 0.03);
    near(hits(640 * MIB), 0.1, 0.1);
}

#[test]
fn a_scan_empties_a_cache_unless_it_is_scan_resistant() {
    let after_scan = |resistant: bool| {
        let cache = json!({"hit_ns": 100_000, "size_bytes": 64 * MIB, "line_bytes": 65536, "scan_resistant": resistant});
        let (world, device) = (SimWorld::default(), json!({"cache": cache}));
        let hot = json!([{"path": "sim", "start_bytes": 0, "size_bytes": 32 * MIB}]);
        let cold = json!([{"path": "sim", "start_bytes": 512 * MIB, "size_bytes": 512 * MIB}]);
        run_in(&world, json!({"files": hot, "length": {"ios": 20_000}}), device.clone());
        let scan = json!({"files": cold, "mix": writes(131_072), "locality": {"kind": "sequential"}, "length": {"ios": 4096}});
        run_in(&world, scan, device.clone());
        mean_ns(&run_in(&world, json!({"files": hot, "length": {"ios": 200}}), device))
    };
    assert!(after_scan(false) > 500_000.0, "{}", after_scan(false));
    assert_eq!(after_scan(true), 100_000.0);
}

#[test]
fn a_run_with_everything_on_is_the_same_twice_and_goes_on_from_phase_to_phase() {
    let device = || {
        json!({
            "service": {"kind": "gamma", "mean_ns": 300_000, "cv": 0.7}, "servers": 2, "bandwidth_bytes_per_s": 500_000_000,
            "stripe": {"members": 3, "stripe_bytes": 65536}, "max_io_bytes": 32768, "fragment_bytes": 1_048_576,
            "cache": {"hit_ns": 50_000, "size_bytes": 16 * MIB, "write_back": true, "dirty_bytes": 8 * MIB, "destage_bytes_per_s": 4 * MIB, "scan_resistant": true},
            "slc": {"size_bytes": MIB, "slow_bytes_per_s": MIB}, "read_ahead": {"window_bytes": MIB, "hit_ns": 1000},
            "tier": {"size_bytes": 8 * MIB, "fast_ns": 10_000, "after": 3, "period_ns": 1_000_000_000u64},
            "thin": {"first_write_ns": 1000, "hole_ns": 1000, "pool_bytes": 512 * MIB}, "reduction": {"compress": true},
            "limits": [{"counts": "ios", "rate_per_s": 5000.0, "bucket": 100.0}], "link": {"bytes_per_s": 1_000_000_000, "rtt_ns": 10_000},
            "serialised": "writes", "slow": {"from_ns": 0, "to_ns": 1_000_000_000, "factor": 2.0}, "drift": {"factor": 2.0, "over_ns": 1_000_000_000}, "zones": {"inner_factor": 1.5},
            "noise": {"rate_per_s": 100.0}, "tick_ns": 1000, "scaling": {"contention": 0.01, "retrograde": 0.0001},
            "stall": {"every_ns": 1_000_000_000u64, "for_ns": 10_000_000u64}, "errors": {"percent": 0.1, "every": 1000},
        })
    };
    let twice = || {
        let world = SimWorld::default();
        let mix = json!([{"op": "read", "size_bytes": 8192}, {"op": "write", "size_bytes": 131_072}]);
        let phase = |seed: u64| {
            let plan = json!({"mix": mix, "depth": 8, "users": 2, "seed": seed, "fsync_every": 7, "length": {"seconds": 2.0}});
            serde_json::to_string(&run_in(&world, plan, device()).classes).unwrap()
        };
        [phase(1), phase(1)]
    };
    let once = twice();
    assert_eq!(once, twice());
    assert_ne!(once[0], once[1], "the second phase finds what the first one left");
}
