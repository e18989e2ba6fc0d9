"""`redraft train-checker`: a meaning check of your own, by the command that made the shipped one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Device, LeaveOut, Seed
from redraft.cli.console import OK, room_for, say, whole_number
from redraft.cli.typer_command import add_command, option

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-checker --pairs tagged.tsv.xz --leave-out asset --inference nli.tsv.xz \
    --judged training/data/judged.jsonl.xz --out mine
  redraft train-checker ... --start mine --out better
  redraft check --checker mine --source complex.txt --output simple.txt

A run that was killed goes on when the same command is given again.
"""


@dataclass(frozen=True, kw_only=True)
class TrainCheckerOptions:
    """Train the check that says whether a rewriting still says the same."""

    pairs: Annotated[
        list[str], option("sentence pairs: tag ⇥ cased or lower ⇥ source ⇥ target, .xz or plain", "FILE ...")
    ]
    leave_out: LeaveOut = field(default_factory=list)
    inference: Annotated[
        str, option("labelled pairs: set ⇥ entailment, neutral, contradiction … ⇥ premise ⇥ hypothesis", "FILE")
    ]
    judged: Annotated[
        str, option("judged rewritings: objects of by, source, output, altered, unsupported, lost, wrong", "FILE")
    ]
    out: Annotated[str, option("where the check goes", "DIR")]
    start: Annotated[str | None, option("a check to go on from; pairs that it suspects are not trusted", "DIR")] = None
    steps: Annotated[str | None, option("batches of 32 examples (default 6000)", "N")] = None
    seed: Seed = None
    device: Device = None


def add_train_checker(app: Typer) -> None:
    add_command(
        app, "train-checker", run_train_checker, TrainCheckerOptions,
        help="train the meaning check, on pairs and their corruptions", examples=_EXAMPLES, panel="Make your own",
    )  # fmt: skip


def run_train_checker(options: TrainCheckerOptions) -> int:
    """The command itself; returns the exit status."""
    chosen = {}
    if options.steps is not None:
        chosen["steps"] = whole_number("--steps", options.steps)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    from redraft.check.trained_checker import TrainedCheck
    from redraft.check.word_facts import WordFacts
    from redraft.fit.checker.checker_examples import read_inference, read_judged
    from redraft.fit.checker.checker_training import CheckerTraining, train_checker
    from redraft.fit.tagged_pairs import read_tagged
    from redraft.plan.planner import Planner

    planner = Planner.load(device=options.device)
    start = None
    if options.start is not None:
        start = TrainedCheck.load(options.start, planner.classifier, WordFacts.of_planner(planner))
    with room_for(options.out):
        train_checker(
            [pair for path in options.pairs for pair in read_tagged(path, options.leave_out)],
            list(read_inference(options.inference)), list(read_judged(options.judged)), options.out,
            CheckerTraining(**chosen), planner=planner, start=start, say=say,
        )  # fmt: skip
    return OK
