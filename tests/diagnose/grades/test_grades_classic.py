"""The scale of 2012, letter for letter, on the rows that its author published."""

from __future__ import annotations

import pytest

from iocast.diagnose.grades.hailey2012 import TESTS, classic_letters
from iocast.diagnose.grades.scales import letter_scale
from iocast.model.grading import LETTERS

RANDOM, READ, SMALL, LARGE = TESTS

# base ms -> scaled ms, and what the rules of grade.r make of them: mean, p95, p99 of four systems.
PUBLISHED = [
    (RANDOM, "6.940 8.500 B/A- .1124", "12.992 16.192 C-/A- .1232", "18.560 22.656 D/A- .1103"),
    (READ, "6.190 16.650 A+/B .2112", "18.304 41 B-/A- .1550", "26.752 73 D/B .2161"),
    (SMALL, "1.399 1.770 B/A .0663", "2.008 4.640 C/B- .3277", "4.768 5.792 D/A .0537"),
    (LARGE, "4.980 16.960 A-/C- .6014", "12.608 71 C-/D 1.1578", "49.408 118 D/B- .3471"),
    (RANDOM, "26.676 32.831 D/A- .1154", "73 80 D/A+ .0479", "129 124 D/A+ -.0194"),
    (READ, "43.420 36.790 D/A+ -.0191", "96 113 D/A+ .0221", "190 196 D/A+ .0039"),
    (SMALL, ".611 .739 A-/A .0524", ".700 .748 A-/A+ .0171", "2.928 10.432 C-/C- .6407"),
    (LARGE, "3.331 11.588 A/C- .6197", "10.176 20.096 C/B .2437", "30.080 49.920 D/A- .1649"),
    (RANDOM, ".239 .428 A+/B- .3954", ".262 .876 A+/D 1.1718", "2.160 6.688 A/D 1.0481"),
    (READ, "2.371 17.960 A+/C- .8219", "2.736 20.608 A+/C- .8165", "2.992 21.120 A+/C- .7574"),
    (SMALL, ".112 .231 A+/B .2656", ".151 .306 A+/B .2566", ".217 .482 A/B- .3053"),
    (LARGE, "1.356 3.568 A+/C .4078", "4.704 8.768 A-/B .2160", "8.640 36.096 B-/C- .7944"),
    (RANDOM, ".277 .453 A+/B- .3177", ".378 .844 A+/C- .6164", ".498 2.640 A+/D 2.1506"),
    (READ, "29.070 53.930 D/A- .1069", "74 110 D/A .0608", "243 215 D/A+ -.0144"),
    (SMALL, ".341 .336 A/A+ -.0037", ".652 .398 A-/A+ -.0974", ".804 .836 A-/A+ .0100"),
    (LARGE, "2.776 6.309 A/B- .3182", "10.304 19.840 C/B .2314", "16.320 70.144 D/C- .8245"),
]


@pytest.mark.parametrize("row", PUBLISHED)
def test_published_rows_get_the_letters_of_2012(row: tuple) -> None:
    test, *statistics = row
    for text in statistics:
        base, scaled, letters, value = text.split()
        got = classic_letters(test, float(base), float(scaled))
        assert f"{got.time}/{got.scaling}" == letters, text
        # The published inputs are themselves rounded to a microsecond.
        assert got.scaling_value == pytest.approx(float(value), abs=2.5e-3), text


def test_the_line_of_a_letter_pair_reads_as_in_2012() -> None:
    assert classic_letters(RANDOM, 12.992, 16.192).line == " C-/A- 13.0/0.1"


def test_edges_of_the_classic_scale() -> None:
    """A time at an edge gets the worse letter, growth at an edge the better one; the last edge is a D (mended)."""
    assert classic_letters(RANDOM, 2.0, 2.0).time == "A"
    assert classic_letters(RANDOM, 14.0, 14.0).time == "D"
    assert classic_letters(RANDOM, 1.0, 1.1).scaling == "A+"  # (1.1 / 1 - 1) / 2 = 0.05
    assert letter_scale("hailey2012", "scaling").letter(0.05) == "A+"


def test_every_letter_scale_falls_from_its_best_letter_to_its_worst() -> None:
    for family, aspects in (
        ("modern", ("random_read", "commit", "scan", "scaling", "interference")),
        ("slo", ("response",)),
        ("hailey2012", ("randread_8k", "read_1m", "write_1k", "write_128k", "scaling")),
    ):
        for aspect in aspects:
            scale = letter_scale(family, aspect)
            letters = [*scale.limits, scale.beyond]
            assert letters == sorted(letters, key=LETTERS.index)
            limits = list(scale.limits.values())
            assert limits == sorted(limits, reverse=scale.rule == "at_least")
            assert scale.source
