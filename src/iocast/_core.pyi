"""The typed face of the Rust core (crates/iocast-python/src/lib.rs), checked against it by stubtest."""

from collections.abc import Callable, Sequence
from typing import Literal, final

__all__ = [
    "BlkWatch",
    "Capture",
    "CoreError",
    "FioLog",
    "Intervals",
    "LayerWatch",
    "OpenReel",
    "SimWorld",
    "StraceCalls",
    "Tables",
    "__version__",
    "characterise_events",
    "chi_square_quantile",
    "clock_set_by_ns",
    "copy_file",
    "events_in_order",
    "f_survival",
    "file_content",
    "follow_wall_clock",
    "look_at_tree",
    "make_tree_directories",
    "memory_copy_bytes_per_s",
    "read_back",
    "read_traces",
    "remove_tree",
    "replay_survey",
    "run_together",
    "student_t_cdf",
    "student_t_quantile",
    "trace_formats",
    "unix_ns",
]

__version__: str

class CoreError(Exception):
    """The core refused a plan or could not start. args: (message, hint, errno or None)."""

@final
class BlkWatch:
    """A watch on the requests of block devices, from its making until `stop`; options (watch.rs) as JSON.

    Raises CoreError where the kernel's tracing cannot be used.
    """

    def __new__(cls, options_json: str) -> BlkWatch: ...
    def notes(self) -> list[str]:
        """What somebody should know of how it was set up."""
    def snapshot(self) -> str:
        """What was seen since the last snapshot, as JSON. Raises CoreError when it cannot be read any more."""
    def stop(self) -> None:
        """Ends it and removes its tracing instance; harmless when it is over."""

@final
class LayerWatch:
    """A watch on the layers of this machine, from its making until `stop`; options (layers/layer_watch.rs) as JSON.

    Raises CoreError where the kernel's tracing cannot be used.
    """

    def __new__(cls, options_json: str) -> LayerWatch: ...
    def notes(self) -> list[str]:
        """What somebody should know of how it was set up."""
    def snapshot(self) -> str:
        """What was counted since the beginning, as JSON. Raises CoreError when it cannot be read any more."""
    def stop(self) -> None:
        """Ends it and removes its tracing instances; harmless when it is over."""

@final
class FioLog:
    """A log of fio of this kind ("lat", "clat_hist" ...) that is counted as it is read (fio_log_counts.rs)."""

    def __new__(cls, kind: str) -> FioLog: ...
    def feed(self, data: bytes) -> bool:
        """More of its bytes; False where nothing more is to be read."""
    def finish(self) -> str:
        """Its jobs, and what is wrong with it, as JSON."""

@final
class StraceCalls:
    """The calls of a trace of strace as they were asked for (strace_calls.rs)."""

    def __new__(cls) -> StraceCalls: ...
    def feed(self, lines: bytes) -> str:
        """The calls in more whole lines, and what is wrong with one, as JSON."""

@final
class Capture:
    """A capture of block requests or system calls into an event table; options (capture/recorder.rs) as JSON.

    Raises CoreError where the kernel's tracing cannot be used.
    """

    def __new__(cls, options_json: str, to: str) -> Capture: ...
    def notes(self) -> list[str]:
        """What somebody should know of how it was set up."""
    def progress(self) -> str:
        """Events and lost records so far, as JSON. Raises CoreError when it cannot go on."""
    def finish(self) -> str:
        """End it, remove its tracing instances, write the table; returns a report of a trace as JSON."""
    def stop(self) -> None:
        """End it without a table; harmless when it is over."""

