"""Raw block devices: what is on them or uses them is found and refused; the one that was named is written to."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from makers.command_line import in_own_process as iocast  # who has a device open is the subject
from makers.command_line import run_folder, small_job
from makers.disk_images import HOLDING, MIB, blank, gpt, tool
from makers.rootly import Mount, command, need

from iocast import archive, load, runner
from iocast.errors import SpecError, TargetError
from iocast.jobs import load_job
from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord
from iocast.observe.target.device_stack import describe
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.target_finding import find_target

pytestmark = pytest.mark.device
Attach = Callable[..., str]


def digest(image: str | Path) -> str:
    return hashlib.sha256(Path(image).read_bytes()).hexdigest()


def name_of(device: str) -> str:
    identity = describe(device).identity
    assert identity is not None
    return identity.name


def partition(device: str) -> str:
    """The one that `gpt` wrote, made by hand: not every kernel reads partition tables, or those of loops."""
    path = f"{device}p1"
    if not os.path.exists(path):
        need("addpart")
        command("addpart", device, 1, MIB // 512, 32 * MIB // 512)
    return path


def refused(tmp_path: Path, image: Path, device: str, destroy: str | None = None) -> str:
    """What is said when a job that writes is refused; not one byte of the image has changed."""
    command("blockdev", "--flushbufs", device)  # what mkswap or a copy wrote may still be on its way
    before = digest(image)
    words = () if destroy is None else ("--destroy", destroy)
    done = iocast("run", small_job(tmp_path), device, *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "iocast-runs").exists()
    command("blockdev", "--flushbufs", device)
    assert digest(image) == before
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("holding", HOLDING)
def test_what_is_on_a_device_is_named(tmp_path: Path, attach: Attach, holding: str) -> None:
    image = tmp_path / "image"
    HOLDING[holding](image)
    device = attach(image)
    said = refused(tmp_path, image, device)
    assert f'{device} is a block device: phase "randwrite 8k 1x1" would overwrite it. It holds ' in said
    assert holding.partition(",")[0] in said
    assert re.search(r"signature at byte [\d,]+", said)
    assert f"--destroy {name_of(device)}" in said


@pytest.mark.parametrize("fill", ["zeros", "random"])
def test_a_device_without_a_signature_is_not_taken_for_empty(tmp_path: Path, attach: Attach, fill: str) -> None:
    image = tmp_path / "image"
    image.write_bytes(bytes(MIB) if fill == "zeros" else os.urandom(MIB))
    device = attach(image)
    said = refused(tmp_path, image, device)
    assert "No signature was found on it, but it may still hold data" in said
    assert f"--destroy {name_of(device)}" in said


def test_the_one_that_was_named_is_written_to_and_the_card_says_so(tmp_path: Path, attach: Attach) -> None:
    image = tmp_path / "image"
    tool("mkfs.ext4", "-q")(image)
    device = attach(image)
    before = digest(image)
    assert iocast("run", small_job(tmp_path), device, "--destroy", device, cwd=tmp_path).returncode == 2
    assert digest(image) == before
    shown = iocast("plan", small_job(tmp_path), device, "--destroy", name_of(device), cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert digest(image) == before
    done = iocast("run", small_job(tmp_path), device, "--full", "--destroy", name_of(device), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lost = f"This run overwrote {device} ({name_of(device)}): its previous contents are lost"
    assert lost in " ".join(done.stdout.split())
    command("blockdev", "--flushbufs", device)
    assert digest(image) != before
    target = archive.load(str(run_folder(tmp_path / "iocast-runs"))).plan.target
    assert target.identity == describe(device).identity
    assert target.destroy == name_of(device)


def test_a_card_of_the_one_that_was_named_has_the_rows_that_write(tmp_path: Path, attach: Attach) -> None:
    image = tmp_path / "image"
    blank(image)
    device = attach(image)
    done = iocast("card", device, "--destroy", name_of(device), "--time", "5ms", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "commit" in done.stdout
    assert "left out" not in done.stderr


@pytest.mark.parametrize("destroy", [None, "named"])
class TestInUse:
    """Refused with the name as without it."""

    @pytest.fixture
    def name(self, destroy: str | None) -> Callable[[str], str | None]:
        return lambda device: destroy and name_of(device)

    def test_mounted(self, tmp_path: Path, attach: Attach, mounted: Mount, name: Callable[[str], str | None]) -> None:
        image = tmp_path / "image"
        tool("mkfs.ext4", "-q")(image)
        device = attach(image)
        place = mounted("here", device)
        said = refused(tmp_path, image, device, name(device))
        assert f"{device} is in use: {device[5:]} is mounted on {place}" in said
        assert "even with --destroy" in said

    def test_a_partition_is_mounted(
        self, tmp_path: Path, attach: Attach, mounted: Mount, name: Callable[[str], str | None]
    ) -> None:
        image = tmp_path / "image"
        gpt(image)
        device = attach(image)
        command("mkfs.ext4", "-q", partition(device))
        place = mounted("here", partition(device))
        said = refused(tmp_path, image, device, name(device))
        assert f"{device[5:]}p1 is mounted on {place}" in said

    @pytest.mark.alone  # the kernel writes what others need room for
    def test_swap(
        self, tmp_path: Path, attach: Attach, swap_on: Callable[[str], None], name: Callable[[str], str | None]
    ) -> None:
        image = tmp_path / "image"
        blank(image)
        device = attach(image)
        command("mkswap", device)
        swap_on(device)
        assert f"{device[5:]} is used as swap" in refused(tmp_path, image, device, name(device))

    def test_something_is_built_on_it(
        self, tmp_path: Path, attach: Attach, mapped: Callable[..., str], name: Callable[[str], str | None]
    ) -> None:
        image = tmp_path / "image"
        blank(image)
        device = attach(image)
        upper = os.path.realpath(mapped(device))
        assert f"{upper[5:]} is built on {device[5:]}" in refused(tmp_path, image, device, name(device))

    def test_a_loop_on_its_partition(self, tmp_path: Path, attach: Attach, name: Callable[[str], str | None]) -> None:
        image = tmp_path / "image"
        gpt(image)
        device = attach(image)
        upper = attach(partition(device))
        said = refused(tmp_path, image, device, name(device))
        assert f"{upper[5:]} is built on {device[5:]}p1" in said

    def test_what_a_loop_stands_on_is_mounted(
        self, tmp_path: Path, attach: Attach, mounted: Mount, name: Callable[[str], str | None]
    ) -> None:
        image = tmp_path / "image"
        gpt(image)
        device = attach(image)
        command("mkfs.ext4", "-q", partition(device))
        upper = attach(partition(device))
        place = mounted("here", partition(device))
        said = refused(tmp_path, image, upper, name(upper))
        assert f"{upper} is in use: below {upper[5:]}: {device[5:]}p1 is mounted on {place}" in said

    def test_another_loop_on_the_same_file(
        self, tmp_path: Path, attach: Attach, name: Callable[[str], str | None]
    ) -> None:
        image = tmp_path / "image"
        blank(image)
        device, other = attach(image), attach(image)
        said = refused(tmp_path, image, device, name(device))
        assert f"of the file behind {device[5:]}, {image}: it is the file behind {other[5:]}" in said

    @pytest.mark.parametrize("exclusive", [True, False])
    def test_another_process_has_it_open(
        self, tmp_path: Path, attach: Attach, name: Callable[[str], str | None], exclusive: bool
    ) -> None:
        image = tmp_path / "image"
        blank(image)
        device = attach(image)
        destroy = name(device)
        descriptor = os.open(device, os.O_RDONLY | (os.O_EXCL if exclusive else 0))
        try:
            assert f"process {os.getpid()} (" in refused(tmp_path, image, device, destroy)
        finally:
            os.close(descriptor)

    def test_read_only(self, tmp_path: Path, attach: Attach, name: Callable[[str], str | None]) -> None:
        image = tmp_path / "image"
        blank(image)
        device = attach(image, "--read-only")
        assert f"{device} is read-only, and phase" in refused(tmp_path, image, device, name(device))


@pytest.fixture
def swap_on() -> Iterator[Callable[[str], None]]:
    """Uses a device as swap."""
    used: list[str] = []

    def use(device: str) -> None:
        need("swapon", "swapoff")
        command("swapon", device)
        used.append(device)

    yield use
    for device in used:
        subprocess.run(["swapoff", device], check=True)


@pytest.fixture
def mapped() -> Iterator[Callable[..., str]]:
    """A device-mapper device on the first MiB of another."""
    made: list[str] = []

    def make(device: str, *options: str) -> str:
        need("dmsetup")
        name = f"iocast-test-{os.getpid()}-{time.monotonic_ns()}"
        command("dmsetup", "create", name, *options, "--table", f"0 2048 linear {device} 0")
        made.append(name)
        return f"/dev/mapper/{name}"

    yield make
    for name in reversed(made):
        subprocess.run(["dmsetup", "remove", "--retry", name], check=True)


def test_a_mapped_device_is_known_by_its_uuid_and_without_one_it_cannot_be_named(
    tmp_path: Path, attach: Attach, mapped: Callable[..., str]
) -> None:
    for number, options in enumerate((("--uuid", "LVM-7"), ())):
        image = tmp_path / f"image{number}"
        blank(image)
        device = mapped(attach(image), *options)
        said = refused(tmp_path, image, device)
        if options:
            assert said.endswith("--destroy dm:LVM-7")
        else:
            assert "--destroy cannot identify this device: it has neither a serial number nor a UUID" in said


def test_the_name_of_a_partition(tmp_path: Path, attach: Attach) -> None:
    image = tmp_path / "image"
    gpt(image)
    device = attach(image)
    identity = describe(partition(device)).identity
    assert identity is not None
    assert identity.name == f"{name_of(device)}-part1@{MIB}+{32 * MIB}"
    assert identity.start_bytes == MIB
    assert identity.size_bytes == 32 * MIB


def test_destroy_is_for_block_devices(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="is not a block device"):
        find_target(str(tmp_path), "serial:1")


class Silent:
    """Progress that nobody sees."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None: ...

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None: ...

    def end(self, record: PhaseRecord) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("change", ["another file", "the same file again", "larger", "the path leads elsewhere"])
