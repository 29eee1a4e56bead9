"""Damage that once was a traceback, or a figure that nobody stated: each is refused with its place, or told blank."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.left_out import long_after

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.report.card import card_report
from iocast.report.renderers import json_report
from iocast.tools import importers, source_files

FIXTURES = Path(__file__).parent / "fixtures"
DOCUMENTS = sorted(FIXTURES.glob("*.json"))
WRONG: tuple[Any, ...] = (None, "x", [], {}, -5, 1e308, 10**400, True, [1], {"a": 1}, "12", 1.5)
TRIES = 40


def refusal(path: Path, content: bytes | str) -> SourceError:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SourceError) as refused:
        importers.read((str(path),))
    return refused.value


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        yield node, key
        yield from places(value)


@pytest.mark.parametrize("path", long_after(2, DOCUMENTS), ids=lambda path: path.name)
def test_a_value_of_another_kind_is_refused_or_harmless(path: Path, tmp_path: Path) -> None:
    chance = random.Random(path.name)
    part, whole = tmp_path / path.name, path.read_text()
    for _ in range(TRIES):
        document, _ = json.JSONDecoder().raw_decode(whole, whole.index("{"))
        node, key = chance.choice(list(places(document)))
        node[key] = chance.choice(WRONG)
        part.write_text(json.dumps(document, indent=1))
        try:
            (run,) = importers.read((str(part),))
        except SourceError:
            continue
        for record in run.phases:
            assert all(each.ios >= 0 and each.bytes >= 0 for each in record.measurement.classes)
        card_report.card(run, examine(run))


def test_a_number_out_of_all_bounds_names_its_job_and_line(tmp_path: Path) -> None:
    text = (FIXTURES / "fio_two_jobs.json").read_text()
    for wrong in ("-7", "1e999", "9" * 400):
        at = text.index('"total_ios"')
        error = refusal(tmp_path / "odd.json", f'{text[:at]}"total_ios" : {wrong}, "was{text[at + 1 :]}')
        line = text[: text.index('"jobname"')].count("\n") + 1
        assert f"odd.json:{line}: job scan" in error.message
    assert refusal(tmp_path / "odd.json", text.replace('"total_ios" : ', '"total_ios" : ' + "9" * 5000)).hint


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    assert "deep.json:1:" in refusal(tmp_path / "deep.json", '{"fio version":"fio-3.1","jobs":' + "[" * 100_000).message


def test_a_damaged_gzip_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress((FIXTURES / "fio_two_jobs.json").read_bytes())
    error = refusal(tmp_path / "bad.json.gz", whole[:40] + b"\xff\xfe\xfd" * 20 + whole[100:])
    assert "cannot read" in error.message


def test_what_a_shell_of_windows_redirected_is_read(tmp_path: Path) -> None:
    text = (FIXTURES / "fio_two_jobs.json").read_text()
    (tmp_path / "wide.json").write_bytes(text.replace("\n", "\r\n").encode("utf-16"))
    (wide,) = importers.read((str(tmp_path / "wide.json"),))
    (plain,) = importers.read((str(FIXTURES / "fio_two_jobs.json"),))
    assert [each.measurement for each in wide.phases] == [each.measurement for each in plain.phases]


@pytest.mark.parametrize("wrong", ["-1", "9" * 30, "x", ""])
def test_a_log_holds_whole_numbers_of_0_and_more(tmp_path: Path, wrong: str) -> None:
    lines = (FIXTURES / "logs" / "each_lat.1.log").read_text().splitlines(keepends=True)
    cells = lines[2].split(",")
    lines[2] = ",".join([cells[0], f" {wrong}", *cells[2:]])
    assert "log:3: not all of these are whole numbers" in refusal(tmp_path / "bad_lat.1.log", "".join(lines)).message


def test_a_heading_without_its_rate_is_refused(tmp_path: Path) -> None:
    """It was a KeyError."""
    text = "tod Run Interval reqrate speed MB/sec bytes/io read% resp\n10:00:01 one 1 100 90 1 4096 100 1.0\n"
    assert "flatfile.html:1: a heading without rate" in refusal(tmp_path / "flatfile.html", text).message


@pytest.mark.parametrize(("wrong", "processors"), [('"x"', 4), ("null", 4), ("[]", "many"), ("[]", 10**400)])
def test_json_of_iostat_of_another_shape_is_refused(tmp_path: Path, wrong: str, processors: object) -> None:
    document = json.loads((FIXTURES / "iostat_x.json").read_text())
    document["sysstat"]["hosts"][0]["statistics"][0]["disk"] = json.loads(wrong)
    document["sysstat"]["hosts"][0]["number-of-cpus"] = processors
    said = "not the JSON of sysstat" if processors == 4 else "number-of-cpus is"
    assert said in refusal(tmp_path / "odd.json", json.dumps(document)).message


@pytest.mark.parametrize("wrong", ["", " ", None])
def test_a_device_has_a_name(tmp_path: Path, wrong: Any) -> None:
    """Without one its run folder had no JSON report."""
    document = json.loads((FIXTURES / "iostat_x.json").read_text())
    document["sysstat"]["hosts"][0]["statistics"][0]["disk"][0]["disk_device"] = wrong
    assert "a device without its name" in refusal(tmp_path / "odd.json", json.dumps(document)).message
    lines = (FIXTURES / "sar_sadf_d.csv").read_text().splitlines()
    cells = lines[1].split(";")
    lines[1] = ";".join([*cells[:3], wrong or "", *cells[4:]])
    assert "odd.csv:2: a device without its name" in refusal(tmp_path / "odd.csv", "\n".join(lines) + "\n").message


@pytest.mark.parametrize("name", ["", " "])
def test_a_row_has_a_name(tmp_path: Path, name: str) -> None:
    """Without one its card had no JSON."""
    text = (FIXTURES / "fio_two_jobs.json").read_text().replace('"jobname" : "scan"', f'"jobname" : "{name}"')
    (tmp_path / "odd.json").write_text(text)
    (run,) = importers.read((str(tmp_path / "odd.json"),))
    assert all(record.phase.name.strip() for record in run.phases)
    json_report.render(card_report.card(run, examine(run)), io.StringIO())
    summary = (FIXTURES.parent / "examples" / "orion_summary.txt").read_text()
    refused = refusal(tmp_path / "s.txt", summary.replace("@ Small=5 and Large=0", "@ Small=0 and Large=0"))
    assert "a data point without outstanding I/Os" in refused.message


def test_the_next_day_does_not_overwrite_the_first(tmp_path: Path) -> None:
    """A time of day comes again in a file of two days."""
    text = (FIXTURES / "sar_d.txt").read_text()
    (tmp_path / "days.txt").write_text(text + "\n" + text.replace("371.00", "999.00"))
    (run,) = importers.read((str(tmp_path / "days.txt"),))
    rates = [each.value for each in run.phases[0].samples if each.metric == "ios_per_s"]
    assert rates == [371.0, 4020.0, 999.0, 4020.0]
    assert run.phases[0].measurement.elapsed_ns == (86_400 + 1) * 10**9


@pytest.mark.parametrize("wrong", [[], "x", None])
def test_bytes_that_are_not_stated_are_not_0(tmp_path: Path, wrong: Any) -> None:
    document = json.loads((FIXTURES / "fio_logged.json").read_text())
    document["jobs"][0]["read"]["io_bytes"] = wrong
    assert "io_bytes" in refusal(tmp_path / "odd.json", json.dumps(document)).message


def test_a_damaged_line_of_terse_output_is_not_passed_over(tmp_path: Path) -> None:
    lines = (FIXTURES / "fio_terse_v3.txt").read_text().splitlines()
    whole = next(line for line in lines if line.startswith("3;fio-"))
    error = refusal(tmp_path / "t.txt", f"{whole}\n{whole.replace('3;fio-', 'x;oio-', 1)}\n")
    assert "t.txt:2: many fields" in error.message


def test_a_field_beyond_the_limit_of_csv_is_refused(tmp_path: Path) -> None:
    """It was a traceback."""
    text = f'name,users,bs,MB,lat,iops\nrandread,16,8K,522.1,0.239,66828\n"{"x" * 200_000}",1,8K,1,1,1\n'
    assert "long.csv:3: not a row of a CSV file" in refusal(tmp_path / "long.csv", text).message
    flat = (FIXTURES.parent / "examples" / "vdbench_flatfile.csv").read_text()
    long = refusal(tmp_path / "flatfile.csv", f'{flat}"{"x" * 200_000}"\n')
    assert f"flatfile.csv:{flat.count(chr(10)) + 1}: not a row of a CSV file" in long.message


def test_control_characters_are_no_part_of_a_number(tmp_path: Path) -> None:
    """They are blanks to a pattern, and a traceback to int()."""
    text = "0, 100000, 0, 4096, 0\n1, 1\x1c, 0, 4096, 0\n2, 1, 0, 4096, 0\n"
    assert "odd_lat.1.log:2: not all of these" in refusal(tmp_path / "odd_lat.1.log", text).message


def test_more_than_the_limit_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 MB of gzip took 6 GB of memory."""
    monkeypatch.setattr(source_files, "LARGEST_BYTES", 1 << 20)
    whole = (FIXTURES / "fio_two_jobs.json").read_bytes() + b" " * (1 << 24)
    error = refusal(tmp_path / "large.json.gz", gzip.compress(whole))
    assert "is larger than 1 MiB unpacked" in error.message
    assert "cut it into parts" in (error.hint or "")
    assert "is larger than 1 MiB" in refusal(tmp_path / "large.json", whole).message
    monkeypatch.setattr(source_files, "MOST_LINES", 1_000)
    for blank in ("\n", "\f"):
        lines = (FIXTURES / "iostat_dk.txt").read_text() + blank * 1_000
        assert "has more than 1,000 lines" in refusal(tmp_path / "long.txt", lines).message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("far_lat.1.log", "1, 100000, 0, 4096, 0\n253402300800000000, 1, 0, 4096, 0\n"),
        ("large_bw.1.log", "1, 1, 0, 18446744073709551615, 0\n2, 1, 0, 4096, 0\n"),
        ("slow.csv", "name,users,bs,MB,lat,iops\nrandread,16,8K,522.1,18446744073709551615,66828\n"),
    ],
)
def test_what_could_not_be_opened_again_is_refused(tmp_path: Path, name: str, text: str) -> None:
    """It became a run folder that was refused as damaged ever after."""
    assert f"{name}: no tool can have measured this" in refusal(tmp_path / name, text).message


@pytest.mark.parametrize(
    ("wrong", "says"), [("101.0", "states a percentile above 100"), ("9" * 400, "a percentile is larger than any")]
)
def test_a_percentile_above_100_is_refused(tmp_path: Path, wrong: str, says: str) -> None:
    text = (FIXTURES / "fio_averaged.json").read_text().replace('"99.990000"', f'"{wrong}"', 1)
    assert says in refusal(tmp_path / "odd.json", text).message


def test_colours_of_a_terminal_are_no_part_of_any_result(tmp_path: Path) -> None:
    """A terminal's record of fio was refused as a truncated job, or lost what its first line says of the load."""
    text = (FIXTURES / "fio_both.txt").read_text()
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K\n" for line in text.splitlines())
    found = []
    for written in (text, coloured):
        (tmp_path / "fio_both.txt").write_text(written)
        (run,) = importers.read((str(tmp_path / "fio_both.txt"),))
        found.append([(each.phase, each.measurement) for each in run.phases])
    assert found[0] == found[1]
