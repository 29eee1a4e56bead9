"""JUnit's XML, read by a parser that is not ours: what passes, fails and is skipped, and why."""

from __future__ import annotations

from pathlib import Path

import junitparser
from makers.command_line import iocast

from iocast.model.report import Report
from iocast.report.renderers import junit

JOB = """\
name = "reads"
[[phase]]
test = "randread"
size = "8k"
users = [1, 8]
time = "2s"
"""


def read(path: Path) -> dict[str, tuple[str, str]]:
    """Test -> (how it ended, what is said)."""
    (suite,) = junitparser.JUnitXml.fromfile(str(path))
    cases = list(suite)
    ends = {f"{case.classname} {case.name}": (case.result, case.system_out or "") for case in cases}
    assert len(ends) == len(cases) == suite.tests
    told = {
        name: (type(results[0]).__name__.lower(), results[0].message) if results else ("passed", out)
        for name, (results, out) in ends.items()
    }
    assert suite.failures == sum(end == "failure" for end, _ in told.values())
    assert suite.skipped == sum(end == "skipped" for end, _ in told.values())
    return told


def test_a_card_has_its_rows_grades_and_findings(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB)
    levels = ("--slo", "p99<100ms@10/s", "--slo", "p99<1us@10/s")
    target = "sim:nvme,iops=1000/s"
    done = iocast("run", "job.toml", target, *levels, "-o", "card.xml", "--no-page", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tests = read(tmp_path / "card.xml")
    rows = {name: end for name, end in tests.items() if name.startswith("iocast.row ")}
    assert list(rows) == ["iocast.row randread 8k 1x1", "iocast.row randread 8k 8x1"]
    assert {end for end, _ in rows.values()} == {"passed"}
    grades = [end for name, end in tests.items() if name.startswith("iocast.grade ")]
    assert [end for end, says in grades if says.startswith("F: ")] == ["failure"]  # the level that is missed
    assert any(end == "passed" for end, _ in grades)


def test_a_figure_that_is_worse_fails(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB)
    sides = ("sim:nvme", "sim:nvme,servers=1")
    done = iocast("ab", "job.toml", *sides, "--rounds", "3", "-o", "ab.xml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tests = read(tmp_path / "ab.xml")
    worse = {name: says for name, (end, says) in tests.items() if end == "failure"}
    assert any("randread 8k 8x1 throughput" in name for name in worse), tests
    assert all("of the first side's performance" in says for says in worse.values())
    assert not any("1x1 throughput" in name for name in worse)


def test_any_other_report_is_one_test_with_its_verdict(tmp_path: Path) -> None:
    with (tmp_path / "x.xml").open("w", encoding="utf-8") as out:
        junit.render(Report(title="<b>", verdict="a & b\x1b[31m", sections=(), kind="size"), out)
    assert read(tmp_path / "x.xml") == {"iocast.size <b>": ("passed", "a & b�[31m")}
