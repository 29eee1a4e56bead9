//! Requests of `io_submit` and results of `io_getevents` in a line of strace, as it prints them and as it did before 4.14.

use memchr::{memmem, memrchr};

use super::strace_line::descriptor;
use crate::trace::event::Op;
use crate::trace::fields::{signed, whole};

/// Calls that hand requests over, or take results.
pub fn is_batch(name: &[u8]) -> bool {
    matches!(name, b"io_submit" | b"io_getevents" | b"io_pgetevents")
}

/// One request of `io_submit`. Before 4.14 strace printed neither size nor offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// What.
    pub op: Op,
    /// On which descriptor.
    pub file: i64,
    /// Its path, with `-y`.
    pub path: Option<&'a [u8]>,
    /// How much.
    pub size: Option<i64>,
    /// Where.
    pub offset: Option<i64>,
}

/// The requests that are printed: long lists end with dots.
pub fn requests(args: &[u8]) -> Vec<Request<'_>> {
    structures(args).filter_map(|one| named(one).or_else(|| by_place(one))).collect()
}

/// What each request moved, or its errno below 0, of those that are printed.
pub fn results(args: &[u8]) -> Vec<i64> {
    structures(args)
        .filter_map(|one| match value(one, b"res=") {
            Some(text) => signed(text),
            None => match places(one)[..] {
                [_, _, result, _] => signed(result),
                _ => None,
            },
        })
        .collect()
}

/// Whether some of a list are not printed.
pub fn is_cut(args: &[u8]) -> bool {
    memmem::find(args, b"...").is_some()
}

/// What stands between the braces of each structure.
fn structures(args: &[u8]) -> impl Iterator<Item = &[u8]> {
    args.split(|byte| *byte == b'{').skip(1).map(|part| &part[..memrchr(b'}', part).unwrap_or(part.len())])
}

fn named(one: &[u8]) -> Option<Request<'_>> {
    let says = |word: &[u8]| memmem::find(one, word).is_some();
    let op = match () {
        () if says(b"PREAD") || says(b"pread") => Op::Read,
        () if says(b"PWRITE") || says(b"pwrite") => Op::Write,
        () if says(b"FDSYNC") || says(b"fdsync") => Op::Datasync,
        () if says(b"FSYNC") || says(b"fsync") => Op::Flush,
        () => return None,
    };
    let file = value(one, b"fildes=")?;
    let number = |key: &[u8]| value(one, key).and_then(leading);
    let path = descriptor(file).and_then(|(_, path, _)| path);
    Some(Request { op, file: leading(file)?, path, size: number(b"nbytes="), offset: number(b"offset=") })
}

/// Data, key, operation, priority and descriptor.
fn by_place(one: &[u8]) -> Option<Request<'_>> {
    let [_, _, operation, _, file] = places(one)[..] else { return None };
    let op = match operation {
        b"0" | b"7" => Op::Read,
        b"1" | b"8" => Op::Write,
        b"2" => Op::Flush,
        b"3" => Op::Datasync,
        _ => return None,
    };
    Some(Request { op, file: whole(file)?, path: None, size: None, offset: None })
}

fn places(one: &[u8]) -> Vec<&[u8]> {
    one.split(|byte| *byte == b',').map(|part| trimmed(part.trim_ascii())).collect()
}

/// Without brackets and what a copy on a slide puts before them.
fn trimmed(mut part: &[u8]) -> &[u8] {
    let odd = |byte: &u8| matches!(byte, b'(' | b')' | b'}' | b'\\');
    while let Some((first, rest)) = part.split_first().filter(|(first, _)| odd(first)) {
        (_, part) = (first, rest);
    }
    while let Some((last, rest)) = part.split_last().filter(|(last, _)| odd(last)) {
        (_, part) = (last, rest);
    }
    part
}

/// What follows a key, the last one of that ending.
fn value<'a>(one: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let text = &one[memmem::rfind(one, key)? + key.len()..];
    let end = text.iter().position(|byte| *byte == b',').unwrap_or(text.len());
    Some(text[..end].trim_ascii())
}

fn leading(text: &[u8]) -> Option<i64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    whole(&text[..digits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_every_form() {
        let now = b"0x7f, 2, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=6</d/a, b>, aio_buf=0x7f, \
            aio_nbytes=8192, aio_offset=245760}, {aio_data=0, aio_lio_opcode=IOCB_CMD_FDSYNC, aio_fildes=7}, ...]";
        let read =
            Request { op: Op::Read, file: 6, path: Some(b"/d/f"), size: Some(8192), offset: Some(245_760) };
        let listed = requests(now);
        assert_eq!((listed[0].size, listed[0].offset, listed[0].file), (read.size, read.offset, 6));
        assert_eq!((listed[1].op, listed[1].file, listed[1].size), (Op::Datasync, 7, None));
        assert!(is_cut(now));
        let path = b"0x7f, 1, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=6</d/f>, aio_nbytes=8192, aio_offset=245760}]";
        assert_eq!(requests(path), [read]);
        let before = b"47804644147200, 1, {{0x2b7a62e600b0, 0, 0, 0, 288}}";
        assert_eq!(
            requests(before),
            [Request { op: Op::Read, file: 288, path: None, size: None, offset: None }]
        );
        assert_eq!(requests(b"4692, 1, \\{(0x2b22, 0, 1, 0, 287)\\}")[0].op, Op::Write);
    }

    #[test]
    fn results_of_every_form_and_no_timeout() {
        assert_eq!(
            results(
                b"0x7f, 1, 40, [{data=0, obj=0x7f, res=8192, res2=0}, {data=0, obj=0x7f, res=-5, res2=0}], \
            {tv_sec=600, tv_nsec=0}"
            ),
            [8192, -5]
        );
        assert_eq!(
            results(b"478, 1, 128, {{0x2b, 0x2b, 8192, 0}, {0x2b, (...) 0x2b, 4096, 0}, {600, 0}"),
            [8192, 4096]
        );
    }
}
