//! Reads back everything that a journal knows of, and counts what is not as it must be.

use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::journal::{Journal, Known};
use super::seal::Address;
use super::verdict::{Kind, Verdict, judge};
use crate::error::{Error, Result, errno_name};
use crate::host::threads;
use crate::plan::ReadBack;
use crate::workload::buffers::Buffers;

const CHUNK_BYTES: u64 = 1 << 20;
const THREADS: usize = 4;
const FIRST_PLACES: usize = 8;
const TICK: Duration = Duration::from_millis(100);
/// What a writer that was killed had in flight may land a little after it is gone.
const SETTLES: Duration = Duration::from_millis(500);

/// One block that is not as it must be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BadBlock {
    /// How.
    pub kind: Kind,
    /// Which file.
    pub file: u32,
    /// First byte of the block in it.
    pub offset_bytes: u64,
    /// The oldest write that may be there.
    pub expected_from: u32,
    /// The newest.
    pub expected_to: u32,
    /// The write that is there (the oldest part of a torn one), 0 for none.
    pub found: u32,
    /// The newest part of a torn one.
    pub found_newest: u32,
    /// Where a misplaced one belongs: file and byte.
    pub belongs: Option<(u32, u64)>,
    /// Why it could not be read.
    pub error: String,
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Found {
    /// Blocks that were written, all read back.
    pub blocks: u64,
    /// As they must be.
    pub intact: u64,
    /// Nothing can be said of.
    pub undecided: u64,
    /// Of all: had writes outstanding at the end, that were never acknowledged.
    pub outstanding: u64,
    /// Of all: newer than the journal knows (it was not written out before the machine went down).
    pub ahead: u64,
    /// Bad ones, by kind in the order of `Kind`.
    pub bad: [u64; 5],
    /// The first few of each kind.
    pub places: Vec<BadBlock>,
    /// Past the page cache.
    pub direct: bool,
    /// It went through to the end.
    pub complete: bool,
    /// Time it took.
    pub elapsed_ns: u64,
}

struct Reader<'a> {
    plan: &'a ReadBack,
    journal: &'a Journal,
    files: Vec<File>,
    /// The next file and block to be looked at.
    next: Mutex<(usize, u64)>,
    passed_blocks: AtomicU64,
    stop: std::sync::atomic::AtomicBool,
    found: Mutex<Found>,
    /// Blocks to be read once more: their writer may have died a moment ago.
    unsettled: Mutex<Vec<(u32, u64)>>,
}

/// Reads everything back. `on_tick(elapsed_ns, blocks)` is called about ten times a second, and once at the end, with
/// how many blocks of the files are behind it, those included that nobody wrote; false stops.
pub fn read_back(plan: &ReadBack, mut on_tick: impl FnMut(u64, u64) -> bool) -> Result<Found> {
    let begun = Instant::now();
    plan.check()?;
    let journal = Journal::open(&plan.verify, false)?;
    plan.check_entries(journal.len())?;
    let (files, direct) = open_all(plan)?;
    let reader = Reader {
        plan,
        journal: &journal,
        files,
        next: Mutex::new((0, 0)),
        passed_blocks: AtomicU64::new(0),
        stop: false.into(),
        found: Mutex::default(),
        unsettled: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let threads = threads::hire(scope, THREADS, || || reader.work())?;
        while threads.iter().any(|thread| !thread.is_finished()) {
            if !on_tick(begun.elapsed().as_nanos() as u64, reader.passed_blocks.load(Relaxed)) {
                reader.stop.store(true, Relaxed);
            }
            let until = Instant::now() + TICK;
            while Instant::now() < until && threads.iter().any(|thread| !thread.is_finished()) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        threads.into_iter().try_for_each(|thread| thread.join().expect("a reader does not panic"))
    })?;
    let _ = on_tick(begun.elapsed().as_nanos() as u64, reader.passed_blocks.load(Relaxed));
    reader.settle()?;
    let mut found = reader.found.into_inner().expect("the readers are gone");
    found.places.sort_by_key(|place| (place.kind, place.file, place.offset_bytes));
    found.direct = direct;
    found.complete = !reader.stop.load(Relaxed);
    found.elapsed_ns = begun.elapsed().as_nanos() as u64;
    Ok(found)
}

/// The files, past the page cache where all of them can be opened so.
fn open_all(plan: &ReadBack) -> Result<(Vec<File>, bool)> {
    // A FIFO in the place of a file does not hang.
    let open =
        |path: &str, flags: i32| File::options().read(true).custom_flags(flags | libc::O_NONBLOCK).open(path);
    let direct: std::io::Result<Vec<File>> =
        plan.files.iter().map(|(path, _)| open(path, libc::O_DIRECT)).collect();
    if let Ok(files) = direct {
        return Ok((files, true));
    }
    let files = plan.files.iter().map(|(path, _)| {
        open(path, 0).map_err(|source| Error::Open { path: path.clone(), how: "read".into(), source })
    });
    Ok((files.collect::<Result<_>>()?, false))
}

