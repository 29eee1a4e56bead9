"""Lines of 100,000 characters, made for patterns that go back over what they have read.

Nothing is timed: a pattern that takes the square of a line would keep these tests busy for hours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast import imports
from iocast.errors import SourceError

LENGTH = 100_000
FIXTURES = Path(__file__).parent / "fixtures"
EXAMPLES = Path(__file__).parent / "examples"

# What comes again and again, behind what a line begins with.
REPEATED = {
    "spaces": " ",
    "digits": "0",
    "decimals": "0.",
    "starts": ": (g=0): rw=a, bs= ioengine=",
    "sizes": " bs=",
    "results": ": (groupid=0, jobs=1): err= ",
    "shares": "1=1%, ",
    "percentiles": "1.0th=[",
    "ranges": "1k-",
    "braces": "{",
    "quotes": '":',
    "names": '"jobname" ',
    "commas": ",",
    "semicolons": "1;",
    "percents": "1.0%=1;",
}
BEGINNINGS = {
    "nothing": "",
    "start": "a: (g=0): rw=read, ",
    "side": "  read: IOPS=",
    "old side": "  read : io=",
    "latency": " clat (usec): min=",
    "buckets": " lat (usec) : ",
    "issued": " issued rwts: total=",
    "percentiles": "     | ",
    "terse": "3;fio-",
    "table": "randread 1 8K ",
    "matrix": '"read", 1, "8K", ',
    "log": "1, 1, ",
}
FILES = (
    FIXTURES / "fio_unlike.txt",
    FIXTURES / "fio_unlike.json",
    FIXTURES / "fio_terse_v3.txt",
    FIXTURES / "logs" / "each_lat.1.log",
    EXAMPLES / "fioparse.txt",
    EXAMPLES / "fioparse.csv",
)


@pytest.mark.parametrize("again", REPEATED)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_long_line_is_read_once(path: Path, again: str, tmp_path: Path) -> None:
    whole = path.read_text()
    long = REPEATED[again] * (LENGTH // len(REPEATED[again]))
    for number, beginning in enumerate(BEGINNINGS.values()):
        lines = whole.splitlines(keepends=True)
        lines.insert(len(lines) // 2, f"{beginning}{long}!\n")
        for at, text in enumerate(("".join(lines), f"{beginning}{long}\n{whole}")):
            odd = tmp_path / f"{number}{at}_{path.name}"
            odd.write_text(text)
            try:
                imports.read((str(odd),))
            except SourceError:
                odd.unlink()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_many_blank_lines_are_passed_over(path: Path, tmp_path: Path) -> None:
    odd = tmp_path / path.name
    for blank in ("\n", " \n", "\t"):
        odd.write_text(path.read_text() + blank * LENGTH)
        try:
            imports.read((str(odd),))
        except SourceError:
            odd.unlink()
        odd.write_text(blank * 50_000 + path.read_text())
        try:
            imports.read((str(odd),))
        except SourceError:
            odd.unlink()
