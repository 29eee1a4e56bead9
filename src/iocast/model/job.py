"""Job: a job file that was read and understood."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.calibration_request import CalibrationRequest
from iocast.model.database.database_load import DatabaseRamp
from iocast.model.plan import EngineName, Phase, Polling
from iocast.model.script import Share
from iocast.model.tree import Tree

MOST_WORK_FILES = 100_000  # each is opened by every user, and named in the plan


class FileSize(Struct, frozen=True):
    """How large each work file is to be: bytes, or a multiple of the host's memory (exactly one is given). `at_most`:
    a file system with less room gets smaller ones."""

    size_bytes: int | None = None
    memory_multiple: float | None = None
    at_most: bool = False


class Job(Struct, frozen=True, kw_only=True):
    """What a job file asks for. `text` is the file as it was, `source` where it came from.

    `notes` says, in a sentence each, what in it does nothing here or means something slightly different.
    """

    name: str
    phases: tuple[Phase, ...]
    description: str = ""
    runs: int = 1  # runs of the whole job that its results need
    file_count: int = 1
    file_size: FileSize | None = None  # None: the job file does not say
    file_sizes: tuple[int, ...] = ()  # of each work file, where they differ; `file_size` is that of the largest
    file_names: tuple[str, ...] = ()  # what fio calls them: "data.0.0"
    directory: str = ""  # where fio has them; it runs there where no PATH is given
    stripe_bytes: int = 0  # of the files; 0: one after the other
    tree: Tree | None = None  # the tree of files in which its phases work, instead of work files
    engine: EngineName = "auto"
    polling: Polling = "none"
    interval_ns: int = 1_000_000_000  # how fine the course of its phases is kept
    language: Literal["toml", "fio", "vdbench"] = "toml"  # of the job file: a hint speaks it
    source: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()
    shares: dict[str, Share] = {}  # phases, by name, whose rate is a share of what another one reaches
    experiment: str = ""  # the named experiment that it is
    calibration: CalibrationRequest | None = None  # the search that it is; its phases are only the likely ones
    database: tuple[DatabaseRamp, ...] = ()  # loads of a database; its data set decides which phases they are
    fits_target: bool = False  # it measures what the target allows; one that does not is run as it is, or refused
