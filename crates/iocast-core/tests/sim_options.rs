//! Every option of the simulated device, held against the answer that its formula gives.

use iocast_core::engine::sim::world::SimWorld;
use serde_json::{Value, json};

#[allow(dead_code, reason = "one file of helpers, several test files")]
mod trial;

use trial::{MIB, bytes_per_s, mean_ns, near, rate, reads, run, run_in, series, writes};

#[test]
fn eight_members_do_eight_times_the_small_random_ios() {
    let device = |members: u32| json!({"service": {"kind": "exponential", "mean_ns": 5_000_000}, "stripe": {"members": members, "stripe_bytes": MIB}});
    let plan = || json!({"depth": 256, "length": {"seconds": 100.0}});
    // models.md A3: k striped queues do k·n/(S(n+k-1)) at depth n
    near(rate(&run(plan(), device(1))), 200.0, 0.02);
    near(rate(&run(plan(), device(8))), 8.0 * 256.0 / (0.005 * 263.0), 0.02);
    near(
        rate(&run(json!({"depth": 8, "length": {"seconds": 100.0}}), device(8))),
        8.0 * 8.0 / (0.005 * 15.0),
        0.02,
    );
}

#[test]
fn a_full_stripe_has_the_rate_of_all_members_and_an_io_across_an_edge_costs_two() {
    let disk = json!({"kind": "disk", "rpm": 7200.0, "seek_base_ns": 1_000_000, "seek_span_ns": 10_000_000});
    let device = json!({"service": disk, "bandwidth_bytes_per_s": 100_000_000, "stripe": {"members": 4, "stripe_bytes": 65536}});
    let plan = json!({"mix": reads(4 * MIB), "locality": {"kind": "sequential"}, "depth": 2});
    near(bytes_per_s(&run(plan, device)), 400_000_000.0, 0.01);
    let crossing = |start: u64| {
        let files = json!([{"path": "sim", "start_bytes": start, "size_bytes": 65536 * 8192}]);
        let plan = json!({"files": files, "mix": reads(65536), "depth": 64});
        rate(&run(plan, json!({"stripe": {"members": 8, "stripe_bytes": 65536}})))
    };
    near(crossing(32768), crossing(0) / 2.0, 0.03);
}

#[test]
fn an_io_larger_than_the_device_takes_is_split() {
    let plan = || json!({"mix": reads(MIB)});
    assert_eq!(mean_ns(&run(plan(), json!({"max_io_bytes": 131_072}))), 8e6);
    assert_eq!(mean_ns(&run(plan(), json!({"max_io_bytes": 131_072, "servers": 8}))), 1e6);
    assert_eq!(mean_ns(&run(plan(), json!({"max_io_bytes": 2 * MIB}))), 1e6);
}

#[test]
fn fragments_make_a_scan_seek_at_each_of_their_edges() {
    let disk = json!({"kind": "disk", "rpm": 7200.0, "seek_base_ns": 1_000_000, "seek_span_ns": 10_000_000});
    let device = |fragment: u64| json!({"service": disk, "bandwidth_bytes_per_s": 100_000_000, "fragment_bytes": fragment});
    let plan =
        || json!({"mix": reads(65536), "locality": {"kind": "sequential"}, "length": {"seconds": 100.0}});
    near(bytes_per_s(&run(plan(), device(0))), 1e8, 0.01);
    // a + b·8/15 + half a turn for each fragment, then its transfer
    let seek_s = (1.0 + 10.0 * 8.0 / 15.0) / 1e3 + 30.0 / 7200.0;
    near(bytes_per_s(&run(plan(), device(MIB))), MIB as f64 / (seek_s + MIB as f64 / 1e8), 0.03);
}

#[test]
fn a_cap_is_the_rate_exactly_and_latency_is_depth_over_rate() {
    let limits = json!([{"counts": "ios", "rate_per_s": 500.0}]);
    let result = run(json!({"depth": 32}), json!({"servers": 32, "limits": limits}));
    near(rate(&result), 500.0, 0.007);
    assert_eq!(series(&result)[1..9], [500; 8]);
    let steady = result.classes[0].service.quantile_ns(0.5).unwrap() as f64;
    near(steady, 32.0 / 500.0 * 1e9, 0.002);
    let bytes = json!([{"counts": "bytes", "rate_per_s": 1e7}]);
    near(bytes_per_s(&run(json!({"depth": 8}), json!({"servers": 8, "limits": bytes}))), 1e7, 0.01);
}

#[test]
fn a_large_io_counts_as_many_of_the_accounting_size() {
    let limits = json!([{"counts": "ios", "rate_per_s": 1000.0, "unit_bytes": 262_144}]);
    let device = json!({"servers": 64, "limits": limits});
    near(rate(&run(json!({"depth": 32, "mix": reads(MIB)}), device.clone())), 250.0, 0.01);
    near(rate(&run(json!({"depth": 32, "mix": reads(262_144)}), device.clone())), 1000.0, 0.01);
    near(rate(&run(json!({"depth": 32, "mix": reads(8192)}), device)), 1000.0, 0.01);
}

