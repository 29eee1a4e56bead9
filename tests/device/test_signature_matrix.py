"""22 signatures x 16 ways to ask for writes without the word: all are refused, and no byte of the device changes.

IOCAST_FUZZ (`make safety`) says how many of the 352 are tried: all from 16 on, else each signature that many times.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from makers.command_line import in_this_process
from makers.disk_images import HOLDING, MIB, UNRECOGNISED, tool
from makers.msr_traces import msr
from makers.mutations import TIMES
from makers.rootly import command

import iocast
from iocast.errors import IocastError

pytestmark = pytest.mark.device
Attach = Callable[..., str]
SIGNATURES = HOLDING | UNRECOGNISED
JOB = 'name = "tries"\n[files]\nsize = "4MiB"\n[[phase]]\ntest = "row"\ntime = "20ms"\n'
JOBS = {
    "write.toml": JOB + 'write = 100\nsize = "8k"\n',
    "trim.toml": JOB + 'trim = 100\nsize = "1M"\n',
    "verify.toml": JOB.replace(
        'time = "20ms"\n', 'write = 100\nsize = "8k"\nverify = true\nrepeats = false\nbytes = "1MiB"\n'
    ),
    "append.fio": "[global]\nrw=randwrite\nbs=8k\nsize=4m\nruntime=1\ntime_based=1\nioengine=libaio\ndirect=1\n[one]\n",
    "half.vdb": "sd=sd1,lun=/mnt/x,size=4m,threads=1,openflags=o_direct\nwd=wd1,sd=sd1,xfersize=4k,rdpct=50\n"
    "rd=run1,wd=wd1,iorate=100,elapsed=1,interval=1\n",
}


class Place(NamedTuple):
    """A folder with job files and a trace, a device with a signature, its file, and another file of the same kind."""

    folder: Path
    device: str
    image: Path

    def digest(self) -> str:
        """Of all that the file holds; holes are skipped, where a write would leave data."""
        command("blockdev", "--flushbufs", self.device)
        found, at = hashlib.sha256(), 0
        with open(self.image, "rb") as file:
            while True:
                try:
                    at = max(at, os.lseek(file.fileno(), at, os.SEEK_DATA) // BLOCK * BLOCK)
                except OSError:
                    return found.hexdigest()
                file.seek(at)
                if any(data := file.read(BLOCK)):  # where the extents of a file begin changes without a write
                    found.update(f"{at}:".encode() + data)
                at += BLOCK


def verb(*words: str) -> Callable[[Place], int]:
    """A command line; JOB names become paths, DEVICE the device."""

    def ask(place: Place) -> int:
        known = {"DEVICE": place.device, "LINK": str(place.folder / "link"), "TRACE": str(place.folder / "trace.csv")}
        known |= {name: str(place.folder / name) for name in JOBS}
        return in_this_process(*(known.get(word, word) for word in words))

    return ask


def python(call: Callable[[Place], object]) -> Callable[[Place], int]:
    """A call of the Python API; 2 when it was refused."""

    def ask(place: Place) -> int:
        try:
            call(place)
        except IocastError:
            return 2
        return 0

    return ask


# Each asks for writes, and has to be refused.
WAYS: dict[str, Callable[[Place], int]] = {
    "run": verb("run", "write.toml", "DEVICE"),
    "run, trims": verb("run", "trim.toml", "DEVICE"),
    "run, verified writes": verb("run", "verify.toml", "DEVICE"),
    "run, a fio job": verb("run", "append.fio", "DEVICE"),
    "run, a vdbench job": verb("run", "half.vdb", "DEVICE"),
    "run, a preset": verb("run", "hailey", "DEVICE"),
    "run, its path for its identity": verb("run", "write.toml", "DEVICE", "--destroy", "DEVICE"),
    "run, the identity of another": verb("run", "write.toml", "DEVICE", "--destroy", "loop:8:1:4711"),
    "run, by a link": verb("run", "write.toml", "LINK"),
    "plan": verb("plan", "write.toml", "DEVICE"),
    "repeat": verb("repeat", "2", "write.toml", "DEVICE"),
    "ab": verb("ab", "write.toml", "DEVICE", "sim:nvme", "--rounds", "1"),
    "matrix": verb("matrix", "--run", "advanced", "--matrix", "point", "--num-small", "1", "--num-large", "0",
                   "--write", "50", "DEVICE"),
    "experiment": verb("experiment", "noise", "DEVICE", "--time", "20ms"),
    "Python, run": python(lambda at: iocast.run(str(at.folder / "write.toml"), at.device, out=str(at.folder / "runs"))),
    "Python, experiment": python(lambda at: iocast.experiment("verify", at.device, out=str(at.folder / "runs"))),
}  # fmt: skip
# Each measures what may be read, and leaves out what writes.
READS: dict[str, Callable[[Place], int]] = {
    "card": verb("card", "DEVICE", "--time", "5ms", "--no-page"),
    "replay": verb("replay", "TRACE", "DEVICE"),
    "calibrate": verb("calibrate", "DEVICE", "--max-latency", "50ms", "--time", "5ms", "--no-page"),
    "forecast": verb("forecast", "--measure", "DEVICE", "--iops", "10", "--read", "50%", "--time", "10ms"),
}
BLOCK = 1 << 16
FULL = 16  # from so many times on every way is tried on every signature


def test_the_matrix_is_the_one_that_is_promised() -> None:
    assert (len(SIGNATURES), len(WAYS)) == (22, 16)


@pytest.fixture
def place(tmp_path: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Place]:
    """A device with a signature of that name, and the working directory beside it."""

    def make(signature: str) -> Place:
        image = tmp_path / "image"
        try:
            SIGNATURES[signature](image)
        except pytest.skip.Exception:
            tool("mke2fs", "-q", "-F")(image)  # without that tool another one stands in, so that the count holds
        device = attach(image)
        for name, text in JOBS.items():
            (tmp_path / name).write_text(text)
        msr(tmp_path, [(n / 100, "Write", n << 20, 4096, 0.1) for n in range(4)], "trace.csv")
        os.symlink(device, tmp_path / "link")
        monkeypatch.chdir(tmp_path)
        return Place(tmp_path, device, image)

    return make


@pytest.mark.parametrize("signature", SIGNATURES)
def test_writes_without_the_word(
    place: Callable[[str], Place], signature: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = place(signature)
    before = at.digest()
    first = list(SIGNATURES).index(signature)
    ways = [list(WAYS)[(first + step) % len(WAYS)] for step in range(min(max(TIMES, 1), FULL))]
    for way in ways:
        code = WAYS[way](at)
        said = capsys.readouterr()
        assert code == 2, (way, said)
        assert way.startswith("Python") or "hint: " in said.err, way
        assert at.digest() == before, way
    assert len(ways) == min(TIMES, FULL)


@pytest.mark.parametrize("way", READS)
def test_what_only_reads_leaves_out_what_writes(
    place: Callable[[str], Place], way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    at = place("ext4 file system")
    before = at.digest()
    READS[way](at)
    assert "Traceback" not in capsys.readouterr().err
    assert at.digest() == before


def test_a_write_would_be_noticed(place: Callable[[str], Place]) -> None:
    at = place("InnoDB raw tablespace")
    before = at.digest()
    with open(at.device, "r+b", buffering=0) as device:
        device.seek(32 * MIB)
        device.write(b"x" * 4096)
    assert at.digest() != before