@final
class Intervals:
    """The interval series of a phase as an Arrow C stream, one row an interval x op x size."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class OpenReel:
    """The samples of a reel that is no table yet (see archive/tapes/open_reel.py), as one Arrow C stream.

    A last line without an end is left out; a damaged one ends the stream with an error. Raises CoreError.
    """

    def __new__(cls, path: str) -> OpenReel: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class SimWorld:
    """The simulated device between the phases of a run; a new one holds a device as it is delivered."""

    def __new__(cls) -> SimWorld: ...
    def copied(self) -> SimWorld:
        """The same device as it is now, to go another way from here."""

@final
class Tables:
    """Parquet tables of one schema as one Arrow C stream, whoever made them: what comes out is rows or an error.

    Only `columns` are read, without them all whose types iocast's tables have; `numbers` of the tables become a first
    column, `phase`. Raises CoreError where a footer is damaged, a column is missing, or has another type.
    """

    def __new__(
        cls, paths: Sequence[str], columns: Sequence[str] | None = None, numbers: Sequence[int] | None = None
    ) -> Tables: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int:
        """Rows, as the footers say: no more are read."""
    def columns(self) -> list[str]:
        """Names of the columns that are read."""
    def facts(self) -> list[tuple[str, str]]:
        """Keys and values in the footer of the first table."""

def run_together(
    plans_json: list[str],
    on_tick: Callable[[int, int, int, int, int], bool | Literal["enough"]],
    world: SimWorld | None = None,
    opened: dict[str, int] = ...,
    spool: str | None = None,
) -> list[tuple[str, Intervals]]:
    """Run phases at once (each a PhasePlan as JSON); returns a Measurement as JSON and the interval series of each.

    on_tick(elapsed_ns, ios, bytes, errors, response_ns), of all together, is called up to ten times a second; False
    or an exception stops them, "enough" ends them well. A simulated device is the one that earlier phases left
    in `world`, a new one without. Files in `opened` (path: descriptor) are reached by that descriptor, whatever is at
    their paths by then. Series that are too long for memory wait in a nameless file in the directory `spool`. Raises
    CoreError.
    """

def read_back(plan_json: str, on_tick: Callable[[int, int], bool]) -> str:
    """Read back what a journal knows of (a ReadBack as JSON); returns a Found as JSON.

    on_tick(elapsed_ns, blocks) is called about ten times a second; False or an exception stops. Raises CoreError.
    """

def read_traces(paths: Sequence[str], options_json: str, to: str, calls_to: str | None = None) -> str:
    """Read traces into one Parquet file of events; options (reader.rs) as JSON; returns a report (report.rs) as JSON.

    The calls and waits of Oracle's traces go to the Parquet file `calls_to`.

    Raises CoreError where a file cannot be read, or holds no I/O; nothing is written then.
    """

def characterise_events(path: str, options_json: str) -> str:
    """What a table of events, in the order of time, is like; options and characteristics (characterise.rs) as JSON.

    Raises CoreError where the table cannot be read, or a row is earlier than one before it.
    """

def events_in_order(path: str) -> bool:
    """Whether no event of a table is earlier than one before it. Raises CoreError."""

def trace_formats() -> list[tuple[str, str]]:
    """Name and description of every format of traces, in the order in which they are tried."""

def replay_survey(plan_json: str, interval_ns: int) -> str:
    """What a replay (a Replay as JSON) would be, at intervals of so many ns; as JSON. Raises CoreError."""

def copy_file(from_descriptor: int, to_descriptor: int, order_json: str, on_tick: Callable[[int], bool]) -> str:
    """Copy an open file to an empty one in one way (an Order of copy.rs as JSON), and sync it; a Copied as JSON.

    on_tick(bytes) is called about ten times a second; False or an exception stops. Raises CoreError.
    """

def file_content(descriptor: int, on_tick: Callable[[int], bool]) -> str:
    """Digest (XXH3, 128 bits) and length of an open file, read from its beginning, as JSON; ticks as above."""

def memory_copy_bytes_per_s(budget_s: float) -> float:
    """Bytes a second that one core copies in memory, the best pass within about budget_s seconds."""

def unix_ns() -> int:
    """Wall time in ns since 1970, as the clock stood when it was last read, and what has passed since."""

def follow_wall_clock() -> None:
    """Reads the clock of the machine anew; `unix_ns` counts from there."""

def clock_set_by_ns() -> int:
    """How far the clock of the machine was set forward (back: negative) since it was last read."""

def student_t_quantile(q: float, degrees: float) -> float:
    """The value that Student's t falls below with probability `q`. Raises ValueError."""

def student_t_cdf(t: float, degrees: float) -> float:
    """The probability that Student's t falls below `t`. Raises ValueError."""

def f_survival(x: float, degrees_above: float, degrees_below: float) -> float:
    """The probability that F exceeds `x`. Raises ValueError."""

def chi_square_quantile(q: float, degrees: float) -> float:
    """The value that chi-square falls below with probability `q`. Raises ValueError."""

def make_tree_directories(tree_json: str, place: int, go_on: Callable[[], bool]) -> int:
    """Makes the missing directories of a tree (plan/tree_plan.rs) in an open directory; how many. Raises OSError."""

def look_at_tree(tree_json: str, place: int, sizes: bool, go_on: Callable[[], bool]) -> str:
    """What of a tree is there (tree/look.rs), as JSON; sizes of files too if asked. Raises OSError."""

def remove_tree(place: int, threads: int, dry: bool, go_on: Callable[[], bool]) -> str:
    """Removes all that iocast made in an open directory, or counts it (tree/removal.rs), as JSON. Raises OSError."""
