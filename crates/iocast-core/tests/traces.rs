//! Traces of every format, whole, cut at every byte and damaged: no panic, and every line is accounted for.

use std::fs;
use std::path::{Path, PathBuf};

use iocast_core::error::Result;
use iocast_core::trace::format_list::READERS;
use iocast_core::trace::read_traces::read;
use iocast_core::trace::reader::Options;
use iocast_core::trace::report::Report;
use proptest::prelude::*;
use tempfile::TempDir;

const SAMPLES: [(&str, &str, &str, u64); 10] = [
    (
        "msr",
        "a.csv",
        "128166477394345573,hm,1,Read,383496192,32768,113736\n128166477394345574,hm,1,Write,0,512,9\n",
        2,
    ),
    ("systor", "a.csv", "1455592700.001,0.000134,R,5,8192,4096\n1455592701.5,0.000090,W,5,0,512\n", 2),
    ("alibaba", "a.csv", "419,W,8792731648,16384,1577808144360767\n12,R,0,8192,1577808144361031\n", 2),
    ("tencent", "a.csv", "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n", 2),
    ("spc", "a.csv", "0,20941264,8192,W,0.551706,Alpha/NT\n1,3436288,15872,r,1.250720,0x123,5.99,test\n", 2),
    (
        "fio_iolog",
        "a.log",
        "fio version 3 iolog\n13 /a b add\n91 /a b write 0 4096\n268 /a b datasync 0 0\n",
        2,
    ),
    ("fio_iolog", "b.log", "fio version 2 iolog\n/a add\n/a wait 50 0\n/a read 0 512\n/a trim 512 512\n", 2),
    ("fio_log", "x_lat.1.log", "0, 493547, 0, 1048576, 0, 0\n50, 560861, 1, 4096, 1048576, 0\n", 2),
    (
        "blkparse",
        "b.txt",
        "  8,52   3        1     0.000843237     0  D  WS 983947432 + 64 [kworker/0:1H]\n  \
         8,52   3        2     0.000868646   226  C  WS 983947432 + 64 [0]\nCPU3 (sdd):\n Reads Queued: 0\n",
        1,
    ),
    (
        "oracle_10046",
        "o.trc",
        "Oracle Database 12c Release 12.1.0.1.0\n*** 2013-08-26 14:40:23.035\nPARSING IN CURSOR #7 len=1\n\
         select 'WAIT #7: nam=' from t\nEND OF STMT\nBINDS #7:\n Bind#0\n  value=\"x\nWAIT #7: nam='no' ela= 1\n\"\n\
         WAIT #7: nam='db file sequential read' ela= 977 file#=7 block#=29 blocks=1 obj#=8 tim=1377520823036634\n",
        1,
    ),
];

fn read_bytes(folder: &Path, name: &str, bytes: &[u8], options: &Options) -> Result<Report> {
    let path: PathBuf = folder.join(name);
    fs::write(&path, bytes).expect("a temporary folder can be written");
    read(&[path], options, &mut |_| Ok(()))
}

fn accounted(report: &Report) {
    for file in &report.files {
        assert_eq!(file.accounted(), file.lines, "{file:?}");
    }
}

#[test]
fn every_sample_is_recognised_and_counted() {
    let folder = TempDir::new().expect("a temporary folder");
    for (format, name, text, events) in SAMPLES {
        let report = read_bytes(folder.path(), name, text.as_bytes(), &Options::default()).expect(format);
        assert_eq!((report.files[0].format.as_str(), report.events), (format, events), "{report:?}");
        assert!(report.files[0].rejected.is_empty(), "{report:?}");
        accounted(&report);
    }
}

#[test]
fn every_sample_may_be_cut_at_every_byte() {
    let folder = TempDir::new().expect("a temporary folder");
    for (format, name, text, _) in SAMPLES {
        for cut in 1..text.len() {
            let options = Options { format: Some(format.into()), ..Options::default() };
            if let Ok(report) = read_bytes(folder.path(), name, &text.as_bytes()[..cut], &options) {
                accounted(&report);
            }
        }
    }
}

#[test]
fn compressed_input_is_the_same_and_may_be_cut() {
    use std::io::Write;
    let folder = TempDir::new().expect("a temporary folder");
    let (_, name, text, events) = SAMPLES[0];
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("memory");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(text.as_bytes()).expect("memory");
    let packed = [
        gz.finish().expect("memory"),
        zstd::encode_all(text.as_bytes(), 1).expect("memory"),
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

    #[test]
    fn a_changed_byte_of_a_sample_makes_no_reader_panic(
        which in 0..SAMPLES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let folder = TempDir::new().expect("a temporary folder");
        let (format, name, text, _) = SAMPLES[which];
        let mut bytes = text.as_bytes().to_vec();
        bytes[at.index(text.len())] = byte;
        let options = Options { format: Some(format.into()), ..Options::default() };
        if let Ok(report) = read_bytes(folder.path(), name, &bytes, &options) {
            accounted(&report);
        }
    }
}
