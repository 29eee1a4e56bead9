"""Drawings: every kind of chart compiles in every theme, and shows what its data say."""

from __future__ import annotations

import json
import re
import struct
import zlib
from html import unescape
from pathlib import Path

import msgspec
import pytest
from makers import card_runs
from makers.card_pages import report_of
from makers.copied_files import copies, copy
from makers.graded_runs import graded_charts
from makers.ladder_runs import forecast_charts
from makers.live_moments import tape_of_a_load
from makers.made_traces import database_load, profile_of
from makers.msr_traces import every, msr
from makers.trends import trend_of

import iocast
from iocast.diagnose.comparable import side
from iocast.model.histogram import Histogram
from iocast.model.report import Chart, Report, Section
from iocast.model.run import Source
from iocast.report.charts import CHARTS, charts_at, plot_of
from iocast.report.charts.latency_buckets import BUCKET_EDGES_NS
from iocast.report.comparison_report import compare, repeats
from iocast.report.plot.cell_image import colour, levels, png
from iocast.report.plot.marks import Picture, Plot
from iocast.report.plot.theme import CLASSIC, LIGHT, PAGE, THEMES
from iocast.report.plot.words import apart
from iocast.report.renderers import json_report
from iocast.report.renderers.page.plots import drawing_html
from iocast.report.renderers.pictures import write_pictures
from iocast.report.result_tables import chart_table
from iocast.sessions.forecasting.size_devices import size
from iocast.sessions.live.tape_card import report_of_tape
from iocast.sessions.requests.size import SizeRequest

KINDS = list(CHARTS)


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chart]:
    """The first chart of each kind."""
    found: dict[str, Chart] = {}
    run = card_runs.quick_card()
    compared = compare([side("before", (run,)), side("after", (run,))], charts=True)
    repeated = repeats(side("again", (run, run)), charts=True)
    trend = trend_of(*[1000.0 + at % 3 for at in range(8)], *[700.0 + at % 3 for at in range(8)]).charts
    sized = size(SizeRequest(capacity="2TB", iops=30_000, device="sata-ssd")).report(charts=True).charts
    out = str(tmp_path_factory.mktemp("runs"))
    calibrated = (
        iocast.calibrate("sim:nvme,iops=5000/s", max_latency="2ms", time="1s", out=out).report(charts=True).charts
    )
    trace = msr(tmp_path_factory.mktemp("trace"), every(0.5, 6000, 0.4))
    device = "sim:nvme,service=constant:1ms,servers=1"
    (replayed,) = iocast.replay(trace, device, out=out).run.measured
    for chart in (
        *charts_at("replay", replayed),
        *report_of(run).charts,
        *report_of(card_runs.size_ladder(4096, 16384, 65536)).charts,
        *compared.charts,
        *repeated.charts,
        *graded_charts(),
        *trend,
        *forecast_charts(),
        *sized,
        *calibrated,
        *charts_at("profile", profile_of(tmp_path_factory.mktemp("made"), database_load(20))),
        *report_of_tape(tape_of_a_load(tmp_path_factory.mktemp("tape")), charts=True).charts,
        *charts_at(
            "copy", copies(*(copy(way, s, at) for way, s in (("splice", 1.0), ("mmap_window", 2.0)) for at in (1, 2)))
        ),
    ):
        found.setdefault(chart.kind, chart)
    return found


def tips_of(plot: Plot) -> list[str]:
    """All that is said under the pointer."""
    return [each for mark in plot.marks if not isinstance(mark, Picture) for each in mark.tips]


@pytest.mark.parametrize("kind", KINDS)
def test_it_compiles_and_speaks(charts: dict[str, Chart], kind: str) -> None:
    svg = drawing_html(charts[kind])
    assert svg.startswith("<svg ")
    assert "NaN" not in svg
    assert "undefined" not in svg
    assert "Infinity" not in svg
    assert "var(--c-" in svg
    tips = tips_of(plot_of(charts[kind], PAGE))
    assert tips
    assert {unescape(label) for label in re.findall(r'aria-label="([^"]*)"', svg)} == set(tips), "nothing else speaks"


