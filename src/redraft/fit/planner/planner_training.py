"""Trains a planner on sentence pairs: aligns them, builds the tables, trains the edit classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from redraft.align.trained_aligner import TrainedAligner
from redraft.errors import ConfigError
from redraft.fit.linked_pairs import LinkedPair, link_pairs, read_linked
from redraft.fit.planner.classifier_training import ClassifierTraining, held_out_position, train_classifier
from redraft.fit.planner.lexicon_counts import count_complexity_ratios, count_pairs
from redraft.fit.planner.lexicon_training import counted_lexicon, make_lexicon, make_word_frequency
from redraft.fit.planner.target_counts import Targets, fit_ranker
from redraft.fit.synthetic_pairs import Synonyms
from redraft.fit.tagged_pairs import TaggedPair
from redraft.plan.complexity_ratio import COMPLEXITY_RATIO_FILE
from redraft.plan.edit_classifier import WordTables
from redraft.plan.planner import Planner
from redraft.progress_bar import Say

_MIN_ZIPF, _MAX_ZIPF = 1.5, 4.5  # of words that get an entry only because they have synonyms


def train_planner(
    pairs: Sequence[TaggedPair], out: str | Path, settings: ClassifierTraining | None = None, *,
    synonyms: Synonyms, difficulty: Mapping[str, float], counted: bool = False, aligner: str | None = None,
    device: str | None = None, say: Say = print,
) -> Planner:  # fmt: skip
    """Train a planner and write it to `out`.

    `counted`: build the lexical table as in the paper, from counts only. After a kill, aligning and training resume;
    the tables are built again.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    settings = settings or ClassifierTraining()
    links = out / "links.jsonl"
    loaded = TrainedAligner.load(aligner, device=device)
    _check_aligner(out / "links.by", loaded.digest)
    link_pairs(pairs, loaded, links, say)

    def training_pairs() -> Iterator[LinkedPair]:
        """Without held-out sources: their labels must not be in the tables."""
        return (pair for pair in read_linked(links) if held_out_position(pair.pair.source, settings) >= 1)

    counts, word_frequency = count_pairs(training_pairs), make_word_frequency(difficulty)
    if counted:
        lexicon = counted_lexicon(counts)
    else:
        ranker = fit_ranker(Targets(counts, {word: set(others) for word, others in synonyms.items()}, word_frequency))
        more = [word for word in synonyms if _MIN_ZIPF < word_frequency.zipf(word) < _MAX_ZIPF]
        lexicon = make_lexicon(counts, ranker, more)
    say(f"{len(lexicon):,} entries in the lexical table, {len(word_frequency):,} in the table of word frequencies")
    count_complexity_ratios(pair.pair for pair in training_pairs()).save(out / COMPLEXITY_RATIO_FILE)
    return train_classifier(
        read_linked(links), WordTables(lexicon, word_frequency), out, settings, aligner=aligner, device=device, say=say
    )


def _check_aligner(path: Path, digest: str) -> None:
    """Links must be continued by the aligner that started them."""
    if path.exists() and path.read_text(encoding="utf-8") != digest:
        raise ConfigError(f"{path.parent} has links of another aligner.", "Delete the folder, or choose another --out.")
    path.write_text(digest, encoding="utf-8")
