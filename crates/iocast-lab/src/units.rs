//! Texts with a unit to whole numbers, as everywhere in iocast: "1MiB", "300us", "5k/s", "100MB/s", "2%".

/// What a text could not be read as, with an example that would do.
pub type Read<T> = std::result::Result<T, &'static str>;

const SIZE: &str = "a size such as \"4k\", \"1MiB\" or \"2GiB\"";
const TIME: &str = "a time such as \"300us\", \"1.5ms\" or \"2s\"";
const RATE: &str = "a rate such as \"500/s\" or \"5k/s\"";
const BANDWIDTH: &str = "a bandwidth such as \"100MB/s\" or \"1GiB/s\"";
const PERCENT: &str = "a percentage from 0% to 100%, such as \"2%\"";

/// The number in front, not negative, and what follows it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse::<f64>().ok()?;
    Some((number, text[end..].trim()))
}

/// A finite product that fits, rounded.
fn whole(value: f64) -> Option<u64> {
    (value.is_finite() && value < 9e18).then(|| value.round() as u64)
}

/// Powers of 1024 for a bare letter and for "KiB", of 1000 for "kB". A small b may mean bits: refused.
fn size_factor(unit: &str) -> Option<f64> {
    if matches!(unit, "" | "B") {
        return Some(1.0);
    }
    let power = 1 + "KMGTP".find(unit.chars().next()?.to_ascii_uppercase())? as i32;
    match &unit[1..] {
        "" | "iB" => Some(1024f64.powi(power)),
        "B" => Some(1000f64.powi(power)),
        _ => None,
    }
}

/// Bytes.
pub fn size_bytes(text: &str) -> Read<u64> {
    let read = || {
        let (number, unit) = split(text)?;
        whole(number * size_factor(unit)?)
    };
    read().ok_or(SIZE)
}

/// Nanoseconds; only 0 needs no unit.
pub fn time_ns(text: &str) -> Read<u64> {
    let read = || {
        let (number, unit) = split(text)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            "" if number == 0.0 => 1.0,
            _ => return None,
        };
        whole(number * factor)
    };
    read().ok_or(TIME)
}

/// I/Os per second; k is 1000, because I/Os are counted.
pub fn rate_per_s(text: &str) -> Read<f64> {
    let read = || {
        let (number, unit) = split(text)?;
        let factor = match unit.strip_suffix("/s")?.trim() {
            "" => 1.0,
            "k" => 1e3,
            "M" => 1e6,
            _ => return None,
        };
        Some(number * factor).filter(|rate| *rate > 0.0)
    };
    read().ok_or(RATE)
}

/// Bytes per second.
pub fn bandwidth_bytes_per_s(text: &str) -> Read<f64> {
    let read = || {
        let bytes = size_bytes(text.trim().strip_suffix("/s")?).ok()?;
        Some(bytes as f64).filter(|bytes| *bytes > 0.0)
    };
    read().ok_or(BANDWIDTH)
}

/// A share from 0 to 1.
pub fn share(text: &str) -> Read<f64> {
    let read = || {
        let (number, unit) = split(text)?;
        (unit == "%" && number <= 100.0).then_some(number / 100.0)
    };
    read().ok_or(PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_this_trade_means_them() {
        let cases =
            [("4096", 4096), ("4k", 4096), ("1MiB", 1 << 20), ("2 G", 2 << 30), ("200MB", 200_000_000)];
        for (text, bytes) in cases {
            assert_eq!(size_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "8kb", "-1", "1e3", "4x", "99999999P"] {
            assert_eq!(size_bytes(text), Err(SIZE), "{text}");
        }
    }

    #[test]
    fn times_need_their_unit() {
        assert_eq!(time_ns("300us"), Ok(300_000));
        assert_eq!(time_ns("1.5ms"), Ok(1_500_000));
        assert_eq!(time_ns("0"), Ok(0));
        for text in ["5", "1 sec", "us", "-1us", "1.2.3s"] {
            assert_eq!(time_ns(text), Err(TIME), "{text}");
        }
    }

    #[test]
    fn rates_bandwidths_and_shares() {
        assert_eq!(rate_per_s("5k/s"), Ok(5000.0));
        assert_eq!(rate_per_s("0/s"), Err(RATE));
        assert_eq!(rate_per_s("5000"), Err(RATE));
        assert_eq!(bandwidth_bytes_per_s("100MB/s"), Ok(1e8));
        assert_eq!(bandwidth_bytes_per_s("100MB"), Err(BANDWIDTH));
        assert_eq!(share("2.5%"), Ok(0.025));
        assert_eq!(share("101%"), Err(PERCENT));
        assert_eq!(share("0.5"), Err(PERCENT));
    }
}
