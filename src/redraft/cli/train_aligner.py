"""`redraft train-aligner`: an aligner of your own, by the command that made the shipped one."""

from __future__ import annotations

import argparse
from typing import Any

from redraft.cli.talk import OK, add_command, say, whole_number
from redraft.errors import ConfigError

_EXAMPLES = """\
examples:
  redraft train-aligner --gold DATA/alignment --encoder sentence-transformers/all-MiniLM-L6-v2 --out my-aligner
  redraft align --input pairs.tsv --encoder my-aligner

A run that was killed goes on from its last checkpoint when the same command is given again.
"""


def add_train_aligner(commands: Any) -> None:
    aligner = add_command(
        commands,
        "train-aligner",
        run_train_aligner,
        help="train a word aligner on gold alignments",
        usage="redraft train-aligner --gold DIR --encoder NAME --out DIR [options]",
        about="Train a word aligner on gold alignments.",
        examples=_EXAMPLES,
    )
    aligner.add_argument("--gold", metavar="DIR", help="the folder with the files of MultiMWA, Edinburgh++ and MSR RTE")
    aligner.add_argument("--encoder", metavar="NAME", help="the encoder to start from: a name on the hub or a folder")
    aligner.add_argument("--out", metavar="DIR", help="where the aligner goes")
    aligner.add_argument("--pairs", metavar="FILE", help="sentence pairs without links to learn more from: "
                         "tag ⇥ cased or lower ⇥ source ⇥ target, .xz or plain")  # fmt: skip
    aligner.add_argument("--leave-out", metavar="TAG", action="append", default=[],
                         help="pairs whose tag begins so are not used; may be given again")  # fmt: skip
    aligner.add_argument("--synonyms", metavar="FILE", help="word ⇥ word: replacements in made-up pairs")
    aligner.add_argument("--epochs", metavar="N", help="times that every pair is read")
    aligner.add_argument("--seed", metavar="N", help="of order, turns and the network's first weights")
    aligner.add_argument("--device", metavar="NAME", help="cpu, cuda, …; a GPU where there is one if not given")


def run_train_aligner(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    for name in ("gold", "encoder", "out"):
        if getattr(options, name) is None:
            raise ConfigError(f"--{name} is missing.", f"Add it; {_EXAMPLES.splitlines()[1].strip()}")
    if options.pairs is None and (options.leave_out or options.synonyms):
        raise ConfigError("--leave-out and --synonyms are about --pairs.", "Add --pairs FILE, or leave them out.")
    from redraft.fit.aligner import AlignerTraining, train_aligner
    from redraft.fit.plain_pairs import PlainPairs

    chosen: dict[str, Any] = {}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    plain = None
    if options.pairs is not None:
        plain = PlainPairs.read(options.pairs, options.synonyms, options.gold, options.leave_out)
    train_aligner(
        options.encoder, options.gold, options.out, AlignerTraining(**chosen), plain=plain, device=options.device,
        say=say,
    )  # fmt: skip
    return OK
