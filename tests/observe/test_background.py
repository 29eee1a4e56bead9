"""Maintenance before a run: arrays, LVM, ZFS, btrfs and fstrim, from what the kernel and the tools print."""

from __future__ import annotations

import io
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from makers import card_runs
from makers.recording import Recording
from msgspec.structs import replace

from iocast import archive
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import under_maintenance
from iocast.diagnose.examination import examine
from iocast.jobs import load_job
from iocast.model.run import Blind, Maintenance, Sample
from iocast.model.target import Layer, Target
from iocast.observe.background import Background, look
from iocast.observe.background.command_output import UnansweredError, output_of
from iocast.observe.background.zpool_status import works_of
from iocast.report.card.card_report import card
from iocast.report.renderers import terminal
from iocast.sessions import job_run
from iocast.sessions.job_run import run_job
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import find_target

MDSTAT = """\
Personalities : [raid1] [raid6] [raid5] [raid4]
md127 : active raid5 sdd1[3] sdc1[1] sdb1[0]
      7813770240 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      [=>...................]  recovery =  8.6% (336374784/3906885120) finish=345.0min speed=172438K/sec
      bitmap: 28/30 pages [112KB], 65536KB chunk

md1 : active raid1 sdb3[1] sda3[0]
      976630336 blocks super 1.2 [2/2] [UU]
      [=======>.............]  check = 37.0% (361353216/976630336) finish=71.2min speed=143872K/sec

md0 : active raid1 sdb2[1] sda2[0]
      1048512 blocks [2/2] [UU]
        resync=DELAYED

unused devices: <none>
"""
DMSETUP = """\
vg0-pvmove0: 0 8388608 mirror 2 253:1 253:2 3052/8192 1 AA 1 core
vg0-data: 0 2097152 raid raid1 2 aa 1048576/2097152 resync 0 0 -
vg0-data_rimage_0: 0 2097152 linear
vg0-idle: 0 2097152 raid raid5_ls 3 AAA 2097152/2097152 idle 0 0 -
vg0-swap: 0 4194304 linear
"""
ZPOOL = """\
  pool: backup
 state: ONLINE
  scan: scrub repaired 0B in 02:11:35 with 0 errors on Sun Oct 11 02:35:36 2026
config:

\tNAME        STATE     READ WRITE CKSUM
\tbackup      ONLINE       0     0     0

errors: No known data errors

  pool: tank
 state: ONLINE
  scan: scrub in progress since Sun Nov  8 00:24:01 2026
\t1.57T / 9.80T scanned at 1.01G/s, 724G / 9.80T issued at 466M/s
\t0B repaired, 7.21% done, 05:38:06 to go
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        ONLINE       0     0     0

errors: No known data errors
"""


def _target(*names: str, filesystem: str = "ext4", mount_source: str | None = None) -> Target:
    layers = tuple(Layer(name=name, kind="disk", major=8, minor=at) for at, name in enumerate(names))
    return Target(
        path="/mnt/db",
        kind="directory",
        mount_point="/mnt/db",
        filesystem=filesystem,
        mount_source=mount_source,
        layers=layers,
    )


def _machine(root: Path, **files: str) -> Path:
    (root / "sys").mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        file = root / path.replace("__", "/").replace("dm_", "dm-")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def _asked(**told: str | None) -> Callable[..., str | None]:
    """A machine with these tools; any other must not even be asked for."""
    return lambda *words: told[words[0]]


def _found(target: Target, root: Path, **told: str | None) -> dict[tuple[str, str], tuple[float | None, bool]]:
    seen = look(target, str(root), _asked(**told))
    assert seen.unseen == ()
    return {(each.task, each.subject): (each.done, each.below_target) for each in seen.tasks}


def test_arrays_that_are_rebuilt_and_checked_but_not_those_that_wait(tmp_path: Path) -> None:
    root = _machine(
        tmp_path,
        proc__mdstat=MDSTAT,
        sys__block__md127__md__sync_action="recover\n",
        sys__block__md1__md__sync_action="check\n",
        sys__block__md0__md__sync_action="idle\n",
    )
    wanted = {("md_recover", "md127"): (0.086, True), ("md_check", "md1"): (0.37, False)}
    assert _found(_target("md127", "sdb1"), root) == wanted


