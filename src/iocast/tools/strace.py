"""strace: the reads, writes and flushes of a program, as its system calls.

What it is: lines such as "pwrite64(259, "..."..., 1024, 2891776) = 1024 <0.000045>" of strace, on the terminal or by
-o, with or without -f, -y, -T and -t to -ttt.
What is read: pread, pwrite, read, write and their vectored kinds, fsync, fdatasync: a row for each file and operation,
by size; how an open call opened the file (O_DIRECT, O_SYNC, O_DSYNC); order from the offsets; times with -T. Beside
the request size at the device (iostat, /proc/diskstats) the sizes show what was split or merged on the way. Of
io_submit and io_getevents the requests of each file with their sizes, how many were handed over and taken at a time,
and how long was waited: of none of them is that the latency. Also as slides have these calls, and as strace printed
them before 4.14 (sizes are those of the results then).
What it cannot see: io_uring, pages that were mapped, what the page cache answered, which result of io_getevents is of
which request. strace slows every call: its times and rates do not measure the storage.
What is refused: sizes, offsets and times that are not numbers; a trace without such calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast.model.histogram import Histogram, bucket_index
from iocast.model.measurement import ErrorCount
from iocast.model.run import Run, Source
from iocast.model.workload import Locality, Op, Sequential, Sync, Uniform, Unstated
from iocast.text import brief_time, counted, size
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

SLOWED = "strace slows every call down: times and rates are those of the traced program, not of the storage."
LEAST_CALLS = 10  # [J] of a file that is only read or written from where it stands: less is start-up
MOST_SIZES = 16  # of a row
IN_ORDER = 0.9  # [J] of the I/Os begin where the one before them ended
PART_LINES = 10_000  # that the core is given at once
NO_STORAGE = ("/dev/null", "/dev/tty", "/dev/pts/", "/proc/", "/sys/", "pipe:", "socket:", "anon_inode:", "TCP", "UNIX")


class Call(Struct, frozen=True):
    """One system call on a file, as the core read it. None: the line does not say."""

    op: Literal["read", "write", "fsync", "fdatasync"]
    fd: int
    path: str
    flags: tuple[str, ...] | None  # with which it was opened
    size_bytes: int | None  # as asked for
    offset: int | None
    done_bytes: int | None
    error: str
    took_ns: int | None
    at_ns: int | None  # when it began, by the clock of the trace
    pid: str


class Batch(Struct, frozen=True):
    """One io_submit, or one io_getevents: `requests` and `results` (bytes, or an errno below 0) are those printed."""

    submits: bool
    count: int
    least: int | None  # that io_getevents waits for
    most: int | None  # that it takes
    requests: tuple[Call, ...]
    results: tuple[int, ...]
    took_ns: int | None


class _Calls(Struct, frozen=True):
    """The calls of a part of a trace; what is wrong in which line."""

    calls: list[Call]
    batches: list[Batch]
    refused: tuple[int, str] | None


def sniff(head: Head) -> bool:
    """A line that is a read, write or flush of a descriptor."""
    return any(part.calls or part.batches or part.refused for part in _parts([*head.lines()]))


def calls(path: str, text: str) -> Iterator[Call]:
    """The calls of a trace in order. Raises SourceError with file and line."""
    yield from (call for call in _read(path, text) if isinstance(call, Call))


def _read(path: str, text: str) -> Iterator[Call | Batch]:
    """Calls of their own, and behind those of each part its batches. Raises SourceError with file and line."""
    for part in _parts(text.splitlines()):
        yield from part.calls
        yield from part.batches
        if part.refused:
            raise refuse(path, *part.refused)


def _parts(lines: Sequence[str]) -> Iterator[_Calls]:
    """What the core finds in these lines, part by part."""
    from iocast._core import StraceCalls

    reader = StraceCalls()
    for start in range(0, len(lines), PART_LINES):
        part = "\n".join([*lines[start : start + PART_LINES], ""])
        yield msgspec.json.decode(reader.feed(part.encode()), type=_Calls)


def read(paths: tuple[str, ...]) -> Run:
    """The calls of these traces, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    few = every = 0
    left: list[str] = []
    notes = [SLOWED]
    for path in paths:
        text = read_text(path)
        if not text.rstrip().rpartition("\n")[2].endswith(" +++"):
            left.append(f"{path} does not end with the end of the program: it was cut, or strace was detached.")
        calls_and_batches = list(_read(path, text))
        batches = [each for each in calls_and_batches if isinstance(each, Batch) and each.count]
        files = _by_file(each for each in calls_and_batches if isinstance(each, Call))
        kept = {name: each for name, each in files.items() if _counts(each)}
        few, every = few + len(files) - len(kept), every + len(files)
        if batches:
            rows += asynchronous_rows(batches)
            notes.append(asynchronous(batches))
        if not kept and not batches:
            raise refuse(path, 0, "no reads or writes of files in this trace", "trace with strace -f -T -ttt -y")
        rows += [row for name, each in kept.items() for row in _rows(name, each)]
    if few:
        left.append(f"Left out: {few} of {every} files, with too few I/Os to be data of the program.")
    return run(Source(tool="strace", files=paths, notes=tuple(notes)), rows, warnings=left)


