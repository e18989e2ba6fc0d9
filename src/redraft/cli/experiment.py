"""`redraft experiment`: many runs from one settings file, and tables of their scores."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Batch16, Data, Device, Dtype, Graphs, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, explain_full_disk, say, whole_number
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

To resume, rerun the same command: it repeats only runs whose plans or settings have changed.
docs/experiment.md describes the settings file.
Exit status: 0 all runs are done, 1 time limit reached, 2 error in options or input, 130 interrupted.
"""
_MAIN = ("out", "data", "into", "minutes", "device", "batch_size")
_REPORT_SECONDS = 60  # between progress messages
_BEGIN, _END = "<!-- redraft experiment: begin -->", "<!-- redraft experiment: end -->"


@dataclass(frozen=True, kw_only=True)
class ExperimentOptions:
    """Run all combinations of corpora, models, plans and methods in a settings file, and write tables of the scores."""

    file: Annotated[str, argument("settings file (TOML)", "FILE")]
    out: Annotated[str, option("output folder for plans, outputs, tables and plots", "DIR")]
    data: Data = None
    into: Annotated[
        str | None, option("Markdown file to insert the tables into, between its begin and end marks", "FILE")
    ] = None
    minutes: Annotated[str | None, option("time limit in minutes", "N")] = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    dtype: Dtype = None
    graphs: Graphs = False
    batch_size: Batch16 = "16"


def add_experiment(app: Typer) -> None:
    add_command(
        app, "experiment", run_experiment, ExperimentOptions,
        help="compare methods on corpora and write tables", examples=_EXAMPLES, main=_MAIN, panel="Measure",
    )  # fmt: skip


def run_experiment(options: ExperimentOptions) -> int:
    """Run the command and return its exit status."""
    until = math.inf
    if options.minutes is not None:
        until = time.monotonic() + 60 * whole_number("--minutes", options.minutes)
    batch_size = whole_number("--batch-size", options.batch_size)
    page = _read_page(options.into)
    from redraft.experiment.description import read_description
    from redraft.experiment.experiment_resources import ExperimentResources
    from redraft.experiment.runs import TimeLimitReached, all_runs

    description = read_description(options.file)
    resources = ExperimentResources(
        description, Path(options.out), data=options.data, device=options.device, batch_size=batch_size, say=say,
        dtype=options.dtype, graphs=options.graphs or None,
    )  # fmt: skip
    for corpus in description.corpora:
        resources.corpus(corpus)  # report missing files before computing anything
    runs, time_limit = all_runs(description), None
    with explain_full_disk(options.out, "finished sentences are kept, and the same command resumes"):
        try:
            _execute(resources, runs, until)
        except TimeLimitReached as error:
            time_limit = error
        _write_tables(resources, description, runs, Path(options.out), options.into, page)
    if time_limit is not None:
        say(str(time_limit))
    return OK if time_limit is None else 1


def _execute(resources: ExperimentResources, runs: list[Run], until: float) -> None:
    """Execute the runs, with a message about once a minute and at the end of each run."""
    last = time.monotonic()
    for number, run in enumerate(runs, 1):
        for done, total in resources.execute(run, until):
            if done == total or time.monotonic() - last > _REPORT_SECONDS:
                last = time.monotonic()
                say(f"run {number} of {len(runs)}, {run.name}: {done:,} of {total:,} sentences")


def _write_tables(
    resources: ExperimentResources, description: Description, runs: list[Run], out: Path, into: str | None, page: str
) -> None:
    from redraft.experiment.experiment_scores import Results
    from redraft.experiment.experiment_tables import all_tables
    from redraft.experiment.sweep_plots import plot_sweeps
    from redraft.files import atomic_write

    results = Results(resources, runs)
    tables = all_tables(description, results)
    texts = {out / "results.md": tables}
    texts |= {out / f"{name}.svg": picture for name, picture in plot_sweeps(description, results)}
    if into is not None:
        before, rest = page.split(_BEGIN, 1)
        texts[Path(into)] = f"{before}{_BEGIN}\n\n{tables}\n{_END}{rest.split(_END, 1)[1]}"
    for path, text in texts.items():
        with atomic_write(path) as file:
            file.write(text.encode("utf-8"))
    say(f"tables written to {out / 'results.md'}")


def _read_page(path: str | None) -> str:
    """The Markdown file that the tables are inserted into, checked before anything is computed."""
    if path is None:
        return ""
    try:
        page = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.", "Check the path.") from None
    if _BEGIN not in page or _END not in page.split(_BEGIN, 1)[1]:
        raise ConfigError(f"{path} has no marks for the tables.", f"Add the lines {_BEGIN} and {_END}.")
    return page
