//! One line of strace in its parts: who, when, which call with which arguments, what it returned, how long it took.

use memchr::{memchr, memmem, memrchr};

use crate::trace::fields::{clock_ns, decimal_ns, signed, step_ns, unsigned, whole};
use crate::trace::line_verdict::Broken;

/// A later time than this, in s, counts from 1970 and not from the line before.
const UNIX_DIGITS: usize = 9;
const S: i64 = 1_000_000_000;

/// The time in front of a call, by the option that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// None of the options.
    None,
    /// `-ttt`: since 1970, in ns.
    Unix(i64),
    /// `-t`, `-tt`: since midnight, in ns.
    Day(i64),
    /// `-r`: since the line before, in ns.
    Since(i64),
}

/// What comes before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix<'a> {
    /// With `-f` and `-p`.
    pub pid: Option<&'a [u8]>,
    /// When.
    pub stamp: Stamp,
    /// The step of the stamp.
    pub tick_ns: i64,
    /// The call.
    pub rest: &'a [u8],
}

/// What a call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned<'a> {
    /// The number; None is `?`.
    pub number: Option<i64>,
    /// `EIO` and the like.
    pub error: Option<&'a [u8]>,
    /// With `-y`, the path of a returned descriptor.
    pub path: Option<&'a [u8]>,
    /// With `-T`.
    pub took_ns: Option<i64>,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A call from its name to its return.
    Whole(&'a [u8], &'a [u8], Returned<'a>),
    /// A call that another one interrupts on paper: name, arguments so far.
    Begun(&'a [u8], &'a [u8]),
    /// The rest of such a call: name, other arguments, return.
    Resumed(&'a [u8], &'a [u8], Returned<'a>),
    /// A signal, an exit, a message of strace.
    Notice,
}

/// Who and when.
pub fn prefix(line: &[u8]) -> Result<Prefix<'_>, Broken> {
    let broken = |part: &[u8], rule| Broken { column: line.len() - part.len() + 1, rule };
    let mut rest = line.trim_ascii_start();
    let mut pid = None;
    if let Some(after) = rest.strip_prefix(b"[pid") {
        let close = memchr(b']', after).ok_or(broken(after, "no end of [pid"))?;
        let number = without_name(after[..close].trim_ascii());
        unsigned(number).ok_or(broken(after, "not a process"))?;
        (pid, rest) = (Some(number), after[close + 1..].trim_ascii_start());
    } else {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let after = match rest.get(digits) {
            Some(b'<') => memmem::find(&rest[digits..], b"> ").map(|name| digits + name + 1),
            _ => Some(digits),
        };
        if let Some(after) = after.filter(|after| digits > 0 && rest.get(*after) == Some(&b' ')) {
            (pid, rest) = (Some(&rest[..digits]), rest[after..].trim_ascii_start());
        }
    }
    let (mut stamp, mut tick_ns) = (Stamp::None, 1_000);
    if rest.first().is_some_and(u8::is_ascii_digit) {
        let end = memchr(b' ', rest).unwrap_or(rest.len());
        (stamp, tick_ns) = time(&rest[..end]).ok_or(broken(rest, "not a time"))?;
        rest = rest[end..].trim_ascii_start();
    }
    if rest.starts_with(b"(+") {
        let close = memchr(b')', rest).ok_or(broken(rest, "not a time"))?;
        rest = rest[close + 1..].trim_ascii_start();
    }
    Ok(Prefix { pid, stamp, tick_ns, rest })
}

/// A process without its name, which stands in angle brackets with `-Y`.
fn without_name(process: &[u8]) -> &[u8] {
    &process[..memchr(b'<', process).unwrap_or(process.len())]
}

fn time(text: &[u8]) -> Option<(Stamp, i64)> {
    let tick_ns = step_ns(text, S);
    if let Some(ns) = clock_ns(text) {
        return Some((Stamp::Day(ns), tick_ns));
    }
    let ns = decimal_ns(text, S)?;
    let dot = memchr(b'.', text).unwrap_or(text.len());
    Some((if dot >= UNIX_DIGITS { Stamp::Unix(ns) } else { Stamp::Since(ns) }, tick_ns))
}

