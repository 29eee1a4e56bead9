"""Background: maintenance of the storage that is under way before a run begins; asked once, tools included."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.model.run import Maintenance
from iocast.model.target import Target
from iocast.observe import maintenance
from iocast.observe.background.command_output import Ask, UnansweredError, output_of
from iocast.observe.background.device_mapper import mapped_work
from iocast.observe.background.mdstat import array_work
from iocast.observe.background.trimming_programs import program_work
from iocast.observe.background.zpool_status import pool_work
from iocast.observe.observer import BlindError


class Background(Struct, frozen=True):
    """What was under way, and what could not be asked."""

    tasks: tuple[Maintenance, ...] = ()
    unseen: tuple[str, ...] = ()


def look(target: Target, root: str = "/", ask: Ask = output_of) -> Background:
    """What this machine's storage does for itself at this moment; nothing stands under a simulated device. Tools that
    are not there cost nothing; one that does not answer within seconds is left alone and named.
    """
    if target.simulated is not None:
        return Background()
    tasks: dict[tuple[str, str], Maintenance] = {}
    unseen: list[str] = []
    parts: tuple[Callable[[], Iterator[Maintenance]], ...] = (
        lambda: _flags(target, root, unseen),
        lambda: array_work(target, root),
        lambda: mapped_work(target, root, ask),
        lambda: pool_work(target, root, ask),
        lambda: program_work(target, root),
    )
    for part in parts:
        try:
            for task in part():
                tasks[task.subject, task.family] = task  # a later part knows how much is done
        except (UnansweredError, OSError, ValueError) as error:
            unseen.append(str(error))
    return Background(tuple(tasks.values()), tuple(unseen))


def _flags(target: Target, root: str, unseen: list[str]) -> Iterator[Maintenance]:
    """What the observer of maintenance sees now: arrays and btrfs."""
    try:
        with maintenance.Observer(target, (), root) as observer:
            samples = observer.sample()
            unseen += observer.unseen
    except BlindError as error:
        unseen.append(error.why)
        return
    layers = {layer.name for layer in target.layers}
    for each in samples:
        if each.value > 0 and each.metric not in (metrics.HOT, metrics.ZFS_DEGRADED):
            work = Maintenance(task=each.metric, subject=each.subject)
            below = each.subject in layers | maintenance.btrfs_on(layers, root) or each.metric == metrics.BTRFS_SCRUB
            yield replace(work, below_target=below)
