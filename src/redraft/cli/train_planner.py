"""`redraft train-planner`: train a planner. The bundled planner was made with this command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from redraft.cli.common_options import Device, Epochs2, LeaveOut, Seed
from redraft.cli.console import OK, explain_full_disk, say, whole_number
from redraft.cli.typer_command import add_command, option

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-planner --pairs tagged.tsv --leave-out asset --synonyms ppdb.txt.xz --difficulty words.tsv --out mine
  redraft plan predict --planner mine --input complex.txt

The word alignments are kept in DIR/links.jsonl. To resume a stopped run, rerun the same command.
"""
_MAIN = ("pairs", "synonyms", "difficulty", "out", "epochs", "device")


@dataclass(frozen=True, kw_only=True)
class TrainPlannerOptions:
    """Train a planner: a lexicon of substitutions and a network that predicts the edit of each word."""

    pairs: Annotated[
        list[str], option("sentence pairs: tag ⇥ cased or lower ⇥ source ⇥ target; plain or .xz", "FILE ...")
    ]
    leave_out: LeaveOut = field(default_factory=list)
    synonyms: Annotated[str, option("synonyms: word ⇥ word on each line", "FILE")]
    difficulty: Annotated[str, option("difficulty ratings: word ⇥ number from 1 to 6 on each line", "FILE")]
    out: Annotated[str, option("output folder of the planner", "DIR")]
    aligner: Annotated[
        str | None, option("aligner folder written by redraft train-aligner (default: the bundled aligner)", "DIR")
    ] = None
    default_style: Annotated[str | None, option("style used when simplify gets no --style (default any)", "TAG")] = None
    table: Annotated[
        Literal["ranked", "counted"],
        option(
            "lexicon: ranked (default): with synonyms, targets ranked; counted: counts only, as in the paper", "WHICH"
        ),
    ] = "ranked"
    epochs: Epochs2 = None
    seed: Seed = None
    device: Device = None


def add_train_planner(app: Typer) -> None:
    add_command(
        app, "train-planner", run_train_planner, TrainPlannerOptions,
        help="train a planner on sentence pairs", examples=_EXAMPLES, main=_MAIN, panel="Train and tune",
    )  # fmt: skip


def run_train_planner(options: TrainPlannerOptions) -> int:
    """Run the command and return its exit status."""
    chosen: dict[str, Any] = {} if options.default_style is None else {"default_style": options.default_style}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    from redraft.fit.planner.classifier_training import ClassifierTraining
    from redraft.fit.planner.lexicon_training import read_difficulty
    from redraft.fit.planner.planner_training import train_planner
    from redraft.fit.synthetic_pairs import read_synonyms
    from redraft.fit.tagged_pairs import read_tagged

    with explain_full_disk(options.out):
        train_planner(
            [pair for path in options.pairs for pair in read_tagged(path, options.leave_out)], options.out,
            ClassifierTraining(**chosen),
            synonyms=read_synonyms(options.synonyms), difficulty=read_difficulty(options.difficulty),
            counted=options.table == "counted", aligner=options.aligner, device=options.device, say=say,
        )  # fmt: skip
    return OK
