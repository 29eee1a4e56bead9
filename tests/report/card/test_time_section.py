"""The section that says where the time of each row went."""

from __future__ import annotations

import pytest
from makers.block_runs import block, row
from makers.card_runs import run
from msgspec.structs import replace

from iocast import text
from iocast.analyse.facts import Facts
from iocast.model.report import Section
from iocast.model.run import PhaseRecord
from iocast.model.target import Target
from iocast.report.card import time_section
from iocast.results.whereabouts import cost, whereabouts


def _section(facts: Facts) -> Section | None:
    return time_section.section(facts, whereabouts(facts))


def test_a_row_shows_queue_and_device_apart() -> None:
    found = _section(Facts(run(row(block()))))
    assert found is not None
    (table,) = found.tables
    cells = table.rows[0].cells
    assert (cells["queue_ns"], cells["device_ns"], cells["system_ns"]) == (10_000.0, 300_000.0, 90_000.0)
    assert "unsent_ns" not in [column.key for column in table.columns]
    assert len(table.notes) == 1


def test_an_open_loop_shows_what_was_not_sent() -> None:
    found = _section(Facts(run(row(block(), response_ns=900_000))))
    assert found is not None
    assert "unsent_ns" in [column.key for column in found.tables[0].columns]


def test_what_cannot_be_compared_is_told() -> None:
    split = replace(block(ios=200, size_bytes=4096), lost_events=3)
    found = _section(Facts(run(row(split))))
    assert found is not None
    notes = " ".join(found.tables[0].notes)
    assert "Request size over I/O size: reads (read) 0.50." in notes
    assert "the trace lost records" in notes


def test_the_cost_of_the_test_itself_is_beside_it() -> None:
    record = row(block())
    did = replace(record.measurement, cpu_user_ns=record.measurement.elapsed_ns // 4, cpu_system_ns=0)
    found = _section(Facts(run(replace(record, measurement=did))))
    assert found is not None
    each_ns = did.cpu_user_ns / did.ios
    assert found.tables[0].rows[0].cells["generator_share"] == pytest.approx(0.25, rel=1e-6)
    assert found.tables[0].rows[0].cells["cpu_per_io_ns"] == each_ns
    assert found.paragraphs == (f"Load generation used 25% of one CPU: {text.brief_time(each_ns)} per I/O.",)


def test_processor_time_of_rows_that_ran_at_once_is_that_of_all() -> None:
    def beside(name: str) -> PhaseRecord:
        record = row(block())
        did = replace(record.measurement, cpu_user_ns=10**6, cpu_system_ns=10**6, cpu_phases=2)
        return replace(record, measurement=did, phase=replace(record.phase, name=name, together="both"))

    made = run(beside("one"), beside("two"))
    found = cost(Facts(made).rows[0])
    assert found is not None
    ios = sum(record.measurement.ios for record in made.measured)
    assert found.ns_per_io == 2 * 10**6 / ios, "once, not twice, over the I/Os of both"
    table = _section(Facts(made)).tables[0]  # type: ignore[union-attr]
    assert any(note.startswith("one, two: they ran concurrently") for note in table.notes)


def test_where_nobody_saw_the_test_still_knows_its_own_cost() -> None:
    found = _section(Facts(run(row(None))))
    assert found is not None
    assert not found.tables
    assert found.paragraphs[0].startswith("Load generation used 3.0% of one CPU")


def test_a_simulated_device_takes_no_time_of_a_processor_worth_telling() -> None:
    target = Target(path="sim:hdd", kind="sim")
    assert _section(Facts(run(row(None), target=target))) is None


def test_others_requests_are_not_said_to_be_merged() -> None:
    split = block(ios=200, size_bytes=4096)
    shared = [
        replace(row(split), phase=replace(row(split).phase, name=name, together="both")) for name in ("one", "two")
    ]
    for rows in ([row(block(ios=900, size_bytes=65536))], shared):
        found = _section(Facts(run(*rows)))
        assert found is not None
        notes = " ".join(found.tables[0].notes)
        assert "The kernel merged" not in notes
        assert ("concurrent phases" in notes) == (rows is shared)


def test_a_ratio_that_is_told_is_not_one() -> None:
    found = _section(Facts(run(row(block(ios=100, size_bytes=8396)))))
    assert found is not None
    assert "reads (read) 1.02." in " ".join(found.tables[0].notes)
