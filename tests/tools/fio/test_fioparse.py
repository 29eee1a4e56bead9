"""fioparse's tables: what fioparse.sh itself printed, its matrix, and the old table of vector V3."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.charts import overview, plot_of
from iocast.report.charts.subjects import ExaminedRun
from iocast.report.plot.marks import Rings
from iocast.report.plot.theme import LIGHT
from iocast.report.renderers.classic import render_run
from iocast.tools import importers
from iocast.tools.fio import fioparse
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
GOLDEN = Path(__file__).parents[2] / "golden" / "card"  # printed by fioparse.sh

# V3: name users size MB ms IOPS
V3 = """\
test  users size         MB       ms    IOPS
    read  1   8K   28.299    0.271    3622
    read  1  32K   56.731    0.546    1815
    read  1 128K   78.634    1.585     629
    read  1   1M   91.763   10.890      91
    read  8   1M   50.784  156.160      50
    read 16   1M   52.895  296.290      52
    read 32   1M   55.120  551.610      55
    read 64   1M   58.072 1051.970      58
randread  1   8K    0.176   44.370      22
randread  8   8K    2.763   22.558     353
randread 16   8K    3.284   37.708     420
randread 32   8K    3.393   73.070     434
randread 64   8K    3.734  131.950     478
   write  1   1K    2.588    0.373    2650
   write  1   8K   26.713    0.289    3419
   write  1 128K   11.952   10.451      95
   write  4   1K    6.684    0.581    6844
   write  4   8K   15.513    2.003    1985
   write  4 128K   34.005   14.647     272
   write 16   1K    7.939    1.711    8130
   write 16   8K   10.235   12.177    1310
   write 16 128K   13.212  150.080     105
"""
V1_MATRIX = """\
m <- NULL
m <- matrix(c(
"read", 1, "8K", 12.106, 0.641, 0.2, 10, 0.2, 1549, 0, 0, 2, 20, 70, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {percentiles}
),nrow=31)
"""
CSV = """\
"system","name","users","bs","MB","lat","min","max","std","iops","us50","us100","p95_00"
"ssd","randread",16,"8K",522.1,0.239,0.1,9,0.1,66828,0,1,0.262
"""


def test_it_is_known_by_its_headings() -> None:
    for text in (V3, V1_MATRIX, CSV, (GOLDEN / "classic.txt").read_text()):
        assert fioparse.sniff(Head("x", text))
    assert not fioparse.sniff(Head("x", "name,size\nread,1\n"))


def test_its_rows_are_drawn_with_the_percentiles_they_state() -> None:
    """None states a p50, and so none was drawn. The older table states means alone."""
    (run,) = importers.read((str(GOLDEN / "classic.txt"),))
    (about,) = overview.tell(ExaminedRun(Facts(run), examine(run)))
    random, large = about.rows
    assert (random.mean_ns, random.p50_ns, random.max_ns) == (1_479_000, None, 3_000_000_000)
    assert (random.p95_ns, random.p99_ns, random.p99_9_ns) == (900_000, 9_011_000, 45_023_000)
    assert large.p99_ns == 40_000_000
    assert about.summary == "The mean ranges from 1.5 ms (randread 8K 16x1) to 40 ms (write 128K 4x1)."
    assert overview.MEANS in about.notes
    assert [len(mark.rings) for mark in plot_of(about, LIGHT).marks if isinstance(mark, Rings)] == [2]

    (old,) = importers.read((str(Path(__file__).parents[1] / "examples" / "fioparse.txt"),))
    (about,) = overview.tell(ExaminedRun(Facts(old), examine(old)))
    assert [row.max_ns for row in about.rows] == [None] * 4
    assert plot_of(about, LIGHT)


def test_v3_every_row_and_littles_law(read_all: Reader) -> None:
    run = read_all(("fio_summary.out", V3))
    assert len(run.phases) == 22
    ratios = {
        record.phase.name: record.measurement.rate_per_s
        * record.measurement.service().mean_ns
        / 1e9
        / record.plan.users
        for record in run.phases
    }
    assert ratios.pop("write 1K 16x1") == pytest.approx(13.91 / 16, abs=1e-3)
    assert all(0.945 < ratio < 1.005 for ratio in ratios.values())
    trust = examine(run).trust
    assert trust["write 1K 16x1"].grade == "D"
    assert {trust[name].grade for name in ratios} == {"C"}


def test_v1_as_a_row_of_the_matrix(read_all: Reader) -> None:
    (record,) = read_all(("m.r", V1_MATRIX.format(percentiles="0.000, " * 5 + "0.000"))).phases
    times = record.measurement.service("read")
    assert (times.mean_ns, times.least_ns, times.most_ns) == (641_000, 200_000, 10_000_000)
    assert times.quantile_bounds_ns(0.5) == (500_000, 1_000_000)
    assert times.coarse is not None
    assert times.coarse.quantiles == ()  # 0.000 was not there
    assert record.measurement.bytes == 12_397 * 1024


def test_a_csv_names_its_columns(read_all: Reader) -> None:
    (record,) = read_all(("all.csv", CSV)).phases
    assert record.measurement.service("read").quantile_ns(0.95) == 262_000
    assert (record.plan.users, record.measurement.rate_per_s) == (16, 66_828)


@pytest.mark.parametrize("name", ["classic.txt", "classic_v1.txt"])
def test_what_fioparse_printed_is_printed_again(name: str) -> None:
    (run,) = importers.read((str(GOLDEN / name),))
    out = io.StringIO()
    render_run(run, out, percentiles="99%" in (GOLDEN / name).read_text())
    wanted = (GOLDEN / name).read_text().splitlines()
    for mine, theirs in zip(out.getvalue().splitlines(), wanted, strict=True):
        # "0" is a share below 1 %, of which nothing is left.
        assert mine.split(",")[0].split() == [word for word in theirs.split(",")[0].split() if word != "0"]
        assert mine.partition(",")[2] == theirs.partition(",")[2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (V3.replace("0.271    3622", "0.271"), "bad.out:2: an unreadable or truncated row"),
        (V1_MATRIX.format(percentiles="0.000"), "26 values; a matrix row has 31"),
        (CSV.replace(",0.262", ""), "bad.out:2: 12 values under 13 headings"),
        (CSV.replace("66828", "many"), 'iops is "many"'),
        (CSV.replace('"lat"', '"latency"'), "a heading without lat"),
        (V3.splitlines()[0] + "\n", "it has no row of a test"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.out", text))
    assert says in refused.value.message
