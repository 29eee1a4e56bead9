"""Spools of the script for SQL*Plus become tapes, and what is none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.oracle_spools import FIRST_S, START_S, look, row

from iocast.errors import SourceError
from iocast.model.live.moment import intervals
from iocast.report.live.database_modes import oramon_lines
from iocast.report.live.layers_view import overview
from iocast.report.live.styled_lines import plain
from iocast.sessions.events import AnswerReady, Imported
from iocast.sessions.import_results import import_results
from iocast.sessions.listener import Quiet
from iocast.sessions.live.playing import Playing
from iocast.tools import importers
from iocast.tools.oracle import oracle_spool
from iocast.tools.oracle.capture_script import TEXTS
from iocast.tools.oracle.oracle_statements import TEXT_COLUMNS
from iocast.tools.source_files import read_head

FIXTURE = Path(__file__).parents[1] / "fixtures" / "capture_spool.txt"


def _look(at: int, **more: object) -> str:
    return look(FIRST_S + 5 * at, waits={"db file sequential read": (1000 * at, 500_000 * at)}, **more)  # type: ignore[arg-type]


def _written(place: Path, name: str, *looks: str) -> str:
    file = place / name
    file.write_text("".join(looks))
    return str(file)


class _Ear(Quiet):
    def __init__(self) -> None:
        self.told: list[object] = []

    def tell(self, event: object) -> None:
        self.told.append(event)


def test_a_spool_becomes_a_tape_that_plays_and_reports(tmp_path: Path) -> None:
    ear = _Ear()
    assert import_results([str(FIXTURE)], str(tmp_path), ear) == []
    assert [type(event) for event in ear.told] == [Imported, AnswerReady]
    (folder,) = tmp_path.iterdir()
    tape = Playing(str(folder))
    assert (tape.interval_ns, tape.sources) == (5_000_000_000, ("Oracle Database 19.0.0.0.0, orcl1",))
    moments = list(tape.moments(lambda: False))
    assert [each.time_ns for each in moments] == [(FIRST_S + 5 * at) * 10**9 + 500_000_000 for at in range(3)]
    assert tape.texts == {"setting|timed_statistics": "TRUE"}
    assert any(each.observer == "oracle.asm_disk_stat" for each in moments[0].samples)


def _busy_look(at: int) -> str:
    """The counters of MOATS' published screen (source-vectors V9), with one statement that runs."""
    event, statement = "db file sequential read", "7fjjjf0yvd05m"
    shown = _look(
        at,
        rows={
            "event_histogram_micro": [(1, event, 1024, 13_046 * at), (1, event, 2048, 8_995 * at)],
            "sysstat": [
                (1, "physical read total IO requests", 29_920 * at),
                (1, "physical write total IO requests", 8_287 * at),
            ],
        },
    )
    running = "\n".join(
        (
            "#iocast session inst_id|sid|serial#|sql_id|event|wait_class|state",
            row(1, 77, 5, statement, event, "User I/O", "WAITING"),
            f"#iocast {TEXTS} {'|'.join(TEXT_COLUMNS)}",
            row(statement, "select product_name || ' ' || category_id from products where product_id = :b2"),
            "#iocast end",
        )
    )
    return shown.replace("#iocast end", running)


def test_a_tape_has_the_panels_of_moats(tmp_path: Path) -> None:
    """Its event panel with the mean of the waits and not of the buckets, physical reads and writes, the text of SQL."""
    import_results([_written(tmp_path, "a.txt", *(_busy_look(at) for at in range(2)))], str(tmp_path), Quiet())
    tape = Playing(str(next(tmp_path.glob("*-a"))))
    (interval,) = intervals(tape.moments(lambda: False))
    text = plain(overview(interval, tape.texts, 100))
    (row_of_event,) = [each for each in text.splitlines() if each.startswith("db file sequential read")]
    assert row_of_event.endswith("4408   500 µs 13046  8995     .")
    assert "5,984 physical reads/s   1,657 physical writes/s" in text
    assert "select product_name || ' ' || category_id from products where product_id = :b2" in text


def test_what_the_server_refused_is_told(tmp_path: Path) -> None:
    refused = "#iocast sysstat inst_id|name|value\nORA-00942: table or view does not exist\n#iocast end"
    spool = _written(tmp_path, "a.txt", *(_look(at).replace("#iocast end", refused) for at in range(2)))
    (run,) = importers.read((spool,))
    assert [(each.observer, each.why) for each in run.blind] == [
        ("oracle", "sysstat: ORA-00942: table or view does not exist")
    ]


def test_files_together_are_reels_of_one_tape_in_their_order(tmp_path: Path) -> None:
    late = _written(tmp_path, "a.txt", _look(10), _look(11))
    early = _written(tmp_path, "b.txt", _look(0), _look(1), _look(2).partition("#iocast end")[0])
    assert oracle_spool.sniff(read_head(late))
    (run,) = importers.read((late, early))
    assert [record.measurement.started_unix_ns // 10**9 for record in run.phases] == [FIRST_S, FIRST_S + 50]
    assert len({record.phase.name for record in run.phases}) == 2
    assert run.warnings == (f"{early}: left out as cut off: 1 look",)


@pytest.mark.parametrize(
    ("spools", "said"),
    [
        (((0,),), "a rate needs two"),
        (((0, 1), (1, 2)), "overlap in time"),
    ],
)
def test_what_is_no_tape_is_refused(spools: tuple[tuple[int, ...], ...], said: str, tmp_path: Path) -> None:
    files = tuple(_written(tmp_path, f"{at}.txt", *map(_look, looks)) for at, looks in enumerate(spools))
    with pytest.raises(SourceError, match=said):
        importers.read(files)


def test_spools_of_two_databases_are_refused(tmp_path: Path) -> None:
    other = "".join(_look(at, start_s=START_S).replace("orcl1", "orcl7") for at in (2, 3))
    with pytest.raises(SourceError, match="different databases"):
        importers.read((_written(tmp_path, "a.txt", _look(0), _look(1)), _written(tmp_path, "b.txt", other)))


def test_the_mode_of_a_live_watch_reads_it(tmp_path: Path) -> None:
    import_results([str(FIXTURE)], str(tmp_path), Quiet())
    (folder,) = tmp_path.iterdir()
    rows = [oramon_lines.table(each).rows[0] for each in intervals(Playing(str(folder)).moments(lambda: False))]
    assert [row[:2] for row in rows] == [(pytest.approx(0.51, abs=0.001), pytest.approx(187.8))] * 2
