"""`redraft bench`: how fast this machine rewrites, and what edits cost."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from redraft.cli.talk import OK, add_command, say, whole_number

if TYPE_CHECKING:
    from redraft.decode.decoded import Decoded

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

The benchmarks behind the published figures are in benchmarks/ of the repository.
"""


def add_bench(commands: Any) -> None:
    bench = add_command(
        commands, "bench", run_bench, help="how fast is this machine?", usage="redraft bench [options]",
        about="Rewrite a few sentences by plain beam search and by predicted plans, and print sentences a second.",
        examples=_EXAMPLES,
    )  # fmt: skip
    bench.add_argument("--model", metavar="NAME", help="as for redraft simplify")
    bench.add_argument("--device", metavar="NAME", help="cpu, cuda, …; a GPU where there is one if not given")
    bench.add_argument("--batch-size", metavar="N", default="8", help="sentences searched together (default 8)")
    bench.add_argument("--repeats", metavar="N", default="2", help=f"of {len(_SENTENCES)} sentences (default 2)")


def run_bench(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    batch_size = whole_number("--batch-size", options.batch_size)
    sources = list(_SENTENCES) * whole_number("--repeats", options.repeats)
    from redraft.constrain.planner import Planner
    from redraft.decode.config import PREDICTED, DecodeConfig
    from redraft.decode.redrafter import Redrafter
    from redraft.decode.simplifier import Simplifier

    redrafter = Redrafter(options.model, device=options.device)
    planned = Simplifier(redrafter, Planner.load(device=options.device))

    def rewrite(simplifier: Simplifier, **settings: Any) -> list[Decoded]:
        redrafter.config = DecodeConfig(**settings)
        return list(simplifier.stream(sources, batch_size=batch_size))

    say(f"{len(sources)} sentences, {batch_size} at a time, beam 20")
    beam = _seconds(lambda: rewrite(Simplifier(redrafter), method="beam"))
    plans = _seconds(lambda: rewrite(planned, **PREDICTED))
    print(f"plain beam search          {len(sources) / beam:8.2f} sentences a second")
    print(
        f"predicted and carried out  {len(sources) / plans:8.2f} sentences a second, {plans / beam:.2f} times as long"
    )
    return OK


def _seconds(work: Callable[[], object]) -> float:
    """The second of two runs: the first sets up libraries."""
    work()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
