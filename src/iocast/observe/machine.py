"""This machine as the target of a live watch: its disks, or those that are named, instead of a path."""

from __future__ import annotations

from pathlib import Path

from iocast.model.target import Layer, Target
from iocast.observe.target.layers import read_layer
from iocast.observe.target.sysfs import device_directory
from iocast.observe.target.whole_disk import find_device


def machine_target(devices: tuple[str, ...] = (), root: Path = Path("/")) -> Target:
    """The named disks, or all that have a size and are not empty loop or RAM devices. Raises TargetError."""
    layers = tuple(_named(name, root) for name in devices) if devices else _all(root)
    return Target(path=", ".join(layer.name for layer in layers), kind="unknown", layers=layers)


def _named(name: str, root: Path) -> Layer:
    number, _ = find_device(name, root)
    directory = device_directory(number.major, number.minor, root)
    assert directory is not None  # find_device has just read it
    return read_layer(directory)


def _all(root: Path) -> tuple[Layer, ...]:
    """Whole disks with a request queue or below them none: what is stacked on others is left to its parts."""
    layers = []
    for directory in sorted((root / "sys/block").glob("*")):
        layer = read_layer(directory.resolve())
        if layer.size_bytes and not layer.name.startswith("ram"):
            layers.append(layer)
    return tuple(layers)
