//! Traces of every format, whole, cut at every byte and damaged: no panic, and every line is accounted for.

mod trace_texts;

use std::fs;
use std::path::{Path, PathBuf};

use iocast_core::error::Result;
use iocast_core::trace::format_list::READERS;
use iocast_core::trace::read_traces::{read, read_to_parquet};
use iocast_core::trace::reader::Options;
use iocast_core::trace::report::Report;
use proptest::prelude::*;
use tempfile::TempDir;
use trace_texts::{Sample, asking_for_4_gib, samples};

fn read_bytes(folder: &Path, name: &str, bytes: &[u8], options: &Options) -> Result<Report> {
    let path: PathBuf = folder.join(name);
    fs::write(&path, bytes).expect("a temporary folder can be written");
    read(&[path], options, true, &mut |_, _| Ok(()))
}

fn accounted(report: &Report) {
    for file in &report.files {
        assert_eq!(file.accounted(), file.lines, "{file:?}");
    }
    assert_eq!(report.events, report.files.iter().map(|file| file.events).sum::<u64>());
}

fn named(sample: &Sample) -> Options {
    Options { format: Some(sample.format.into()), ..sample.options.clone() }
}

#[test]
fn every_format_has_a_sample() {
    let samples = samples();
    let without = |name: &str| !samples.iter().any(|sample| sample.format == name);
    // It only says that its kind must be named.
    let left: Vec<_> = READERS.iter().map(|each| each.name).filter(|name| without(name)).collect();
    assert_eq!(left, ["simulator"]);
}

#[test]
fn every_sample_is_recognised_and_counted() {
    let folder = TempDir::new().expect("a temporary folder");
    for sample in samples() {
        let options = if sample.sniffed { sample.options.clone() } else { named(&sample) };
        let report = read_bytes(folder.path(), sample.name, &sample.bytes, &options).expect(sample.format);
        assert_eq!(
            (report.files[0].format.as_str(), report.events),
            (sample.format, sample.events),
            "{report:?}"
        );
        assert!(report.files[0].rejected.is_empty(), "{report:?}");
        accounted(&report);
    }
}

#[test]
fn a_sample_is_of_no_other_format() {
    for sample in samples().iter().filter(|sample| sample.sniffed && sample.options.columns.is_none()) {
        let head = iocast_core::trace::reader::Head {
            path: Path::new(sample.name),
            bytes: &sample.bytes,
            whole: true,
        };
        let first = READERS.iter().find(|each| (each.sniff)(&head)).map(|each| each.name);
        assert_eq!(first, Some(sample.format));
    }
}

fn cut_at_one_byte_in(step: usize) {
    let folder = TempDir::new().expect("a temporary folder");
    for sample in samples() {
        for cut in (1..sample.bytes.len()).step_by(step) {
            if let Ok(report) = read_bytes(folder.path(), sample.name, &sample.bytes[..cut], &named(&sample))
            {
                accounted(&report);
            }
        }
    }
}

#[test]
fn every_sample_may_be_cut() {
    cut_at_one_byte_in(11);
}

#[test]
#[ignore = "long: `make test-rust` runs it"]
fn every_sample_may_be_cut_at_every_byte() {
    cut_at_one_byte_in(1);
}

#[test]
fn compressed_input_is_the_same_and_may_be_cut() {
    use std::io::Write;
    let folder = TempDir::new().expect("a temporary folder");
    let Sample { name, bytes: text, events, .. } = samples().swap_remove(0);
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&text).expect("memory");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&text).expect("memory");
    let packed = [
        gz.finish().expect("memory"),
        zstd::encode_all(&text[..], 1).expect("memory"),
        xz.finish().expect("memory"),
    ];
    for bytes in packed {
        let report = read_bytes(folder.path(), name, &bytes, &Options::default()).expect("it is whole");
        assert_eq!((report.events, report.files[0].notes.len()), (events, 0), "{report:?}");
        for cut in 1..bytes.len() {
            let options = Options { format: Some("msr".into()), ..Options::default() };
            if let Ok(report) = read_bytes(folder.path(), name, &bytes[..cut], &options) {
                accounted(&report);
            }
        }
    }
}

