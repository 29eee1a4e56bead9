"""iocast experiment NAME PATH: one question about a path, a plan that answers it, a verdict."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click
from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.commands.mistakes import near
from iocast.commands.options import destroying, measuring, out_option, page_option, presenting
from iocast.commands.session import about, carry_out, make_plan, option_value, present, say
from iocast.commands.targets import find_target, identity_name, only_read, with_direct_tried
from iocast.errors import LoadError, SpecError, TargetError
from iocast.jobs import FileSize, Job
from iocast.model.target import Target

if TYPE_CHECKING:
    from iocast.diagnose.experiments.named import Asked, Trial

MIB = 1 << 20
IMAGE_BYTES = 512 * MIB  # xfs and btrfs want this much


class Wish(Struct, frozen=True, kw_only=True):
    """The options of one experiment, as they were given; None: as the experiment has it."""

    size: str | None
    time: str | None
    rounds: int | None
    block: str | None
    depth: int | None
    streams: int | None
    sizes: str
    seed: int


@click.command()
@click.argument("name", required=False)
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option("--plan", "dry", is_flag=True, help="Show what would be done, without doing it.")
@click.option("--rounds", type=click.IntRange(1, 100), help="How often each row is run; three at least for a verdict.")
@click.option("--block", metavar="SIZE", help="Size of each I/O, where the experiment does not vary it.")
@click.option("--depth", type=click.IntRange(1, 1024), help="I/Os at once of each user.")
@click.option("--streams", type=click.IntRange(1, 256), help="Writers of `noise`, readers of `concurrent-readers`.")
@click.option("--sizes", metavar="SIZE,...", default="", help="Working sets of `working-set`.")
@click.option(
    "--filesystems",
    metavar="KIND,...",
    default="all",
    show_default=True,
    help="What `dio-matrix` makes on an image in a single directory: raw, ext2 … or none: PATH as it is.",
)
@measuring
@destroying
@out_option
@page_option
@presenting
def experiment(
    name: str | None,
    paths: tuple[str, ...],
    dry: bool,
    rounds: int | None,
    block: str | None,
    depth: int | None,
    streams: int | None,
    sizes: str,
    filesystems: str,
    size: str | None,
    time: str | None,
    seed: int,
    destroy: str,
    out: str,
    page: bool,
    form: str,
) -> int:
    """Ask one question about PATH: the experiment NAME plans, measures and judges. Without NAME: list them all.

    Says first what it will do and write. In a directory it has work files of its own; other files and devices
    are only read, devices that --destroy names are written. `sim:` devices take no time.
    """
    from iocast.diagnose.experiments.named import TRIALS, find_trial, question

    if name is None:
        width = max(len(each.NAME) for each in TRIALS)
        for each in TRIALS:
            print(f"{each.NAME:{width}}  {question(each)}")
        return 0
    trial = find_trial(name)
    if trial is None:
        raise SpecError(
            f'there is no experiment "{name}"{near(name, [t.NAME for t in TRIALS])}', "`iocast experiment` lists them"
        )
    wish = Wish(size=size, time=time, rounds=rounds, block=block, depth=depth, streams=streams, sizes=sizes, seed=seed)
    places = _Places(paths or (".",), destroy, _images(trial, paths or (".",), filesystems))
    if dry:
        return _show_plans(trial, wish, places)
    say(f"experiment {trial.NAME}: {question(trial)}")
    return _carry_out(trial, wish, places, out, page, form)


class _Places(Struct, frozen=True):
    """Where it is made: paths as they are, or file systems of these kinds on an image in the only path."""

    paths: tuple[str, ...]
    destroy: str
    images: tuple[str, ...]


def _images(trial: Trial, paths: tuple[str, ...], filesystems: str) -> tuple[str, ...]:
    """The kinds of file system to make; () when the paths are taken as they are. Raises SpecError."""
    known: tuple[str, ...] = getattr(trial, "IMAGES", ())
    if not known and len(paths) > 1:
        raise SpecError(f"{trial.NAME} takes one PATH", f"got {len(paths)}: {', '.join(paths)}")
    if not known or len(paths) > 1 or filesystems == "none" or not os.path.isdir(paths[0]):
        return ()
    wanted = known if filesystems == "all" else tuple(each.strip() for each in filesystems.split(","))
    if strange := [each for each in wanted if each not in known]:
        raise SpecError(f'--filesystems: "{strange[0]}" is none that can be made here', f"known are {', '.join(known)}")
    return wanted


def _show_plans(trial: Trial, wish: Wish, places: _Places) -> int:
    """The rows of every target; nothing is done."""
    from iocast import load
    from iocast.commands.cmd_plan import rows, totals

    for path in places.paths:
        target = find_target(path, places.destroy)
        job = _job(trial, _asked(trial, wish, target))
        made, notes = make_plan(job, target, wish.seed, dry=True)
        for line in (*rows(made), *totals(made, load.lay_out(made)), _writes(job)):
            print(line)
        for note in notes:
            say(f"note: {note}")
    if places.images:
        each = "each once, one after the other, on an image of 512 MiB that is removed again"
        print(f"on      {', '.join(places.images)}: {each}")
    sys.stdout.flush()
    return 0


def _writes(job: Job) -> str:
    """What it writes, besides laying out its files."""
    from iocast.text import capacity

    writing = [phase for phase in job.phases if phase.workload.writes and not phase.workload.trims]
    if not writing:
        return "writes  nothing but its work files"
    timed = sum(phase.length.seconds or 0.0 for phase in writing if not phase.length.bytes)
    bounded = sum(phase.length.bytes or 0 for phase in writing)
    parts = [f"for {about(timed)}" if timed else "", f"at most {capacity(bounded)}" if bounded else ""]
    return f"writes  {' and '.join(part for part in parts if part)} in {len(writing)} rows, in place"


def _carry_out(trial: Trial, wish: Wish, places: _Places, out: str, page: bool, form: str) -> int:
    """Runs it on every target, the runs of the others inside the folder of the first; shows what came of it."""
    first: Path | None = None
    code = 0
    # Closed whatever happens: what it mounted is taken away before the image below it.
    with closing(_targets(places)) as targets:
        for target in targets:
            job = _job(trial, _asked(trial, wish, with_direct_tried(target)))
            say(_writes(job))
            inside = out if first is None else str(first / archive.EXPERIMENTS)
            done, code = carry_out(job, target, wish.seed, wish.size, inside)
            first = first or done.folder
            if done.error is not None and not done.run.measured:
                raise done.error
            if done.error is not None:
                say(f"note: {done.error.message}")
            if code:
                break
    if first is not None:
        _show(first, page and not code, form)
    return code


def _show(folder: Path, page: bool, form: str) -> None:
    from iocast.commands.writing import leave_page
    from iocast.report.card.judged import judge
    from iocast.report.diagnosis.experiment_report import trial_report

    run = archive.load(str(folder))
    present(trial_report(run, os.path.relpath(folder)), form)
    if page:
        sys.stdout.flush()
        say(leave_page(judge(run, os.path.relpath(folder))))


def _targets(places: _Places) -> Generator[Target, None, None]:
    """The targets one after the other; images are made before and taken away after each."""
    if not places.images:
        for path in places.paths:
            yield find_target(path, places.destroy)
        return
    from iocast.load.file_system_images import loop_device

    say(f"note: makes an image of {IMAGE_BYTES // MIB} MiB in {places.paths[0]}, and removes it at the end")
    with loop_device(places.paths[0], IMAGE_BYTES) as device:
        for kind in places.images:
            try:
                with _on_image(kind, device, places.paths[0]) as target:
                    yield target
            except LoadError as error:
                say(f"note: {kind} is left out: {error.message}")


@contextmanager
def _on_image(kind: str, device: str, directory: str) -> Iterator[Target]:
    """The device itself, or a new file system on it."""
    from iocast.load.file_system_images import blank, file_system

    if kind == "raw":
        blank(device)
        target = find_target(device)
        yield replace(target, destroy=identity_name(target))
        return
    with file_system(kind, device, directory) as path:
        yield find_target(path)


def _asked(trial: Trial, wish: Wish, target: Target) -> Asked:
    """What is asked of a trial on a target, defaults filled in. Raises SpecError, TargetError."""
    from iocast.diagnose.experiments.named import Asked
    from iocast.units import parse_duration, parse_size

    usual = trial.DEFAULTS
    wanted = option_value("--size", wish.size, parse_size) if wish.size else usual.size_bytes
    may_write = target.kind == "sim" or not only_read(target)
    if trial.WRITES and not may_write:
        kind = "a block device" if target.kind == "block" else "a file that iocast did not make"
        name = identity_name(target)
        named = f", or --destroy {name} if what the device holds may go" if name else ""
        raise TargetError(f"{target.path} is {kind}, and {trial.NAME} writes", f"give a directory{named}")
    own = target.kind == "directory" or target.size_bytes is None
    return Asked(
        target=target,
        size_bytes=wanted // MIB * MIB if own else target.size_bytes or 0,
        may_write=may_write,
        seconds=option_value("--time", wish.time, parse_duration) / 1e9 if wish.time else usual.seconds,
        rounds=wish.rounds or usual.rounds,
        block_bytes=option_value("--block", wish.block, parse_size) if wish.block else usual.block_bytes,
        depth=wish.depth or usual.depth,
        streams=wish.streams or usual.streams,
        sizes=tuple(option_value("--sizes", each, parse_size) for each in wish.sizes.split(",") if each.strip()),
    )


def _job(trial: Trial, asked: Asked) -> Job:
    """The experiment as a job: what can be run, is checked and planned as any other."""
    count = trial.files(asked) if hasattr(trial, "files") and asked.target.kind == "directory" else 1
    return Job(
        name=f"experiment {trial.NAME}",
        phases=trial.phases(asked),
        file_count=count,
        file_size=FileSize(size_bytes=asked.size_bytes // count // MIB * MIB),
        experiment=trial.NAME,
    )
