"""`redraft train`: a model fine-tuned on pairs of sentences."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from redraft.cli.settings import add_setting, chosen_flags, hints_of, parse_setting
from redraft.cli.talk import OK, UNFINISHED, add_command, say
from redraft.errors import ConfigError
from redraft.fit.rewriter_settings import RewriterTraining

_EXAMPLES = """\
examples:
  redraft train --model facebook/bart-base --train pairs.tsv --valid valid.tsv --out my-model
  redraft train --model t5-small --train train.orig train.simp --valid valid.orig valid.simp.0 valid.simp.1 --out t5
  redraft train --model gpt2 --prompt "Simplify: {source} Simple:" --train pairs.tsv.xz --valid valid.tsv --out gpt
  redraft simplify --model my-model "They remain old ."

The same on several GPUs, by the launcher of accelerate:
  accelerate launch --multi_gpu -m redraft.cli train --model …

A run that was killed goes on from its last checkpoint when the same command is given again.
Exit status: 0 all went well, 2 a mistake in options or input, 3 the minutes were over, 130 interrupted.
"""


def add_train(commands: Any) -> None:
    train = add_command(
        commands,
        "train",
        run_train,
        help="fine-tune a model on pairs of sentences",
        usage="redraft train [--model NAME] --train FILE ... --valid FILE ... --out DIR [options]",
        about="Fine-tune a seq2seq or causal model on pairs of sentences, and keep the weights with the best SARI.",
        examples=_EXAMPLES,
    )
    what = train.add_argument_group("what to train")
    what.add_argument(
        "--model",
        metavar="NAME",
        help="the model to start from: a name on the hub or a folder; the one that comes with the package if not given",
    )
    what.add_argument("--train", metavar="FILE", nargs="+",
                      help="source ⇥ target on each line, or a file of sources and one of targets; "
                           ".xz is unpacked")  # fmt: skip
    what.add_argument("--valid", metavar="FILE", nargs="+",
                      help="the same; further columns or files are further references")  # fmt: skip
    what.add_argument("--out", metavar="DIR", help="where the model goes, with its log, plot and checkpoint")
    what.add_argument("--device", metavar="NAME", help="cpu or cuda; a GPU where there is one if not given")
    how = train.add_argument_group("how to train", "docs/train.md says more")
    for name in hints_of(RewriterTraining):
        add_setting(how, name, RewriterTraining)


def run_train(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    for name in ("train", "valid", "out"):
        if getattr(options, name) is None:
            raise ConfigError(f"--{name} is missing.", f"Add it; {_EXAMPLES.splitlines()[1].strip()}")
    flags = chosen_flags(options)
    settings = RewriterTraining(**{name: parse_setting(name, text, RewriterTraining) for name, text in flags.items()})
    if not sys.stderr.isatty():
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
    from redraft.decode.loading import shipped_model
    from redraft.fit.rewriter import train_rewriter

    outcome = train_rewriter(
        options.model or str(shipped_model()),
        options.train,
        options.valid,
        options.out,
        settings,
        device=options.device,
        say=say,
    )
    if not outcome.finished:
        say(f"the minutes are over at step {outcome.step:,}; the same command goes on from there")
        return UNFINISHED
    return OK
