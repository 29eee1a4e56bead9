"""Job files that are found and read, of any language: what all of them must keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.jobs import load_job


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "many.toml",
            'name = "x"\n[files]\ncount = 300000000\nsize = "4k"\n[[phase]]\ntest = "r"\nsize = "4k"\ntime = "1s"\n',
        ),
        ("many.fio", "[a]\nrw=randread\nbs=4k\nsize=1200g\nnrfiles=300000000\nruntime=1\n"),
    ],
)
def test_more_work_files_than_can_be_opened_are_refused(name: str, text: str, tmp_path: Path) -> None:
    """Found by the fuzz test: a job of 300 million files took all memory when it was written as fio's."""
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SpecError, match="300000000 work files are too many"):
        load_job(str(path))
