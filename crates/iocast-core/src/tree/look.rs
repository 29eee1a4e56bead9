//! Looks at a tree: which of its names are there, whether files have their sizes, and what in it is not iocast's.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;

use serde::Serialize;

use super::directories::Directories;
use super::number_set::NumberSet;
use super::ours::{BESIDE, CHILD, FILE, LINKED, RENAMED, SYMLINK, TOP, known, status_at};
use super::shape::Shape;
use crate::plan::tree_plan::TreePlan;

/// Names that are not ours are told up to so many.
const TOLD: usize = 16;
const LIST_BYTES: usize = 64 << 10;

/// Which of the names that files can have are there.
#[derive(Clone, Debug)]
pub struct Names {
    /// Files, whatever their name.
    pub files: NumberSet,
    /// Of those, the renamed ones.
    pub renamed: NumberSet,
    /// Second names.
    pub linked: NumberSet,
    /// Symbolic links.
    pub symlinks: NumberSet,
    /// Directories beside files.
    pub beside: NumberSet,
}

impl Names {
    /// Of so many files: all are there, or none.
    pub fn new(files: u64, all: bool) -> Names {
        let none = NumberSet::new(files, false);
        Names {
            files: NumberSet::new(files, all),
            renamed: none.clone(),
            linked: none.clone(),
            symlinks: none.clone(),
            beside: none,
        }
    }

    /// True when there is nothing but files with their first names.
    pub fn only_files(&self) -> bool {
        [&self.renamed, &self.linked, &self.symlinks, &self.beside].iter().all(|set| set.count() == 0)
    }
}

/// What a look found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Directories that are there.
    pub directories: u64,
    /// Directories that the tree has and that are missing.
    pub missing_directories: u64,
    /// Files.
    pub files: u64,
    /// Files that have been renamed, or have a second name, a link or a directory beside them: what operations left.
    pub left_over: u64,
    /// Files of another size than theirs; 0 where sizes were not looked at.
    pub wrong_size: u64,
    /// Bytes of all files; 0 where sizes were not looked at.
    pub bytes: u64,
    /// Names that files have outside of the tree (hard links); 0 where sizes were not looked at.
    pub named_elsewhere: u64,
    /// How many names are not iocast's.
    pub foreign: u64,
    /// The first of them.
    pub foreign_names: Vec<String>,
}

/// Looks at the tree at `place`, at the size of each file too if that is asked. `go_on` is asked now and then.
pub fn look(plan: &TreePlan, place: RawFd, sizes: bool, go_on: impl FnMut() -> bool) -> io::Result<Found> {
    let directories = Directories::new(Shape::new(plan), place, 0)?;
    Ok(look_in(&directories, place, sizes, go_on)?.1)
}

/// The same, with the names.
pub fn look_in(
    directories: &Directories,
    place: RawFd,
    sizes: bool,
    mut go_on: impl FnMut() -> bool,
) -> io::Result<(Names, Found)> {
    let shape = directories.shape();
    let mut seen = Look {
        directories,
        names: Names::new(shape.files(), false),
        found: Found::default(),
        sizes,
        links: 0,
    };
    let mut buffer = vec![0u8; LIST_BYTES];
    if shape.trees() > 1 {
        seen.directory(place, None, &mut buffer)?;
    }
    for number in 0..shape.directories() {
        if number % 64 == 0 && !go_on() {
            return Err(io::Error::from_raw_os_error(libc::EINTR));
        }
        match directories.get(number) {
            Ok(directory) => {
                seen.found.directories += 1;
                seen.directory(directory.descriptor(), Some(number), &mut buffer)?;
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => seen.found.missing_directories += 1,
            Err(why) => return Err(why),
        }
    }
    let Look { names, mut found, links, .. } = seen;
    found.files = names.files.count();
    found.named_elsewhere = links.saturating_sub(names.files.count() + names.linked.count());
    found.left_over =
        names.renamed.count() + names.linked.count() + names.symlinks.count() + names.beside.count();
    Ok((names, found))
}

struct Look<'a> {
    directories: &'a Directories,
    names: Names,
    found: Found,
    sizes: bool,
    /// Names that all files have together, wherever they are.
    links: u64,
}

