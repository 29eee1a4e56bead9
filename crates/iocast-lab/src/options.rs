//! What the device is told: `read_latency=1ms servers=4 ...`; every option has its line in `OPTIONS`.

use crate::refusal::{Refusal, Result};
use crate::units;

/// Everything that can be told. Times in ns; 0 and `None` are "not so".
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Size of the file.
    pub size_bytes: u64,
    /// Threads that take requests from the kernel.
    pub threads: usize,
    /// Time of a read.
    pub read_ns: u64,
    /// Time of a write.
    pub write_ns: u64,
    /// Uniform between 0 and this is added to each.
    pub jitter_ns: u64,
    /// So many are served at the same time.
    pub servers: Option<usize>,
    /// Each server is one disk of a stripe, and serves every so many-th piece of this length.
    pub stripe_bytes: Option<u64>,
    /// Starts per second.
    pub iops: Option<f64>,
    /// Bytes per second.
    pub bandwidth: Option<f64>,
    /// This share of the 4 KiB blocks is read in that time, always the same ones.
    pub hit: Option<(f64, u64)>,
    /// Time of every read of a 64 KiB extent but the first.
    pub tier_ns: Option<u64>,
    /// Added to the first write of each 64 KiB extent.
    pub first_write_ns: u64,
    /// This share of all I/Os, at random, takes that time.
    pub tail: Option<(f64, u64)>,
    /// Reads of the last `.0` bytes read, in blocks of 4 KiB, take `.1`.
    pub recent: Option<(u64, u64)>,
    /// Reads of the last `.0` bytes written, in blocks of 4 KiB, take `.1`.
    pub fresh: Option<(u64, u64)>,
    /// From byte `.0` on an I/O takes `.1`.
    pub zone: Option<(u64, u64)>,
    /// I/Os that touch a byte from `.0` to below `.1` take `.2`.
    pub bad: Option<(u64, u64, u64)>,
    /// Each piece of `.0` bytes after the first adds `.1`.
    pub piece: Option<(u64, u64)>,
    /// Time of a write of nothing but zeros.
    pub zero_write_ns: Option<u64>,
    /// Writes are served one at a time.
    pub writes_in_turn: bool,
    /// What ends does so at whole multiples of this.
    pub tick_ns: Option<u64>,
    /// From `.0` to `.1` all takes `.2` times as long.
    pub slow: Option<(u64, u64, f64)>,
    /// All takes longer and longer, after `.1` `.0` times as long, and stays so.
    pub drift: Option<(f64, u64)>,
    /// In the last `.0` of every `.1` all takes `.2` times as long.
    pub busy: Option<(u64, u64, f64)>,
    /// Nothing ends in the last `.0` of every `.1`.
    pub stall: Option<(u64, u64)>,
    /// I/Os that touch a byte from `.0` to below `.1` fail.
    pub error_range: Option<(u64, u64)>,
    /// Share of all other I/Os that fail.
    pub error_share: f64,
    /// How they fail.
    pub errno: i32,
    /// Every so many-th write is acknowledged and not done.
    pub lose_every: Option<u64>,
    /// Of every so many-th write only the first half is done.
    pub tear_every: Option<u64>,
    /// Every so many-th write is done just before its place.
    pub misplace_every: Option<u64>,
    /// Time of an fsync.
    pub fsync_ns: u64,
    /// What kernel and wake-ups add, taken off every answer; `None`: measured at the start.
    pub transport_ns: Option<u64>,
    /// Same seed, same jitter, tail and errors.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            size_bytes: 1 << 30,
            threads: 2,
            read_ns: 0,
            write_ns: 0,
            jitter_ns: 0,
            servers: None,
            stripe_bytes: None,
            iops: None,
            bandwidth: None,
            hit: None,
            tier_ns: None,
            first_write_ns: 0,
            tail: None,
            recent: None,
            fresh: None,
            zone: None,
            bad: None,
            piece: None,
            zero_write_ns: None,
            writes_in_turn: false,
            tick_ns: None,
            slow: None,
            drift: None,
            busy: None,
            stall: None,
            error_range: None,
            error_share: 0.0,
            errno: libc::EIO,
            lose_every: None,
            tear_every: None,
            misplace_every: None,
            fsync_ns: 0,
            transport_ns: None,
            seed: 1,
        }
    }
}

type Set = fn(&mut Options, &str) -> units::Read<()>;