#[test]
fn xz_that_takes_too_much_memory_is_refused() {
    use std::io::Write;
    let folder = TempDir::new().expect("a temporary folder");
    let Sample { name, bytes: text, .. } = samples().swap_remove(0);
    let packed = |preset| {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), preset);
        xz.write_all(&text).expect("memory");
        xz.finish().expect("memory")
    };
    let greedy = asking_for_4_gib(packed(1));
    // Far behind the first bytes, too.
    let later = [packed(1).repeat(1 + (1 << 17) / text.len()), greedy.clone()].concat();
    for bytes in [greedy, later] {
        let error = read_bytes(folder.path(), name, &bytes, &Options::default()).expect_err("4 GiB");
        assert!(error.to_string().ends_with("to unpack it takes more than 128 MiB of memory"), "{error}");
        assert_eq!(error.hint(), "unpack it with xz -d, and give the text");
    }
    let best = read_bytes(folder.path(), name, &packed(9), &Options::default()).expect("what xz -9 makes");
    assert!(best.files[0].notes.is_empty());
}

#[test]
fn several_threads_read_what_one_does() {
    let folder = TempDir::new().expect("a temporary folder");
    let mut paths = Vec::new();
    for file in 0..3_i64 {
        // Above the size from which threads are worth it, with names of their own and in common.
        let line =
            |at: i64| format!("{},v{file},{},Read,{},4096,77\n", 128166477394345573 + at, at % 3, at * 4096);
        let path = folder.path().join(format!("{file}.csv"));
        fs::write(&path, (0..40_000).map(line).collect::<String>()).expect("it can be written");
        paths.push(path);
    }
    let options = Options::default();
    let alone = read(&paths, &options, false, &mut |_, _| Ok(())).expect("it is sound");
    let to = folder.path().join("events.parquet");
    let together = read_to_parquet(&paths, &options, &to, None).expect("it is sound");
    assert_eq!((together.events, alone.events), (120_000, 120_000));
    let sorted = |report: &Report| {
        let mut names = report.targets.clone();
        names.sort();
        names
    };
    assert_eq!(sorted(&together), sorted(&alone));
    let lines =
        |report: &Report| report.files.iter().map(|file| (file.path.clone(), file.lines)).collect::<Vec<_>>();
    assert_eq!(lines(&together), lines(&alone));
    fs::write(&paths[1], b"no trace of anything, but long enough\n".repeat(200_000))
        .expect("it can be written");
    assert!(read_to_parquet(&paths, &options, &to, None).is_err());
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 4);
}

fn changed(mut bytes: Vec<u8>, how: u8, at: usize, byte: u8) -> Vec<u8> {
    let at = at % bytes.len();
    match how % 4 {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => drop(bytes.remove(at)),
        // A part comes twice: records that begin in others, numbers that are too long.
        _ => {
            let part = bytes[at..(at + 1 + usize::from(byte)).min(bytes.len())].to_vec();
            bytes.splice(at..at, part);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(which in 0..READERS.len(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let folder = TempDir::new().expect("a temporary folder");
        let options = Options { format: Some(READERS[which].name.into()), ..Options::default() };
        if let Ok(report) = read_bytes(folder.path(), "x_lat.1.log", &bytes, &options) {
            accounted(&report);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn changed_bytes_of_a_sample_make_no_reader_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<u8>(), any::<usize>(), any::<u8>()), 1..4),
    ) {
        let folder = TempDir::new().expect("a temporary folder");
        let samples = samples();
        let sample = &samples[which.index(samples.len())];
        let bytes = changes.iter().fold(sample.bytes.clone(), |bytes, (how, at, byte)| {
            if bytes.is_empty() { bytes } else { changed(bytes, *how, *at, *byte) }
        });
        if let Ok(report) = read_bytes(folder.path(), sample.name, &bytes, &named(sample)) {
            accounted(&report);
        }
    }
}
