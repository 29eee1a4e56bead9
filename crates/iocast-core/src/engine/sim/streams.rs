//! Sequential streams: noticed, for caches that scans shall not fill, and fetched ahead of the reader.

const MOST: usize = 32;
/// In-order I/Os after which a stream is one.
const NOTICED: u32 = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    next: u64,
    run: u32,
    used: u64,
    /// Fetched up to there, and when that is ready: the window in use, and the one ahead of it.
    fetched: [(u64, u64); 2],
}

/// The last streams of reads or of writes.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    streams: Vec<Stream>,
    uses: u64,
    current: usize,
}

impl Streams {
    /// An I/O comes: true when it goes on a stream.
    pub fn follow(&mut self, offset: u64, len: u64) -> bool {
        self.uses += 1;
        if let Some(found) = self.streams.iter().position(|stream| stream.next == offset) {
            self.current = found;
        } else if self.streams.len() < MOST {
            self.current = self.streams.len();
            self.streams.push(Stream::default());
        } else {
            let oldest = (0..MOST).min_by_key(|at| self.streams[*at].used);
            self.current = oldest.expect("there are streams");
            self.streams[self.current] = Stream::default();
        }
        let goes_on = self.streams[self.current].next == offset;
        let stream = &mut self.streams[self.current];
        stream.run = if goes_on { stream.run.saturating_add(1) } else { 0 };
        stream.next = offset + len;
        stream.used = self.uses;
        stream.run >= NOTICED
    }

    /// When the I/O of the stream that `follow` found is ready, if it was fetched. Fetches the window ahead
    /// by `fetch(offset, len) -> when ready`.
    pub fn ready(&mut self, window: u64, size: u64, mut fetch: impl FnMut(u64, u64) -> u64) -> Option<u64> {
        let stream = &mut self.streams[self.current];
        let [used, ahead] = stream.fetched;
        let ready = match stream.next {
            next if next <= used.0 => Some(used.1),
            next if next <= ahead.0 => Some(used.1.max(ahead.1)),
            _ => None,
        };
        let end = ahead.0.max(stream.next);
        if end < size && stream.next + window > end {
            let len = window.min(size - end);
            stream.fetched =
                [if ahead.0 > 0 { ahead } else { (stream.next, 0) }, (end + len, fetch(end, len))];
        }
        ready
    }
}
