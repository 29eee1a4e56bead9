"""Does the content of writes matter?

What it is: the same writes with four kinds of content, in turns.
Why it matters: storage that compresses, dedupes or skips zeros looks better than it is in a test that writes such
data; a database's blocks are only partly compressible.
How it shows: zeros (or repeated, or compressible blocks) are written faster than unique data.
How to confirm: throughput of each over that of unique data; the limit is 1.2.
What to change: write unique data, or data as compressible as the database's (`compressible = "50%"`).
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, usual_row
from iocast.diagnose.experiments.named.trial_rows import every_figures, in_turns, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.results.experiments import ContentRow
from iocast.model.run import Run
from iocast.model.workload import Compressible, Payload, Repeated, Sequential, Unique, Zeros
from iocast.text import number

NAME = "payload"
WRITES = True
DEFAULTS = Defaults(seconds=1.0, block_bytes=128 << 10, depth=2)
FASTER = 1.2  # source row K8, 10
PAYLOADS: dict[str, Payload] = {
    "unique": Unique(),
    "zeros": Zeros(),
    "repeated": Repeated(),
    "compressible by half": Compressible(50.0),
}
MEANS = {
    "zeros": "zeros are skipped or compressed",
    "repeated": "repeated blocks are stored once",
    "compressible by half": "data is compressed",
}


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """The four contents over the same region, in turns."""
    size = setup.parts(1, 1 << 30)
    every = [
        row(
            name,
            1,
            work("write", setup.block_bytes, Sequential(), depth=setup.depth, payload=payload),
            seconds=setup.seconds,
            size=size,
        )
        for name, payload in PAYLOADS.items()
    ]
    return in_turns(every, setup.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Each content against unique data."""
    run = runs[0]
    every = every_figures(run)
    unique = every.get("unique")
    rows, reduced, open_ = [], [], False
    for test in (each for each in PAYLOADS if each in every):
        times = every[test].bytes_per_s / unique.bytes_per_s if unique else None
        rows.append(usual_row(ContentRow, test, every[test], times=times))
        if test == "unique" or times is None:
            continue
        decision = Decision(statistic="bytes_per_s", first="unique", other=test, limit=FASTER, direction="above")
        outcome = decided(run, decision)
        open_ |= outcome.verdict == "undecided"
        if outcome.verdict == "confirmed":
            reduced.append(f"{test} {number(times)} times as fast as unique data: {MEANS[test]}")
    if reduced:
        return Ruling(verdict="confirmed", says=f"The content matters: {'; '.join(reduced)}.", rows=tuple(rows))
    if open_ or unique is None:
        return Ruling(
            verdict="undecided",
            says="Inconclusive: more rounds are needed to judge whether the content matters.",
            rows=tuple(rows),
        )
    most = max(each.times or 0.0 for each in rows)
    gain = f"at most {most:.2f} times the throughput of unique data (above {FASTER:g} confirms it)"
    says = f"The content makes no difference: {gain}."
    return Ruling(verdict="rejected", says=says, rows=tuple(rows))
