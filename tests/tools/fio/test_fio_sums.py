"""Entries of fio that sum up several jobs or operations: told as what they are, never with one job's options."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.errors import SourceError
from iocast.model.run import PhaseRecord, Run
from iocast.report.card import card_report
from iocast.report.renderers import terminal
from iocast.tools import importers


def of(path: Path) -> Run:
    (run,) = importers.read((str(path),))
    return run


def sizes(record: PhaseRecord) -> dict[str, int]:
    return {each.op: each.size_bytes for each in record.measurement.classes}


def test_the_sum_of_reads_and_writes_overwrites_neither(fixtures: Path) -> None:
    """unified_rw_reporting=both tells a mix a third time, as one."""
    run = of(fixtures / "fio_both.txt")
    (record,) = run.phases
    assert record.measurement.elapsed_ns == 1_405_000_000
    reads, writes = record.measurement.classes
    assert (reads.ios, writes.ios) == (4467, 2016)
    assert writes.service.mean_ns == pytest.approx(12_382.12)
    assert writes.service.coarse is not None
    assert [each.value_ns for each in writes.service.coarse.quantiles] == [5408, 11840, 21632]
    assert not run.warnings


def test_reads_and_writes_as_one_only_are_refused_with_their_line(fixtures: Path, tmp_path: Path) -> None:
    text = (fixtures / "fio_both.txt").read_text()
    head, _, rest = text.partition("  read: IOPS")
    (tmp_path / "mixed.txt").write_text(f"{head}  mixed: IOPS{rest.partition('  mixed: IOPS')[2]}")
    document = json.loads((fixtures / "fio_unlike.json").read_text())
    (job,) = document["jobs"]
    job["mixed"] = job.pop("read")
    del job["write"], job["trim"], job["sync"]
    (tmp_path / "mixed.json").write_text(json.dumps(document, indent=2))
    for name, line in (("mixed.txt", 6), ("mixed.json", 17)):
        with pytest.raises(SourceError) as refused:
            of(tmp_path / name)
        assert f"{name}:{line}: job" in refused.value.message
        assert "reads and writes as one (unified_rw_reporting=mixed)" in refused.value.message
        assert "none or both" in refused.value.hint


def test_a_group_of_unlike_sections_has_the_sizes_of_each(fixtures: Path) -> None:
    """Its head line is that of the first section only."""
    run = of(fixtures / "fio_unlike.txt")
    (record,) = run.phases
    assert not run.warnings
    assert (record.plan.users, record.plan.depth) == (3, 1)
    assert record.phase.test == "read+write+fsync"
    assert sizes(record) == {"read": 8192, "write": 4096, "fsync": 0}
    assert record.measurement.bytes == 9354 * 8192 + 1632 * 4096


def test_a_group_of_one_section_keeps_its_load(fixtures: Path, tmp_path: Path) -> None:
    """A second output behind the first begins anew: its sections are no part of the first's groups."""
    one = (fixtures / "fio_unlike.txt").read_text().replace("\n...\nlog: (g=0)", "\n...\nlog: (g=1)")
    (tmp_path / "two.txt").write_text(one.replace("scan", "first") + one)
    first, second = of(tmp_path / "two.txt").phases
    assert (first.phase.test, second.phase.test) == ("randread", "randread")
    assert first.plan.users == second.plan.users == 3


def test_in_json_a_group_of_unlike_sections_has_the_load_of_none(fixtures: Path) -> None:
    """fio writes down the options of one of them, and not how many jobs there were."""
    (record,) = of(fixtures / "fio_unlike.json").phases
    assert {"users", "depth", "direct", "arrival"} <= {*record.unstated}
    assert record.phase.test == "read+write+fsync"
    assert sizes(record) == {"read": 8192, "write": 4096, "fsync": 0}


def test_more_threads_than_one_section_has_are_a_group(fixtures: Path, tmp_path: Path) -> None:
    """Two sections of reads: only the run times of all threads together tell."""
    document = json.loads((fixtures / "fio_unlike.json").read_text())
    (job,) = document["jobs"]
    job["job options"] = {"rw": "randread", "bs": "8k"}
    job["write"]["total_ios"] = job["sync"]["total_ios"] = 0
    (tmp_path / "reads.json").write_text(json.dumps(document))
    (record,) = of(tmp_path / "reads.json").phases
    assert "users" in record.unstated
    job["job options"]["numjobs"] = "3"
    (tmp_path / "reads.json").write_text(json.dumps(document))
    (record,) = of(tmp_path / "reads.json").phases
    assert (record.plan.users, "users" in record.unstated) == (3, False)


