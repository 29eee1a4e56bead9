"""Drawings: every kind of chart compiles in every theme, and shows what its data say."""

from __future__ import annotations

import json
import re
import struct
import zlib
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from makers import card_runs
from makers.card_pages import report_of

from iocast.diagnose.comparable import side
from iocast.model.histogram import Histogram
from iocast.model.report import Chart, ChartKind, Report, Section
from iocast.model.run import Source
from iocast.report.charts.latency_by_load import BUCKET_EDGES_NS
from iocast.report.comparison.comparison_report import compare, repeats
from iocast.report.renderers.pictures import write_pictures
from iocast.report.vega import DRAWINGS, specification, to_svgs
from iocast.report.vega.parts import apart
from iocast.report.vega.picture import colour, levels, png
from iocast.report.vega.theme import CLASSIC, LIGHT, PAGE, THEMES

KINDS = list(DRAWINGS)


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    """The first chart of each kind."""
    found: dict[str, Chart] = {}
    run = card_runs.quick_card()
    compared = compare([side("before", (run,)), side("after", (run,))], charts=True)
    repeated = repeats(side("again", (run, run)), charts=True)
    for chart in (*report_of(run).charts, *compared.charts, *repeated.charts):
        found.setdefault(chart.kind, chart)
    return found


def marks(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """All rows of all layers."""
    return [row for layer in spec["layer"] for row in layer["data"]["values"]]


@pytest.mark.parametrize("kind", KINDS)
def test_it_compiles_and_speaks(charts: dict[str, Chart], kind: str) -> None:
    svg = to_svgs([charts[kind]], PAGE)[0]
    assert svg.startswith("<svg ")
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert "Infinity" not in svg
    assert "var(--c-" in svg
    tips = [row["tip"] for row in marks(specification(charts[kind], PAGE)) if "tip" in row]
    assert tips
    assert {unescape(label) for label in re.findall(r'aria-label="([^"]*)"', svg)} == set(tips), "nothing else speaks"


def test_what_a_drawing_refers_to_is_its_own_where_a_test_begins_with_a_digit() -> None:
    run = card_runs.run(card_runs.reads("8k x1"), card_runs.reads("8k x8", users=8))
    chart = next(each for each in report_of(run).charts if each.kind == "latency_by_load")
    assert chart.key == "8k-8k-latency"
    svg = to_svgs([chart], PAGE)[0]
    referred = set(re.findall(r"url\(#([^)]*)\)", svg))
    assert referred
    assert referred <= set(re.findall(r' id="([^"]*)"', svg))
    assert all(name.startswith("8k-8k-latency-clip") for name in referred)


SOME, NONE = card_runs.histogram((0, 900), (1000, 100)), card_runs.histogram((0, 1000))


@pytest.mark.parametrize(
    "ladder", [(SOME, SOME, SOME), (NONE, SOME, SOME), (NONE, NONE, NONE)], ids=["most", "first", "all"]
)
def test_times_of_nothing_are_drawn(ladder: tuple[Histogram, ...]) -> None:
    """Tools that count microseconds state 0 for what took less than one."""
    rows = [
        card_runs.reads(f"r x{n}", users=n, times=times, elapsed_ns=card_runs.SECOND_NS // n, direct=False)
        for n, times in zip((1, 2, 4), ladder, strict=True)
    ]
    run = card_runs.run(*rows, source=Source(tool="fio"))
    charts = (*report_of(run).charts, *compare([side("a", (run,)), side("b", (run,))], charts=True).charts)
    assert {"overview", "load_curve", "percentiles", "distribution"} <= {chart.kind for chart in charts}
    for chart in charts:
        assert not re.search("NaN|Infinity|undefined", to_svgs([chart], PAGE)[0]), chart.kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_data_are_plain(charts: dict[str, Chart], kind: str) -> None:
    spec = specification(charts[kind], LIGHT)
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_has_the_ground_of_its_theme(charts: dict[str, Chart], theme: str, tmp_path: Path) -> None:
    (picture,) = write_pictures(_report(charts["load_curve"]), tmp_path / "card.png", THEMES[theme])
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert _first_pixel(data) == bytes.fromhex(THEMES[theme].ground[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_itself_what_a_page_says_around_it(
    charts: dict[str, Chart], kind: ChartKind, tmp_path: Path
) -> None:
    chart = charts[kind]
    (picture,) = write_pictures(_report(chart), tmp_path / "card.svg", LIGHT)
    svg = picture.read_text("utf-8")
    said = [unescape(words) for words in re.findall(r">([^<]+)</t", svg)]
    assert chart.title in said
    whole = " ".join(said)
    assert all(sentence in whole for sentence in (chart.summary, *chart.notes))
    assert ("2 s and more" in said) == (kind in ("latency_by_load", "throughput"))
    assert ("above 10 ms" in said) == (kind == "latency_by_load")
    if kind == "throughput":
        assert all(f'fill="{tone}"' in svg for tone in LIGHT.buckets), "the legend has each colour"


def _report(chart: Chart) -> Report:
    return Report("", "", (Section("", charts=(chart,)),))


def _first_pixel(data: bytes) -> bytes:
    """Red, green and blue of the corner: a filter has nothing to its left and above to build on."""
    at, image = 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IDAT":
            image += data[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(image)[1:4]


def test_the_load_curve_is_joined_in_the_order_of_the_loads() -> None:
    run = card_runs.run(
        *(
            card_runs.reads(f"randread 8k x{users}", users=users, times=card_runs.lognormal(5_000, took, 0.2))
            for users, took in ((1, 1e6), (4, 2e6), (16, 2e7))
        )
    )
    (chart,) = (each for each in report_of(run).charts if each.kind == "load_curve")
    layers = [layer for layer in specification(chart, LIGHT)["layer"] if layer["mark"]["type"] == "line"]
    for layer in layers:
        rates = [row["x"] for row in layer["data"]["values"]]
        assert rates[1] > rates[0] > rates[2], "past saturation the rate falls: the curve folds back"
        assert [row["o"] for row in layer["data"]["values"]] == [0, 1, 2]
        assert layer["encoding"]["order"] == {"field": "o"}


def test_loads_at_the_same_place_share_a_name() -> None:
    times = card_runs.lognormal(5_000, 1e6, 0.2)
    ladder = ((1, 5_000_000_000), (8, 700_000_000), (32, 690_000_000))
    rows = [card_runs.reads(f"r x{n}", users=n, times=times, elapsed_ns=took) for n, took in ladder]
    (chart,) = (each for each in report_of(card_runs.run(*rows)).charts if each.kind == "load_curve")
    texts = [
        layer["data"]["values"] for layer in specification(chart, LIGHT)["layer"] if layer["mark"]["type"] == "text"
    ]
    assert ["1", "8, 32"] in [[row["t"] for row in rows] for rows in texts]


def test_the_shares_behind_the_classic_chart_are_all_io(charts: dict[str, Chart]) -> None:
    for row in charts["latency_by_load"].tables[0].rows:
        shares = [row.cells[key] for key in ("fast", "middling", "slow")]
        assert sum(share for share in shares if isinstance(share, float)) == pytest.approx(1)
    for load in {row.cells["load"] for row in charts["throughput"].tables[1].rows}:
        of_load = [row.cells["share"] for row in charts["throughput"].tables[1].rows if row.cells["load"] == load]
        assert sum(share for share in of_load if isinstance(share, float)) == pytest.approx(1)


def test_the_classic_theme_is_that_of_fio_r() -> None:
    assert len(CLASSIC.buckets) == len(BUCKET_EDGES_NS) + 1 == 16
    assert (CLASSIC.buckets[0], CLASSIC.buckets[8], CLASSIC.buckets[15]) == ("#00007F", "#FFE800", "#4F0000")
    assert (CLASSIC.fast, CLASSIC.middling, CLASSIC.slow) == ("#C6D4F8", "#C9FACF", "#FFF6A0")


def test_scaling_bars_have_the_colours_of_the_rule() -> None:
    """The slides' 1M reads lose throughput from 1 to 8 users; 8k random reads first become faster."""
    assert _bars([(1, 10.89, 91.763), (8, 156.16, 50.784), (16, 296.29, 52.895)]) == [CLASSIC.lost, CLASSIC.slower]
    assert _bars([(1, 44.37, 0.176), (8, 22.558, 2.763), (16, 37.708, 3.284)]) == [CLASSIC.faster, CLASSIC.slower]


def _bars(table: list[tuple[int, float, float]]) -> list[str]:
    rows = []
    for users, ms, mb in table:
        times = card_runs.histogram((ms * 1e6, 1000))
        elapsed_ns = round(1000 * 8192 / (mb * 2**20) * 1e9)
        rows.append(card_runs.reads(f"read x{users}", users=users, times=times, elapsed_ns=elapsed_ns))
    (chart,) = (each for each in report_of(card_runs.run(*rows)).charts if each.kind == "scaling")
    (bars,) = (layer for layer in specification(chart, CLASSIC)["layer"] if layer["mark"]["type"] == "rect")
    return [row["c"] for row in bars["data"]["values"]]


def test_heat_maps_show_a_single_io_and_nothing_as_dark() -> None:
    ((none, one, many),) = levels([[0, 1, 100_000]])
    assert none == 0
    assert one > 0.12
    assert many == 1
    assert sum(colour(0)) < 60 < sum(colour(one)) < sum(colour(many))
    data = png([[0, 1], [1, 0], [1, 1]])
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    lines = zlib.decompress(data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8])
    assert lines == bytes([0, 63, 0, 63]) + bytes([0, 0, 63, 63]), "the last cell of a column is on top"


def test_labels_are_moved_apart_as_little_as_that_takes() -> None:
    assert apart([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    moved = apart([0.5, 0.5, 0.52], 0.1)
    assert sorted(moved) == pytest.approx([0.4067, 0.5067, 0.6067], abs=0.01)
    assert moved[0] < moved[2]


def test_labels_that_are_moved_stay_in_the_chart() -> None:
    """Names of lines that end at the top stood upon each other: a scale ends where it is told to."""
    assert apart([0.95, 0.97, 0.99], 0.1, highest=1.0) == pytest.approx([0.8, 0.9, 1.0])
    assert apart([0.1, 0.97], 0.1, highest=1.0) == [0.1, 0.97]
