"""How long the page of a large card takes: 22 rows of a minute, drawn, and without drawing, in turns.

    python bench/card_page.py [--rounds 9] [--target sim:cached-array]

The run is made on the simulated device, in virtual time. Then `iocast report FOLDER -o` writes the page, and the same
report as JSON, which needs everything but the drawing. Times are those of whole commands, from the start of Python on.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

JOB = """\
name = "22 rows"
[files]
size = "16GiB"
[defaults]
time = "60s"
direct = true
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 2, 4, 8, 16, 32, 64]
[[phase]]
test = "read"
size = "1M"
pattern = "sequential"
users = [1, 4, 8]
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
users = [1, 8]
[[phase]]
test = "commit"
write = 100
size = "8k"
pattern = "sequential"
sync = "dsync"
users = [1, 2, 4, 16]
[[phase]]
test = "randwrite"
write = 100
size = "8k"
pattern = "random"
users = [1, 8, 32]
[[phase]]
test = "mixed"
read = 70
write = 30
size = "8k"
pattern = "random"
users = [1, 8, 32]
"""
# As where it is installed: modules are compiled once, and not in every call.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
FORMS = {"page": "card.html", "no drawing": "card.json"}


def command(*arguments: str) -> list[str]:
    """iocast of the Python that runs this."""
    return [sys.executable, "-m", "iocast", *arguments]


def made(target: str, folder: Path) -> str:
    """The run folder of a fresh run on a simulated device."""
    (folder / "rows.toml").write_text(JOB)
    runs = folder / "runs"
    subprocess.run(
        command("run", str(folder / "rows.toml"), target, "--out", str(runs), "--no-page"),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    (found,) = runs.iterdir()
    return str(found)


def timed(folder: str, file: Path) -> tuple[float, float]:
    """Seconds by the clock, and of CPU, that writing one file takes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command("report", folder, "-o", str(file)), check=True, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Makes the run, measures in turns, prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--target", default="sim:cached-array")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = made(arguments.target, Path(scratch))
        found: dict[str, list[tuple[float, float]]] = {form: [] for form in FORMS}
        for _ in range(arguments.rounds):
            for form, name in FORMS.items():
                found[form].append(timed(folder, Path(scratch, name)))
        size = Path(scratch, FORMS["page"]).stat().st_size
        charts = Path(scratch, FORMS["page"]).read_text().count("<figure")
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    print(f"{charts} charts, {size / 1e6:.2f} MB; {arguments.rounds} rounds on {cpus} processors, load {load:.1f}\n")
    print("| | seconds, median (least to most) | CPU seconds, median |\n|---|---|---|")
    for form, times in found.items():
        walls = [wall for wall, _ in times]
        spread = f"{median(walls):.2f} ({min(walls):.2f} to {max(walls):.2f})"
        print(f"| {form} | {spread} | {median(cpu for _, cpu in times):.2f} |")


if __name__ == "__main__":
    main()
