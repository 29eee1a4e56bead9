//! Whose calls are counted: processes and what they start, commands of a name, or every process but this one.

use std::collections::HashMap;
use std::fs;

use crate::capture::rings::Whose;

/// Whom to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// These processes, and all that they start.
    Processes(Vec<u32>),
    /// Processes whose command has one of these names (at most 15 characters, as the kernel keeps them).
    Commands(Vec<String>),
    /// All but this one.
    Everybody,
}

/// More commands than these are counted together: some programs call each of their processes otherwise.
const MOST_NAMES: usize = 512;
/// The longest name that the kernel keeps.
const LONGEST_NAME: usize = 15;

impl Who {
    /// Who the kernel is to record, by itself. It is not told to leave us out, since that would hold for what we start too.
    pub fn recorded(&self) -> Whose {
        match self {
            Who::Processes(pids) => Whose { pids: pids.clone(), not: Vec::new() },
            Who::Commands(_) | Who::Everybody => Whose::default(),
        }
    }

    /// A condition of the kernel's on these fields, one of which has to have one of the names; "" where none is needed.
    pub fn condition(&self, fields: &[&str]) -> String {
        let Who::Commands(names) = self else { return String::new() };
        let one = |field: &str, name: &String| format!("{field} == \"{}\"", cut(name));
        let all = fields.iter().flat_map(|field| names.iter().map(move |name| one(field, name)));
        all.collect::<Vec<_>>().join(" || ")
    }
}

/// As the kernel keeps it, without what would end its text in a filter.
fn cut(name: &str) -> String {
    let clean = name.chars().filter(|letter| !matches!(letter, '"' | '\\' | '\n' | '*' | '?' | '[' | ']'));
    let mut short: String = clean.collect();
    while short.len() > LONGEST_NAME {
        short.pop();
    }
    short
}

/// A process as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number: that of its first thread.
    pub pid: u32,
    /// The number of its command's name.
    pub name: u32,
    /// Whether it is one of those that are followed.
    pub followed: bool,
}

/// See the module.
pub struct Followed {
    who: Who,
    known: HashMap<u32, Process>,
    /// What was known before: of threads that have ended nothing else is.
    older: HashMap<u32, Process>,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Followed {
    /// These.
    pub fn new(who: Who) -> Followed {
        Followed {
            who,
            known: HashMap::new(),
            older: HashMap::new(),
            names: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The process of a thread; the thread itself, without a name, where it is gone already.
    pub fn process(&mut self, thread: u32) -> Process {
        if let Some(known) = self.known.get(&thread) {
            return known.clone();
        }
        let found = process_of(thread);
        if let Some(ended) = self.older.get(&thread).filter(|_| found.is_none()) {
            return ended.clone();
        }
        let (pid, parent) = found.unwrap_or((thread, 0));
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let comm = comm.trim_end().to_string();
        let followed = match &self.who {
            Who::Processes(pids) => pids.contains(&pid) || is_below(parent, pids),
            Who::Commands(names) => names.iter().any(|name| cut(name) == comm),
            Who::Everybody => pid != std::process::id(),
        };
        let process = Process { pid, name: self.number(comm), followed };
        self.known.insert(thread, process.clone());
        process
    }

    /// A thread began, started by another one of its process. It may be gone before anything else is read of it.
    pub fn born(&mut self, thread: u32, by: u32) {
        let process = self.process(by);
        self.known.insert(thread, process);
    }

    fn number(&mut self, name: String) -> u32 {
        let full = self.names.len() >= MOST_NAMES && !self.numbers.contains_key(&name);
        let name = if full { String::new() } else { name };
        let next = self.names.len() as u32;
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }

    /// A command's name; "" where it could not be read, or came when there were too many.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// Looks at all threads anew: numbers are used again, and commands change their names. What is known of threads that
    /// have ended is kept until the next time, since their last records may still be in the rings.
    pub fn forget(&mut self) {
        self.older = std::mem::take(&mut self.known);
    }
}

/// (process, its parent) of a thread.
fn process_of(thread: u32) -> Option<(u32, u32)> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some((number("Tgid:")?, number("PPid:")?))
}

fn is_below(parent: u32, pids: &[u32]) -> bool {
    let mut above = parent;
    for _ in 0..64 {
        if pids.contains(&above) {
            return true;
        }
        match process_of(above) {
            Some((_, next)) if above > 1 => above = next,
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_followed_with_its_parent_and_by_its_name() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        let asked = |who: Who| {
            let mut followed = Followed::new(who);
            let process = followed.process(pid);
            (followed.name(process.name).to_string(), process.pid, process.followed)
        };
        let below = asked(Who::Processes(vec![std::process::id()]));
        // Until it has become `sleep` the child has the name of this process.
        assert_eq!((below.1, below.2), (pid, true));
        assert!(!asked(Who::Processes(vec![u32::MAX])).2);
        assert!(asked(Who::Everybody).2);
        assert!(!asked(Who::Commands(vec!["postgres".into()])).2);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_thread_that_is_gone_is_of_the_process_that_began_it() {
        let gone = u32::MAX;
        let mut followed = Followed::new(Who::Processes(vec![std::process::id()]));
        assert!(!followed.process(gone).followed, "nothing is known of it");
        followed.born(gone, std::process::id());
        let process = followed.process(gone);
        assert_eq!((process.pid, process.followed), (std::process::id(), true));
        assert!(!followed.name(process.name).is_empty());
    }

    #[test]
    fn a_thread_that_is_gone_is_remembered_until_its_records_are_read() {
        let gone = u32::MAX;
        let mut followed = Followed::new(Who::Processes(vec![std::process::id()]));
        followed.born(gone, std::process::id());
        followed.forget();
        assert!(followed.process(gone).followed, "it ended just before all threads were looked at anew");
        followed.forget();
        assert!(!followed.process(gone).followed, "its number may be that of another one by now");
    }

    #[test]
    fn commands_of_ever_new_names_are_counted_together() {
        let mut followed = Followed::new(Who::Everybody);
        let numbers: Vec<u32> = (0..100_000).map(|at| followed.number(format!("job {at}"))).collect();
        assert_eq!(followed.name(numbers[MOST_NAMES - 1]), "job 511");
        assert!(numbers[MOST_NAMES..].iter().all(|number| followed.name(*number).is_empty()));
        assert_eq!(followed.number("job 7".into()), numbers[7]);
        assert_eq!(followed.names.len(), MOST_NAMES + 1);
    }

    #[test]
    fn the_kernel_records_what_we_start() {
        assert!(Who::Everybody.recorded().not.is_empty(), "our children would be left out with us");
        assert!(Who::Commands(vec!["fio".into()]).recorded().not.is_empty());
        assert_eq!(Who::Processes(vec![7]).recorded().pids, [7]);
    }

    #[test]
    fn a_name_is_cut_as_the_kernel_cuts_it() {
        let who = Who::Commands(vec!["a-very-long-command-name".into(), "x\"y".into()]);
        assert_eq!(who.condition(&["comm"]), "comm == \"a-very-long-com\" || comm == \"xy\"");
        assert_eq!(Who::Everybody.condition(&["comm"]), "");
    }
}
