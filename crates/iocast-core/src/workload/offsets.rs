//! Where I/Os go: sequential, stride, uniform, zipf, hotspot, over one or several file regions.

use rand::RngExt;
use rand::rngs::SmallRng;

use super::scatter::{ZipfRanks, permute};
use super::span::{Place, Span};
use crate::plan::{Locality, PhasePlan, Start};
use crate::workload::random::mix64;

fn walk_in_order(backwards: bool, from: u64, to: u64, next: u64) -> Walk {
    if backwards {
        Walk::Backwards { from, to, next: if next == from { to } else { next } }
    } else {
        Walk::Sequential { from, to, next }
    }
}

/// The size that most I/Os have. Ranks are of blocks of it: ranks of the smallest size would spread the popularity of a
/// page over its parts.
fn most_frequent(plan: &PhasePlan) -> Option<u64> {
    let sized = plan.mix.iter().filter(|m| m.size_bytes > 0);
    let most = sized.max_by(|a, b| a.weight.total_cmp(&b.weight).then(b.size_bytes.cmp(&a.size_bytes)));
    most.map(|m| m.size_bytes)
}

#[derive(Clone, Debug)]
enum Walk {
    Sequential {
        from: u64,
        to: u64,
        next: u64,
    },
    Backwards {
        from: u64,
        to: u64,
        next: u64,
    },
    Stride {
        stride: u64,
        lap_step: u64,
        first: u64,
        next: u64,
    },
    /// How many blocks there are of the size that was last asked for: a division an I/O shows.
    Uniform {
        size: u64,
        blocks: u64,
    },
    Permuted {
        users: u64,
        user: u64,
        seed: u64,
        taken: Vec<(u64, u64)>,
    },
    Zipf {
        ranks: ZipfRanks,
        base: u64,
    },
    Hotspot {
        space: f64,
        access: f64,
    },
}

/// The offsets of one user.
#[derive(Clone, Debug)]
pub struct Offsets {
    span: Span,
    walk: Walk,
}

impl Offsets {
    /// The walk of user `user` of the plan.
    pub fn new(plan: &PhasePlan, user: u32) -> Offsets {
        let largest = plan.largest_bytes().max(1);
        let smallest = plan.mix.iter().map(|m| m.size_bytes).filter(|b| *b > 0).min().unwrap_or(1);
        let span = Span::new(&plan.files, largest, plan.layout);
        let (bytes, users, user) = (span.bytes(), u64::from(plan.users), u64::from(user));
        let walk = match &plan.locality {
            Locality::Sequential { start: Start::OwnRegion, backwards } => {
                // More users than blocks: they share the parts in turn rather than have none.
                let share = (bytes / users / largest * largest).max(largest);
                let from = (user * share) % (bytes / share * share);
                walk_in_order(*backwards, from, from + share, from)
            }
            Locality::Sequential { start: Start::OwnOffset, backwards } => {
                let next = user * (bytes / users / smallest.max(8192) * smallest.max(8192));
                walk_in_order(*backwards, 0, bytes, next)
            }
            Locality::Sequential { start: Start::Same, backwards } => walk_in_order(*backwards, 0, bytes, 0),
            Locality::Stride { stride_bytes } => {
                let first = (user * smallest) % bytes;
                Walk::Stride { stride: *stride_bytes, lap_step: smallest * users, first, next: first }
            }
            // Of what is recorded nothing is drawn but the I/Os of a probe.
            Locality::Uniform { repeats: true } | Locality::Recorded {} => {
                Walk::Uniform { size: 0, blocks: 0 }
            }
            Locality::Uniform { repeats: false } => {
                Walk::Permuted { users, user, seed: mix64(plan.seed), taken: Vec::new() }
            }
            Locality::Zipf { theta } => {
                let base = most_frequent(plan).unwrap_or(smallest).min(bytes.max(1));
                Walk::Zipf { ranks: ZipfRanks::new((bytes / base).max(1), *theta), base }
            }
            // A step that appends looks after its own end.
            Locality::Append { .. } => walk_in_order(false, 0, bytes, 0),
            Locality::Hotspot { space_percent, access_percent } => {
                Walk::Hotspot { space: space_percent / 100.0, access: access_percent / 100.0 }
            }
        };
        Offsets { span, walk }
    }

