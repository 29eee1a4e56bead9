//! The public block traces that are tables of text: which of their columns is what.

use crate::error::{Error, Result};
use crate::trace::field_map::{Map, OpCode, Separator, Unit};
use crate::trace::reader::{Format, Head, Options, Reading};
use crate::trace::readers::csv::{CsvReader, looks_like};

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
    says: "CloudPhysics: version,time,op,size,lbn",
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
        time,
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
    Map { heading: Some("version,".into()), ..map(5, (1, Unit::Us), (4, 512), (3, 1), (2, OpCode::Scsi)) }
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
