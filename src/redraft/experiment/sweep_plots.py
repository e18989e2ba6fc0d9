"""Plots of the sweeps of an experiment."""

from __future__ import annotations

from collections.abc import Iterator

from redraft.evaluate.report.columns import COLUMNS
from redraft.evaluate.report.plots import line_plot, standalone_svg
from redraft.experiment.description import Description, Sweep
from redraft.experiment.experiment_scores import Results

_LABELS = {
    "delta": "δ", "lambda_insert": "λ of insertions", "lambda_delete": "λ of deletions",
    "lambda_substitute": "λ of substitutions", "lambdas": "factor of all λ", "edits": "edits per sentence",
}  # fmt: skip


def plot_sweeps(description: Description, results: Results) -> Iterator[tuple[str, str]]:
    """The name and SVG plot of each sweep with at least two completed runs."""
    for sweep in description.sweeps:
        points = [(run.value, results.sweep_figures(run)) for run in results.runs if run.sweep == sweep.name]
        if len(points) > 1:
            yield sweep.name, _plot(sweep, sorted(points, key=lambda point: point[0]))


def _plot(sweep: Sweep, points: list[tuple[float, dict[str, float]]]) -> str:
    rows = [
        (_title(figure), [(value, found[figure]) for value, found in points if figure in found])
        for figure in sweep.figures
    ]
    return standalone_svg(
        line_plot([row for row in rows if row[1]], _LABELS.get(sweep.setting, sweep.setting), marked=None)
    )


def _title(figure: str) -> str:
    return "seconds per sentence" if figure == "seconds" else COLUMNS[figure].title