/// Name, example, what it does, and how it is set.
pub const OPTIONS: &[(&str, &str, &str, Set)] = &[
    ("size", "1GiB", "size of the file (default 1GiB); memory is taken as it is written", |o, v| {
        o.size_bytes = Some(units::size_bytes(v)?).filter(|s| *s >= 4096 && s % 4096 == 0).ok_or(SIZE)?;
        Ok(())
    }),
    ("read_latency", "1ms", "time of a read", |o, v| set(&mut o.read_ns, units::time_ns(v))),
    ("write_latency", "2ms", "time of a write", |o, v| set(&mut o.write_ns, units::time_ns(v))),
    ("jitter", "50us", "adds up to this to each, uniformly", |o, v| set(&mut o.jitter_ns, units::time_ns(v))),
    ("servers", "4", "I/Os served in parallel; others wait", |o, v| {
        o.servers = Some(count(v, 65_536)?);
        Ok(())
    }),
    (
        "stripe",
        "64KiB",
        "each server holds every N-th piece of this length, as a disk of a stripe",
        |o, v| set(&mut o.stripe_bytes, units::size_bytes(v).map(|bytes| Some(bytes).filter(|b| *b > 0))),
    ),
    ("iops", "5000/s", "an IOPS cap: I/Os below it are not slowed", |o, v| {
        set(&mut o.iops, units::rate_per_s(v).map(Some))
    }),
    ("bandwidth", "100MB/s", "bandwidth, one I/O after the other", |o, v| {
        set(&mut o.bandwidth, units::bandwidth_bytes_per_s(v).map(Some))
    }),
    ("hit", "80%:200us", "this share of the 4 KiB blocks, always the same, is read in that time", |o, v| {
        set(&mut o.hit, share_and_time(v).map(Some))
    }),
    ("tier", "200us", "time of every read of a 64 KiB extent but the first", |o, v| {
        set(&mut o.tier_ns, units::time_ns(v).map(Some))
    }),
    ("first_write", "3ms", "added to the first write of each 64 KiB extent", |o, v| {
        set(&mut o.first_write_ns, units::time_ns(v))
    }),
    ("tail", "2%:20ms", "this share of all I/Os, at random, takes that time", |o, v| {
        set(&mut o.tail, share_and_time(v).map(Some))
    }),
    ("recent", "128MiB:200us", "reads of the last 128 MiB read take that time", |o, v| {
        set(&mut o.recent, size_and_time(v).map(Some))
    }),
    ("fresh", "64MiB:12ms", "reads of the last 64 MiB written take that time", |o, v| {
        set(&mut o.fresh, size_and_time(v).map(Some))
    }),
    ("zone", "512MiB:20ms", "I/Os from this byte on take that time", |o, v| {
        set(&mut o.zone, size_and_time(v).map(Some))
    }),
    ("bad", "100MiB..104MiB:80ms", "I/Os that touch these bytes take that time", |o, v| {
        set(&mut o.bad, bad(v).map(Some))
    }),
    ("piece", "64KiB:4ms", "each piece of this length after the first adds that time to an I/O", |o, v| {
        set(&mut o.piece, size_and_time(v).map(Some))
    }),
    ("zero_write", "200us", "time of a write of nothing but zeros", |o, v| {
        set(&mut o.zero_write_ns, units::time_ns(v).map(Some))
    }),
    ("serialised", "writes", "one write is served at a time", |o, v| {
        set(&mut o.writes_in_turn, if v == "writes" { Ok(true) } else { Err("\"writes\"") })
    }),
    ("tick", "4ms", "what completes does so at whole multiples of this", |o, v| {
        set(&mut o.tick_ns, units::time_ns(v).map(|ns| Some(ns).filter(|ns| *ns > 0)))
    }),
    ("slow", "8s..21s:3", "from the 8th to the 21st second all takes 3 times as long", |o, v| {
        set(&mut o.slow, slow(v).map(Some))
    }),
    (
        "drift",
        "2.5:50s",
        "all takes longer and longer, after 50 s 2.5 times as long, and stays so",
        |o, v| set(&mut o.drift, drift(v).map(Some)),
    ),
    ("busy", "400ms/1.7s:4", "in the last 400 ms of every 1.7 s all takes 4 times as long", |o, v| {
        set(&mut o.busy, busy(v).map(Some))
    }),
    ("stall", "1s/5s", "no I/O completes in the last 1s of every 5s", |o, v| {
        set(&mut o.stall, stall(v).map(Some))
    }),
    ("errors", "1MiB..2MiB", "I/Os that touch these bytes fail; or a share of all, as 0.1%", errors),
    ("errno", "EIO", "how they fail: EIO (the default), ENOSPC, ENODATA, EROFS, ETIMEDOUT, ENXIO", |o, v| {
        set(&mut o.errno, errno(v))
    }),
    ("lose_every", "1000", "every N-th write is acknowledged but not done", |o, v| {
        set(&mut o.lose_every, every(v))
    }),
    ("tear_every", "1000", "only the first half of every N-th write is done", |o, v| {
        set(&mut o.tear_every, every(v))
    }),
    ("misplace_every", "1000", "every N-th write lands just before its offset", |o, v| {
        set(&mut o.misplace_every, every(v))
    }),
    ("fsync", "8ms", "time of an fsync", |o, v| set(&mut o.fsync_ns, units::time_ns(v))),
    (
        "transport",
        "10us",
        "overhead of kernel and wake-ups, subtracted from every answer (default: measured)",
        |o, v| set(&mut o.transport_ns, units::time_ns(v).map(Some)),
    ),
    ("threads", "2", "threads that take requests from the kernel (default 2)", |o, v| {
        set(&mut o.threads, count(v, 256))
    }),
    ("seed", "1", "same seed, same jitter, tail and errors", |o, v| {
        set(&mut o.seed, v.parse().map_err(|_| "a whole number"))
    }),
];