def test_a_device_that_changed_since_the_plan_is_not_written_to(tmp_path: Path, attach: Attach, change: str) -> None:
    image, other = tmp_path / "image", tmp_path / "other"
    blank(image)
    tool("mkfs.ext4", "-q")(other)
    device, path = attach(image), str(tmp_path / "disk")
    os.symlink(device, path)
    job = load_job(small_job(tmp_path))
    plan = make_plan(job, find_target(path, name_of(device)), 1).plan
    layout = load.lay_out(plan)
    if change == "larger":
        os.truncate(image, 128 * MIB)
        command("losetup", "--set-capacity", device)
    elif change == "the path leads elsewhere":
        os.unlink(path)
        os.symlink(attach(other), path)
    else:
        command("losetup", "--detach", device)
        command("losetup", device, image if change == "the same file again" else other)
    before = digest(image), digest(other)
    with pytest.raises(TargetError, match="is not the planned device any more") as why:
        runner.run(runner.Work(plan, layout, str(tmp_path / "runs")), Silent(), lambda: False)
    assert (digest(image), digest(other)) == before
    assert plan.target.identity is not None
    assert plan.target.identity.name in why.value.message
    now = describe(path).identity
    assert now is not None
    assert f"{now.name} ({now.number}, {now.size_bytes:,} bytes" in why.value.message


