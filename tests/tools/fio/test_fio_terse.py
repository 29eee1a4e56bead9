"""fio's terse lines of every version, made by fio 3.33, against its JSON of the same run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.fio import fio_terse
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def line_and_json(fixtures: Path) -> tuple[str, dict[str, object]]:
    text = (fixtures / "fio_all_formats.txt").read_text()
    start = text.index("\n3;fio") + 1
    line = text[start : text.index("\n", start) + 1]
    return line, json.loads(text[text.index("\n{\n") : text.index("\n}\n") + 2])


def test_it_is_known_by_its_version_and_its_percentiles(fixtures: Path) -> None:
    for version in (2, 3, 4, 5):
        assert fio_terse.sniff(Head("x", (fixtures / f"fio_terse_v{version}.txt").read_text()))
    assert not fio_terse.sniff(Head("x", "3;fio-3.33;no percentiles;0;0"))
    assert not fio_terse.sniff(Head("x", "9;fio-9;a;0;0;1.000000%=6"))


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_every_version_is_the_same_load(fixtures: Path, version: int) -> None:
    (run,) = importers.read((str(fixtures / f"fio_terse_v{version}.txt"),))
    (record,) = run.phases
    (part,) = record.measurement.classes
    assert (record.phase.name, part.op, part.size_bytes) == ("reads", "read", 8192)
    in_flight = record.measurement.rate_per_s * part.service.mean_ns / 1e9
    assert 3.8 < in_flight < 4.1  # iodepth=4: units and fields are right
    assert part.service.coarse is not None
    assert part.service.coarse.stated_share == pytest.approx(1, abs=0.01)
    assert run.warnings == ()
    assert {"users", "depth", "direct"} <= {*record.unstated}


def test_terse_and_json_of_one_run_agree(fixtures: Path, read_all: Reader) -> None:
    line, document = line_and_json(fixtures)
    (record,) = read_all(("three.txt", line)).phases
    job = document["jobs"][0]  # type: ignore[index]
    for part in record.measurement.classes:
        exact = job[part.op]
        assert part.ios == exact["total_ios"]
        assert part.bytes == exact["io_bytes"]
        assert part.service.mean_ns == pytest.approx(exact["lat_ns"]["mean"], rel=1e-3)
        assert part.service.quantile_ns(0.99) == pytest.approx(exact["clat_ns"]["percentile"]["99.000000"], rel=1e-2)


def test_a_description_with_semicolons_is_no_field(fixtures: Path, read_all: Reader) -> None:
    line, _ = line_and_json(fixtures)
    run = read_all(("three.txt", line.rstrip("\n") + ";one; two; three\n"))
    assert run.phases[0].measurement.classes[0].size_bytes == 8192


def test_a_size_that_does_not_follow_is_not_stated(fixtures: Path, read_all: Reader) -> None:
    fields = line_and_json(fixtures)[0].split(";")
    fields[5] = str(int(fields[5]) + 1)  # KiB that are no whole number of blocks
    (record,) = read_all(("odd.txt", ";".join(fields))).phases
    assert record.measurement.classes[0].size_bytes == 0
    assert {"size", "ios"} <= {*record.unstated}


def test_a_cut_line_is_refused_with_its_number(fixtures: Path, read_all: Reader) -> None:
    line, _ = line_and_json(fixtures)
    with pytest.raises(SourceError, match=r"cut.txt:2: .* not a line of terse version 3, or a truncated one"):
        read_all(("cut.txt", line + line[:900]))


def test_a_field_that_is_no_number_is_refused(fixtures: Path, read_all: Reader) -> None:
    fields = line_and_json(fixtures)[0].split(";")
    fields[7] = "nan"
    with pytest.raises(SourceError, match=r"odd.txt:1: field 8 is nan"):
        read_all(("odd.txt", ";".join(fields)))


def test_of_several_states_of_the_same_jobs_the_last_counts(fixtures: Path) -> None:
    """--status-interval: two jobs, five states; each line was a row."""
    (run,) = importers.read((str(fixtures / "fio_terse_states.txt"),))
    assert [each.phase.name for each in run.phases] == ["a", "b"]
    assert [each.measurement.bytes for each in run.phases] == [110_312 * 1024, 96_192 * 1024]
    assert "8 earlier states of the unfinished run are left out" in run.warnings[0]


def test_repeats_of_a_job_are_no_states_of_it(fixtures: Path, tmp_path: Path) -> None:
    whole = (fixtures / "fio_terse_v3.txt").read_text().splitlines()
    line = next(line for line in whole if line.startswith("3;fio-"))
    (tmp_path / "loop.txt").write_text(f"{line}\n" * 3)
    (run,) = importers.read((str(tmp_path / "loop.txt"),))
    assert len(run.phases) == 3
