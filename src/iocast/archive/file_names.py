"""What the files of a run folder are called."""

from __future__ import annotations

from pathlib import Path

RUN_FILE = "run.json"
ROWS_FILE = "rows.jsonl"  # while the run is under way
SUMMARY_FILE = "summary.json"
DIAGNOSIS_FILE = "diagnosis.json"
NOTES_FILE = "notes.json"
UNDER_WAY_FILE = "under_way.json"
REPORT_PAGE = "report.html"
# All of them; run.json goes last: what is deleted and interrupted is still listed, and can be deleted again.
DOCUMENTS = (UNDER_WAY_FILE, REPORT_PAGE, NOTES_FILE, DIAGNOSIS_FILE, SUMMARY_FILE, ROWS_FILE, RUN_FILE)
PROFILE_FILE, EVENTS_FILE, CALLS_FILE = "profile.json", "events.parquet", "calls.parquet"
PROFILE_FILES = (PROFILE_FILE, EVENTS_FILE, CALLS_FILE)
SPILL = ".profile-"  # how the folder begins in which a profile keeps what does not fit into memory
INTERVALS = "intervals"
SAMPLES = "samples"
EXPERIMENTS = "experiments"  # runs made because of a run are in this folder of it


def open_reel_name(number: int) -> str:
    """A reel of a tape that is no table yet."""
    return f"{number:03}.jsonl"


def folder_of(path: str) -> Path:
    """The run folder that is meant by its own path or by that of its run.json."""
    given = Path(path)
    return given.parent if given.name == RUN_FILE else given