def test_lvm_that_moves_and_synchronises(tmp_path: Path) -> None:
    names = {"dm_0": "vg0-data", "dm_1": "vg0-pvmove0", "dm_2": "vg0-idle"}
    files = {f"sys__block__{at}__dm__name": f"{name}\n" for at, name in names.items()}
    files |= {f"sys__block__{at}__dm__uuid": "LVM-x\n" for at in names}
    root = _machine(tmp_path, **files)
    wanted = {("lvm_resync", "vg0-data"): (0.5, True), ("lvm_pvmove", "vg0-pvmove0"): (3052 / 8192, False)}
    assert _found(_target("dm-0", "sda"), root, dmsetup=DMSETUP) == wanted
    assert _found(_target("dm-1"), root, dmsetup=None) == {("lvm_pvmove", "vg0-pvmove0"): (None, True)}  # not root
    _machine(tmp_path, sys__block__dm_3__dm__name="vg0-data_rimage_0\n", sys__block__dm_3__dm__uuid="LVM-x\n")
    blind = look(_target("dm-0"), str(root), _asked(dmsetup=None))
    assert blind.unseen == ("synchronisation of LVM volumes: dmsetup cannot be asked",)


@pytest.mark.parametrize(("source", "below"), [("tank/db", True), ("backup", False)])
def test_a_pool_that_is_scrubbed(source: str, below: bool, tmp_path: Path) -> None:
    root = _machine(tmp_path, proc__spl__kstat__zfs__tank__state="ONLINE\n")
    target = _target(filesystem="zfs", mount_source=source)
    assert _found(target, root, zpool=ZPOOL) == {("zfs_scrub", "tank"): (0.0721, below)}
    blind = look(target, str(root), _asked(zpool=None))
    assert blind == Background((), ("ZFS scrubs and resilvers: zpool cannot be asked",))


@pytest.mark.parametrize(
    ("scan", "task", "done"),
    [
        (
            "  scan: resilver in progress since Mon\n\t9G resilvered, 16.24% done, 00:45:41 to go",
            "zfs_resilver",
            0.1624,
        ),
        ("  scan: scrub in progress since Mon Nov\n\t0 scanned\n\t0B repaired, no estimated time", "zfs_scrub", None),
        ("remove: Evacuation of mirror-1 in progress since Mon\n\t1.2G copied, 12.00% done", "zfs_remove", 0.12),
        ("  scan: scrub paused since Mon Nov  9 10:00:00 2026\n\t1.2G scanned, 12.00% done", "", None),
        ("  scan: none requested", "", None),
    ],
)
def test_what_a_pool_does(scan: str, task: str, done: float | None) -> None:
    found = [(each.task, each.done) for each in works_of(f"  pool: tank\n state: ONLINE\n{scan}\nconfig:\n")]
    assert found == ([(task, done)] if task else [])


def test_btrfs_that_is_balanced_is_below_its_own_devices(tmp_path: Path) -> None:
    files = {"sys__fs__btrfs__0f3c-11__label": "data\n", "sys__fs__btrfs__0f3c-11__exclusive_operation": "balance\n"}
    root = _machine(tmp_path, **files, sys__fs__btrfs__0f3c_devices="")
    (root / "sys/fs/btrfs/0f3c-11/devices/sdb1").mkdir(parents=True)
    assert _found(_target("sdb1", "sdb"), root) == {("btrfs_balance", "data"): (None, True)}
    assert _found(_target("sdc1"), root) == {("btrfs_balance", "data"): (None, False)}


@pytest.mark.parametrize(
    ("words", "subject", "below"),
    [
        ("fstrim\0--listed-in\0/etc/fstab:/proc/self/mountinfo\0--verbose", "all file systems", True),
        ("/sbin/fstrim\0-v\0/mnt/db", "/mnt/db", True),
        ("fstrim\0/srv", "/srv", False),
    ],
)
def test_a_file_system_that_is_trimmed(words: str, subject: str, below: bool, tmp_path: Path) -> None:
    root = _machine(tmp_path, proc__71__comm="fstrim\n", proc__71__cmdline=words, proc__72__comm="bash\n")
    assert _found(_target("sda"), root) == {("fstrim", subject): (None, below)}


