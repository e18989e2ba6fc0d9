"""`redraft align`: pairs of sentences in, links between their words out."""

from __future__ import annotations

import argparse
from typing import Any

from redraft.cli.talk import OK, add_command, say
from redraft.errors import ConfigError

_EXAMPLES = """\
examples:
  redraft align --input pairs.tsv > links.txt
  redraft align --input pairs.tsv --tokenized --aligner exact
  redraft align --gold wiki-test.tsv mtref-dev.tsv

A line of input is a source, a tab and a target. A line of output has their links, counted from 0: 0-0 2-1.
"""


def add_align(commands: Any) -> None:
    align = add_command(
        commands,
        "align",
        run_align,
        help="link the words of two sentences",
        usage="redraft align --input PAIRS.tsv [options]",
        about="Link the words of sentences with those of their rewritings.",
        examples=_EXAMPLES,
    )
    align.add_argument("--input", metavar="FILE", help="source ⇥ target on each line, UTF-8; - is standard input")
    align.add_argument("--tokenized", action="store_true", help="take words as they stand, separated by spaces")
    align.add_argument("--gold", metavar="FILE", nargs="+", default=[],
                       help="score instead: files of gold alignments, .tsv of MultiMWA or .json")  # fmt: skip
    add_aligner_options(align)


def add_aligner_options(parser: Any) -> None:
    """The options of every command that aligns."""
    parser.add_argument("--aligner", metavar="NAME", default="trained",
                        help="trained (default), vectors, or exact, which needs no weights")  # fmt: skip
    parser.add_argument("--encoder", metavar="NAME",
                        help="a folder of redraft train-aligner; for vectors, any encoder")  # fmt: skip
    parser.add_argument("--device", metavar="NAME", help="cpu, cuda, …; a GPU where there is one if not given")


def run_align(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    from redraft.align.aligners import make_aligner
    from redraft.align.links import shown_links
    from redraft.align.pairs import read_table

    if bool(options.input) == bool(options.gold):
        raise ConfigError("one of --input and --gold is needed.", "Add --input pairs.tsv; --help shows examples.")
    aligner = make_aligner(options.aligner, encoder=options.encoder, device=options.device)
    for path in options.gold:
        print(_scored(aligner, path))
    if options.input:
        pairs = read_table(options.input, tokenized=options.tokenized)
        for links in aligner.align(pair.words for pair in pairs):
            print(shown_links(links))
    if aligner.too_long:
        say(too_long_notice(aligner.too_long))
    return OK


def too_long_notice(pairs: int) -> str:
    return f"pairs too long for the encoder, aligned by equal words or in part: {pairs:,}"


def _scored(aligner: Any, path: str) -> str:
    from redraft.align.gold import read_gold
    from redraft.evaluate.alignment import score_different, score_links

    gold = read_gold(path)
    found = list(aligner.align((pair.source, pair.target) for pair in gold))
    scores, different = score_links(found, gold), score_different(found, gold)
    return (
        f"{path}: {len(gold):,} pairs  precision {scores.precision:.1f}  recall {scores.recall:.1f}  "
        f"F1 {scores.f1:.1f}  different words F1 {different.f1:.1f}"
    )
