"""Run folders: a Run becomes run.json and Parquet files, phase by phase, and is read back from them.

    run.json                  the run without its samples and series: hosts, target, job, plan, phases with histograms
    summary.json              one line of it, for lists of thousands of runs; made from the run where it is missing
    intervals/NNN.parquet     the series of phase NNN: interval x op x size, sparse histograms
    samples/NNN.parquet       what the observers saw during phase NNN
    notes.json                what people say about the run, if anything
    diagnosis.json            what was tested about the run, if anything was
    under_way.json            while it runs: its owner, the phase of this second, the rows so far

Every file is written beside its place and then renamed, so a folder is valid at any moment.
"""

from __future__ import annotations

from iocast.archive.diagnosis_file import load_diagnosis, save_diagnosis
from iocast.archive.file_names import (
    DIAGNOSIS_FILE,
    EXPERIMENTS,
    NOTES_FILE,
    REPORT_PAGE,
    ROWS_FILE,
    RUN_FILE,
    SUMMARY_FILE,
    UNDER_WAY_FILE,
)
from iocast.archive.folder import RunFolder, TimeLeft
from iocast.archive.folder_changes import delete_run, rename_run
from iocast.archive.interval_tables import load_courses, series
from iocast.archive.mending import is_dead, mend
from iocast.archive.notes_file import change_notes, load_notes, notes_in_list, save_notes
from iocast.archive.opening import load
from iocast.archive.ownership import owner_alive
from iocast.archive.run_id import new_run_id
from iocast.archive.summary_file import keep_summary, open_run, read_summary
from iocast.archive.tapes.reels import reel_samples
from iocast.archive.under_way_file import load_under_way
from iocast.archive.warm_up import course_after, samples_from, warm_up_of, without_warm_up

__all__ = [
    "DIAGNOSIS_FILE",
    "EXPERIMENTS",
    "NOTES_FILE",
    "REPORT_PAGE",
    "ROWS_FILE",
    "RUN_FILE",
    "SUMMARY_FILE",
    "UNDER_WAY_FILE",
    "RunFolder",
    "TimeLeft",
    "change_notes",
    "course_after",
    "delete_run",
    "is_dead",
    "keep_summary",
    "load",
    "load_courses",
    "load_diagnosis",
    "load_notes",
    "load_under_way",
    "mend",
    "new_run_id",
    "notes_in_list",
    "open_run",
    "owner_alive",
    "read_summary",
    "reel_samples",
    "rename_run",
    "samples_from",
    "save_diagnosis",
    "save_notes",
    "series",
    "warm_up_of",
    "without_warm_up",
]