const SIZE: &str = "a size of whole 4 KiB blocks, such as \"1GiB\"";
const STALL: &str = "how long in how long, such as \"1s/5s\", the first below the second";
const HIT: &str = "a share and a time, such as \"80%:200us\"";
const SIZE_TIME: &str = "a size and a time, such as \"128MiB:200us\"";
const BAD: &str = "a range and a time, such as \"100MiB..104MiB:80ms\"";
const SLOW: &str = "from when to when, and a factor, such as \"8s..21s:3\"";
const DRIFT: &str = "a factor and a time, such as \"2.5:50s\"";
const BUSY: &str = "how long in how long, and a factor, such as \"400ms/1.7s:4\"";
const ERRORS: &str = "a range such as \"1MiB..2MiB\", or a share such as \"0.1%\"";

fn set<T>(place: &mut T, value: units::Read<T>) -> units::Read<()> {
    *place = value?;
    Ok(())
}

fn count(text: &str, most: usize) -> units::Read<usize> {
    text.parse().ok().filter(|n| (1..=most).contains(n)).ok_or("a whole number, 1 or more")
}

fn every(text: &str) -> units::Read<Option<u64>> {
    text.parse().ok().filter(|n| *n > 0).map(Some).ok_or("a whole number, 1 or more")
}

fn share_and_time(text: &str) -> units::Read<(f64, u64)> {
    let (share, time) = text.split_once(':').ok_or(HIT)?;
    Ok((units::share(share)?, units::time_ns(time)?))
}

fn size_and_time(text: &str) -> units::Read<(u64, u64)> {
    let (size, time) = text.split_once(':').ok_or(SIZE_TIME)?;
    let size_bytes = Some(units::size_bytes(size)?).filter(|bytes| *bytes > 0).ok_or(SIZE_TIME)?;
    Ok((size_bytes, units::time_ns(time)?))
}

fn bad(text: &str) -> units::Read<(u64, u64, u64)> {
    let (range, time) = text.rsplit_once(':').ok_or(BAD)?;
    let (low, high) = range.split_once("..").ok_or(BAD)?;
    let (low, high) = (units::size_bytes(low)?, units::size_bytes(high)?);
    if low < high { Ok((low, high, units::time_ns(time)?)) } else { Err(BAD) }
}

fn factor(text: &str, wanted: &'static str) -> units::Read<f64> {
    text.parse().ok().filter(|times: &f64| times.is_finite() && *times > 0.0).ok_or(wanted)
}

fn slow(text: &str) -> units::Read<(u64, u64, f64)> {
    let (span, times) = text.rsplit_once(':').ok_or(SLOW)?;
    let (from, to) = span.split_once("..").ok_or(SLOW)?;
    let (from, to) = (units::time_ns(from)?, units::time_ns(to)?);
    if from < to { Ok((from, to, factor(times, SLOW)?)) } else { Err(SLOW) }
}

fn drift(text: &str) -> units::Read<(f64, u64)> {
    let (times, time) = text.split_once(':').ok_or(DRIFT)?;
    let ns = Some(units::time_ns(time)?).filter(|ns| *ns > 0).ok_or(DRIFT)?;
    Ok((factor(times, DRIFT)?, ns))
}

fn busy(text: &str) -> units::Read<(u64, u64, f64)> {
    let (span, times) = text.rsplit_once(':').ok_or(BUSY)?;
    let (long, every) = stall(span).map_err(|_| BUSY)?;
    Ok((long, every, factor(times, BUSY)?))
}

fn stall(text: &str) -> units::Read<(u64, u64)> {
    let (long, every) = text.split_once('/').ok_or(STALL)?;
    let (long, every) = (units::time_ns(long)?, units::time_ns(every)?);
    if 0 < long && long < every { Ok((long, every)) } else { Err(STALL) }
}

fn errors(options: &mut Options, text: &str) -> units::Read<()> {
    let Some((low, high)) = text.split_once("..") else {
        return set(&mut options.error_share, units::share(text).map_err(|_| ERRORS));
    };
    let (low, high) = (units::size_bytes(low)?, units::size_bytes(high)?);
    if low >= high {
        return Err(ERRORS);
    }
    set(&mut options.error_range, Ok(Some((low, high))))
}

