"""What a rewriter learns from and is validated with: read, checked and tokenized before any weights are loaded."""

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

PROMPT = "Simplify: {source}\nSimple:"  # of causal models, where none is given


@dataclass(frozen=True)
class TrainingData:
    """What is learned, what is validated, and what a causal model reads around a source."""

    examples: Examples
    valid: Corpus
    prompt: str | None
    facts: Facts  # digests and sizes, for the report
    pairs: list[TaggedPair]  # in words: what is learned
    checks: list[TaggedPair]  # and what is validated, with the first reference


def read_data(start: Start, train: Paths, valid: Paths, settings: RewriterTraining, say: Say = print) -> TrainingData:
    """Read and check all pairs, first their lines, then their lengths in tokens."""
    if settings.prompt is not None and not start.causal:
        raise ConfigError(
            f"prompt is for causal models, and {shown(start.name)} is none.",
            "Leave it out, or write it into the sources.",
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
        say(f"sources of --valid that are in --train too: {both:,}; SARI will be too kind for them")
    corpus = Corpus("valid", Path(checks.names[0]).name, checks.sources, checks.references)
    return TrainingData(
        examples.only(kept), corpus, prompt, facts, _tagged("train", pairs.only(kept)), _tagged("valid", checks)
    )


def _tagged(tag: str, pairs: PairSet) -> list[TaggedPair]:
    return [TaggedPair(tag, False, *pair) for pair in zip(pairs.sources, pairs.targets, strict=True)]


def _facts(name: str, pairs: PairSet, kept: int, say: Say) -> Facts:
    """What a report says about a set; what was left out of it is said aloud."""
    if pairs.skipped:
        say(f"--{name}: bad lines left out: {len(pairs.skipped):,}; the first: {pairs.skipped[0].problem}")
    if kept < len(pairs):
        say(f"--{name}: pairs left out because they are too long, or nothing in tokens: {len(pairs) - kept:,}")
    files = [[Path(name).name, digest] for name, digest in zip(pairs.names, pairs.digests, strict=True)]
    return {
        "files": files, "pairs": kept, "references": len(pairs.references),
        "bad_lines": len(pairs.skipped), "left_out": len(pairs) - kept,
    }  # fmt: skip
