"""Every key of fio's job files: what it is read as, or why it does nothing here, or why it is refused."""

from __future__ import annotations

from typing import NamedTuple

from iocast.tools.fio.job_options import ALIASES, ONE_BY_ONE, OPTIONS, QUEUEING

# fio's engine -> ours.
ENGINES = {**dict.fromkeys(QUEUEING, "uring"), **dict.fromkeys(ONE_BY_ONE, "sync")}
NEAREST_ENGINE = {
    "mmap": "psync with direct=0: both use the page cache",
    "io_uring_cmd": "io_uring, which goes through the block layer",
    "sg": "io_uring on the block device",
    "xnvme": "io_uring",
    "libblkio": "io_uring",
    "null": "any other engine, with a simulated device as PATH, such as sim:nvme",
    "net": "none: iocast measures storage only",
    "netsplice": "none: iocast measures storage only",
    "rados": "io_uring on a mapped device (rbd map)",
    "rbd": "io_uring on a mapped device (rbd map)",
    "nfs": "psync or io_uring on the mounted file system",
    "windowsaio": "io_uring",
    "solarisaio": "io_uring",
}

_LOGS = "the run folder keeps histograms for every second of every phase"
_HISTOGRAMS = "full histograms are kept, so any percentile can be computed later"
_TIMING = "every I/O is timed"
_BATCHES = "the engine batches submissions itself"
_FILES = "work files are laid out and fully written before anything is measured"
_ERRORS = "errors are counted and shown, and the phase continues"
_SEED = "the same --seed gives the same offsets"
_SEALED = "iocast seals every sector itself, with its offset and the order of the writes"
_READ_BACK = "everything is read back; every bad block is counted and named, and the exit code is 1"
_REPLAYING = "it belongs to read_iolog"
_DEDUPING = "it belongs to dedupe_percentage"
_STEADY = "the end of the warm-up is detected from the data"

# What means the same here with it and without it, so that nothing needs saying.
SILENT = frozenset(
    ("thread", "group_reporting", "new_group", "norandommap", "softrandommap", "rate_cycle", "unit_base", "directory")
)

# What is read (fio_sections.py), in the order of the guide.
READ = tuple(key for key in OPTIONS if key not in SILENT)

