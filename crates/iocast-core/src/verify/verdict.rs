//! What a block that was read back is, by its seals and by what the journal knows of it.

use serde::{Deserialize, Serialize};

use super::journal::Known;
use super::seal::{Address, SECTOR_BYTES, Sector, examine};

/// See the module. `found` is the write that stands there, as far as one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One whole write that may be there, or what was there before a first write that was never acknowledged.
    Intact,
    /// Parts of writes that were outstanding together, or failed: nothing can be said.
    Undecided,
    /// Parts of several writes, or of a write and of what was there before.
    Torn {
        /// The oldest part.
        oldest: u32,
        /// The newest.
        newest: u32,
    },
    /// A write that is too old, or nothing of what was acknowledged.
    Lost {
        /// The write that is there, 0 for none.
        found: u32,
    },
    /// A block that belongs somewhere else.
    Misplaced {
        /// Where it belongs.
        belongs: Address,
        /// Which write of that block.
        sequence: u32,
    },
    /// Bytes that were changed, or are nobody's.
    Corrupt,
}

/// The kinds of failure, in the order in which they are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// See `Verdict`.
    Torn,
    /// See `Verdict`.
    Lost,
    /// See `Verdict`.
    Misplaced,
    /// See `Verdict`.
    Corrupt,
    /// It could not be read at all.
    Unreadable,
}

/// Judges a block read from `address`. `known.floor` is the write that must at least be there.
pub fn judge(block: &[u8], address: Address, known: Known) -> Verdict {
    let (mut good, mut oldest, mut newest) = (0usize, u32::MAX, 0u32);
    let (mut zeros, mut others, mut damaged) = (0usize, 0usize, false);
    for (number, sector) in block.chunks_exact(SECTOR_BYTES).enumerate() {
        let here = Address { offset: address.offset + (number * SECTOR_BYTES) as u64, ..address };
        match examine(sector, here) {
            Sector::Good { sequence } => {
                good += 1;
                (oldest, newest) = (oldest.min(sequence), newest.max(sequence));
            }
            Sector::Elsewhere { belongs, sequence } => return Verdict::Misplaced { belongs, sequence },
            Sector::Damaged => damaged = true,
            Sector::Zero => zeros += 1,
            Sector::OtherRun => others += 1,
            Sector::Alien => {}
        }
    }
    let sectors = block.len() / SECTOR_BYTES;
    if damaged {
        return Verdict::Corrupt;
    }
    if good == 0 {
        return match () {
            () if known.floor == 0 => Verdict::Intact,
            () if zeros == sectors || others == sectors => Verdict::Lost { found: 0 },
            () => Verdict::Corrupt,
        };
    }
    if good < sectors {
        let blended = known.floor == 0 && newest <= known.blended;
        return if blended { Verdict::Undecided } else { Verdict::Torn { oldest: 0, newest } };
    }
    match () {
        () if oldest == newest && oldest >= known.floor => Verdict::Intact,
        () if oldest == newest => Verdict::Lost { found: oldest },
        () if oldest >= known.floor && newest <= known.blended => Verdict::Undecided,
        () => Verdict::Torn { oldest, newest },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::seal::seal;

    const HERE: Address = Address { run_id: 1, file: 0, offset: 16384 };

    fn sealed(sequence: u32, address: Address) -> Vec<u8> {
        let mut block = vec![0xA5u8; 8192];
        seal(&mut block, address, sequence);
        block
    }

    fn half(first: &[u8], second: &[u8]) -> Vec<u8> {
        [&first[..4096], &second[4096..]].concat()
    }

    fn known(sent: u32, floor: u32, blended: u32) -> Known {
        Known { sent, floor, durable: 0, blended }
    }

    #[test]
    fn one_whole_write_from_floor_to_sent_is_intact_an_older_one_is_lost() {
        for sequence in 1..=6 {
            let wanted = if sequence < 4 { Verdict::Lost { found: sequence } } else { Verdict::Intact };
            assert_eq!(judge(&sealed(sequence, HERE), HERE, known(5, 4, 0)), wanted);
        }
    }

    #[test]
    fn what_was_in_flight_at_the_end_is_old_or_new_but_never_both() {
        let (old, new) = (sealed(4, HERE), sealed(5, HERE));
        for block in [&old, &new] {
            assert_eq!(judge(block, HERE, known(5, 4, 0)), Verdict::Intact);
        }
        let torn = Verdict::Torn { oldest: 4, newest: 5 };
        assert_eq!(judge(&half(&old, &new), HERE, known(5, 4, 0)), torn);
        assert_eq!(judge(&half(&new, &old), HERE, known(5, 4, 3)), torn);
        let before = vec![3u8; 8192];
        assert_eq!(judge(&before, HERE, known(1, 0, 0)), Verdict::Intact);
        let begun = half(&sealed(1, HERE), &before);
        assert_eq!(judge(&begun, HERE, known(1, 0, 0)), Verdict::Torn { oldest: 0, newest: 1 });
        assert_eq!(judge(&begun, HERE, known(1, 0, 1)), Verdict::Undecided);
    }

    #[test]
    fn parts_of_writes_that_were_outstanding_together_decide_nothing() {
        let both = half(&sealed(4, HERE), &sealed(5, HERE));
        assert_eq!(judge(&both, HERE, known(5, 4, 5)), Verdict::Undecided);
        let torn = Verdict::Torn { oldest: 4, newest: 5 };
        assert_eq!(judge(&both, HERE, known(6, 5, 5)), torn, "the floor is above one of them");
        assert_eq!(judge(&both, HERE, known(6, 4, 4)), torn, "the newer one was alone");
    }

    #[test]
    fn nothing_of_what_was_acknowledged_is_lost_or_corrupt() {
        assert_eq!(judge(&[0; 8192], HERE, known(1, 1, 0)), Verdict::Lost { found: 0 });
        let earlier = sealed(9, Address { run_id: 2, ..HERE });
        assert_eq!(judge(&earlier, HERE, known(1, 1, 0)), Verdict::Lost { found: 0 });
        assert_eq!(judge(&[3; 8192], HERE, known(1, 1, 0)), Verdict::Corrupt);
    }

    #[test]
    fn a_block_of_another_place_is_misplaced_and_changed_bytes_are_corrupt() {
        let belongs = Address { offset: 0, ..HERE };
        let moved = sealed(3, belongs);
        assert_eq!(judge(&moved, HERE, known(7, 7, 0)), Verdict::Misplaced { belongs, sequence: 3 });
        let mut changed = sealed(7, HERE);
        changed[5000] ^= 4;
        assert_eq!(judge(&changed, HERE, known(7, 7, 0)), Verdict::Corrupt);
    }
}
