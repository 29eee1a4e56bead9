//! All formats that are read, in the order of sniffing.

use crate::error::{Error, Result};
use crate::trace::reader::{Format, Head, Options};
use crate::trace::readers::block::{blkparse, blktrace, block_events, snoop_table};
use crate::trace::readers::oracle::oracle_10046;
use crate::trace::readers::programs::{fio_iolog, fio_log, strace};
use crate::trace::readers::tables::{csv_maps, references, vscsi};

/// The first that knows a file reads it.
pub const READERS: &[Format] = &[
    blktrace::FORMAT,
    vscsi::FORMAT,
    blkparse::FORMAT,
    block_events::FORMAT,
    snoop_table::FORMAT,
    oracle_10046::FORMAT,
    fio_iolog::FORMAT,
    // By its name; its numbers alone could be those of a volume.
    fio_log::FORMAT,
    csv_maps::MSR,
    csv_maps::SYSTOR,
    csv_maps::CLOUD_PHYSICS,
    csv_maps::ALIBABA,
    csv_maps::SPC,
    csv_maps::TENCENT,
    csv_maps::DISKSIM,
    csv_maps::DISKSIM_VALIDATION,
    csv_maps::MQSIM,
    csv_maps::SSDSIM,
    csv_maps::SIMULATOR,
    references::FORMAT,
    // Its lines are the freest.
    strace::FORMAT,
    csv_maps::GENERIC,
];

/// The reader of a file: the one that was named, or the first that knows it.
pub fn format_of(options: &Options, head: &Head<'_>) -> Result<&'static Format> {
    let refused = |why: String, hint: &'static str| Error::Trace { why, hint };
    let path = head.path.display();
    if let Some(name) = &options.format {
        let names = || READERS.iter().map(|each| each.name).collect::<Vec<_>>().join(", ");
        let named = READERS.iter().find(|each| each.name == name);
        return named.ok_or_else(|| {
            refused(format!("there is no trace format `{name}`: {} are read", names()), "name one of them")
        });
    }
    if head.bytes.is_empty() {
        return Err(refused(format!("{path} is empty"), "give the trace that was captured"));
    }
    if options.columns.is_some() {
        return Ok(&csv_maps::GENERIC);
    }
    READERS.iter().find(|each| (each.sniff)(head)).ok_or_else(|| {
        refused(
            format!("{path} has no trace format that iocast knows"),
            "name the format, or say what its columns are; docs/guide/traces.md lists the formats",
        )
    })
}
