"""Training and validation data of a rewriter, read, checked and tokenized before any weights are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redraft.decode.transformers_steps import position_limit
from redraft.errors import ConfigError, shown
from redraft.evaluate.corpora import Corpus
from redraft.fit.rewriter.pair_files import PairSet, Paths, read_pairs
from redraft.fit.rewriter.run_folder import Facts
from redraft.fit.rewriter.token_batches import Examples, make_examples, usable_rows
from redraft.fit.rewriter.trainable_models import Start
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.fit.tagged_pairs import TaggedPair
from redraft.progress_bar import Say

PROMPT = "Simplify: {source}\nSimple:"  # the default for causal models


@dataclass(frozen=True)
class TrainingData:
    """Examples for training, a corpus for validation, and the prompt of a causal model."""

    examples: Examples
    valid: Corpus
    prompt: str | None
    facts: Facts  # digests and sizes, for the report
    pairs: list[TaggedPair]  # the training pairs as text
    checks: list[TaggedPair]  # the validation pairs as text, with the first reference


def read_data(start: Start, train: Paths, valid: Paths, settings: RewriterTraining, say: Say = print) -> TrainingData:
    """Read and check all pairs: first the lines, then their lengths in tokens."""
    if settings.prompt is not None and not start.causal:
        raise ConfigError(
            f"prompt is only for causal models, and {shown(start.name)} is not one.",
            "Omit it, or write it into the sources.",
        )
    prompt = (settings.prompt or PROMPT) if start.causal else None
    pairs = read_pairs(train, on_error=settings.on_error)
    checks = read_pairs(valid, more_references=True, on_error=settings.on_error)
    examples = make_examples(start, pairs.sources, pairs.targets, prompt)
    kept = usable_rows(examples, pairs, settings, position_limit(start))
    sources = make_examples(start, checks.sources, None, prompt)
    able = usable_rows(sources, checks, settings, position_limit(start))
    facts = {"train": _facts("train", pairs, len(kept), say), "valid": _facts("valid", checks, len(able), say)}
    checks = checks.only(able[: settings.valid_sentences])
    both = len(set(checks.sources) & set(pairs.sources))
    if both:
        say(f"sources of --valid that are also in --train: {both:,}; their SARI will be too high")
    corpus = Corpus("valid", Path(checks.names[0]).name, checks.sources, checks.references)
    return TrainingData(
        examples.only(kept), corpus, prompt, facts, _tagged("train", pairs.only(kept)), _tagged("valid", checks)
    )


def _tagged(tag: str, pairs: PairSet) -> list[TaggedPair]:
    return [TaggedPair(tag, False, *pair) for pair in zip(pairs.sources, pairs.targets, strict=True)]


def _facts(name: str, pairs: PairSet, kept: int, say: Say) -> Facts:
    """Facts about a set for the report; pairs that were left out are also reported to the user."""
    if pairs.skipped:
        say(f"--{name}: invalid lines left out: {len(pairs.skipped):,}; the first: {pairs.skipped[0].problem}")
    if kept < len(pairs):
        say(f"--{name}: pairs left out because they are too long or have no tokens: {len(pairs) - kept:,}")
    files = [[Path(name).name, digest] for name, digest in zip(pairs.names, pairs.digests, strict=True)]
    return {
        "files": files, "pairs": kept, "references": len(pairs.references),
        "bad_lines": len(pairs.skipped), "left_out": len(pairs) - kept,
    }  # fmt: skip