def test_what_a_drawing_refers_to_is_its_own_where_a_test_begins_with_a_digit() -> None:
    run = card_runs.run(card_runs.reads("8k 1x1"), card_runs.reads("8k 8x1", users=8))
    chart = next(each for each in report_of(run).charts if each.kind == "latency_by_load")
    assert chart.key == "8k-8k-latency"
    svg = drawing_html(chart)
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
        card_runs.reads(f"r {n}x1", users=n, times=times, elapsed_ns=card_runs.SECOND_NS // n, direct=False)
        for n, times in zip((1, 2, 4), ladder, strict=True)
    ]
    run = card_runs.run(*rows, source=Source(tool="fio"))
    charts = (*report_of(run).charts, *compare([side("a", (run,)), side("b", (run,))], charts=True).charts)
    assert {"overview", "load_curve", "percentiles", "distribution"} <= {chart.kind for chart in charts}
    for chart in charts:
        assert not re.search("NaN|Infinity|undefined", drawing_html(chart)), chart.kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_data_are_plain(charts: dict[str, Chart], kind: str) -> None:
    """Numbers are numbers, and all but what writes the labels of an axis can be written down."""
    json.dumps(msgspec.to_builtins(plot_of(charts[kind], LIGHT), enc_hook=_label), allow_nan=False)


@pytest.mark.parametrize("kind", KINDS)
def test_its_figures_are_those_of_its_struct(charts: dict[str, Chart], kind: str) -> None:
    """The table below a chart, and what it is for programs, come from the fields of its points."""
    chart = charts[kind]
    table = chart_table(chart)
    first = next(iter(chart.point_lists.values()))
    assert [row.record for row in table.rows] == list(first)
    assert table.columns
    document = json_report.document(_report(chart)).charts[chart.key]
    assert list(document.tables) == list(chart.point_lists)
    for name, points in chart.point_lists.items():
        for point in points:
            assert {"end", "low", "high", "time", "rate"}.isdisjoint(point.__struct_fields__), f"{name}: in what unit?"


def _label(found: object) -> str:
    assert callable(found), found
    return ""


@pytest.mark.parametrize("theme", THEMES)
def test_a_picture_has_the_ground_of_its_theme(charts: dict[str, Chart], theme: str, tmp_path: Path) -> None:
    (picture,) = write_pictures(_report(charts["load_curve"]), tmp_path / "card.png", THEMES[theme])
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert _first_pixel(data) == bytes.fromhex(THEMES[theme].ground[1:])


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_itself_what_a_page_says_around_it(charts: dict[str, Chart], kind: str, tmp_path: Path) -> None:
    chart = charts[kind]
    (picture,) = write_pictures(_report(chart), tmp_path / "card.svg", LIGHT)
    svg = picture.read_text("utf-8")
    said = [unescape(words) for words in re.findall(r">([^<]+)</t", svg)]
    assert chart.title in said
    whole = " ".join(said)
    assert all(sentence in whole for sentence in (chart.summary, *chart.notes))
    assert ("2 s or more" in said) == (kind in ("latency_by_load", "throughput", "report_card"))
    assert ("above 10 ms" in said) == (kind == "latency_bands")
    if kind == "throughput":
        assert all(f'fill="{tone}"' in svg for tone in LIGHT.buckets), "the legend has each colour"


def _report(chart: Chart) -> Report:
    return Report("", "", (Section("family", "", charts=(chart,)),))


def _first_pixel(data: bytes) -> bytes:
    """Red, green and blue of the corner: a filter has nothing to its left and above to build on."""
    at, image = 8, b""
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        if name == b"IDAT":
            image += data[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(image)[1:4]


def test_the_classic_theme_is_that_of_fio_r() -> None:
    assert len(CLASSIC.buckets) == len(BUCKET_EDGES_NS) + 1 == 16
    assert (CLASSIC.buckets[0], CLASSIC.buckets[8], CLASSIC.buckets[15]) == ("#00007F", "#FFE800", "#4F0000")
    assert (CLASSIC.fast, CLASSIC.middling, CLASSIC.slow) == ("#C6D4F8", "#C9FACF", "#FFF6A0")


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
