"""`make matrix`: every condition is made, measured and diagnosed; what was found goes to docs/diagnosis.md."""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from statistics import median
from zlib import crc32

import msgspec
from conditions import CONDITIONS, Condition
from making import ROOT
from passive import Passive, passive_cost
from trial import Trial, Tried, attempt

DOCS = ROOT / "docs"
TRIALS = DOCS / "matrix" / "trials.json"
SEEDS = 5
FIRST_SEED = 301  # raised when the draws of a matrix were looked at: its trials go, and a new third is held out
PASSIVE_MOST = 0.01
CLEAN_SEEDS = {"sim": 20, "real": 5}
USUAL_S = {"sim": 8.0, "real": 35.0}  # of a trial


Cell = tuple[Condition, int]  # and the seed


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A condition as the page tells it, without the way to make it."""

    says: str
    where: str
    finds: tuple[str, ...]
    also: tuple[str, ...]
    job: str


class Records(msgspec.Struct, kw_only=True):
    """All trials there are: those of this call take the place of older ones of the same condition and seed."""

    machine: str = ""
    conditions: dict[str, Described] = {}
    made: dict[str, str] = {}  # the day of the last trial of each condition
    shown: dict[str, dict[str, str]] = {}  # by condition and finding what a reader is told
    passive: Passive | None = None
    trials: list[Trial] = []


def main() -> int:
    """Makes the trials asked for, one after the other; 1 when one of this call missed, or raised a false alarm."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # places are taken away however the matrix ends
    signal.signal(signal.SIGINT, signal.default_int_handler)
    began = time.monotonic()
    failed = kept_back = right = 0
    base = Path(asked.at).resolve()
    wanted = list(_wanted(asked))
    if asked.minutes:
        wanted = sampled(wanted, 60 * asked.minutes, _expected_s)
    print(f"{len(wanted)} trials, {_expected_s(wanted) / 60:.0f} min or so", flush=True)
    for condition, seed in wanted:
        tried = _anywhere(attempt(condition, seed, base), base)
        failed += bad(condition, tried.trial)
        print(_line(condition, tried.trial), flush=True)
        kept_back += condition.held_out(seed)
        right += condition.held_out(seed) and not bad(condition, tried.trial)
        if asked.show:
            print(tried.said, *(tried.shown[name] for name in tried.trial.wrong), sep="\n")
        if asked.keep:
            with changed_records() as records:
                keep(records, condition, tried)
    if asked.passive:
        cost = passive_cost(base)
        print(f"the passive part takes {cost.share:.2%} of {cost.run_s:.0f} s")
        failed += cost.share >= PASSIVE_MOST
        if asked.keep:
            with changed_records() as records:
                records.passive = cost
    if asked.keep:
        subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py")], check=True, stdout=subprocess.DEVNULL)
    print(f"held out, and looked at only now: {right} of {kept_back} right")
    print(f"{time.monotonic() - began:.0f} s; {failed} trials missed what was planted, or found what was not")
    return int(failed > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make matrix CELLS=...", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this condition, or those that begin so"
    )
    parser.add_argument("--seeds", type=int, help=f"how many (default {SEEDS}; on clean places {CLEAN_SEEDS})")
    parser.add_argument("--minutes", type=float, help="a sample of all these trials that takes about so long")
    parser.add_argument("--sim-only", action="store_true", help="no real devices")
    parser.add_argument("--real-only", action="store_true", help="no simulated devices")
    parser.add_argument("--tuning", action="store_true", help="without the third that is held out, while tuning")
    parser.add_argument("--at", default=".", metavar="DIR", help="where images and work files go, 4 GiB")
    parser.add_argument("--passive", action="store_true", help="time the passive part of a quick card as well")
    parser.add_argument("--show", action="store_true", help="print what diagnose says")
    parser.add_argument("--no-keep", dest="keep", action="store_false", help="leave the documents as they are")
    return parser.parse_args()


def _wanted(asked: argparse.Namespace) -> Iterator[Cell]:
    known = {condition.name for condition in CONDITIONS}
    for condition in CONDITIONS:
        begins = [name for name in asked.only if condition.name.startswith(name)]
        if asked.only and not any(name == condition.name or name not in known for name in begins):
            continue
        if (asked.sim_only and condition.where == "real") or (asked.real_only and condition.where == "sim"):
            continue
        usual = SEEDS if condition.finds else CLEAN_SEEDS[condition.where]
        for seed in range(FIRST_SEED, FIRST_SEED + (asked.seeds or usual)):
            if not (asked.tuning and condition.held_out(seed)):
                yield condition, seed


