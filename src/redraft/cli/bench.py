"""`redraft bench`: rewriting speed on this machine, with and without edits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Batch8, Device, Model, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, say, whole_number
from redraft.cli.typer_command import add_command, option

if TYPE_CHECKING:
    from typer import Typer

    from redraft.decode.result import Result

_SENTENCES = (
    "The physician commenced the procedure in 1990.",
    "They purchased approximately 40 vehicles for the municipality.",
    "Numerous inhabitants were compelled to relocate as a consequence of the inundation.",
    "The committee resolved to postpone the festival until September, owing to inclement weather.",
)
_EXAMPLES = """\
examples:
  redraft bench
  redraft bench --device cuda --batch-size 64 --repeats 16

The benchmarks of the published figures are in the folder benchmarks/ of the repository.
"""


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """Measure sentences per second with plain beam search and with predicted plans."""

    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    batch_size: Batch8 = "8"
    repeats: Annotated[str, option(f"how often to repeat the {len(_SENTENCES)} test sentences (default 2)", "N")] = "2"


def add_bench(app: Typer) -> None:
    add_command(
        app, "bench", run_bench, BenchOptions, help="measure the speed on this machine", examples=_EXAMPLES,
        main=("model", "device", "batch_size", "repeats"), panel="Measure",
    )  # fmt: skip


def run_bench(options: BenchOptions) -> int:
    """Run the command and return its exit status."""
    batch_size = whole_number("--batch-size", options.batch_size)
    sources = list(_SENTENCES) * whole_number("--repeats", options.repeats)
    from redraft.decode.config import SIMPLIFY, DecodeConfig
    from redraft.decode.model_loading import fastest_dtype
    from redraft.decode.redrafter import Redrafter
    from redraft.plan.planner import Planner
    from redraft.simplify.simplifier import Simplifier

    dtype = fastest_dtype(options.model, options.device)
    redrafter = Redrafter(options.model, config=DecodeConfig(**SIMPLIFY), device=options.device, dtype=dtype)
    planned = Simplifier(redrafter, Planner.load(device=options.device), check=None)
    plain = Simplifier(redrafter, search_only=True, config=DecodeConfig(method="beam", beams=SIMPLIFY["beams"]))

    def rewrite(simplifier: Simplifier) -> list[Result]:
        return list(simplifier.pipe(sources, batch_size=batch_size))

    say(f"{len(sources)} sentences, batch size {batch_size}, beam size {SIMPLIFY['beams']}")
    beam = _seconds(lambda: rewrite(plain))
    plans = _seconds(lambda: rewrite(planned))
    print(f"plain beam search     {len(sources) / beam:8.2f} sentences per second")
    print(f"with predicted plans  {len(sources) / plans:8.2f} sentences per second ({plans / beam:.2f} times the time)")
    return OK


def _seconds(work: Callable[[], object]) -> float:
    """The duration of the second of two runs: the first one initialises libraries."""
    work()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
