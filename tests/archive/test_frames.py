"""Rows, intervals and samples as Arrow streams: what other programs read of them is what the card has."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Literal

import duckdb
import pytest
from msgspec import Meta, Struct

import iocast
from iocast.archive.frames import Frame, frame_of
from iocast.errors import ArchiveError
from iocast.model.results.shown import Duration, Number, shown


def read(frame: Frame, query: str) -> list[tuple[object, ...]]:
    """What a query from `frame` answers."""
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        return connection.sql(query).fetchall()


class Row(Struct, frozen=True):
    name: Annotated[str, shown("row")]
    kind: Literal["a", "b"] | None = None
    count: Annotated[int, Meta(ge=0)] | None = None
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None
    p99_ns: Annotated[Duration, shown("p99", "duration")] = None
    shares: Annotated[tuple[Number, ...] | None, shown("histogram", "strip")] = None
    names: tuple[str, ...] = ()
    part: bool = False


def test_each_field_is_a_column_and_what_is_unknown_is_null() -> None:
    rows = [Row("one", "a", 3, 2, 10.5, (0, 0.5), ("x",), True), Row("two", p99_ns=(1.0, None))]
    frame = frame_of(rows, Row)
    assert frame.columns == Row.__struct_fields__
    assert read(frame, "FROM frame") == [
        ("one", "a", 3, 2.0, 10.5, [0.0, 0.5], ["x"], True),
        ("two", None, None, None, None, None, [], False),
    ]
    types = [kind for _, kind, *_ in read(frame, "DESCRIBE FROM frame")]
    assert types == ["VARCHAR", "VARCHAR", "BIGINT", "DOUBLE", "DOUBLE", "DOUBLE[]", "VARCHAR[]", "BOOLEAN"]


def test_without_rows_the_columns_stay() -> None:
    assert read(frame_of([], Row), "SELECT count(*), count(p99_ns) FROM frame") == [(0, 0)]


def test_the_tables_of_a_run_are_what_its_card_has(tmp_path: Path) -> None:
    """They can be asked for more than once; sums over the intervals are the rows'."""
    card = iocast.card("sim:nvme", preset="quick", time="200ms", out=str(tmp_path))
    for _ in range(2):
        rates = dict(read(card.rows, "SELECT phase, rate_per_s FROM frame WHERE NOT part"))
        assert rates == {each.phase.name: pytest.approx(each.measurement.iops) for each in card.run.measured}
    counts = dict(read(card.intervals, "SELECT phase, sum(ios)::BIGINT FROM frame GROUP BY ALL"))
    assert {name: counts[name] for name in rates} == {
        each.phase.name: sum(part.ios for part in each.measurement.classes) for each in card.run.measured
    }
    assert card.intervals.columns[:2] == ("run_id", "host")
    assert read(card.samples, "SELECT count(*) FROM frame") == [(sum(len(each.samples) for each in card.run.phases),)]
    assert "polars.DataFrame(table)" in repr(card.rows)


def test_a_folder_without_tables_has_none_and_a_damaged_one_is_an_error(tmp_path: Path) -> None:
    card = iocast.card("sim:nvme", preset="quick", time="100ms", out=str(tmp_path))
    tables = Path(card.folder, "intervals")
    (tables / "000.parquet").write_bytes(b"no table")
    with pytest.raises(ArchiveError, match=r"intervals.* cannot be read"):
        card.intervals.__arrow_c_stream__()
    shutil.rmtree(tables)
    assert read(card.intervals, "SELECT count(*) FROM frame") == [(0,)]
    from iocast.archive.frames import sample_frame

    with pytest.raises(ArchiveError, match="was not saved"):
        sample_frame("")