    /// Where the next I/O of `size` bytes goes.
    #[inline]
    pub fn next(&mut self, size: u64, rng: &mut SmallRng) -> Place {
        let span = &self.span;
        let position = match &mut self.walk {
            Walk::Uniform { size: last, blocks } => {
                if *last != size {
                    (*last, *blocks) = (size, span.bytes() / size);
                }
                block(rng, 0, *blocks) * size
            }
            Walk::Sequential { from, to, next } => {
                let mut at = span.fit(*next, size);
                if at + size > *to {
                    at = *from;
                }
                *next = at + size;
                at
            }
            Walk::Backwards { from, to, next } => {
                if *next < *from + size {
                    *next = *to;
                }
                *next = span.fit_down(*next - size, size);
                *next
            }
            Walk::Permuted { users, user, seed, taken } => {
                let blocks = span.bytes() / size;
                let mine = match taken.iter_mut().find(|(of, _)| *of == size) {
                    Some((_, mine)) => mine,
                    None => {
                        taken.push((size, 0));
                        &mut taken.last_mut().expect("just pushed").1
                    }
                };
                // All users together visit every block once a lap: user u takes places u, u + users, ...
                let share = (blocks + *users - 1 - *user % blocks.max(1)) / *users;
                let (lap, place) = (*mine / share.max(1), *mine % share.max(1) * *users + *user);
                *mine += 1;
                permute(place % blocks, blocks, *seed ^ mix64(lap ^ size)) * size
            }
            Walk::Stride { stride, lap_step, first, next } => {
                let mut at = span.fit(*next, size);
                if at + size > span.bytes() {
                    *first = (*first + *lap_step) % (*stride).min(span.bytes());
                    at = span.fit(*first, size);
                    if at + size > span.bytes() {
                        at = 0;
                    }
                }
                *next = at + *stride;
                at
            }
            Walk::Zipf { ranks, base } => ranks.block(rng) * *base / size * size,
            Walk::Hotspot { space, access } => {
                let blocks = span.bytes() / size;
                let hot = ((blocks as f64 * *space) as u64).clamp(1, blocks.saturating_sub(1).max(1));
                let within = if hot == blocks || rng.random::<f64>() < *access {
                    block(rng, 0, hot)
                } else {
                    block(rng, hot, blocks)
                };
                within * size
            }
        };
        // Files hold whole blocks of the largest size only, so smaller blocks fit wherever they start
        // if the sizes divide each other; where they do not, the I/O is moved back inside its file.
        span.settle(position, size)
    }
}

