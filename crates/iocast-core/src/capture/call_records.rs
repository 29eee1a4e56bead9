//! Records of the two tracepoints of system calls, in order of time, as the kernel's `format` files describe them.

use super::rings::Rings;
use crate::blk::instance;
use crate::blk::layout::{Field, field};
use crate::error::Result;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A call begins.
    Enter {
        /// Whose.
        thread: u32,
        /// Which call.
        number: i64,
        /// What it was given.
        args: [u64; 6],
    },
    /// A call ends.
    Exit {
        /// Whose.
        thread: u32,
        /// Which call.
        number: i64,
        /// What it returns; below 0 an error.
        result: i64,
    },
}

/// See the module.
pub struct CallRecords {
    enter: u64,
    exit: u64,
    pid: Field,
    number: Field,
    args: Field,
    result: Field,
    waiting: Vec<(u64, Seen)>,
}

impl CallRecords {
    /// Adds both tracepoints to the rings: calls that pass the kernel's filter. The end of calls is switched on first.
    pub fn listen(rings: &mut Rings, filter: &str) -> Result<CallRecords> {
        let missing = || instance::unknown("raw_syscalls");
        let exit = rings.add("raw_syscalls/sys_exit", filter)?.ok_or_else(missing)?;
        let enter = rings.add("raw_syscalls/sys_enter", filter)?.ok_or_else(missing)?;
        let named = |text: &str, name: &str| text.lines().find_map(|line| field(line, name));
        let found = || {
            Some(CallRecords {
                enter: id_of(&enter)?,
                exit: id_of(&exit)?,
                pid: named(&enter, "common_pid")?,
                number: named(&enter, "id")?,
                args: named(&enter, "args")?,
                result: named(&exit, "ret")?,
                waiting: Vec::new(),
            })
        };
        found().ok_or_else(missing)
    }

    /// Takes what was recorded; hands over what happened before `until_ns`. Records of other tracepoints go to `other`
    /// with their time, processor by processor.
    pub fn read(
        &mut self,
        rings: &mut Rings,
        until_ns: u64,
        other: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<Vec<(u64, Seen)>> {
        let mut waiting = std::mem::take(&mut self.waiting);
        rings.read(until_ns, &mut |at_ns, record| match self.seen(record) {
            Some(seen) => waiting.push((at_ns, seen)),
            None => other(at_ns, record),
        })?;
        waiting.sort_by_key(|(at_ns, _)| *at_ns); // stable: an exit follows its entry on one processor
        let ready = waiting.partition_point(|(at_ns, _)| *at_ns < until_ns);
        self.waiting = waiting.split_off(ready);
        Ok(waiting)
    }

    fn seen(&self, record: &[u8]) -> Option<Seen> {
        let id = u64::from(u16::from_le_bytes(record.get(..2)?.try_into().ok()?));
        if id != self.exit && id != self.enter {
            return None;
        }
        let (thread, number) = (self.pid.number(record)? as u32, self.number.number(record)? as i64);
        if id == self.exit {
            return Some(Seen::Exit { thread, number, result: self.result.number(record)? as i64 });
        }
        let mut args = [0; 6];
        for (argument, bytes) in args.iter_mut().zip(self.args.bytes(record)?.chunks_exact(8)) {
            *argument = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        Some(Seen::Enter { thread, number, args })
    }
}

/// The number that the kernel gave a tracepoint since it booted, from the text of its `format` file.
pub fn id_of(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()
}
