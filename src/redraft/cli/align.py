"""`redraft align`: sentence pairs in, word alignments out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from redraft.cli.common_options import Aligner, Device, Encoder, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, say, visible
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft align --input pairs.tsv > links.txt
  redraft align --input pairs.tsv --tokenized --aligner exact
  redraft align --gold wiki-test.tsv mtref-dev.tsv

An input line contains a source, a tab and a target. An output line contains the aligned word pairs, numbered from 0:
0-0 2-1.
"""
_MAIN = ("input", "tokenized", "gold", "aligner", "device")


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """Align the words of sentences with the words of their simplified versions."""

    input: Annotated[str | None, option("UTF-8 text, source ⇥ target on each line; - reads standard input", "FILE")] = (
        None
    )
    tokenized: Annotated[bool, option("the input is tokenized: split it at spaces only")] = False
    gold: Annotated[
        list[str],
        option(
            "score the aligner on gold alignments (MultiMWA .tsv, or .json) instead of aligning --input", "FILE ..."
        ),
    ] = field(default_factory=list)
    aligner: Aligner = "trained"
    encoder: Encoder = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_align(app: Typer) -> None:
    add_command(
        app, "align", run_align, AlignOptions, help="align the words of sentence pairs", examples=_EXAMPLES, main=_MAIN,
        panel="Plans",
    )  # fmt: skip


def run_align(options: AlignOptions) -> int:
    """Run the command and return its exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.links import format_links
    from redraft.align.sentence_pairs import read_table

    if bool(options.input) == bool(options.gold):
        raise ConfigError("exactly one of --input and --gold is required.", "For example: --input pairs.tsv")
    aligner = make_aligner(options.aligner, encoder=options.encoder, device=options.device)
    for path in options.gold:
        print(visible(_scored(aligner, path)))
    if options.input:
        pairs = read_table(options.input, tokenized=options.tokenized)
        for links in aligner.align(pair.words for pair in pairs):
            print(format_links(links), flush=True)  # a killed run leaves only whole lines
    if aligner.too_long:
        say(too_long_notice(aligner.too_long))
    return OK


def too_long_notice(pairs: int) -> str:
    return f"pairs longer than the encoder's input, aligned by equal words or only in part: {pairs:,}"


def _scored(aligner: Any, path: str) -> str:
    from redraft.align.gold_alignments import read_gold
    from redraft.evaluate.alignment_scores import score_links, score_non_identical

    gold = read_gold(path)
    predicted = list(aligner.align((pair.source, pair.target) for pair in gold))
    scores, different = score_links(predicted, gold), score_non_identical(predicted, gold)
    return (
        f"{path}: {len(gold):,} pairs  precision {scores.precision:.1f}  recall {scores.recall:.1f}  "
        f"F1 {scores.f1:.1f}  different words F1 {different.f1:.1f}"
    )
