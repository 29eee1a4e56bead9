//! The ways that copy by one system call after the other.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;

use super::way::WINDOW_BYTES;
use super::way::{End, Way};
use crate::workload::buffers::Buffers;

/// Offsets and lengths of direct I/O are multiples of it.
const ALIGNED: usize = 4096;
/// Calls that could copy all of it return after so much, so that a copy can be stopped.
const MOST_BYTES: usize = 64 << 20;
/// What a pipe of any user may hold.
const PIPE_BYTES: usize = 1 << 20;
/// `FICLONE` of linux/fs.h.
const FICLONE: libc::Ioctl = 0x4004_9409;

/// read and write through a buffer of `bytes`. What O_DIRECT cannot write, the end of a file that is no multiple of
/// its blocks, goes through the page cache.
pub fn read_write(way: &mut Way, buffers: &Buffers, bytes: usize, direct: bool) -> Result<(), End> {
    if direct {
        way.set_direct(way.from, true)?;
        way.set_direct(way.to, true)?;
    }
    let (buffer, from) = (buffers.pointer(0, 0, bytes), way.from);
    while way.done < way.size {
        // O_DIRECT reads whole blocks, at the end of the file too.
        let asked = if direct { bytes } else { way.next(bytes) };
        // SAFETY: the buffer has `bytes` bytes.
        let read = way.call("read", || unsafe { libc::read(from, buffer.cast(), asked) })?;
        let read = read.min(way.next(bytes));
        let (whole, rest) = if direct { (read / ALIGNED * ALIGNED, read % ALIGNED) } else { (read, 0) };
        write_all(way, buffer, whole)?;
        if rest > 0 {
            way.set_direct(way.to, false)?;
            // SAFETY: `whole + rest` bytes of the buffer were read.
            write_all(way, unsafe { buffer.add(whole) }, rest)?;
        }
    }
    Ok(())
}

/// Writes what is at an address.
fn write_all(way: &mut Way, from: *const u8, bytes: usize) -> Result<(), End> {
    let mut written = 0;
    while written < bytes {
        let to = way.to;
        // SAFETY: the caller has `bytes` bytes there. Of a mapping whose file became shorter the kernel says EFAULT.
        let wrote =
            way.call("write", || unsafe { libc::write(to, from.add(written).cast(), bytes - written) })?;
        written += wrote;
        way.moved(wrote)?;
    }
    Ok(())
}

/// Maps a window of the source, writes it from the mapping, unmaps it, and so on. The mapping is read by write(2) only.
pub fn mapped(way: &mut Way) -> Result<(), End> {
    while way.done < way.size {
        let bytes = way.next(WINDOW_BYTES);
        let (from, at) = (way.from, way.done as libc::off_t);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let window = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, from, at) };
        if window == libc::MAP_FAILED {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENODEV);
            return Err(way.refused("mmap", errno));
        }
        way.calls += 1;
        let written = write_all(way, window.cast(), bytes);
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(window, bytes) };
        written?;
    }
    Ok(())
}

/// Both positions move on by what was copied.
pub fn copy_file_range(way: &mut Way) -> Result<(), End> {
    let (from, to) = (way.from, way.to);
    while way.done < way.size {
        let asked = way.next(MOST_BYTES);
        // SAFETY: no offsets are handed over.
        let moved = way.call("copy_file_range", || unsafe {
            libc::copy_file_range(from, null_mut(), to, null_mut(), asked, 0)
        })?;
        way.moved(moved)?;
    }
    Ok(())
}

/// From the page cache of the one file into that of the other.
pub fn sendfile(way: &mut Way) -> Result<(), End> {
    let (from, to) = (way.from, way.to);
    while way.done < way.size {
        let asked = way.next(MOST_BYTES);
        // SAFETY: no offset is handed over.
        let moved = way.call("sendfile", || unsafe { libc::sendfile(to, from, null_mut(), asked) })?;
        way.moved(moved)?;
    }
    Ok(())
}

/// The same through a pipe of our own.
pub fn splice(way: &mut Way) -> Result<(), End> {
    let (out, into) = pipe(way)?;
    let (from, to) = (way.from, way.to);
    let flags = libc::SPLICE_F_MOVE | libc::SPLICE_F_MORE;
    let step = |from: RawFd, to: RawFd, bytes: usize| {
        // SAFETY: no offsets are handed over.
        unsafe { libc::splice(from, null_mut(), to, null_mut(), bytes, flags) }
    };
    while way.done < way.size {
        let asked = way.next(PIPE_BYTES);
        let mut held = way.call("splice", || step(from, into.as_raw_fd(), asked))?;
        while held > 0 {
            let moved = way.call("splice", || step(out.as_raw_fd(), to, held))?;
            held -= moved;
            way.moved(moved)?;
        }
    }
    Ok(())
}

fn pipe(way: &Way) -> Result<(OwnedFd, OwnedFd), End> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors, which are ours alone once they are made. A pipe that stays small
    // copies all the same.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE);
            return Err(way.refused("pipe", errno));
        }
        libc::fcntl(ends[1], libc::F_SETPIPE_SZ, PIPE_BYTES as libc::c_int);
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// One call for all of it.
pub fn reflink(way: &mut Way) -> Result<(), End> {
    way.calls += 1;
    // SAFETY: plain numbers.
    if unsafe { libc::ioctl(way.to, FICLONE, way.from) } != 0 {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EOPNOTSUPP);
        return Err(way.refused("FICLONE", errno));
    }
    way.moved(way.size as usize)
}
