"""A run folder with all its files, and faults that a disk, a copy or a forger makes in them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from makers.saved_runs import saved

from iocast import archive
from iocast.archive.under_way_file import save_under_way
from iocast.model.experiment import Diagnosis, DiagnosisStep, Outcome
from iocast.model.run import Sample
from iocast.model.summary import UnderWay, row_so_far

FILES = ("run.json", "summary.json", "diagnosis.json", "under_way.json")
ODD: tuple[Any, ...] = (
    *(None, True, "", "x", "\0", [], [[]], {}, {"a": 1}, [None], 0, -1, 1, 7, 0.5, -0.5, 1e308, -1e308, 5e-324),
    *(
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63),
        -(2**64),
        10**30,
        10**400,
        float("nan"),
        float("inf"),
        "é" * 9999,
    ),
)


def whole_folder(out: Path) -> Path:
    """A folder with all four files."""
    run, folder = saved(out, (Sample(1, "diskstats", "vda", "reads", 2.0),))
    outcome = Outcome(verdict="confirmed", says="It is.", ratio=2.0, low=1.5, high=2.5, evidence={"ratio": 2.0})
    phase = run.phases[0].phase.name
    step = DiagnosisStep(
        finding="cache_in_the_storage", phase=phase, hypothesis="h", question="q", outcome=outcome, run="r"
    )
    archive.save_diagnosis(folder.path, Diagnosis(steps=(step,), untested={"page_cache": "why"}))
    folder.save(run)
    rows = tuple(row_so_far(record) for record in run.measured)
    save_under_way(folder.held, UnderWay("p", 1, 2, rows=rows))
    return folder.path


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every key in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def damaged(text: bytes, chance: random.Random) -> bytes:
    """The text with one fault: a bit, a cut, a value that is gone or another."""
    way = chance.randrange(5)
    if way == 0:
        at = chance.randrange(len(text))
        return text[:at] + bytes([text[at] ^ (1 << chance.randrange(8))]) + text[at + 1 :]
    if way == 1:
        return text[: chance.randrange(len(text))]
    document = json.loads(text)
    by_kind: dict[Any, list[tuple[Any, Any]]] = {}
    for container, key in _places(document):
        by_kind.setdefault(key if isinstance(key, str) else "", []).append((container, key))
    container, key = chance.choice(by_kind[chance.choice(sorted(by_kind))])
    if way == 2:
        del container[key]
    elif way == 3 and isinstance(container[key], int | float):
        container[key] = chance.choice((-container[key], container[key] * 10**6, container[key] + 1, 0))
    else:
        container[key] = chance.choice(ODD)
    return json.dumps(document).encode()
