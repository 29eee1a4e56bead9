"""Does a forecast hold on real devices? A ladder is measured, then the same load as an open loop at five rates.

`make forecast-coverage` does so on a directory of this machine's disk and on lab devices (docs/guide/lab.md), each with
short rows; the table with every miss goes into docs/forecast.md. It is a back-test, too: what was measured first
foretells what is measured afterwards. Where trust refuses rows, the figures are shown all the same, and it is said.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from forecast_coverage import write, written
from msgspec import Struct

from iocast import archive
from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.stalled_rows import stalled_rows
from iocast.forecast.answer import Question
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder, RequestedLoad
from iocast.forecast.open_rows import OpenRow, inside, open_rows, touches
from iocast.sessions.forecasting.load_runs import measure_ladder, replay_rates
from iocast.sessions.listener import Quiet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from makers.lab_process import lab_process, why_no_lab

SHARES = (0.3, 0.5, 0.6, 0.7, 0.8)  # of the throughput at the last load
QUANTILES = (0.5, 0.95, 0.99)
LAB_BYTES = 256 << 20
LABS = {
    "lab: 4 servers of 2 ms": ("read_latency=2ms", "jitter=1ms", "servers=4"),
    "lab: 4 disks of 2 ms, striped": ("read_latency=2ms", "jitter=1ms", "servers=4", "stripe=64KiB"),
    "lab: 1 in 50 takes 20 ms": ("read_latency=2ms", "tail=2%:20ms", "servers=4"),
    "lab: capped at 1500 IOPS": ("read_latency=2ms", "iops=1500/s"),
    "lab: 60% hits before 2 servers": ("read_latency=3ms", "jitter=2ms", "servers=2", "hit=60%:500us"),
}
THROTTLES = Path("/sys/fs/cgroup/blkio")  # of cgroup 1; cgroup 2 has none of this form


class Held(Struct):
    """A device with its ladder and its open-loop rows."""

    name: str
    ladder: MeasuredLadder | None
    rows: tuple[OpenRow, ...]
    trust: str
    notes: list[str]


def held(name: str, path: str, asked: RequestedLoad, seconds: float, file_bytes: int, out: str) -> Held:
    """One device: the ladder, then the rows."""
    limits = (seconds, file_bytes, 1, out)
    question = Question(rate_per_s=1.0, load=asked, q=0.99, limit_s=1.0)
    folder = measure_ladder(path, question, limits, Quiet())
    assert folder is not None
    facts = Facts(archive.load(folder))
    examined = examine(facts)
    refused = {name: each.reason for name, each in examined.trust.items() if each.void or each.grade in ("D", "F")}
    refused |= stalled_rows(examined)
    letters = "".join(each.grade for each in examined.trust.values())
    found = find_ladder(facts, asked, refused, {})
    before = []
    if not isinstance(found, MeasuredLadder):
        first, *others = found.rows.values()
        more = f" (and {len(others)} rows more)" if others else ""
        before.append(f"{name}: `iocast forecast` refuses this ladder{more}: {first} Used all the same.")
        found = find_ladder(facts, asked, {}, {})
        assert isinstance(found, MeasuredLadder), found
    rates = [share * found.ladder.last_per_s for share in SHARES]
    probed = replay_rates(path, asked, rates, (seconds, file_bytes, 2, out), Quiet())
    assert probed is not None
    rows = open_rows(Facts(archive.load(probed)), asked, {}, QUANTILES, Forecaster(found))
    return Held(name, found, rows, letters, [*before, *misses(name, found, rows)])


def misses(name: str, ladder: MeasuredLadder, rows: tuple[OpenRow, ...]) -> Iterator[str]:
    """Every figure outside of its interval."""
    for row in rows:
        share = row.rate_per_s / ladder.ladder.last_per_s
        if not row.kept_up:
            yield f"{name} at {share:.0%}: only {row.done_per_s:.0f} of {row.rate_per_s:.0f} IOPS were done."
        for has, said in row.pairs():
            if not inside(has, said):
                what = "mean" if has.q is None else f"p{has.q * 100:g}"
                ends = [f"{each * 1e3:.3g}" for each in (said.low_s, said.high_s, has.value_s)]
                may = " (the error of the measurement reaches into it)" if touches(has, said) else ""
                yield f"{name} at {share:.0%}: {what} forecast {ends[0]} to {ends[1]} ms, measured {ends[2]} ms{may}."


@contextmanager
def throttled(path: str, iops: int) -> Iterator[None]:
    """While entered, the kernel lets this process read so many times a second from the disk below a path (cgroup 1)."""
    number = os.stat(path).st_dev
    whole = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    whole = whole.parent if (whole / "partition").exists() else whole
    group = THROTTLES / "iocast-forecast"
    group.mkdir()
    try:
        (group / "blkio.throttle.read_iops_device").write_text(f"{(whole / 'dev').read_text().strip()} {iops}")
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


@contextmanager
def devices(paths: list[str], labs: bool, throttle: int) -> Iterator[list[tuple[str, str]]]:
    """Names and paths, after a bar the options of a lab device or the IOPS of a throttle; they are gone afterwards."""
    with ExitStack() as stack:
        if throttle:
            found = [(f"this machine's disk, throttled to {throttle} IOPS", f"{path}|{throttle}") for path in paths]
        else:
            found = [("this machine's disk" if os.path.isdir(path) else path, path) for path in paths]
        if labs:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forecast-")))
            for at, (name, options) in enumerate(LABS.items()):
                device = place / f"device{at}"
                found.append((name, f"{device}|{' '.join(options)}"))
        yield found


def table(found: list[Held]) -> str:
    """A line a device: how many figures lay in their intervals."""
    lines = [
        "| device | IOPS reached | trust of the ladder | inside | within the error of the measurement | outside |",
        "|---|---|---|---|---|---|",
    ]
    for each in found:
        pairs = [pair for row in each.rows for pair in row.pairs()]
        ins = sum(inside(*pair) for pair in pairs)
        near = sum(touches(*pair) for pair in pairs) - ins
        most = "" if each.ladder is None else f"{each.ladder.ladder.last_per_s:,.0f}"
        lines.append(
            f"| {each.name} | {most} | {each.trust} | {ins} of {len(pairs)} | {near} | {len(pairs) - ins - near} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Prints the table, and writes it into docs/forecast.md with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="directories or files")
    parser.add_argument("--labs", action="store_true", help="lab devices, too (as root)")
    parser.add_argument("--throttle", type=int, default=0, metavar="IOPS", help="throttle the disk below the paths")
    parser.add_argument("--seconds", type=float, default=12.0, help="of each row")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", action="store_true", help="keep the devices that the page has already")
    asked = parser.parse_args()
    if not asked.paths and not asked.labs:
        parser.error("nothing to measure: name a PATH, or --labs")
    if asked.labs and (why := why_no_lab()):
        parser.error(f"--labs: {why}")
    if asked.throttle and not os.access(THROTTLES, os.W_OK):
        parser.error(f"--throttle needs root and the block controller of cgroup 1 ({THROTTLES})")
    load, found = RequestedLoad(size_bytes=8192), []
    with ExitStack() as whole:
        out = whole.enter_context(tempfile.TemporaryDirectory(prefix="forecast-runs-"))
        places = whole.enter_context(devices(asked.paths, asked.labs, asked.throttle))
        for name, place in places:
            path, _, options = place.partition("|")
            with ExitStack() as stack:
                if options.isdecimal():
                    stack.enter_context(throttled(path, int(options)))
                elif options:
                    stack.enter_context(lab_process(Path(path), LAB_BYTES, *options.split()))
                found.append(held(name, path, load, asked.seconds, 1 << 30, out))
            print(table(found[-1:]).splitlines()[-1], flush=True)
            print("\n".join(f"    {note}" for note in found[-1].notes), flush=True)
    if asked.write:
        rows, notes = table(found), [f"- {note}" for each in found for note in each.notes]
        if asked.add:
            before = written("real").splitlines()
            rows = "".join(f"{line}\n" for line in before if line.startswith("|")) + "".join(rows.splitlines(True)[2:])
            notes = [line for line in before if line.startswith("- ")] + notes
        write("real", f"\n{rows}\n" + "".join(f"{note}\n" for note in notes) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