# What does nothing here -> what is so instead.
NOTED = {
    **dict.fromkeys(
        (
            *("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log", "bwavgtime", "iopsavgtime"),
            *("log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset", "log_prio"),
            *("log_entries", "log_compression", "log_compression_cpus", "log_store_compressed", "log_unix_epoch"),
            *("log_alternate_epoch", "log_alternate_epoch_clock_id", "log_window_value", "per_job_logs"),
        ),
        _LOGS,
    ),
    "write_iolog": "individual I/Os are not logged",
    "disk_util": "every run samples the device counters",
    **dict.fromkeys(
        (
            *("clat_percentiles", "lat_percentiles", "slat_percentiles", "percentile_list", "significant_figures"),
            *("unified_rw_reporting", "block_error_percentiles"),
        ),
        _HISTOGRAMS,
    ),
    **dict.fromkeys(
        (
            *("clocksource", "gtod_reduce", "gtod_cpu", "disable_lat", "disable_clat", "disable_slat"),
            "disable_bw_measurement",
        ),
        _TIMING,
    ),
    **dict.fromkeys(
        (
            *("iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max"),
            *("fixedbufs", "registerfiles", "nonvectored", "force_async", "userspace_reap"),
        ),
        _BATCHES,
    ),
    "io_submit_mode": "response time counts from the moment an I/O was due",
    **dict.fromkeys(
        (
            *("overwrite", "fallocate", "create_serialize", "create_fsync", "create_on_open", "allow_file_create"),
            *("filename_format", "unique_filename", "openfiles"),
        ),
        _FILES,
    ),
    **dict.fromkeys(("unlink", "unlink_each_loop"), "work files are kept for the next run; iocast clean removes them"),
    **dict.fromkeys(("end_fsync", "fsync_on_close"), "iocast does not flush after a phase"),
    "invalidate": "the page cache is not dropped; the card shows what it answered",
    "fadvise_hint": "iocast gives the kernel no access hints",
    **dict.fromkeys(("mem", "mem_align", "hugepage-size"), "iocast uses anonymous memory, aligned for the device"),
    **dict.fromkeys(("randrepeat", "allrandrepeat", "randseed"), _SEED),
    "random_generator": "iocast has its own random generator",
    **dict.fromkeys(("continue_on_error", "ignore_error", "error_dump", "exitall_on_error"), _ERRORS),
    **dict.fromkeys(("exitall", "exit_what"), "each phase has its own length"),
    **dict.fromkeys(("dedupe_mode", "dedupe_working_set_percentage", "dedupe_global"), _DEDUPING),
    "buffer_compress_chunk": "each 4 KiB block is compressible by itself",
    "rwmixcycle": "each I/O is drawn as read or write independently; fio has deprecated this key",
    "rw_sequencer": "it belongs to rw with a number, such as randread:8",
    "rate_ignore_thinktime": "a rate with thinktime is refused",
    "thinktime_blocks_type": "iocast pauses after every I/O",
    "allow_mounted_write": "iocast writes only to files it made itself",
    **dict.fromkeys(
        ("verify_offset", "verify_header_seed", "verify_write_sequence", "experimental_verify"),
        _SEALED,
    ),
    **dict.fromkeys(("verify_fatal", "verify_dump", "verify_async", "verify_async_cpus"), _READ_BACK),
    "verify_backlog_batch": "it belongs to verify_backlog",
    "verify_state_save": "the run folder keeps the journal of what was written",
    **dict.fromkeys(
        (
            *("read_iolog_chunked", "replay_no_stall", "replay_redirect", "replay_scale", "replay_align"),
            *("replay_time_scale", "replay_skip", "merge_blktrace_file", "merge_blktrace_scalars"),
            "merge_blktrace_iters",
        ),
        _REPLAYING,
    ),
    "steadystate_ramp_time": _STEADY,
    "trim_verify_zero": "it belongs to trim_percentage",
    "trim_backlog": "it belongs to trim_percentage",
    "trim_backlog_batch": "it belongs to trim_percentage",
    "cgroup_nodelete": "it belongs to cgroup",
    **dict.fromkeys(("latency_window", "latency_percentile", "latency_run"), "it belongs to latency_target"),
    **dict.fromkeys(("flow_id", "flow_sleep", "flow_watermark"), "it belongs to flow"),
    **dict.fromkeys(("cpus_allowed_policy",), "it belongs to cpus_allowed"),
}


class Refusal(NamedTuple):
    """Why a key is refused, the way out, and the values with which it says nothing."""

    why: str
    way_out: str
    inert: tuple[str, ...] = ("0",)


_LATER = Refusal(
    "an earlier run is verified with the journal in its run folder",
    "verify=crc32c in the section that writes, then iocast verify RUN",
)
_NO_TRIM = Refusal("verified data is not trimmed", "a section with rw=trim or rw=randtrim")
_NO_ZONES = Refusal("zones are not supported", "offset and size say which part is used")
_LEVELS = Refusal(
    "iocast does not search for a queue depth", "write a section for each iodepth; the card shows where it bends"
)
_PLACED = Refusal("iocast does not pin threads to CPUs", "taskset -c CPUS iocast run ...")
_NUMA = Refusal("iocast does not set NUMA placement", "numactl OPTIONS iocast run ...")
_PRIORITY = Refusal("iocast does not change I/O priorities", "ionice -c CLASS -n LEVEL iocast run ...")
_COMMANDS = Refusal("job files cannot run commands", "run it before, or after, iocast", ())
_ENDS = Refusal("iocast does not end a phase because it is slow", "leave it out: the card shows what was reached")
_POLLING = Refusal("polling is on or off for all I/Os, on any CPU", "sqthread_poll or hipri alone")
_QUEUE = Refusal("iocast always keeps the queue full", "leave it out")
_FLOW = Refusal(
    "sections do not balance I/Os between each other", "rw=randrw with rwmixread holds two kinds of I/O together"
)
_SHAPE = Refusal("I/Os are aligned to their size", "leave it out")
_REPLAY = Refusal("iocast cannot replay traces yet", "describe the load with rw, bs, iodepth and rate_iops", ())

