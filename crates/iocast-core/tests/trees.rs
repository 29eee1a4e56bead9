//! Trees of files on this machine: made, worked in, looked at and removed; what iocast did not make stays.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use iocast_core::plan::tree_plan::TreePlan;
use iocast_core::plan::{Op, PhasePlan};
use iocast_core::record::result::PhaseResult;
use iocast_core::run::perform::run_phase;
use iocast_core::tree::directories::Directories;
use iocast_core::tree::name_watch::NameWatch;
use iocast_core::tree::number_set::NumberSet;
use iocast_core::tree::{look, make, removal};
use serde_json::{Value, json};

struct Tree {
    place: tempfile::TempDir,
    plan: Value,
}

impl Tree {
    fn new(plan: Value) -> Tree {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o1700)).unwrap();
        let tree = Tree { place, plan };
        make::make_directories(&tree.tree("none"), tree.open().as_raw_fd(), || true).unwrap();
        tree
    }

    fn open(&self) -> fs::File {
        fs::File::open(self.place.path()).unwrap()
    }

    fn tree(&self, present: &str) -> TreePlan {
        let mut plan = self.plan.clone();
        plan["present"] = present.into();
        serde_json::from_value(plan).unwrap()
    }

    fn run(&self, present: &str, mix: &[(&str, u64)], changes: Value) -> PhaseResult {
        let mix: Vec<Value> = mix.iter().map(|(op, size)| json!({"op": op, "size_bytes": size})).collect();
        let mut plan = json!({
            "name": "test", "role": "measure", "engine": "auto",
            "files": [{"path": self.place.path(), "start_bytes": 0, "size_bytes": 1u64 << 40}],
            "mix": mix, "locality": {"kind": "sequential"}, "arrival": {"kind": "closed"},
            "users": 2, "depth": 1, "direct": false, "sync": "none", "payload": {"kind": "unique"},
            "length": {"seconds": 5.0}, "interval_ns": 1_000_000_000u64, "seed": 1, "slow_limit": 8,
            "error_limit": 1000, "tree": self.tree(present),
        });
        for (key, value) in changes.as_object().unwrap() {
            plan[key] = value.clone();
        }
        run_phase(&PhasePlan::from_json(&plan.to_string()).unwrap(), |_| true).unwrap()
    }

    fn make(&self) -> PhaseResult {
        self.run("none", &[("create", 0)], json!({"length": {"seconds": 60.0}}))
    }

    fn look(&self) -> look::Found {
        look::look(&self.tree("all"), self.open().as_raw_fd(), true, || true).unwrap()
    }

    fn remove(&self) -> removal::Removed {
        removal::remove(self.open().as_raw_fd(), 2, false, || true).unwrap()
    }
}

fn shape() -> Value {
    json!({"depth": 2, "width": 3, "files": 4, "sizes": [
        {"size_bytes": 0, "weight": 1}, {"size_bytes": 5000, "weight": 1}]})
}

#[test]
fn a_tree_is_made_looked_at_and_removed_to_the_last_name() {
    let tree = Tree::new(shape());
    let made = tree.make();
    assert_eq!((made.ios, made.errors.len(), made.classes[0].op), (36, 0, Op::Create));
    let found = tree.look();
    assert_eq!((found.directories, found.files, found.wrong_size, found.foreign), (13, 36, 0, 0));
    assert_eq!(found.bytes % 5000, 0);
    let removed = tree.remove();
    assert_eq!((removed.files, removed.directories, removed.left), (36, 12, 0));
    assert_eq!(fs::read_dir(tree.place.path()).unwrap().count(), 0);
}

#[test]
fn every_operation_does_what_it_is_called() {
    let tree = Tree::new(shape());
    tree.make();
    let all = json!({"length": {"ios": 36}});
    for op in [
        "open",
        "close",
        "stat",
        "statx",
        "access",
        "fsync",
        "fdatasync",
        "setattr",
        "readdir",
        "readdirplus",
        "fsyncdir",
        "statfs",
    ] {
        let did = tree.run("all", &[(op, 0)], all.clone());
        assert_eq!((did.ios, did.errors.len()), (36, 0), "{op}: {:?}", did.errors);
    }
    for (op, left_over) in [("rename", 36), ("link", 72), ("symlink", 108), ("mkdir", 144)] {
        let did = tree.run("look", &[(op, 0)], all.clone());
        assert_eq!((did.ios, did.errors.len()), (36, 0), "{op}: {:?}", did.errors);
        assert_eq!(tree.look().left_over, left_over, "{op}");
    }
    // Second names and links first, then the files; then nothing is left to do and the phase ends.
    assert_eq!(tree.run("look", &[("rmdir", 0)], json!({})).ios, 36);
    let did = tree.run("look", &[("unlink", 0)], json!({}));
    assert_eq!((did.ios, did.errors.len()), (108, 0), "{:?}", did.errors);
    assert_eq!((tree.look().files, tree.look().left_over), (0, 0));
}

