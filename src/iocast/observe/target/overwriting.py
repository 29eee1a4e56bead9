"""May a device or a work file be overwritten: it is the one that was planned, and nobody else uses it.

A device carries no mark as a work file does, so writing to it always needs its identity in `--destroy`: no
signature says only that nothing was recognised. What is in use is refused even so. While a run writes, the
device is held open with O_EXCL: nobody can mount it, or build on it, before the run has ended.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iocast.errors import TargetError
from iocast.model.permission import permission
from iocast.model.target import Identity, Target
from iocast.observe.target.device_users import device_users
from iocast.observe.target.file_users import file_users
from iocast.observe.target.ground import Ground, ground_claims, ground_file_users, ground_of, ground_openers
from iocast.observe.target.identity import identify
from iocast.observe.target.loops import opened_device
from iocast.observe.target.signatures import Signature, signatures
from iocast.observe.target.sysfs import kernel_name, read_int

_USED_TRIES, _USED_PAUSE_S = 5, 0.1  # whoever only looks at a new device (udev) is gone by then


def unseen_users(target: Target) -> str:
    """Who may use the device without being seen, as a sentence; "" when every process could be looked at."""
    devices = [device for device in target.members or (target,) if device.identity is not None]
    count = device_users({})[1] if devices else 0
    if devices and _in_a_container():
        return f"Processes outside of this container cannot be seen: each may have {target.path} open"
    if not count:
        return ""
    processes = "1 process" if count == 1 else f"{count} processes"
    more = " (root sees more)" if os.geteuid() else ""
    return f"The open files of {processes} could not be read{more}: each may have {target.path} open"


def _in_a_container() -> bool:
    """Whether this process is in a PID namespace of its own; the first one has a fixed number (linux/proc_ns.h)."""
    try:
        return os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"
    except OSError:
        return False


def refuse_overwriting(target: Target, writing: Sequence[str]) -> None:
    """Raises TargetError unless the phases named in `writing` may overwrite the device; nothing is written."""
    with held(target, writing):
        return


@contextmanager
def held(target: Target, writing: Sequence[str]) -> Iterator[Callable[[], None]]:
    """While entered the device is the one of the target, and if anything is `writing` this process's alone.

    Yields a function that looks once more whether the path still leads there. All raises TargetError. Other
    targets than block devices are none of its business.
    """
    if target.members:
        with ExitStack() as stack:
            again = [stack.enter_context(held(member, writing)) for member in target.members]
            yield lambda: _all(again)
        return
    if target.kind != "block":
        yield lambda: None
        return
    with _opened(target, writing) as descriptor:
        _require_same(target, identify(descriptor))
        if writing:
            _require_free(target, writing)
            _require_given_up(target, writing, signatures(descriptor, target.path))
            yield lambda: _require_path(target)
            return
    yield lambda: None


def _all(checks: Sequence[Callable[[], None]]) -> None:
    for check in checks:
        check()


@contextmanager
def _opened(target: Target, writing: Sequence[str]) -> Iterator[int]:
    """A descriptor of the device; when anything is `writing` it, and all below that nobody holds for it, is this
    process's alone.
    """
    if writing:
        _require_free(target, writing)  # which says by whom it is used, where O_EXCL says only that it is
    with ExitStack() as stack:
        try:
            descriptor = _open_device(target.path, os.O_EXCL if writing else 0)
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise _in_use(target, writing, ["another program or the kernel holds it exclusively"]) from None
            raise TargetError(f"cannot open {target.path}: {error.strerror}", "`lsblk` lists the devices") from error
        stack.callback(os.close, descriptor)
        for lower in _ground(target).exclusive if writing else ():
            stack.enter_context(_held_below(target, writing, lower))
        yield descriptor


@contextmanager
def _held_below(target: Target, writing: Sequence[str], lower: Path) -> Iterator[None]:
    name = kernel_name(lower)
    with ExitStack() as stack:
        try:
            stack.enter_context(opened_device(lower, os.O_EXCL))
        except OSError as error:
            if error.errno == errno.EBUSY:
                who = f"another program or the kernel holds {name}, on which it stands, exclusively"
                raise _in_use(target, writing, [who]) from None
            raise TargetError(
                f"cannot open /dev/{name}, on which {target.path} stands: {error.strerror or error}",
                "run as root where all devices below have their nodes in /dev",
            ) from error
        yield


def _ground(target: Target) -> Ground:
    """Raises TargetError: the device has gone."""
    major, minor = map(int, target.identity.number.split(":")) if target.identity is not None else (0, 0)
    ground = ground_of(major, minor)
    if ground is None:
        raise TargetError(f"{target.path} no longer exists", "`lsblk` lists the devices")
    return ground


def _open_device(path: str, flags: int) -> int:
    # Without O_EXCL looked at first: on anything but a block device that flag means something else.
    if not stat.S_ISBLK(os.stat(path).st_mode):
        raise OSError(errno.ENOTBLK, os.strerror(errno.ENOTBLK))
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | flags)


def _require_path(target: Target) -> None:
    """Opens the path again, as the load will in a moment."""
    try:
        descriptor = _open_device(target.path, 0)
    except OSError as error:
        raise TargetError(
            f"{target.path} no longer exists: {error.strerror}", "check the kernel log (dmesg)"
        ) from error
    try:
        _require_same(target, identify(descriptor))
    finally:
        os.close(descriptor)


def _require_same(target: Target, now: Identity) -> None:
    planned = target.identity
    if planned == now:
        return
    was = _identity_text(planned) if planned is not None else "not recorded"
    raise TargetError(
        f"{target.path} is not the planned device any more: planned {was}; found {_identity_text(now)}",
        "from here on nothing was written to it: check the device with `lsblk` and start again",
    )


def _identity_text(identity: Identity) -> str:
    arrival = f", arrival {identity.arrival}" if identity.arrival is not None else ""
    start = f" from byte {identity.start_bytes:,}" if identity.start_bytes else ""
    name = identity.name or f"without a name, because {identity.why_nameless}"
    return f"{name} ({identity.number}, {identity.size_bytes:,} bytes{start}{arrival})"


def _require_free(target: Target, writing: Sequence[str]) -> None:
    """Raises TargetError when anybody uses the device, or what it stands on, or it is read-only."""
    if target.identity is None:
        return  # refused as another device than the one planned for
    ground = _ground(target)
    used = [*ground_claims(ground), *ground_file_users(ground)]
    for device in (ground.top, *ground.exclusive):
        if read_int(device / "ro"):
            below = "" if device == ground.top else f"/dev/{kernel_name(device)}, on which {target.path} stands,"
            raise TargetError(f"{below or target.path} is read-only{_would(target, writing)}", "give a writable device")
    for attempt in range(_USED_TRIES):
        users = ground_openers(ground)
        if not users:
            break
        if attempt < _USED_TRIES - 1:
            time.sleep(_USED_PAUSE_S)
    used += users
    if used:
        raise _in_use(target, writing, list(dict.fromkeys(used)))


def refuse_used_files(paths: Sequence[str], writing: Sequence[str]) -> tuple[str, ...]:
    """What is to be said of work files that others use, in a run that only reads.

    Raises TargetError when anything is `writing`: a file that iocast made may hold what others put on it since.
    """
    used = file_users(paths)
    for path, users in used.items() if writing else ():
        more = f" and {len(writing) - 1} more" if len(writing) > 1 else ""
        raise TargetError(
            f'{path} is in use: {"; ".join(users)}, and phase "{writing[0]}"{more} would overwrite it',
            "run only the phases that read, give another directory, or stop its users first: unmount it, detach the "
            "loop device (losetup -d), swapoff, or end the process",
        )
    return tuple(
        f"{path} is in use while it is read: {'; '.join(users)}. The figures include what its users do with it"
        for path, users in used.items()
    )


def _in_use(target: Target, writing: Sequence[str], used: list[str]) -> TargetError:
    return TargetError(
        f"{target.path} is in use: {'; '.join(used)}{_would(target, writing)}",
        "run only the phases that read, or give a directory; a device in use is never overwritten, even "
        "with --destroy: unmount it, stop its users or detach it first",
    )


def _would(target: Target, writing: Sequence[str]) -> str:
    more = f" and {len(writing) - 1} more" if len(writing) > 1 else ""
    return f', and phase "{writing[0]}"{more} would overwrite {target.path}'


def _require_given_up(target: Target, writing: Sequence[str], held: tuple[Signature, ...]) -> None:
    """Refuses unless `--destroy` named the device."""
    if permission(target, own_file=False).may_write:
        return
    name = target.identity.name if target.identity is not None else ""
    more = f" and {len(writing) - 1} more" if len(writing) > 1 else ""
    holds = "; ".join(_signature_text(each) for each in held)
    raise TargetError(
        f'{target.path} is a block device: phase "{writing[0]}"{more} would overwrite it. '
        + (f"It holds {holds}" if holds else "No signature was found on it, but it may still hold data"),
        "run only the phases that read, or give a directory, where iocast lays out its own work files; "
        + (
            f"if all data on the device may be lost: --destroy {name}"
            if name
            else f"--destroy cannot identify this device: {_why_nameless(target)}"
        ),
    )


def _why_nameless(target: Target) -> str:
    return target.identity.why_nameless if target.identity is not None else "it has no identity"


def _signature_text(signature: Signature) -> str:
    label = f' "{signature.label}"' if signature.label else ""
    where = "" if signature.offset_bytes is None else f" at byte {signature.offset_bytes:,}"
    return f"{signature.kind} {signature.what}{label} (signature{where})"
