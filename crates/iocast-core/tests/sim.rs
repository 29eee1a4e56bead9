//! The loop, the tally and the simulated device together, where the answers are known.

use iocast_core::record::result::Stopped;
use serde_json::json;

#[allow(dead_code, reason = "one file of helpers, several test files")]
mod trial;

use trial::run;

#[test]
fn one_server_of_one_millisecond_does_a_thousand_a_second() {
    let result = run(json!({}), json!({}));
    assert_eq!((result.ios, result.elapsed_ns), (10_000, 10_000_000_000));
    assert_eq!(result.classes[0].service.min_ns, 1_000_000);
    assert_eq!(result.classes[0].service.max_ns, 1_000_000);
    assert!((result.depth_mean - 1.0).abs() < 1e-9);
    assert_eq!(result.intervals.len(), 11, "ten seconds, and the I/O that ends at the very end");
}

#[test]
fn four_servers_have_their_knee_at_depth_four() {
    let rate = |users: u32, depth: u32| {
        run(json!({"users": users, "depth": depth}), json!({"servers": 4})).ios as f64 / 10.0
    };
    assert_eq!(rate(1, 2), 2000.0);
    assert_eq!(rate(4, 1), 4000.0);
    assert_eq!(rate(4, 4), 4001.2, "saturated, and 12 of the last 16 end after the tenth second");
}

#[test]
fn little_holds_at_any_depth() {
    let result = run(
        json!({"users": 3, "depth": 8}),
        json!({"service": {"kind": "exponential", "mean_ns": 500_000}, "servers": 5}),
    );
    let service = &result.classes[0].service;
    let mean = service.sum_ns as f64 / service.total() as f64;
    let in_flight = result.ios as f64 / result.elapsed_ns as f64 * mean;
    assert!((in_flight / 24.0 - 1.0).abs() < 0.01, "{in_flight}");
    assert!((result.depth_mean - 24.0).abs() < 1e-6, "{}", result.depth_mean);
    assert!((service.sum_ns as f64 / result.in_flight_ns - 1.0).abs() < 1e-9);
}

#[test]
#[ignore = "long: `make test-rust` runs it"]
fn an_open_loop_at_eighty_percent_of_one_exponential_server_has_the_response_of_m_m_1() {
    let result = run(
        json!({"arrival": {"kind": "poisson", "rate_per_s": 800.0}, "depth": 1000, "length": {"seconds": 2000.0}}),
        json!({"service": {"kind": "exponential", "mean_ns": 1_000_000}}),
    );
    let response = &result.classes[0].response;
    let mean_ms = response.sum_ns as f64 / response.total() as f64 / 1e6;
    assert!((mean_ms / 5.0 - 1.0).abs() < 0.05, "S/(1-rho) is 5 ms, got {mean_ms}");
    let p99_ms = response.quantile_ns(0.99).unwrap() as f64 / 1e6;
    assert!((p99_ms / 23.03 - 1.0).abs() < 0.08, "5 ms x ln 100 is 23 ms, got {p99_ms}");
}

#[test]
fn a_stall_shows_in_the_response_at_any_depth_and_in_the_service_only_if_it_was_in_flight() {
    // 500/s, 1 ms reads, the last second of every five stalled: a fifth of the arrivals waits 0..1 s.
    for depth in [1, 1024] {
        let result = run(
            json!({"arrival": {"kind": "constant", "rate_per_s": 500.0}, "depth": depth}),
            json!({"stall": {"every_ns": 5_000_000_000u64, "for_ns": 1_000_000_000u64}, "servers": 1024}),
        );
        let response = &result.classes[0].response;
        let ms = |q: f64| response.quantile_ns(q).unwrap() as f64 / 1e6;
        assert!((400.0..=700.0).contains(&ms(0.90)), "depth {depth}: p90 {}", ms(0.90));
        assert!((880.0..=1010.0).contains(&ms(0.99)), "depth {depth}: p99 {}", ms(0.99));
        if depth == 1 {
            let service = result.classes[0].service.quantile_ns(0.99).unwrap();
            assert!(service < 1_100_000, "one I/O at a time hides the stall from service time: {service}");
        }
    }
}

