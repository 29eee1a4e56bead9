"""Sessions that were made from known steps: what each does next, where, after which pause, and who does the same."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from iocast.analyse.profiling.session_model import Role, SessionModel, session_model
from iocast.model.profiling.step_chain import law_mean_ns, step_shares
from iocast.model.workload import Append, Step, Uniform

US, MS = 1_000, 1_000_000
Row = tuple[int, int, int, int | None, int | None, int, int]  # time, latency, operation, offset, size, target, session


def _table(folder: Path, rows: list[Row], names: dict[int, str]) -> str:
    import duckdb

    path = str(folder / "events.parquet")
    base = duckdb.connect()
    base.execute("CREATE TABLE e (ts BIGINT, lat BIGINT, op INT, place BIGINT, size BIGINT, target INT, actor INT)")
    with (folder / "rows.csv").open("w", newline="") as out:  # read whole: to insert each row takes half a millisecond
        csv.writer(out).writerows(rows)
    base.execute(f"COPY e FROM '{out.name}'")
    listed = "[" + ", ".join(f'"{names[at]}"' for at in sorted(names)) + "]"
    base.execute(
        f"""COPY (SELECT ts AS ts_ns, lat AS lat_ns, NULL::BIGINT AS queue_ns,
        op::UTINYINT AS op, place AS "offset", size,
        target::UINTEGER AS target, actor::UINTEGER AS actor, 0::USMALLINT AS flags, 1::UTINYINT AS layer,
        NULL::SMALLINT AS err, 0::UINTEGER AS source, row_number() OVER (ORDER BY ts)::UINTEGER AS src_line
        FROM e ORDER BY ts) TO '{path}' (
        FORMAT parquet, COMPRESSION zstd, KV_METADATA {{'iocast.targets': '{listed}'}})"""
    )
    return path


def _sessions(*, sessions: int, rounds: int, seed: int = 3) -> list[Row]:
    """Each reads pages of a file, one to three of them, writes 24 bytes and a page of its own log, and syncs it."""
    drawn, rows = random.Random(seed), []
    for session in range(sessions):
        at, end = session * US, 32
        for _ in range(rounds):
            for _ in range(drawn.randint(1, 3)):
                rows.append((at, 5 * US, 0, drawn.randrange(4096) * 4096, 4096, 0, session))
                at += 5 * US + int(drawn.expovariate(1) * MS)
            for size in (24, 4096):
                rows.append((at, 10 * US, 1, end, size, 1 + session, session))
                at, end = at + 12 * US, end + size
            rows.append((at, MS, 3, None, None, 1 + session, session))
            at += MS + 100 * US
    return rows


def _model(folder: Path, rows: list[Row], names: dict[int, str]) -> SessionModel:
    found = session_model(_table(folder, rows, names), folder, 4096)
    assert found is not None
    return found


def _of(role: Role, op: str, size: int = 0) -> Step:
    (step,) = (
        each for each in role.steps if each.op == op and [s.size_bytes for s in each.sizes] == ([size] if size else [])
    )
    return step


def test_a_commit_is_a_chain_of_steps(tmp_path: Path) -> None:
    model = _model(tmp_path, _sessions(sessions=1, rounds=2000), {0: "/data/orders.db", 1: "/data/orders.db-wal"})
    (role,) = model.roles
    assert (role.users, model.files, model.excluded) == (1, 2, 0)
    page, head, body, sync = (
        _of(role, "read", 4096),
        _of(role, "write", 24),
        _of(role, "write", 4096),
        _of(role, "fdatasync"),
    )
    names = {id(step): at for at, step in enumerate(role.steps)}
    assert head.next[names[id(body)]] == sum(head.next), "the page follows its header"
    assert body.next[names[id(sync)]] == sum(body.next), "and the sync the page"
    assert page.next[names[id(page)]] / sum(page.next) == pytest.approx(0.5, abs=0.03)
    assert (page.locality, head.locality, body.locality) == (Uniform(), Append(), Append())
    assert head.joins == body.joins, "both go on at the same end"
    assert page.size_bytes == pytest.approx(4096 * 4096, rel=0.1)
    # The log and its sync are in the second file.
    assert {step.start_bytes // model.file_bytes for step in (head, body, sync)} == {1}
    assert page.start_bytes == 0
    shares = dict(zip((step.op for step in role.steps), step_shares(role.steps), strict=True))
    assert shares["fdatasync"] == pytest.approx(1 / 5, abs=0.01)
    gap = 5 * US if role.between else 0
    assert law_mean_ns(page.pause) == pytest.approx(MS + gap, rel=0.05)


def test_sessions_that_do_the_same_are_users_of_one_role(tmp_path: Path) -> None:
    model = _model(
        tmp_path, _sessions(sessions=3, rounds=400), {0: "/d/o.db", 1: "/d/a.log", 2: "/d/b.log", 3: "/d/c.log"}
    )
    assert sum(role.users for role in model.roles) == 3


def test_a_log_that_several_write_in_turn_is_a_session_of_its_own(tmp_path: Path) -> None:
    """Two sessions read; in between they write one log, whose last page is written again until it is full."""
    drawn, rows = random.Random(5), []
    at, page, filled = 0, 0, 0
    for round_ in range(3000):
        rows += [(at + own * US, 5 * US, 0, drawn.randrange(4096) * 8192, 8192, 0, own) for own in (0, 1)]
        at += 100 * US
        rows.append((at, 5 * US, 1, page * 8192, 8192, 1, round_ % 2))
        rows.append((at + 6 * US, 200 * US, 3, None, None, 1, round_ % 2))
        filled += 1
        if filled == 10:
            page, filled = page + 1, 0
        at += 300 * US + int(drawn.expovariate(1) * MS)
    model = _model(tmp_path, rows, {0: "/pg/base/5/16396", 1: "/pg/pg_wal/000000010000000000000005"})
    readers, log = model.roles if model.roles[0].users == 2 else model.roles[::-1]
    assert (readers.users, log.users) == (2, 1)
    assert [step.op for step in readers.steps] == ["read"]
    write = _of(log, "write", 8192)
    assert isinstance(write.locality, Append)
    assert (write.locality.again_bytes, write.locality.again_percent) == (8192, pytest.approx(90, abs=1))


def test_a_write_of_what_was_just_read_goes_back_there(tmp_path: Path) -> None:
    drawn, rows, at = random.Random(9), [], 0
    for _ in range(1000):
        place = drawn.randrange(4096) * 4096
        rows += [(at, 5 * US, 0, place, 4096, 0, 0), (at + 20 * US, 5 * US, 1, place, 4096, 0, 0)]
        at += MS
    (role,) = _model(tmp_path, rows, {0: "/data/orders.db"}).roles
    read, write = _of(role, "read", 4096), _of(role, "write", 4096)
    assert (read.locality, write.locality) == (Uniform(), Append(4096, 100.0))
    assert write.joins == role.steps.index(read)


def test_too_few_ios_are_no_model(tmp_path: Path) -> None:
    rows: list[Row] = [(at * MS, US, 0, 0, 4096, 0, 0) for at in range(50)]
    assert session_model(_table(tmp_path, rows, {0: "/f"}), tmp_path, 4096) is None
