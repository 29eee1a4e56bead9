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

/// Names in the order of their first use; a number stands for each.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<Vec<u8>, u32, BuildHasherDefault<Short>>,
    names: Vec<String>,
    last: Option<u32>,
    last_name: Vec<u8>,
    /// Numbers that several threads agree on; here is what this one has asked for.
    shared: Option<Arc<Mutex<Names>>>,
}

impl Names {
    /// Names whose numbers are those of `shared`.
    pub fn sharing(shared: &Arc<Mutex<Names>>) -> Names {
        Names { shared: Some(shared.clone()), ..Names::default() }
    }

    /// The number of a name.
    pub fn number(&mut self, name: &[u8]) -> Result<u32, Broken> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_agree_on_numbers() {
        let shared = Arc::default();
        let (mut one, mut other) = (Names::sharing(&shared), Names::sharing(&shared));
        assert_eq!((one.number(b"a"), other.number(b"b")), (Ok(0), Ok(1)));
        assert_eq!((one.number(b"b"), other.number(b"b"), other.number(b"a")), (Ok(1), Ok(1), Ok(0)));
        assert_eq!(shared.lock().unwrap().all(), ["a", "b"]);
    }
}
