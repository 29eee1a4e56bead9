"""A place for results that is full, and a work file that somebody cuts short: each is said by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder, start
from makers.rootly import Mount

pytestmark = pytest.mark.device
MIB = 1 << 20
JOB = """\
name = "cut"
[files]
size = "16MiB"
[defaults]
time = "1500ms"
size = "8k"
direct = false
{how}
[[phase]]
test = "first"
[[phase]]
test = "second"
[[phase]]
test = "third"
"""


def test_a_full_place_is_said_in_the_words_of_the_system(tmp_path: Path, mounted: Mount) -> None:
    """Run folders, tapes, imports and profiles; DuckDB says it with JSON in the midst of a line."""
    place = mounted("full", "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    (tmp_path / "trace").write_text("fio version 3 iolog\n1 f add\n2 f open\n" + "9 f read 0 8192\n" * 999)
    verbs = (
        ("run", "card-quick", "sim:nvme", "--time", "10ms", "--out", place),
        ("watch", "iostat", "--interval", "100ms", "--count", "2", "--record", place),
        ("import", Path(__file__).parents[1] / "tools/fixtures/diskspd.txt", "--out", place),
        ("profile", "trace", "--out", place),
    )
    for free in range(12, -1, -1):  # pages: it fills up at each file of a folder
        for words in verbs:
            (place / "taken").write_bytes(bytes((16 - free) * 4096 - 4096))
            refused = iocast(*words, cwd=tmp_path)
            (place / "taken").unlink()
            for folder in place.iterdir():
                os.system(f"rm -rf '{folder}'")
            if refused.returncode:
                assert "No space left on device\n\nhint: free some space" in refused.stderr, refused.stderr
                assert "{" not in refused.stderr, refused.stderr
                assert "Traceback" not in refused.stderr
                assert "/fd/" not in refused.stderr, "the file by its name, not by a descriptor of ours"


@pytest.mark.parametrize(
    ("how", "code"),
    [('pattern = "random"', 2), ('pattern = "sequential"\nwrite = 100\nrate = "1/s"', 0)],
)
def test_a_work_file_that_shrank_is_named_in_the_summary_and_on_the_page(tmp_path: Path, how: str, code: int) -> None:
    """Reads beyond its end fail; no write does, and many of them make it longer again."""
    (tmp_path / "cut.toml").write_text(JOB.format(how=how))
    run = start("run", "cut.toml", ".", "--out", "runs", "--no-page", cwd=tmp_path)
    assert run.stderr is not None
    file = tmp_path / "iocast-work.0.dat"
    for line in run.stderr:
        if line.startswith("[2/4] first"):
            time.sleep(0.5)  # within the next row: between two rows that write it ends the run
            os.truncate(file, 4 * MIB)
    card = run.stdout.read() if run.stdout is not None else ""
    assert run.wait() == code
    said = f"{file} shrank from 16.0 MiB to "
    assert said in " ".join(card.split())
    written = iocast("report", run_folder(tmp_path / "runs"), "-o", "page.html", cwd=tmp_path)
    assert written.returncode == 0
    assert said in (tmp_path / "page.html").read_text()
