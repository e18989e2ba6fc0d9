"""Qualifiers, and the same words in uses that are not qualifiers."""

import pytest

from redraft.text.qualifiers import qualifiers
from redraft.text.words import split_words


def found(source):
    words = split_words(source)
    return [(source[words[run[0]].start : words[run[-1]].end], reason) for run, reason in qualifiers(words)]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("Take at least 5 of them", [("at least", "a bound")]),
        ("It is no more than a rumour", [("no more than", "a bound")]),
        ("He ate more than she did", [("more than", "a bound")]),
        ("Every dog, all cats and some birds", [
            ("Every", "a quantifier"), ("all", "a quantifier"), ("some", "a quantifier")]),
        ("Do not stop unless told", [("unless", "a condition")]),
        ("All except for one", [("All", "a quantifier"), ("except for", "a condition")]),
        ("It grew only if watered", [("only if", "a condition")]),
        ("Failure to pay is a crime", [("Failure to", "a near-negation")]),
        ("He failed to pay", [("failed to", "a near-negation")]),
        ("Refrain from smoking", [("Refrain from", "a near-negation")]),
        ("tea rather than coffee", [("rather than", "a near-negation")]),
        ("inversely proportional", [("inversely", "a bound")]),
        ("You must pay", [("You", "who is meant"), ("must", "a modal verb")]),
        ("It may not be late", [("may", "a modal verb")]),
        ("It should usually work", [("should", "a modal verb")]),
        ("They left before 1990", [("before", "a bound in time")]),
        ("Wait until about 5 o'clock", [("until", "a bound in time"), ("about", "a rough number")]),
        ("Printed around 1450", [("around", "a rough number")]),
        ("They walked around the 2 towns", []),
    ],
)  # fmt: skip
def test_qualifiers(source, expected):
    assert found(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("It began in May 1990", id="a-month"),
        pytest.param("The film is a must", id="a-noun"),
        pytest.param("They left before dinner", id="no-number"),
        pytest.param("The power failure lasted", id="no-failure-to"),
        pytest.param("more tea", id="more-without-than"),
        pytest.param("", id="nothing"),
    ],
)
def test_uses_that_are_not_qualifiers(source):
    assert found(source) == []