#[test]
fn credits_last_as_long_as_the_bucket_says_and_then_the_baseline_holds() {
    // 540,000 credits at 3,000/s against 300/s: empty after 200 s (models.md A9)
    let limits = json!([
        {"counts": "ios", "rate_per_s": 3000.0},
        {"counts": "ios", "rate_per_s": 300.0, "bucket": 540_000.0},
    ]);
    let result =
        run(json!({"depth": 16, "length": {"seconds": 300.0}}), json!({"servers": 16, "limits": limits}));
    let ios = series(&result);
    let empty_s = ios.iter().position(|ios| *ios < 2900).unwrap();
    assert!((199..=201).contains(&empty_s), "{empty_s}");
    assert_eq!(ios[1..199].iter().copied().min(), Some(3000));
    assert!(ios[202..299].iter().all(|ios| *ios == 300), "{:?}", &ios[202..299]);
}

#[test]
fn reads_in_order_are_fetched_ahead() {
    let ahead = json!({"window_bytes": MIB, "hit_ns": 100_000});
    let device = || json!({"service": {"kind": "constant", "mean_ns": 5_000_000}, "read_ahead": ahead});
    let scan = run(json!({"mix": reads(65536), "locality": {"kind": "sequential"}}), device());
    near(bytes_per_s(&scan), MIB as f64 / 0.005, 0.02);
    let random = run(json!({"mix": reads(65536)}), device());
    near(bytes_per_s(&random), 65536.0 / 0.005, 0.001);
    assert_eq!(random.classes[0].service.min_ns, 5_000_000, "nothing random is fetched ahead");
}

#[test]
fn a_link_carries_its_payload_in_each_direction_and_adds_its_round_trip() {
    let device = json!({"service": {"kind": "constant", "mean_ns": 100_000}, "servers": 64, "link": {"bytes_per_s": 117_000_000, "rtt_ns": 200_000}});
    let one = run(json!({"mix": reads(117_000)}), device.clone());
    assert_eq!(mean_ns(&one), 100_000.0 + 200_000.0 + 1_000_000.0);
    let full = |mix: Value| bytes_per_s(&run(json!({"mix": mix, "depth": 32}), device.clone()));
    near(full(reads(MIB)), 117e6, 0.01);
    near(full(writes(MIB)), 117e6, 0.03);
    let both = json!([{"op": "read", "size_bytes": 131_072}, {"op": "write", "size_bytes": 131_072}]);
    assert!(full(both) > 1.7 * 117e6, "there and back do not share");
}

#[test]
fn serialised_writes_are_one_at_a_time_at_any_depth() {
    let device = || json!({"servers": 64, "serialised": "writes"});
    for depth in [1, 8, 32] {
        near(rate(&run(json!({"depth": depth, "mix": writes(8192)}), device())), 1000.0, 0.01);
        near(rate(&run(json!({"depth": depth}), device())), 1000.0 * f64::from(depth), 0.01);
    }
    let mixed = json!([{"op": "read", "size_bytes": 8192}, {"op": "write", "size_bytes": 8192}]);
    let result = run(json!({"depth": 32, "mix": mixed}), device());
    let reading = result.classes.iter().find(|class| class.op.name() == "read").unwrap();
    assert_eq!(reading.service.max_ns, 1_000_000, "reads do not wait for the lock");
    near(rate(&run(json!({"depth": 8}), json!({"servers": 64, "serialised": "all"}))), 1000.0, 0.01);
}

#[test]
fn throughput_falls_beyond_the_peak_of_the_scalability_law() {
    let (a, b) = (0.02, 0.0005);
    let measured = |n: u32| {
        let scaling = json!({"contention": a, "retrograde": b});
        rate(&run(
            json!({"depth": n, "length": {"seconds": 10.0}}),
            json!({"servers": 1024, "scaling": scaling}),
        ))
    };
    let law = |n: f64| 1000.0 * n / (1.0 + a * (n - 1.0) + b * n * (n - 1.0));
    [1, 8, 32, 64, 128].into_iter().for_each(|n| near(measured(n), law(f64::from(n)), 0.01));
    let peak = ((1.0 - a) / b).sqrt().round() as u32;
    assert_eq!(peak, 44);
    assert!(measured(peak) > measured(peak / 2) && measured(peak) > measured(peak * 2));
}

#[test]
fn maintenance_lasts_as_long_as_told_across_phases_and_drift_grows() {
    let (world, slow) = (
        SimWorld::default(),
        json!({"from_ns": 15_000_000_000u64, "to_ns": 25_000_000_000u64, "factor": 4.0}),
    );
    let phase = || series(&run_in(&world, json!({}), json!({"slow": slow})));
    let (first, second, third) = (phase(), phase(), phase());
    assert!(first[..9].iter().all(|ios| *ios >= 999), "{first:?}");
    assert_eq!((second[3], second[6], third[3], third[7]), (1000, 250, 250, 1000));
    let drifting = series(&run(json!({}), json!({"drift": {"factor": 2.0, "over_ns": 5_000_000_000u64}})));
    near(drifting[0] as f64, 1000.0 / 1.1, 0.01);
    assert_eq!(drifting[8], 500);
}