#[inline]
fn block(rng: &mut SmallRng, from: u64, to: u64) -> u64 {
    // Multiply-high: the bias is below 2^-32 for any region that exists.
    from + ((u128::from(rng.random::<u64>()) * u128::from(to - from)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use std::collections::HashMap;

    fn walk(json: serde_json::Value, user: u32, n: usize) -> Vec<(u32, u64)> {
        let plan = plan(json);
        let mut rng = SmallRng::seed_from_u64(7);
        let mut offsets = Offsets::new(&plan, user);
        let size = plan.mix[0].size_bytes;
        (0..n)
            .map(|_| {
                let p = offsets.next(size, &mut rng);
                (p.file, p.offset)
            })
            .collect()
    }

    #[test]
    fn own_region_keeps_each_user_in_its_part() {
        let json = serde_json::json!({"users": 4, "locality": {"kind": "sequential"}});
        // 1 MiB in four parts of 256 KiB, 8 KiB each: block 32 is the first one again.
        let user2 = walk(json, 2, 33);
        assert_eq!(user2[0], (0, 512 << 10));
        assert_eq!(user2[31], (0, (768 << 10) - 8192));
        assert_eq!(user2[32], user2[0]);
    }

    #[test]
    fn own_offset_goes_on_through_the_whole_file() {
        let json = serde_json::json!({"users": 4, "locality": {"kind": "sequential", "start": "own_offset"}});
        let user3 = walk(json, 3, 40);
        assert_eq!(user3[0], (0, 768 << 10));
        assert_eq!(user3[32], (0, 0));
    }

    #[test]
    fn the_same_start_is_the_beginning_for_all() {
        let json = serde_json::json!({"users": 4, "locality": {"kind": "sequential", "start": "same"}});
        let first = walk(json.clone(), 0, 129);
        assert_eq!(first, walk(json, 3, 129));
        assert_eq!((first[0], first[1], first[128]), ((0, 0), (0, 8192), (0, 0)));
    }

    #[test]
    fn sequential_goes_from_file_to_file() {
        let json = serde_json::json!({"locality": {"kind": "sequential"}, "files": [
            {"path": "a", "start_bytes": 4096, "size_bytes": 20000}, {"path": "b", "start_bytes": 0, "size_bytes": 8192}]});
        assert_eq!(walk(json, 0, 4), [(0, 4096), (0, 12288), (1, 0), (0, 4096)]);
    }

    #[test]
    fn backwards_goes_down_and_starts_again_at_the_end() {
        let json = serde_json::json!({"users": 4, "locality": {"kind": "sequential", "backwards": true}});
        let user1 = walk(json, 1, 33);
        assert_eq!(user1[0], (0, (512 << 10) - 8192));
        assert_eq!(user1[31], (0, 256 << 10));
        assert_eq!(user1[32], user1[0]);
    }

    #[test]
    fn without_repeats_all_users_together_visit_every_block_once_a_lap() {
        for users in [1u32, 3, 4] {
            let json = serde_json::json!({"users": users, "locality": {"kind": "uniform", "repeats": false}});
            let mut seen = std::collections::HashSet::new();
            let mut laps = Vec::new();
            for user in 0..users {
                // 128 blocks of 8 KiB: user u has the blocks at u, u + users, ...
                let share = (128 + users as usize - 1 - user as usize) / users as usize;
                let places = walk(json.clone(), user, 2 * share);
                places[..share]
                    .iter()
                    .for_each(|place| assert!(seen.insert(*place), "{users} users: {place:?} twice"));
                laps.push((places[..share].to_vec(), places[share..].to_vec()));
            }
            assert_eq!(seen.len(), 128);
            assert!(laps.iter().any(|(first, second)| first != second), "laps differ in order");
        }
    }

    #[test]
    fn stride_comes_back_to_what_it_left_out() {
        let json = serde_json::json!({"locality": {"kind": "stride", "stride_bytes": 524_288}});
        let offsets: Vec<u64> = walk(json, 0, 5).into_iter().map(|p| p.1).collect();
        assert_eq!(offsets, [0, 524_288, 8192, 532_480, 16384]);
    }

    #[test]
    fn zipf_has_the_shares_of_the_law() {
        let plan = plan(serde_json::json!({"locality": {"kind": "zipf", "theta": 0.99},
            "files": [{"path": "a", "start_bytes": 0, "size_bytes": 8_192_000}]}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut offsets = Offsets::new(&plan, 0);
        let mut counts: HashMap<u64, u32> = HashMap::new();
        let n = 200_000;
        for _ in 0..n {
            *counts.entry(offsets.next(8192, &mut rng).offset).or_default() += 1;
        }
        let mut shares: Vec<f64> = counts.values().map(|c| f64::from(*c) / f64::from(n)).collect();
        shares.sort_by(|a, b| b.total_cmp(a));
        let norm: f64 = (1..=1000).map(|k| f64::from(k).powf(-0.99)).sum();
        for (k, share) in shares.iter().take(5).enumerate() {
            let truth = ((k + 1) as f64).powf(-0.99) / norm;
            assert!((share / truth - 1.0).abs() < 0.05, "rank {k}: {share} against {truth}");
        }
        let mut hottest: Vec<(u64, u32)> = counts.into_iter().collect();
        hottest.sort_by_key(|(_, c)| std::cmp::Reverse(*c));
        assert!(hottest[0].0.abs_diff(hottest[1].0) > 100 * 8192, "hot blocks are scattered");
    }

    #[test]
    fn the_popularity_of_a_block_is_its_own_whatever_else_is_small() {
        let plan = plan(serde_json::json!({"locality": {"kind": "zipf", "theta": 0.99},
            "mix": [{"op": "read", "size_bytes": 8192, "weight": 9}, {"op": "read", "size_bytes": 512}],
            "files": [{"path": "a", "start_bytes": 0, "size_bytes": 8_192_000}]}));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut offsets = Offsets::new(&plan, 0);
        let mut counts: HashMap<u64, u32> = HashMap::new();
        (0..100_000).for_each(|_| *counts.entry(offsets.next(8192, &mut rng).offset).or_default() += 1);
        let norm: f64 = (1..=1000).map(|k| f64::from(k).powf(-0.99)).sum();
        let hottest = f64::from(*counts.values().max().unwrap()) / 100_000.0;
        assert!((hottest * norm - 1.0).abs() < 0.05, "{hottest} against {}", 1.0 / norm);
    }

    #[test]
    fn hotspot_sends_the_share_it_was_told() {
        let json = serde_json::json!({"locality": {"kind": "hotspot", "space_percent": 10, "access_percent": 70},
            "files": [{"path": "a", "start_bytes": 0, "size_bytes": 81_920_000}]});
        let hot = walk(json, 0, 50_000).iter().filter(|p| p.1 < 8_192_000).count();
        assert!((hot as f64 / 50_000.0 - 0.70).abs() < 0.01);
    }

    fn lcm(a: u64, b: u64) -> u64 {
        let (mut x, mut y) = (a, b);
        while y > 0 {
            (x, y) = (y, x % y);
        }
        a / x * b
    }

    #[test]
    fn sequential_over_stripes_visits_every_block_of_every_file_once() {
        let files: Vec<_> =
            (0..3).map(|_| serde_json::json!({"path": "f", "start_bytes": 0, "size_bytes": 65536})).collect();
        let json = serde_json::json!({"files": files, "locality": {"kind": "sequential"},
            "layout": {"kind": "striped", "stripe_bytes": 16384}});
        let places = walk(json, 0, 25);
        assert_eq!(places[..5], [(0, 0), (0, 8192), (1, 0), (1, 8192), (2, 0)]);
        assert_eq!(places[..24].iter().collect::<std::collections::HashSet<_>>().len(), 24);
        assert_eq!(places[24], places[0]);
    }

    proptest! {
        #[test]
        fn no_io_leaves_its_file(kind in 0..7usize, sizes in prop::collection::vec(1u64..40, 1..4),
                                 files in prop::collection::vec((0u64..10, 40u64..200), 1..4), users in 1u32..9, striped in any::<bool>()) {
            let localities = [serde_json::json!({"kind": "sequential"}), serde_json::json!({"kind": "sequential", "start": "own_offset"}),
                serde_json::json!({"kind": "stride", "stride_bytes": 3 * 512}), serde_json::json!({"kind": "uniform"}),
                serde_json::json!({"kind": "zipf", "theta": 1.0}), serde_json::json!({"kind": "uniform", "repeats": false}),
                serde_json::json!({"kind": "sequential", "backwards": true})];
            let mix: Vec<_> = sizes.iter().map(|s| serde_json::json!({"op": "read", "size_bytes": s * 512})).collect();
            let regions: Vec<_> = files.iter().map(|(a, n)| serde_json::json!({"path": "f", "start_bytes": a * 512, "size_bytes": n * 512})).collect();
            // A stripe that every size divides, where the files have room for it.
            let stripe = sizes.iter().copied().fold(1, lcm);
            let striped = striped && files.iter().all(|(_, n)| *n >= stripe);
            let layout = if striped { serde_json::json!({"kind": "striped", "stripe_bytes": stripe * 512}) }
                else { serde_json::json!({"kind": "concatenated"}) };
            let plan = plan(serde_json::json!({"users": users, "mix": mix, "files": regions, "layout": layout,
                "locality": localities[kind]}));
            let mut rng = SmallRng::seed_from_u64(3);
            for user in 0..users {
                let mut offsets = Offsets::new(&plan, user);
                for i in 0..200 {
                    let size = plan.mix[i % plan.mix.len()].size_bytes;
                    let place = offsets.next(size, &mut rng);
                    let file = &plan.files[place.file as usize];
                    prop_assert!(place.offset >= file.start_bytes && place.offset + size <= file.start_bytes + file.size_bytes);
                    prop_assert_eq!(place.offset % 512, 0);
                    if striped {
                        let within = (place.offset - file.start_bytes) % (stripe * 512);
                        prop_assert!(within + size <= stripe * 512, "over the edge of a stripe");
                    }
                }
            }
        }
    }
}