def sampled(wanted: list[Cell], seconds: float, expected_s: Callable[[list[Cell]], float]) -> list[Cell]:
    """As many of the trials as fit into that time, chosen by chance, the same in every call; in their order."""
    chosen: list[Cell] = []
    left_s = seconds
    for cell in sorted(wanted, key=lambda each: crc32(f"sample {each[0].name} {each[1]}".encode())):
        takes_s = expected_s([cell])
        if takes_s <= left_s:
            chosen.append(cell)
            left_s -= takes_s
    return [cell for cell in wanted if cell in chosen]


def _expected_s(wanted: list[Cell]) -> float:
    """By what the same conditions took before, and where there was none by what is usual."""
    took: dict[str, list[float]] = {}
    for trial in _read().trials:
        took.setdefault(trial.condition, []).append(trial.seconds)
    return sum(median(took.get(condition.name, [USUAL_S[condition.where]])) for condition, _ in wanted)


def bad(condition: Condition, trial: Trial) -> bool:
    missed = bool(condition.finds) and not trial.proved(condition.finds)
    return not trial.blind and (missed or bool(trial.wrong) or bool(trial.doubtful))


def _anywhere(tried: Tried, base: Path) -> Tried:
    """Without the directory of this machine in what was said."""
    text = msgspec.json.encode(tried).replace(f"{base}/".encode(), b"")
    return msgspec.json.decode(text, type=Tried)


def _line(condition: Condition, trial: Trial) -> str:
    head = f"{condition.where:4} {condition.name} ({trial.seed}), {trial.seconds:.1f} s: "
    if trial.blind:
        return f"{head}BLIND {trial.blind}"
    if condition.finds:
        found = "confirmed" if trial.proved(condition.finds) else "found" if trial.found(condition.finds) else "MISSED"
        head += found
        if found != "confirmed":
            head += f" (suspected {trial.suspected}, rejected {trial.rejected}, undecided {trial.undecided})"
            head += f" {trial.untested}" if trial.untested else ""
    head += f" outside {trial.outside}" if trial.outside else ""
    head += f" DOUBTFUL {trial.doubtful}" if trial.doubtful else ""
    return head + (f" FALSE {trial.wrong}" if trial.wrong else "")


def _read() -> Records:
    return msgspec.json.decode(TRIALS.read_bytes(), type=Records) if TRIALS.exists() else Records()


@contextmanager
def changed_records() -> Iterator[Records]:
    """The records, to be changed: read anew, alone, and saved. Two matrices at once do not lose each other's trials."""
    TRIALS.parent.mkdir(exist_ok=True)
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        records = _read()
        yield records
        _save(records)


def keep(records: Records, condition: Condition, tried: Tried) -> None:
    """Adds a trial to the records: a matrix that is stopped has kept what it did."""
    trial = tried.trial
    records.machine = _machine()
    records.conditions[condition.name] = Described(
        says=condition.says, where=condition.where, finds=condition.finds, also=condition.also, job=condition.job
    )
    records.made[condition.name] = date.today().isoformat()
    others = [each for each in records.trials if (each.condition, each.seed) != (trial.condition, trial.seed)]
    order = {each.name: number for number, each in enumerate(CONDITIONS)}
    kept = [each for each in (*others, trial) if each.condition in order and each.seed >= FIRST_SEED]
    records.trials = sorted(kept, key=lambda each: (order[each.condition], each.seed))
    records.conditions = {name: records.conditions[name] for name in order if name in records.conditions}
    records.made = {name: records.made[name] for name in records.conditions}
    if trial.proved(condition.finds) and (trial.seed == FIRST_SEED or condition.name not in records.shown):
        records.shown[condition.name] = {name: text for name, text in tried.shown.items() if name in condition.finds}
    records.shown = {name: text for name, text in records.shown.items() if name in records.conditions}


def _save(records: Records) -> None:
    """One line a trial, so that a change of one shows as one."""
    whole = msgspec.to_builtins(records)
    trials = ",\n".join("  " + msgspec.json.encode(each).decode() for each in whole.pop("trials"))
    head = msgspec.json.format(msgspec.json.encode(whole), indent=1).decode().removesuffix("\n}")
    new = TRIALS.with_suffix(".new")
    new.write_text(f'{head},\n "trials": [\n{trials}\n ]\n}}\n', encoding="utf-8")
    new.replace(TRIALS)


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return f"{os.cpu_count()} processors, {memory:.0f} GiB, {platform.system()} {platform.release().split('-')[0]}"


if __name__ == "__main__":
    sys.exit(main())
