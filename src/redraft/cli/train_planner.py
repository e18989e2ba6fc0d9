"""`redraft train-planner`: a planner of your own, by the command that made the shipped one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from redraft.cli.common_options import Device, Epochs, LeaveOut, Seed
from redraft.cli.console import OK, room_for, say, whole_number
from redraft.cli.typer_command import add_command, option

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-planner --pairs tagged.tsv --leave-out asset --synonyms ppdb.txt.xz --difficulty words.tsv --out mine
  redraft plan predict --planner mine --input complex.txt

Links are kept in DIR/links.jsonl. A run that was killed goes on when the same command is given again.
"""


@dataclass(frozen=True, kw_only=True)
class TrainPlannerOptions:
    """Train what predicts plans: a lexical table, and a network that says what to do with each word."""

    pairs: Annotated[
        list[str], option("sentence pairs: tag ⇥ cased or lower ⇥ source ⇥ target, .xz or plain", "FILE ...")
    ]
    leave_out: LeaveOut = field(default_factory=list)
    synonyms: Annotated[str, option("word ⇥ word: what else may be written for a word", "FILE")]
    difficulty: Annotated[str, option("word ⇥ number from 1 to 6: how hard people find it", "FILE")]
    out: Annotated[str, option("where the classifier goes", "DIR")]
    aligner: Annotated[
        str | None, option("a folder of redraft train-aligner; if not given, what comes with the package", "DIR")
    ] = None
    usual_style: Annotated[
        str | None, option("the style of plans for which none is asked; any if not given", "TAG")
    ] = None
    table: Annotated[
        Literal["ranked", "counted"],
        option("ranked: targets ranked, with synonyms (default); counted: as counted, like the paper's", "WHICH"),
    ] = "ranked"
    epochs: Epochs = None
    seed: Seed = None
    device: Device = None


def add_train_planner(app: Typer) -> None:
    add_command(
        app, "train-planner", run_train_planner, TrainPlannerOptions,
        help="train what predicts plans, on sentence pairs", examples=_EXAMPLES, panel="Make your own",
    )  # fmt: skip


def run_train_planner(options: TrainPlannerOptions) -> int:
    """The command itself; returns the exit status."""
    chosen: dict[str, Any] = {} if options.usual_style is None else {"usual": options.usual_style}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    from redraft.fit.planner.classifier_training import ClassifierTraining
    from redraft.fit.planner.lexicon_training import read_difficulty
    from redraft.fit.planner.planner_training import train_planner
    from redraft.fit.synthetic_pairs import read_synonyms
    from redraft.fit.tagged_pairs import read_tagged

    with room_for(options.out):
        train_planner(
            [pair for path in options.pairs for pair in read_tagged(path, options.leave_out)], options.out,
            ClassifierTraining(**chosen),
            synonyms=read_synonyms(options.synonyms), difficulty=read_difficulty(options.difficulty),
            counted=options.table == "counted", aligner=options.aligner, device=options.device, say=say,
        )  # fmt: skip
    return OK
