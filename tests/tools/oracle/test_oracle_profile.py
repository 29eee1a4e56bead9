"""What a report states of the whole instance: published figures of a SLOB run, written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import PhaseRecord, Run
from iocast.tools.oracle import oracle_profile

Reader = Callable[..., Run]
REPORT = (Path(__file__).parents[1] / "fixtures/oracle_profile.txt").read_text()
BACKGROUND_END = "log file parallel write             674     0        297     440      5.3   18.2\n"


def rows(run: Run) -> dict[str, PhaseRecord]:
    return {each.phase.name: each for each in run.phases}


def test_reads_of_the_instance_and_the_mean_of_a_wait_are_those_of_the_report(read_all: Reader) -> None:
    found = rows(read_all(("awr.txt.128", REPORT)))
    (reads,) = found["data blocks of the instance"].measurement.classes
    assert (reads.op, reads.ios, reads.bytes) == ("read", 21_781_404, 178_435_186_688)
    assert found["data blocks of the instance"].ios_per_s == pytest.approx(71_553, rel=1e-3)
    whole = {each.op: (each.ios, each.bytes) for each in found["all I/O of the instance"].measurement.classes}
    assert whole == {"read": (21_782_367, 178_450_620_416), "write": (7_901_059, 105_150_000_000)}
    assert "redo of the instance" not in found  # it wrote none
    mean_ns = found["db file sequential read"].measurement.service("read").mean_ns
    assert mean_ns == pytest.approx(16_407 / 21_628_695 * 1e9)
    assert round(mean_ns / 1e3, 1) == 758.6
    assert found["log file parallel write"].measurement.service("write").mean_ns == pytest.approx(297e9 / 674)


def test_a_mean_is_that_of_sessions_and_background_together_or_unknown(read_all: Reader) -> None:
    both = "db file sequential read         154,359     0        111       1  1,205.9    6.8\n"
    mean = rows(read_all(("a.txt", REPORT.replace(BACKGROUND_END, BACKGROUND_END + both))))["db file sequential read"]
    assert mean.measurement.service("read").mean_ns == pytest.approx((16_407 + 111) * 1e9 / (21_628_695 + 154_359))
    # A background that waited often, for a time that is rounded away: no mean of both is known.
    unknown = both.replace("    154,359", " 11,154,359").replace("   111", "     1")
    found = rows(read_all(("b.txt", REPORT.replace(BACKGROUND_END, BACKGROUND_END + unknown))))
    for name in ("db file sequential read", "control file sequential read"):  # 4 s may be 3.5 or 4.5
        times = found[name].measurement.service("read")
        assert times.mean_ns != times.mean_ns


def test_a_count_that_is_none_is_refused_with_its_line(read_all: Reader) -> None:
    text = REPORT.replace("         21,781,404", "         21,781,4o4")
    line = text[: text.index("21,781,4o4")].count("\n") + 1
    with pytest.raises(SourceError, match=rf':{line}: physical read IO requests: "21,781,4o4" is not a count'):
        read_all(("c.txt", text))


def test_a_page_states_means_with_their_unit() -> None:
    head = ["Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait"]
    cells = [["db file sequential read", "109", "", "0", "749.07us"], ["latch free", "7", "", "0", "1.00ms"]]
    table = oracle_profile.Table("Foreground Wait Events", 1, "", head, [(1, each) for each in cells])
    means = oracle_profile.wait_means("a.html", [table], lambda cell, width: cell if "read" in cell else None)
    assert means == {"db file sequential read": pytest.approx(749_070)}
