"""Builds the lexical table and the table of word frequencies that belong to an edit classifier."""

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
from redraft.text.word_frequency import WordFrequency, WordStatistics

MIN_PROBABILITY = 0.002  # p(target | phrase) below which a target is dropped, as in the paper
_MAX_TARGETS = 6  # of a phrase
_MIN_SEEN = 3  # times; a rarer phrase without targets gets no entry


def make_lexicon(counts: Counts, ranker: Ranker, more: Iterable[str] = ()) -> Lexicon:
    """Entries for all counted phrases, and for the words of `more` that have candidates."""
    entries = {}
    for phrase in {*counts.seen, *more}:
        seen, replaced = counts.seen[phrase], counts.replaced(phrase)
        replacement_rate = (replaced + 1) / (seen + 1)  # smoothed: a phrase that was never replaced may still be
        targets = tuple(
            item for item in ranker.ranked(phrase)[:_MAX_TARGETS] if item[1] * replacement_rate >= MIN_PROBABILITY
        )
        if targets or seen >= _MIN_SEEN:
            entries[phrase] = Entry(seen, counts.deleted[phrase], replaced, targets)
    return Lexicon(entries)


def counted_lexicon(counts: Counts) -> Lexicon:
    """The table of the paper, from counts only."""
    entries = {}
    for phrase, seen in counts.seen.items():
        replaced = counts.replaced(phrase)
        targets = tuple(
            (text, times / replaced) for text, times in counts.targets.get(phrase, Counter()).most_common()
            if times >= MIN_PROBABILITY * seen
        )  # fmt: skip
        entries[phrase] = Entry(seen, counts.deleted[phrase], replaced, targets)
    return Lexicon(entries)


def make_word_frequency(difficulty: Mapping[str, float], words: int = 120_000) -> WordFrequency:
    """The most frequent English words according to `wordfreq`, and all words of `difficulty`."""
    try:
        from wordfreq import top_n_list, zipf_frequency
    except ImportError:
        raise ConfigError("wordfreq is not installed.", "Install it: pip install 'redraft[train]'.") from None
    vocabulary = {*top_n_list("en", words, wordlist="large"), *difficulty}
    return WordFrequency({
        word: WordStatistics(zipf_frequency(word, "en", wordlist="large"), difficulty.get(word))
        for word in vocabulary if not any(map(str.isspace, word))
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
            raise CorpusError(f"{path}, line {number}: {shown(value)} is not a number.", "Write word ⇥ number.")
    return found
