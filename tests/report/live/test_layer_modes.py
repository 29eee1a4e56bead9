"""watch ioh and iolatency: known counters, the figures of the documents, bars and blanks."""

from __future__ import annotations

import pytest
from makers.live_moments import histogram, moment

from iocast.metrics import NO_BOUND
from iocast.model.live.moment import Interval
from iocast.report.live import ioh_lines, iolatency_lines
from iocast.report.live.line_modes import LINE_MODES

DRIVER_READ = ("block_layer", "vda|driver|read|8192")
DRIVER_WRITE = ("block_layer", "vda|driver|write|65536")
PREAD = ("system_calls", "postgres|pread64|8192")
FDATASYNC = ("system_calls", "postgres|fdatasync|")


def _interval(**_: object) -> Interval:
    none = {DRIVER_READ: histogram({64: 0}, 0), DRIVER_WRITE: histogram({64: 0}, 0), PREAD: histogram({64: 0}, 0)}
    before = {key: {**counts, "bytes": 0.0} for key, counts in none.items()}
    after = {
        DRIVER_READ: {**histogram({64: 1000, 16384: 20}, 51_000_000), "bytes": 1020 * 7.947 * 1024},
        DRIVER_WRITE: {**histogram({16384: 312}, 312 * 11_260_000), "bytes": 312 * 32.562 * 1024},
        PREAD: {**histogram({128: 1020}, 1020 * 90_000), "bytes": 1020 * 8192.0},
    }
    return Interval(
        moment(0, {**before, FDATASYNC: histogram({64: 0}, 0)}),
        moment(1, {**after, FDATASYNC: histogram({32768: 468}, 468 * 19_940_000)}),
    )


def test_figures_of_the_slide() -> None:
    """source-vectors V7: MB/s = count x avg_sz_kb / 1024."""
    found = ioh_lines.table(_interval())
    rows = {(row[0], row[1]): dict(zip(found.columns, row, strict=True)) for row in found.rows}
    assert rows["R", "io"]["MB/s"] == pytest.approx(7.9160, abs=5e-5)
    assert rows["W", "io"]["MB/s"] == pytest.approx(9.9212, abs=5e-5)
    assert rows["W", "io"]["avg_ms"] == pytest.approx(11.26)
    assert rows["W", "fssync"]["avg_ms"] == pytest.approx(19.94)
    assert rows["W", "fssync"]["MB/s"] is None
    assert sum(int(rows["R", "io"][f"lt_{head}"] or 0) for head in ("64u", "16m")) == 1020


def test_ioh_prints_as_its_model() -> None:
    text = list(ioh_lines.lines(_interval()))
    assert text[1].split("|")[1:] == ["       MB/s", "    avg_ms", " avg_sz_kb", "     count"]
    assert "R |      io:|     7.916 |     0.05 |    7.947 |     1020" in text
    assert "W |  fssync:|           |    19.94 |          |      468" in text


def test_iolatency_draws_stars_and_leaves_no_gap() -> None:
    found = iolatency_lines.table(_interval())
    assert found.rows[0] == (0.032, 0.064, 1000)
    assert [row[2] for row in found.rows] == [1000, 0, 0, 0, 0, 0, 0, 0, 332]
    lines = list(iolatency_lines.lines(_interval()))
    assert lines[1] == f"{'0.032':>9} -> {'0.064':<9}: {1000:<8} |{'#' * 38}|"
    assert lines[-2].count("#") == 13  # ceil(38 x 332 / 1000)


def test_what_lies_above_all_bounds_has_a_row() -> None:
    before, after = ({DRIVER_READ: {**histogram({64: n}), NO_BOUND: float(n)}} for n in (0, 3))
    found = iolatency_lines.table(Interval(moment(0, before), moment(1, after)))
    assert found.rows == ((0.032, 0.064, 3), (0.064, None, 3))


@pytest.mark.parametrize("mode", LINE_MODES, ids=lambda mode: mode.NAME)
def test_nothing_seen_is_no_error(mode: object) -> None:
    interval = Interval(moment(0, {}), moment(1, {}))
    assert mode.table(interval).rows == ()  # type: ignore[attr-defined]
    assert list(mode.lines(interval))  # type: ignore[attr-defined]
