"""A plan in its source: marks are read back as the plan that they were made from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import Edit, EditPlan
from redraft.plan.marked_source import Mark, mark, unmark
from redraft.text.words import split_words

SOURCE = "The artisans remain in the old town."


def shown(plan: EditPlan) -> str:
    return "".join(piece.strip("<|>").upper() if isinstance(piece, Mark) else piece for piece in mark(plan))


@pytest.mark.parametrize(
    "edits, text",
    [
        pytest.param([], SOURCE, id="no-edits-no-marks"),
        pytest.param([Edit.insert("old")], "The artisans remain in theKEEP oldEND town.", id="keep"),
        pytest.param([Edit.delete("old")], "The artisans remain in theDELETE oldEND town.", id="delete"),
        pytest.param(
            [Edit.substitute("artisans", "craftsmen", "makers")],
            "TheREPLACE artisansWITH craftsmenOR makersEND remain in the old town.", id="substitute",
        ),
        pytest.param(
            [Edit.insert("old"), Edit.insert("town")], "The artisans remain in theKEEP oldKEEP townEND.",
            id="next-to-each-other-one-mark-a-word",
        ),
        pytest.param([Edit.insert("The")], "KEEPTheEND artisans remain in the old town.", id="first-word"),
        pytest.param([Edit.insert("cosy")], "ADD cosyTEXTThe artisans remain in the old town.", id="not-in-the-source"),
        pytest.param([Edit.delete("cosy")], "DELETE cosyTEXTThe artisans remain in the old town.", id="not-there"),
        pytest.param([Edit.split()], f"SPLIT{SOURCE}", id="split-anywhere"),
        pytest.param(
            [Edit.split("in", span=(20, 22))], "The artisans remainSPLIT in the old town.", id="split-at-a-place"
        ),
        pytest.param([Edit.split("in")], "The artisans remainSPLIT in the old town.", id="split-at-a-word"),
        pytest.param([Edit.split("The", span=(0, 3))], f"SPLIT{SOURCE}", id="split-before-the-first-word-is-anywhere"),
        pytest.param(
            [Edit.split("old"), Edit.insert("old")], "The artisans remain in theSPLITKEEP oldEND town.",
            id="split-at-a-marked-word",
        ),
        pytest.param(
            [Edit.substitute("old town", "centre", span=(27, 35)), Edit.delete("old", span=(27, 30))],
            "The artisans remain in theREPLACE old townWITH centreEND.", id="the-first-of-two-that-overlap",
        ),
        pytest.param(
            [Edit.insert("towns", span=(31, 35))], "The artisans remain in the oldREPLACE townWITH townsEND.",
            id="kept-in-another-form",
        ),
        pytest.param(
            [Edit.substitute("The", "these", "all")], "REPLACETheWITH TheseOR AllEND artisans remain in the old town.",
            id="targets-at-the-beginning-get-its-capital",
        ),
        pytest.param([Edit.delete("art")], "DELETE artTEXTThe artisans remain in the old town.", id="whole-words"),
    ],
)  # fmt: skip
def test_marks(edits: list[Edit], text: str) -> None:
    assert shown(EditPlan(SOURCE, tuple(edits))) == text


@pytest.mark.parametrize("strength", ["light", "medium", "strong"])
def test_strength_comes_first(strength: str) -> None:
    marked = mark(EditPlan(SOURCE, (Edit.insert("cosy"), Edit.split()), strength))  # type: ignore[arg-type]
    assert marked[0] == f"<|{strength}|>"


def test_two_edits_of_one_word_take_its_occurrences_in_turn() -> None:
    plan = EditPlan("old and old", (Edit.delete("old"), Edit.insert("old", span=(0, 3))))
    assert shown(plan) == "KEEPoldEND andDELETE old"


def test_text_that_looks_like_a_mark_is_text() -> None:
    marked = mark(EditPlan("say <|keep|> twice", (Edit.insert("twice"),)))
    assert marked == ("say <|keep|>", Mark.KEEP, " twice")
    assert [isinstance(piece, Mark) for piece in marked] == [False, True, False]


WORDS = st.sampled_from(["the", "old", "town,", "where", "artisans", "(few)", "remain;", "it's", "11,000", "years"])


@st.composite
def plans(draw: st.DrawFn) -> EditPlan:
    """Plans whose edits have places, in their order."""
    source = draw(st.sampled_from(["", " ", '"'])) + " ".join(draw(st.lists(WORDS, min_size=1, max_size=12)))
    edits: list[Edit] = [Edit.split() for _ in range(draw(st.integers(0, 2)))]
    words = split_words(source)
    breaks = sorted(draw(st.sets(st.integers(1, max(1, len(words) - 1)), max_size=2))) if len(words) > 1 else []
    edits += [Edit.split(words[at].text, span=(words[at].start, words[at].end)) for at in breaks]
    edits += [Edit.insert(word) for word in draw(st.lists(st.sampled_from(["new", "brand-new"]), unique=True))]
    at = 0
    while at < len(words):
        run = words[at : at + draw(st.integers(1, 2))]
        span = run[0].start, run[-1].end
        inside = any(span[0] < words[place].start < span[1] for place in breaks)
        kind = draw(st.sampled_from(["insert", "delete", "substitute", None]))
        at += len(run)
        phrase = source[slice(*span)]
        if kind and not inside:
            targets = draw(st.lists(st.sampled_from(["big", "a lot of"]), min_size=1, unique=True))
            edits.append(Edit(kind, phrase, tuple(targets) if kind == "substitute" else (), span=span))  # type: ignore[arg-type]
    return EditPlan(source, tuple(edits), draw(st.sampled_from([None, "light", "strong"])))


@given(plans())
def test_round_trip(plan: EditPlan) -> None:
    assert unmark(mark(plan)) == plan


@given(plans())
def test_the_texts_are_the_source(plan: EditPlan) -> None:
    kept, aside = [], False
    marked = mark(plan)
    begins = marked.index(Mark.TEXT) + 1 if Mark.TEXT in marked else 0
    for piece in marked[begins:]:
        if isinstance(piece, Mark):
            aside = piece in (Mark.WITH, Mark.OR)
        elif not aside:
            kept.append(piece)
    assert "".join(kept) == plan.source
