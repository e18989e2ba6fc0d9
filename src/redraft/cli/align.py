"""`redraft align`: pairs of sentences in, links between their words out."""

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

A line of input is a source, a tab and a target. A line of output has their links, counted from 0: 0-0 2-1.
"""


@dataclass(frozen=True, kw_only=True)
class AlignOptions:
    """Link the words of sentences with those of their rewritings."""

    input: Annotated[str | None, option("source ⇥ target on each line, UTF-8; - is standard input", "FILE")] = None
    tokenized: Annotated[bool, option("take words as they stand, separated by spaces")] = False
    gold: Annotated[
        list[str], option("score instead: files of gold alignments, .tsv of MultiMWA or .json", "FILE ...")
    ] = field(default_factory=list)
    aligner: Aligner = "trained"
    encoder: Encoder = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_align(app: Typer) -> None:
    add_command(
        app, "align", run_align, AlignOptions, help="link the words of two sentences", examples=_EXAMPLES, panel="Plans"
    )


def run_align(options: AlignOptions) -> int:
    """The command itself; returns the exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.links import shown_links
    from redraft.align.sentence_pairs import read_table

    if bool(options.input) == bool(options.gold):
        raise ConfigError("one of --input and --gold is needed.", "Add --input pairs.tsv; --help shows examples.")
    aligner = make_aligner(options.aligner, encoder=options.encoder, device=options.device)
    for path in options.gold:
        print(visible(_scored(aligner, path)))
    if options.input:
        pairs = read_table(options.input, tokenized=options.tokenized)
        for links in aligner.align(pair.words for pair in pairs):
            print(shown_links(links), flush=True)  # a kill leaves whole lines
    if aligner.too_long:
        say(too_long_notice(aligner.too_long))
    return OK


def too_long_notice(pairs: int) -> str:
    return f"pairs too long for the encoder, aligned by equal words or in part: {pairs:,}"


def _scored(aligner: Any, path: str) -> str:
    from redraft.align.gold_alignments import read_gold
    from redraft.evaluate.alignment_scores import score_different, score_links

    gold = read_gold(path)
    found = list(aligner.align((pair.source, pair.target) for pair in gold))
    scores, different = score_links(found, gold), score_different(found, gold)
    return (
        f"{path}: {len(gold):,} pairs  precision {scores.precision:.1f}  recall {scores.recall:.1f}  "
        f"F1 {scores.f1:.1f}  different words F1 {different.f1:.1f}"
    )
