//! Written, spoilt in every way, read back: each block is counted as what it is, by both engines.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use iocast_core::plan::{PhasePlan, ReadBack, VerifyPlan};
use iocast_core::run::perform::run_phase;
use iocast_core::verify::journal::HEADER_BYTES;
use iocast_core::verify::read_back::{Found, read_back};
use iocast_core::verify::verdict::Kind;
use serde_json::{Value, json};

const SIZE: u64 = 4 << 20;
const BLOCK: u64 = 8192;
const BLOCKS: u64 = SIZE / BLOCK;

struct Written {
    file: PathBuf,
    journal: PathBuf,
    data: File,
}

impl Written {
    /// Every block of a file written `laps` times.
    fn new(name: &str, engine: &str, laps: u64, changes: Value) -> Written {
        let at = |kind: &str| {
            std::env::temp_dir().join(format!("iocast-verify-{kind}-{name}-{engine}-{}", std::process::id()))
        };
        let (file, journal) = (at("data"), at("journal"));
        std::fs::write(&file, vec![9u8; SIZE as usize]).unwrap();
        let mut header = vec![0u8; HEADER_BYTES + 16 * BLOCKS as usize];
        header[..8].copy_from_slice(b"iocjrnl1");
        for (at, word) in [(8, 5u64), (16, BLOCK), (24, BLOCKS)] {
            header[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        std::fs::write(&journal, header).unwrap();
        let data = File::options().read(true).write(true).open(&file).unwrap();
        let written = Written { file, journal, data };
        (0..laps).for_each(|_| written.write(engine, &changes));
        written
    }

    fn verify(&self) -> VerifyPlan {
        let journal = self.journal.to_string_lossy().into_owned();
        VerifyPlan { journal, run_id: 5, block_bytes: BLOCK, first_blocks: vec![0], opened: None }
    }

    fn write(&self, engine: &str, changes: &Value) {
        let mut plan = json!({
            "name": "t", "role": "measure", "engine": engine,
            "files": [{"path": self.file, "start_bytes": 0, "size_bytes": SIZE}],
            "mix": [{"op": "write", "size_bytes": BLOCK}], "locality": {"kind": "uniform", "repeats": false},
            "arrival": {"kind": "closed"}, "users": 2, "depth": 4, "direct": true, "sync": "none",
            "payload": {"kind": "unique"}, "length": {"ios": BLOCKS}, "interval_ns": 100_000_000u64, "seed": 1,
            "slow_limit": 4, "error_limit": 100, "verify": self.verify(),
        });
        for (key, value) in changes.as_object().unwrap() {
            plan[key] = value.clone();
        }
        let result = run_phase(&PhasePlan::from_json(&plan.to_string()).unwrap(), |_| true).unwrap();
        assert!(result.errors.is_empty(), "{:?}", result.errors);
    }

    fn read(&self) -> Found {
        self.read_by(false)
    }

    fn read_by(&self, durable_only: bool) -> Found {
        let files = vec![(self.file.to_string_lossy().into_owned(), SIZE)];
        read_back(&ReadBack { verify: self.verify(), files, durable_only }, |_, _| true).unwrap()
    }

    fn block(&self, number: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        self.data.read_exact_at(&mut block, number * BLOCK).unwrap();
        block
    }

    fn put(&self, number: u64, block: &[u8]) {
        self.data.write_all_at(block, number * BLOCK).unwrap();
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
        let _ = std::fs::remove_file(&self.journal);
    }
}

const ENGINES: [&str; 2] = ["uring", "sync"];

#[test]
fn what_was_written_well_is_intact() {
    for engine in ENGINES {
        for (name, changes) in [
            ("plain", json!({})),
            ("large", json!({"mix": [{"op": "write", "size_bytes": 65536}], "length": {"ios": BLOCKS / 8}})),
            ("buffered", json!({"direct": false, "fsync_every": 10})),
            ("dsync", json!({"sync": "dsync", "length": {"ios": 64}})),
            (
                "mixed",
                json!({"mix": [{"op": "read", "size_bytes": BLOCK}, {"op": "write", "size_bytes": BLOCK}]}),
            ),
            ("hot", json!({"locality": {"kind": "zipf", "theta": 1.2}, "users": 4, "depth": 8})),
        ] {
            let written = Written::new(name, engine, 2, changes);
            let found = written.read();
            assert!(found.blocks > 0 && found.complete, "{engine} {name}");
            assert_eq!(found.bad, [0; 5], "{engine} {name}: {found:?}");
            assert_eq!(found.intact + found.undecided, found.blocks, "{engine} {name}: {found:?}");
            assert_eq!((found.outstanding, found.ahead), (0, 0), "{engine} {name}");
        }
    }
}

#[test]
fn each_way_to_spoil_a_block_is_counted_as_what_it_is() {
    for engine in ENGINES {
        let written = Written::new("spoilt", engine, 1, json!({}));
        let old: Vec<Vec<u8>> = (0..BLOCKS).map(|number| written.block(number)).collect();
        written.write(engine, &json!({}));
        // Lost: 10 to 12 are old again. 20 is zeros, as if nothing had ever come.
        for number in 10..13 {
            written.put(number, &old[number as usize]);
        }
        written.put(20, &vec![0; BLOCK as usize]);
        // Torn: 30 and 31 are half old, half new; 32 has one old sector.
        for (number, cut) in [(30, 4096), (31, 512), (32, 8192 - 512)] {
            let new = written.block(number);
            written.put(number, &[&old[number as usize][..cut], &new[cut..]].concat());
        }
        // Misplaced: 40 landed on 41, and on 50.
        written.put(41, &written.block(40));
        written.put(50, &written.block(40));
        // Corrupt: a bit in 60, a byte of the magic in 61, all of 62 is somebody else's.
        for (number, at) in [(60u64, 4000usize), (61, 1)] {
            let mut block = written.block(number);
            block[at] ^= 0x10;
            written.put(number, &block);
        }
        written.put(62, &[0x77; BLOCK as usize]);
        written.data.sync_all().unwrap();
        let found = written.read();
        assert_eq!(found.bad, [3, 4, 2, 3, 0], "{engine}: torn, lost, misplaced, corrupt, unreadable");
        assert_eq!((found.blocks, found.intact), (BLOCKS, BLOCKS - 12), "{engine}");
        let torn = found.places.iter().find(|place| place.kind == Kind::Torn).unwrap();
        assert_eq!((torn.offset_bytes, torn.found, torn.found_newest), (30 * BLOCK, 1, 2));
        assert_eq!((torn.expected_from, torn.expected_to), (2, 2));
        let moved = found.places.iter().find(|place| place.kind == Kind::Misplaced).unwrap();
        assert_eq!((moved.offset_bytes, moved.belongs), (41 * BLOCK, Some((0, 40 * BLOCK))));
        let lost: Vec<u64> =
            found.places.iter().filter(|p| p.kind == Kind::Lost).map(|p| p.offset_bytes / BLOCK).collect();
        assert_eq!(lost, [10, 11, 12, 20]);
    }
}

#[test]
fn a_file_that_was_cut_is_unreadable_where_it_ended() {
    let written = Written::new("cut", "uring", 1, json!({}));
    written.data.set_len(SIZE - 3 * BLOCK).unwrap();
    let found = written.read();
    assert_eq!(found.bad, [0, 0, 0, 0, 3]);
    assert_eq!(found.places[0].error, "end of file");
}

#[test]
fn after_a_loss_of_power_only_what_was_durable_must_be_there() {
    for (name, changes, lost) in [
        ("no-flush", json!({}), 0),
        ("dsync", json!({"sync": "dsync"}), 1),
        ("flush", json!({"fsync_every": 1, "users": 1, "depth": 1, "length": {"ios": 2 * BLOCKS}}), 1),
    ] {
        let written = Written::new(name, "sync", 1, changes.clone());
        let old = written.block(3);
        written.write("sync", &changes);
        written.put(3, &old);
        written.data.sync_all().unwrap();
        assert_eq!(written.read_by(false).bad, [0, 1, 0, 0, 0], "{name}: it was acknowledged");
        assert_eq!(written.read_by(true).bad, [0, lost, 0, 0, 0], "{name}");
    }
}

#[test]
fn a_plan_that_cannot_be_verified_is_refused() {
    let written = Written::new("refused", "sync", 0, json!({}));
    for (field, value, why) in [
        ("mix", json!([{"op": "write", "size_bytes": 4096}]), "each write is of whole blocks"),
        ("mix", json!([{"op": "trim", "size_bytes": 8192}]), "trims cannot be verified"),
        ("payload", json!({"kind": "zeros"}), "the payload must be unique"),
    ] {
        let mut plan = json!({
            "name": "t", "role": "measure", "engine": "sync",
            "files": [{"path": written.file, "start_bytes": 0, "size_bytes": SIZE}],
            "mix": [{"op": "write", "size_bytes": BLOCK}], "locality": {"kind": "uniform"},
            "arrival": {"kind": "closed"}, "users": 1, "depth": 1, "direct": true, "sync": "none",
            "payload": {"kind": "unique"}, "length": {"ios": 1}, "interval_ns": 100_000_000u64, "seed": 1,
            "slow_limit": 4, "error_limit": 100, "verify": written.verify(),
        });
        plan[field] = value;
        let refused = PhasePlan::from_json(&plan.to_string()).expect_err("refused").to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
