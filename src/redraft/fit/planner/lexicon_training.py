"""Makes the lexical table and the table of common words that come with a classifier."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from redraft.errors import ConfigError, CorpusError, shown
from redraft.fit.planner.lexicon_counts import Counts
from redraft.fit.planner.target_counts import Ranker
from redraft.plan.lexicon import Entry, Lexicon
from redraft.reading import numbered_lines
from redraft.text.word_frequency import Known, WordFrequency

LEAST = 0.002  # p(target | phrase) under which a target is dropped, as in the paper
_TARGETS = 6  # kept for a phrase
_SEEN = 3  # times, of a phrase without targets


def make_lexicon(counts: Counts, ranker: Ranker, more: Iterable[str] = ()) -> Lexicon:
    """Entries for all that was counted, and for the words of `more` that have candidates."""
    entries = {}
    for phrase in {*counts.seen, *more}:
        seen, replaced = counts.seen[phrase], counts.replaced(phrase)
        often = (replaced + 1) / (seen + 1)  # a phrase that was never replaced may be
        targets = tuple(item for item in ranker.ranked(phrase)[:_TARGETS] if item[1] * often >= LEAST)
        if targets or seen >= _SEEN:
            entries[phrase] = Entry(seen, counts.deleted[phrase], replaced, targets)
    return Lexicon(entries)


def counted_lexicon(counts: Counts) -> Lexicon:
    """The paper's table: nothing but what was counted."""
    entries = {}
    for phrase, seen in counts.seen.items():
        replaced = counts.replaced(phrase)
        targets = tuple(
            (text, times / replaced) for text, times in counts.targets.get(phrase, Counter()).most_common()
            if times >= LEAST * seen
        )  # fmt: skip
        entries[phrase] = Entry(seen, counts.deleted[phrase], replaced, targets)
    return Lexicon(entries)


def make_word_frequency(difficulty: Mapping[str, float], words: int = 120_000) -> WordFrequency:
    """The commonest words of English by `wordfreq`, and all words of `difficulty`."""
    try:
        from wordfreq import top_n_list, zipf_frequency
    except ImportError:
        raise ConfigError("the package wordfreq is not installed.", "Type pip install 'redraft[train]'.") from None
    chosen = {*top_n_list("en", words, wordlist="large"), *difficulty}
    return WordFrequency({
        word: Known(zipf_frequency(word, "en", wordlist="large"), difficulty.get(word))
        for word in chosen if not any(map(str.isspace, word))
    })  # fmt: skip


def read_difficulty(path: str | Path) -> dict[str, float]:
    """word ⇥ number from 1 to 6 on each line."""
    found = {}
    for number, line in numbered_lines(path):
        word, _, value = line.partition("\t")
        try:
            found[word.lower()] = hard = float(value)
        except ValueError:
            hard = math.nan
        if not math.isfinite(hard):
            raise CorpusError(f"{path}, line {number}: {shown(value)} is no number.", "Write word ⇥ number.")
    return found
