"""Runs the verbs that read folders on hostile ones, in this process and in bounded memory; each failure is a line.

python -m makers.verbs_in_bounds WHOLE_FOLDER SCRATCH FIRST_SEED NUMBER run|tape|profile
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import duckdb
from makers.hostile_folders import SEEN, make_any_hostile, make_hostile

import iocast
from iocast import archive
from iocast.commands import run_command_line
from iocast.errors import IocastError
from iocast.report.card.judged import judge
from iocast.web import folders
from iocast.web.folders import Folders

MEMORY = 3 << 30
LONGEST_S = 300  # a hang, wherever it is: what is slow takes some seconds
GOOD, BAD = "2026-01-01T000000-good", "2026-01-02T000000-bad"


def _said(arguments: list[str]) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command_line(arguments)
    return code, out.getvalue() + err.getvalue()


def _verb(*arguments: str, codes: tuple[int, ...] = (0, 2), names: str = "") -> None:
    code, said = _said(list(arguments))
    assert code in codes, f"exit code {code}: {said[:200]}"
    assert code != 2 or said.count("error: ") == 1, f"not one error: {said[:300]}"
    assert names in said, f"{names} is not listed: {said[:300]}"
    if shown := [sign for sign in SEEN if sign in said]:
        at = said.index(shown[0])
        raise AssertionError(f"{shown} reach a terminal: {said[max(0, at - 60) : at + 60]!r}")


def _read(read: Callable[[], object]) -> None:
    with contextlib.suppress(IocastError):
        read()


def _ways(base: Path) -> dict[str, Callable[[], object]]:
    bad, good, web = str(base / BAD), str(base / GOOD), Folders(str(base))
    return {
        "runs": lambda: _verb("runs", str(base), codes=(0,), names=GOOD),
        "show": lambda: _verb("show", BAD, "--in", str(base)),
        "report": lambda: _verb("report", bad),
        "markdown": lambda: _verb("report", bad, "--format", "markdown"),
        "clean": lambda: _verb("clean", bad, codes=(0, 2)),
        "compare": lambda: _verb("compare", bad, good),
        "fleet": lambda: _verb("fleet", str(base)),
        "list of serve": lambda: _read(web.runs),
        "progress of serve": lambda: _read(lambda: web.progress(BAD)),
        "notes of serve": lambda: _read(lambda: web.notes_of(BAD)),
        "trend of serve": lambda: _read(lambda: web.trend(web.of_trend("", "", ""))),
        "charts of a card": lambda: _read(lambda: judge(archive.load(bad), bad).report(charts=True)),
        "courses": lambda: _read(lambda: archive.load_courses(bad)),
        "mend": lambda: _read(lambda: archive.mend(bad)),
    }


def _tape_ways(base: Path) -> dict[str, Callable[[], object]]:
    bad = str(base / BAD)
    return {
        "runs": lambda: _verb("runs", str(base), codes=(0,), names=GOOD),
        "report": lambda: _verb("report", bad),
        "markdown": lambda: _verb("report", bad, "--format", "markdown"),
        "watch": lambda: _verb("watch", "iostat", "--tape", bad),
        "top": lambda: _verb("top", bad, "--json"),
        "load": lambda: _read(lambda: archive.load(bad)),
    }


def _profile_ways(base: Path) -> dict[str, Callable[[], object]]:
    bad, good, out = str(base / BAD), str(base / GOOD), str(base / "out")
    events = f"{bad}/events.parquet"
    return {
        "profile": lambda: _verb("profile", bad),
        # A FIFO that somebody names is a trace that comes through it: it is waited for.
        "events": lambda: _verb("profile", events, "--out", out) if os.path.isfile(events) else None,
        "job": lambda: _verb("profile", bad, "--to", f"{out}.toml", "--force"),
        "compare": lambda: _verb("compare", bad, good),
        "rows": lambda: _read(lambda: _rows_of(bad)),
    }


def _rows_of(folder: str) -> None:
    with contextlib.suppress(duckdb.Error):  # a damaged page is met when rows are asked for
        iocast.profile(folder).events().fetchall()


KINDS = {
    "run": (_ways, make_hostile),
    "tape": (_tape_ways, make_any_hostile),
    "profile": (_profile_ways, make_any_hostile),
}


def _failures(base: Path, seed: int, fault: str, kind: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name, way in KINDS[kind][0](base).items():
        begun = time.monotonic()
        try:
            way()
        except BaseException as error:  # also SystemExit
            where = traceback.format_exc(limit=-4)
            found.append({"seed": seed, "fault": fault, "verb": name, "error": repr(error)[:400], "where": where})
        for cached in (folders._page, folders._rows, folders._points):  # a process of serve keeps some, a verb none
            cached.cache_clear()
        gc.collect()
        if "TOLD" in os.environ:
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            seconds = round(time.monotonic() - begun, 2)
            told = {"told": name, "seed": seed, "fault": fault, "s": seconds, "most_mib": most}
            print(json.dumps(told), file=sys.stderr, flush=True)
    return found


def _tried(base: Path, seed: int, whole: Path, kind: str) -> tuple[int, int]:
    """Makes one folder and tries it in a process of its own, as a verb is; returns failures and most memory."""
    shutil.copytree(whole, base / BAD)
    fault = KINDS[kind][1](base / BAD, random.Random(seed))
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(LONGEST_S)
        found = _failures(base, seed, fault, kind)
        for each in found:
            print(json.dumps(each), flush=True)
        os._exit(min(len(found), 100))
    _, status, used = os.wait4(child, 0)
    if os.WIFSIGNALED(status):
        print(json.dumps({"seed": seed, "fault": fault, "error": f"signal {os.WTERMSIG(status)}"}), flush=True)
    for folder, _, _ in os.walk(base / BAD):
        os.chmod(folder, 0o700)
    shutil.rmtree(base / BAD)
    return 1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), used.ru_maxrss >> 10


def _import_all(base: Path, kind: str) -> None:
    """Imports here what the verbs need, so that each child has it; nothing is opened here, for a fork copies no thread.

    A child that reads the good folder says which modules those are.
    """
    shutil.copytree(base / GOOD, base / BAD)
    told, telling = os.pipe()
    if not os.fork():
        _failures(base, 0, "", kind)
        with open(telling, "w") as out:
            out.write(" ".join(sys.modules))
        os._exit(0)
    os.close(telling)
    with open(told) as out:
        names = out.read().split()
    os.wait()
    shutil.rmtree(base / BAD)
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or each child would look through them again, and again


def main(whole: Path, scratch: Path, first: int, number: int, kind: str) -> None:
    """Tries seeds; one JSON line for each failure, one at the end with the figures."""
    base = scratch / "runs"
    shutil.copytree(whole, base / GOOD)
    _import_all(base, kind)
    failures, most = 0, 0
    for seed in range(first, first + number):
        failed, used = _tried(base, seed, whole, kind)
        failures, most = failures + failed, max(most, used)
    print(json.dumps({"tried": number, "failures": failures, "most_mib": most}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