fn errno(text: &str) -> units::Read<i32> {
    match text {
        "EIO" => Ok(libc::EIO),
        "ENOSPC" => Ok(libc::ENOSPC),
        "ENODATA" => Ok(libc::ENODATA),
        "EROFS" => Ok(libc::EROFS),
        "ETIMEDOUT" => Ok(libc::ETIMEDOUT),
        "ENXIO" => Ok(libc::ENXIO),
        _ => Err("EIO, ENOSPC, ENODATA, EROFS, ETIMEDOUT or ENXIO"),
    }
}

/// Reads `name=value` texts; the last of a name counts.
pub fn parse(texts: &[String]) -> Result<Options> {
    let mut options = Options::default();
    for text in texts {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Refusal::new(format!("{text}: not name=value"), "for example read_latency=1ms; --help lists all")
        })?;
        let (_, example, _, apply) =
            OPTIONS.iter().find(|(known, ..)| *known == name).ok_or_else(|| unknown(name))?;
        apply(&mut options, value).map_err(|wanted| {
            Refusal::new(format!("{text}: {name} takes {wanted}"), format!("for example {name}={example}"))
        })?;
    }
    Ok(options)
}

fn unknown(name: &str) -> Refusal {
    let near = OPTIONS.iter().map(|(known, ..)| (distance(name, known), *known)).min();
    let hint = match near {
        Some((far, known)) if far <= 1 + known.len() / 3 => format!("did you mean {known}? --help lists all"),
        _ => "--help lists all options".to_string(),
    };
    Refusal::new(format!("unknown option {name}"), hint)
}

/// How many letters must be put in, left out or replaced.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

/// What `--help` says.
pub fn help() -> String {
    let mut text = String::from(
        "iocast-lab FILE [name=value ...]\n\n\
         A storage device with known answers: serves FILE over FUSE from memory until it is ended\n\
         (SIGTERM, Ctrl-C, or umount FILE). Needs root. Open FILE with O_DIRECT, or put a loop device on it.\n\n",
    );
    for (name, example, what, _) in OPTIONS {
        text += &format!("  {:24} {what}\n", format!("{name}={example}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options> {
        parse(&line.split(' ').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn every_option_takes_its_own_example() {
        for (name, example, ..) in OPTIONS {
            assert!(read(&format!("{name}={example}")).is_ok(), "{name}={example}");
            assert!(help().contains(&format!("{name}={example}")));
        }
    }

    #[test]
    fn what_is_told_is_what_is_kept() {
        let told =
            read("read_latency=1ms stall=1s/5s hit=80%:200us errors=1MiB..2MiB errno=ENOSPC iops=5k/s");
        let wanted = Options {
            read_ns: 1_000_000,
            stall: Some((1_000_000_000, 5_000_000_000)),
            hit: Some((0.8, 200_000)),
            error_range: Some((1 << 20, 2 << 20)),
            errno: libc::ENOSPC,
            iops: Some(5000.0),
            ..Options::default()
        };
        assert_eq!(told, Ok(wanted));
    }

    #[test]
    fn a_refusal_names_the_text_and_the_way_out() {
        for (line, message, hint) in [
            ("read_latency=5", "read_latency=5: read_latency takes a time such as", "read_latency=1ms"),
            ("readlatency=1ms", "unknown option readlatency", "did you mean read_latency?"),
            ("colour=red", "unknown option colour", "--help lists all options"),
            ("servers", "servers: not name=value", "--help"),
            ("stall=5s/1s", "stall=5s/1s: stall takes how long in how long", "stall=1s/5s"),
            ("errors=2MiB..1MiB", "errors=2MiB..1MiB: errors takes a range", "errors=1MiB..2MiB"),
            ("slow=21s..8s:3", "slow=21s..8s:3: slow takes from when to when", "slow=8s..21s:3"),
            ("bad=1MiB:80ms", "bad=1MiB:80ms: bad takes a range and a time", "bad=100MiB..104MiB:80ms"),
            ("busy=400ms/1.7s:0", "busy=400ms/1.7s:0: busy takes how long", "busy=400ms/1.7s:4"),
            ("zone=0:20ms", "zone=0:20ms: zone takes a size and a time", "zone=512MiB:20ms"),
            ("size=1000", "size=1000: size takes a size of whole 4 KiB blocks", "size=1GiB"),
            ("lose_every=0", "lose_every=0: lose_every takes a whole number", "lose_every=1000"),
            ("threads=0", "threads=0: threads takes a whole number", "threads=2"),
        ] {
            let refusal = read(line).expect_err(line);
            assert!(refusal.message.starts_with(message), "{refusal}");
            assert!(refusal.hint.contains(hint), "{refusal}");
        }
    }

    #[test]
    fn distance_counts_changes() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("stall", "stall"), 0);
    }
}
