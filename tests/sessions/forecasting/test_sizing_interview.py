"""The interview: Kolk's questions in order, what was given is not asked, capacity alone gets no further."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.sessions.forecasting.sizing_interview import Interview
from iocast.sessions.requests.size import SizeRequest


def answered(interview: Interview, answers: dict[str, str]) -> list[str]:
    """Answers all questions, with what Enter gives where nothing else is said; the names in order."""
    asked = []
    while (question := interview.question()) is not None:
        asked.append(question.name)
        interview.answer(answers.get(question.name, question.usual))
    return asked


def test_all_is_asked_and_the_transaction_leads_to_the_response_time() -> None:
    interview = Interview(SizeRequest(device="nvme"))
    answers = {"iops": "30k", "transaction": "200ms", "ios": "40", "capacity": "2TB"}
    asked = answered(interview, answers)
    assert asked == ["iops", "mbps", "transaction", "ios", "slo", "read", "size", "capacity"]
    made = interview.request()
    assert (made.iops, made.slo, made.read, made.size, made.capacity) == (30_000, "mean=5.000ms", "70%", "8k", "2TB")
    assert (made.device, made.mbps) == ("nvme", None)


def test_what_was_given_is_not_asked() -> None:
    interview = Interview(SizeRequest(capacity="2TB", iops=1000, slo="5ms", read="50%", size="16k"))
    assert answered(interview, {}) == ["mbps"]
    assert interview.request().read == "50%"


def test_capacity_alone_is_refused_before_anything_else_is_asked() -> None:
    interview = Interview(SizeRequest(capacity="2TB"))
    interview.question()
    interview.answer("-")
    interview.question()
    interview.answer("-")
    with pytest.raises(SpecError, match="capacity alone does not size storage") as refused:
        interview.question()
    assert "iostat" in refused.value.hint


def test_throughput_alone_is_enough_and_nothing_of_single_ios_is_asked() -> None:
    interview = Interview(SizeRequest())
    assert answered(interview, {"mbps": "800", "capacity": "2TB"}) == ["iops", "mbps", "capacity"]
    assert interview.request().mbps == 800


def test_a_wrong_answer_is_asked_again_and_three_end_it() -> None:
    interview = Interview(SizeRequest())
    interview.question()
    assert "is not a rate" in interview.answer("many")
    question = interview.question()
    assert question is not None
    assert question.name == "iops"
    interview.answer("lots")
    with pytest.raises(SpecError):
        interview.answer("plenty")