/// What comes after who and when.
pub fn piece(rest: &[u8]) -> Result<Piece<'_>, &'static str> {
    if let Some(resumed) = rest.strip_prefix(b"<... ") {
        let end = memmem::find(resumed, b" resumed>").ok_or("no end of `<...`")?;
        let (args, returned) = result(&resumed[end + 9..])?;
        return Ok(Piece::Resumed(&resumed[..end], args, returned));
    }
    let Some((name, args)) = called(rest) else {
        let said: [&[u8]; 5] = [b"+++ ", b"--- ", b"strace: ", b"Process ", b"<unfinished"];
        return if said.iter().any(|start| rest.starts_with(start)) {
            Ok(Piece::Notice)
        } else {
            Err("not a system call")
        };
    };
    let ends = args.trim_ascii_end();
    if let Some(begun) = ends.strip_suffix(b"<unfinished ...>") {
        return Ok(Piece::Begun(name, begun.trim_ascii_end()));
    }
    let (args, returned) = result(args)?;
    Ok(Piece::Whole(name, args, returned))
}

/// The name of a call, and all that follows its bracket.
pub fn called(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    (letters > 0 && rest.get(letters) == Some(&b'(')).then(|| (&rest[..letters], &rest[letters + 1..]))
}

/// Arguments, and what follows the `) = ` that is nearest to the end.
fn result(text: &[u8]) -> Result<(&[u8], Returned<'_>), &'static str> {
    let mut end = text.len();
    loop {
        let equals = memrchr(b'=', &text[..end]).ok_or("no `) = ` before a result")?;
        let before = text[..equals].trim_ascii_end();
        if before.len() < equals && before.ends_with(b")") && text.get(equals + 1) == Some(&b' ') {
            return Ok((&before[..before.len() - 1], returned(&text[equals + 2..])?));
        }
        end = equals;
    }
}

fn returned(text: &[u8]) -> Result<Returned<'_>, &'static str> {
    let mut text = text.trim_ascii_end();
    let mut took_ns = None;
    if text.ends_with(b">")
        && let Some(open) = memrchr(b'<', text)
        && let Some(took) = decimal_ns(&text[open + 1..text.len() - 1], S)
    {
        (took_ns, text) = (Some(took), text[..open].trim_ascii_end());
    }
    let end = text.iter().position(|byte| matches!(byte, b' ' | b'<')).unwrap_or(text.len());
    let number = match &text[..end] {
        b"?" => None,
        hex if hex.starts_with(b"0x") => Some(0),
        value => Some(signed(value).ok_or("not a result")?),
    };
    let rest = text[end..].trim_ascii_start();
    let path = rest.strip_prefix(b"<").and_then(|path| path.strip_suffix(b">"));
    let name = rest.iter().take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()).count();
    let error = (path.is_none() && rest.starts_with(b"E")).then_some(&rest[..name]);
    Ok(Returned { number, error, path, took_ns })
}

/// A descriptor, its path (with `-y`), and the arguments after it.
pub type Descriptor<'a> = (i64, Option<&'a [u8]>, &'a [u8]);

/// The descriptor that the arguments begin with.
pub fn descriptor(args: &[u8]) -> Option<Descriptor<'_>> {
    let digits = args.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = whole(&args[..digits])?;
    let mut rest = &args[digits..];
    let mut path = None;
    if rest.first() == Some(&b'<') {
        let mut depth = 0;
        let close = rest.iter().position(|byte| {
            depth += match byte {
                b'<' => 1,
                b'>' => -1,
                _ => 0,
            };
            depth == 0
        })?;
        (path, rest) = (Some(&rest[1..close]), &rest[close + 1..]);
    }
    let after = rest.strip_prefix(b",").unwrap_or(rest);
    (after.len() < rest.len() || rest.trim_ascii().is_empty()).then_some((
        number,
        path,
        after.trim_ascii_start(),
    ))
}

