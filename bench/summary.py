"""All cells of one or more runs of the benchmark as one Markdown table, a line each; later runs take precedence.

python bench/summary.py results/FIRST.json [results/LATER.json ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from cells import CELLS
from engine import median_ratios, noise, verdicts
from peers import Figures

PEERS = ("fio default", "fio tuned", "fio libaio", "fio psync", "fio tuned, batched", "t/io_uring")


def lines(cells: dict[str, dict[str, list[Figures]]]) -> Iterator[str]:
    """The table, its best setting of fio in bold."""
    yield "| load | engine | I/Os per CPU-s | " + " | ".join(PEERS) + " | control | bar |"
    yield "|---|---|---|" + "---|" * (len(PEERS) + 2)
    for name, cell in CELLS.items():
        if name not in cells:
            continue
        results = cells[name]
        medians = median_ratios(results)
        best = min((ratio for peer, ratio in medians.items() if peer.startswith("fio")), default=None)
        shown = [_ratio(medians.get(peer), best) for peer in PEERS]
        own = sorted(run.iops_per_cpu_s for run in results["iocast"])
        engines = ", ".join(sorted({run.engine for run in results["iocast"]} - {""}))
        off = noise(results)
        bars = ", ".join(
            f"{bar:g} {'reached' if ratio >= bar else '**missed**'}" for _, ratio, bar in verdicts(cell, results)
        )
        control = "" if off is None else f"{off:.0%}"
        yield f"| {name} | {engines} | {own[len(own) // 2]:,.0f} | {' | '.join(shown)} | {control} | {bars} |"


def _ratio(ratio: float | None, best: float | None) -> str:
    if ratio is None:
        return ""
    return f"**{ratio:.2f}**" if ratio == best else f"{ratio:.2f}"


def main() -> None:
    """Prints the table of the files given."""
    cells: dict[str, dict[str, list[Figures]]] = {}
    for file in sys.argv[1:]:
        text = json.loads(Path(file).read_text(encoding="utf-8"))
        cells |= msgspec.convert(text["cells"], dict[str, dict[str, list[Figures]]])
    print("\n".join(lines(cells)))


if __name__ == "__main__":
    main()