#[test]
fn the_end_of_a_disk_with_zones_serves_and_moves_more_slowly_than_its_beginning() {
    let device = json!({"size_bytes": 1024 * MIB, "bandwidth_bytes_per_s": 100_000_000, "zones": {"inner_factor": 2.0}});
    let at = |start: u64, size: u64| {
        let files = json!([{"path": "sim", "start_bytes": start, "size_bytes": 16 * MIB}]);
        run(json!({"files": files, "mix": reads(size)}), device.clone())
    };
    // 1 ms of service and 8 KiB at 100 MB/s, in the middle of 16 MiB of 1024
    let once = 1e6 + 8192.0 * 10.0;
    near(mean_ns(&at(0, 8192)), once * (1.0 + 8.0 / 1024.0), 0.002);
    near(mean_ns(&at(1008 * MIB, 8192)), once * (1.0 + 1016.0 / 1024.0), 0.002);
    near(bytes_per_s(&at(0, MIB)) / bytes_per_s(&at(1008 * MIB, MIB)), 2.0 / (1.0 + 16.0 / 1024.0), 0.01);
}

#[test]
fn foreign_load_takes_its_share_of_the_servers() {
    let noise = |burst_ns: u64, every_ns: u64| json!({"noise": {"rate_per_s": 400.0, "burst_ns": burst_ns, "every_ns": every_ns}});
    let result = run(json!({"depth": 16, "length": {"seconds": 60.0}}), noise(0, 0));
    near(rate(&result), 600.0, 0.02);
    let bursts =
        series(&run(json!({"depth": 16, "length": {"seconds": 60.0}}), noise(2_000_000_000, 10_000_000_000)));
    assert!(bursts[0] < 700 && bursts[21] < 700, "{bursts:?}");
    assert_eq!((bursts[5], bursts[27]), (1000, 1000));
}

#[test]
fn ends_are_noticed_at_ticks() {
    let result = run(
        json!({}),
        json!({"service": {"kind": "uniform", "low_ns": 100_000, "high_ns": 900_000}, "tick_ns": 1_000_000}),
    );
    assert_eq!((result.classes[0].service.min_ns, result.classes[0].service.max_ns), (1_000_000, 1_000_000));
}

#[test]
fn laws_have_their_moments() {
    let moments = |law: Value| {
        let result = run(json!({"length": {"ios": 100_000}}), json!({"service": law}));
        let (n, mean) = (result.ios as f64, mean_ns(&result));
        (mean, (result.classes[0].service.sum_squares / n - mean * mean) / mean / mean)
    };
    for cv in [0.5, 2.0] {
        let (mean, cs2) = moments(json!({"kind": "gamma", "mean_ns": 1_000_000, "cv": cv}));
        near(mean, 1e6, 0.02);
        near(cs2, cv * cv, 0.06);
    }
    // models.md: 90 % of 0.4 ms and 10 % of 6.4 ms, each exponential: cs2 is 7.48
    let two = |spread: bool| {
        moments(
            json!({"kind": "bimodal", "fast_percent": 90.0, "fast_ns": 400_000, "slow_ns": 6_400_000, "exponential": spread}),
        )
    };
    near(two(true).0, 1e6, 0.02);
    near(two(true).1, 7.48, 0.06);
    near(two(false).1, 3.24, 0.03);
    let points = json!([{"percent": 50.0, "ns": 1_000_000}, {"percent": 99.0, "ns": 2_000_000}, {"percent": 100.0, "ns": 10_000_000}]);
    let table =
        run(json!({"length": {"ios": 100_000}}), json!({"service": {"kind": "table", "points": points}}));
    let quantile = |q: f64| table.classes[0].service.quantile_ns(q).unwrap() as f64;
    assert_eq!(table.classes[0].service.min_ns, 1_000_000);
    near(quantile(0.745), 1.5e6, 0.01);
    near(quantile(0.99), 2e6, 0.03);
    near(mean_ns(&table), 0.5e6 + 0.49 * 1.5e6 + 0.01 * 6e6, 0.01);
}

#[test]
fn every_so_many_th_io_fails() {
    let result = run(json!({"length": {"ios": 1000}}), json!({"errors": {"every": 10}}));
    assert_eq!((result.ios, result.errors[0].count), (900, 100));
}

#[test]
fn slow_ios_do_not_hold_up_the_hits_of_a_cache() {
    let device = json!({"cache": {"read_hit_percent": 50.0, "hit_ns": 100_000}, "servers": 64,
        "service": {"kind": "constant", "mean_ns": 10_000_000}, "bandwidth_bytes_per_s": 1_000_000_000});
    let result = run(json!({"depth": 32}), device);
    assert!(
        result.classes[0].service.quantile_ns(0.45).unwrap() < 200_000,
        "the link is idle most of the time"
    );
}
