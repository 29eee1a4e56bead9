"""Few threads, or a small stack for each: every verb has a result, or an error with its way out."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder, small_job
from makers.few_processes import before
from makers.left_out import long_after, long_but

from iocast.errors import LoadError
from iocast.observe.target.patience import within

pytestmark = pytest.mark.slow

RESULTS = Path(__file__).parents[1] / "tools/fixtures/diskspd.txt"
TRACE = "fio version 3 iolog\n1 file add\n2 file open\n" + "".join(
    f"{100 * n} file {'read' if n % 3 else 'write'} {8192 * (n % 500)} 8192\n" for n in range(1, 2000)
)
TREE = """\
name = "tree"
[tree]
depth = 1
width = 4
files = 5000
[[phase]]
operations = ["create", "stat"]
passes = 1
[[phase]]
operations = "unlink"
passes = 1
"""
VERBS = {
    "card": ("card", "place", "--size", "16MiB", "--time", "20ms"),
    "run": ("run", "small.toml", "place"),
    "run of a simulated device": ("run", "small.toml", "sim:nvme"),
    "plan": ("plan", "small.toml", "place"),
    "clean": ("clean", "place"),
    "tree": ("run", "tree.toml", "trees"),
    "copy": ("experiment", "copy", "trace", "copied", "--rounds", "1"),
    "profile": ("profile", "trace"),
    "replay": ("replay", "trace", "place"),
    "import": ("import", str(RESULTS)),
    "report": ("report", "RUN"),
    "page": ("report", "RUN", "-o", "page.html", "--force"),
    "compare": ("compare", "RUN", "RUN"),
    "top": ("top", "--plain", "--interval", "100ms", "--count", "1"),
    "watch": ("watch", "iostat", "--interval", "100ms", "--count", "1", "--record", "tapes"),
    "listen": ("watch", "--listen", "127.0.0.1:0", "--interval", "100ms", "--count", "1"),
    "capture": ("capture", "--pid", "1", "--seconds", "0.2", "-o", "captured.parquet"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which every verb has what it needs."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "place").mkdir()
    small_job(folder, direct=False)
    (folder / "trees").mkdir()
    (folder / "tree.toml").write_text(TREE)
    (folder / "trace").write_text(TRACE)
    made = iocast("run", "small.toml", "place", "--out", "first", cwd=folder)
    assert made.returncode == 0, made.stderr
    return folder


def _refused_or_done(place: Path, verb: str, *before: str) -> str:
    """What it said on stderr; its exit code is that of a result, or of an error with a way out."""
    run = str(run_folder(place / "first"))
    done = iocast(*(run if word == "RUN" else word for word in VERBS[verb]), cwd=place, before=before)
    assert "Traceback" not in done.stderr, done.stderr
    assert "panicked" not in done.stderr, done.stderr
    assert done.returncode in (0, 2), (done.returncode, done.stderr)
    assert done.returncode == 0 or ("error: " in done.stderr and "\nhint: " in done.stderr), done.stderr
    return done.stderr


# Each verb with the limit at which most threads are refused; the other limits with verbs that start most of them.
LIMITED = [
    *((verb, 2) for verb in VERBS),
    *((verb, most) for verb in ("card", "profile", "top") for most in (1, 3, 12)),
]


@pytest.mark.parametrize(("verb", "most"), long_but(LIMITED, ("run", 2), ("report", 2)))
def test_a_limit_of_processes_is_an_error_with_its_way_out(place: Path, verb: str, most: int) -> None:
    said = _refused_or_done(place, verb, *before(most))
    assert "error: " not in said or "thread" not in said or "pids.max" in said, said


def test_the_word_of_the_library_is_an_error_of_iocast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that needs a thread is not left out, which would hide who uses a file."""

    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(LoadError, match="no more threads"):
        within(1.0, lambda: 1)


@pytest.mark.parametrize("verb", long_after(1, ["run", "profile", "page", "watch"]))
def test_a_small_stack_is_raised_where_it_may_be(place: Path, verb: str) -> None:
    """The threads of libraries get what the limit says at the start of the process."""
    _refused_or_done(place, verb, "prlimit", f"--stack={256 << 10}:{8 << 20}")


@pytest.mark.parametrize("kilobytes", long_but((96, 128, 256, 1000), 256))
def test_a_small_stack_that_may_not_be_raised_is_refused(place: Path, kilobytes: int) -> None:
    refused = iocast("runs", "first", cwd=place, before=("prlimit", f"--stack={kilobytes << 10}"))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"error: the limit of the stack is {kilobytes} kB; iocast needs 1024 kB\n\nhint: ")


def test_a_raised_stack_holds_for_the_threads_of_libraries(place: Path) -> None:
    """Not only for the first thread: the process starts once more, with the same words."""
    program = (
        "import ctypes, sys, threading\n"
        "from iocast import __main__\n"
        "sys.argv[1:] = ['--version']\n"
        "__main__.main()\n"
        "c, a, size = ctypes.CDLL(None), ctypes.create_string_buffer(64), ctypes.c_size_t()\n"
        "c.pthread_attr_init(a); c.pthread_getattr_default_np(a); c.pthread_attr_getstacksize(a, ctypes.byref(size))\n"
        "print(size.value, sys.argv[1:])\n"
    )
    done = subprocess.run(
        ["prlimit", f"--stack={256 << 10}:{8 << 20}", sys.executable, "-c", program],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[1:] == [f"{8 << 20} ['--version']"], (done.stdout, done.stderr)
