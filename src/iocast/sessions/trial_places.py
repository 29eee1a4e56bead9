"""Where a named experiment is made: paths as they are, or file systems on an image that is removed again."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.writing.held_directories import directory_of, holding
from iocast.errors import IocastError, LoadError, SpecError
from iocast.load.file_system_images import blank, check_mount_place, file_system, image_path, loop_device
from iocast.model.target import Target
from iocast.observe.target.overwriting import refuse_used_files
from iocast.sessions.events import ImageAnnounced, ImageLeftOut, TrialFailed
from iocast.sessions.listener import Listener
from iocast.sessions.requests.run_options import MIB
from iocast.sessions.target_finding import find_target, identity_name

if TYPE_CHECKING:
    from iocast.diagnose.experiments.named import Trial

IMAGE_BYTES = 512 * MIB  # xfs and btrfs want this much


class Places(Struct, frozen=True):
    """Paths as they are, or file systems of these kinds on an image in the only path."""

    paths: tuple[str, ...]
    destroy: str
    images: tuple[str, ...]


def image_kinds(trial: Trial, paths: tuple[str, ...], filesystems: str) -> tuple[str, ...]:
    """The kinds of file system to make; () when the paths are taken as they are. Raises SpecError."""
    known: tuple[str, ...] = getattr(trial, "IMAGES", ())
    if not known and len(paths) > 1:
        raise SpecError(f"{trial.NAME} takes one PATH", f"got {len(paths)}: {', '.join(paths)}")
    if not known or len(paths) > 1 or filesystems == "none" or not os.path.isdir(paths[0]):
        return ()
    wanted = known if filesystems == "all" else tuple(each.strip() for each in filesystems.split(","))
    if strange := [each for each in wanted if each not in known]:
        raise SpecError(f'--filesystems: "{strange[0]}" is not supported', f"known are {', '.join(known)}")
    return wanted


def targets_of(places: Places, listener: Listener) -> Generator[Target, None, None]:
    """The targets one after the other; images are made before and taken away after each. Raises IocastError."""
    if not places.images:
        for path in places.paths:
            yield find_target(path, places.destroy)
        return
    directory = places.paths[0]
    image = image_path(directory)
    with holding(directory_of(image)):
        refuse_used_files((image,), ("lay out an image",))
        yield from _images_in(directory, places, listener)


def _images_in(directory: str, places: Places, listener: Listener) -> Generator[Target, None, None]:
    if places.images != ("raw",):
        check_mount_place(directory)
    listener.tell(ImageAnnounced(directory, IMAGE_BYTES))

    def note(error: IocastError) -> None:
        listener.tell(TrialFailed(error))

    with loop_device(directory, IMAGE_BYTES, note) as device:
        for kind in places.images:
            try:
                with _on_image(kind, device, directory, note) as target:
                    yield target
            except LoadError as error:
                listener.tell(ImageLeftOut(kind, error))


@contextmanager
def _on_image(kind: str, device: str, directory: str, note: Callable[[IocastError], None]) -> Iterator[Target]:
    """The device itself, or a new file system on it."""
    if kind == "raw":
        blank(device)
        target = find_target(device)
        yield replace(target, destroy=identity_name(target))
        return
    with file_system(kind, device, directory, note) as path:
        yield find_target(path)
