"""Trains a planner from sentence pairs: links them, makes the tables, trains the classifier above the aligner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from redraft.align.trained_aligner import TrainedAligner
from redraft.errors import ConfigError
from redraft.fit.linked_pairs import LinkedPair, link_pairs, read_linked
from redraft.fit.planner.classifier_training import ClassifierTraining, held_share, train_classifier
from redraft.fit.planner.lexicon_counts import count_complexity_ratios, count_pairs
from redraft.fit.planner.lexicon_training import counted_lexicon, make_lexicon, make_word_frequency
from redraft.fit.planner.target_counts import Targets, fit_ranker
from redraft.fit.synthetic_pairs import Synonyms
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.complexity_ratio import COMPLEXITY_RATIO
from redraft.plan.edit_classifier import Tables
from redraft.plan.planner import Planner
from redraft.progress_bar import Say

_RARE, _COMMON = 1.5, 4.5  # Zipf frequencies between which words get an entry for their synonyms alone


def train_planner(
    pairs: Sequence[TaggedPair], out: str | Path, settings: ClassifierTraining | None = None, *,
    synonyms: Synonyms, difficulty: Mapping[str, float], counted: bool = False, aligner: str | None = None,
    device: str | None = None, say: Say = print,
) -> Planner:  # fmt: skip
    """With `counted` the lexical table is the paper's: what was counted, and nothing else.

    Linking takes longest and goes on where it was stopped; so does the training. Tables are made again.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    settings = settings or ClassifierTraining()
    links = out / "links.jsonl"
    linker = TrainedAligner.load(aligner, device=device)
    _check_linker(out / "links.by", linker.digest)
    link_pairs(pairs, linker, links, say)

    def learned() -> Iterator[LinkedPair]:
        """All but what is held out, or the tables would know the answers."""
        return (pair for pair in read_linked(links) if held_share(pair.pair.source, settings) >= 1)

    counts, word_frequency = count_pairs(learned), make_word_frequency(difficulty)
    if counted:
        lexicon = counted_lexicon(counts)
    else:
        ranker = fit_ranker(Targets(counts, {word: set(others) for word, others in synonyms.items()}, word_frequency))
        more = [word for word in synonyms if _RARE < word_frequency.zipf(word) < _COMMON]
        lexicon = make_lexicon(counts, ranker, more)
    say(f"{len(lexicon):,} entries in the lexical table, {len(word_frequency):,} words with their frequency")
    count_complexity_ratios(pair.pair for pair in learned()).save(out / COMPLEXITY_RATIO)
    return train_classifier(
        read_linked(links), Tables(lexicon, word_frequency), out, settings, aligner=aligner, device=device, say=say
    )


def _check_linker(path: Path, linker: str) -> None:
    """Links are gone on with by the aligner that began them."""
    if path.exists() and path.read_text(encoding="utf-8") != linker:
        raise ConfigError(f"{path.parent} has links of another aligner.", "Delete the folder, or choose another --out.")
    path.write_text(linker, encoding="utf-8")
