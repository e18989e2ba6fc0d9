"""`redraft experiment`: many runs from one settings file, and their tables."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Batch16, Data, Device, Dtype, Graphs, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, room_for, say, whole_number
from redraft.cli.typer_command import add_command, argument, option
from redraft.errors import ConfigError

if TYPE_CHECKING:
    from typer import Typer

    from redraft.experiment.description import Description
    from redraft.experiment.experiment_resources import ExperimentResources
    from redraft.experiment.runs import Run

_EXAMPLES = """\
examples:
  redraft experiment experiments/paper.toml --data DATA --out results
  redraft experiment experiments/paper.toml --data DATA --out results --minutes 8
  redraft experiment experiments/paper.toml --data DATA --out results --into docs/results.md

The same command goes on with what was stopped, and makes again only what was made from other plans or settings.
Exit status: 0 all is done, 1 the minutes are over before that, 2 a mistake in options or input, 130 interrupted.
"""
_SECONDS = 60  # from one notice to the next
_BEGIN, _END = "<!-- redraft experiment: begin -->", "<!-- redraft experiment: end -->"


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """Carry out all runs of a settings file: corpora × models × plans × methods; score them, write tables."""

    file: Annotated[str, argument("what is compared; docs/experiment.md describes it", "FILE")]
    out: Annotated[str, option("where plans, outputs, tables and plots go", "DIR")]
    data: Data = None
    into: Annotated[str | None, option("put the tables into this page as well, between its marks", "FILE")] = None
    minutes: Annotated[str | None, option("stop after so many; the same command goes on", "N")] = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    dtype: Dtype = None
    graphs: Graphs = False
    batch_size: Batch16 = "16"


def add_experiment(app: Typer) -> None:
    add_command(
        app, "experiment", run_experiment, ExperimentOptions,
        help="compare methods on corpora, as one file says, and write the tables", examples=_EXAMPLES, panel="Measure",
    )  # fmt: skip


def run_experiment(options: ExperimentOptions) -> int:
    """The command itself; returns the exit status."""
    until = math.inf
    if options.minutes is not None:
        until = time.monotonic() + 60 * whole_number("--minutes", options.minutes)
    batch_size = whole_number("--batch-size", options.batch_size)
    page = _page(options.into)
    from redraft.experiment.description import read_description
    from redraft.experiment.experiment_resources import ExperimentResources
    from redraft.experiment.runs import Paused, all_runs

    description = read_description(options.file)
    laboratory = ExperimentResources(
        description, Path(options.out), data=options.data, device=options.device, batch_size=batch_size, say=say,
        dtype=options.dtype, graphs=options.graphs,
    )  # fmt: skip
    for corpus in description.corpora:
        laboratory.corpus(corpus)  # all that is missing is found before anything is computed
    runs, paused = all_runs(description), None
    with room_for(options.out, "what is done is kept, and the same command goes on"):
        try:
            _carry_out(laboratory, runs, until)
        except Paused as error:
            paused = error
        _write(laboratory, description, runs, Path(options.out), options.into, page)
    if paused is not None:
        say(str(paused))
    return OK if paused is None else 1


def _carry_out(laboratory: ExperimentResources, runs: list[Run], until: float) -> None:
    """Each run tells when it is done, and how far it is now and then."""
    last = time.monotonic()
    for number, run in enumerate(runs, 1):
        for done, total in laboratory.carry_out(run, until):
            if done == total or time.monotonic() - last > _SECONDS:
                last = time.monotonic()
                say(f"run {number} of {len(runs)}, {run.name}: {done:,} of {total:,} sentences")


def _write(
    laboratory: ExperimentResources, description: Description, runs: list[Run], out: Path, into: str | None, page: str
) -> None:
    from redraft.experiment.experiment_scores import Results
    from redraft.experiment.experiment_tables import all_tables
    from redraft.experiment.sweep_plots import pictures
    from redraft.files import replacing

    results = Results(laboratory, runs)
    tables = all_tables(description, results)
    texts = {out / "results.md": tables}
    texts |= {out / f"{name}.svg": picture for name, picture in pictures(description, results)}
    if into is not None:
        before, rest = page.split(_BEGIN, 1)
        texts[Path(into)] = f"{before}{_BEGIN}\n\n{tables}\n{_END}{rest.split(_END, 1)[1]}"
    for path, text in texts.items():
        with replacing(path) as file:
            file.write(text.encode("utf-8"))
    say(f"tables in {out / 'results.md'}")


def _page(path: str | None) -> str:
    """The page that tables go into, checked before anything is computed."""
    if path is None:
        return ""
    try:
        page = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.", "Check the path.") from None
    if _BEGIN not in page or _END not in page.split(_BEGIN, 1)[1]:
        raise ConfigError(f"{path} has no marks.", f"Write {_BEGIN} and {_END} on lines of their own.")
    return page
