//! The threads of processes and of all that they have started: the kernel traces threads, people name processes.

use std::collections::{BTreeSet, HashMap};
use std::fs;

/// Threads of these processes, of their children, and of the children of these.
pub fn threads_of(pids: &[u32]) -> BTreeSet<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for pid in numbers("/proc") {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let (mut threads, mut ahead) = (BTreeSet::new(), pids.to_vec());
    while let Some(pid) = ahead.pop() {
        let own: Vec<u32> = numbers(&format!("/proc/{pid}/task")).collect();
        if threads.insert(pid) | !own.is_empty() {
            threads.extend(own);
            ahead.extend(children.remove(&pid).unwrap_or_default());
        }
    }
    threads
}

/// The threads of this process.
pub fn own_threads() -> Vec<u32> {
    numbers("/proc/self/task").collect()
}

fn numbers(folder: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The field after the name in brackets and the state; the name may hold brackets and blanks.
fn parent_of(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn threads_and_children_belong_to_a_process() {
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            let _ = ended.recv();
        });
        let own = told.recv().unwrap();
        let found = threads_of(&[std::process::id()]);
        assert!(found.contains(&std::process::id()) && found.contains(&own) && found.contains(&child.id()));
        assert!(!found.contains(&1));
        assert!(threads_of(&[child.id()]).len() == 1);
        drop(end);
        thread.join().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
