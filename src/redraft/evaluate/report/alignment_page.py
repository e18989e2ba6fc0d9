"""Links and edits for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from redraft.align.links import Links
from redraft.align.sentence_pairs import SentencePair
from redraft.evaluate.report.plots import escape
from redraft.plan.edits import Edit, EditPlan
from redraft.text.words import Word, normal

_LETTER, _GAP, _HEIGHT = 8.4, 14, 120  # of the drawing: a letter's width, the space between words, its height
_SIGNS = {"insert": "keep", "delete": "delete", "substitute": "replace", "split": "new sentence at"}


@dataclass(frozen=True)
class Shown:
    """A pair with what was found in it."""

    pair: SentencePair
    links: Links
    plan: EditPlan


def links_page(shown: Sequence[Shown]) -> str:
    style = files("redraft.evaluate.report").joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Links and edits of {len(shown)} pairs</title><style>{style}</style></head><body>",
        "<h1>Links and edits</h1>",
        '<p class="key">Source above, reference below. Grey links: the same word; blue: another word.</p>',
        *(_article(number, one) for number, one in enumerate(shown, 1)),
        "</body></html>\n",
    ])  # fmt: skip


def _article(number: int, shown: Shown) -> str:
    edits = "".join(f'<li class="{edit.kind}">{_edit(edit)}</li>' for edit in shown.plan.edits)
    return (
        f'<article id="s{number}"><header><span>pair {number}</span></header>'
        f'<div class="drawing">{_drawing(shown)}</div><ul class="edits">{edits}</ul></article>'
    )


def _edit(edit: Edit) -> str:
    if edit.kind == "split" and not edit.phrase:
        return "one more sentence"
    targets = f" → {escape(' / '.join(edit.targets))}" if edit.targets else ""
    return f"{_SIGNS[edit.kind]} <b>{escape(edit.phrase)}</b>{targets}"


def _drawing(shown: Shown) -> str:
    above, below = shown.pair.source_words, shown.pair.target_words
    top, bottom = _places(above), _places(below)
    width = max([end for _, end in (*top, *bottom)], default=10) + _GAP
    parts = []
    for left, right in sorted(shown.links):
        same = normal(above[left].text) == normal(below[right].text)
        x, y = sum(top[left]) / 2, sum(bottom[right]) / 2
        parts.append(
            f'<line class="{"same" if same else "other"}" x1="{x:.1f}" y1="26" x2="{y:.1f}" y2="{_HEIGHT - 24}"/>'
        )
    linked = {left for left, _ in shown.links}, {right for _, right in shown.links}
    rows = ((above, top, 18, linked[0], "gone"), (below, bottom, _HEIGHT - 8, linked[1], "new"))
    for words, places, line, known, alone in rows:
        for number, (word, (start, end)) in enumerate(zip(words, places, strict=True)):
            kind = "" if number in known else f' class="{alone}"'
            parts.append(
                f'<text{kind} x="{start:.1f}" y="{line}" textLength="{end - start:.1f}">{escape(word.text)}</text>'
            )
    return (
        f'<svg width="{width:.0f}" height="{_HEIGHT}" viewBox="0 0 {width:.0f} {_HEIGHT}" role="img" '
        f'aria-label="links between the words of two sentences">{"".join(parts)}</svg>'
    )


def _places(words: Sequence[Word]) -> list[tuple[float, float]]:
    places, at = [], 4.0
    for word in words:
        end = at + max(len(word.text), 1) * _LETTER
        places.append((at, end))
        at = end + _GAP
    return places