impl Reader<'_> {
    fn work(&self) -> Result<()> {
        let block = self.plan.verify.block_bytes;
        let chunk = (CHUNK_BYTES / block).max(1);
        let mut buffers = Buffers::new(1, (chunk * block) as usize)?;
        let mut room = vec![Known::default(); chunk as usize];
        while let Some((file, first)) = self.take(chunk) {
            let last = (first + chunk).min(self.plan.files[file as usize].1 / block).max(first);
            let known = &mut room[..(last - first) as usize];
            self.journal.read(self.plan.verify.first_blocks[file as usize] + first, known)?;
            let mut at = 0;
            for run in known.chunk_by(|a, b| (a.sent > 0) == (b.sent > 0)) {
                if run[0].sent > 0 {
                    self.read_run(file, first + at, run, &mut buffers);
                }
                at += run.len() as u64;
            }
            self.passed_blocks.fetch_add(last - first, Relaxed);
        }
        Ok(())
    }

    fn take(&self, chunk: u64) -> Option<(u32, u64)> {
        if self.stop.load(Relaxed) {
            return None;
        }
        let mut next = self.next.lock().expect("no panic while it is held");
        while next.0 < self.plan.files.len() {
            let (file, first) = *next;
            if first * self.plan.verify.block_bytes < self.plan.files[file].1 {
                next.1 += chunk;
                return Some((file as u32, first));
            }
            *next = (file + 1, 0);
        }
        None
    }

    /// Blocks that follow each other and were all written.
    fn read_run(&self, file: u32, from: u64, known: &[Known], buffers: &mut Buffers) {
        let block = self.plan.verify.block_bytes;
        let len = known.len() * block as usize;
        let whole = self.read_at(file, from * block, buffers.slice(0, len)).is_ok();
        for ((number, known), place) in (from..).zip(known).zip((0..).step_by(block as usize)) {
            let bytes = &mut buffers.slice(0, len)[place..place + block as usize];
            let error = if whole { None } else { self.read_at(file, number * block, bytes).err() };
            self.count(file, number, *known, bytes, error, true);
        }
    }

    fn read_at(&self, file: u32, offset: u64, bytes: &mut [u8]) -> std::result::Result<(), i32> {
        let mut done = 0;
        while done < bytes.len() {
            match self.files[file as usize].read_at(&mut bytes[done..], offset + done as u64) {
                Ok(0) => return Err(0),
                Ok(got) => done += got,
                Err(why) => match why.raw_os_error().unwrap_or(libc::EIO) {
                    libc::EINTR => {}
                    errno => return Err(errno),
                },
            }
        }
        Ok(())
    }

    fn count(
        &self,
        file: u32,
        number: u64,
        known: Known,
        bytes: &[u8],
        error: Option<i32>,
        may_settle: bool,
    ) {
        let acknowledged = known.floor;
        // The floor is that of the rule that was asked for.
        let floor = if self.plan.durable_only { known.durable } else { known.floor };
        let known = Known { floor, ..known };
        let address =
            Address { run_id: self.plan.verify.run_id, file, offset: number * self.plan.verify.block_bytes };
        let verdict = error.is_none().then(|| judge(bytes, address, known));
        let outstanding = known.sent > acknowledged;
        let good = matches!(verdict, Some(Verdict::Intact | Verdict::Undecided));
        if may_settle && outstanding && !good {
            return self.unsettled.lock().expect("no panic while it is held").push((file, number));
        }
        let mut found = self.found.lock().expect("no panic while it is held");
        found.blocks += 1;
        found.outstanding += u64::from(known.sent > acknowledged.max(known.blended));
        let bad = |kind, oldest, newest, belongs| BadBlock {
            kind,
            file,
            offset_bytes: address.offset,
            expected_from: known.floor,
            expected_to: known.sent,
            found: oldest,
            found_newest: newest,
            belongs,
            error: error.map(errno_name).unwrap_or_default(),
        };
        let bad = match verdict {
            Some(Verdict::Intact) => {
                found.intact += 1;
                let sequence = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
                found.ahead += u64::from(&bytes[..4] == b"iocV" && sequence > known.sent && known.floor > 0);
                return;
            }
            Some(Verdict::Undecided) => {
                found.undecided += 1;
                return;
            }
            Some(Verdict::Torn { oldest, newest }) => bad(Kind::Torn, oldest, newest, None),
            Some(Verdict::Lost { found }) => bad(Kind::Lost, found, found, None),
            Some(Verdict::Misplaced { belongs, sequence }) => {
                let block = self.plan.verify.block_bytes;
                let home = (belongs.file, belongs.offset / block * block);
                bad(Kind::Misplaced, sequence, sequence, Some(home))
            }
            Some(Verdict::Corrupt) => bad(Kind::Corrupt, 0, 0, None),
            None => bad(Kind::Unreadable, 0, 0, None),
        };
        let count = &mut found.bad[bad.kind as usize];
        *count += 1;
        if *count as usize <= FIRST_PLACES {
            found.places.push(bad);
        }
    }

    /// Judges what was left for later, now that nothing can be on its way any more.
    fn settle(&self) -> Result<()> {
        let unsettled = std::mem::take(&mut *self.unsettled.lock().expect("the readers are gone"));
        if unsettled.is_empty() {
            return Ok(());
        }
        std::thread::sleep(SETTLES);
        let block = self.plan.verify.block_bytes;
        let mut buffers = Buffers::new(1, block as usize)?;
        for (file, number) in unsettled {
            let bytes = buffers.slice(0, block as usize);
            let error = self.read_at(file, number * block, bytes).err();
            let mut known = [Known::default()];
            self.journal.read(self.plan.verify.first_blocks[file as usize] + number, &mut known)?;
            self.count(file, number, known[0], bytes, error, false);
        }
        Ok(())
    }
}
