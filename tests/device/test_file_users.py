"""A work file that others use is not written to, whoever they are: each is named, with the way out; reads go on."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from makers.command_line import IOCAST, environment, small_job
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.other_processes import other_process
from makers.rootly import Mount, command, need
from makers.work_files import MIB, lay, plan

from iocast.load.filling import claimed
from iocast.load.work_files import lay_out
from iocast.observe.target import file_users as user_look
from iocast.observe.target.file_users import aliases, file_users

pytestmark = pytest.mark.device
Attach = Callable[..., str]
OPEN = "import fcntl, mmap, os, sys; f = os.open(sys.argv[1], os.O_RDWR if 'rw' in sys.argv else os.O_RDONLY)"
BY = ["its name", "a hard link that has gone", "a bind mount", "read-only"]  # how a loop device is attached to it
PROCESSES = {  # what a process does with the file -> its program, and what is said of it
    "writes": (OPEN + "; ", "rw", "has it open for writing"),
    "maps": (OPEN + "; m = mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ)", "ro", "has it mapped into its memory"),
    "locks": (OPEN + "; fcntl.flock(f, fcntl.LOCK_SH)", "ro", "holds a lock on it"),
    "locks a range": (OPEN + "; fcntl.lockf(f, fcntl.LOCK_EX, 8)", "rw", "holds a lock on it"),
    "leases": (OPEN + "; fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK)", "ro", "has a lease on it"),
    "mapped and closed": (
        "import ctypes as c, os, sys; f = os.open(sys.argv[1], os.O_RDWR); call = c.CDLL(None).mmap; "
        "call.restype = c.c_void_p; call.argtypes = c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long; "
        "call(None, 4096, 3, 1, f, 0); os.close(f)",
        "rw",
        "has it mapped into its memory",
    ),
}
READING = (
    'name = "reads"\n[files]\nsize = "4MiB"\n[[phase]]\ntest = "reads"\nsize = "8k"\ntime = "50ms"\ndirect = false\n'
)


@pytest.fixture
def started() -> Iterator[Callable[..., int]]:
    """A process that uses a file until the end of the test."""
    with ExitStack() as stack:

        def start(way: str, file: Path) -> int:
            program, mode, _ = PROCESSES[way]
            return stack.enter_context(other_process(program, file, mode))

        yield start


@pytest.fixture
def fixed() -> Iterator[Callable[[Path, str], None]]:
    """A file or directory with an attribute that forbids changes, until the end of the test."""
    changed: list[tuple[Path, str]] = []

    def change(path: Path, letter: str) -> None:
        need("chattr")
        command("chattr", f"+{letter}", path)
        changed.append((path, letter))

    yield change
    for path, letter in changed:
        subprocess.run(["chattr", f"-{letter}", str(path)], check=True)


def work_file(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    lay(plan(folder, 4 * MIB))
    return folder / "iocast-work.0.dat"


def content(work: Path) -> bytes:
    return hashlib.sha256(work.read_bytes()).digest()


def refused(work: Path, *said: str, clean: bool = True, reads: str = "is in use while it is read") -> None:
    """Nothing is written or removed; who uses it is said, with the way out; a run that only reads goes on."""
    home = work.parent.parent
    before = content(work) if reads else b""
    for verb in ("plan", "run") if reads else ("run",):
        done = iocast(verb, small_job(home, direct=False), work.parent, cwd=home)
        told = " ".join(done.stderr.split())
        assert done.returncode == 2, done.stdout
        for each in said:
            assert each in told
        assert "hint: " in told
    assert not (home / "iocast-runs").exists()
    if clean:
        kept = iocast("clean", work.parent, cwd=home)
        assert kept.stdout == ""
        assert all(each in kept.stderr for each in said[:1])
    if not reads:
        return  # a mounted file system writes to it whenever it likes
    assert content(work) == before
    job = home / "reading.toml"
    job.write_text(READING)
    done = iocast("run", job, work.parent, "--full", cwd=home)
    assert done.returncode == 0, done.stderr
    assert reads in " ".join(done.stdout.split())
    assert content(work) == before


@pytest.mark.parametrize("way", PROCESSES)
def test_a_process_uses_it(tmp_path: Path, started: Callable[..., int], way: str) -> None:
    work = work_file(tmp_path / "here")
    pid = started(way, work)
    said = f"process {pid} ("
    refused(work, said, PROCESSES[way][2], f"{work} is in use: {said}", reads=said)


@pytest.mark.parametrize("by", ["its name", "a hard link that has gone", "a bind mount", "read-only"])
def test_a_loop_device_stands_on_it(tmp_path: Path, mounted: Mount, attach: Attach, by: str) -> None:
    work = work_file(tmp_path / "here")
    name, options = work, ["--read-only"] if by == "read-only" else []
    if by == "a hard link that has gone":
        name = tmp_path / "link"
        os.link(work, name)
    elif by == "a bind mount":
        name = mounted("bound", "--bind", work.parent) / work.name
    device = attach(name, *options)
    if by == "a hard link that has gone":
        name.unlink()
    refused(work, f"it is the file behind {device[5:]}")


def test_a_file_system_on_it_is_mounted(tmp_path: Path, attach: Attach, mounted: Mount) -> None:
    need("mkfs.ext4")
    work = work_file(tmp_path / "here")
    command("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", work)
    device = attach(work)
    place = mounted("there", device)
    (place / "precious").write_text("data")
    command("sync", "--file-system", work)
    refused(work, f"it is the file behind {device[5:]}; {device[5:]} is mounted on {place}", reads="")
    assert (place / "precious").read_text() == "data"


TREE = 'name = "t"\n[tree]\nfiles = 3\nsize = "1M"\n[[phase]]\noperations = {{ {does} }}\nsize = "4k"\npasses = 1\n'


def in_a_tree(home: Path, does: str = "write = 100") -> subprocess.CompletedProcess[str]:
    """A run in the tree of a place: it is made where it is missing."""
    (home / "tree.toml").write_text(TREE.format(does=does))
    (home / "here").mkdir(exist_ok=True)
    return iocast("run", "tree.toml", "here", "--out", "runs", "--no-page", cwd=home)


def kept_in_its_tree(home: Path, *said: str) -> None:
    """A run that writes is refused, and clean leaves the tree where it is; both say why."""
    done = in_a_tree(home)
    assert done.returncode == 2, done.stdout
    cleaned = iocast("clean", "here", cwd=home)
    for each in said:
        assert each in " ".join(done.stderr.split())
        assert each in " ".join(cleaned.stderr.split())


def test_a_process_uses_a_file_of_a_tree(tmp_path: Path, started: Callable[..., int]) -> None:
    assert in_a_tree(tmp_path).returncode == 0
    file = tmp_path / "here/iocast-tree/d0/f1"
    pid, before = started("writes", file), content(file)
    kept_in_its_tree(tmp_path, f"process {pid} (", "has it open for writing")
    assert content(file) == before


def test_a_loop_device_stands_on_a_file_of_a_tree(tmp_path: Path, attach: Attach) -> None:
    assert in_a_tree(tmp_path).returncode == 0
    file = tmp_path / "here/iocast-tree/d0/f1"
    device, before = attach(file), content(file)
    kept_in_its_tree(tmp_path, f"it is the file behind {device[5:]}")
    assert content(file) == before


@pytest.mark.parametrize("name", ["iocast-tree/.iocast-shape", "iocast-tree/d0/f1", "iocast-tree.iocast"])
def test_something_is_mounted_on_what_is_ours(tmp_path: Path, name: str) -> None:
    """The file that is mounted has the device, the owner and the mode of what it hides."""
    need("mount")
    assert in_a_tree(tmp_path).returncode == 0
    hidden, precious = tmp_path / "here" / name, tmp_path / "precious"
    command("cp", "--archive", hidden, precious)
    with precious.open("r+b") as file:
        file.truncate(hidden.stat().st_size)
        if not name.endswith(".iocast"):
            file.write(b"precious")
    before = content(precious)
    command("mount", "--bind", precious, hidden)
    try:
        kept_in_its_tree(tmp_path, f"is mounted on {hidden}")
        assert content(precious) == before
    finally:
        command("umount", hidden)
    assert in_a_tree(tmp_path).returncode == 0


@pytest.mark.alone  # the kernel writes what others need room for
def test_it_is_swap(tmp_path: Path) -> None:
    need("mkswap", "swapon", "swapoff")
    work = work_file(tmp_path / "here")
    command("mkswap", work)
    command("swapon", work)
    try:
        refused(work, "it is used as swap", reads="")
    finally:
        subprocess.run(["swapoff", str(work)], check=True)


def test_a_file_that_an_overlay_has_lost_is_not_called_a_link(tmp_path: Path, mounted: Mount) -> None:
    """Removed below, it has no name at all: "a second name (hard link)" was said of it."""
    lower, upper, inside = tmp_path / "lower", tmp_path / "upper", tmp_path / "inside"
    for each in (lower, upper, inside):
        each.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={inside}"
    merged = mounted("merged", "-t", "overlay", "overlay", "-o", options)
    work = work_file(merged)
    with work.open("rb"):  # the overlay keeps what it knows of it
        (upper / work.name).unlink()
        done = iocast("run", small_job(tmp_path, direct=False), merged, cwd=tmp_path)
    assert done.returncode == 2
    assert "has no place on its file system any more" in done.stderr


@pytest.mark.parametrize("over", ["the work file is on the overlay", "the work file is below it"])
def test_an_overlay_shows_it_under_other_numbers(tmp_path: Path, mounted: Mount, attach: Attach, over: str) -> None:
    lower, upper, inside = tmp_path / "lower", tmp_path / "upper", tmp_path / "inside"
    for each in (lower, upper, inside):
        each.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={inside}"
    merged = mounted("merged", "-t", "overlay", "overlay", "-o", options)
    (merged / "here").mkdir()
    here, there = (merged, upper) if "is on" in over else (upper, merged)
    work = work_file(here / "here")
    device = attach(there / "here" / work.name)
    assert len(aliases(str(work))) == 2, "device numbers differ"
    assert file_users([str(work)]) == {str(work): [f"it is the file behind {device[5:]}"]}
    refused(work, f"it is the file behind {device[5:]}")


@pytest.mark.parametrize("attached", [True, False])
def test_without_sysfs_loop_devices_are_not_seen(tmp_path: Path, attach: Attach, attached: bool) -> None:
    """In a chroot: one that only reads has the file open for reading, which no lease finds."""
    need("unshare", "umount")
    work = work_file(tmp_path / "here")
    if attached:
        attach(work, "--read-only")
    elif "loop" in Path("/proc/partitions").read_text("ascii"):
        pytest.skip("another test has a loop device")
    before = hashlib.sha256(work.read_bytes()).digest()
    alone = ("unshare", "--mount", "sh", "-c", 'umount -R /sys; exec "$@"', "sh")
    done = iocast("run", small_job(tmp_path, direct=False), work.parent, cwd=tmp_path, before=alone)
    assert done.returncode == (2 if attached else 0), done.stderr
    if attached:
        assert "cannot be looked for where /sys is not mounted" in done.stderr
        assert hashlib.sha256(work.read_bytes()).digest() == before


LOST = {  # how the directory below an overlay is lost, and its name
    "renamed": "upper",
    "a comma": "up,per",
    "a colon": "up:per",
    "a backslash": "up\\per",
    "hidden": "upper",
    "chroot": "upper",
}
MOUNT = (  # mount(8) has rules of its own for commas
    "import ctypes, os, sys; root, place, options = sys.argv[1:]; os.chroot(root); os.chdir('/');"
    "assert not ctypes.CDLL(None).mount(b'overlay', place.encode(), b'overlay', 0, options.encode())"
)


@pytest.mark.parametrize("how", LOST)
def test_a_directory_below_an_overlay_need_not_be_reached(
    tmp_path: Path, attach: Attach, request: pytest.FixtureRequest, how: str
) -> None:
    """Who uses a file below is found by its number, which an overlay keeps."""
    upper, merged = tmp_path / LOST[how], tmp_path / "merged"
    for each in (tmp_path / "lower", tmp_path / "inside", upper, merged):
        each.mkdir()
    root, place = (tmp_path, "/") if how == "chroot" else (Path("/"), f"{tmp_path}/")
    name = "".join(f"\\{each}" if each in ",:\\" else each for each in LOST[how])
    options = f"lowerdir={place}lower,upperdir={place}{name},workdir={place}inside"
    command(sys.executable, "-c", MOUNT, root, f"{place}merged", options)
    request.addfinalizer(lambda: command("umount", merged))
    work = work_file(merged)
    if how == "renamed":
        upper = upper.rename(tmp_path / "elsewhere")
    device = attach(upper / work.name)
    if how == "hidden":
        command("mount", "-t", "tmpfs", "none", upper)
        request.addfinalizer(lambda: command("umount", upper))
    refused(work, f"it is the file behind {device[5:]}")


@pytest.mark.parametrize("lost", [False, True])
def test_a_part_of_an_overlay_shows_it_too(tmp_path: Path, mounted: Mount, attach: Attach, lost: bool) -> None:
    """The overlay itself is mounted no more: a bind mount of a folder in it is left."""
    lower, upper, inside, merged = (tmp_path / name for name in ("lower", "upper", "inside", "merged"))
    for each in (lower, upper, inside, merged):
        each.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={inside}"
    command("mount", "-t", "overlay", "overlay", "-o", options, merged)
    (merged / "here").mkdir()
    part = mounted("part", "--bind", merged / "here")
    command("umount", merged)
    if lost:
        upper = upper.rename(tmp_path / "elsewhere")
    work = work_file(upper / "here")
    device = attach(part / work.name, "--read-only")
    refused(work, f"it is the file behind {device[5:]}")


@pytest.mark.parametrize("over", ["on", "below"])
def test_an_overlay_shows_a_file_of_a_tree_under_other_numbers(
    tmp_path: Path, mounted: Mount, attach: Attach, over: str
) -> None:
    lower, upper, inside = tmp_path / "lower", tmp_path / "upper", tmp_path / "inside"
    for each in (lower, upper, inside):
        each.mkdir()
    merged = mounted("merged", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={inside}")
    home, there = (merged, upper) if over == "on" else (upper, merged)
    assert in_a_tree(home).returncode == 0
    device = attach(there / "here/iocast-tree/d0/f1")
    kept_in_its_tree(home, f"it is the file behind {device[5:]}")


@pytest.mark.parametrize(("letter", "what"), [("i", "immutable"), ("a", "append-only")])
@pytest.mark.parametrize("which", ["file", "mark"])
def test_it_must_not_be_changed(
    tmp_path: Path, fixed: Callable[[Path, str], None], letter: str, what: str, which: str
) -> None:
    work = work_file(tmp_path / "here")
    path = work if which == "file" else Path(f"{work}.iocast")
    fixed(path, letter)
    refused(work, f"is {what}", f"chattr -{letter}", reads="Results")


def test_its_directory_must_not_be_changed(tmp_path: Path, fixed: Callable[[Path, str], None]) -> None:
    place = tmp_path / "here"
    place.mkdir()
    fixed(place, "i")
    done = iocast("run", small_job(tmp_path), place, cwd=tmp_path)
    assert done.returncode == 2
    assert f"{place} is immutable" in done.stderr
    assert os.listdir(place) == []


def test_another_iocast_uses_it(tmp_path: Path) -> None:
    work = work_file(tmp_path / "here")
    with claimed(lay_out(plan(work.parent, 4 * MIB))):
        done = iocast("run", small_job(tmp_path, direct=False), work.parent, cwd=tmp_path)
    assert done.returncode == 2
    assert "in use by another iocast process" in done.stderr


def test_this_very_process_uses_it(tmp_path: Path) -> None:
    """A program that calls iocast may hold a file of its own there."""
    work = work_file(tmp_path / "here")
    assert file_users([str(work)]) == {}
    with open(work, "r+b"):
        assert file_users([str(work)]) == {str(work): [f"process {os.getpid()} ({name()}) has it open for writing"]}
    with open(work, "rb"):
        assert file_users([str(work)]) == {}, "who only reads it loses nothing"


def name() -> str:
    return Path("/proc/self/comm").read_text().strip()


def test_a_lock_of_a_process_that_cannot_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary user sees no descriptors of root, but the kernel lists locks for everybody."""
    work = work_file(tmp_path / "here")
    monkeypatch.setattr(user_look, "file_uses", lambda *_, **__: ([], 1))
    with open(work, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setattr(user_look, "_unseen_use", lambda _: "")
        assert file_users([str(work)]) == {}, "who can be looked into is told by what it has open"
        monkeypatch.setattr(user_look.os, "access", lambda *_: False)
        assert file_users([str(work)]) == {str(work): [f"process {os.getpid()} holds a lock on it"]}


def test_who_only_reads_it_does_not_hinder(tmp_path: Path) -> None:
    work = work_file(tmp_path / "here")
    with open(work, "rb"):
        done = iocast("run", small_job(tmp_path, direct=False), work.parent, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_exports_of_the_kernel_and_swap_are_told_by_name(tmp_path: Path) -> None:
    """A tree as the kernel shows it: what serves files to other machines cannot be set up everywhere."""
    root, file = tmp_path, tmp_path / "data" / "work.dat"
    file.parent.mkdir()
    file.write_bytes(b"x")
    for place in ("target/core/fileio_0/disk/udev_path", "nvmet/subsystems/nqn/namespaces/1/device_path"):
        entry = root / "sys/kernel/config" / place
        entry.parent.mkdir(parents=True)
        entry.write_text("/data/work.dat\n")
    (root / "proc").mkdir()
    (root / "proc/swaps").write_text("Filename Type Size Used Priority\n/data/work.dat file 100 0 -2\n")
    assert file_users([str(file)], root) == {
        str(file): ["it is used as swap", "it is exported as SCSI storage", "it is exported as NVMe storage"]
    }


def test_a_file_system_that_stands_on_it_without_a_loop_device(tmp_path: Path) -> None:
    """EROFS is mounted from a file since Linux 6.12; its line in the table of mounts names the file."""
    root, file = tmp_path, tmp_path / "data" / "work.dat"
    file.parent.mkdir()
    file.write_bytes(b"x")
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/mountinfo").write_text("40 1 0:50 / /srv/image ro - erofs /data/work.dat ro\n")
    assert file_users([str(file)], root) == {str(file): ["it is mounted on /srv/image (erofs)"]}


def test_the_image_of_an_experiment_is_looked_at_too(tmp_path: Path, attach: Attach) -> None:
    need("losetup", "mkfs.ext4")
    image = tmp_path / "iocast-work.image.dat"
    lay(plan(image, 4 * MIB))
    device = attach(image)
    before = image.read_bytes()
    done = iocast("experiment", "dio-matrix", tmp_path, "--filesystems", "ext4", "--time", "50ms", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert f"it is the file behind {device[5:]}" in done.stderr
    assert image.read_bytes() == before


def test_what_is_not_there_has_no_users(tmp_path: Path) -> None:
    assert file_users([str(tmp_path / "absent"), str(tmp_path)]) == {}


@pytest.mark.parametrize("way", ["has it open for writing", "holds a lock on it"])
def test_who_uses_it_outside_of_a_container_is_seen(tmp_path: Path, started: Callable[..., int], way: str) -> None:
    """In a PID namespace of its own /proc shows nobody else: the kernel is asked by a lease, and by a lock."""
    need("unshare")
    work, home = work_file(tmp_path / "here"), tmp_path
    before = content(work)
    started("writes" if "open" in way else "locks", work)
    inside = ("unshare", "--pid", "--fork", "--mount-proc")
    job = str(small_job(home, direct=False))
    done = subprocess.run(
        [*inside, *IOCAST, "run", job, str(work.parent)], cwd=home, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 2
    assert f"{work} is in use: a process that cannot be seen from here (in another container?)" in done.stderr
    kept = subprocess.run(
        [*inside, *IOCAST, "clean", str(work.parent)], cwd=home, env=environment(), capture_output=True
    )
    assert kept.stdout == b""
    assert content(work) == before
