"""What is said of each loss: its rule, how its sentence opens, what would refute it and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class LossWords(NamedTuple):
    """Of a loss: its rule, what opens its sentence, what would refute it and what to do."""

    rule: int
    opens: str
    refuted_by: str
    remedy: str


_SHARED = "Find the other load (top files, other processes), or give each its own device or I/O weight."
WORDS: Final[Mapping[str, LossWords]] = {
    "quota": LossWords(
        1,
        "CPU quota: ",
        "the gap stays with a larger quota",
        "Raise the CPU quota of the control group (cpu.max), or use fewer processes.",
    ),
    "cpu": LossWords(
        1,
        "CPU starvation, not the storage: ",
        "the gap is there while processors are idle",
        "Free processors, or use fewer processes.",
    ),
    "throttle": LossWords(
        2,
        "Throttle above the block layer: ",
        "the gap stays with the limit lifted",
        "Raise the I/O limit of the control group (io.max, blkio.throttle).",
    ),
    "file_system": LossWords(
        2,
        "The file system layer, or a lock in it: ",
        "the gap is there on the bare device, or something outside this machine's control groups limits it",
        "Compare direct I/O to the device with direct I/O to a file; look for writers that lock the same file.",
    ),
    "shared": LossWords(
        3,
        "The queue of the device, shared with others: ",
        "a call takes as long while nobody else uses the device",
        _SHARED,
    ),
    "device_queue": LossWords(
        3,
        "The queue of the device, shared with others: ",
        "the gap stays while nobody else uses the device",
        _SHARED,
    ),
    "device": LossWords(
        4,
        "The device, or what is below it: ",
        "such a time is usual for this device: measure it with `iocast card`",
        "Measure the device alone; look at the array, the path to it and the hypervisor.",
    ),
    "flush": LossWords(
        4,
        "The device, or what is below it: ",
        "a sync call takes as long where this device flushes quickly",
        "Put the log on a device whose write cache is protected against power loss, so that it need not be emptied;"
        " measure the flush alone with `iocast card`.",
    ),
    "journal": LossWords(
        5,
        "The journal of the file system: ",
        "a sync call takes as long in a file system of its own",
        "Put the log on a file system of its own; look for others that sync on this one.",
    ),
    "nfs_slots": LossWords(
        6,
        "The NFS client's queue: ",
        "the wait stays with fewer users",
        "Use more slots or connections (nconnect, tcp_max_slot_table_entries).",
    ),
    "nfs_server": LossWords(
        6,
        "The network or the NFS server: ",
        "I/O on the server itself and the network are quick: compare with its own figures",
        "Look at retransmissions and the share of the link, then at the server.",
    ),
    "engine": LossWords(
        7,
        "The database engine: ",
        "the engine counts several calls as one read (combined or asynchronous I/O)",
        "Look at its locks, its waits for asynchronous I/O, and pinned buffers.",
    ),
    "client_path": LossWords(
        8,
        "The network, or the client: ",
        "a client on the server itself takes as long",
        "Look at the network's round trip, retransmissions and share of the link, then at the driver.",
    ),
    "late_statistics": LossWords(
        9,
        "The database counts ",
        "the reads of the database do not appear when the statement ends",
        "Wait for the statement to end, or look at the system calls of its processes.",
    ),
}
