"""Names the phases of a job: what ran, in a few words, no name twice."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from iocast.model.plan import Phase
from iocast.model.workload import Closed, Compressible, Dedupable, Repeated, Sequential, Uniform, Workload, Zeros
from iocast.units import rate_text, size_text


def plain_name(phase: Phase) -> str:
    """What a phase is called when no other is called so, such as "randread 8k 16x4 @500/s"."""
    if phase.role == "verify":
        return phase.test
    load = phase.workload
    sizes = [size_text(size) for size in sorted({item.size_bytes for item in load.mix if item.size_bytes})]
    parts = [
        phase.test,
        *([] if not sizes and load.tree_only else ["+".join(sizes) if len(sizes) <= 3 else f"{sizes[0]}..{sizes[-1]}"]),
        f"{load.users}x{load.depth}",
    ]
    if load.fsync_every > 1:  # or the rate would be taken for one of syncs
        parts.append(f"{load.fsync_op}/{load.fsync_every}")
    if not isinstance(load.arrival, Closed):
        parts.append(f"@{rate_text(load.arrival.rate_per_s)}")
    if phase.role == "warm":
        parts.append("warm")
    if phase.cold and load.tree_only:
        parts.append("cold")
    return " ".join(parts)


def unique_names(phases: Sequence[Phase]) -> tuple[Phase, ...]:
    """The phases, named; where names clash with the words in which they differ, then with "#2", "#3"."""
    alike: dict[str, list[Workload]] = {}
    for phase in phases:
        alike.setdefault(plain_name(phase), []).append(phase.workload)
    names = [_told_apart(phase, alike[plain_name(phase)]) for phase in phases]
    counts: dict[str, int] = {}
    named: list[Phase] = []
    for phase, name in zip(phases, names, strict=True):
        counts[name] = number = counts.get(name, 0) + 1
        named.append(msgspec.structs.replace(phase, name=name if number == 1 else f"{name} #{number}"))
    return tuple(named)


def percent_text(percent: float) -> str:
    """The exact text: 40.0 -> "40%", 12.5 -> "12.5%"."""
    return f"{format(Decimal(repr(float(percent))), 'f').removesuffix('.0')}%"


def _told_apart(phase: Phase, alike: Sequence[Workload]) -> str:
    """Its plain name, and the words that not all have that are called so."""
    common = set.intersection(*(set(_words(load)) for load in alike))
    return " ".join([plain_name(phase), *(word for word in _words(phase.workload) if word not in common)])


def _words(load: Workload) -> tuple[str, ...]:
    """What sets a load apart that its plain name does not say."""
    words = (
        "backwards" if isinstance(load.locality, Sequential) and load.locality.backwards else "",
        "no-repeats" if load.locality == Uniform(repeats=False) else "",
        "" if load.direct or load.tree_only else "buffered",
        "random" if load.select == "random" else "",
        f"stop-after={load.stop_after}" if load.stop_after is not None else "",
        "" if load.sync == "none" else load.sync,
        load.fsync_op if load.fsync_every == 1 else "",
        _payload_words(load),
    )
    return tuple(word for word in words if word)


def _payload_words(load: Workload) -> str:
    match load.payload:
        case Zeros():
            return "zeros"
        case Repeated():
            return "repeated"
        case Dedupable(percent=percent):
            return f"dedupable {percent_text(percent)}"
        case Compressible(percent=percent):
            return f"compressible {percent_text(percent)}"
        case _:
            return ""
