"""Files that are cut anywhere, and damaged ones: refused, or read as far as they are whole and said to be cut."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from makers.left_out import long_after

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.card import card_report
from iocast.tools import importers
from iocast.tools.sysstat import iostat

FIXTURES = sorted(path for path in (Path(__file__).parent / "fixtures").rglob("*") if path.is_file())
# A series that ends earlier is a whole series: nothing shows that there was more of it.
SERIES = ("iostat_", "sar_", "dstat_", "collectl_", "diskstats_", "avg_", "each_")
CUTS = 14
DAMAGES = ("", "nan", "-1", "inf", "zzz", "null", "1e400", "99999999999999999999999")


@pytest.mark.parametrize("path", long_after(21, FIXTURES), ids=lambda path: path.name)
def test_a_cut_file_never_passes_for_a_whole_one(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    (whole,) = importers.read((str(path),))
    figures = {record.phase.name: record.measurement for record in whole.phases}
    for cut in range(1, CUTS):
        part = tmp_path / path.name
        part.write_text(text[: len(text) * cut // CUTS])
        try:
            (run,) = importers.read((str(part),))
        except SourceError:
            continue
        same = all(figures.get(record.phase.name) == record.measurement for record in run.phases)
        assert same or "cut" in " ".join(run.warnings) or path.name.startswith(SERIES)


SERIES_FILES = [path for path in FIXTURES if path.name.startswith(SERIES[:4]) and path.suffix != ".json"]


def sampled(run: Run) -> dict[tuple[int, str, str], float]:
    return {(each.time_ns, each.subject, each.metric): each.value for each in run.phases[0].samples}


@pytest.mark.parametrize("path", long_after(5, SERIES_FILES), ids=lambda path: path.name)
def test_a_series_has_no_figure_that_lost_its_last_digits(path: Path, tmp_path: Path) -> None:
    """The last line of an interrupted iostat had the right number of words, and 95.20 was 9."""
    text = path.read_text().rstrip()
    whole = sampled(importers.read((str(path),))[0])
    part = tmp_path / path.name
    for cut in range(1, 45):
        part.write_text(text[:-cut])
        try:
            (run,) = importers.read((str(part),))
        except SourceError:
            continue
        if iostat.ONLY_ONE not in run.warnings:
            found = sampled(run)
            assert {key: found[key] for key in found.keys() & whole.keys()}.items() <= whole.items()


EXAMPLES = Path(__file__).parent / "examples"
ROWS = [
    *(FIXTURES[0].parent / name for name in ("calibrate_io.txt", "crystaldiskmark.txt", "diskspd.txt", "ioping.txt")),
    *(EXAMPLES / name for name in ("fioparse.csv", "fioparse.txt", "orion_iops.csv", "orion_summary.txt")),
    *(EXAMPLES / f"vdbench_{name}.html" for name in ("flatfile", "histogram", "summary", "totals")),
]


@pytest.mark.parametrize("path", ROWS, ids=lambda path: path.name)
def test_a_row_has_no_figure_that_lost_its_last_digits(path: Path, tmp_path: Path) -> None:
    """Of fioparse's 3622 IOPS 3 were left, of CALIBRATE_IO's 175 MB/s 17."""
    text = path.read_text().rstrip()
    whole = {record.phase.name: record.measurement for record in importers.read((str(path),))[0].phases}
    part = tmp_path / path.name
    for cut in range(1, min(len(text), 30)):
        part.write_text(text[:-cut])
        try:
            (run,) = importers.read((str(part),))
        except SourceError:
            continue
        assert all(whole[record.phase.name] == record.measurement for record in run.phases)


@pytest.mark.parametrize("path", long_after(18, FIXTURES), ids=lambda path: path.name)
def test_a_damaged_word_is_refused_or_harmless(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    words = path.read_text().split(" ")
    for damage in DAMAGES:
        broken = words.copy()
        broken[chance.randrange(len(broken))] = damage
        part = tmp_path / path.name
        part.write_text(" ".join(broken))
        try:
            (run,) = importers.read((str(part),))
        except SourceError:
            continue
        card_report.card(run, examine(run))
