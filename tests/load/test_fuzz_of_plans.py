"""Plans for the core with values changed at random: what they did comes out, or a refusal, and never a panic."""

from __future__ import annotations

import json
import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from makers.damaged_folders import damaged
from makers.mutations import fuzzing
from makers.saved_runs import empty_run

from iocast import _core, load

TARGETS = ("sim:nvme", "sim:hdd,stall=1s/2s", "sim:sata-ssd,slow=0s..1s:3")


def plans() -> list[bytes]:
    """Plans of each kind of phase that a card has, on several simulated devices."""
    found = []
    for target in TARGETS:
        run = empty_run(target=target)
        files = load.lay_out(run.plan).files
        for number, phase in enumerate(run.plan.phases):
            handed = load.phase_plan(run.plan, phase, files, load.phase_seed(run.plan, phase, number))
            found.append(msgspec.json.encode(handed))
    return found


PLANS = plans()


@fuzzing(200)
@given(plan=st.sampled_from(PLANS), seed=st.integers(0, 2**64))
def test_only_a_refusal_comes_out(plan: bytes, seed: int) -> None:
    text = damaged(plan, random.Random(seed)).decode("utf-8", "replace")
    try:
        ((result, _),) = _core.run_together([text], lambda *_: False)
    except _core.CoreError as refused:
        message, hint, _ = refused.args
        assert message
        assert isinstance(hint, str)
        return
    assert json.loads(result)["ios"] >= 0
