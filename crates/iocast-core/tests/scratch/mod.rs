//! A small file of known bytes that goes away, and plans for it.
#![allow(dead_code, reason = "not every test program uses all of it")]

use std::io::Write;
use std::path::{Path, PathBuf};

use iocast_core::error::Result;
use iocast_core::plan::PhasePlan;
use serde_json::{Value, json};

pub const SIZE: u64 = 4 << 20;

pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        Scratch::within(&std::env::temp_dir(), name).expect("a temporary file can be made")
    }

    /// `None` where no file can be made.
    pub fn within(folder: &Path, name: &str) -> Option<Scratch> {
        let path = folder.join(format!("iocast-core-{name}-{}", std::process::id()));
        let mut file = std::fs::File::create(&path).ok()?;
        let scratch = Scratch(path);
        for block in 0..SIZE / 4096 {
            file.write_all(&[(block % 251) as u8; 4096]).ok()?;
        }
        file.sync_all().ok()?;
        Some(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn plan(file: &Scratch, engine: &str, changes: Value) -> PhasePlan {
    try_plan(file, engine, changes).unwrap()
}

pub fn try_plan(file: &Scratch, engine: &str, changes: Value) -> Result<PhasePlan> {
    let mut json = json!({
        "name": "t", "role": "measure", "engine": engine,
        "files": [{"path": file.0, "start_bytes": 0, "size_bytes": SIZE}],
        "mix": [{"op": "read", "size_bytes": 8192}], "locality": {"kind": "uniform"}, "arrival": {"kind": "closed"},
        "users": 1, "depth": 1, "direct": false, "sync": "none", "payload": {"kind": "unique"},
        "length": {"seconds": 0.3}, "interval_ns": 100_000_000u64, "seed": 1, "slow_limit": 16, "error_limit": 1000,
    });
    for (key, value) in changes.as_object().unwrap() {
        json[key] = value.clone();
    }
    PhasePlan::from_json(&json.to_string())
}