def asynchronous(batches: Sequence[Batch]) -> str:
    """What batches of requests say, the verdict first."""
    submitted = [each for each in batches if each.submits]
    taken = [each for each in batches if not each.submits]
    batched = max(each.count for each in batches) > 1
    parts = []
    if submitted:
        parts.append(f"io_submit handed over {_range(submitted)} in {counted(len(submitted), 'call')}")
    if taken:
        waits = [each.took_ns for each in taken if each.took_ns is not None]
        mean = f", {brief_time(sum(waits) / len(waits))} each" if waits else ""
        parts.append(f"io_getevents took {_range(taken)} in {counted(len(taken), 'call')}{mean}")
        if limits := [each.most for each in taken if each.most is not None]:
            parts.append(f"it asked for up to {max(limits)}")
        if sizes := sorted({result for each in taken for result in each.results if result > 0}):
            parts.append(f"results of {', '.join(map(size, sizes[:4]))}{', ...' if len(sizes) > 4 else ''}")
    cut = sum(each.count - len(each.requests) for each in submitted)
    if cut > 0:
        parts.append(
            f"{counted(cut, 'request')} of long lists {'is' if cut == 1 else 'are'} not printed, strace -v does"
        )
    verdict = f"Asynchronous{', batched' if batched else ''}: its wait is no latency"
    return f"{verdict} ({'; '.join(parts)})."


def _range(batches: Sequence[Batch]) -> str:
    """How many requests at a time."""
    low, high = min(each.count for each in batches), max(each.count for each in batches)
    return counted(high, "request") if low == high else f"{low} to {high} requests"


def asynchronous_rows(batches: Sequence[Batch]) -> list[Row]:
    """A row for each file and operation of io_submit; where it says no sizes, one of the results of io_getevents."""
    requests = [request for each in batches for request in each.requests]
    results = [result for each in batches for result in each.results if result >= 0]
    if requests and (not results or any(request.size_bytes is not None for request in requests)):
        files = _by_file(iter(requests))
        rows = [row for name, each in files.items() for row in _rows(name, each)]
        return [replace(row, name=f"asynchronous {row.name}", engine="libaio", users=None) for row in rows]
    ops = {request.op for request in requests}
    op: Op = ops.pop() if len(ops) == 1 else "io"
    sizes: Counter[int | None] = Counter(results)
    total = sum(each.count for each in batches if not each.submits)
    if len(sizes) == 1:  # of long lists strace prints some: all that are printed are of one size
        sizes = Counter({results[0]: total})
    sizes[None] = max(0, total - sizes.total())
    figures = (
        OpFigures(op=op, ios=count, bytes=(bytes_each or 0) * count, size_bytes=bytes_each)
        for bytes_each, count in sizes.items()
        if count
    )
    return [
        Row(name=f"asynchronous {op}", test=op, ops=tuple(figures), elapsed_ns=0, engine="libaio", derived=("length",))
    ]


def _by_file(call_list: Iterator[Call]) -> dict[str, list[Call]]:
    files: dict[str, list[Call]] = {}
    for call in call_list:
        files.setdefault(call.path or f"fd {call.fd}", []).append(call)
    return files


