"""The words of a sentence, each with what could be written for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from redraft.plan.edits import folded
from redraft.plan.planner import Planner
from redraft.serve.schemas import Choice, WordChoices
from redraft.text.function_words import is_content
from redraft.text.words import Word, normal, split_words

_MOST = 6


def words_with_choices(source: str, planner: Planner | None) -> list[WordChoices]:
    return [
        WordChoices(text=word.text, start=word.start, end=word.end, choices=_choices(word, planner) if planner else [])
        for word in split_words(source)
    ]


def _choices(word: Word, planner: Planner) -> list[Choice]:
    """Common names first, then what people write, but for targets that would change the meaning."""
    entry = planner.classifier.tables.lexicon.entry_of([normal(word.text)])
    shares = dict(entry.targets) if entry and is_content(word.text) else {}
    capital = word.text[:1].isupper()
    return [
        Choice(target=target[:1].upper() + target[1:] if capital else target, probability=shares.get(target, 0.0))
        for target in islice(_targets(word.text, shares, planner), _MOST)
    ]


def _targets(word: str, shares: dict[str, float], planner: Planner) -> Iterator[str]:
    name = planner.common.entry(word)
    seen = {folded(word)}
    for target in (*(name.targets if name else ()), *shares):
        if folded(target) not in seen and planner.guard.refused(word, target) is None:
            seen.add(folded(target))
            yield target