REFUSED = {
    "verify_only": _LATER,
    "verify_state_load": _LATER,
    "verify_pattern": Refusal("every sector is sealed, so all sectors differ", "leave it out", ()),
    "verify_backlog": Refusal("iocast reads back after the section, not during it", "leave it out"),
    "trim_percentage": _NO_TRIM,
    "zonemode": _NO_ZONES._replace(inert=("none",)),
    **dict.fromkeys(
        (
            *("zonesize", "zonecapacity", "zonerange", "zoneskip", "read_beyond_wp", "max_open_zones"),
            *("job_max_open_zones", "ignore_zone_limits", "zone_reset_threshold", "zone_reset_frequency"),
            "initial_zone_reset",
        ),
        _NO_ZONES,
    ),
    "write_barrier": Refusal("iocast has no write barriers", "nearest: fsync=N"),
    "sync_file_range": Refusal("iocast does not call sync_file_range", "nearest: fsync=N"),
    "percentage_random": Refusal(
        "a pattern is either random or sequential, not a mix", "two sections with a stonewall, or bssplit", ("100",)
    ),
    "read_iolog": _REPLAY,
    "latency_target": _LEVELS,
    "max_latency": _ENDS,
    "rate_min": _ENDS,
    "rate_iops_min": _ENDS,
    "iodepth_low": _QUEUE,
    "serialize_overlap": Refusal("iocast does not serialise overlapping I/Os", "leave it out"),
    "startdelay": Refusal("phases follow each other without a pause", "leave it out"),
    "thinktime_spin": Refusal("users sleep while they wait", "leave it out: thinktime alone waits as long"),
    "thinktime_iotime": Refusal("iocast pauses after every I/O or not at all", "leave it out"),
    "ba": _SHAPE._replace(inert=()),
    "bs_unaligned": _SHAPE,
    "bs_is_seq_rand": Refusal("a pattern is either random or sequential, not a mix", "leave it out"),
    "atomic": Refusal("iocast does not issue atomic writes", "leave it out"),
    "buffer_pattern": Refusal(
        "custom data patterns are not supported", "nearest: zero_buffers=1, or scramble_buffers=0 (one block again)"
    ),
    "file_append": Refusal("files do not grow: they are laid out in advance", "leave it out"),
    "fill_device": Refusal("iocast never fills a file system", "give size"),
    "create_only": Refusal("files are laid out when they are needed", "leave it out"),
    "opendir": Refusal("iocast does not search for existing files", "leave it out: iocast lays out its own", ()),
    "pre_read": Refusal("iocast does not pre-read files", "a section with rw=read and stats=0 before it does the same"),
    "lockfile": Refusal("iocast does not lock files", "leave it out", ("none",)),
    "lockmem": Refusal("iocast does not lock memory", "run in a cgroup with less memory"),
    "write_hint": Refusal("iocast sets no write-life hints", "leave it out", ("none",)),
    "cpumask": _PLACED,
    "cpus_allowed": _PLACED._replace(inert=()),
    "numa_cpu_nodes": _NUMA._replace(inert=()),
    "numa_mem_policy": _NUMA._replace(inert=("default",)),
    "nice": Refusal("iocast does not change its priority", "nice -n LEVEL iocast run ..."),
    **dict.fromkeys(
        (
            *("prio", "prioclass", "cmdprio", "cmdprio_percentage", "cmdprio_class", "cmdprio_split"),
            "cmdprio_bssplit",
        ),
        _PRIORITY,
    ),
    "cgroup": Refusal("iocast does not change its cgroup", "systemd-run --scope iocast run ...", ()),
    "cgroup_weight": Refusal("iocast does not change its cgroup", "systemd-run --scope iocast run ..."),
    "uid": Refusal("iocast does not change its user", "run it as that user", ()),
    "gid": Refusal("iocast does not change its group", "run it as that group", ()),
    "ioscheduler": Refusal("iocast does not change the machine", "set it yourself before the run", ()),
    "exec_prerun": _COMMANDS,
    "exec_postrun": _COMMANDS,
    "profile": Refusal("fio's built-in profiles are not supported", "write their settings", ()),
    "flow": _FLOW,
    **dict.fromkeys(("hipri_percentage", "sqthread_poll_cpu"), _POLLING),
    "uncached": Refusal("direct is the only choice of cache for reads and writes", "direct=1", ("0",)),
}

KNOWN = frozenset((*READ, "bsrange", *SILENT, *NOTED, *REFUSED, *ALIASES))
