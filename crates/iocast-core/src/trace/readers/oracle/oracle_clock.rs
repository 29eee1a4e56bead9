//! What a unit of Oracle's `ela` and `tim` is: by the release, and by the stamps (`***`) of the file.

use std::path::Path;

use memchr::memmem;

use crate::trace::fields::{days_since_1970, unsigned, whole};
use crate::trace::input::{Input, STDIN, unreadable};
use crate::trace::pieces::{Found, each_line};

/// What one unit of `ela` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// The release is not known.
    Unknown,
    /// So long.
    Ns(i64),
    /// 9.2 and 10 on Unix may count ns/1024, and nothing in the file says which: taken as 1 us.
    MaybeBinary,
}

impl Tick {
    /// How long it is; a line with `tim=`, or with named parameters, is of no release that counts in 1/100 s.
    pub fn ns(self, modern: bool) -> Option<i64> {
        match self {
            Tick::Ns(ns) => Some(ns),
            Tick::MaybeBinary => Some(1_000),
            Tick::Unknown => modern.then_some(1_000),
        }
    }
}

/// `9.2.0.6.0 - Production`: the first number decides.
pub fn tick_of(release: &[u8]) -> Tick {
    let digits = release.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(release.len());
    match unsigned(&release[..digits]) {
        Some(6..=8) => Tick::Ns(10_000_000),
        Some(9 | 10) => Tick::MaybeBinary,
        Some(11..) => Tick::Ns(1_000),
        _ => Tick::Unknown,
    }
}

/// Stamps (`***`) and the `tim` that follows each, first and last.
#[derive(Default)]
pub struct Stamps {
    waiting_us: Option<i64>,
    first: Option<(i64, i64)>,
    last: Option<(i64, i64)>,
}

impl Stamps {
    /// Time of day of a stamp, in us since 1970 as if it were UTC: only differences count.
    pub fn stamp(&mut self, line: &[u8]) {
        self.waiting_us = stamp_us(line).or(self.waiting_us);
    }

    /// A line that may end in its time.
    pub fn tim(&mut self, line: &[u8]) {
        if self.waiting_us.is_some()
            && let Some(at) = memmem::rfind(line, b"tim=")
            && let Some(tim) = whole(line[at + 4..].trim_ascii_end())
        {
            self.note(tim);
        }
    }

    /// The first time after a stamp.
    pub fn note(&mut self, tim: i64) {
        if let Some(us) = self.waiting_us.take() {
            self.first.get_or_insert((us, tim));
            self.last = Some((us, tim));
        }
    }

    /// Microseconds of a unit of tim, where a minute or more is between the stamps.
    pub fn slope(&self) -> Option<f64> {
        let ((from_us, from), (to_us, to)) = (self.first?, self.last?);
        let (us, ticks) = (to_us.checked_sub(from_us)?, to.checked_sub(from)?);
        (us >= 60_000_000 && ticks > 0).then(|| us as f64 / ticks as f64)
    }
}

/// The tick of a file of 9.2 or 10, by the stamps and times of all of it; `MaybeBinary` where they do not decide.
pub fn calibrated(path: &Path) -> Tick {
    let mut stamps = Stamps::default();
    let each = |found: Found<'_>, _| {
        if let Found::Line(line) = found {
            match line {
                [b'*', ..] => stamps.stamp(line),
                [b'W' | b'P' | b'E' | b'F', ..] => stamps.tim(line),
                _ => {}
            }
        }
        Ok(())
    };
    // What comes through a pipe is read once.
    if path.as_os_str() == STDIN || !path.is_file() {
        return Tick::MaybeBinary;
    }
    let Ok(input) = Input::open(path) else { return Tick::MaybeBinary };
    let whole = each_line(&mut input.into_bytes(), each, |error| unreadable("", error));
    match stamps.slope().filter(|_| whole.is_ok()) {
        Some(slope) if (slope - 1.024).abs() < 0.006 => Tick::Ns(1_024),
        Some(slope) if (slope - 1.0).abs() < 0.006 => Tick::Ns(1_000),
        _ => Tick::MaybeBinary,
    }
}

/// `*** 2013-08-26 14:40:23.035`, `*** 2019-07-09T09:57:07.703476-07:00 (...)`.
fn stamp_us(line: &[u8]) -> Option<i64> {
    let text = line.strip_prefix(b"*** ")?;
    let number = |from: usize, to: usize| whole(text.get(from..to)?);
    let shape = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':'), (19, b'.')];
    if !shape.iter().all(|(at, byte)| text.get(*at) == Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let digits = text[20..].iter().take_while(|byte| byte.is_ascii_digit()).count().min(6);
    let fraction = number(20, 20 + digits)? * 10_i64.pow(6 - digits as u32);
    let seconds = days_since_1970(year, month, day) * 86_400
        + number(11, 13)? * 3_600
        + number(14, 16)? * 60
        + number(17, 19)?;
    Some(seconds * 1_000_000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_all_releases_are_times() {
        assert_eq!(stamp_us(b"*** 1970-01-02 00:00:01.500"), Some(86_401_500_000));
        assert_eq!(stamp_us(b"*** 2019-07-09T09:57:07.703476-07:00 (X(8))"), Some(1_562_666_227_703_476));
        assert_eq!(stamp_us(b"*** SESSION ID:(409.215) 2013-08-26 14:40:23.035"), None);
    }

    #[test]
    fn stamps_against_times_decide_between_two_ticks() {
        let folder = std::env::temp_dir().join(format!("iocast-clock-{}", std::process::id()));
        let tick = |ticks: i64| {
            let text = format!(
                "*** 2007-03-30 10:00:00.000\nEXEC #1:c=0,e=1,dep=0,tim=5000000\n\
                 *** 2007-03-30 10:02:00.000\nEXEC #1:c=0,e=1,dep=0,tim={}\n",
                5_000_000 + ticks
            );
            std::fs::write(&folder, text).unwrap();
            calibrated(&folder)
        };
        assert!(tick(120_000_000) == Tick::Ns(1_000));
        assert!(tick(117_187_500) == Tick::Ns(1_024));
        assert!(tick(60_000_000) == Tick::MaybeBinary);
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn the_release_says_what_a_tick_is() {
        assert!(tick_of(b"8.1.7.4.0 - Production") == Tick::Ns(10_000_000));
        assert!(tick_of(b"9.2.0.6.0") == Tick::MaybeBinary);
        assert!(tick_of(b"19.0.0.0.0") == Tick::Ns(1_000));
        assert!(tick_of(b"") == Tick::Unknown);
    }
}
