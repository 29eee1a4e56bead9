"""Sessions that go from step to step, in job files: what they become, that they read back, what cannot be."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_job
from iocast.jobs.simulated.law_text import LAWS, law_text, parse_law
from iocast.jobs.toml.job_writing import toml_text
from iocast.model.job import Job
from iocast.model.profiling.step_chain import law_mean_ns, mean_pause_ns, step_mix, step_shares
from iocast.model.service_laws import ConstantLaw, ExponentialLaw
from iocast.model.workload import Append, Closed, MixItem, SizeWeight, Stepped

PAGE = '{step = "page", op = "read", size = "8k", region = {size = "1GiB"}, pause = "3ms", next = {page = 3, log = 1}}'
LOG = (
    '{step = "log", op = "write", size = {"8k" = 90, "16k" = 10}, region = {start = "1GiB", size = "16MiB"}, '
    'pattern = "append", again = "8k", again_percent = 95, pause = "exponential:5us"}'
)
COMMIT = '{step = "commit", op = "fdatasync", region = {start = "1GiB", size = "16MiB"}}'


def job(*steps: str, more: str = "") -> Job:
    files = '[files]\ncount = 2\nsize = "1GiB"\n'
    text = f'name = "s"\n{files}[[phase]]\ntest = "session"\ntime = "5s"\ndirect = false\n{more}'
    return parse_job(text + "steps = [\n" + "".join(f"  {step},\n" for step in steps) + "]\n", "s.toml")


def test_steps_are_read_with_their_places_pauses_and_followers() -> None:
    (phase,) = job(PAGE, LOG, COMMIT, more="users = 4\n").phases
    page, log, commit = phase.workload.steps
    assert (page.pause, page.next, page.sizes) == (ConstantLaw(3_000_000), (3.0, 1.0, 0.0), (SizeWeight(8192, 1.0),))
    assert (log.locality, log.pause) == (Append(8192, 95.0), ExponentialLaw(5000))
    assert (log.start_bytes, log.size_bytes, log.next) == (1 << 30, 16 << 20, (0.0, 0.0, 1.0))
    assert (commit.op, commit.sizes, commit.next) == ("fdatasync", (), (1.0, 0.0, 0.0)), (
        "after the last comes the first"
    )
    # Four reads to a write and its sync: the mean pause of a round is 12 ms and 5 us, of six I/Os.
    assert step_shares(phase.workload.steps) == pytest.approx((4 / 6, 1 / 6, 1 / 6))
    assert step_mix(phase.workload.steps)[1] == MixItem("write", 8192, 15.0)
    assert mean_pause_ns(phase.workload.steps) == pytest.approx(12_005_000 / 6)
    assert phase.workload.arrival == Closed(2_000_833)
    (between,) = job(PAGE, LOG, COMMIT, more='users = 4\npauses = "between"\n').phases
    assert isinstance(between.workload.arrival, Stepped)
    assert between.workload.arrival.rate_per_s == pytest.approx(4 * 6 / 12.005e-3, rel=1e-6)


@pytest.mark.parametrize("more", ["", 'pauses = "between"\n'])
def test_a_job_with_steps_reads_back(more: str) -> None:
    made = job(PAGE, LOG, COMMIT, more=more)
    assert parse_job(toml_text(made), "back.toml").phases == made.phases


@pytest.mark.parametrize(("name", "form"), [(name, law.form) for name, law in LAWS.items()])
def test_the_text_of_a_law_reads_back(name: str, form: str) -> None:
    law = parse_law(f"{name}:{form}")
    assert parse_law(law_text(law)) == law
    assert law_mean_ns(law) > 0


@pytest.mark.parametrize(
    ("steps", "more", "says"),
    [
        ((PAGE, LOG), 'size = "8k"\n', "size with steps"),
        ((PAGE, LOG), "rate = '5/s'\n", "rate with steps"),
        ((PAGE,), "", 'there is no step "log"'),
        ((LOG, LOG), "", 'two steps are called "log"'),
        (('{step = "a", op = "read"}',), "", "size is missing"),
        (('{step = "a", op = "fsync", size = "8k"}', LOG), "", "fsync has no size"),
        (('{step = "a", op = "write", size = "8k", again = "8k"}',), "", 'again with pattern = "random"'),
        (('{step = "a", op = "write", size = "8k", pause = "soon"}',), "", "pause"),
        (('{step = "a", op = "write", size = "8k", pause = "table:50%=1ms"}',), "", "is not a pause"),
        (('{step = "a", op = "write", size = "8k", region = {size = "4k"}}',), "", "smaller than one I/O"),
        (('{step = "a", op = "write", size = "8k", next = {a = 0}}',), "", "only weights of 0"),
        (('{op = "write", size = "8k"}',), "", "step is missing"),
    ],
)
def test_steps_that_cannot_be_are_refused(steps: tuple[str, ...], more: str, says: str) -> None:
    with pytest.raises(SpecError) as refused:
        job(*steps, more=more)
    assert says in refused.value.message


def test_pauses_belong_to_steps() -> None:
    with pytest.raises(SpecError, match="pauses without steps"):
        parse_job('name = "s"\n[[phase]]\nsize = "8k"\ntime = "1s"\npauses = "between"\n', "s.toml")