def test_a_device_is_looked_at_again_before_each_phase_that_writes(tmp_path: Path, attach: Attach) -> None:
    image, other = tmp_path / "image", tmp_path / "other"
    blank(image)
    tool("mkfs.ext4", "-q")(other)
    device, path, elsewhere = attach(image), str(tmp_path / "disk"), attach(other)
    os.symlink(device, path)
    plan = make_plan(load_job(small_job(tmp_path)), find_target(path, name_of(device)), 1).plan

    class Swapping(Silent):
        def end(self, record: PhaseRecord) -> None:
            os.unlink(path)
            os.symlink(elsewhere, path)

    before = digest(other)
    done = runner.run(runner.Work(plan, load.lay_out(plan), str(tmp_path / "runs")), Swapping(), lambda: False)
    assert done.error is not None
    assert "is not the planned device any more" in done.error.message
    assert (done.run.status, len(done.run.measured)) == ("failed", 1)
    assert digest(other) == before


def test_nobody_can_mount_what_is_written_to(tmp_path: Path, attach: Attach, mounted: Mount) -> None:
    image = tmp_path / "image"
    tool("mkfs.ext4", "-q")(image)
    device = attach(image)
    plan = make_plan(load_job(small_job(tmp_path)), find_target(device, name_of(device)), 1).plan
    said: list[str] = []

    class Mounting(Silent):
        def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
            tried = subprocess.run(["mount", device, tmp_path], capture_output=True, text=True, check=False)
            said.append(tried.stderr)

    runner.run(runner.Work(plan, load.lay_out(plan), str(tmp_path / "runs")), Mounting(), lambda: False)
    assert said
    assert all("already mounted or mount point busy" in line or "can't open" in line for line in said)


def test_reads_need_no_permission_even_of_what_is_mounted(tmp_path: Path, attach: Attach, mounted: Mount) -> None:
    image = tmp_path / "image"
    tool("mkfs.ext4", "-q")(image)
    device = attach(image)
    mounted("here", "-o", "ro", device)
    before = digest(image)
    job = tmp_path / "reads.toml"
    job.write_text('name = "reads"\n[[phase]]\ntest = "randread"\nsize = "8k"\npattern = "random"\ntime = "50ms"\n')
    done = iocast("run", job, device, "--full", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "This run overwrote" not in done.stdout
    assert digest(image) == before
    assert stat.S_ISBLK(os.stat(device).st_mode)


def test_repeat_and_ab_take_the_name_too(tmp_path: Path, attach: Attach) -> None:
    devices = []
    for number in range(2):
        blank(tmp_path / f"image{number}", MIB)
        devices.append(attach(tmp_path / f"image{number}"))
    names = [name_of(device) for device in devices]
    job = small_job(tmp_path)
    done = iocast("repeat", "1", job, devices[0], "--destroy", names[0], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    both = ("ab", job, *devices, "--rounds", "1", "--destroy", names[0])
    assert iocast(*both, "--destroy", "serial:9", cwd=tmp_path).returncode == 2
    assert f"{devices[1]} is a block device" in iocast(*both, cwd=tmp_path).stderr
    done = iocast(*both, "--destroy", names[1], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
