"""Is a large working set slower to read than a small one?

What it is: random reads at 1x1 over a growing part of the target, evenly spread, and over all of it with a Zipf
distribution.
Why it matters: a test on a hundredth of a disk is short-stroked and shows times that the whole database will never see;
a cache has the same effect.
How it shows: on a disk the response time grows with the square root of the part in use; with a cache it steps up where
the cache ends; on flash it does not grow. The hot blocks of the Zipf distribution are scattered over all of the target:
they cost a disk the same seeks as even reads, less only what is read twice in a row (a hundredth), and are faster where
a cache serves them: the 64 places that the buffer of a drive keeps (cache=4MiB:200us of sim:hdd) save a third.
How to confirm: the mean of the largest set over that of the smallest, with a limit of 1.15, and the fit of
base + span x 8/15 x sqrt(part) to all of them.
What to change: test as much data as the database will use.
"""

from __future__ import annotations

from iocast.analyse.stroke import Stroke, fit_stroke
from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided
from iocast.diagnose.experiments.named.trial_rows import MIB, every_figures, in_turns, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup, cannot
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.results.experiments import WorkingSetRow
from iocast.model.run import Run
from iocast.model.workload import Zipf
from iocast.text import brief_time, capacity

NAME = "working-set"
WRITES = False
DEFAULTS = Defaults(size_bytes=1 << 30, seconds=5.0)
PARTS = (1000, 100, 10, 3, 1)  # of all there is
SMALLEST = 16 * MIB  # smaller ones are what a drive has read ahead
THETA = 1.1  # Zipf; hot blocks are scattered
GROWS = 1.15  # models C, 17
SERVED = 0.9  # [J] of the time of even reads; what Zipf reads save by chance and by repeats is less


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Reads of each size in turns, evenly; of all of it by Zipf's law too."""
    sizes = setup.sizes or tuple(setup.size_bytes // part for part in PARTS)
    if max(sizes) > setup.size_bytes:
        raise cannot(setup, f"a working set of {capacity(max(sizes))} does not fit", "give smaller --sizes")
    kept = sorted({max(SMALLEST, size // MIB * MIB) for size in sizes if min(size, setup.size_bytes) >= MIB})
    kept = [size for size in kept if size <= setup.size_bytes]
    if len(kept) < 2:
        raise cannot(setup, "too small for two working sets", "give it 64MiB or more with --size")
    even = [_row(setup, size, "even") for size in kept]
    return in_turns((*even, _row(setup, kept[-1], "zipf")), setup.rounds)


def _row(setup: TrialSetup, size: int, where: str) -> Phase:
    load = work("read", setup.block_bytes, Zipf(THETA) if where == "zipf" else None)
    return row(f"{capacity(size)} {where}", 1, load, seconds=setup.seconds, size=size)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Whether the time grows with the set, and how well the seek model fits."""
    run = runs[0]
    size_of = {each.phase.test: each.phase.region_size_bytes or 0 for each in run.measured}
    uneven = {each.phase.test for each in run.measured if isinstance(each.phase.workload.locality, Zipf)}
    by_test = every_figures(run)
    even = sorted((test for test in by_test if test not in uneven), key=lambda test: size_of[test])
    whole = run.plan.target.size_bytes or max(size_of.values(), default=1)
    stroke = fit_stroke([(size_of[test] / whole, by_test[test].mean_ns) for test in even])
    floor = by_test[even[0]].mean_ns if even else 0.0
    rows = []
    for test in (*even, *(each for each in by_test if each not in even)):
        fitted = stroke.time_ns(size_of[test] / whole) if stroke and test in even else None
        rows.append(
            WorkingSetRow(
                set_bytes=size_of[test],
                where=f"zipf {THETA}, scattered" if test in uneven else "even",
                mean_ns=by_test[test].mean_ns,
                rate_per_s=by_test[test].rate_per_s,
                seek_ns=by_test[test].mean_ns - floor if test != even[0] else 0,
                fitted_ns=fitted,
                p99_ns=by_test[test].p99_ns,
            )
        )
    if len(even) < 2:
        return Ruling(verdict="undecided", says="Nothing to compare: two working sets are needed.", rows=tuple(rows))
    decision = Decision(statistic="mean", first=even[0], other=even[-1], limit=GROWS, direction="above")
    outcome = decided(run, decision, "", "No seek component: it hardly grows.")
    law = f" {_law(stroke, floor)}" if stroke is not None and outcome.verdict == "confirmed" else ""
    skewed = next((_skew(by_test[test].mean_ns, by_test[even[-1]].mean_ns) for test in by_test if test in uneven), "")
    return Ruling(verdict=outcome.verdict, says=f"{outcome.says}{law}{skewed}", rows=tuple(rows))


def _skew(zipf_ns: float, even_ns: float) -> str:
    """What a skew changes over all of the target."""
    what = f" Skewed reads over all of it (Zipf {THETA}, hot blocks scattered) take"
    if zipf_ns <= SERVED * even_ns:
        return f"{what} {brief_time(zipf_ns)} instead of {brief_time(even_ns)}: a cache serves the hot blocks."
    return f"{what} as long as even ones: {brief_time(zipf_ns)}. No cache serves the hot blocks."


def _law(stroke: Stroke, floor: float) -> str:
    fits = stroke.worst_ns <= 0.1 * floor and stroke.span_ns > 0
    law = f"{brief_time(stroke.base_ns)} + {brief_time(abs(stroke.span_ns))} x 8/15 x sqrt(part of the whole)"
    if fits:
        return f"It grows as seeks do: {law}, within {brief_time(stroke.worst_ns)}."
    return f"It does not grow as seeks do ({law} is off by {brief_time(stroke.worst_ns)}): a cache or a tier ends."