def test_the_size_of_one_section_is_not_that_of_all(fixtures: Path, tmp_path: Path) -> None:
    document = json.loads((fixtures / "fio_logged.json").read_text())
    document["jobs"][0]["read"]["io_bytes"] += 4097
    (tmp_path / "odd.json").write_text(json.dumps(document))
    (record,) = of(tmp_path / "odd.json").phases
    assert "size" not in record.unstated  # a short I/O
    document["jobs"][0]["read"]["io_bytes"] *= 2
    (tmp_path / "odd.json").write_text(json.dumps(document))
    (record,) = of(tmp_path / "odd.json").phases
    assert "size" in record.unstated


def test_all_clients_are_a_sum_of_unknown_load(fixtures: Path) -> None:
    run = of(fixtures / "fio_clients.json")
    record = run.phases[-1]
    assert [each.phase.name.partition(" on ")[0] for each in run.phases] == ["scan", "scan", "log", "All clients"]
    assert record.phase.name == "All clients"
    assert {"users", "depth"} <= {*record.unstated}
    assert record.measurement.ios == 18648 + 10272 + 1284
    assert any("own sum of the rows above" in warning for warning in run.warnings)


def test_flushes_of_the_text_are_no_part_of_the_mix(fixtures: Path, tmp_path: Path) -> None:
    """As in JSON, so that one job compares with itself in either format."""
    (record,) = of(fixtures / "fio_unlike.txt").phases
    assert [each.op for each in record.plan.mix] == ["read", "write"]
    assert record.plan.fsync_every == 8
    assert "fsync_every" in record.unstated


def test_jobs_of_one_group_ran_at_once(fixtures: Path) -> None:
    """Each alone would be told as if it had had the storage for itself."""
    for name in ("fio_clients.json", "fio_two_jobs.json"):
        run = of(fixtures / name)
        groups = [{each.phase.name for each in run.beside(record)} for record in run.phases]
        kept = [record.phase.name for record in run.phases if record.phase.name != "All clients"]
        assert all(group == {*kept} for group in groups[: len(kept)])
        assert all(len(group) == 1 for group in groups[len(kept) :])
    card_of_all = " ".join(drawn(of(fixtures / "fio_clients.json")).split())
    assert "combined: their sum" in card_of_all
    assert re.search(r"A random 8k read takes [^.]+ alongside other rows", card_of_all)
    run = of(fixtures / "fio_clients.json")
    letter = next(part for part in grade(run, examine(run)).parts if part.code == "random_read")
    full = r"a load of about [\d.]+ would saturate the storage if no I/O waited|not saturated below a load of [\d.]+"
    assert re.search(rf"at \d+x\d+ \(({full})\) beside other rows", letter.says)


def test_groups_of_two_outputs_did_not_run_at_once(fixtures: Path, tmp_path: Path) -> None:
    """Both count their groups from 0."""
    one = (fixtures / "fio_unlike.txt").read_text()
    (tmp_path / "two.txt").write_text(one + one.replace("pid=", "pid=1"))
    assert [len(run.beside(record)) for run in [of(tmp_path / "two.txt")] for record in run.phases] == [1, 1]
    text = (fixtures / "fio_two_jobs.json").read_text()
    (tmp_path / "two.json").write_text(text + text.replace('"scan"', '"other"'))
    run = of(tmp_path / "two.json")
    assert [len(run.beside(record)) for record in run.phases] == [2, 2, 2, 2]


def test_a_job_that_starts_later_is_not_beside(fixtures: Path, tmp_path: Path) -> None:
    document = json.loads((fixtures / "fio_two_jobs.json").read_text())
    document["jobs"][1]["job options"]["startdelay"] = "30"
    (tmp_path / "late.json").write_text(json.dumps(document))
    run = of(tmp_path / "late.json")
    assert [len(run.beside(record)) for record in run.phases] == [1, 1]


def drawn(run: Run) -> str:
    out = io.StringIO()
    terminal.render(card_report.card(run, examine(run)), out, colour=False, width=120)
    return out.getvalue()
