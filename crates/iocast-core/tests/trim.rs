//! Trims of real files, by both engines: the range reads as zeros, its blocks are given back, the rest stays.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use iocast_core::plan::PhasePlan;
use iocast_core::record::result::PhaseResult;
use iocast_core::run::perform::run_phase;
use serde_json::json;

const SIZE: usize = 4 << 20;
const TRIM: usize = 64 << 10;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("iocast-trim-{name}-{}", std::process::id()));
        std::fs::write(&path, vec![7u8; SIZE]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn trim(file: &Scratch, engine: &str, depth: u32, start: usize, size: usize) -> PhaseResult {
    let plan = json!({
        "name": "t", "role": "measure", "engine": engine,
        "files": [{"path": file.0, "start_bytes": start, "size_bytes": size}],
        "mix": [{"op": "trim", "size_bytes": TRIM}], "locality": {"kind": "sequential"},
        "arrival": {"kind": "closed"}, "users": 1, "depth": depth, "direct": true, "sync": "none",
        "payload": {"kind": "unique"}, "length": {"bytes": size}, "interval_ns": 100_000_000u64, "seed": 1,
        "slow_limit": 4, "error_limit": 100,
    });
    run_phase(&PhasePlan::from_json(&plan.to_string()).unwrap(), |_| true).unwrap()
}

#[test]
fn a_trimmed_range_is_given_back_and_the_rest_is_not_touched() {
    for engine in ["uring", "sync"] {
        let file = Scratch::new(engine);
        let before = std::fs::metadata(&file.0).unwrap().blocks();
        let (start, size) = (1 << 20, 2 << 20);
        let result = trim(&file, engine, 4, start, size);
        assert!(result.errors.is_empty(), "{engine}: {:?}", result.errors);
        assert_eq!((result.engine.name.as_str(), result.ios), (engine, (size / TRIM) as u64));
        assert_eq!(result.bytes, size as u64, "the bytes of a trim are those it gives back");
        assert_eq!(result.classes[0].service.total(), result.ios);
        let data = std::fs::read(&file.0).unwrap();
        assert_eq!(data.len(), SIZE, "the file keeps its size");
        assert!(data[start..start + size].iter().all(|byte| *byte == 0), "{engine}");
        assert!(data[..start].iter().chain(&data[start + size..]).all(|byte| *byte == 7), "{engine}");
        // The file system may take a block or two for its list of extents, which the holes make longer.
        let given_back = (before - std::fs::metadata(&file.0).unwrap().blocks()) * 512;
        assert!(given_back + 65_536 >= size as u64, "{engine}: {given_back} of {size}");
    }
}

#[test]
fn a_large_trim_takes_no_memory_for_buffers() {
    let plan = json!({
        "name": "t", "role": "measure", "engine": "sync",
        "files": [{"path": "f", "start_bytes": 0, "size_bytes": 1u64 << 40}],
        "mix": [{"op": "trim", "size_bytes": 1 << 30}, {"op": "write", "size_bytes": 4096}],
        "locality": {"kind": "uniform"}, "arrival": {"kind": "closed"}, "users": 1, "depth": 64, "direct": true,
        "sync": "none", "payload": {"kind": "unique"}, "length": {"ios": 1}, "interval_ns": 100_000_000u64,
        "seed": 1, "slow_limit": 4, "error_limit": 100,
    });
    let plan = PhasePlan::from_json(&plan.to_string()).unwrap();
    assert_eq!((plan.largest_bytes(), plan.largest_moved_bytes()), (1 << 30, 4096));
}
