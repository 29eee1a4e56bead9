"""What sessions wait for reaches the verdict: recorded shares of PostgreSQL 15, with the layers below quick or slow."""

from __future__ import annotations

import pytest
from makers.live_moments import moment
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.live.session_shares import Activity, BackgroundWork, HeldLock, Share, background_work, held_locks
from iocast.diagnose.live.layers_verdict import LayersVerdict
from iocast.diagnose.live.waiting_sessions import SessionWaits, with_sessions
from iocast.model.live.moment import Interval

SECOND_NS = 1_000_000_000
QUICK = LayersVerdict(code="none", says="No layer loses time: read call 19 µs.", refuted_by="tails")
NOT_SEEN = LayersVerdict(code="unknown", says="Layers are not watched (needs root): no verdict.", refuted_by="root")
SLOW = LayersVerdict(
    code="device", says="The device: a flush of loop0 takes 20 ms.", refuted_by="x", rule=4, lost_share=0.9
)
HELD = (HeldLock("26203", "idle in transaction", "public.accounts", 4),)


def waits(active: float, polls: int = 10, **shares: float) -> Activity:
    """Sessions that were active on average, and the share of each event; `__` stands for the bar."""
    events = {name.replace("__", "|"): share for name, share in shares.items()}
    return Activity(polls, active, tuple(Share(name, share, share * active) for name, share in events.items()), (), ())


@pytest.mark.parametrize(
    ("activity", "layers", "code", "rule", "says"),
    [
        (
            waits(4, Lock__transactionid=0.92, CPU=0.08),
            QUICK,
            "lock",
            10,
            "Sessions wait for a lock: 92% of the time of the active sessions (3.7 of 4.0 at a time);"
            " on public.accounts, held by process 26203, idle in transaction. Not the storage: no layer loses time.",
        ),
        (waits(3, Client__ClientWrite=1.0), NOT_SEEN, "client_path", 11, "not watched (needs root)"),
        (waits(3, Client__ClientWrite=1.0), QUICK, "client_path", 11, "Not the storage"),
        (waits(50, LWLock__WALWrite=0.9, IO__WalSync=0.07, CPU=0.03), QUICK, "log", 12, "97% of the time"),
        # Whoever holds what others wait for may wait for the device itself.
        (waits(50, LWLock__WALWrite=0.9, IO__WalSync=0.1), SLOW, "device", 4, "takes 20 ms. Sessions wait for the log"),
        # A layer that loses less than a sync call in three is not why fifty sessions wait for the log.
        (waits(50, LWLock__WALWrite=0.9, IO__WalSync=0.1), replace(SLOW, lost_share=0.2), "log", 12, "takes 20 ms."),
        (waits(0.6, IO__WalSync=1.0), replace(SLOW, lost_share=0.25), "device", 4, "Sessions wait for the log"),
        (waits(8, Lock__tuple=0.9, CPU=0.1), SLOW, "device", 4, "20 ms. Sessions wait for a lock"),
        (waits(2, CPU=0.95, IO__DataFileRead=0.05), QUICK, "query", 13, "Not the storage"),
        (waits(2, CPU=0.6, IO__DataFileRead=0.4), QUICK, "none", None, "No layer"),
        (waits(9, LWLock__LockManager=0.8, CPU=0.2), QUICK, "engine", 7, "LWLock LockManager"),
        # Too few looks, hardly anybody active, a sender of the log that always waits.
        (waits(4, polls=3, Lock__transactionid=1.0), QUICK, "none", None, "No layer"),
        (waits(0.2, Lock__transactionid=1.0), QUICK, "none", None, "No layer"),
        (waits(1, Activity__WalSenderMain=1.0), QUICK, "none", None, "No layer"),
    ],
)
def test_a_wait_that_is_known_reaches_the_line(
    activity: Activity, layers: LayersVerdict, code: str, rule: int | None, says: str
) -> None:
    answer = with_sessions(layers, SessionWaits(activity=activity, locks=HELD), SECOND_NS)
    assert (answer.code, answer.rule) == (code, rule)
    assert says in answer.says


def test_not_the_storage_is_said_only_where_that_was_seen() -> None:
    sessions = SessionWaits(activity=waits(4, Lock__relation=1.0))
    assert "Not the storage" not in with_sessions(NOT_SEEN, sessions, SECOND_NS).says
    slow = LayersVerdict(code="device", says="The device is slow.", refuted_by="x", rule=4, lost_share=0.1)
    answer = with_sessions(slow, sessions, SECOND_NS)
    assert (answer.code, [each.code for each in answer.others]) == ("lock", ["device"])
    assert answer.says.endswith("The device is slow.")


def test_what_the_server_does_meanwhile_is_told() -> None:
    sessions = SessionWaits(activity=waits(2, CPU=1.0), background=BackgroundWork(850.0, 72e6, ("public.accounts",)))
    says = with_sessions(QUICK, sessions, SECOND_NS).says
    assert "A checkpoint is writing 850 buffers a second. Vacuum works on public.accounts." in says
    assert says.endswith("Statements spill to temporary files: 72 MB/s (work_mem).")


def test_locks_and_work_of_postgresql_are_read_from_samples() -> None:
    def at(number: int) -> dict[tuple[str, str], dict[str, float]]:
        return {
            ("postgresql.held_locks", ""): {metrics.EPOCH: 1.0},
            ("postgresql.held_locks", "17|active|public.a"): {"waiting": 1.0},
            ("postgresql.held_locks", "4711|idle in transaction|public.b"): {"waiting": 4.0},
            ("postgresql.pg_stat_bgwriter", ""): {"buffers_checkpoint": number * 850.0},
            ("postgresql.pg_stat_database", "app"): {"temp_bytes": number * 9e6},
            ("postgresql.pg_stat_progress_vacuum", "public.b|scanning heap"): {"heap_blks_scanned": 7.0},
        }

    interval = Interval(moment(1, at(1)), moment(2, at(2)))
    assert held_locks(interval)[0] == HeldLock("4711", "idle in transaction", "public.b", 4)
    work = background_work(interval)
    assert (work.checkpoint_buffers_per_s, work.temporary_bytes_per_s, work.vacuumed) == (850.0, 9e6, ("public.b",))


def test_sessions_of_innodb_that_wait_for_rows_show_what_they_do() -> None:
    """Recorded: MariaDB 10.11 without performance_schema; three of four sessions are "Updating" and wait."""
    activity = waits(4, State__Updating=0.75, **{"State__User sleep": 0.25})
    answer = with_sessions(QUICK, SessionWaits(activity=activity, row_lock_waits=3), SECOND_NS)
    assert answer.code == "lock"
    assert answer.says.startswith(
        "Sessions wait for a lock: 75% of the time of the active sessions (3.0 of 4.0 at a time)"
    )
    assert with_sessions(QUICK, SessionWaits(activity=activity), SECOND_NS).code == "none"
