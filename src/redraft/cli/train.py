"""`redraft train`: fine-tune a model on sentence pairs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, UNFINISHED, explain_full_disk, require_package, say
from redraft.cli.settings_options import parse_setting
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

On several GPUs, start it with accelerate:
  accelerate launch --multi_gpu -m redraft.cli train --model …

To resume a stopped run from its last checkpoint, rerun the same command. docs/train.md explains the settings.
Exit status: 0 success, 2 error in options or input, 3 time limit reached, 130 interrupted.
"""
_MAIN = ("model", "train", "valid", "out", "plans", "epochs", "batch", "learning_rate", "minutes", "device")


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Fine-tune a seq2seq or causal model on sentence pairs. The weights with the best validation SARI are kept."""

    model: Annotated[
        str | None,
        option("model to start from: Hugging Face name or folder (default: the bundled model)", "NAME"),
    ] = None
    train: Annotated[
        list[str],
        option(
            "training pairs: one file with source ⇥ target on each line, or a source file and a target file; plain or "
            ".xz",
            "FILE ...",
        ),
    ]
    valid: Annotated[
        list[str],
        option("validation pairs, in the same form; more columns or files are more references", "FILE ..."),
    ]
    out: Annotated[str, option("output folder for the model, its log, plot and checkpoint", "DIR")]
    device: Annotated[str | None, option("cpu or cuda (default: a GPU if there is one)", "NAME")] = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    settings: Annotated[dict[str, str], SettingOptions(RewriterTraining)]


def add_train(app: Typer) -> None:
    add_command(
        app, "train", run_train, TrainOptions, help="fine-tune a model on sentence pairs", examples=_EXAMPLES,
        main=_MAIN, panel="Train and tune",
    )  # fmt: skip


def run_train(options: TrainOptions) -> int:
    """Run the command and return its exit status."""
    settings = RewriterTraining(
        **{name: parse_setting(name, text, RewriterTraining) for name, text in options.settings.items()}
    )
    require_package("accelerate", "redraft train", "train")  # the imports below take several seconds
    if not sys.stderr.isatty():
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # type: ignore[no-untyped-call]
    from redraft.decode.model_loading import require_bundled_rewriter
    from redraft.fit.rewriter.rewriter_training import train_rewriter

    with explain_full_disk(options.out):
        outcome = train_rewriter(
            options.model or str(require_bundled_rewriter()),
            options.train,
            options.valid,
            options.out,
            settings,
            device=options.device,
            say=say,
        )
    if not outcome.finished:
        say(f"time limit reached at step {outcome.step:,}; rerun the same command to resume")
        return UNFINISHED
    return OK
