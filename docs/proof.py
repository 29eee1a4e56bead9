"""Writes docs/diagnosis.md and docs/anomalies from the trials of `make matrix` and the detectors' manual pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from iocast.diagnose import detectors
from iocast.model.codes import FindingCode
from iocast.report.wording import FINDINGS

DOCS = Path(__file__).resolve().parent
TRIALS = DOCS / "matrix" / "trials.json"
NOTE = "<!-- written by `make matrix` and `make docs`; do not edit -->\n\n"
# Trials whose records were not kept; it goes when all conditions have been tried again.
SINCE = (
    "**Since then.** The tables are older than some detectors. On 28 November the real conditions were tried with "
    "three seeds each, 108 trials in 53 minutes: of 81 planted 80 were found and 78 confirmed. On four of these "
    "something else was called certain: a cache beside bad blocks (two, mended since), a step of the rate while other "
    "work ran on this machine (two). On one of 27 clean runs other users of the drives were confirmed, which nobody "
    "can exclude in a virtual machine. A suspicion that was not true was raised on 9 planted and 8 clean runs, most "
    "often of a cache in the storage, and rejected by experiment. The simulated conditions with three seeds, before: "
    "143 of 150 confirmed, 6 missed, none false."
)
FOUND_SHARE, CONFIRMED_SHARE, FALSE_SHARE, PASSIVE_SHARE = 0.95, 0.90, 0.05, 0.01
Trial = dict[str, Any]

# The anomalies of the founding documents: number, title, what is said of them in a word, findings that tell them.
ANOMALIES: tuple[tuple[str, str, tuple[FindingCode, ...]], ...] = (
    (
        "caches",
        "Caches: of the host, of the array, memory that is measured, faster than the link",
        (
            "page_cache",
            "cached_although_direct_was_claimed",
            "cache_in_the_storage",
            "memory_file_system",
            "memory_device",
            "faster_than_memory",
            "faster_than_the_link",
        ),
    ),
    ("shared-drives", "Drives shared with others", ("shared_drives",)),
    ("link-limit", "The link is the limit", ("link_limit",)),
    ("consolidation", "Requests are consolidated", ("consolidation",)),
    ("fragmentation", "Requests are split", ("splitting",)),
    ("read-ahead", "Read-ahead", ("read_ahead",)),
    ("tier-migration", "Data move between tiers", ("tier_migration",)),
    ("first-write", "The first write of a place costs more", ("first_write_penalty",)),
    ("elided-reads", "Reads that never reach the storage", ("elided_reads",)),
    ("compression-and-dedupe", "Compression and deduplication", ("compression_or_deduplication",)),
    ("maintenance", "Maintenance of the storage", ("maintenance",)),
)


def pages() -> dict[str, str]:
    """All pages: path below docs, text. None without trials."""
    if not TRIALS.exists():
        return {}
    records = json.loads(TRIALS.read_text(encoding="utf-8"))
    made = {"diagnosis.md": "\n\n".join(_proof(records)).strip() + "\n"}
    for number, (stem, title, findings) in enumerate(ANOMALIES, 1):
        made[f"anomalies/{number:02}-{stem}.md"] = _anomaly(records, number, title, findings)
    return made


def _proof(records: Trial) -> Iterator[str]:
    planted = {name: each for name, each in records["conditions"].items() if each["finds"]}
    clean = {name: each for name, each in records["conditions"].items() if not each["finds"]}
    days = sorted(records["made"].values())
    yield f"# The proof of diagnosis\n\n{NOTE.strip()}"
    yield (
        "What `iocast diagnose` says is held against places where the truth is known, because it was planted there: on"
        " simulated devices, and on devices of the real kernel wherever one can be made. `make matrix` makes each"
        " place, measures and diagnoses it with several seeds, and takes it away; this page is what came of it. *Found*"
        " means at least suspected, *confirmed* that an experiment or a count has proved it. A suspicion of"
        " something else counts as false, unless it would explain what was planted."
    )
    yield f"Trials of {days[0]} to {days[-1]} on {records['machine']}.{_outside(records)}"
    yield SINCE
    yield "## The bars\n\n" + _bars(records, planted, clean)
    yield "## Planted conditions\n\n" + _planted(records, planted)
    yield "## Clean places\n\n" + _clean(records, clean)
    yield "## Findings\n\n" + _findings(records, planted)
    yield "## The anomalies, one page each\n\n" + "\n".join(
        f"{number}. [{title}](anomalies/{number:02}-{stem}.md)" for number, (stem, title, _) in enumerate(ANOMALIES, 1)
    )
    yield (
        "## To add a condition\n\nOne entry in `tests/matrix/conditions.py`: its name, what is planted, how the place"
        ' is made, which findings must come of it. `make matrix CELLS="--only NAME --show"` tries it.'
    )


def _outside(records: Trial) -> str:
    """What was counted on real devices and is true, but of this machine and not of the place."""
    found = Counter(name for trial in records["trials"] for name in trial.get("outside", ()))
    if not found:
        return ""
    counts = ", ".join(f"{FINDINGS[code]} in {_runs(count)}" for code, count in found.most_common())
    return (
        " On real devices some things are true that nobody planted, and that the place has no say in: other programs"
        " use this machine's own disk, which stands still at times; the hypervisor takes a processor away; a queue of"
        " the kernel cuts large requests up, or merges neighbours. Where they were counted they are no false alarm:"
        f" {counts}."
    )


def _runs(count: int) -> str:
    return f"{count} run" + ("s" if count != 1 else "")


def _of(records: Trial, name: str) -> list[Trial]:
    return [each for each in records["trials"] if each["condition"] == name and not each.get("blind")]


def _certain(trial: Trial) -> set[str]:
    return {*trial.get("counted", ()), *trial.get("confirmed", ())}


def _seen(trial: Trial) -> set[str]:
    return _certain(trial) | set(trial.get("suspected", ()))


def _false(trial: Trial) -> set[str]:
    """What was said and is not true; a suspicion counts as well."""
    return {*trial.get("wrong", ()), *trial.get("doubtful", ())}


def _bars(records: Trial, planted: Trial, clean: Trial) -> str:
    rows = ["| bar | asked | simulated | real |", "|---|---|---|---|"]
    found = _bar(records, planted, lambda trial, about: bool(_seen(trial) & set(about["finds"])), FOUND_SHARE)
    proved = _bar(records, planted, lambda trial, about: bool(_certain(trial) & set(about["finds"])), CONFIRMED_SHARE)
    false = _bar(records, clean, lambda trial, _: bool(_false(trial)), FALSE_SHARE, most=True)
    rows.append(f"| planted conditions found | at least {FOUND_SHARE:.0%} | {found} |")
    rows.append(f"| planted conditions confirmed | at least {CONFIRMED_SHARE:.0%} | {proved} |")
    rows.append(f"| runs on clean places with a finding that is not true | at most {FALSE_SHARE:.0%} | {false} |")
    cost = records.get("passive")
    if cost:
        share = (cost["observers_s"] + cost["detectors_s"]) / cost["run_s"]
        verdict = "reached" if share < PASSIVE_SHARE else "**missed**"
        says = f"{share:.2%} of {cost['run_s']:.0f} s, {verdict}"
        rows.append(
            f"| observers and detectors, of the time of a quick card | less than {PASSIVE_SHARE:.0%} | | {says} |"
        )
    return "\n".join(rows)


def _bar(
    records: Trial, conditions: Trial, right: Callable[[Trial, Trial], bool], limit: float, most: bool = False
) -> str:
    cells = []
    for where in ("sim", "real"):
        answers = [
            right(trial, about)
            for name, about in conditions.items()
            if about["where"] == where
            for trial in _of(records, name)
        ]
        if not answers:
            cells.append("not tried")
            continue
        share = sum(answers) / len(answers)
        reached = share <= limit if most else share >= limit
        cells.append(f"{sum(answers)} of {len(answers)} ({share:.0%}), {'reached' if reached else '**missed**'}")
    return " | ".join(cells)


def _planted(records: Trial, planted: Trial) -> str:
    rows = [
        "| condition | what is planted | must be found | runs | found | confirmed | missed | false |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, about in planted.items():
        trials, wanted = _of(records, name), set(about["finds"])
        if not trials:
            why = next((each["blind"] for each in records["trials"] if each["condition"] == name), "")
            rows.append(f"| {name} | {about['says']} | {_words(about['finds'], ', ')} | 0: {why} | | | | |")
            continue
        found = sum(bool(_seen(trial) & wanted) for trial in trials)
        proved = sum(bool(_certain(trial) & wanted) for trial in trials)
        cells = [len(trials), found, proved, len(trials) - found, _counts(trials)]
        shown = " | ".join(str(cell) for cell in cells)
        rows.append(f"| {name} ({about['where']}) | {about['says']} | {_words(about['finds'], ' or ')} | {shown} |")
    return "\n".join(rows)


def _words(codes: list[FindingCode], between: str) -> str:
    return between.join(FINDINGS[code] for code in codes)


def _counts(trials: list[Trial]) -> str:
    wrong = Counter(name for trial in trials for name in _false(trial))
    return ", ".join(f"{FINDINGS[code]} {count}" for code, count in wrong.most_common()) or "0"


def _clean(records: Trial, clean: Trial) -> str:
    rows = ["| place | what it is | runs | with a finding that is not true | which |", "|---|---|---|---|---|"]
    for name, about in clean.items():
        trials = _of(records, name)
        false = sum(bool(_false(trial)) for trial in trials)
        place = f"{name.removeprefix('clean: ')} ({about['where']})"
        rows.append(f"| {place} | {about['says']} | {len(trials)} | {false} | {_counts(trials) if false else ''} |")
    return "\n".join(rows)


def _findings(records: Trial, planted: Trial) -> str:
    names = dict.fromkeys(name for about in planted.values() for name in about["finds"])
    rows = [
        "| finding | detector | planted | confirmed | elsewhere false | shown for real here |",
        "|---|---|---|---|---|---|",
    ]
    for finding in names:
        where = {name: about for name, about in planted.items() if finding in about["finds"]}
        trials = [trial for name in where for trial in _of(records, name)]
        proved = sum(finding in _certain(trial) for trial in trials)
        false = sum(finding in _false(trial) for trial in records["trials"])
        real = [trial for name, about in where.items() if about["where"] == "real" for trial in _of(records, name)]
        shown = "yes" if any(finding in _certain(trial) for trial in real) else "no" if real else "no: not made here"
        found = _detector(finding)
        detector = detectors.module_name(found) if found else ""
        link = f"[{detector}](reference/detectors.md#{detector})" if detector else ""
        rows.append(f"| {FINDINGS[finding]} | {link} | {_runs(len(trials))} | {proved} | {false} | {shown} |")
    return "\n".join(rows)


def _detector(finding: FindingCode) -> detectors.Detector | None:
    """The detector that gives a finding of this code; None when there is none yet."""
    return next((each for each in detectors.DETECTORS if finding in detectors.codes(each)), None)


def _anomaly(records: Trial, number: int, title: str, findings: tuple[FindingCode, ...]) -> str:
    from generate import paragraphs  # the same layout as in the reference

    manuals = dict.fromkeys(found.__doc__ or "" for finding in findings if (found := _detector(finding)))
    parts = [f"# Anomaly {number}: {title}\n\n{NOTE.strip()}"]
    parts += [paragraphs(manual) for manual in manuals]
    shown = [text for finding in findings if (text := _shown(records, finding))]
    parts += shown or ["No trial has shown it yet."]
    parts.append("All conditions, and how often each was found: [the proof](../diagnosis.md).")
    return "\n\n".join(parts) + "\n"


def _shown(records: Trial, finding: FindingCode) -> str:
    """What a run says where it is planted: a real one if there is one, else a simulated one, and which it is."""
    places = sorted(records["conditions"].items(), key=lambda each: each[1]["where"] != "real")
    for name, about in places:
        text = records.get("shown", {}).get(name, {}).get(finding)
        if text:
            real = "a real run" if about["where"] == "real" else "a simulated run; no real one shows it"
            says = f"{about['says'][:1].upper()}{about['says'][1:]}."
            title = FINDINGS[finding]
            return f"## {title[:1].upper()}{title[1:]}: {real}\n\n{says}\n\n```\n{text}\n```"
    return ""


def main() -> None:
    """Writes them all; nothing where there was no trial yet."""
    for name, text in pages().items():
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
