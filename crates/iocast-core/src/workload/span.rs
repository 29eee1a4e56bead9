//! `Span`: all file regions of a plan as one line of bytes, end to end or in stripes.
//!
//! An I/O never crosses from one file to the next, nor the edge of a stripe: it is moved, never split. With
//! stripes every size of the mix divides the stripe (checks.rs), so blocks lie in stripes as they lie on the
//! line, and only walks of several sizes leave a gap at an edge.

use std::num::NonZeroU64;

use crate::plan::{FileRegion, Layout};

/// A file by its index in the plan, and a byte offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into `PhasePlan::files`.
    pub file: u32,
    /// Byte offset in that file.
    pub offset: u64,
}

/// The regions of all files as one line. Each file counts in whole blocks of the largest I/O, or in whole
/// stripes of the smallest file.
#[derive(Clone, Debug)]
pub struct Span {
    starts: Vec<u64>,
    ends: Vec<u64>,
    equal_bytes: u64,
    /// None: end to end.
    stripe: Option<NonZeroU64>,
    /// One file, end to end: where it begins.
    only: Option<u64>,
}

impl Span {
    /// The span of `files` when the largest I/O has `largest` bytes (1 when nothing moves data).
    pub fn new(files: &[FileRegion], largest: u64, layout: Layout) -> Span {
        let stripe_bytes = match layout {
            Layout::Concatenated => 0,
            Layout::Striped { stripe_bytes } => stripe_bytes,
        };
        let whole = largest.max(stripe_bytes).max(1);
        let mut usable: Vec<u64> = files.iter().map(|f| f.size_bytes / whole * whole).collect();
        if stripe_bytes > 0 {
            let least = usable.iter().copied().min().unwrap_or(0);
            usable.fill(least);
        }
        let mut end = 0;
        let ends = usable
            .iter()
            .map(|bytes| {
                end += bytes;
                end
            })
            .collect();
        let equal = usable.iter().all(|bytes| *bytes == usable[0]);
        Span {
            starts: files.iter().map(|f| f.start_bytes).collect(),
            ends,
            equal_bytes: if equal { usable[0] } else { 0 },
            stripe: NonZeroU64::new(stripe_bytes),
            only: match files {
                [only] if stripe_bytes == 0 => Some(only.start_bytes),
                _ => None,
            },
        }
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        *self.ends.last().expect("a plan has at least one file")
    }

    #[inline]
    fn file_at(&self, position: u64) -> usize {
        match self.ends.len() {
            1 => 0,
            _ if self.equal_bytes > 0 => (position / self.equal_bytes) as usize,
            _ => self.ends.partition_point(|end| *end <= position),
        }
    }

    #[inline]
    fn begin(&self, file: usize) -> u64 {
        if file == 0 { 0 } else { self.ends[file - 1] }
    }

    /// Where the file or stripe that holds `position` begins and ends on the line.
    #[inline]
    fn piece(&self, position: u64) -> (u64, u64) {
        if let Some(stripe) = self.stripe {
            let begin = position - position % stripe;
            return (begin, begin + stripe.get());
        }
        let file = self.file_at(position);
        (self.begin(file), self.ends[file])
    }

    /// The place of a position whose I/O is known not to cross a file's end.
    #[inline]
    pub(crate) fn place(&self, position: u64) -> Place {
        if let Some(stripe) = self.stripe {
            let (number, within) = (position / stripe, position % stripe);
            let (row, file) = (number / self.starts.len() as u64, number % self.starts.len() as u64);
            let offset = self.starts[file as usize] + row * stripe.get() + within;
            return Place { file: file as u32, offset };
        }
        let file = self.file_at(position);
        Place { file: file as u32, offset: self.starts[file] + (position - self.begin(file)) }
    }

    /// The place of an I/O of `size` at `position`, or as far before it as it fits into a file.
    #[inline]
    pub(crate) fn settle(&self, position: u64, size: u64) -> Place {
        let position = position.min(self.bytes() - size);
        match self.only {
            Some(start) => Place { file: 0, offset: start + position },
            None => self.place(self.fit_down(position, size)),
        }
    }

    /// Moves `position` down to the end of the file before if an I/O of `size` would cross into the next.
    #[inline]
    pub(crate) fn fit_down(&self, position: u64, size: u64) -> u64 {
        let (_, end) = self.piece(position);
        if position + size > end { end - size } else { position }
    }

    /// Moves `position` to the next file if an I/O of `size` would cross a file's end.
    #[inline]
    pub(crate) fn fit(&self, position: u64, size: u64) -> u64 {
        if position >= self.bytes() {
            return position;
        }
        let (_, end) = self.piece(position);
        if position + size > end { end } else { position }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn regions(sizes: &[u64]) -> Vec<FileRegion> {
        let region =
            |size: &u64| FileRegion { path: "f".into(), start_bytes: 4096, size_bytes: *size, opened: None };
        sizes.iter().map(region).collect()
    }

    #[test]
    fn stripes_go_round_the_files() {
        let layout = Layout::Striped { stripe_bytes: 100 };
        let span = Span::new(&regions(&[350, 299, 1000]), 50, layout);
        assert_eq!(span.bytes(), 600, "two whole stripes of the smallest, times three");
        let at = |position| (span.place(position).file, span.place(position).offset - 4096);
        assert_eq!(
            [at(0), at(50), at(100), at(250), at(300), at(599)],
            [(0, 0), (0, 50), (1, 0), (2, 50), (0, 100), (2, 199)]
        );
    }

    #[test]
    fn an_io_at_the_edge_of_a_stripe_is_moved_not_split() {
        let span = Span::new(&regions(&[1000, 1000]), 80, Layout::Striped { stripe_bytes: 100 });
        assert_eq!((span.fit(40, 60), span.fit(60, 60)), (40, 100));
        assert_eq!((span.fit_down(40, 60), span.fit_down(60, 60)), (40, 40));
    }

    proptest! {
        #[test]
        fn the_line_and_the_places_are_one_to_one(sizes in prop::collection::vec(8u64..60, 1..6), stripe in 0u64..8) {
            let layout = match stripe {
                0 => Layout::Concatenated,
                _ => Layout::Striped { stripe_bytes: stripe },
            };
            let files = regions(&sizes);
            let span = Span::new(&files, 1, layout);
            let mut seen = HashSet::new();
            for position in 0..span.bytes() {
                let place = span.place(position);
                let file = &files[place.file as usize];
                prop_assert!((file.start_bytes..file.start_bytes + file.size_bytes).contains(&place.offset));
                prop_assert!(seen.insert((place.file, place.offset)), "twice: {position}");
            }
            let usable: u64 = match stripe {
                0 => sizes.iter().sum(),
                _ => sizes.iter().min().unwrap() / stripe * stripe * sizes.len() as u64,
            };
            prop_assert_eq!(span.bytes(), usable, "every byte of every whole stripe");
        }
    }
}
