"""A self-contained HTML report: score table, intervals, plots, and the sentences where the systems differ most."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from redraft.evaluate.fkgl import Fkgl
from redraft.evaluate.measures import Array, tokenized
from redraft.evaluate.report.columns import (
    COLUMNS,
    best_systems,
    describe_comparison,
    figure_columns,
    format_interval,
    format_value,
)
from redraft.evaluate.report.plots import Point, escape, histograms, interval_plot, scatter
from redraft.evaluate.report.score_tables import heading, signatures
from redraft.evaluate.scores import Comparison, Scores
from redraft.text.word_diff import diff_words

_LISTED = 10  # sentences listed in each direction


def to_html(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> str:
    """The whole page. It has no scripts, and all corpus and system text is escaped."""
    style = files("redraft.evaluate.report").joinpath("page.css").read_text(encoding="utf-8")
    title = _join_names([system.name for system in systems])
    notices = dict.fromkeys(notice for system in systems for notice in (*system.corpus.notices, *system.notices))
    selected = _selected_sentences(systems)
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)} on {escape(systems[0].corpus.name)}</title>",
        f"<style>{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
        f'<p class="about">{escape(heading(systems))}</p>',
        _verdicts(comparisons),
        _table(systems),
        '<p class="key">Below each score: its 95 % bootstrap interval. The best score of a column is bold. '
        "Scores depend on the settings listed at the end.</p>",
        *(_sentences(systems, selected) if selected else ()),
        "<h2>Settings</h2>",
        *(f"<p><code>{escape(line)}</code></p>" for line in signatures(systems)),
        *(f"<p><code>{escape(line)}</code></p>" for line in dict.fromkeys(each.test for each in comparisons)),
        "<h2>About the files</h2>" if notices else "",
        *(f"<p>{escape(notice)}</p>" for notice in notices),
        "</body></html>\n",
    ])  # fmt: skip


def _sentences(systems: Sequence[Scores], selected: Sequence[int]) -> list[str]:
    """Plots of all sentences, then the selected sentences in full."""
    first, last = escape(systems[0].name), escape(systems[-1].name)
    return [
        "<h2>System comparison</h2>" if len(systems) > 1 else "<h2>Sentence scores</h2>",
        f'<div class="plots">{"".join(_plots(systems, set(selected)))}</div>',
        f"<h2>Where {last} and {first} differ most</h2>" if len(systems) > 1 else "<h2>Highest and lowest SARI</h2>",
        '<p class="key">Compared with the source: <ins>added</ins>, kept, <del>deleted</del>.</p>',
        *(_sentence(systems, row) for row in selected),
    ]


def _verdicts(comparisons: Sequence[Comparison]) -> str:
    items = [
        f'<li class="{"significant" if comparison.significant else ""}">{escape(describe_comparison(comparison))}</li>'
        for comparison in comparisons
        if comparison.figure in ("sari", "bleu", "bertscore", "fkgl")
    ]
    return f'<ul class="verdicts">{"".join(items)}</ul>' if items else ""


def _table(systems: Sequence[Scores]) -> str:
    names = figure_columns(systems)
    head = "".join(f'<th title="{escape(COLUMNS[name].about)}">{escape(COLUMNS[name].title)}</th>' for name in names)
    rows = []
    for system in systems:
        cells = [
            f'<td class="{"best" if system.name in best_systems(systems, name) else ""}">{format_value(system, name)}'
            f"<small>{format_interval(system, name)}</small></td>"
            for name in names
        ]
        rows.append(f"<tr><th>{escape(system.name)}</th>{''.join(cells)}</tr>")
    return (
        f'<div class="wide"><table><thead><tr><th></th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def _plots(systems: Sequence[Scores], linked: set[int]) -> list[str]:
    first = systems[0]
    plots = []
    if len(systems) > 1:
        for other in systems[1:]:
            x, y = first.by_sentence("sari"), other.by_sentence("sari")
            points = [
                Point(one, two, f"{source}\n{first.name}: {one:.1f}, {other.name}: {two:.1f}", _anchor(row, linked))
                for row, (one, two, source) in enumerate(zip(x, y, first.corpus.sources, strict=True))
            ]
            caption = (
                f"SARI of each sentence. {other.name} is above the line in {_count(y > x)}, "
                f"below in {_count(y < x)}, on it in {_count(y == x)}."
            )
            plots.append(_figure(scatter(points, f"SARI of {first.name}", f"SARI of {other.name}"), caption))
        rows = {system.name: _values(system, "sari") for system in systems if system.figures["sari"].interval}
        if rows:
            plots.append(_figure(interval_plot(rows, "SARI"), "Corpus SARI with 95 % intervals."))
    else:
        plots.append(_figure(histograms([("", first.by_sentence("sari"))], "SARI"), "SARI of each sentence."))
    texts = [("source", first.corpus.sources), *((system.name, system.outputs) for system in systems)]
    lengths = [(name, np.array([len(tokenized(text).split()) for text in rows], float)) for name, rows in texts]
    plots.append(_figure(histograms(lengths, "words"), "Sentence length in words, sources and outputs."))
    grades = [(name, _grades(rows)) for name, rows in texts]
    plots.append(
        _figure(histograms(grades, "FKGL"), "School grade of each sentence, sources and outputs; lower is easier.")
    )
    return plots


def _sentence(systems: Sequence[Scores], row: int) -> str:
    corpus = systems[0].corpus
    scores = " · ".join(f"{system.name} {system.by_sentence('sari')[row]:.1f}" for system in systems)
    lines = [
        f'<article id="s{row + 1}"><header><span>sentence {row + 1}</span><span>SARI: {escape(scores)}</span></header>',
        f'<p><span class="who">source</span><span>{escape(corpus.sources[row])}</span></p>',
    ]
    for system in systems:
        text = _diff_html(corpus.sources[row], system.outputs[row])
        lines.append(f'<p><span class="who">{escape(system.name)}</span><span>{text}</span></p>')
    references = "".join(f"<p>{escape(reference[row])}</p>" for reference in corpus.references)
    return "".join([*lines, f"<details><summary>references</summary>{references}</details></article>"])


def _diff_html(source: str, output: str) -> str:
    tags = {"added": "ins", "deleted": "del"}
    parts: list[str] = []
    for piece in diff_words(source, output):
        space = " " if piece.text.startswith(" ") else ""
        text, tag = escape(piece.text.removeprefix(" ")), tags.get(piece.kind)
        parts.append(f"{space or (' ' if parts and tag else '')}<{tag}>{text}</{tag}>" if tag else f"{space}{text}")
    return "".join(parts)


def _selected_sentences(systems: Sequence[Scores]) -> list[int]:
    """The sentences where the last system is furthest above and below the first; for one system, its best and worst."""
    if any("sari" not in system.figures for system in systems):
        return []
    gain = systems[-1].by_sentence("sari")
    if len(systems) > 1:
        gain = gain - systems[0].by_sentence("sari")
    order = np.argsort(-gain, kind="stable").tolist()
    best = [row for row in order[:_LISTED] if len(systems) == 1 or gain[row] > 0]
    worst = [row for row in order[::-1][:_LISTED] if (len(systems) == 1 or gain[row] < 0) and row not in best]
    return [*best, *worst]


def _anchor(row: int, linked: set[int]) -> str:
    return f"s{row + 1}" if row in linked else ""


def _values(system: Scores, name: str) -> tuple[float, float, float]:
    figure = system.figures[name]
    low, high = figure.interval or (0.0, 0.0)
    return figure.value or 0.0, low, high


def _grades(texts: Sequence[str]) -> Array:
    fkgl = Fkgl()
    return fkgl.figures(np.array([fkgl.count_one(text) for text in texts], dtype=float).reshape(-1, 3))["fkgl"]


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    return f"{int(where.sum()):,}"


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