#[test]
fn the_ring_does_the_same_where_the_kernel_has_the_operation() {
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 50}));
    let ring = |present: &str, mix: &[(&str, u64)]| {
        let did = tree.run(present, mix, json!({"engine": "uring", "depth": 4, "length": {"ios": 100}}));
        assert!(did.engine.name == "tree_ring" || !did.engine.notes.is_empty(), "{:?}", did.engine);
        assert_eq!((did.ios, did.errors.len()), (100, 0), "{mix:?} {:?}", did.errors);
    };
    ring("none", &[("create", 0)]);
    for op in ["open", "close", "statx", "fsync", "fsyncdir", "stat", "readdir"] {
        ring("all", &[(op, 0)]);
    }
    for op in ["rename", "link", "symlink", "mkdir", "rmdir"] {
        ring("look", &[(op, 0)]);
    }
    ring("look", &[("create", 0), ("unlink", 0)]);
    tree.remove();
}

#[test]
fn a_mix_that_makes_and_removes_goes_on_without_an_error_and_its_count_is_right() {
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 50, "select": "random"}));
    let mix =
        [("create", 0), ("unlink", 0), ("stat", 0), ("rename", 0), ("link", 0), ("mkdir", 0), ("rmdir", 0)];
    for depth in [1, 3] {
        let did = tree.run("look", &mix, json!({"depth": depth, "length": {"ios": 5000}}));
        assert_eq!((did.ios, did.errors.len()), (5000, 0), "{:?}", did.errors);
        assert_eq!(tree.look().foreign, 0);
    }
}

#[test]
fn files_are_read_and_written_from_end_to_end() {
    let sizes = json!([{"size_bytes": 10_000, "weight": 1}]);
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 5, "sizes": sizes}));
    tree.make();
    let read = tree.run("all", &[("read", 4096)], json!({"length": {"ios": 30}}));
    assert_eq!((read.ios, read.bytes, read.errors.len()), (30, 100_000, 0), "{:?}", read.errors);
    let wrote =
        tree.run("all", &[("write", 4096)], json!({"length": {"ios": 30}, "locality": {"kind": "uniform"}}));
    assert_eq!((wrote.ios, wrote.errors.len()), (30, 0), "{:?}", wrote.errors);
    assert_eq!(tree.look().wrong_size, 0);
}

#[test]
fn a_file_is_left_after_so_many_reads_of_it() {
    let sizes = json!([{"size_bytes": 16_384, "weight": 1}]);
    for (locality, most, bytes) in
        [("sequential", 2, 12 * 4096), ("uniform", 3, 12 * 4096), ("sequential", 9, 12 * 4096)]
    {
        let mut plan = json!({"depth": 0, "width": 1, "files": 5, "sizes": sizes});
        plan["stop_after"] = most.into();
        let tree = Tree::new(plan);
        tree.make();
        let limits =
            json!({"length": {"ios": 12}, "users": 1, "locality": {"kind": locality}, "slow_limit": 12});
        let read = tree.run("all", &[("read", 4096)], limits);
        assert_eq!((read.ios, read.bytes, read.errors.len()), (12, bytes, 0), "{:?}", read.errors);
        let shape = iocast_core::tree::shape::Shape::new(&tree.tree("all"));
        let mut by_time: Vec<(u64, u64)> =
            read.slow.iter().map(|io| (io.time_ns, shape.spot(io.offset_bytes).number)).collect();
        by_time.sort_unstable();
        let files: Vec<u64> = by_time.iter().map(|(_, file)| *file).collect();
        // Of four blocks a file has, a sequential user can read no more than four.
        let turn = most.min(if locality == "uniform" { most } else { 4 });
        let wanted: Vec<u64> = (0..12).map(|io| io / turn % 5).collect();
        assert_eq!(files, wanted, "{locality} {most}");
    }
}

#[test]
fn each_user_can_have_a_tree_of_its_own() {
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 5, "trees": 3}));
    assert_eq!(tree.run("none", &[("create", 0)], json!({"users": 3})).ios, 30);
    let one = tree.run("look", &[("unlink", 0)], json!({"users": 1}));
    assert_eq!(one.ios, 10);
    assert!(tree.place.path().join("u0/d0").exists() && tree.place.path().join("u2/d1/f25").exists());
    assert_eq!(tree.remove().directories, 9);
}

