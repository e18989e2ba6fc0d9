"""`redraft train-predictor`: a planner of your own, by the command that made the shipped one."""

from __future__ import annotations

import argparse
from typing import Any

from redraft.cli.talk import OK, add_command, say, whole_number
from redraft.errors import ConfigError

_EXAMPLES = """\
examples:
  redraft train-predictor --pairs pairs.tsv --leave-out asset --synonyms ppdb.txt.xz --difficulty words.tsv --out mine
  redraft plan predict --predictor mine --input complex.txt

Links are kept in DIR/links.jsonl. A run that was killed goes on when the same command is given again.
"""


def add_train_predictor(commands: Any) -> None:
    predictor = add_command(
        commands,
        "train-predictor",
        run_train_predictor,
        help="train what predicts plans, on sentence pairs",
        usage="redraft train-predictor --pairs FILE --synonyms FILE --difficulty FILE --out DIR [options]",
        about="Train what predicts plans: a lexical table, and a network that says what to do with each word.",
        examples=_EXAMPLES,
    )
    for name, metavar, text in (
        ("synonyms", "FILE", "word ⇥ word: what else may be written for a word"),
        ("difficulty", "FILE", "word ⇥ number from 1 to 6: how hard people find it"),
        ("out", "DIR", "where the predictor goes"),
        ("aligner", "DIR", "a folder of redraft train-aligner; if not given, what comes with the package"),
        ("usual-style", "TAG", "the style of plans for which none is asked; any if not given"),
        ("epochs", "N", "times that every pair is read"),
        ("seed", "N", "of order, turns and the network's first weights"),
        ("device", "NAME", "cpu, cuda, …; a GPU where there is one if not given"),
    ):
        predictor.add_argument(f"--{name}", metavar=metavar, help=text)
    predictor.add_argument("--pairs", metavar="FILE", action="append",
                           help="sentence pairs: tag ⇥ cased or lower ⇥ source ⇥ target, .xz or plain; may be given "
                                "again")  # fmt: skip
    predictor.add_argument("--leave-out", metavar="TAG", action="append", default=[],
                           help="pairs whose tag begins so are not used; may be given again")  # fmt: skip
    predictor.add_argument("--table", choices=("ranked", "counted"), default="ranked",
                           help="targets ranked, with synonyms (default), or as counted, like the paper's")  # fmt: skip


def run_train_predictor(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    for name in ("pairs", "synonyms", "difficulty", "out"):
        if getattr(options, name) is None:
            raise ConfigError(f"--{name} is missing.", "Add it; --help shows examples.")
    chosen: dict[str, Any] = {} if options.usual_style is None else {"usual": options.usual_style}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    from redraft.fit.lexicon import read_difficulty
    from redraft.fit.made_pairs import read_synonyms
    from redraft.fit.planner import train_planner
    from redraft.fit.predictor import PredictorTraining
    from redraft.fit.tagged_pairs import read_tagged

    train_planner(
        [pair for path in options.pairs for pair in read_tagged(path, options.leave_out)], options.out,
        PredictorTraining(**chosen),
        synonyms=read_synonyms(options.synonyms), difficulty=read_difficulty(options.difficulty),
        counted=options.table == "counted", aligner=options.aligner, device=options.device, say=say,
    )  # fmt: skip
    return OK
