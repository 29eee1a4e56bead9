//! Which file a descriptor is, where its own place stands and how it was opened, as system calls tell it.
//!
//! The name of a file is in the memory of whoever opens it, and so in no record: it is looked up in /proc a moment later.
//! Another file may have that descriptor by then; who closes it before the moment of the look is found out from the
//! records that follow, and the name is dropped: unknown is better than wrong.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileTypeExt;

/// Names under which no storage is.
const NOT_STORAGE: [&str; 4] = ["/proc/", "/sys/", "/memfd:", "/dev/shm/"];

/// An open file; descriptors that were duplicated are the same one.
#[derive(Clone, Debug, Default)]
pub struct OpenFile {
    /// What is known of it.
    pub kind: Kind,
    /// Flags of open(2); None where they were not seen.
    pub flags: Option<i32>,
    /// The file's own place; None is unknown.
    pub place: Option<u64>,
    /// When its name was looked up.
    looked_ns: u64,
}

/// What an open file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A file, directory or block device of this name.
    Storage(String),
    /// A pipe, a socket, a terminal, a file of the kernel.
    #[default]
    Other,
    /// A file that was closed before it could be looked at.
    Unnamed,
}

/// See the module.
#[derive(Default)]
pub struct OpenFiles {
    descriptors: HashMap<(u32, i64), u32>,
    files: Vec<OpenFile>,
}

impl OpenFiles {
    /// A process has opened a file, whose name is looked up now.
    pub fn opened(&mut self, process: u32, descriptor: i64, flags: Option<i32>, now_ns: u64) {
        let kind = look(process, descriptor).unwrap_or(Kind::Unnamed);
        let appends = flags.is_some_and(|flags| flags & libc::O_APPEND != 0);
        let place = if appends { None } else { Some(0) };
        self.put(process, descriptor, OpenFile { kind, flags, place, looked_ns: now_ns });
    }

    fn put(&mut self, process: u32, descriptor: i64, file: OpenFile) -> u32 {
        let number = self.files.len() as u32;
        self.files.push(file);
        self.descriptors.insert((process, descriptor), number);
        number
    }

    /// The number of the file of a descriptor. One that was open before is looked at now; None where it is gone.
    pub fn number(&mut self, process: u32, descriptor: i64, now_ns: u64) -> Option<u32> {
        if let Some(number) = self.descriptors.get(&(process, descriptor)) {
            return Some(*number);
        }
        let kind = look(process, descriptor)?;
        let flags = flags_of(process, descriptor);
        Some(self.put(process, descriptor, OpenFile { kind, flags, place: None, looked_ns: now_ns }))
    }

    /// How many were seen, those that are closed by now included.
    pub fn seen(&self) -> usize {
        self.files.len()
    }

    /// A file.
    pub fn file(&self, number: u32) -> &OpenFile {
        &self.files[number as usize]
    }

    /// The same, to be changed.
    pub fn file_mut(&mut self, number: u32) -> &mut OpenFile {
        &mut self.files[number as usize]
    }

    /// A descriptor was closed: a name that was looked up later than that is another file's.
    pub fn closed(&mut self, process: u32, descriptor: i64, at_ns: u64) {
        if let Some(number) = self.descriptors.remove(&(process, descriptor)) {
            let file = &mut self.files[number as usize];
            if file.looked_ns > at_ns && file.kind != Kind::Unnamed {
                file.kind = Kind::Unnamed;
            }
        }
    }

    /// All of a process from one descriptor to another were closed.
    pub fn closed_range(&mut self, process: u32, from: i64, to: i64, at_ns: u64) {
        let gone: Vec<i64> = self
            .descriptors
            .keys()
            .filter(|(whose, number)| *whose == process && (from..=to).contains(number))
            .map(|(_, number)| *number)
            .collect();
        gone.into_iter().for_each(|number| self.closed(process, number, at_ns));
    }

    /// A second descriptor of the same open file.
    pub fn duplicated(&mut self, process: u32, old: i64, new: i64, now_ns: u64) {
        match self.number(process, old, now_ns) {
            Some(number) => {
                self.descriptors.insert((process, new), number);
            }
            None => {
                self.descriptors.remove(&(process, new));
            }
        }
    }
}

fn look(process: u32, descriptor: i64) -> Option<Kind> {
    let place = format!("/proc/{process}/fd/{descriptor}");
    let name = fs::read_link(&place).ok()?.to_string_lossy().into_owned();
    let kind = fs::metadata(&place).ok()?.file_type();
    // A directory is synced when a file in it was made or renamed.
    let storage = kind.is_file() || kind.is_block_device() || kind.is_dir();
    let real = name.starts_with('/') && !NOT_STORAGE.iter().any(|start| name.starts_with(start));
    Some(if storage && real { Kind::Storage(name) } else { Kind::Other })
}

fn flags_of(process: u32, descriptor: i64) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}")).ok()?;
    let octal = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    i32::from_str_radix(octal.trim(), 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that is not there: nothing of it can be looked up.
    const NOBODY: u32 = u32::MAX;

    #[test]
    fn a_descriptor_that_was_closed_before_the_look_has_no_name() {
        let mut files = OpenFiles::default();
        let named = OpenFile { kind: Kind::Storage("/db".into()), looked_ns: 100, ..OpenFile::default() };
        let number = files.put(NOBODY, 3, named.clone());
        files.closed(NOBODY, 3, 99);
        assert_eq!(files.file(number).kind, Kind::Unnamed, "another file may have been looked at");
        let number = files.put(NOBODY, 3, named);
        files.closed(NOBODY, 3, 101);
        assert_eq!(files.file(number).kind, Kind::Storage("/db".into()));
    }

    #[test]
    fn a_duplicate_shares_its_place_and_a_range_is_closed() {
        let mut files = OpenFiles::default();
        files.put(NOBODY, 3, OpenFile { place: Some(0), ..OpenFile::default() });
        files.duplicated(NOBODY, 3, 7, 0);
        let number = files.number(NOBODY, 7, 0).unwrap();
        files.file_mut(number).place = Some(4096);
        let same = files.number(NOBODY, 3, 0).unwrap();
        assert_eq!(files.file(same).place, Some(4096));
        files.closed_range(NOBODY, 0, 5, 0);
        assert_eq!((files.number(NOBODY, 3, 0), files.number(NOBODY, 7, 0)), (None, Some(number)));
    }

    #[test]
    fn a_file_of_this_process_is_found_and_a_pipe_is_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let descriptor = i64::from(std::os::fd::AsRawFd::as_raw_fd(file.as_file()));
        let mut files = OpenFiles::default();
        let number = files.number(std::process::id(), descriptor, 0).unwrap();
        assert_eq!(files.file(number).kind, Kind::Storage(file.path().display().to_string()));
        assert_eq!(files.file(number).place, None, "it was open before");
        let (pipe, _end) = std::io::pipe().unwrap();
        let descriptor = i64::from(std::os::fd::AsRawFd::as_raw_fd(&pipe));
        let number = files.number(std::process::id(), descriptor, 0).unwrap();
        assert_eq!(files.file(number).kind, Kind::Other);
    }
}
