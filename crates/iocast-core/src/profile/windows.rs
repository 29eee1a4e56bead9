//! Events counted in windows of several widths at once, each a multiple of the one before it.
//!
//! Only the narrowest window sees an event; a window that is over adds what it held to the next wider one. Empty
//! windows cost nothing: they are all windows less those that held something.

use std::collections::BTreeMap;

/// What windows of one width held.
#[derive(Clone, Debug, Default)]
pub struct Width {
    /// Of a window.
    pub width_ns: u64,
    /// Windows that held an event.
    pub filled: u64,
    /// The most events in one.
    pub most_events: u64,
    /// When that one began, from the start of the trace.
    pub most_at_ns: u64,
    /// The most bytes in one.
    pub most_bytes: u64,
    /// Sum of squares of the events of whole windows.
    pub squares: f64,
    /// Events in whole windows.
    pub events: u64,
    /// Whole windows that held something, by the events in them.
    pub by_events: BTreeMap<u64, u64>,
    index: u64,
    held: u64,
    held_bytes: u64,
    ratio: u64,
    whole: u64,
}

/// Windows of ascending widths over a trace of known length.
#[derive(Debug)]
pub struct Windows {
    widths: Vec<Width>,
}

impl Windows {
    /// Windows of these widths; each must be a multiple of the one before it.
    pub fn new(widths_ns: &[u64], length_ns: u64) -> Windows {
        let widths = widths_ns
            .iter()
            .enumerate()
            .map(|(at, &width_ns)| Width {
                width_ns,
                ratio: if at == 0 { width_ns } else { width_ns / widths_ns[at - 1] },
                whole: length_ns / width_ns,
                ..Width::default()
            })
            .collect();
        Windows { widths }
    }

    /// An event at a time from the start of the trace.
    #[inline]
    pub fn event(&mut self, at_ns: u64, bytes: u64) {
        self.add(0, at_ns / self.widths[0].width_ns, 1, bytes);
    }

    fn add(&mut self, level: usize, index: u64, events: u64, bytes: u64) {
        let width = &mut self.widths[level];
        if width.held > 0 && width.index != index {
            self.close(level);
        }
        let width = &mut self.widths[level];
        width.index = index;
        width.held += events;
        width.held_bytes += bytes;
    }

    fn close(&mut self, level: usize) {
        let width = &mut self.widths[level];
        let (index, events, bytes) = (width.index, width.held, width.held_bytes);
        if events == 0 {
            return;
        }
        (width.held, width.held_bytes) = (0, 0);
        width.filled += 1;
        if events > width.most_events {
            (width.most_events, width.most_at_ns) = (events, index * width.width_ns);
        }
        width.most_bytes = width.most_bytes.max(bytes);
        if index < width.whole {
            width.events += events;
            width.squares += (events as f64) * (events as f64);
            *width.by_events.entry(events).or_default() += 1;
        }
        if let Some(ratio) = self.widths.get(level + 1).map(|wider| wider.ratio) {
            self.add(level + 1, index / ratio, events, bytes);
        }
    }

    /// All widths, the last windows closed.
    pub fn finish(mut self) -> Vec<Width> {
        for level in 0..self.widths.len() {
            self.close(level);
        }
        self.widths
    }
}

impl Width {
    /// Windows that lie wholly in the trace.
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// Variance over mean of the events of whole windows: 1 for random arrivals. None without an event.
    pub fn dispersion(&self) -> Option<f64> {
        if self.whole == 0 || self.events == 0 {
            return None;
        }
        let mean = self.events as f64 / self.whole as f64;
        Some((self.squares / self.whole as f64 - mean * mean) / mean)
    }

    /// The events that a share `q` of the whole windows do not exceed.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = (q * self.whole as f64).ceil().max(1.0) as u64;
        let kept: u64 = self.by_events.values().sum();
        let mut seen = self.whole.checked_sub(kept)?;
        if self.whole == 0 {
            return None;
        }
        if seen >= rank {
            return Some(0);
        }
        for (events, windows) in &self.by_events {
            seen += windows;
            if seen >= rank {
                return Some(*events);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_windows_add_up_narrower_ones_and_empty_ones_count() {
        let mut windows = Windows::new(&[10, 100], 1000);
        for at in [0, 1, 9, 10, 105, 995] {
            windows.event(at, 2);
        }
        let found = windows.finish();
        assert_eq!((found[0].most_events, found[0].most_bytes, found[0].filled), (3, 6, 4));
        assert_eq!((found[1].most_events, found[1].filled, found[1].events), (4, 3, 6));
        assert_eq!(found[1].quantile(0.5), Some(0));
        assert_eq!(found[1].quantile(1.0), Some(4));
        // 10 windows: 4, 1, 0 ... 0, 1; mean 0.6, mean of squares 1.8.
        assert!((found[1].dispersion().unwrap() - (1.8 - 0.36) / 0.6).abs() < 1e-12);
    }

    #[test]
    fn equal_distances_have_no_dispersion() {
        let mut windows = Windows::new(&[100, 200], 100_000);
        for at in (0..100_000).step_by(10) {
            windows.event(at, 0);
        }
        for width in windows.finish() {
            assert_eq!(width.dispersion(), Some(0.0));
        }
    }
}
