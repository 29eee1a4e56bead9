"""Results of other tools become runs: one module a format, recognised by its first lines, never guessed."""

from __future__ import annotations

import contextlib
import os
from typing import Protocol

from msgspec.structs import replace

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.soundness import fault_of
from iocast.tools import (
    collectl,
    crystaldiskmark,
    diskspd,
    dstat,
    elbencho,
    ioh,
    ioping,
    ior,
    iozone,
    kbench,
    log2_histograms,
    mdtest,
    pg_test_fsync,
    queue_table,
    strace,
    sysbench,
    vscsi_stats,
)
from iocast.tools.fio import fio_json, fio_log, fio_terse, fio_text, fioparse
from iocast.tools.kernel import diskstats_series
from iocast.tools.latency_map import latency_map
from iocast.tools.oracle import (
    awr_miner,
    calibrate_io,
    ehm_scripts,
    oracle_event_histogram,
    oracle_iostat_file,
    oracle_spool,
    oracle_waits,
)
from iocast.tools.orion import orion
from iocast.tools.pgio import pgio_runs
from iocast.tools.slob import slob_tuples
from iocast.tools.source_files import WRONG_FILE, Head, read_head
from iocast.tools.summaries import refused_summary
from iocast.tools.sysstat import iostat, sar
from iocast.tools.vdbench import vdbench


class Importer(Protocol):
    """A module that reads one format of another tool; its docstring is its manual page."""

    def sniff(self, head: Head) -> bool:
        """Whether a file that begins so is of this format."""
        ...

    def read(self, paths: tuple[str, ...]) -> Run:
        """One run of all these files. Raises SourceError with file and line."""
        ...


# The first that knows a file takes it.
IMPORTERS: tuple[Importer, ...] = (
    fio_json,
    fio_text,
    fio_terse,
    fio_log,
    fioparse,
    orion,
    vdbench,
    iostat,
    sar,
    dstat,
    collectl,
    diskstats_series,
    queue_table,
    latency_map,
    diskspd,
    crystaldiskmark,
    ioh,
    ioping,
    iozone,
    calibrate_io,
    strace,
    log2_histograms,
    vscsi_stats,
    oracle_spool,
    oracle_waits,
    awr_miner,
    ehm_scripts,
    oracle_iostat_file,
    oracle_event_histogram,
    pgio_runs,
    slob_tuples,
    sysbench,
    pg_test_fsync,
    ior,
    mdtest,
    kbench,
    elbencho,
)

KNOWN = (
    "fio (text, terse, JSON, logs), fioparse, ORION, CALIBRATE_IO, vdbench, diskspd, CrystalDiskMark, ioping,"
    " iozone, IOR, mdtest, elbencho, kbench, sysbench fileio, pg_test_fsync, pgio, SLOB's awr_info.sh, iostat, sar,"
    " dstat, collectl, /proc/diskstats, tables of queue depths, strace, latency records, ioh.sh, snapshots of"
    " GV$IOSTAT_FILE and GV$EVENT_HISTOGRAM (also by ehm.sql), spools of iocast_capture.sql and printed histograms"
    " of latency (bcc, bpftrace, DTrace, SystemTap, vscsiStats, AWR, Statspack, AWR-Miner) are supported"
)
TRACES = "traces of single I/Os are for `iocast profile`"


class EmptyFile(SourceError):
    """A file without any text."""


def importer_of(path: str) -> Importer:
    """The importer that knows this file. Raises SourceError when none does."""
    head = read_head(path)
    if not head.text.strip():
        raise EmptyFile(f"{path} is empty", "give result files of another tool")
    importer = next((each for each in IMPORTERS if each.sniff(head)), None)
    if importer is None:
        unknown = SourceError(f"{path} has no format that iocast knows", f"{KNOWN}; {TRACES}; see docs/guide/import.md")
        raise refused_summary(path, head) or unknown
    return importer


def read(paths: tuple[str, ...]) -> tuple[Run, ...]:
    """Runs of the given files: those of one format are the rows of one run. Raises SourceError.

    Of a folder, the files that iocast knows. An empty one beside others is left out with a warning: fio leaves an
    empty log of what a job never did.
    """
    groups: dict[int, tuple[Importer, list[str]]] = {}
    empty: list[EmptyFile] = []
    for given in paths:
        try:
            for path, chosen in _known(given):
                groups.setdefault(id(chosen), (chosen, []))[1].append(path)
        except EmptyFile as refusal:
            empty.append(refusal)
    if empty and not groups:
        raise empty[0]
    said = tuple(f"{refusal.message}: left out" for refusal in empty)
    runs = (_checked(importer.read(tuple(files))) for importer, files in groups.values())
    return tuple(replace(run, warnings=(*said, *run.warnings)) for run in runs)


def _known(path: str) -> list[tuple[str, Importer]]:
    """A file with its importer, or the known files of a folder. Raises SourceError when there is none."""
    if not os.path.isdir(path):
        return [(path, importer_of(path))]
    known = []
    for name in sorted(os.listdir(path)):
        each = os.path.join(path, name)
        with contextlib.suppress(SourceError):
            known += [(each, importer_of(each))] if os.path.isfile(each) else []
    if not known:
        raise SourceError(f"{path} has no file of a format that iocast knows", f"{KNOWN}; see docs/guide/import.md")
    return known


def _checked(run: Run) -> Run:
    """The same run. Raises SourceError where it could be saved, but not opened again."""
    if fault := fault_of(run):
        files = ", ".join(run.source.files) if run.source else ""
        raise SourceError(f"{files}: no tool can have measured this: {fault}", WRONG_FILE)
    return run
