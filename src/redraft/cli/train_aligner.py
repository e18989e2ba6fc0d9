"""`redraft train-aligner`: train a word aligner. The bundled aligner was made with this command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from redraft.cli.common_options import Device, Epochs10, PickledWeights, Seed, TrustRemoteCode
from redraft.cli.console import OK, explain_full_disk, say, whole_number
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from typer import Typer

_EXAMPLES = """\
examples:
  redraft train-aligner --gold DATA/alignment --encoder sentence-transformers/all-MiniLM-L6-v2 --out my-aligner
  redraft align --input pairs.tsv --encoder my-aligner

To resume a stopped run from its last checkpoint, rerun the same command.
"""
_MAIN = ("gold", "encoder", "out", "pairs", "epochs", "device")


@dataclass(frozen=True, kw_only=True)
class TrainAlignerOptions:
    """Train a word aligner on gold alignments and, optionally, on unaligned sentence pairs."""

    gold: Annotated[str, option("folder of gold alignments: MultiMWA, Edinburgh++ and MSR RTE", "DIR")]
    encoder: Annotated[str, option("encoder to start from: Hugging Face name or folder", "NAME")]
    out: Annotated[str, option("output folder of the aligner", "DIR")]
    pairs: Annotated[
        str | None,
        option(
            "additional sentence pairs without alignments: tag ⇥ cased or lower ⇥ source ⇥ target; plain or .xz",
            "FILE",
        ),
    ] = None
    leave_out: Annotated[
        list[str], option("exclude pairs whose tag, and gold files whose name, starts with TAG", "TAG ...")
    ] = field(default_factory=list)
    synonyms: Annotated[
        str | None, option("replacements for synthetic pairs: word ⇥ word on each line; requires --pairs", "FILE")
    ] = None
    epochs: Epochs10 = None
    seed: Seed = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False


def add_train_aligner(app: Typer) -> None:
    add_command(
        app, "train-aligner", run_train_aligner, TrainAlignerOptions, help="train a word aligner on gold alignments",
        examples=_EXAMPLES, main=_MAIN, panel="Train and tune",
    )  # fmt: skip


def run_train_aligner(options: TrainAlignerOptions) -> int:
    """Run the command and return its exit status."""
    if options.pairs is None and options.synonyms:
        raise ConfigError("--synonyms requires --pairs.", "Add --pairs FILE, or remove --synonyms.")
    from redraft.fit.aligner.aligner_training import AlignerTraining, train_aligner
    from redraft.fit.aligner.unlabelled_pairs import UnlabelledPairs

    chosen: dict[str, Any] = {}
    if options.epochs is not None:
        chosen["epochs"] = whole_number("--epochs", options.epochs)
    if options.seed is not None:
        chosen["seed"] = whole_number("--seed", options.seed, least=0)
    unlabelled = None
    if options.pairs is not None:
        unlabelled = UnlabelledPairs.read(options.pairs, options.synonyms, options.gold, options.leave_out)
    with explain_full_disk(options.out):
        train_aligner(
            options.encoder, options.gold, options.out, AlignerTraining(**chosen), leave_out=options.leave_out,
            unlabelled=unlabelled, device=options.device, say=say,
        )  # fmt: skip
    return OK
