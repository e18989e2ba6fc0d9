"""The public API as a whole: names, calls with one text and with many, settings, errors for wrong types, displays."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any

import pytest

import redraft
from redraft import DecodeConfig, Edit, EditPlan, Redrafter, RedraftError, Simplifier
from redraft.decode.eight_bit_model import holds_eight_bit_model
from redraft.decode.result import Result
from redraft.errors import ConfigError, PlanError
from redraft.models import bundled

MODEL = "scripted:examples/by_hand.json"  # writes the same text for every source, but follows plans
needs_weights = pytest.mark.skipif(not holds_eight_bit_model(bundled("rewriter")), reason="the tree has no weights")


@pytest.fixture(scope="module")
def simplifier() -> Simplifier:
    return Simplifier(MODEL)


def off(source: str, old: str, new: str) -> EditPlan:
    """A plan whose result depends on its source: it is applied in place."""
    return EditPlan(source, (Edit.substitute(old, new),), "off")


TEXTS: list[str | EditPlan] = [
    "The artisans remain old .",
    off("A very old man with a long story about a short day slept.", "old", "young"),
    EditPlan("The artisans remain old .", (Edit.delete("remain"),)),
    off("Old men.", "men", "women"),
    EditPlan("The artisans remain old .", (Edit.insert("old"),)),
    "The artisans remain old . They slept .",
]


def facts(result: Result) -> tuple[Any, ...]:
    return result.source, result.text, result.verdicts, result.plan, result.unchanged


# Names


def test_dir_lists_every_public_name() -> None:
    assert set(redraft.__all__) <= set(dir(redraft))
    assert all(getattr(redraft, name) is not None for name in redraft.__all__)


def test_no_public_name_shadows_a_builtin() -> None:
    assert set(redraft.__all__).isdisjoint(dir(builtins))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Simplify'"):
        redraft.Simplify  # noqa: B018


# One text and many


def test_lists_iterators_and_pipe_agree_with_single_calls(simplifier: Simplifier) -> None:
    expected = [facts(simplifier(text)) for text in TEXTS]
    assert len({fact[1] for fact in expected}) >= 4, "the texts should have different results"
    assert [facts(result) for result in simplifier(TEXTS)] == expected
    assert [facts(result) for result in simplifier(iter(TEXTS))] == expected
    assert [facts(result) for result in simplifier.pipe(TEXTS)] == expected
    assert simplifier([]) == list(simplifier.pipe(iter(()))) == []


@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
@pytest.mark.parametrize("window", [1, 2, 4])
def test_window_and_batch_size_change_nothing(simplifier: Simplifier, batch_size: int, window: int) -> None:
    expected = [facts(result) for result in simplifier.pipe(TEXTS)]
    found = simplifier.pipe(TEXTS, batch_size=batch_size, window=window)
    assert [facts(result) for result in found] == expected


def test_pipe_reads_no_more_than_its_window(simplifier: Simplifier) -> None:
    read = []

    def texts():
        for text in TEXTS:
            read.append(text)
            yield text

    results = simplifier.pipe(texts(), batch_size=2, window=1)
    assert read == []
    next(iter(results))
    assert len(read) == 2


def test_redrafter_takes_lists_and_iterators() -> None:
    redrafter = Redrafter(MODEL)
    plans = [text for text in TEXTS if isinstance(text, str) or text.strength != "off"]
    expected = [redrafter(plan) for plan in plans]
    assert redrafter.rewrite(plans) == redrafter.rewrite(iter(plans)) == expected
    assert list(redrafter.stream(plans, batch_size=2)) == expected


# Settings


def test_settings_of_a_call_replace_those_of_the_simplifier() -> None:
    one = Simplifier(MODEL, beams=3, keep=["old"])
    assert [edit.phrase for edit in one("old men").plan.edits] == ["old"]
    both = one("old men", glossary={"men": "people"}).plan.edits
    assert {(edit.kind, edit.phrase) for edit in both} == {
        ("insert", "old"), ("substitute", "men"), ("delete", "men"),
    }  # fmt: skip
    assert one("old men", keep=[]).plan.edits == one("old men", keep=None).plan.edits == ()
    assert len(one("old men", candidates=3).candidates) == 3


def test_an_iterator_of_words_to_keep_is_read_once() -> None:
    one = Simplifier(MODEL, keep=iter(["old"]))
    for _ in range(2):
        assert [edit.phrase for edit in one("old men", glossary={}).plan.edits] == ["old"]


def test_more_candidates_than_beams_are_refused(simplifier: Simplifier) -> None:
    with pytest.raises(ConfigError, match="candidates=5 but beams=2"):
        simplifier("The old man.", beams=2, candidates=5)


# Errors


WRONG: dict[str, tuple[Callable[[Simplifier], Any], str]] = {
    "text": (lambda s: s(5), "the text is 5, which is neither a string nor an EditPlan"),
    "nothing": (lambda s: s(None), "the text is null"),
    "bytes": (lambda s: s(b"x"), "texts is <bytes>"),
    "text-in-a-list": (lambda s: s(["a", 1]), r"texts\[1\] is 1, which is neither a string nor an EditPlan"),
    "pipe-of-a-string": (lambda s: s.pipe("text"), 'texts is "text"'),
    "plans-of-a-string": (lambda s: s.plans("text"), 'sources is "text"'),
    "document": (lambda s: s.document(5), "the document is 5"),
    "document-on-error": (lambda s: s.document("x", on_error="return"), "a document takes no on_error"),
    "keep": (lambda s: s("x", keep="word"), r'keep is "word"\.\n  Give a list .* keep=\["physician"\]'),
    "keep-number": (lambda s: s("x", keep=[5]), r"keep.*\b5\b"),
    "glossary": (lambda s: s("x", glossary="a"), r'glossary is "a"\.\n  Give a dict'),
    "beams": (lambda s: s("x", beams="4"), r'beams is "4"\.\n  Give a whole number'),
    "batch-size": (lambda s: s.pipe(["x"], batch_size="4"), 'batch_size is "4"'),
    "window": (lambda s: s.pipe(["x"], window=0), "window is 0"),
    "trace": (lambda s: s("x", trace="yes"), 'trace is "yes"'),
    "on-error": (lambda s: s.pipe(["x"], on_error="skip"), r'on_error "skip" is not known\.\n  Use raise, return'),
    "config": (lambda s: s("x", config={"beams": 4}), r"config is .*\n  Give a DecodeConfig"),
    "style": (lambda s: s("x", style=5), "style is 5"),
    "strength": (lambda s: s("x", strength="huge"), r'strength is "huge"\.\n  Use light, medium, strong'),
    "unknown-setting": (lambda s: s("x", beam=4), r"no setting 'beam'\.\n  Did you mean beams"),
    "unknown-default": (lambda s: Simplifier(MODEL, beam=4), r"no setting 'beam'\.\n  Did you mean beams"),
    "planner": (lambda s: Simplifier(MODEL, "folder"), r'planner is "folder"\.\n  Give a Planner'),
    "check": (lambda s: Simplifier(MODEL, check="folder"), r'check is "folder"\.\n  Give a MeaningCheck'),
    "model": (lambda s: Simplifier(5), "the model is 5"),
    "redrafter-text": (lambda s: s.redrafter(5), "the text is 5, which is neither a string nor an EditPlan"),
    "redrafter-list": (lambda s: s.redrafter.rewrite(["a", 1]), r"texts\[1\] is 1"),
    "redrafter-string": (lambda s: s.redrafter.rewrite("text"), 'texts is "text"'),
    "redrafter-setting": (lambda s: s.redrafter("x", beam=4), r"no setting 'beam'\.\n  Did you mean beams"),
    "redrafter-config": (lambda s: Redrafter(MODEL, config=4), "config is 4"),
    "redrafter-prompt": (lambda s: Redrafter(MODEL, prompt="x"), r'prompt "x" lacks \{source\}'),
    "plan-source": (lambda s: EditPlan(5), "source: must be a string, but it is the number 5"),
    "edit-phrase": (lambda s: Edit.insert(5), "insert: must be a string, but it is the number 5"),
}


@pytest.mark.parametrize("call, message", [pytest.param(*case, id=name) for name, case in WRONG.items()])
def test_wrong_arguments_are_explained_at_once(simplifier: Simplifier, call: Callable[..., Any], message: str) -> None:
    with pytest.raises(RedraftError, match=message) as caught:
        call(simplifier)
    assert caught.value.hint


def test_errors_of_single_texts_can_be_returned(simplifier: Simplifier) -> None:
    special = EditPlan("The artisans remain old .", (Edit.insert("</s>"),))
    texts = [TEXTS[0], "half \ud83d", TEXTS[1], special, TEXTS[2], TEXTS[3]]
    found = list(simplifier.pipe(texts, on_error="return", batch_size=2, window=3))
    assert [type(one) for one in found] == [Result, PlanError, Result, PlanError, Result, Result]
    expected = [facts(simplifier(text)) for text in (TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[3])]
    assert [facts(one) for one in found if isinstance(one, Result)] == expected
    with pytest.raises(PlanError, match="surrogate"):
        simplifier(texts)
    with pytest.raises(ConfigError, match=r"texts\[1\] is 5"):
        list(simplifier.pipe(["a", 5], on_error="return"))  # a mistake of the caller is raised


# Documents


DOCUMENT = "One man slept.  Two men woke.\n\n\tThree men:\n- left\n\nThey ran.\n"


def test_a_document_keeps_its_spacing_and_paragraphs(simplifier: Simplifier) -> None:
    document = simplifier.document(DOCUMENT)
    assert document.source == DOCUMENT
    assert len(document.results) == 5
    sentences = [one.text for one in document.sentences if one.text]
    assert [result.source for result in document.results] == sentences
    expected = DOCUMENT
    for sentence, result in zip(sentences, document.results, strict=True):
        expected = expected.replace(sentence, result.text.upper(), 1)  # in upper case, so that no text is found twice
    assert "".join(
        one.space + (text.upper() if one.text else "")
        for one, text in zip(document.sentences, _texts(document), strict=True)
    ) == expected  # fmt: skip
    assert str(document) == document.text
    assert re.sub(r"\S+", "", document.text) != "", "white space is kept"
    assert re.findall(r"\n[\n\t]*", document.text) == re.findall(r"\n[\n\t]*", DOCUMENT)


def _texts(document: redraft.Document) -> list[str]:
    results = iter(document.results)
    return [next(results).text if one.text else "" for one in document.sentences]


def test_an_empty_document_is_empty(simplifier: Simplifier) -> None:
    for text in ("", "\n\n"):
        assert simplifier.document(text).text == text


# Displays


def test_the_repr_is_short(simplifier: Simplifier) -> None:
    long = off("An old man slept. " + "He was very tired. " * 50, "slept", "sat")
    result = simplifier(long)
    assert repr(result).startswith("Result('An old man")
    assert "edits=1/1" in repr(result)
    assert len(repr(result)) < 120
    document = simplifier.document(DOCUMENT)
    assert repr(document).startswith("Document(sentences=5, changed=5")
    assert len(repr(document)) < 120


def test_notebooks_show_changes_and_escape_html(simplifier: Simplifier) -> None:
    result = simplifier(off("The old <b> & I slept.", "old", "young"))
    shown = result._repr_html_()
    assert "<del> old</del>" in shown
    assert "<ins> young</ins>" in shown
    assert "&lt;b&gt;" in shown
    assert "&amp;" in shown
    assert "<b>" not in shown


def test_notebooks_show_the_marks_of_lists_and_the_warnings(simplifier: Simplifier) -> None:
    shown = simplifier.document("A man slept in 1990.\n- left\n", method="beam")._repr_html_()
    assert "<br>- " in shown
    assert "sentence 1: missing: 1990" in shown


# With the model of the package


@needs_weights
def test_out_of_the_box() -> None:
    simplifier = Simplifier(device="cpu")
    texts = ["The physician commenced the procedure.", "https://example.org/a", "They utilised the apparatus in 1990."]
    single = [simplifier(text) for text in texts]
    assert [facts(one) for one in simplifier(texts)] == [facts(one) for one in single]
    assert single[1].unchanged
    assert single[0].meaning is not None
    kept = simplifier(texts[0], keep=["physician"])
    assert "physician" in kept.text
    document = simplifier.document(f"{texts[0]}\n\n{texts[2]}")
    assert document.text == f"{single[0].text}\n\n{single[2].text}"
    assert simplifier(texts[0], config=DecodeConfig(method="beam", beams=2)).text
    with pytest.raises(ConfigError, match='style "poetry" is not known'):
        simplifier(texts[0], style="poetry")
    found = list(simplifier.pipe([texts[0], "half \ud83d"], on_error="return"))
    assert [type(one) for one in found] == [Result, PlanError]
