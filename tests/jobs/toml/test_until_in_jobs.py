"""`until = "steady"` in job files of both languages: read, refused, shown, written back."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_fio_job, parse_job
from iocast.jobs.toml.job_writing import toml_text
from iocast.model.plan import Until
from iocast.tools.fio.fio_writing import fio_text


def toml(*lines: str) -> str:
    return "\n".join(['name = "j"', "[[phase]]", 'size = "8k"', *lines]) + "\n"


@pytest.mark.parametrize(
    ("lines", "until", "seconds"),
    [
        (('until = "steady"',), Until("b3", 300.0), 1200.0),
        (('until = "steady"', 'at_least = "60s"'), Until("b3", 60.0), 240.0),
        (('until = "steady"', 'at_most = "1h"', 'rule = "snia"'), Until("snia", 300.0), 3600.0),
        (('time = "10s"',), None, 10.0),
    ],
)
def test_read_and_written_back(lines: tuple[str, ...], until: Until | None, seconds: float) -> None:
    job = parse_job(toml(*lines), "j.toml")
    assert (job.phases[0].until, job.phases[0].length.seconds) == (until, seconds)
    assert parse_job(toml_text(job), "again.toml").phases == job.phases


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (('until = "steady"', 'time = "60s"'), "time and until contradict each other"),
        (('time = "60s"', 'at_least = "60s"'), 'at_least without until: it belongs to until = "steady"'),
        (('until = "steady"', 'at_least = "10s"'), "at_least is too short: less than 60 s cannot be judged"),
        (('until = "steady"', 'at_least = "60s"', 'at_most = "30s"'), "at_most is shorter than at_least"),
        (('until = "steady"', 'at_least = "60s"', 'at_most = "119s"'), "at_most is less than twice at_least"),
        (('until = "stable"',), "not a state"),
    ],
)
def test_refused(lines: tuple[str, ...], says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_job(toml(*lines), "j.toml")


def test_a_phase_with_a_time_does_not_inherit_until() -> None:
    text = 'name = "j"\n[defaults]\nsize = "8k"\nuntil = "steady"\nrule = "snia"\n[[phase]]\ntime = "5s"\n[[phase]]\n'
    first, second = parse_job(text, "j.toml").phases
    assert (first.until, first.length.seconds) == (None, 5.0)
    assert second.until == Until("snia", 300.0)


def test_fio_has_no_word_for_it() -> None:
    with pytest.raises(SpecError, match="a different rule"):
        fio_text(parse_job(toml('until = "steady"'), "j.toml"))


FIO = "[a]\nrw=randread\nsize=1g\nruntime=1h\ntime_based\n"


@pytest.mark.parametrize(
    ("lines", "first_s", "notes"),
    [
        ("ss=iops:5%\nss_dur=300\n", 300.0, 1),
        ("steadystate=bw_slope:0.01%\nsteadystate_duration=20\n", 60.0, 1),
        ("ss=iops_slope:0.1%\nss_dur=300\n", 300.0, 2),
        ("ss=iops_slope:0.1%\nss_dur=300\nss_interval=30\n", 300.0, 1),
    ],
)
def test_what_of_fio_can_be_had(lines: str, first_s: float, notes: int) -> None:
    job = parse_fio_job(FIO + lines, "j.fio", {})
    assert job.phases[0].until == Until("b3", first_s)
    assert job.phases[0].length.seconds == 3600.0
    found = [note for note in job.notes if "steadystate" in note or "slope" in note]
    assert len(found) == notes, job.notes
    if notes == 2:
        assert "that allows 30%" in found[1]


def test_fio_without_a_window_does_nothing_as_in_fio() -> None:
    job = parse_fio_job(FIO + "ss=iops:5%\n", "j.fio", {})
    assert job.phases[0].until is None
    assert any("no effect" in note for note in job.notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (FIO + "ss=lat:5%\nss_dur=60\n", "judges a closed loop by its IOPS"),
        (FIO + "ss=iops:500\nss_dur=60\n", "judges a closed loop by its IOPS"),
        (FIO + "ss=calm\nss_dur=60\n", "expected a metric and a limit"),
        ("[a]\nrw=randread\nsize=1g\nss=iops:5%\nss_dur=60\n", "needs an upper limit"),
        ("[a]\nrw=randread\nsize=1g\nruntime=30\ntime_based\nss=iops:5%\nss_dur=60\n", "the runtime is too short"),
    ],
)
def test_what_of_fio_is_refused(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse_fio_job(text, "j.fio", {})
