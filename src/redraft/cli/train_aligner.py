"""`redraft train-aligner`: an aligner of your own, by the command that made the shipped one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from redraft.cli.common_options import Device, Epochs, PickledWeights, Seed, TrustRemoteCode
from redraft.cli.console import OK, room_for, say, whole_number
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-aligner --gold DATA/alignment --encoder sentence-transformers/all-MiniLM-L6-v2 --out my-aligner
  redraft align --input pairs.tsv --encoder my-aligner

A run that was killed goes on from its last checkpoint when the same command is given again.
"""


@dataclass(frozen=True, kw_only=True)
class TrainAlignerOptions:
    """Train a word aligner on gold alignments."""

    gold: Annotated[str, option("the folder with the files of MultiMWA, Edinburgh++ and MSR RTE", "DIR")]
    encoder: Annotated[str, option("the encoder to start from: a name on the hub or a folder", "NAME")]
    out: Annotated[str, option("where the aligner goes", "DIR")]
    pairs: Annotated[
        str | None,
        option(
            "sentence pairs without links to learn more from: tag ⇥ cased or lower ⇥ source ⇥ target, .xz or plain",
            "FILE",
        ),
    ] = None
    leave_out: Annotated[
        list[str], option("pairs whose tag begins so, and gold files whose name does, are not used", "TAG ...")
    ] = field(default_factory=list)
    synonyms: Annotated[str | None, option("word ⇥ word: replacements in made-up pairs", "FILE")] = None
    epochs: Epochs = None
    seed: Seed = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_train_aligner(app: Typer) -> None:
    add_command(
        app, "train-aligner", run_train_aligner, TrainAlignerOptions, help="train a word aligner on gold alignments",
        examples=_EXAMPLES, panel="Make your own",
    )  # fmt: skip


def run_train_aligner(options: TrainAlignerOptions) -> int:
    """The command itself; returns the exit status."""
    if options.pairs is None and options.synonyms:
        raise ConfigError("--synonyms is about --pairs.", "Add --pairs FILE, or leave it out.")
    from redraft.fit.aligner.aligner_training import AlignerTraining, train_aligner
    from redraft.fit.aligner.unlabelled_pairs import PlainPairs

    chosen: dict[str, Any] = {}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    plain = None
    if options.pairs is not None:
        plain = PlainPairs.read(options.pairs, options.synonyms, options.gold, options.leave_out)
    with room_for(options.out):
        train_aligner(
            options.encoder, options.gold, options.out, AlignerTraining(**chosen), leave_out=options.leave_out,
            plain=plain, device=options.device, say=say,
        )  # fmt: skip
    return OK
