"""What a run folder says of its target is no word of who takes it up again."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.saved_runs import saved
from msgspec.structs import replace

from iocast import archive
from iocast.diagnose.experiments.next_step import USUAL_BUDGET
from iocast.errors import SpecError
from iocast.model.experiment import Diagnosis
from iocast.model.hosts import HostPart
from iocast.model.run import Run
from iocast.sessions import inquire
from iocast.sessions.inquire import Inquiry, diagnose_run
from iocast.sessions.listener import Quiet


@pytest.mark.parametrize(("again", "destroy"), [(False, "loop:1"), (True, "")])
def test_a_device_is_given_up_by_who_measures_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool, destroy: str
) -> None:
    run, folder = saved(tmp_path)
    target = replace(run.plan.target, kind="block", path="/dev/nowhere", destroy="loop:1")
    given_up = replace(run, plan=replace(run.plan, target=target))
    asked: list[Run] = []

    def remembers(run: Run, *_: object) -> Inquiry:
        asked.append(run)
        return Inquiry(Diagnosis(), False)

    monkeypatch.setattr(archive, "load", lambda _: given_up)
    monkeypatch.setattr(inquire, "inquire", remembers)
    diagnose_run(str(folder.path), USUAL_BUDGET, Quiet(), again=again)
    assert [each.plan.target.destroy for each in asked] == [destroy]


def test_a_run_of_many_hosts_is_sent_to_one_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, folder = saved(tmp_path)
    monkeypatch.setattr(archive, "load", lambda _: replace(run, hosts=(HostPart(name="db1", path="/u01"),)))
    with pytest.raises(SpecError, match="is a run of 1 hosts: experiments are made on one") as refused:
        diagnose_run(str(folder.path), USUAL_BUDGET, Quiet(), again=True)
    assert refused.value.hint.endswith(f"iocast report {folder.path}/hosts/db1")
