"""The detector of writes that did not come back, and what the card says of them."""

from __future__ import annotations

from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.measurement import unverified
from iocast.diagnose.examination import examine
from iocast.model.verification import BadBlock, Verification
from iocast.report.card.verdict import verdict
from iocast.report.card.verification_section import says

SOUND = Verification(
    files=("f",), block_bytes=8192, started_unix_ns=0, elapsed_ns=1, blocks=1000, intact=1000, undecided=0,
    outstanding=0, ahead=0, bad=(0, 0, 0, 0, 0), places=(), direct=True, complete=True, durable_only=False,
)  # fmt: skip
PLACE = BadBlock("torn", 0, 8192, 2, 2, 1, 2, None, "")
BAD = replace(SOUND, intact=996, bad=(3, 0, 1, 0, 0), places=(PLACE,))


def test_bad_blocks_lead_the_verdict() -> None:
    run = replace(card_runs.quick_card(), verifications=(SOUND, BAD))
    (found,) = unverified.detect(Facts(run))
    assert (found.severity, found.phase) == ("severe", "")
    assert "4 blocks of 1000" in found.says
    assert "3 torn, 1 misplaced" in found.says
    facts = Facts(run)
    assert verdict(facts, examine(facts)).startswith("The storage did not keep what it acknowledged")


def test_a_sound_verification_and_none_say_nothing() -> None:
    assert not list(unverified.detect(Facts(card_runs.quick_card())))
    assert not list(unverified.detect(Facts(replace(card_runs.quick_card(), verifications=(BAD, SOUND)))))


def test_the_words() -> None:
    assert says(SOUND).startswith("Everything that was acknowledged is intact: 1,000 blocks of 8k read back")
    assert says(BAD).startswith("4 of 1,000 blocks of 8k are bad: 3 torn, 1 misplaced.")
    assert "was made durable" in says(replace(SOUND, durable_only=True))
    assert "Nothing to verify" in says(replace(SOUND, blocks=0))
    more = says(replace(SOUND, undecided=2, outstanding=3, ahead=4, direct=False, complete=False))
    for words in ("2 are undecided", "3 had an outstanding write", "4 are newer", "page cache", "was stopped"):
        assert words in more
