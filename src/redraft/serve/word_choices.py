"""Possible replacements for each word of a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from redraft.plan.edits import fold_phrase
from redraft.plan.planner import Planner
from redraft.serve.schemas import Choice, WordChoices
from redraft.text.function_words import is_content
from redraft.text.words import Word, normalise, split_words

_MAX_CHOICES = 6


def words_with_choices(source: str, planner: Planner | None) -> list[WordChoices]:
    return [
        WordChoices(text=word.text, start=word.start, end=word.end, choices=_choices(word, planner) if planner else [])
        for word in split_words(source)
    ]


def _choices(word: Word, planner: Planner) -> list[Choice]:
    """Common names first, then the targets of the lexicon, without those that would change the meaning."""
    entry = planner.classifier.tables.lexicon.entry_of([normalise(word.text)])
    probabilities = dict(entry.targets) if entry and is_content(word.text) else {}
    is_capitalized = word.text[:1].isupper()
    return [
        Choice(
            target=target[:1].upper() + target[1:] if is_capitalized else target,
            probability=probabilities.get(target, 0.0),
        )
        for target in islice(_targets(word.text, probabilities, planner), _MAX_CHOICES)
    ]


def _targets(word: str, probabilities: dict[str, float], planner: Planner) -> Iterator[str]:
    common_name = planner.common.entry(word)
    seen = {fold_phrase(word)}
    for target in (*(common_name.targets if common_name else ()), *probabilities):
        if fold_phrase(target) not in seen and planner.guard.refusal_reason(word, target) is None:
            seen.add(fold_phrase(target))
            yield target