def test_a_machine_without_any_of_it_is_asked_nothing(tmp_path: Path) -> None:
    assert _found(_target("sda"), _machine(tmp_path)) == {}


def test_a_tool_that_hangs_is_left_alone_and_one_that_is_missing_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    for name, line in {"zpool": "exec sleep 600", "dmsetup": "echo fine", "refuses": "exit 3"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(stat.S_IRWXU)
    with pytest.raises(UnansweredError, match=r"zpool status did not answer within 0\.1 s"):
        output_of("zpool", "status", seconds=0.1)
    assert output_of("dmsetup", "status") == "fine\n"
    assert output_of("refuses") is None
    assert output_of("no-such-program") is None


def test_the_others_are_seen_though_one_tool_hangs(tmp_path: Path) -> None:
    def hangs(*words: str) -> str:
        raise UnansweredError(f"{words[0]} did not answer within 2 s")

    root = _machine(tmp_path, proc__spl__kstat__zfs__tank__state="ONLINE\n", proc__mdstat=MDSTAT)
    seen = look(_target("md1"), str(root), hangs)
    assert {each.subject for each in seen.tasks} == {"md127", "md1"}
    assert seen.unseen == ("zpool did not answer within 2 s",)


def test_under_a_simulated_device_nothing_is_looked_for() -> None:
    def never(*words: str) -> str:
        raise AssertionError(words)

    assert look(find_target("sim:hdd"), "/", never) == Background()


SCRUB = Maintenance(task="zfs_scrub", subject="tank", done=0.0721, below_target=True)
ELSEWHERE = Maintenance(task="md_resync", subject="md127")


def test_the_card_and_a_finding_name_it() -> None:
    run = card_runs.run(card_runs.reads(), maintenance=(SCRUB, ELSEWHERE))
    found = [(each.severity, each.phase, each.says) for each in under_maintenance.detect(Facts(run))]
    assert found == [
        ("warn", "", "Maintenance was running before the first row: ZFS scrub on tank (7.2% done)."),
        (
            "note",
            "",
            "Maintenance was running before the first row: md resync on md127, which may not be below this target.",
        ),
    ]
    shown = io.StringIO()
    terminal.render(card(run, examine(run)), shown, colour=False, width=120)
    assert "Maintenance before the first row: ZFS scrub on tank (7.2% done)." in " ".join(shown.getvalue().split())


def test_what_a_row_shows_too_is_said_once() -> None:
    record = card_runs.reads()
    at_ns = record.measurement.started_unix_ns
    seen = (Sample(at_ns, "maintenance", "md127", "md_resync", 1.0),)
    run = card_runs.run(replace(record, samples=(*record.samples, *seen)), maintenance=(ELSEWHERE,))
    (found,) = under_maintenance.detect(Facts(run))
    assert found.phase == record.phase.name


JOB = """\
name = "short"
[files]
size = "4MiB"
[[phase]]
test = "randread"
size = "4k"
pattern = "random"
time = "100ms"
"""


def test_it_is_told_before_the_first_row_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Background((SCRUB, ELSEWHERE), ("dmsetup did not answer",))
    monkeypatch.setattr(job_run, "look", lambda _: said)
    (tmp_path / "short.toml").write_text(JOB)
    place, listener = tmp_path / "place", Recording()
    place.mkdir()
    job, options = load_job(str(tmp_path / "short.toml")), RunOptions(out=str(tmp_path))
    done = run_job(job, find_target(str(place)), options, listener)
    assert listener.names[0] == "Planned"
    assert "note: maintenance is running: ZFS scrub on tank (7.2% done); the rows will show it" in listener.said
    assert "md resync on md127; it may not be below this target" in listener.said
    kept = archive.load(str(done.folder))
    assert kept.maintenance == (SCRUB, ELSEWHERE)
    assert Blind("maintenance", "dmsetup did not answer") in kept.blind
