//! A file of a trace, plain or compressed (gzip, zstd, xz, by its first bytes), in bounded memory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use crate::error::{Error, Result};
use crate::trace::pieces::read_full;

/// What a format is recognised by.
pub const HEAD_BYTES: usize = 1 << 16;
/// What a decoder of xz may take: what `xz -9` makes needs 65 MiB, and a header may ask for 4 GiB.
const XZ_MEMORY_BYTES: u64 = 128 << 20;
/// What compressed data is recognised by.
const MAGIC_BYTES: usize = 6;
/// How long a FIFO may be without a writer: a command that is started beside this one opens it within that.
const WRITER_WITHIN: Duration = Duration::from_secs(1);
/// The name of the standard input.
pub const STDIN: &str = "-";

/// An opened file.
pub struct Input {
    /// Its first bytes, decompressed.
    pub head: Vec<u8>,
    /// Whether they are all of it.
    pub whole: bool,
    /// Whether it is compressed.
    pub packed: bool,
    source: Box<dyn Read + Send>,
    broken: Option<io::Error>,
}

/// Opens a trace: a regular file, or a pipe that somebody writes to, with what was read of the pipe to know that.
/// What passes for a regular file and has nothing to give (/proc/kmsg) is not waited for.
fn opened(path: &Path) -> Result<(File, Vec<u8>)> {
    let why = |source| unreadable(&path.display().to_string(), source);
    let kind = fs::metadata(path).map_err(why)?.file_type();
    if !kind.is_file() && !kind.is_fifo() && !kind.is_dir() {
        let what = match () {
            () if kind.is_socket() => "a socket",
            () if kind.is_block_device() => "a block device",
            () => "a character device",
        };
        return Err(not_a_trace(path, what));
    }
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(why)?;
    if !kind.is_fifo() {
        return Ok((file, Vec::new()));
    }
    let begun =
        first_of_pipe(&mut file).map_err(why)?.ok_or_else(|| not_a_trace(path, "a FIFO without a writer"))?;
    // SAFETY: plain numbers. From now on it blocks.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } {
        0 => Ok((file, begun)),
        _ => Err(why(io::Error::last_os_error())),
    }
}

/// What a pipe that does not block holds by now; `None` where nobody writes to it.
fn first_of_pipe(pipe: &mut File) -> io::Result<Option<Vec<u8>>> {
    let patience = Instant::now() + WRITER_WITHIN;
    let mut begun = vec![0; MAGIC_BYTES];
    loop {
        match pipe.read(&mut begun) {
            Ok(0) if Instant::now() > patience => return Ok(None),
            Ok(0) => std::thread::sleep(Duration::from_millis(10)),
            Ok(read) => {
                begun.truncate(read);
                return Ok(Some(begun));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Some(Vec::new())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn not_a_trace(path: &Path, what: &str) -> Error {
    Error::Trace {
        why: format!("{} is {what}", path.display()),
        hint: "give a trace in a file; or - for the standard input, and pipe the trace into it",
    }
}

impl Input {
    /// The file, its first bytes read.
    pub fn open(path: &Path) -> Result<Input> {
        let why = |source| unreadable(&path.display().to_string(), source);
        let mut file: Box<dyn Read + Send> = if path.as_os_str() == STDIN {
            Box::new(io::stdin())
        } else {
            let (file, begun) = opened(path)?;
            Box::new(Cursor::new(begun).chain(file))
        };
        let mut magic = [0u8; MAGIC_BYTES];
        let read = read_full(&mut file, &mut magic).map_err(why)?;
        let plain = Cursor::new(magic[..read].to_vec()).chain(file);
        let (source, packed): (Box<dyn Read + Send>, bool) = match &magic[..read] {
            [0x1f, 0x8b, ..] => (Box::new(MultiGzDecoder::new(plain)), true),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => (Box::new(zstd::Decoder::new(plain).map_err(why)?), true),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => (Box::new(Xz::new(plain).map_err(why)?), true),
            _ => (Box::new(plain), false),
        };
        let mut input = Input { head: Vec::new(), whole: false, packed, source, broken: None };
        let mut head = vec![0; HEAD_BYTES];
        let mut filled = 0;
        while filled < head.len() {
            match input.source.read(&mut head[filled..]) {
                Ok(0) => {
                    input.whole = true;
                    break;
                }
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if packed && is_damage(&error) => {
                    input.broken = Some(error);
                    break;
                }
                Err(error) => return Err(why(error)),
            }
        }
        head.truncate(filled);
        input.head = head;
        Ok(input)
    }

    /// The bytes from the beginning. Damage of compressed data ends them; `note` says so afterwards.
    pub fn into_bytes(self) -> Bytes {
        Bytes {
            head: Cursor::new(self.head),
            source: self.source,
            packed: self.packed,
            broken: self.broken,
            bytes: 0,
        }
    }
}

/// Whether an error of a decoder is about what it reads.
fn is_damage(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::OutOfMemory)
}

/// A decoder of xz, of all streams of a file, that keeps to [`XZ_MEMORY_BYTES`].
struct Xz<R: Read>(XzDecoder<R>);

impl<R: Read> Xz<R> {
    fn new(packed: R) -> io::Result<Xz<R>> {
        let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED)?;
        Ok(Xz(XzDecoder::new_stream(packed, stream)))
    }
}

impl<R: Read> Read for Xz<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room).map_err(|error| {
            let of_xz = error.get_ref().and_then(|inner| inner.downcast_ref::<liblzma::stream::Error>());
            match of_xz {
                Some(liblzma::stream::Error::MemLimit) => io::ErrorKind::OutOfMemory.into(),
                _ => error,
            }
        })
    }
}

/// All bytes of an input.
pub struct Bytes {
    head: Cursor<Vec<u8>>,
    source: Box<dyn Read + Send>,
    packed: bool,
    broken: Option<io::Error>,
    /// How many were read.
    pub bytes: u64,
}

impl Bytes {
    /// What is wrong with the compressed data, if anything.
    pub fn note(&self) -> Option<String> {
        let error = self.broken.as_ref()?;
        Some(format!("the compressed data is cut or damaged after {} bytes of text ({error})", self.bytes))
    }
}

impl Read for Bytes {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut read = self.head.read(room)?;
        if read == 0 && !room.is_empty() && self.broken.is_none() {
            read = match self.source.read(room) {
                Ok(read) => read,
                Err(error) if self.packed && is_damage(&error) => {
                    self.broken = Some(error);
                    0
                }
                Err(error) => return Err(error),
            };
        }
        self.bytes += read as u64;
        Ok(read)
    }
}

/// What a read that failed is told as.
pub fn unreadable(path: &str, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::OutOfMemory && source.raw_os_error().is_none() {
        return Error::Trace {
            why: format!("{path}: to unpack it takes more than {} MiB of memory", XZ_MEMORY_BYTES >> 20),
            hint: "unpack it with xz -d, and give the text",
        };
    }
    Error::Open { path: path.to_string(), how: "read".into(), source }
}
