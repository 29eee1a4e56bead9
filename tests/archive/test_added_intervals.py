"""Intervals of several loads that ran at once, added up bucket by bucket within the time that they share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import iocast
from iocast.archive.interval_tables import Part, save_added_intervals
from iocast.archive.parquet import Identity, relation_of
from iocast.archive.warm_up import within
from iocast.archive.writing.held_folder import HeldFolder, open_base
from iocast.model.measurement import Measurement

INTERVAL_NS = 1_000_000_000
Buckets = dict[tuple[int, str], Counter[int]]


def parts(tmp_path: Path) -> list[tuple[Path, Measurement]]:
    """The tables of two runs of four virtual seconds, and what they measured."""
    made = []
    for seed in (1, 2):
        card = iocast.card("sim:nvme", preset="quick", time="4s", seed=seed, out=str(tmp_path / str(seed)))
        number, record = next(
            (number, each) for number, each in enumerate(card.run.phases) if each.phase.role == "measure"
        )
        made.append((Path(card.folder) / "intervals" / f"{number:03}.parquet", record.measurement))
    return made


def buckets(file: Path, from_ns: int = 0, to_ns: int = 2**62) -> Buckets:
    """Counts of each bucket of response and service times, by interval on the clock of the cut."""
    columns = "start_ns, response_index, response_count, service_index, service_count"
    counted: Buckets = {}
    rows: list[tuple[Any, ...]] = relation_of(str(file)).select(columns).fetchall()
    for start_ns, *lists in rows:
        if from_ns <= start_ns < to_ns:
            for kind, index, count in zip(("response", "service"), lists[::2], lists[1::2], strict=True):
                key = ((start_ns - from_ns) // INTERVAL_NS, kind)
                counted.setdefault(key, Counter()).update(dict(zip(index, count, strict=True)))
    return counted


def added(one: Buckets, other: Buckets) -> Buckets:
    """Both together."""
    return {key: one.get(key, Counter()) + other.get(key, Counter()) for key in one.keys() | other.keys()}


def save(folder: HeldFolder, sources: list[Part]) -> Path:
    """The table of their sum."""
    save_added_intervals(folder, 7, Identity("run", "hosts", "target", "job"), "row", INTERVAL_NS, sources)
    return folder.path / "intervals" / "007.parquet"


def test_every_bucket_of_every_interval_is_the_sum_of_those_of_the_loads(tmp_path: Path) -> None:
    (one, _), (other, _) = parts(tmp_path)
    file = save(open_base(tmp_path / "sum"), [Part(one), Part(other)])
    assert buckets(file) == added(buckets(one), buckets(other))
    sums = "sum(ios), sum(bytes), sum(errors), sum(response_sum_ns), sum(service_sum_ns)"
    both = [relation_of(str(each)).aggregate(sums).fetchall()[0] for each in (one, other)]
    assert relation_of(str(file)).aggregate(sums).fetchall() == [tuple(map(sum, zip(*both, strict=True)))]
    low = [relation_of(str(each)).aggregate("min(response_min_ns)").fetchall()[0][0] for each in (one, other)]
    assert relation_of(str(file)).aggregate("min(response_min_ns)").fetchall() == [(min(low),)]


def test_a_load_that_began_earlier_or_ended_later_is_cut(tmp_path: Path) -> None:
    (one, _), (other, _) = parts(tmp_path)
    window = (INTERVAL_NS, 3 * INTERVAL_NS)
    file = save(open_base(tmp_path / "sum"), [Part(one, *window), Part(other, 0, 2 * INTERVAL_NS)])
    assert buckets(file) == added(buckets(one, *window), buckets(other, 0, 2 * INTERVAL_NS))
    starts = relation_of(str(file)).select("interval, start_ns").distinct().order("1").fetchall()
    assert starts == [(0, 0), (1, INTERVAL_NS)]


def test_a_measurement_within_a_window_is_what_its_intervals_say(tmp_path: Path) -> None:
    (file, did), _ = parts(tmp_path)
    cut = within(did, relation_of(str(file)), INTERVAL_NS, 3 * INTERVAL_NS)
    rows = relation_of(str(file)).filter(f"start_ns >= {INTERVAL_NS} AND start_ns < {3 * INTERVAL_NS}")
    assert [(cut.ios, cut.bytes)] == rows.aggregate("sum(ios), sum(bytes)").fetchall()
    assert (cut.elapsed_ns, cut.issuing_ns) == (2 * INTERVAL_NS, 2 * INTERVAL_NS)
    assert cut.response().total == cut.ios
    whole = within(did, relation_of(str(file)), 0)
    assert (whole.ios, whole.response()) == (did.ios, did.response())
