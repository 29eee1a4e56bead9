"""pgio's transcripts, by hand in their form with published figures: the counters are taken, not what was printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools.pgio import pgio_runs
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
RUN = """\
Date: Tue May 22 16:30:36 UTC 2018
Shared buffers: 1GB.
Testing {schemas} schemas with {threads} thread(s) accessing 8G ({blocks} blocks) of each schema.
Running iostat, vmstat and mpstat on current host--in background.
{launch}pg_stat_database stats:
          datname| blks_hit| blks_read|tup_returned|tup_fetched|tup_updated
BEFORE:  pg10    | {before} |   1803194168 |  1510064234 |     5536938
AFTER:   pg10    | {after} |   1862352512 |  1569219899 |     5536938
DBNAME:  pg10. {schemas} schemas, {threads} threads(each). Run time: {seconds} seconds. {rates}

"""
FIRST = {
    "schemas": 16, "threads": 8, "blocks": 1_048_576, "launch": "", "seconds": 120,
    "rates": "RIOPS >492306< CACHE_HITS/s >8989<",
    "before": "792845449 | 1708568898", "after": "793924241 | 1767645677",
}  # fmt: skip
SECOND = {
    **FIRST, "rates": "RIOPS >243640< CACHE_HITS/s >5023<",
    "before": "793926878 | 1767645848", "after": "794529712 | 1796882661",
}  # fmt: skip
LATE = {
    **FIRST, "threads": 32, "seconds": 123, "rates": "RIOPS >390969< CACHE_HITS/s >7795<", "blocks": 8_388_608,
    "launch": "Sessions launched. NOTE: Launching the sessions took 288 seconds.\n",
    "before": "325562895 | 349278820", "after": "325909798 | 365573275",
}  # fmt: skip


def test_runs_are_rows_of_reads_by_their_counters(read_all: Reader) -> None:
    text = RUN.format(**FIRST) + RUN.format(**SECOND)
    assert pgio_runs.sniff(Head("pgio.txt", text))
    run = read_all(("pgio.txt", text))
    for record, rate in zip(run.phases, (492_306, 243_640), strict=True):
        assert int(record.ios_per_s or 0) == rate  # pgio cuts, and so do we here
        assert record.plan.users == 128
        assert record.measurement.classes[0].size_bytes == 8_192
        assert "ios" not in record.unstated
    assert not run.warnings
    assert run.source is not None
    assert run.source.notes[1] == "16 schemas x 8 sessions: working set 128.0 GiB, shared buffers 1GB, 8,989 hits/s."


def test_a_rate_that_counts_the_launch_is_named(read_all: Reader) -> None:
    run = read_all(("late.txt", RUN.format(**LATE)))
    assert int(run.phases[0].ios_per_s or 0) == 132_475
    assert run.warnings[0].endswith(
        "late.txt:10: RIOPS is 390,969, its own counters say 132,475: 288 s of launching are counted in it:"
        " the counters are taken"
    )


def test_without_counters_the_printed_rate_is_kept(read_all: Reader) -> None:
    run = read_all(("line.txt", RUN.format(**FIRST).splitlines()[-2] + "\n"))
    assert run.phases[0].ios_per_s == 492_306
    assert "ios" in run.phases[0].unstated


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"after": "793924241 | 1"}, "the counters fell: the statistics were reset during the run"),
        ({"seconds": 0}, "a run of 0 seconds"),
        ({"rates": "RIOPS >492306< CACHE_HITS/s >89"}, "a line of rates that is not pgio's, or is cut"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(read_all: Reader, changed: dict[str, object], fault: str) -> None:
    with pytest.raises(SourceError, match=rf"pgio.txt:9: {fault}"):
        read_all(("pgio.txt", RUN.format(**{**FIRST, **changed})))


def test_a_run_that_was_stopped_is_refused(read_all: Reader) -> None:
    with pytest.raises(SourceError, match="a run without its line of rates"):
        read_all(("pgio.txt", RUN.format(**FIRST).partition("BEFORE")[0]))
