"""One page that needs nothing else: table, intervals, plots, and the sentences where the systems differ most."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from redraft.evaluate.fkgl import Fkgl
from redraft.evaluate.measures import Array, tokenized
from redraft.evaluate.report.columns import (
    COLUMNS,
    best_of,
    said,
    shown_columns,
    shown_interval,
    shown_value,
)
from redraft.evaluate.report.plots import Point, escape, histograms, scatter, whiskers
from redraft.evaluate.report.score_tables import heading, signatures
from redraft.evaluate.scores import Comparison, Scores
from redraft.text.word_diff import diff_words

_SHOWN = 10  # sentences in each direction


def to_html(systems: Sequence[Scores], comparisons: Sequence[Comparison] = ()) -> str:
    """The whole page, without scripts: text of a corpus or a system can only ever be shown."""
    style = files("redraft.evaluate.report").joinpath("page.css").read_text(encoding="utf-8")
    title = _listed([system.name for system in systems])
    notices = dict.fromkeys(notice for system in systems for notice in (*system.corpus.notices, *system.notices))
    picked = _picked(systems)
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
        '<p class="key">Below each figure the interval that holds 95 % of its values when the sentences are drawn '
        "anew; the best of a column is bold. Figures depend on their settings, listed at the end.</p>",
        *(_sentences(systems, picked) if picked else ()),
        "<h2>Settings</h2>",
        *(f"<p><code>{escape(line)}</code></p>" for line in signatures(systems)),
        *(f"<p><code>{escape(line)}</code></p>" for line in dict.fromkeys(each.test for each in comparisons)),
        "<h2>About the files</h2>" if notices else "",
        *(f"<p>{escape(notice)}</p>" for notice in notices),
        "</body></html>\n",
    ])  # fmt: skip


def _sentences(systems: Sequence[Scores], picked: Sequence[int]) -> list[str]:
    """Plots of all sentences, and some to read."""
    first, last = escape(systems[0].name), escape(systems[-1].name)
    return [
        "<h2>Side by side</h2>" if len(systems) > 1 else "<h2>Sentence by sentence</h2>",
        f'<div class="plots">{"".join(_plots(systems, set(picked)))}</div>',
        f"<h2>Where {last} and {first} differ most</h2>" if len(systems) > 1 else "<h2>Highest and lowest SARI</h2>",
        '<p class="key">Against the source: <ins>added</ins>, kept, <del>deleted</del>.</p>',
        *(_sentence(systems, row) for row in picked),
    ]


def _verdicts(comparisons: Sequence[Comparison]) -> str:
    items = [
        f'<li class="{"sure" if comparison.sure else "unsure"}">{escape(said(comparison))}</li>'
        for comparison in comparisons
        if comparison.figure in ("sari", "bleu", "bertscore", "fkgl")
    ]
    return f'<ul class="verdicts">{"".join(items)}</ul>' if items else ""


def _table(systems: Sequence[Scores]) -> str:
    names = shown_columns(systems)
    head = "".join(f'<th title="{escape(COLUMNS[name].about)}">{escape(COLUMNS[name].title)}</th>' for name in names)
    rows = []
    for system in systems:
        cells = [
            f'<td class="{"best" if system.name in best_of(systems, name) else ""}">{shown_value(system, name)}'
            f"<small>{shown_interval(system, name)}</small></td>"
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
                f"below in {_count(y < x)}, level in {_count(y == x)}."
            )
            plots.append(_figure(scatter(points, f"SARI of {first.name}", f"SARI of {other.name}"), caption))
        rows = {system.name: _values(system, "sari") for system in systems if system.figures["sari"].interval}
        if rows:
            plots.append(_figure(whiskers(rows, "SARI"), "SARI of the corpus with intervals of 95 %."))
    else:
        plots.append(_figure(histograms([("", first.by_sentence("sari"))], "SARI"), "SARI of each sentence."))
    texts = [("source", first.corpus.sources), *((system.name, system.outputs) for system in systems)]
    lengths = [(name, np.array([len(tokenized(text).split()) for text in rows], float)) for name, rows in texts]
    plots.append(_figure(histograms(lengths, "words"), "Length of each sentence, before and after."))
    grades = [(name, _grades(rows)) for name, rows in texts]
    plots.append(
        _figure(histograms(grades, "FKGL"), "School grade of each sentence, before and after: left is easier.")
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
        text = _marked(corpus.sources[row], system.outputs[row])
        lines.append(f'<p><span class="who">{escape(system.name)}</span><span>{text}</span></p>')
    references = "".join(f"<p>{escape(reference[row])}</p>" for reference in corpus.references)
    return "".join([*lines, f"<details><summary>references</summary>{references}</details></article>"])


def _marked(source: str, output: str) -> str:
    tags = {"added": "ins", "deleted": "del"}
    parts: list[str] = []
    for piece in diff_words(source, output):
        gap = " " if piece.text.startswith(" ") else ""
        text, tag = escape(piece.text.removeprefix(" ")), tags.get(piece.kind)
        parts.append(f"{gap or (' ' if parts and tag else '')}<{tag}>{text}</{tag}>" if tag else f"{gap}{text}")
    return "".join(parts)


def _picked(systems: Sequence[Scores]) -> list[int]:
    """Sentences to read: where the last system gains most on the first and where it loses most; or of one, the ends."""
    if any("sari" not in system.figures for system in systems):
        return []
    gain = systems[-1].by_sentence("sari")
    if len(systems) > 1:
        gain = gain - systems[0].by_sentence("sari")
    order = np.argsort(-gain, kind="stable").tolist()
    best = [row for row in order[:_SHOWN] if len(systems) == 1 or gain[row] > 0]
    worst = [row for row in order[::-1][:_SHOWN] if (len(systems) == 1 or gain[row] < 0) and row not in best]
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


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    return f"{int(where.sum()):,}"


def _figure(picture: str, caption: str) -> str:
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
