"""Rules as theory reads them: the notation and its errors, the same as in the simulator."""

from __future__ import annotations

import pytest

from cwndlab import theory


def test_notation_round_trips():
    for text in ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)",
                 "AIMAD(1, 1, 0.9)",
                 "MAIMD(1, 1.1, 0.8)", "Linear(1, 1, -1, 0.9)", "GAIMD(0.31, 0.875)",
                 "Binomial(0.5, 0.5, 1, 0.5)",
                 "IIAD(1, 0.5)", "SQRT(1, 0.5)", "Bimodal(1, 0.5, 0.125)",
                 "MRAIMD(1, 0.5, 0.005, 0.5)"):  # fmt: skip
        assert theory.parse(text).text == text
        assert theory.parse(text.lower().replace(" ", "")) == theory.parse(text)


def test_notation_means_the_same_as_in_the_simulator():
    """The two parsers share nothing; what both know they print alike."""
    from cwndlab import native

    for entry in native.rules():
        try:
            ours = theory.parse(entry["example"])
        except ValueError:
            continue
        assert ours.text == native.rule(entry["example"])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("AIDM(1, 0.5)", ["AIDM", "did you mean AIMD", "GAIMD"]),
        ("AIMD(1, 1)", ["b: 1 ", "between 0 and 1"]),
        ("AIMD(1)", ["takes 2 parameters (a, b), got 1", "AIMD(1, 0.5)"]),
        ("AIMD(1, 0.5, 3)", ["got 3"]),
        ("AIMD(1, 0.5", ["closing parenthesis"]),
        ("AIMD(1, half)", ['"half" is not valid: expected a number']),
        ("AIMD(nan, 0.5)", ["a: nan"]),
        ("Binomial(-1, 0)", ["k: -1", "from 0 to 10"]),
        ("Binomial(0, 1, 1, 1)", ["beta: 1 ", "below 1"]),
        ("Bimodal(1, 0.5, 0)", ["epsilon: 0 "]),
        ("Linear(0, 1, 0, 0.5)", ["never grows"]),
        ("", ["not known"]),
    ],
)
def test_notation_errors_name_what_is_allowed(text, named):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - every part is looked at
        theory.parse(text)
    for part in named:
        assert part in str(error.value)
    assert "\n" not in str(error.value)
