//! Which file a descriptor is, how it was opened and where it stands, as far as a trace of calls shows it.

use std::collections::HashMap;

use crate::trace::event::flags;

/// Processes, and open files, that are remembered; beyond that all is forgotten and counts as unknown.
const AT_MOST: usize = 1 << 16;

/// An open file; descriptors that were duplicated or inherited share one.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenFile {
    /// Number of its name.
    pub target: Option<u32>,
    /// Bits of its I/Os: direct.
    pub flags: u16,
    /// Bits of its writes: sync, fua, append.
    pub of_writes: u16,
    /// Where the next read or write begins; None is unknown.
    pub position: Option<i64>,
    sharers: u32,
}

impl OpenFile {
    /// As an open call with these flags (`O_RDWR|O_DIRECT`) leaves it.
    pub fn opened(target: Option<u32>, text: &[u8]) -> OpenFile {
        let mut file = OpenFile { target, position: Some(0), ..OpenFile::default() };
        for flag in text.split(|byte| *byte == b'|') {
            match flag {
                b"O_DIRECT" => file.flags |= flags::DIRECT,
                b"O_SYNC" | b"O_DSYNC" | b"__O_SYNC" => file.of_writes |= flags::SYNC | flags::FUA,
                b"O_APPEND" => file.of_writes |= flags::APPEND,
                _ => {}
            }
        }
        file
    }
}

/// The descriptors of all processes of a trace.
#[derive(Debug, Default)]
pub struct Descriptors {
    tables: Vec<HashMap<i64, usize>>,
    files: Vec<OpenFile>,
    free: Vec<usize>,
    table_of: HashMap<Vec<u8>, usize>,
    /// Processes whose beginning was not seen: they may share files with others out of sight.
    strangers: usize,
}

impl Descriptors {
    /// The file of a descriptor, if its opening was seen.
    pub fn file(&mut self, pid: &[u8], number: i64) -> Option<&mut OpenFile> {
        let table = self.table(pid);
        let at = *self.tables[table].get(&number)?;
        self.files.get_mut(at)
    }

    /// Whether positions can be followed: with two processes of unknown origin a file may move unseen.
    pub fn positions_hold(&self) -> bool {
        self.strangers < 2
    }

    /// A descriptor of a new open file.
    pub fn open(&mut self, pid: &[u8], number: i64, file: OpenFile) {
        self.close(pid, number);
        if self.files.len() - self.free.len() >= AT_MOST {
            self.forget();
        }
        let file = OpenFile { sharers: 1, ..file };
        let at = match self.free.pop() {
            Some(at) => {
                self.files[at] = file;
                at
            }
            None => {
                self.files.push(file);
                self.files.len() - 1
            }
        };
        let table = self.table(pid);
        self.tables[table].insert(number, at);
    }

    /// The descriptor is another one's file from now on.
    pub fn duplicate(&mut self, pid: &[u8], from: i64, to: i64) {
        let table = self.table(pid);
        let shared = self.tables[table].get(&from).copied();
        if from != to {
            self.close(pid, to);
        }
        if let (Some(at), true) = (shared, from != to) {
            self.files[at].sharers += 1;
            self.tables[table].insert(to, at);
        }
    }

    /// The descriptor is nobody's.
    pub fn close(&mut self, pid: &[u8], number: i64) {
        let table = self.table(pid);
        if let Some(at) = self.tables[table].remove(&number) {
            self.release(at);
        }
    }

    fn release(&mut self, at: usize) {
        self.files[at].sharers = self.files[at].sharers.saturating_sub(1);
        if self.files[at].sharers == 0 {
            self.free.push(at);
        }
    }

    /// A new thread (it shares the table) or process (it has a copy that shares the files).
    pub fn fork(&mut self, parent: &[u8], child: &[u8], thread: bool) {
        let from = self.table(parent);
        let mut own = HashMap::new();
        if let Some(known) = self.table_of.get(child).copied() {
            if known == from {
                return;
            }
            // Its lines came before its parent's return: it counted as a stranger.
            self.strangers = self.strangers.saturating_sub(1);
            own = std::mem::take(&mut self.tables[known]);
        }
        let table = if thread {
            from
        } else {
            let copy = self.tables[from].clone();
            copy.values().for_each(|at| self.files[*at].sharers += 1);
            self.tables.push(copy);
            self.tables.len() - 1
        };
        for (number, at) in own {
            if let Some(inherited) = self.tables[table].insert(number, at) {
                self.release(inherited);
            }
        }
        self.table_of.insert(child.to_vec(), table);
    }

    /// A child may run that the trace does not show: nothing is known of positions any more.
    pub fn lose_positions(&mut self) {
        self.files.iter_mut().for_each(|file| file.position = None);
    }

    fn table(&mut self, pid: &[u8]) -> usize {
        if let Some(table) = self.table_of.get(pid) {
            return *table;
        }
        if self.table_of.len() >= AT_MOST || self.tables.len() >= AT_MOST {
            self.forget();
        }
        self.strangers += 1;
        self.tables.push(HashMap::new());
        self.table_of.insert(pid.to_vec(), self.tables.len() - 1);
        self.tables.len() - 1
    }

    fn forget(&mut self) {
        *self = Descriptors { strangers: 2, ..Descriptors::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_and_children_move_one_position() {
        let mut all = Descriptors::default();
        all.open(b"1", 3, OpenFile::opened(Some(7), b"O_RDWR|O_DIRECT|O_DSYNC"));
        all.duplicate(b"1", 3, 4);
        all.fork(b"1", b"2", false);
        all.file(b"2", 4).unwrap().position = Some(100);
        assert_eq!(all.file(b"1", 3).unwrap().position, Some(100));
        all.close(b"1", 3);
        assert!(all.file(b"1", 3).is_none());
        let left = all.file(b"2", 3).unwrap();
        assert_eq!(
            (left.target, left.flags, left.of_writes),
            (Some(7), flags::DIRECT, flags::SYNC | flags::FUA)
        );
        assert!(all.positions_hold());
    }

    #[test]
    fn a_thread_shares_its_table_and_a_second_stranger_ends_certainty() {
        let mut all = Descriptors::default();
        all.open(b"1", 3, OpenFile::default());
        all.fork(b"1", b"2", true);
        all.close(b"2", 3);
        assert!(all.file(b"1", 3).is_none() && all.positions_hold());
        assert!(all.file(b"9", 3).is_none() && !all.positions_hold());
    }

    #[test]
    fn a_program_that_never_closes_stays_in_bounds() {
        let mut all = Descriptors::default();
        for number in 0..200_000 {
            all.open(b"1", number, OpenFile::default());
        }
        assert!(all.files.len() <= AT_MOST);
    }
}
