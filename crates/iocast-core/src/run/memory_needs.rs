//! What memory phases need: more than there is refuses them before anything is allocated, as a failed allocation ends
//! the process, and one that succeeds only on paper brings the kernel's killer.

use std::fs::read_to_string;
use std::io;
use std::path::Path;

use memmap2::MmapOptions;

use crate::engine::table::{Threads, asked};
use crate::error::{Error, Result};
use crate::plan::PhasePlan;
use crate::tree::shape::Shape;

/// A histogram while it counts, rounded up.
const RECORDER_BYTES: u64 = 72 << 10;
/// What is kept of an outstanding I/O: slot, lane, ring.
const SLOT_BYTES: u64 = 512;
/// Of an operation in a tree: a list of names, and a piece of what files contain.
const TREE_SLOT_BYTES: u64 = 320 << 10;
const STACK_BYTES: u64 = 576 << 10;
/// Of huge pages: the end of a buffer, and an aligned beginning.
const HUGE_BYTES: u64 = 4 << 20;
const HUGE_FROM_BYTES: u64 = 64 << 10;
/// For all else: results, strings, the stacks of threads that watch.
const SPARE_BYTES: u64 = 64 << 20;

/// Memory that is used, and addresses on top of it that are not.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    memory: u64,
    addresses: u64,
}

fn needs(plan: &PhasePlan) -> Needs {
    let row = asked(&plan.engine).ok().flatten();
    let threads = match row.map(|row| row.threads) {
        Some(Threads::Virtual) => 1,
        Some(Threads::PerIo) => plan.outstanding(),
        Some(Threads::PerUser) | None if plan.tree.is_some() => plan.outstanding(),
        Some(Threads::PerUser) | None => u64::from(plan.users),
    };
    let tally = (2 * plan.classes().len() as u64 + 3) * RECORDER_BYTES;
    let simulated = row.is_some_and(|row| row.virtual_time());
    let moved = if simulated { 0 } else { plan.outstanding().saturating_mul(plan.largest_moved_bytes()) };
    let huge = if moved >= HUGE_FROM_BYTES { HUGE_BYTES } else { 0 };
    let memory = moved.saturating_add(threads * tally + plan.outstanding() * SLOT_BYTES + of_tree(plan));
    Needs { memory, addresses: threads * (STACK_BYTES + huge) }
}

/// Of each file whether it has each of five names, for all users together and for each its share; where users read names and
/// write what files contain; the descriptors of directories.
fn of_tree(plan: &PhasePlan) -> u64 {
    let Some(tree) = &plan.tree else { return 0 };
    let shape = Shape::new(tree);
    let names = if plan.counts_names() { shape.files().saturating_mul(5 * 2) / 8 } else { 0 };
    names + shape.directories() * 4 + plan.outstanding() * TREE_SLOT_BYTES
}

/// Refuses phases that run at once and need more memory than can be had.
pub(crate) fn afford(plans: &[PhasePlan]) -> Result<()> {
    let all = plans.iter().map(needs).fold(Needs::default(), |sum, one| Needs {
        memory: sum.memory.saturating_add(one.memory),
        addresses: sum.addresses.saturating_add(one.addresses),
    });
    let size_bytes = usize::try_from(all.memory).unwrap_or(usize::MAX);
    let refuse = |source: io::Error| Error::Memory { size_bytes, source };
    let available = available_bytes();
    if available.is_some_and(|available| all.memory > available) {
        let why = format!("{} are available", available.unwrap_or(0));
        return Err(refuse(io::Error::new(io::ErrorKind::OutOfMemory, why)));
    }
    let wanted = all.memory.saturating_add(all.addresses).saturating_add(SPARE_BYTES);
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    // Asked for and given back: the limits of this process, of which those who allocate piece by piece hear too late.
    MmapOptions::new().len(wanted).no_reserve_swap().map_anon().map(drop).map_err(refuse)
}

/// What this machine, and the control groups of this process, can still give; `None` where nobody says.
fn available_bytes() -> Option<u64> {
    let meminfo = read_to_string("/proc/meminfo").ok()?;
    let machine = field(&meminfo, "MemAvailable:")?.saturating_mul(1024);
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let root = Path::new("/sys/fs/cgroup");
    let all = group.map(|group| root.join(group));
    let above = all.iter().flat_map(|path| path.ancestors()).take_while(|path| path.starts_with(root));
    Some(above.filter_map(left_in).fold(machine, u64::min))
}

/// What a control group can still take: its limit less what it uses, but for the page cache, which makes room.
fn left_in(group: &Path) -> Option<u64> {
    let number = |name: &str| read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let stat = read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = ["inactive_file", "active_file"].iter().filter_map(|name| field(&stat, name)).sum();
    Some(number("memory.max")?.saturating_sub(number("memory.current")?.saturating_sub(cached)))
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use serde_json::json;

    #[test]
    fn what_no_machine_has_is_refused_before_it_is_allocated() {
        let files = json!([{"path": "f", "start_bytes": 0, "size_bytes": 1u64 << 40}]);
        for engine in ["sync", "uring", "auto"] {
            let huge = plan(json!({"engine": engine, "users": 64, "depth": 16384, "files": files,
                "mix": [{"op": "read", "size_bytes": 1 << 30}]}));
            let refused = afford(&[huge]).unwrap_err();
            assert!(matches!(refused, Error::Memory { .. }), "{refused}");
        }
        assert!(afford(&[plan(json!({}))]).is_ok());
    }

    #[test]
    fn a_figure_is_found_by_its_whole_name() {
        let text = "active_file_x 5\nMemAvailable:  12 kB\nactive_file 7\n";
        assert_eq!((field(text, "MemAvailable:"), field(text, "active_file")), (Some(12), Some(7)));
        assert_eq!(field(text, "inactive_file"), None);
    }
}