def _counts(call_list: list[Call]) -> bool:
    """Whether a file is storage that the program works on."""
    if call_list[0].path.startswith(NO_STORAGE) or all(call.error for call in call_list):
        return False
    return any(call.offset is not None for call in call_list) or len(call_list) >= LEAST_CALLS


def _rows(name: str, call_list: list[Call]) -> list[Row]:
    ops: dict[str, list[Call]] = {}
    for call in call_list:
        ops.setdefault(call.op, []).append(call)
    return [_row(f"{op} {name}", each) for op, each in ops.items()]


def _row(name: str, call_list: list[Call]) -> Row:
    op, path, flags = call_list[0].op, call_list[0].path, call_list[0].flags
    good = [call for call in call_list if not call.error]
    parts: dict[int | None, list[Call]] = {}
    for call in good:
        parts.setdefault(_size(call), []).append(call)
    parts = parts if len(parts) <= MOST_SIZES else {None: good}
    errors = Counter(call.error for call in call_list if call.error)
    elapsed_ns = _elapsed_ns(call_list)
    return Row(
        name=name,
        test=op,
        ops=tuple(
            OpFigures(
                op=op,
                ios=len(each),
                bytes=sum(_moved(call) for call in each),
                size_bytes=size if op in ("read", "write") else 0,
                short_ios=sum(_moved(call) < (call.size_bytes or 0) for call in each),
                times=_times(each),
            )
            for size, each in parts.items()
        ),
        elapsed_ns=elapsed_ns or 0,
        depth=None,  # a program does other things between its calls: it is no closed loop
        users=1 if len({call.pid for call in call_list}) == 1 else None,
        direct=None if flags is None else "O_DIRECT" in flags,
        sync=None if flags is None else _sync(flags),
        locality=_locality(call_list),
        path=path,
        errors=tuple(ErrorCount(op=op, errno=_errno(each), name=each, count=n, first=()) for each, n in errors.items()),
        derived=() if elapsed_ns else ("length",),
    )


def _size(call: Call) -> int | None:
    """What a call asked for; a vectored one, which has a list of buffers, what it moved."""
    return call.done_bytes if call.size_bytes is None else call.size_bytes


def _moved(call: Call) -> int:
    """What a call moved; without its result, what it asked for."""
    if call.op not in ("read", "write"):
        return 0
    return (call.size_bytes or 0) if call.done_bytes is None else call.done_bytes


def _elapsed_ns(call_list: list[Call]) -> int | None:
    """From the start of the first call to the end of the last, by the trace's clock."""
    starts = [call.at_ns for call in call_list if call.at_ns is not None]
    if len(starts) < len(call_list):
        return None
    last = max((call.at_ns or 0) + (call.took_ns or 0) for call in call_list)
    return max(0, last - min(starts)) or None


def _times(call_list: list[Call]) -> Histogram:
    """With -T the time of each call."""
    took = [call.took_ns for call in call_list if call.took_ns is not None]
    if not took or len(took) < len(call_list):
        return Histogram()
    counts = Counter(map(bucket_index, took))
    index = tuple(sorted(counts))
    return Histogram(
        index=index,
        count=tuple(counts[each] for each in index),
        sum_ns=sum(took),
        sum_squares=sum(each * each for each in took),
        min_ns=min(took),
        max_ns=max(took),
    )


def _sync(flags: tuple[str, ...]) -> Sync:
    return "sync" if "O_SYNC" in flags else "dsync" if "O_DSYNC" in flags else "none"


def _locality(call_list: list[Call]) -> Locality:
    """In order when nearly each I/O begins where the one of its process before it ended."""
    follows = successors = 0
    ends: dict[str, int] = {}
    for call in call_list:
        if call.offset is None:
            return Unstated()
        if call.pid in ends:
            successors += 1
            follows += ends[call.pid] == call.offset
        ends[call.pid] = call.offset + _moved(call)
    if not successors:
        return Unstated()
    return Sequential() if follows >= IN_ORDER * successors else Uniform()


def _errno(name: str) -> int:
    import errno

    return {text: code for code, text in errno.errorcode.items()}.get(name, 0)
