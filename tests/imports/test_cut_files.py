"""Files that are cut anywhere, and damaged ones: refused, or read as far as they are whole and said to be cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from iocast import imports
from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.report.card import card_report

FIXTURES = sorted(path for path in (Path(__file__).parent / "fixtures").rglob("*") if path.is_file())
# A series that ends earlier is a whole series: nothing shows that there was more of it.
SERIES = ("iostat_", "sar_", "dstat_", "collectl_", "diskstats_", "avg_", "each_")
CUTS = 14
DAMAGES = ("", "nan", "-1", "inf", "zzz", "null", "1e400", "99999999999999999999999")


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_a_cut_file_never_passes_for_a_whole_one(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    (whole,) = imports.read((str(path),))
    figures = {record.phase.name: record.measurement for record in whole.phases}
    for cut in range(1, CUTS):
        part = tmp_path / path.name
        part.write_text(text[: len(text) * cut // CUTS])
        try:
            (run,) = imports.read((str(part),))
        except SourceError:
            continue
        same = all(figures.get(record.phase.name) == record.measurement for record in run.phases)
        assert same or "cut" in " ".join(run.warnings) or path.name.startswith(SERIES)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_a_damaged_word_is_refused_or_harmless(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    words = path.read_text().split(" ")
    for damage in DAMAGES:
        broken = words.copy()
        broken[chance.randrange(len(broken))] = damage
        part = tmp_path / path.name
        part.write_text(" ".join(broken))
        try:
            (run,) = imports.read((str(part),))
        except SourceError:
            continue
        card_report.card(run, examine(run))
