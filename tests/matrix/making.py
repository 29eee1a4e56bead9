"""Places with a planted condition: each is made on entering and taken away, by its own name or number, on leaving."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import Timer

from makers.lab_process import NoLab, lab_process

ROOT = Path(__file__).resolve().parents[2]
CGROUP = Path("/sys/fs/cgroup/blkio")
ZRAM = Path("/sys/class/zram-control")
MIB = 1 << 20
ROOM_BYTES = 1408 * MIB  # around the gibibyte of the survey
SCRUBS = Path("/var/lib/btrfs")  # where its program notes them

Place = Callable[[Path], AbstractContextManager[str]]  # takes a directory of its own, gives the target's path


class NotHere(Exception):
    """This machine cannot make the place; says why."""


def simulated(target: str) -> Place:
    """A simulated device: nothing is made."""

    @contextmanager
    def make(_: Path) -> Iterator[str]:
        yield target

    return make


def own_disk() -> Place:
    """A directory on the disk that the matrix is run on."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        yield str(scratch)

    return make


def image(
    filesystem: str = "ext4", *, direct: bool = True, below: str = "", mount: str = "", start_bytes: int = 0
) -> Place:
    """A file system on a loop device over a file of the own disk, or over a lab device with the options of `below`."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        room = ROOM_BYTES * (2 if filesystem == "btrfs" else 1)  # which writes each change to a new place
        what = lab_device(scratch / "device", room, *below.split()) if below else written(scratch, room)
        with ExitStack() as stack:
            device = stack.enter_context(loop_device(stack.enter_context(what), direct, start_bytes))
            yield stack.enter_context(mounted(scratch, filesystem, device, mount))

    return make


def raw(kind: str = "", *, below: str = "") -> Place:
    """A loop device without a file system, over a sparse file of the own disk ("sparse"), or over a lab device."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with ExitStack() as stack:
            if below:
                file = stack.enter_context(lab_device(scratch / "device", ROOM_BYTES, *below.split()))
            else:
                file = stack.enter_context(file_of(kind)(scratch))
            yield stack.enter_context(loop_device(Path(file), direct=True))

    return make


def lab(*options: str) -> Place:
    """The file of a lab device: it is not iocast's own, and only read."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with lab_device(scratch / "device", ROOM_BYTES, *options) as path:
            yield str(path)

    return make


def zram() -> Place:
    """A file system on a zram device of its own: memory that compresses, and keeps nothing of zeros."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        if os.geteuid() or not ZRAM.exists():
            raise NotHere("a zram device needs root and a kernel that has it")
        number = (ZRAM / "hot_add").read_text().strip()
        try:
            (Path("/sys/block") / f"zram{number}" / "disksize").write_text(str(ROOM_BYTES))
            with mounted(scratch, "ext4", f"/dev/zram{number}") as path:
                yield path
        finally:
            (Path("/sys/block") / f"zram{number}" / "reset").write_text("1")
            (ZRAM / "hot_remove").write_text(number)

    return make


def file_of(kind: str) -> Place:
    """A file on the own disk that was never written: "sparse", or "unwritten" but allocated."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        path = scratch / "never-written.dat"
        with path.open("wb") as file:
            if kind == "sparse":
                file.truncate(ROOM_BYTES)
            else:
                os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
        yield str(path)

    return make


def throttled(limit: str, inner: Place) -> Place:
    """The place while this process may do only so much on its loop device, such as "read_iops 1000"."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        if os.geteuid() or not (CGROUP / "cgroup.procs").exists():
            raise NotHere("a throttle needs root and the blkio controller of cgroup version 1")
        with inner(scratch) as path:
            number = os.stat(path).st_dev
            group, home = CGROUP / f"iocast-matrix-{os.getpid()}", _own_cgroup()
            group.mkdir()
            try:
                what, value = limit.split()
                (group / f"blkio.throttle.{what}_device").write_text(f"{os.major(number)}:{os.minor(number)} {value}")
                (group / "cgroup.procs").write_text(str(os.getpid()))
                yield path
            finally:
                (home / "cgroup.procs").write_text(str(os.getpid()))
                _until(lambda: not (group / "cgroup.procs").read_text().strip())
                group.rmdir()

    return make


