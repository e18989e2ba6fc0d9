"""Hard places of a sentence: what is marked, what is not, and the reason given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.evaluate import readability
from redraft.evaluate.readability import Readability
from redraft.plan.planner import bundled_word_frequency
from redraft.text.hard_places import hard_places
from redraft.text.word_frequency import WordFrequency, WordStatistics

LONG = (
    "If you move, the office sends you a letter with a number "
    "that you need for all of the forms unless it has one on file."
)


def found(sentence: str) -> list[tuple[str, str]]:
    return [(sentence[one.start : one.end], one.kind) for one in hard_places(sentence, bundled_word_frequency())]


@pytest.mark.parametrize("sentence, words", [
    ("The physician commenced notwithstanding the apprehension.",
     ["physician", "commenced", "notwithstanding", "apprehension"]),
    ("The kitchens were cleaned and the vehicles washed.", []),  # as frequent as "kitchen"
    ("She wrote to info@physician.org and to Notwithstanding Apprehension by e-mail.", []),  # address, name, two words
    ("“😀 Remuneration” is paid.", ["Remuneration"]),
    ("", []),
])  # fmt: skip
def test_hard_words(sentence: str, words: list[str]) -> None:
    assert [word for word, _ in found(sentence)] == words


def test_long_sentences_say_how_long() -> None:
    assert found(LONG)[0] == (LONG[:-1], "long sentence")
    assert hard_places(LONG, bundled_word_frequency())[0].why == "26 words, two conditions"
    shorter = LONG.replace("with a number ", "")
    assert not found(shorter)


def test_reasons_are_figures_of_the_table() -> None:
    table = WordFrequency({
        "rare": WordStatistics(3.4), "hard": WordStatistics(4.0, 4.26), "easy": WordStatistics(3.0, 1.2),
    })  # fmt: skip
    assert [one.why for one in hard_places("So rare, hard, easy nothings.", table)] == [
        "rare word: 1 in 400,000 words",
        "hard word: people rate it 4.3 on a scale from 1 (easy) to 6",
        "rare word: not in the table of 120,000 words",
    ]


@given(st.text(max_size=120))
def test_any_text_has_places_inside_it(text: str) -> None:
    for place in hard_places(text, bundled_word_frequency()):
        assert 0 <= place.start < place.end <= len(text)
        assert text[place.start : place.end].strip()


def test_figures_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = Readability(bundled_word_frequency()).figures
    known = measure(["The physician commenced.", "They left.", " "])
    assert (known.sentences, known.words, known.words_per_sentence) == (2, 5, 2.5)
    assert known.share_of_hard_words == pytest.approx(2 / 5)
    assert known.levels == {"A1": 0.4, "A2": 0.2, "B1": 0.2, "B2": 0.2, "C1": 0, "C2": 0}
    assert measure([]).words_per_sentence == 0
    monkeypatch.setattr(readability, "_analyzer", lambda: None)
    assert measure(["They left."]).levels is None
