"""What storage does for itself: md, btrfs, drives that are hot; from files as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.model.target import Target
from iocast.observe import maintenance

TARGET = Target(path="/mnt/db", kind="directory", filesystem="ext4")


def _seen(root: Path, **files: str) -> dict[tuple[str, str], float]:
    for path, text in files.items():
        file = root / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "sys").mkdir(exist_ok=True)
    with maintenance.Observer(TARGET, (), str(root)) as observer:
        return {(each.subject, each.metric): each.value for each in observer.sample()}


@pytest.mark.parametrize(
    ("action", "wanted"),
    [("idle\n", ("md_sync", 0.0)), ("resync\n", ("md_resync", 1.0)), ("check\n", ("md_check", 1.0))],
)
def test_an_array_at_work(action: str, wanted: tuple[str, float], tmp_path: Path) -> None:
    assert _seen(tmp_path, sys__block__md127__md__sync_action=action) == {("md127", wanted[0]): wanted[1]}


def test_a_balance_is_seen_by_the_label(tmp_path: Path) -> None:
    folder = tmp_path / "sys/fs/btrfs/0f3c-11"
    folder.mkdir(parents=True)
    (folder / "label").write_text("data\n")
    (folder / "exclusive_operation").write_text("balance\n")
    assert _seen(tmp_path) == {("data", "btrfs_balance"): 1.0}
    (folder / "exclusive_operation").write_text("none\n")
    assert _seen(tmp_path) == {("data", "btrfs_balance"): 0.0}


@pytest.mark.parametrize(("now", "hot"), [("69850", 0.0), ("70000", 1.0)])
def test_a_drive_at_its_warning_temperature(now: str, hot: float, tmp_path: Path) -> None:
    (tmp_path / "sys/class/hwmon/hwmon1/device/block/sdb").mkdir(parents=True)
    where = "sys__class__hwmon__hwmon1__"
    files = {f"{where}name": "drivetemp\n", f"{where}temp1_max": "70000\n", f"{where}temp1_input": f"{now}\n"}
    assert _seen(tmp_path, **files) == {("sdb", "hot"): hot}


def test_a_machine_without_any_of_it_has_nothing_to_tell(tmp_path: Path) -> None:
    assert _seen(tmp_path) == {}


def test_no_sysfs_is_blind(tmp_path: Path) -> None:
    with pytest.raises(maintenance.BlindError, match="/sys"):
        maintenance.Observer(TARGET, (), str(tmp_path / "none")).__enter__()
