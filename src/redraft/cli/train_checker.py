"""`redraft train-checker`: train a meaning check. The bundled checker was made with this command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Device, LeaveOut, Seed
from redraft.cli.console import OK, explain_full_disk, say, whole_number
from redraft.cli.typer_command import add_command, option

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-checker --pairs tagged.tsv.xz --leave-out asset --inference nli.tsv.xz \\
      --judged training/data/judged.jsonl.xz --out mine
  redraft check --checker mine --source complex.txt --output simple.txt

To train further from an earlier checker, add --start mine and give another --out.
To resume a stopped run from its last checkpoint, rerun the same command.
"""
_MAIN = ("pairs", "inference", "judged", "out", "steps", "device")


@dataclass(frozen=True, kw_only=True)
class TrainCheckerOptions:
    """Train the network that checks whether a rewritten sentence says the same as its source."""

    pairs: Annotated[
        list[str], option("sentence pairs: tag ⇥ cased or lower ⇥ source ⇥ target; plain or .xz", "FILE ...")
    ]
    leave_out: LeaveOut = field(default_factory=list)
    inference: Annotated[
        str, option("inference pairs: set ⇥ entailment, neutral, contradiction … ⇥ premise ⇥ hypothesis", "FILE")
    ]
    judged: Annotated[
        str, option("judged outputs, JSON Lines: by, source, output, altered, unsupported, lost, wrong", "FILE")
    ]
    out: Annotated[str, option("output folder of the checker", "DIR")]
    start: Annotated[
        str | None, option("checker to start from; pairs that raise its alarm do not count as equivalent", "DIR")
    ] = None
    steps: Annotated[str | None, option("training steps, in batches of 32 examples (default 6000)", "N")] = None
    seed: Seed = None
    device: Device = None


def add_train_checker(app: Typer) -> None:
    add_command(
        app, "train-checker", run_train_checker, TrainCheckerOptions,
        help="train the meaning check", examples=_EXAMPLES, main=_MAIN, panel="Train and tune",
    )  # fmt: skip


def run_train_checker(options: TrainCheckerOptions) -> int:
    """Run the command and return its exit status."""
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
    with explain_full_disk(options.out):
        train_checker(
            [pair for path in options.pairs for pair in read_tagged(path, options.leave_out)],
            list(read_inference(options.inference)), list(read_judged(options.judged)), options.out,
            CheckerTraining(**chosen), planner=planner, start=start, say=say,
        )  # fmt: skip
    return OK