#[test]
fn think_time_keeps_users_apart() {
    let result =
        run(json!({"users": 2, "arrival": {"kind": "closed", "think_ns": 9_000_000}}), json!({"servers": 2}));
    assert_eq!(result.ios, 2000, "one I/O every 10 ms a user");
    assert_eq!(result.classes[0].response.max_ns, 1_000_000);
}

#[test]
fn a_disk_has_the_mean_of_its_seek_law() {
    let law = json!({"kind": "disk", "rpm": 7200.0, "seek_base_ns": 1_007_500, "seek_span_ns": 13_582_450});
    let result = run(
        json!({"length": {"seconds": 1000.0}}),
        json!({"service": law, "bandwidth_bytes_per_s": 115_000_000}),
    );
    let service = &result.classes[0].service;
    let mean_ms = service.sum_ns as f64 / service.total() as f64 / 1e6;
    // models.md A1: a + b x 8/15 + half a turn + 8.192 kB at 115 MB/s
    assert!((mean_ms / 12.4894 - 1.0).abs() < 0.01, "{mean_ms}");
}

#[test]
fn in_order_a_disk_moves_at_its_transfer_rate() {
    let law = json!({"kind": "disk", "rpm": 7200.0, "seek_base_ns": 1_000_000, "seek_span_ns": 10_000_000});
    let mix = json!([{"op": "read", "size_bytes": 1 << 20}]);
    let result = run(
        json!({"mix": mix, "locality": {"kind": "sequential"}}),
        json!({"service": law, "bandwidth_bytes_per_s": 104_857_600}),
    );
    let rate = result.bytes as f64 * 1e9 / result.elapsed_ns as f64;
    assert!((rate / 104_857_600.0 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
#[ignore = "long: `make test-rust` runs it"]
fn a_cache_answers_the_share_it_was_told() {
    let result = run(
        json!({"depth": 64}),
        json!({"cache": {"read_hit_percent": 80.0, "hit_ns": 100_000}, "servers": 64}),
    );
    let service = &result.classes[0].service;
    assert_eq!(service.min_ns, 100_000);
    assert!(service.quantile_ns(0.75).unwrap() < 100_200);
    assert!(service.quantile_ns(0.85).unwrap() >= 999_000);
}

#[test]
fn errors_are_counted_apart_with_their_places() {
    let result = run(json!({}), json!({"errors": {"start_bytes": 0, "end_bytes": 1u64 << 28}}));
    let error = &result.errors[0];
    assert_eq!(error.name, "EIO");
    let share = error.count as f64 / (error.count + result.ios) as f64;
    assert!((share - 0.25).abs() < 0.02, "a quarter of the device is bad: {share}");
    assert!(error.first.iter().all(|p| p.offset_bytes < 1 << 28));
    assert_eq!(result.classes[0].service.total(), result.ios);
}

#[test]
fn too_many_errors_end_the_phase_and_say_so() {
    let result = run(json!({"error_limit": 50}), json!({"errors": {"percent": 100.0}}));
    assert_eq!(result.stopped, Stopped::Errors);
    assert_eq!((result.ios, result.errors[0].count), (0, 50));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let once = |seed: u64| {
        let device = json!({"service": {"kind": "lognormal", "mean_ns": 100_000, "cv": 1.0}, "servers": 8});
        let result = run(json!({"users": 4, "depth": 4, "seed": seed, "length": {"seconds": 1.0}}), device);
        serde_json::to_string(&result.classes).unwrap()
    };
    assert_eq!(once(7), once(7));
    assert_ne!(once(7), once(8));
}

#[test]
fn a_lognormal_law_has_its_mean_and_spread() {
    let device = json!({"service": {"kind": "lognormal", "mean_ns": 1_000_000, "cv": 0.5}});
    let result = run(json!({"length": {"seconds": 100.0}}), device);
    let service = &result.classes[0].service;
    let n = service.total() as f64;
    let mean = service.sum_ns as f64 / n;
    let sd = (service.sum_squares / n - mean * mean).sqrt();
    assert!((mean / 1e6 - 1.0).abs() < 0.01 && (sd / mean - 0.5).abs() < 0.02, "{mean} {sd}");
}

#[test]
fn nothing_ends_during_a_stall_not_even_a_hit() {
    let stall = json!({"every_ns": 1_000_000_000u64, "for_ns": 200_000_000u64});
    let result =
        run(json!({}), json!({"cache": {"read_hit_percent": 100.0, "hit_ns": 100_000}, "stall": stall}));
    let longest = result.classes[0].service.max_ns;
    assert!((200_000_000..=200_200_000).contains(&longest), "{longest}");
}

#[test]
fn hits_in_a_cache_share_the_transfer_rate_too() {
    let device =
        json!({"cache": {"read_hit_percent": 100.0, "hit_ns": 10_000}, "bandwidth_bytes_per_s": 100_000_000});
    let result = run(json!({"depth": 16}), device);
    let rate = result.bytes as f64 * 1e9 / result.elapsed_ns as f64;
    assert!((rate / 1e8 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn arrivals_that_were_due_and_never_sent_are_counted() {
    // One server of 1 ms gets three a millisecond: two thirds of 30,000 never leave.
    for kind in ["constant", "poisson"] {
        let result = run(json!({"arrival": {"kind": kind, "rate_per_s": 3000.0}}), json!({}));
        let all = result.ios + result.unsent_arrivals;
        assert!(all.abs_diff(30_000) < 600, "{kind}: {} + {}", result.ios, result.unsent_arrivals);
        assert_eq!(result.ios, 10_000);
    }
    let idle = run(json!({"arrival": {"kind": "constant", "rate_per_s": 100.0}}), json!({}));
    assert_eq!(idle.unsent_arrivals, 0);
}

/// A session that reads a page, writes a log and syncs it, on a device of 1 ms: 10 ms of pauses a round.
fn session(arrival: serde_json::Value) -> serde_json::Value {
    let step = |op: &str, sizes: serde_json::Value, pause_ns: u64, next: [u32; 3]| {
        json!({"op": op, "sizes": sizes, "start_bytes": 0, "size_bytes": 1 << 20, "joins": 0, "next": next,
            "locality": {"kind": if op == "write" { "append" } else { "uniform" }},
            "pause": {"kind": "constant", "mean_ns": pause_ns}})
    };
    let one = json!([{"size_bytes": 8192, "weight": 1}]);
    json!({"arrival": arrival, "users": 2,
        "mix": [{"op": "read", "size_bytes": 8192}, {"op": "write", "size_bytes": 8192}, {"op": "fdatasync", "size_bytes": 0}],
        "steps": [step("read", one.clone(), 2_000_000, [0, 1, 0]), step("write", one, 0, [0, 0, 1]),
            step("fdatasync", json!([]), 8_000_000, [1, 0, 0])]})
}

#[test]
fn sessions_pause_after_their_steps_or_keep_their_rate() {
    // Three I/Os of 1 ms and 10 ms of pauses: 13 ms a round, of two sessions.
    let servers = json!({"servers": 2, "fsync_ns": 1_000_000});
    let closed = run(session(json!({"kind": "closed", "think_ns": 3_333_333})), servers.clone());
    let share = |result: &iocast_core::record::result::PhaseResult| {
        result
            .classes
            .iter()
            .map(|class| class.service.total() as f64 / result.ios as f64)
            .collect::<Vec<_>>()
    };
    assert!(share(&closed).iter().all(|share| (share - 1.0 / 3.0).abs() < 0.001), "{:?}", share(&closed));
    let rounds = closed.ios as f64 / 3.0 / 2.0;
    assert!((rounds - 10_000.0 / 13.0).abs() < 2.0, "{rounds} rounds of each session in ten seconds");
    let open = run(session(json!({"kind": "stepped", "rate_per_s": 600.0})), servers);
    assert!(
        open.ios.abs_diff(6000) <= 6,
        "ten milliseconds a round, whatever the device takes: {}",
        open.ios
    );
    assert!(share(&open).iter().all(|share| (share - 1.0 / 3.0).abs() < 0.001));
}
