"""Where the cells run: work files that stay for the next run, and a private zram device that goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cells import MIB, ZRAM_BYTES

from iocast import load
from iocast.load.filling import claimed, create, fill_phase, finish
from iocast.model.plan import Plan, WorkFiles
from iocast.observe.target.device_stack import describe

CONTROL = Path("/sys/class/zram-control")


def work_file(directory: Path, size_bytes: int) -> tuple[Plan, Path]:
    """A plan on a folder of its own, and its one work file, made if it is not there."""
    folder = directory / f"iocast-bench-{size_bytes // MIB}"
    folder.mkdir(exist_ok=True)
    plan = Plan(name="bench", target=describe(str(folder)), phases=(), files=WorkFiles(1, size_bytes))
    layout = load.lay_out(plan)
    (file,) = layout.files
    with claimed(layout):
        if file.fill:
            create(file)
            fill = load.phase_plan(plan, fill_phase(file, direct=True), (file,), seed=0)
            done, _series = load.measure(fill, lambda *_: True)
            assert not done.errors, done.errors
            finish(file)
    return plan, Path(file.path)


def why_no_zram() -> str:
    """Why no zram device can be made; "" when one can."""
    if not CONTROL.exists():
        return "this kernel has no zram"
    return "" if os.access(CONTROL / "hot_add", os.R_OK) else "only root makes a zram device"


@contextmanager
def zram() -> Iterator[tuple[Plan, Path]]:
    """While entered, a zram device of its own, full of data that does not compress; afterwards it is gone."""
    number = int((CONTROL / "hot_add").read_text())
    device, control = Path(f"/dev/zram{number}"), Path(f"/sys/block/zram{number}")
    try:
        (control / "disksize").write_text(str(ZRAM_BYTES))
        with device.open("wb", buffering=0) as out:
            for _ in range(ZRAM_BYTES // MIB):
                out.write(os.urandom(MIB))
            os.fsync(out.fileno())
        plan = Plan(name="bench", target=describe(str(device)), phases=(), files=WorkFiles(1, ZRAM_BYTES))
        yield plan, device
    finally:
        (control / "reset").write_text("1")
        (CONTROL / "hot_remove").write_text(str(number))
