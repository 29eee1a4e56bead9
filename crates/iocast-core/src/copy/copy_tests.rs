//! Every way copies every size, byte by byte; what ends early says where.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;

use super::*;

const ALL: [Method; 9] = [
    Method::MmapWindow,
    Method::ReadWriteLarge,
    Method::ReadWriteBlock,
    Method::CopyFileRange,
    Method::Sendfile,
    Method::Splice,
    Method::Direct,
    Method::UringBuffered,
    Method::UringDirect,
];

/// In this crate's own build folder: what is made elsewhere may be in memory, where some ways are refused.
fn file() -> File {
    tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

fn of(bytes: usize) -> File {
    let mut made = file();
    let content: Vec<u8> = (0..bytes as u64).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    made.write_all(&content).unwrap();
    made.rewind().unwrap();
    made
}

fn order(method: Method, size_bytes: u64) -> Order {
    Order { method, size_bytes, block_bytes: 4096 }
}

/// All of it, past the O_DIRECT that a way has set.
fn whole(mut file: &File) -> Vec<u8> {
    // SAFETY: plain numbers.
    unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_DIRECT);
    }
    let mut found = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut found).unwrap();
    found
}

#[test]
fn every_way_copies_every_size() {
    for bytes in [0, 1, 4095, 4096, 4097, (1 << 20) + 17, (9 << 20) + 4095] {
        let from = of(bytes);
        for method in ALL {
            (&from).rewind().unwrap();
            let to = file();
            let copied =
                copy_file(from.as_fd(), to.as_fd(), &order(method, bytes as u64), &mut |_| true).unwrap();
            if copied.refused.as_ref().is_some_and(|refusal| refusal.call.starts_with("O_DIRECT")) {
                continue; // a file system in memory
            }
            // A ring may be refused by a container; all else may not.
            if copied.refused.as_ref().is_some_and(|refusal| refusal.call == "io_uring_setup") {
                continue;
            }
            assert_eq!(copied.refused, None, "{method:?} {bytes}");
            assert_eq!(copied.bytes, bytes as u64, "{method:?}");
            assert!(whole(&to) == whole(&from), "{method:?} {bytes}");
        }
    }
}

#[test]
fn a_source_that_is_shorter_than_planned_is_named() {
    for method in ALL {
        let (from, to) = (of(5000), file());
        let copied = copy_file(from.as_fd(), to.as_fd(), &order(method, 9 << 20), &mut |_| true).unwrap();
        let refused = copied.refused.expect("a way that copies more than there is");
        assert!(refused.at_bytes <= 8192, "{method:?}: {refused:?}");
    }
}

#[test]
fn what_cannot_be_written_is_a_refusal_with_its_errno() {
    for method in ALL {
        let from = of(1 << 20);
        let to = File::open("/proc/self/exe").unwrap();
        let copied = copy_file(from.as_fd(), to.as_fd(), &order(method, 1 << 20), &mut |_| true).unwrap();
        let refused = copied.refused.expect("a file that is open for reading only");
        assert!([libc::EBADF, libc::EINVAL].contains(&refused.errno), "{method:?}: {refused:?}");
        assert_eq!(copied.bytes, 0);
    }
}

#[test]
fn a_tick_that_says_no_stops_it() {
    let (from, to) = (of(32 << 20), file());
    let mut no = |_| false;
    let mut way = Way::new(0, 0, 100, &mut no);
    assert!(way.moved(1).is_ok(), "the first tick is due after a tenth of a second");
    std::thread::sleep(std::time::Duration::from_millis(110));
    assert!(matches!(way.moved(1), Err(End::Stopped)));
    let copied =
        copy_file(from.as_fd(), to.as_fd(), &order(Method::Splice, 32 << 20), &mut |_| false).unwrap();
    assert!(copied.stopped || copied.bytes == 32 << 20);
}

#[test]
fn contents_are_told_apart_by_one_byte_and_by_length() {
    let (one, same, longer, other) = (of(70_000), of(70_000), of(70_001), of(70_000));
    std::os::unix::fs::FileExt::write_at(&other, b"x", 69_999).unwrap();
    let content = |file: &File| content_of(file.as_fd(), &mut |_| true).unwrap();
    assert_eq!(content(&one), content(&same));
    assert_eq!(content(&one).bytes, 70_000);
    assert_ne!(content(&one).digest, content(&longer).digest);
    assert_ne!(content(&one).digest, content(&other).digest);
}

#[test]
fn cpu_is_counted_and_the_fsync_apart() {
    let (from, to) = (of(64 << 20), file());
    let copied =
        copy_file(from.as_fd(), to.as_fd(), &order(Method::ReadWriteBlock, 64 << 20), &mut |_| true).unwrap();
    assert_eq!(copied.calls, 2 * (64 << 20) / 4096);
    assert!(copied.system_ns + copied.user_ns > 0);
    assert!(copied.elapsed_ns > 0);
}
