"""Runs the verbs that read folders on hostile ones, in this process and in bounded memory; each failure is a line.

python -m makers.verbs_in_bounds WHOLE_FOLDER SCRATCH FIRST_SEED NUMBER
"""

from __future__ import annotations

import contextlib
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
from types import FrameType

from makers.hostile_folders import SEEN, make_hostile

from iocast import archive
from iocast.commands import run_command_line
from iocast.errors import IocastError
from iocast.report.card.judged import judge
from iocast.web.folders import Folders

MEMORY = 3 << 30
LONGEST_S = 120  # a hang, wherever it is: what is slow takes some seconds
GOOD, BAD = "2026-01-01T000000-good", "2026-01-02T000000-bad"


class Hung(BaseException):
    """A verb that does not come back."""


def _hung(_number: int, _frame: FrameType | None) -> None:
    raise Hung


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
        "list of serve": lambda: _read(web.runs),
        "progress of serve": lambda: _read(lambda: web.progress(BAD)),
        "notes of serve": lambda: _read(lambda: web.told(BAD)),
        "trend of serve": lambda: _read(lambda: web.trend("", "", "")),
        "charts of a card": lambda: _read(lambda: judge(archive.load(bad), bad).report(charts=True)),
        "courses": lambda: _read(lambda: archive.load_courses(bad)),
        "mend": lambda: _read(lambda: archive.mend(bad)),
    }


def _tried(base: Path, seed: int, whole: Path) -> list[dict[str, object]]:
    shutil.copytree(whole, base / BAD)
    fault = make_hostile(base / BAD, random.Random(seed))
    found: list[dict[str, object]] = []
    for name, way in _ways(base).items():
        signal.alarm(LONGEST_S)
        begun = time.monotonic()
        try:
            way()
        except BaseException as error:  # also Hung and SystemExit
            where = traceback.format_exc(limit=-4)
            found.append({"seed": seed, "fault": fault, "verb": name, "error": repr(error)[:400], "where": where})
        finally:
            signal.alarm(0)
        if "SLOW" in os.environ and time.monotonic() - begun > float(os.environ["SLOW"]):
            print(json.dumps({"slow": name, "seed": seed, "fault": fault, "s": time.monotonic() - begun}), flush=True)
    for folder, _, _ in os.walk(base / BAD):
        os.chmod(folder, 0o700)
    shutil.rmtree(base / BAD)
    return found


def main(whole: Path, scratch: Path, first: int, number: int) -> None:
    """Tries seeds; one JSON line for each failure, one at the end with the figures."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _hung)
    base = scratch / "runs"
    shutil.copytree(whole, base / GOOD)
    failures = 0
    for seed in range(first, first + number):
        for failure in _tried(base, seed, whole):
            failures += 1
            print(json.dumps(failure), flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"tried": number, "failures": failures, "most_mib": most}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
