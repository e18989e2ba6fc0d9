"""`redraft train`: a model fine-tuned on pairs of sentences."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, UNFINISHED, room_for, say
from redraft.cli.settings_options import hints_of, parse_setting
from redraft.cli.typer_command import SettingOptions, add_command, option
from redraft.fit.rewriter.training_settings import RewriterTraining

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train --model facebook/bart-base --train pairs.tsv --valid valid.tsv --out my-model
  redraft train --model t5-small --train train.orig train.simp --valid valid.orig valid.simp.0 valid.simp.1 --out t5
  redraft train --model gpt2 --prompt "Simplify: {source} Simple:" --train pairs.tsv.xz --valid valid.tsv --out gpt
  redraft train --model facebook/bart-base --plans --train pairs.tsv --valid valid.tsv --out reads-plans
  redraft simplify --model my-model "They remain old ."

The same on several GPUs, by the launcher of accelerate:
  accelerate launch --multi_gpu -m redraft.cli train --model …

A run that was killed goes on from its last checkpoint when the same command is given again.
Exit status: 0 all went well, 2 a mistake in options or input, 3 the minutes were over, 130 interrupted.
"""


_WHAT = "What to train"


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Fine-tune a seq2seq or causal model on pairs of sentences, and keep the weights with the best SARI."""

    model: Annotated[
        str | None,
        option(
            "the model to start from: a name on the hub or a folder; the one that comes with the package if not given",
            "NAME",
            panel=_WHAT,
        ),
    ] = None
    train: Annotated[
        list[str],
        option(
            "source ⇥ target on each line, or a file of sources and one of targets; .xz is unpacked",
            "FILE ...",
            panel=_WHAT,
        ),
    ]
    valid: Annotated[
        list[str], option("the same; further columns or files are further references", "FILE ...", panel=_WHAT)
    ]
    out: Annotated[str, option("where the model goes, with its log, plot and checkpoint", "DIR", panel=_WHAT)]
    device: Annotated[str | None, option("cpu or cuda; a GPU where there is one if not given", "NAME", panel=_WHAT)] = (
        None
    )
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    settings: Annotated[
        dict[str, str],
        SettingOptions(RewriterTraining, {"How to train; docs/train.md says more": tuple(hints_of(RewriterTraining))}),
    ]


def add_train(app: Typer) -> None:
    add_command(
        app,
        "train",
        run_train,
        TrainOptions,
        help="fine-tune a model on pairs of sentences",
        examples=_EXAMPLES,
        panel="Make your own",
    )


def run_train(options: TrainOptions) -> int:
    """The command itself; returns the exit status."""
    settings = RewriterTraining(
        **{name: parse_setting(name, text, RewriterTraining) for name, text in options.settings.items()}
    )
    if not sys.stderr.isatty():
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
    from redraft.decode.model_loading import existing_bundled_rewriter
    from redraft.fit.rewriter.rewriter_training import train_rewriter

    with room_for(options.out):
        outcome = train_rewriter(
            options.model or str(existing_bundled_rewriter()),
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