def lowered(limit: str, then: int, after_s: float, inner: Place) -> Place:
    """The place under such a limit, which somebody lowers after a while."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with throttled(limit, inner)(scratch) as path:
            number = os.stat(path).st_dev
            file = CGROUP / f"iocast-matrix-{os.getpid()}" / f"blkio.throttle.{limit.split()[0]}_device"
            lower = Timer(after_s, file.write_text, [f"{os.major(number)}:{os.minor(number)} {then}"])
            lower.start()
            try:
                yield path
            finally:
                lower.cancel()
                lower.join()

    return make


def starved(percent: int, inner: Place) -> Place:
    """The place while this process, and what it starts, may use so much of one processor."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with inner(scratch) as path, _own_group("cpu") as group:
            period_us = int((group / "cpu.cfs_period_us").read_text())
            (group / "cpu.cfs_quota_us").write_text(str(period_us * percent // 100))
            (group / "cgroup.procs").write_text(str(os.getpid()))
            yield path

    return make


def squeezed(mib: int, inner: Place) -> Place:
    """The place while this process may use no more than so much new memory, its page cache included."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with inner(scratch) as path, _own_group("memory") as group:
            (group / "memory.limit_in_bytes").write_text(str(mib * MIB))
            (group / "cgroup.procs").write_text(str(os.getpid()))
            yield path

    return make


@contextmanager
def _own_group(controller: str) -> Iterator[Path]:
    """A cgroup of version 1 for a while; at its end this process is where it was before."""
    root = CGROUP.parent / controller
    if os.geteuid() or not (root / "cgroup.procs").exists():
        raise NotHere(f"this place needs root and the {controller} controller of cgroup version 1")
    group, home = root / f"iocast-matrix-{os.getpid()}", _own_cgroup(controller, root)
    group.mkdir()
    try:
        yield group
    finally:
        (home / "cgroup.procs").write_text(str(os.getpid()))
        _until(lambda: not (group / "cgroup.procs").read_text().strip())
        group.rmdir()


def split(kib: int, inner: Place) -> Place:
    """The place while its loop device takes no request larger than this."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with inner(scratch) as path:
            number = os.stat(path).st_dev
            setting = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/queue/max_sectors_kb")
            setting.write_text(str(kib))
            yield path  # the device goes, and its setting with it

    return make


def beside(line: str, inner: Place) -> Place:
    """The place while a program works on it too, again and again; `{}` in its line is the place."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        program = line.split()[0]
        if shutil.which(program) is None:
            raise NotHere(f"{program} is not installed")
        with inner(scratch) as path:
            loop = subprocess.Popen(
                ["sh", "-c", f"while :; do {line.format(path)}; done"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                yield path
            finally:
                os.killpg(loop.pid, signal.SIGKILL)
                loop.wait(timeout=30)

    return make


def scrubbed(inner: Place) -> Place:
    """A btrfs that is scrubbed all the time; what its program noted of that is taken away."""

    @contextmanager
    def make(scratch: Path) -> Iterator[str]:
        with inner(scratch) as path:
            own = _run("findmnt", "--noheadings", "--output", "UUID", path)
            try:
                with beside("btrfs scrub start -B {}", lambda _: nullcontext(path))(scratch):
                    yield path
            finally:
                subprocess.run(["btrfs", "scrub", "cancel", path], capture_output=True, check=False)
                for note in SCRUBS.glob(f"scrub.*{own}*"):
                    note.unlink()

    return make


@contextmanager
def written(scratch: Path, size_bytes: int) -> Iterator[Path]:
    """A file of the own disk that was written in full."""
    file = scratch / "image"
    _run("dd", "if=/dev/zero", f"of={file}", "bs=4M", f"count={size_bytes // (4 * MIB)}", "oflag=direct")
    yield file


@contextmanager
def lab_device(path: Path, size_bytes: int, *options: str) -> Iterator[Path]:
    """A lab device."""
    with ExitStack() as stack:
        try:
            stack.enter_context(lab_process(path, size_bytes, *options))
        except NoLab as why:
            raise NotHere(str(why)) from None
        yield path


@contextmanager
def loop_device(file: Path, direct: bool, start_bytes: int = 0) -> Iterator[str]:
    """A loop device over a file, from that byte of it on."""
    if os.geteuid() or shutil.which("losetup") is None:
        raise NotHere("a loop device needs root and losetup")
    way = f"--direct-io={'on' if direct else 'off'}"
    name = _run("losetup", "--find", "--show", way, f"--offset={start_bytes}", str(file))
    try:
        yield name
    finally:
        _run("losetup", "--detach", name)
        number = name.removeprefix("/dev/")
        _until(lambda: not Path(f"/sys/block/{number}/loop/backing_file").exists())


@contextmanager
def mounted(scratch: Path, filesystem: str, device: str, options: str = "") -> Iterator[str]:
    """A new file system on a device, mounted. Blocks are not discarded: a lab device would forget nothing anyway."""
    if shutil.which(f"mkfs.{filesystem}") is None:
        raise NotHere(f"mkfs.{filesystem} is not installed")
    make = {"ext4": ["-q", "-m0", "-E", "nodiscard,lazy_itable_init=0"], "xfs": ["-q", "-K"], "btrfs": ["-q", "-K"]}
    _run(f"mkfs.{filesystem}", *make[filesystem], device)
    place = scratch / "mounted"
    place.mkdir(exist_ok=True)
    _run("mount", *(["-o", options] if options else []), device, str(place))
    try:
        yield str(place)
    finally:
        for _ in range(50):
            if subprocess.run(["umount", str(place)], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
        else:
            _run("umount", "--lazy", str(place))


def _own_cgroup(controller: str = "blkio", root: Path = CGROUP) -> Path:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return root / path.lstrip("/")
    return root


def _until(done: Callable[[], bool]) -> None:
    """Waits, five seconds at the most."""
    for _ in range(500):
        if done():
            return
        time.sleep(0.01)


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"{' '.join(words[:2])}: {done.stderr.strip()}")
    return done.stdout.strip()
