//! The public block traces that are tables of text: which of their columns is what.

use memchr::memmem;

use crate::error::{Error, Result};
use crate::trace::field_map::{Map, OpCode, Separator, Unit};
use crate::trace::fields::word;
use crate::trace::reader::{Format, Head, Options, Reading};
use crate::trace::readers::tables::csv::{CsvReader, looks_like};

/// MSR Cambridge.
pub const MSR: Format = Format {
    name: "msr",
    says: "MSR Cambridge: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    sniff: |head| looks_like(&msr(), head),
    open: |_, _| reading(msr()),
};
/// SYSTOR '17.
pub const SYSTOR: Format = Format {
    name: "systor",
    says: "SYSTOR '17: Timestamp,Response,IOType,LUN,Offset,Size",
    sniff: |head| looks_like(&systor(), head),
    open: |_, _| reading(systor()),
};
/// CloudPhysics, as libCacheSim has it.
pub const CLOUD_PHYSICS: Format = Format {
    name: "cloudphysics",
    says: "CloudPhysics: version,time in s,op,size,lbn",
    sniff: |head| {
        head.lines().next().is_some_and(|first| first.eq_ignore_ascii_case(b"version,time,op,size,lbn"))
    },
    open: |_, _| reading(cloud_physics()),
};
/// Alibaba 2020.
pub const ALIBABA: Format = Format {
    name: "alibaba",
    says: "Alibaba 2020: device_id,opcode,offset,length,timestamp",
    sniff: |head| looks_like(&alibaba(), head),
    open: |_, _| reading(alibaba()),
};
/// Storage Performance Council, UMass.
pub const SPC: Format = Format {
    name: "spc",
    says: "SPC, UMass: ASU,LBA,Size,Opcode,Timestamp[,...]",
    sniff: |head| looks_like(&spc(), head),
    open: |_, _| reading(spc()),
};
/// Tencent CBS.
pub const TENCENT: Format = Format {
    name: "tencent",
    says: "Tencent CBS: Timestamp,Offset,Size,IOType,VolumeID",
    sniff: |head| seconds_of_this_age(head) && looks_like(&tencent(), head),
    open: |_, _| reading(tencent()),
};
/// DiskSim.
pub const DISKSIM: Format = Format {
    name: "disksim",
    says: "DiskSim ASCII: time in ms, device, block, blocks, flags (odd is a read)",
    sniff: |head| dotted(head) && looks_like(&disksim(), head),
    open: |_, _| reading(disksim()),
};
/// The measured traces that DiskSim is validated with.
pub const DISKSIM_VALIDATION: Format = Format {
    name: "disksim_validation",
    says: "DiskSim's validation traces: op, Hit or Miss, block, blocks, service time in us, gap in us",
    sniff: |head| {
        let hit = |line: &[u8]| memmem::find(line, b" Hit ").or(memmem::find(line, b" Miss ")).is_some();
        head.lines().take(5).any(hit) && looks_like(&disksim_validation(), head)
    },
    open: |_, _| reading(disksim_validation()),
};
/// MQSim.
pub const MQSIM: Format = Format {
    name: "mqsim",
    says: "MQSim: time in ns, device, sector, sectors, 0 for a write",
    sniff: |_| false,
    open: |_, _| reading(simulator()),
};
/// SSDSim.
pub const SSDSIM: Format = Format {
    name: "ssdsim",
    says: "SSDSim: time in ns, device, sector, sectors, 0 for a write",
    sniff: |_| false,
    open: |_, _| reading(Map { fields_at_most: 8, ..simulator() }),
};
/// A table of a simulator that does not say which.
pub const SIMULATOR: Format = Format {
    name: "simulator",
    says: "a table of MQSim or SSDSim that must be named: their relatives differ in unit and in what 0 is",
    sniff: |head| looks_like(&simulator(), head),
    open: |_, head| {
        Err(Error::Trace {
            why: format!(
                "{}: five whole numbers a line are of MQSim or SSDSim (0 is a write), or of a tool where 0 is a read",
                head.path.display()
            ),
            hint: "name the format, mqsim or ssdsim, or give the option `columns`",
        })
    },
};
/// Whatever the option `columns` says.
pub const GENERIC: Format = Format {
    name: "columns",
    says: "any table of text, by the option `columns`",
    sniff: |_: &Head<'_>| false,
    open: |options, _| generic(options),
};