/// The last argument and what comes before it.
pub fn last_argument(args: &[u8]) -> (&[u8], &[u8]) {
    match memrchr(b',', args) {
        Some(comma) => (args[comma + 1..].trim_ascii(), &args[..comma]),
        None => (args.trim_ascii(), b""),
    }
}

/// The flags of an open call, such as `O_RDWR|O_DIRECT`.
pub fn open_flags(args: &[u8]) -> Option<&[u8]> {
    let words = args.split(|byte| matches!(byte, b',' | b' ' | b'=' | b'}'));
    words.filter(|word| word.starts_with(b"O_")).max_by_key(|word| word.len())
}

/// `/dev/sdb<block 8:16>` without what `-yy` adds.
pub fn without_kind(path: &[u8]) -> &[u8] {
    match memmem::rfind(path, b"<") {
        Some(at) if path.ends_with(b">") => &path[..at],
        _ => path,
    }
}

/// The first text in quotes.
pub fn quoted(args: &[u8]) -> Option<&[u8]> {
    let start = args.iter().position(|byte| *byte == b'"')? + 1;
    let mut escaped = false;
    let length = args[start..].iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })?;
    Some(&args[start..start + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_when_in_every_form() {
        let read = |line: &'static [u8]| {
            let found = prefix(line).unwrap();
            (found.pid, found.stamp, found.tick_ns, found.rest)
        };
        let call = &b"read(3) = 0"[..];
        assert_eq!(read(b"read(3) = 0"), (None, Stamp::None, 1_000, call));
        assert_eq!(read(b"[pid  12] read(3) = 0"), (Some(&b"12"[..]), Stamp::None, 1_000, call));
        assert_eq!(read(b"12  01:00:02 read(3) = 0"), (Some(&b"12"[..]), Stamp::Day(3_602 * S), S, call));
        assert_eq!(read(b"00:00:01.5 read(3) = 0"), (None, Stamp::Day(1_500_000_000), 100_000_000, call));
        assert_eq!(
            read(b"1795288863.763298 read(3) = 0"),
            (None, Stamp::Unix(1_795_288_863_763_298_000), 1_000, call)
        );
        assert_eq!(read(b"     0.000123 read(3) = 0"), (None, Stamp::Since(123_000), 1_000, call));
        assert_eq!(read(b"00:00:01.5 (+     0.1) read(3) = 0").3, call);
        assert_eq!(prefix(b"12 1x:00 read").unwrap_err().column, 4);
    }

    #[test]
    fn results_are_found_from_the_right() {
        let Ok(Piece::Whole(name, args, back)) =
            piece(br#"pwrite64(3</a b>, ") = 7 <x>"..., 512, 1024)   = 512 <0.000045>"#)
        else {
            panic!("a whole call")
        };
        assert_eq!((name, back.number, back.took_ns), (&b"pwrite64"[..], Some(512), Some(45_000)));
        let (offset, before) = last_argument(args);
        assert_eq!((offset, last_argument(before).0), (&b"1024"[..], &b"512"[..]));
        assert_eq!(descriptor(args).unwrap().1, Some(&b"/a b"[..]));
    }

    #[test]
    fn paths_errors_and_unknown_results() {
        let back = |text: &'static [u8]| returned(text).unwrap();
        assert_eq!(back(b"3</dev/sdb<block 8:16>> <0.000005>").path, Some(&b"/dev/sdb<block 8:16>"[..]));
        assert_eq!(back(b"-1 EIO (Input/output error)").error, Some(&b"EIO"[..]));
        assert_eq!(back(b"? ERESTARTSYS (To be restarted)").number, None);
        assert_eq!(returned(b"x"), Err("not a result"));
        assert_eq!(descriptor(b"3</dev/sdb<block 8:16>>, 1").unwrap().1, Some(&b"/dev/sdb<block 8:16>"[..]));
        assert_eq!(descriptor(b"AT_FDCWD, 1"), None);
        assert_eq!(piece(b"+++ exited with 0 +++"), Ok(Piece::Notice));
        assert_eq!(piece(b"hello"), Err("not a system call"));
    }
}
