//! Names that stand as numbers in a table: in the order of their first use, or as several threads agree.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::trace::line_verdict::Broken;

/// Different targets, or actors, of one table.
pub const NAMES_AT_MOST: usize = 1 << 20;

/// Quick on short names; no table of it is filled by an enemy for gain.
#[derive(Default)]
struct Short(u64);

impl Hasher for Short {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_usize(&mut self, length: usize) {
        self.0 ^= length as u64;
    }
}

/// Places for short names that were met: a power of two.
const SHORT_NAMES: usize = 256;

/// A name of up to 16 bytes as two words and its length: no two names are the same.
type ShortName = (u64, u64, usize);

/// Names in the order of their first use; a number stands for each.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<Vec<u8>, u32, BuildHasherDefault<Short>>,
    names: Vec<String>,
    last: Option<u32>,
    last_name: Vec<u8>,
    /// Short names at the place that their hash says, with their numbers: most traces have few.
    short: Vec<Option<(ShortName, u32)>>,
    /// Numbers that several threads agree on; here is what this one has asked for.
    shared: Option<Arc<Mutex<Names>>>,
}

impl Names {
    /// Names whose numbers are those of `shared`.
    pub fn sharing(shared: &Arc<Mutex<Names>>) -> Names {
        Names { shared: Some(shared.clone()), ..Names::default() }
    }

    /// The number of a name.
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> Result<u32, Broken> {
        let Some((short, place)) = short(name) else { return self.number_of_any(name) };
        if let Some(Some((known, number))) = self.short.get(place)
            && *known == short
        {
            return Ok(*number);
        }
        let number = self.number_of_any(name)?;
        self.short.resize(SHORT_NAMES, None);
        self.short[place] = Some((short, number));
        Ok(number)
    }

    fn number_of_any(&mut self, name: &[u8]) -> Result<u32, Broken> {
        if let Some(last) = self.last
            && self.last_name == name
        {
            return Ok(last);
        }
        let known = self.numbers.get(name).copied();
        let number = match known {
            Some(number) => number,
            None => self.new_number(name)?,
        };
        self.last = Some(number);
        self.last_name.clear();
        self.last_name.extend_from_slice(name);
        Ok(number)
    }

    fn new_number(&mut self, name: &[u8]) -> Result<u32, Broken> {
        let too_many = Broken { column: 1, rule: "more than 1048576 different targets or actors" };
        let number = match &self.shared {
            Some(shared) => match shared.lock() {
                Ok(mut all) => all.number(name)?,
                Err(_) => return Err(too_many),
            },
            None if self.names.len() >= NAMES_AT_MOST => return Err(too_many),
            None => {
                self.names.push(String::from_utf8_lossy(name).into_owned());
                self.names.len() as u32 - 1
            }
        };
        self.numbers.insert(name.to_vec(), number);
        Ok(number)
    }

    /// All names, by number.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// A name of up to 16 bytes, and its place among those that were met.
#[inline]
fn short(name: &[u8]) -> Option<(ShortName, usize)> {
    let word = |eight: &[u8; 8]| u64::from_le_bytes(*eight);
    let half = |four: &[u8; 4]| u64::from(u32::from_le_bytes(*four));
    let (first, last) = match name.len() {
        0 => (0, 0),
        1..=3 => (u64::from(name[0]) << 8 | u64::from(name[name.len() / 2]), u64::from(name[name.len() - 1])),
        4..=7 => (half(name.first_chunk()?), half(name.last_chunk()?)),
        8..=16 => (word(name.first_chunk()?), word(name.last_chunk()?)),
        _ => return None,
    };
    let mixed = (first ^ last.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Some(((first, last, name.len()), mixed as usize >> (usize::BITS - SHORT_NAMES.trailing_zeros())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_share_a_place_have_their_own_numbers() {
        let mut names = Names::default();
        // Two thousand names on 256 places, of all lengths up to 16 and some above, met three times in turn.
        let all: Vec<String> = (0..2_000).map(|each| format!("{each:0width$}", width = each % 20)).collect();
        let unlike: std::collections::BTreeSet<&String> = all.iter().collect();
        for _ in 0..3 {
            for name in &all {
                let number = names.number(name.as_bytes()).unwrap();
                assert_eq!(&names.all()[number as usize], name);
            }
        }
        assert_eq!(names.all().len(), unlike.len());
        let (short, zero) = (names.number(b"").unwrap(), names.number(b"\0").unwrap());
        assert_ne!(short, zero);
    }

    #[test]
    fn threads_agree_on_numbers() {
        let shared = Arc::default();
        let (mut one, mut other) = (Names::sharing(&shared), Names::sharing(&shared));
        assert_eq!((one.number(b"a"), other.number(b"b")), (Ok(0), Ok(1)));
        assert_eq!((one.number(b"b"), other.number(b"b"), other.number(b"a")), (Ok(1), Ok(1), Ok(0)));
        assert_eq!(shared.lock().unwrap().all(), ["a", "b"]);
    }
}