impl Look<'_> {
    /// One directory; `None`: the place of several trees.
    fn directory(&mut self, descriptor: RawFd, number: Option<u64>, buffer: &mut [u8]) -> io::Result<()> {
        let list = reopened(descriptor)?;
        let listed = each_name(list, buffer, |name| self.name(descriptor, number, name));
        // SAFETY: opened here.
        unsafe { libc::close(list) };
        listed
    }

    fn name(&mut self, descriptor: RawFd, number: Option<u64>, name: &CStr) -> io::Result<()> {
        let ours = match (known(name.to_bytes()), number) {
            (Some((TOP, _)), None) | (Some((CHILD, _)), Some(_)) => true,
            (Some((kind, file)), Some(at)) if self.belongs(file, at) => {
                self.file(descriptor, kind, file, name)?
            }
            _ => false,
        };
        if ours {
            return Ok(());
        }
        // The file that says what the tree is like.
        if number.is_none_or(|at| at == 0) && name.to_bytes().starts_with(b".iocast") {
            return Ok(());
        }
        self.found.foreign += 1;
        if self.found.foreign_names.len() < TOLD {
            self.found.foreign_names.push(name.to_string_lossy().into_owned());
        }
        Ok(())
    }

    fn belongs(&self, file: u64, directory: u64) -> bool {
        let shape = self.directories.shape();
        file < shape.files() && shape.directory_of(file) == directory
    }

    /// False for what is not ours after all.
    fn file(&mut self, descriptor: RawFd, kind: u8, file: u64, name: &CStr) -> io::Result<bool> {
        if matches!(kind, FILE | RENAMED) && self.sizes {
            let status = status_at(descriptor, name)?;
            if !self.directories.home().has_file(&status) {
                return Ok(false);
            }
            let wrong = status.st_size as u64 != self.directories.shape().size_bytes(file);
            self.found.wrong_size += u64::from(wrong);
            self.found.bytes += status.st_size as u64;
            self.links += status.st_nlink as u64;
        }
        match kind {
            FILE => self.names.files.set(file, true),
            RENAMED => {
                self.names.files.set(file, true);
                self.names.renamed.set(file, true);
            }
            LINKED => self.names.linked.set(file, true),
            SYMLINK => self.names.symlinks.set(file, true),
            BESIDE => self.names.beside.set(file, true),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Opens the directory of a descriptor anew, with a position of its own.
pub fn reopened(descriptor: RawFd) -> io::Result<RawFd> {
    // SAFETY: the name ends with a zero byte.
    match unsafe {
        libc::openat(descriptor, c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC)
    } {
        -1 => Err(io::Error::last_os_error()),
        opened => Ok(opened),
    }
}

/// Calls `each` for every name in an open directory but the two that every directory has.
pub fn each_name(
    descriptor: RawFd,
    buffer: &mut [u8],
    mut each: impl FnMut(&CStr) -> io::Result<()>,
) -> io::Result<()> {
    /// Inode, offset, length of the entry, type: then the name.
    const NAME_AT: usize = 19;
    loop {
        // SAFETY: the buffer has so many bytes.
        let read =
            unsafe { libc::syscall(libc::SYS_getdents64, descriptor, buffer.as_mut_ptr(), buffer.len()) };
        let length = match read {
            0 => return Ok(()),
            read if read < 0 => return Err(io::Error::last_os_error()),
            read => read as usize,
        };
        let mut at = 0;
        while at + NAME_AT < length {
            let entry = usize::from(u16::from_ne_bytes([buffer[at + 16], buffer[at + 17]]));
            if entry <= NAME_AT {
                break;
            }
            let end = (at + entry).min(length);
            if let Ok(name) = CStr::from_bytes_until_nul(&buffer[at + NAME_AT..end]) {
                if !matches!(name.to_bytes(), b"." | b"..") {
                    each(name)?;
                }
            }
            at += entry;
        }
    }
}
