"""fio's JSON: real output of fio 3.33, and documents by hand in the forms of fio 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Constant, Sequential, Uniform
from iocast.report.card.card_report import card
from iocast.tools import importers
from iocast.tools.fio import fio_json
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def of(path: Path) -> Run:
    (run,) = importers.read((str(path),))
    return run


def test_it_is_known_by_its_version() -> None:
    assert fio_json.sniff(Head("a", 'fio: warning\n{\n  "fio version" : "fio-3.33",'))
    assert not fio_json.sniff(Head("a", '{"version": 3}'))


def test_a_job_is_a_row_with_its_load(fixtures: Path) -> None:
    run = of(fixtures / "fio_all_formats.txt")
    (record,) = run.phases
    document = json.loads(_json_of(fixtures))
    job = document["jobs"][0]
    did = record.measurement
    assert (record.phase.test, record.plan.users, record.plan.depth) == ("randrw", 2, 4)
    assert record.phase.workload.direct
    assert record.phase.workload.locality == Uniform(repeats=False)
    assert record.phase.workload.fsync_every == 16
    reads, writes, flushes = did.classes
    assert (reads.op, writes.op, flushes.op) == ("read", "write", "fsync")
    assert reads.ios == job["read"]["total_ios"]
    assert writes.bytes == job["write"]["io_bytes"]
    assert flushes.ios == job["sync"]["total_ios"]
    assert reads.size_bytes == 8192
    assert reads.service.mean_ns == job["read"]["lat_ns"]["mean"]
    assert reads.service.stdev_ns == job["read"]["lat_ns"]["stddev"]
    assert reads.service.quantile_ns(0.99) == job["read"]["clat_ns"]["percentile"]["99.000000"]
    assert did.elapsed_ns == job["read"]["runtime"] * 1_000_000
    assert run.source is not None
    assert run.source.version == "3.33"
    assert run.plan.target.path == "data.bin"


@pytest.mark.parametrize("written", ["8k", "8kb", "8KiB", "8192", "0008k"])
def test_a_block_size_is_read_as_fio_reads_it(fixtures: Path, tmp_path: Path, written: str) -> None:
    """fio takes `bs=4kb` and copies it into its results, which were refused for it."""
    document = json.loads((fixtures / "fio_averaged.json").read_text())
    document["jobs"][0]["job options"]["bs"] = written
    (tmp_path / "sizes.json").write_text(json.dumps(document))
    (record,) = of(tmp_path / "sizes.json").phases
    assert {part.size_bytes for part in record.measurement.classes} == {8192}


def test_bins_of_json_plus_hold_every_io_once(fixtures: Path) -> None:
    (record,) = of(fixtures / "fio_all_formats.txt").phases
    for part in record.measurement.classes:
        assert part.service.coarse is not None
        assert part.service.coarse.whole == part.ios
        bounds = part.service.coarse.bounds_ns(0.42)
        assert bounds is not None
        assert bounds[1] - bounds[0] <= bounds[0] / 64 + 1  # fio's own buckets, 64 a power of two


def test_stated_percentiles_lie_in_the_bins(fixtures: Path) -> None:
    (record,) = of(fixtures / "fio_all_formats.txt").phases
    times = record.measurement.classes[0].service.coarse
    assert times is not None
    bare = type(times)(total=times.total, buckets=times.buckets, whole=times.whole)
    for each in times.quantiles:
        bounds = bare.bounds_ns(each.q)
        assert bounds is not None
        assert bounds[0] <= each.value_ns <= bounds[1]


def test_jobs_that_were_not_grouped_are_one_user_each(fixtures: Path) -> None:
    records = of(fixtures / "fio_two_jobs.json").phases
    assert [(each.phase.name, each.plan.users, each.plan.depth) for each in records] == [
        ("scan #1", 1, 1),
        ("scan #2", 1, 1),
    ]
    assert all(isinstance(each.phase.workload.locality, Sequential) for each in records)


def test_of_a_run_that_is_going_on_the_last_state_counts(fixtures: Path) -> None:
    run = of(fixtures / "fio_going_on.json")
    (record,) = run.phases
    assert record.measurement.elapsed_ns >= 1_900_000_000
    assert "earlier state" in run.warnings[0]


def test_two_runs_in_one_file_are_two_rows(fixtures: Path, read_all: Reader) -> None:
    one = json.loads((fixtures / "fio_logged.json").read_text())
    two = json.loads((fixtures / "fio_logged.json").read_text())
    two["jobs"][0]["jobname"] = "other"
    run = read_all(("both.json", json.dumps(one, indent=1) + "\n" + json.dumps(two, indent=1)))
    assert [each.phase.name for each in run.phases] == ["logged", "other"]


def test_a_paced_load_has_service_times_only(fixtures: Path) -> None:
    (record,) = of(fixtures / "fio_logged.json").phases
    assert record.phase.workload.arrival == Constant(300.0)
    assert record.measurement.asked_rate_per_s == 300.0
    assert record.measurement.response().total == 0
    assert record.measurement.service().total == record.measurement.ios


def test_a_client_names_the_server(fixtures: Path) -> None:
    (record,) = of(fixtures / "fio_client.json").phases
    assert record.phase.name == "remote on 127.0.0.1"
    assert record.measurement.ios > 0


def test_littles_law_holds_and_c_is_the_best_letter(fixtures: Path) -> None:
    run = of(fixtures / "fio_client.json")
    trust = examine(run).trust[run.phases[0].phase.name]
    integrity = next(part for part in trust.components if part.code == "integrity")
    assert integrity.grade in "AB"
    assert trust.grade == "C"
    assert "not measured by iocast" in trust.reason


OLD = {
    "fio version": "fio-2.17",
    "timestamp_ms": 1_500_000_000_000,
    "jobs": [
        {
            "jobname": "old",
            "error": 0,
            "job options": {"rw": "randread", "bs": "16k", "iodepth": "2", "ioengine": "libaio", "direct": "1"},
            "read": {
                "io_bytes": 16_000,
                "bw": 16_000,
                "iops": 1000.0,
                "runtime": 1000,
                "total_ios": 1000,
                "slat": {"min": 1, "max": 9, "mean": 5.0, "stddev": 1.0},
                "clat": {"min": 1000, "max": 4000, "mean": 1990.0, "stddev": 9.0, "percentile": {"99.000000": 3900}},
                "lat": {"min": 1005, "max": 4005, "mean": 1995.0, "stddev": 9.5},
            },
            "latency_us": {"1000": 1.0},
            "latency_ms": {"2": 50.0, "4": 49.0},
        }
    ],
}


def changed(**read: object) -> str:
    document = json.loads(json.dumps(OLD))
    document["jobs"][0]["read"].update(read)
    return json.dumps(document, indent=1)


def test_fio_2_counts_microseconds_and_kib(read_all: Reader) -> None:
    (record,) = read_all(("old.json", changed())).phases
    (part,) = record.measurement.classes
    assert part.bytes == 16_000 * 1024
    assert part.service.mean_ns == 1_995_000
    assert part.service.quantile_ns(0.99) == 3_900_000
    assert part.service.quantile_bounds_ns(0.5) == (1_000_000, 2_000_000)


def test_what_does_not_go_together_is_said(read_all: Reader) -> None:
    run = read_all(("old.json", changed(iops=2000.0, lat={"min": 1, "max": 5_000_000, "mean": 2.0, "stddev": 0.0})))
    said = "\n".join(run.warnings)
    assert "do not add up to lat" in said
    assert "longer than the run" in said
    assert "states 2000" in said


def test_buckets_that_are_not_a_hundred_per_cent_are_said(read_all: Reader) -> None:
    document = json.loads(changed())
    document["jobs"][0]["latency_ms"] = {"2": 50.0}
    assert "add up to 51 %" in "\n".join(read_all(("old.json", json.dumps(document))).warnings)


def test_not_a_number_is_not_stated(read_all: Reader) -> None:
    text = changed().replace('"stddev": 9.5', '"stddev": -nan')
    (record,) = read_all(("old.json", text)).phases
    assert record.measurement.service().stdev_ns != record.measurement.service().stdev_ns


def test_a_job_that_failed_says_so(read_all: Reader) -> None:
    document = json.loads(changed(total_ios=0, io_bytes=0, runtime=0, iops=0.0))
    document["jobs"][0]["error"] = 2
    run = read_all(("failed.json", "fio: refusing extend\n" + json.dumps(document, indent=1)))
    (record,) = run.phases
    assert record.measurement.errors[0].name == "ENOENT"
    assert examine(run).trust[record.phase.name].void


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (changed()[:600], "truncated or damaged"),
        (json.dumps({"fio version": "fio-3.1"}), 'no "jobs" list'),
        (json.dumps({"fio version": "fio-3.1", "jobs": []}), "it has no job"),
        (changed(runtime=0), "states no run time"),
        (changed(total_ios=None), "does not state the number of reads"),
        (changed().replace('"99.000000": 3900', '"99.x": 3900'), '"99.x" is not a percentile'),
        (changed().replace('"99.000000": 3900', '"99.000000": "much"'), '"99.000000" is not a number'),
        ('{"a": "fio version"}\n"fio version"\n', "it contains no fio document"),
    ],
)
def test_what_is_not_whole_is_refused(read_all: Reader, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.json", text))
    assert says in refused.value.message
    assert "bad.json" in refused.value.message


def test_of_a_second_document_that_is_cut_the_first_is_read(read_all: Reader) -> None:
    run = read_all(("two.json", changed() + "\n" + changed()[:600]))
    assert len(run.phases) == 1
    assert "two.json:" in run.warnings[0]


def _json_of(fixtures: Path) -> str:
    text = (fixtures / "fio_all_formats.txt").read_text()
    return text[text.index("\n{\n") : text.index("\n}\n") + 2]


def test_rows_of_one_name_are_told_apart_by_their_load(read_all: Reader) -> None:
    deep = json.loads(changed())
    deep["jobs"][0]["job options"]["iodepth"] = "8"
    run = read_all(("one.json", changed()), ("two.json", json.dumps(deep)), ("three.json", json.dumps(deep)))
    assert [each.phase.name for each in run.phases] == ["old randread 1x2", "old #1", "old #2"]


def test_a_rate_that_was_missed_is_a_load_not_achieved(read_all: Reader) -> None:
    paced = json.loads(changed())
    paced["jobs"][0]["job options"]["rate_iops"] = "2000"
    run = read_all(("paced.json", json.dumps(paced)))
    load = next(part for part in examine(run).trust["old"].components if part.code == "load_achieved")
    assert (load.grade, load.evidence["achieved"]) == ("D", 0.5)


@pytest.mark.long
def test_the_work_grows_as_the_number_of_jobs(fixtures: Path, tmp_path: Path) -> None:
    """A thousand jobs took 61 s: each was compared with all others."""
    document = json.loads((fixtures / "fio_averaged.json").read_text())
    job = document["jobs"][0]

    def calls(jobs: int) -> int:
        document["jobs"] = [{**job, "jobname": f"j{number}"} for number in range(jobs)]
        (tmp_path / "many.json").write_text(json.dumps(document))
        counted = 0

        def count(_frame: object, event: str, _about: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            run = of(tmp_path / "many.json")
            card(run, examine(run))
        finally:
            sys.setprofile(before)
        return counted

    calls(2)  # what is computed once and kept
    assert calls(160) < 4.4 * calls(40)