fn generic(options: &Options) -> Result<Reading> {
    let Some(map) = options.columns.clone() else {
        return Err(Error::Trace {
            why: "the format `columns` needs to know what the columns are".into(),
            hint: "give the option `columns`; docs/guide/traces.md has an example",
        });
    };
    reading(map)
}

fn reading(map: Map) -> Result<Reading> {
    let reader = CsvReader::new(map).ok_or(Error::Trace {
        why: "`columns` names a field that a line need not have".into(),
        hint: "fields count from 0, and fields_at_least is more than the last one named",
    })?;
    Ok(Reading::Lines(Box::new(reader)))
}

fn map(
    fields: usize,
    time: (usize, Unit),
    offset: (usize, i64),
    size: (usize, i64),
    op: (usize, OpCode),
) -> Map {
    Map {
        separator: Separator::Comma,
        fields_at_least: fields,
        fields_at_most: fields,
        time: Some(time),
        unix: false,
        offset,
        size,
        op,
        target: None,
        latency: None,
        heading: None,
    }
}

fn msr() -> Map {
    Map {
        target: Some((1, 2)),
        latency: Some((6, Unit::HundredNs)),
        heading: Some("Timestamp,".into()),
        ..map(7, (0, Unit::Filetime), (4, 1), (5, 1), (3, OpCode::Words))
    }
}

fn systor() -> Map {
    Map {
        unix: true,
        target: Some((3, 3)),
        latency: Some((1, Unit::S)),
        heading: Some("Timestamp,".into()),
        ..map(6, (0, Unit::S), (4, 1), (5, 1), (2, OpCode::Words))
    }
}

fn cloud_physics() -> Map {
    Map { heading: Some("version,".into()), ..map(5, (1, Unit::S), (4, 512), (3, 1), (2, OpCode::Scsi)) }
}

fn alibaba() -> Map {
    Map {
        unix: true,
        target: Some((0, 0)),
        heading: Some("device_id,".into()),
        ..map(5, (4, Unit::Us), (2, 1), (3, 1), (1, OpCode::Words))
    }
}

fn spc() -> Map {
    Map {
        fields_at_most: 32,
        target: Some((0, 0)),
        ..map(5, (4, Unit::S), (1, 512), (2, 1), (3, OpCode::Words))
    }
}

/// Five numbers could be anything; seconds since 1970 have ten digits from 2001 to 2286.
fn seconds_of_this_age(head: &Head<'_>) -> bool {
    let digits = |line: &[u8]| line.iter().take_while(|byte| byte.is_ascii_digit()).count() == 10;
    head.lines().take(2).any(digits)
}

fn tencent() -> Map {
    Map {
        unix: true,
        target: Some((4, 4)),
        heading: Some("Timestamp,".into()),
        ..map(5, (0, Unit::S), (1, 512), (2, 512), (3, OpCode::ZeroReads))
    }
}

/// Whether the first field has a dot: milliseconds with a fraction, and no nanoseconds.
fn dotted(head: &Head<'_>) -> bool {
    let first = |line: &[u8]| word(line).is_some_and(|(field, _)| field.contains(&b'.'));
    head.lines().take(5).any(first)
}

fn disksim() -> Map {
    Map {
        separator: Separator::Blanks,
        target: Some((1, 1)),
        ..map(5, (0, Unit::Ms), (2, 512), (3, 512), (4, OpCode::OddReads))
    }
}

fn disksim_validation() -> Map {
    Map {
        separator: Separator::Blanks,
        time: None,
        latency: Some((4, Unit::Us)),
        ..map(6, (0, Unit::Us), (2, 512), (3, 512), (0, OpCode::Words))
    }
}

fn simulator() -> Map {
    Map {
        separator: Separator::Blanks,
        target: Some((1, 1)),
        ..map(5, (0, Unit::Ns), (2, 512), (3, 512), (4, OpCode::ZeroWrites))
    }
}
