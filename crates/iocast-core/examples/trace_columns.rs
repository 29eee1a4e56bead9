//! Reads traces into columns that are dropped, or into Parquet (`--to FILE`), and prints what that took: the measure
//! of `bench/traces.py`.

use std::path::PathBuf;

use iocast_core::trace::read_traces::{read, read_to_parquet};
use iocast_core::trace::reader::Options;

fn cpu_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn main() {
    let mut to = None;
    let mut paths = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--to" {
            to = arguments.next().map(PathBuf::from);
        } else {
            paths.push(PathBuf::from(argument));
        }
    }
    let (before, began) = (cpu_seconds(), std::time::Instant::now());
    let options = Options::default();
    let report = match &to {
        Some(to) => read_to_parquet(&paths, &options, to, None),
        None => read(&paths, &options, false, &mut |_, _| Ok(())),
    };
    let report = report.expect("a trace that is sound");
    let bytes: u64 = report.files.iter().map(|file| file.bytes).sum();
    let (cpu_s, wall_s) = (cpu_seconds() - before, began.elapsed().as_secs_f64());
    println!(
        "{{\"events\": {}, \"lines\": {}, \"bytes\": {bytes}, \"cpu_s\": {cpu_s}, \"wall_s\": {wall_s}}}",
        report.events,
        report.files.iter().map(|file| file.lines).sum::<u64>(),
    );
}
