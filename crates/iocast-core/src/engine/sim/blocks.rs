//! Which units of the simulated device were written, and how much of what they hold is stored.

use std::collections::HashMap;

use super::hash::Mixed;

const PAGE: u64 = 4096;

/// One byte a unit, in pages that appear when they are written: 0 is unwritten, 255 stored as it is.
#[derive(Clone, Debug)]
pub struct Blocks {
    unit: u64,
    pages: HashMap<u64, Box<[u8; PAGE as usize]>, Mixed>,
    written: u64,
}

impl Blocks {
    /// Nothing is written.
    pub fn new(unit_bytes: u64) -> Blocks {
        Blocks { unit: unit_bytes, pages: HashMap::default(), written: 0 }
    }

    fn units(&self, offset: u64, len: u64) -> std::ops::RangeInclusive<u64> {
        offset / self.unit..=(offset + len.max(1) - 1) / self.unit
    }

    fn get(&self, unit: u64) -> u8 {
        self.pages.get(&(unit / PAGE)).map_or(0, |page| page[(unit % PAGE) as usize])
    }

    /// How many units of the range were never written.
    pub fn fresh(&self, offset: u64, len: u64) -> u64 {
        self.units(offset, len).filter(|unit| self.get(*unit) == 0).count() as u64
    }

    /// True when the whole range was never written.
    pub fn hole(&self, offset: u64, len: u64) -> bool {
        self.units(offset, len).all(|unit| self.get(unit) == 0)
    }

    /// The stored share, 0..1, of the range's first written unit; 1 when there is none.
    pub fn stored(&self, offset: u64, len: u64) -> f64 {
        let found = self.units(offset, len).map(|unit| self.get(unit)).find(|byte| *byte > 0);
        found.map_or(1.0, |byte| f64::from(byte) / 255.0)
    }

    /// Bytes of all written units.
    pub fn allocated_bytes(&self) -> u64 {
        self.written * self.unit
    }

    /// Bytes of a unit.
    pub fn unit_bytes(&self) -> u64 {
        self.unit
    }

    /// The range was written with data of which `share` is stored.
    pub fn write(&mut self, offset: u64, len: u64, share: f64) {
        let byte = ((share * 255.0).round() as u8).max(1);
        for unit in self.units(offset, len) {
            let page = self.pages.entry(unit / PAGE).or_insert_with(|| Box::new([0; PAGE as usize]));
            let place = &mut page[(unit % PAGE) as usize];
            self.written += u64::from(*place == 0);
            *place = byte;
        }
    }

    /// The units that lie wholly in the range are unwritten again.
    pub fn forget(&mut self, offset: u64, len: u64) {
        for unit in offset.div_ceil(self.unit)..(offset + len) / self.unit {
            if let Some(page) = self.pages.get_mut(&(unit / PAGE)) {
                let place = &mut page[(unit % PAGE) as usize];
                self.written -= u64::from(*place > 0);
                *place = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_stays_until_the_whole_unit_is_forgotten() {
        let mut blocks = Blocks::new(4096);
        assert!(blocks.hole(0, 1 << 20));
        blocks.write(4000, 200, 0.5);
        assert_eq!((blocks.fresh(0, 16384), blocks.allocated_bytes()), (2, 8192));
        assert!((blocks.stored(0, 8192) - 0.5).abs() < 0.01);
        blocks.forget(100, 8092);
        assert_eq!((blocks.hole(0, 4096), blocks.hole(4096, 4096)), (false, true));
        blocks.forget(0, 4096);
        assert_eq!(blocks.allocated_bytes(), 0);
    }
}