#[test]
fn what_somebody_moves_under_our_names_is_neither_changed_nor_removed() {
    let tree = Tree::new(json!({"depth": 1, "width": 1, "files": 3}));
    tree.make();
    let (ours, theirs) = (tree.place.path().join("d0/f1"), tree.place.path().join("theirs"));
    fs::write(&theirs, "precious").unwrap();
    fs::remove_file(&ours).unwrap();
    fs::hard_link(&theirs, &ours).unwrap();
    for op in ["unlink", "rename", "link", "setattr", "setxattr", "fsync"] {
        let did = tree.run("look", &[(op, 0)], json!({"users": 1, "length": {"ios": 3}}));
        let refused: Vec<(Op, i32)> = did.errors.iter().map(|error| (error.op, error.errno)).collect();
        assert_eq!(refused.len(), 1, "{op} {refused:?}");
        assert_eq!(refused[0].1, libc::EPERM, "{op}");
        tree.make();
    }
    std::os::unix::fs::symlink("/", tree.place.path().join("d0/f7")).unwrap();
    let removed = tree.remove();
    assert_eq!(removed.left, 3, "{removed:?}");
    assert_eq!(fs::read_to_string(&ours).unwrap(), "precious");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
}

#[test]
fn what_somebody_moves_under_a_name_while_only_files_are_removed_stays() {
    // No look at each file before its call: the kernel tells of names that come (a rename over a name of ours).
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 3000}));
    tree.make();
    let theirs = tree.place.path().join("theirs");
    fs::write(&theirs, "precious").unwrap();
    let last = tree.place.path().join("d1/f5999");
    let mover = std::thread::spawn({
        let last = last.clone();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            fs::rename(&theirs, &last).unwrap();
        }
    });
    let slowly = json!({"users": 1, "arrival": {"kind": "constant", "rate_per_s": 6000.0}});
    let did = tree.run("all", &[("unlink", 0)], slowly);
    mover.join().unwrap();
    assert_eq!((did.ios, did.errors.len()), (5999, 1), "{:?}", did.errors);
    assert_eq!((did.errors[0].op, did.errors[0].errno), (Op::Unlink, libc::EPERM));
    assert_eq!(fs::read_to_string(&last).unwrap(), "precious");
}

#[test]
fn names_that_come_are_noticed_and_what_is_not_ours_is_looked_at_each_time() {
    let tree = Tree::new(json!({"depth": 1, "width": 2, "files": 10}));
    tree.make();
    let plan = tree.tree("all");
    let place = tree.open();
    let shape = iocast_core::tree::shape::Shape::new(&plan);
    let held = Directories::new(shape.clone(), place.as_raw_fd(), 0).unwrap();
    let all = NumberSet::new(20, true);
    let watched = || NameWatch::watched(&held, place.as_raw_fd(), &all);
    let inside = |name: &str| tree.place.path().join(name);
    let changes: [(&str, &dyn Fn()); 3] = [
        ("made", &|| fs::write(inside("d1/new"), "").unwrap()),
        ("linked", &|| fs::hard_link(inside("d0/f1"), inside("d1/linked")).unwrap()),
        ("moved", &|| fs::rename(inside("d1/new"), inside("d0/new")).unwrap()),
    ];
    for (what, change) in changes {
        let watch = watched().unwrap_or_else(|| panic!("{what}: not watched"));
        assert!(watch.nothing_came() && watch.nothing_told());
        change();
        assert!(watch.nothing_told() && !watch.nothing_came() && !watch.nothing_told(), "{what}");
    }
    fs::remove_file(inside("d1/linked")).unwrap();
    let watch = watched().unwrap();
    fs::remove_file(inside("d0/f3")).unwrap();
    assert!(watch.nothing_came(), "what goes is nothing that comes");
    assert!(watched().is_none(), "a file is missing");
    fs::write(inside("d0/f3"), "precious").unwrap();
    assert!(watched().is_none(), "a file is not ours");
}

#[test]
fn a_directory_that_is_swapped_for_a_link_leads_nowhere() {
    let tree = Tree::new(json!({"depth": 1, "width": 1, "files": 3}));
    tree.make();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("f0"), "precious").unwrap();
    let inside = tree.place.path().join("d0");
    fs::rename(&inside, tree.place.path().join("aside")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &inside).unwrap();
    let did = tree.run("all", &[("unlink", 0)], json!({"users": 1}));
    assert_eq!((did.ios, did.errors.len()), (0, 1));
    assert_eq!(tree.remove().left, 2);
    assert_eq!(fs::read_to_string(elsewhere.path().join("f0")).unwrap(), "precious");
}

#[test]
fn a_place_that_is_no_tree_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let open = fs::File::open(place.path()).unwrap();
    assert!(removal::remove(open.as_raw_fd(), 1, false, || true).is_err());
    let plan: TreePlan = serde_json::from_value(shape()).unwrap();
    assert!(make::make_directories(&plan, open.as_raw_fd(), || true).is_err());
    assert!(!Path::new(&place.path().join("d0")).exists());
}
