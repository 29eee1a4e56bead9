"""The hosts of a run beside each other, in words and as a table."""

from __future__ import annotations

from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.model.hosts import HostPart, HostRow
from iocast.report.card.card_report import card


def _row(ios_per_s: float, started_ns: int = 0) -> HostRow:
    return HostRow(
        phase="randread 8k",
        ios=round(10 * ios_per_s),
        bytes=round(10 * ios_per_s) * 8192,
        ios_per_s=ios_per_s,
        bytes_per_s=ios_per_s * 8192,
        started_ns=started_ns,
        elapsed_ns=10 * card_runs.SECOND_NS,
        trust="B",
    )


def test_a_slow_host_the_fairness_and_a_lost_host_are_told() -> None:
    hosts = (
        HostPart(name="db1", path="/u01", rows=(_row(1000),)),
        HostPart(name="db2", path="/u01", rows=(_row(1010, 2_000_000),), clock_error_ns=9_000),
        HostPart(name="db3", path="/u01", rows=(_row(400),)),
        HostPart(name="db4", path="/u01", lost="it was not heard for 5 s"),
    )
    run = replace(card_runs.run(card_runs.reads()), hosts=hosts)
    report = card(run, examine(run))
    section = next(each for each in report.sections if each.code == "hosts")
    assert section.paragraphs == (
        "db4 was lost: it was not heard for 5 s. Rows that it did not end are those of the other hosts.",
        "4 hosts shared the load with a fairness (Jain) of 0.89.",
        "db3 did 60% less than the others: 400 IOPS where their median is 1.00k, in randread 8k.",
        "They began each row at most 2 ms apart; their clocks are known to ±9 µs.",
        "Each host's own card: iocast report RUN/hosts/NAME.",
    )
    shares = [row.share for row in report.result.hosts]  # type: ignore[union-attr]
    assert shares[3] is None
    assert sum(share for share in shares if share is not None) == 1


def test_a_row_of_one_host_is_shared_with_nobody_and_an_empty_column_is_left_out() -> None:
    run = replace(card_runs.run(card_runs.reads()), hosts=(HostPart(name="db1", path="/u01", rows=(_row(1000),)),))
    section = next(each for each in card(run, examine(run)).sections if each.code == "hosts")
    assert not any("fairness" in said for said in section.paragraphs)
    assert "outside_ios" not in {column.key for column in section.tables[0].columns}


def test_a_run_of_one_host_has_no_such_section() -> None:
    run = card_runs.run(card_runs.reads())
    assert "hosts" not in {each.code for each in card(run, examine(run)).sections}


def test_work_files_are_removed_on_each_host() -> None:
    alike = tuple(HostPart(name=name, path="/u01", rows=(_row(1000),)) for name in ("db1", "db2"))
    apart = (alike[0], HostPart(name="db2", path="/u02", rows=(_row(1000),)))
    for hosts, command in ((alike, "iocast clean /u01"), (apart, "iocast clean PATH")):
        run = replace(card_runs.run(card_runs.reads()), hosts=hosts, files_whole=True)
        said = next(step for step in card(run, examine(run)).next_steps if "iocast clean" in step)
        assert said.endswith(f"To remove it, on each host: {command}")
