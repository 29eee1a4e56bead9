"""Truth: a log on a device whose flush is slow is named by its own flush, whatever other devices do meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers.reading_child import Child, child
from makers.rootly import command
from making import NotHere, image

from iocast import metrics
from iocast.model.live.moment import Interval
from iocast.report.live.verdict_lines import verdict_of
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.live.watching import LiveRequest, watching

pytestmark = pytest.mark.alone

SIZE_BYTES, SYNCS = 256 << 20, 30


@pytest.fixture(params=["5ms", "20ms"])
def slow_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str, int]]:
    """A file on ext4 on a loop device over a lab device; the name of the loop device, and its flush in ns."""
    try:
        with image(below=f"fsync={request.param}")(tmp_path) as place:
            file = written(Path(place) / "log")
            number = os.stat(file).st_dev
            device = Path(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")).name
            yield file, device, int(request.param.removesuffix("ms")) * 10**6
    except NotHere as why:
        pytest.skip(str(why))


def written(file: Path) -> Path:
    """Four mebibytes on storage."""
    with file.open("wb") as out:
        out.write(bytes(4 << 20))
    command("sync", file)
    return file


def seen_while(logger: Child) -> Interval:
    """What `iocast top --pid` sees of the second interval."""
    with watching(LiveRequest(sources=WatchedSources(pids=(logger.pid,)), interval_ns=100_000_000)) as live:
        for blind in live.blind:
            if blind.observer == metrics.KERNEL_LAYERS:
                pytest.skip(blind.why)
        moments = live.moments(lambda: False)
        next(moments)
        before = next(moments)
        logger.work()
        time.sleep(0.3)  # records are read some tenths of a second later
        return Interval(before, next(moments))


def test_a_slow_flush_is_that_of_the_log_device(slow_log: tuple[Path, str, int], tmp_path: Path) -> None:
    file, device, flush_ns = slow_log
    with child(file, 0, SYNCS) as logger:
        interval = seen_while(logger)
    answer = verdict_of(interval)
    assert (answer.code, answer.rule) == ("device", 4), answer.says
    assert f"a flush of {device} takes" in answer.says
    assert answer.evidence["flush_ns"] == pytest.approx(flush_ns, rel=0.2)


def test_a_quick_log_is_not_blamed_for_the_slow_one(slow_log: tuple[Path, str, int], tmp_path: Path) -> None:
    """Whoever is followed syncs on another device: the slow flushes are not its own."""
    slow_file, device, _ = slow_log
    with child(written(tmp_path / "quick"), 0, SYNCS) as logger, child(slow_file, 0, SYNCS) as other:

        class Both:
            pid = logger.pid

            def work(self) -> None:
                logger.work()
                other.work()

        interval = seen_while(Both())  # type: ignore[arg-type]
    assert device not in verdict_of(interval).says
