"""Names of the observers and of the counters that they sample: a folder of runs is read by these names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# Observers of the machine, and programs whose reports are read.
DISKSTATS: Final = "diskstats"
PAGECACHE: Final = "pagecache"
CPU: Final = "cpu"
PRESSURE: Final = "pressure"
LIMITS: Final = "limits"
MAINTENANCE: Final = "maintenance"
BLOCK: Final = "block"
SLABS: Final = "slabs"  # of names and inodes: cache

# A live watch itself: a sample before those of each of its moments.
WATCH: Final = "watch"
TICK: Final = "tick"
# Observers of a live watch. The layers of the kernel share one watch, `kernel_layers`, which tells what it lost.
KERNEL_LAYERS: Final = "kernel_layers"
BLOCK_LAYER: Final = "block_layer"  # device|clock|operation|size class
SYSTEM_CALLS: Final = "system_calls"  # command|call|size class
CALLS_BY_PROCESS: Final = "calls_by_process"  # pid|command|call
CALLS_BY_FILE: Final = "calls_by_file"  # call|path
CALLS_BY_DEVICE: Final = "calls_by_device"  # devices that the files stand on, with commas between them|call
DEVICES_BELOW: Final = "devices_below"  # device|the next watched device below it
RUN_DELAYS: Final = "run_delays"  # command
PROCESSES: Final = "processes"  # pid|command
NFS_CLIENT: Final = "nfs_client"  # mount point|operation, and mount point
NETWORK: Final = "network"  # interface, and "tcp"
THROTTLING: Final = "throttling"  # control group, and control group|device
# Those of single processes and files: nearly all samples of a busy machine, and of ever new subjects.
OF_SINGLE_ONES: Final = frozenset({PROCESSES, CALLS_BY_PROCESS, CALLS_BY_FILE})

# A block device since boot. Requests, bytes, and sums of times over requests.
READS: Final = "reads"
READS_MERGED: Final = "reads_merged"
READ_BYTES: Final = "read_bytes"
READ_NS: Final = "read_ns"
WRITES: Final = "writes"
WRITES_MERGED: Final = "writes_merged"
WRITTEN_BYTES: Final = "written_bytes"
WRITE_NS: Final = "write_ns"
IN_FLIGHT: Final = "in_flight"  # of this instant, not a counter
BUSY_NS: Final = "busy_ns"  # in which the device had anything to do
QUEUE_NS: Final = "queue_ns"  # of all requests together
DISCARDS: Final = "discards"
DISCARDS_MERGED: Final = "discards_merged"
DISCARDED_BYTES: Final = "discarded_bytes"
DISCARD_NS: Final = "discard_ns"
FLUSHES: Final = "flushes"
FLUSH_NS: Final = "flush_ns"

# The kernel prints these times as 32-bit milliseconds (Documentation/admin-guide/iostats.rst), so they start again
# after 49.7 days of I/O time; its other counters are 64 bits wide and never do.
DEVICE_TIME_PERIOD_NS: Final = 2**32 * 1_000_000
PERIODS: Final[Mapping[str, int]] = dict.fromkeys(
    (READ_NS, WRITE_NS, BUSY_NS, QUEUE_NS, DISCARD_NS, FLUSH_NS), DEVICE_TIME_PERIOD_NS
)

# A file in the page cache, and the memory of the machine: bytes of this instant.
FILE_BYTES: Final = "file_bytes"
CACHED_BYTES: Final = "cached_bytes"
DIRTY_BYTES: Final = "dirty_bytes"
WRITEBACK_BYTES: Final = "writeback_bytes"
AVAILABLE_BYTES: Final = "available_bytes"
BY_MINCORE: Final = "by_mincore"  # 1 when mincore was asked, which knows cached bytes only

# All processors together, since boot.
USER_NS: Final = "user_ns"
SYSTEM_NS: Final = "system_ns"
IDLE_NS: Final = "idle_ns"
IOWAIT_NS: Final = "iowait_ns"
STEAL_NS: Final = "steal_ns"
CONTEXT_SWITCHES: Final = "context_switches"
CPU_TIMES: Final = (USER_NS, SYSTEM_NS, IDLE_NS, IOWAIT_NS, STEAL_NS)

# Pressure: the time in which some task waited, and in which all did, since boot.
SOME_NS: Final = "some_ns"
FULL_NS: Final = "full_ns"

# Rates and means of an interval, as iostat and sar print them of a device.
IOS_PER_S: Final = "ios_per_s"
READS_PER_S: Final = "reads_per_s"
WRITES_PER_S: Final = "writes_per_s"
DISCARDS_PER_S: Final = "discards_per_s"
FLUSHES_PER_S: Final = "flushes_per_s"
READ_MERGES_PER_S: Final = "read_merges_per_s"
WRITE_MERGES_PER_S: Final = "write_merges_per_s"
DISCARD_MERGES_PER_S: Final = "discard_merges_per_s"
MERGES_PER_S: Final = "merges_per_s"
BYTES_PER_S: Final = "bytes_per_s"
DISCARD_BYTES_PER_S: Final = "discard_bytes_per_s"
SIZE_BYTES: Final = "size_bytes"
OBJECTS: Final = "objects"  # of a slab cache, in use
READ_SIZE_BYTES: Final = "read_size_bytes"
WRITE_SIZE_BYTES: Final = "write_size_bytes"
DISCARD_SIZE_BYTES: Final = "discard_size_bytes"
QUEUE_MEAN: Final = "queue_mean"
AWAIT_NS: Final = "await_ns"
READ_AWAIT_NS: Final = "read_await_ns"
WRITE_AWAIT_NS: Final = "write_await_ns"
DISCARD_AWAIT_NS: Final = "discard_await_ns"
FLUSH_AWAIT_NS: Final = "flush_await_ns"
UTIL_PERCENT: Final = "util_percent"
ASKED_DEPTH: Final = "asked_depth"
TASKS: Final = "tasks"

# Mean times of an interval of a log of fio: from the start of submission, and from its end.
LAT_NS: Final = "lat_ns"
CLAT_NS: Final = "clat_ns"

# Totals of a load under way.
IOS: Final = "ios"
BYTES: Final = "bytes"

# Latencies as counts: a source keeps its own buckets, and each is a counter named by its exclusive upper bound.
COUNT: Final = "count"
SUM_NS: Final = "sum_ns"
_BELOW: Final = "lt_"
NO_BOUND: Final = "lt_none"  # of the last bucket, which has no upper bound


def bucket(upper_ns: int) -> str:
    """The counter of the latencies below a bound, and not below the one before: `lt_8000ns`."""
    return f"{_BELOW}{upper_ns}ns"


@lru_cache(maxsize=4096)  # a live screen asks for each bucket of each layer every second
def bucket_upper_ns(metric: str) -> int | None:
    """The bound of such a counter; None for all others, and for the bucket without a bound."""
    bound = metric.removeprefix(_BELOW).removesuffix("ns")
    return int(bound) if metric == f"{_BELOW}{bound}ns" and bound.isascii() and bound.isdigit() else None


# Records of LatencyMap tools: the observer of their counts, whose subject is their label.
LATENCY_MAP: Final = "latency_map"
# Screens of ioh.sh: direction|layer, and "tcp".
IOH: Final = "ioh"

# When a source began to count: ns since 1970, as it says itself, sampled with the counters: of the subject "" for all
# subjects of the observer, of a subject for itself. Another epoch than before: what lies between is unknown. Counters
# of an observer with an epoch never go back, and a subject that is not listed at a sample stands at nought.
EPOCH: Final = "epoch_ns"

# Sessions that are looked at many times a second, and what each was found doing: counters of our own. The observer is
# named after the database: `postgresql.waits`.
WAITS: Final = "waits"  # of a `type|event`; CPU is one
ACTIVE_SQL: Final = "active_sql"
SESSIONS: Final = "sessions"
SESSION_WAITS: Final = "session_waits"  # of a `session|type|event`
ANSWER: Final = "answer"  # whether the server answers: how long it has not
SILENT_NS: Final = "silent_ns"  # of this instant, where it does not
SAMPLES: Final = "samples"  # how often a subject was found active
POLLS: Final = "polls"  # how often was looked, of the subject ""
ON_CPU: Final = "CPU"  # the event of a session that waits for nothing
# What subjects of several parts are joined by, and the size class above the largest one.
PART: Final = "|"
ABOVE: Final = ">1048576"
FAILED: Final = "failed"  # of `count`

# The load itself, while layers are recorded beside it: its command, and its `pid`.
LOAD: Final = "load"
PID: Final = "pid"
# What a watch on the layers says of itself.
TRACED_NS: Final = "traced_ns"  # the time in which what began was counted: above a budget that is done in windows
LOST_EVENTS: Final = "lost_events"
EVENTS: Final = "events"
READER_CPU_NS: Final = "reader_cpu_ns"
FOLLOWED: Final = "followed"  # processes that were named, of this instant; 0: everybody is
DEPTH: Final = "depth"  # of a device below another: 1
UNPAIRED: Final = "unpaired"  # began before the watch
GIVEN_UP: Final = "given_up"  # under way when records were lost

# A process: /proc/PID/io by the kernel's names, and /proc/PID/schedstat of all its threads.
RCHAR: Final = "rchar"
WCHAR: Final = "wchar"
SYSCR: Final = "syscr"
SYSCW: Final = "syscw"
WRITE_BYTES: Final = "write_bytes"
CANCELLED_WRITE_BYTES: Final = "cancelled_write_bytes"
MAJOR_FAULTS: Final = "major_faults"  # /proc/PID/stat: faults that waited for I/O
AIO_CONTEXTS: Final = "aio_contexts"  # of this instant: rings of libaio that it has mapped
RUN_NS: Final = "run_ns"
RUN_DELAY_NS: Final = "run_delay_ns"
TIMESLICES: Final = "timeslices"

# An operation of an NFS client: /proc/PID/mountstats by its own names. `queue_ns` waits for a slot; it may be negative.
OPS: Final = "ops"
NTRANS: Final = "ntrans"
TIMEOUTS: Final = "timeouts"
BYTES_SENT: Final = "bytes_sent"
BYTES_RECV: Final = "bytes_recv"
RTT_NS: Final = "rtt_ns"
EXE_NS: Final = "exe_ns"
ERRORS: Final = "errors"

# A network interface, and TCP of the whole machine.
RX_BYTES: Final = "rx_bytes"
RX_PACKETS: Final = "rx_packets"
RX_ERRORS: Final = "rx_errors"
RX_DROPPED: Final = "rx_dropped"
TX_BYTES: Final = "tx_bytes"
TX_PACKETS: Final = "tx_packets"
TX_ERRORS: Final = "tx_errors"
TX_DROPPED: Final = "tx_dropped"
LINK_BYTES_PER_S: Final = "link_bytes_per_s"  # of each direction
IN_SEGMENTS: Final = "in_segments"
OUT_SEGMENTS: Final = "out_segments"
RETRANSMITTED: Final = "retransmitted_segments"
RETRANSMITTED_BYTES: Final = "retransmitted_bytes"  # of ioh.sh
IN_DISCARDS: Final = "in_discards"  # IP packets dropped because a buffer was full
TCP_TIMEOUTS: Final = "tcp_timeouts"
LOST_RETRANSMITS: Final = "lost_retransmits"

# Throttling of a control group: its CPU quota, and what it did at each device.
PERIODS_OF_QUOTA: Final = "periods"
THROTTLED_PERIODS: Final = "throttled_periods"
THROTTLED_NS: Final = "throttled_ns"

# Limits of a control group.
READ_BYTES_PER_S: Final = "read_bytes_per_s"
WRITE_BYTES_PER_S: Final = "write_bytes_per_s"
READ_IOS_PER_S: Final = "read_ios_per_s"
WRITE_IOS_PER_S: Final = "write_ios_per_s"
LIMITED: Final[Mapping[str, tuple[str, str]]] = {  # the operation and the total that each of them limits
    READ_BYTES_PER_S: ("read", BYTES),
    WRITE_BYTES_PER_S: ("write", BYTES),
    READ_IOS_PER_S: ("read", IOS),
    WRITE_IOS_PER_S: ("write", IOS),
}

# Work that storage does for itself: 1 while it does. md and btrfs append what exactly.
MD: Final = "md"
MD_SYNC: Final = "md_sync"
BTRFS: Final = "btrfs"
BTRFS_BALANCE: Final = "btrfs_balance"
BTRFS_SCRUB: Final = "btrfs_scrub"
ZFS: Final = "zfs"
ZFS_DEGRADED: Final = "zfs_degraded"
LVM: Final = "lvm"
LVM_PVMOVE: Final = "lvm_pvmove"
LVM_RESYNC: Final = "lvm_resync"
LVM_MERGE: Final = "lvm_snapshot_merge"
HOT: Final = "hot"
