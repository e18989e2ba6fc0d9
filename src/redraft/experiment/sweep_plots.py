"""Plots of the sweeps of an experiment."""

from __future__ import annotations

from collections.abc import Iterator

from redraft.evaluate.report.columns import COLUMNS
from redraft.evaluate.report.plots import alone, curves
from redraft.experiment.description import Description, Sweep
from redraft.experiment.experiment_scores import Results

_LABELS = {
    "delta": "δ", "lambda_insert": "λ of insertions", "lambda_delete": "λ of deletions",
    "lambda_substitute": "λ of substitutions", "lambdas": "all λ times", "edits": "edits a sentence",
}  # fmt: skip


def pictures(description: Description, results: Results) -> Iterator[tuple[str, str]]:
    """The name of each sweep that is done, and its picture."""
    for sweep in description.sweeps:
        points = [(run.value, results.swept(run)) for run in results.runs if run.sweep == sweep.name]
        if len(points) > 1:
            yield sweep.name, _picture(sweep, sorted(points, key=lambda point: point[0]))


def _picture(sweep: Sweep, points: list[tuple[float, dict[str, float]]]) -> str:
    rows = [
        (_title(figure), [(value, found[figure]) for value, found in points if figure in found])
        for figure in sweep.figures
    ]
    return alone(curves([row for row in rows if row[1]], _LABELS.get(sweep.setting, sweep.setting), marked=None))


def _title(figure: str) -> str:
    return "seconds a sentence" if figure == "seconds" else COLUMNS[figure].title
