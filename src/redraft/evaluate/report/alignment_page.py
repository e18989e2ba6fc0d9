"""An HTML page that shows alignments and the edits extracted from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from redraft.align.links import Links
from redraft.align.sentence_pairs import SentencePair
from redraft.evaluate.report.plots import escape
from redraft.plan.edits import Edit, EditPlan
from redraft.text.words import Word, normalise

_LETTER, _GAP, _HEIGHT = 8.4, 14, 120  # of the drawing, in pixels: letter width, space between words, height
_LABELS = {"insert": "keep", "delete": "delete", "substitute": "replace", "split": "new sentence at"}


@dataclass(frozen=True)
class AlignmentEntry:
    """A sentence pair with its alignment and plan."""

    pair: SentencePair
    links: Links
    plan: EditPlan


def alignment_html(entries: Sequence[AlignmentEntry]) -> str:
    """The page as one string."""
    style = files("redraft.evaluate.report").joinpath("page.css").read_text(encoding="utf-8")
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Links and edits of {len(entries)} pairs</title><style>{style}</style></head><body>",
        "<h1>Links and edits</h1>",
        '<p class="key">Source above, reference below. Grey links: identical words; blue links: different words.</p>',
        *(_article(number, entry) for number, entry in enumerate(entries, 1)),
        "</body></html>\n",
    ])  # fmt: skip


def _article(number: int, entry: AlignmentEntry) -> str:
    edits = "".join(f'<li class="{edit.kind}">{_edit(edit)}</li>' for edit in entry.plan.edits)
    return (
        f'<article id="s{number}"><header><span>pair {number}</span></header>'
        f'<div class="drawing">{_drawing(entry)}</div><ul class="edits">{edits}</ul></article>'
    )


def _edit(edit: Edit) -> str:
    if edit.kind == "split" and not edit.phrase:
        return "one more sentence"
    targets = f" → {escape(' / '.join(edit.targets))}" if edit.targets else ""
    return f"{_LABELS[edit.kind]} <b>{escape(edit.phrase)}</b>{targets}"


def _drawing(entry: AlignmentEntry) -> str:
    above, below = entry.pair.source_words, entry.pair.target_words
    top, bottom = _word_extents(above), _word_extents(below)
    width = max([end for _, end in (*top, *bottom)], default=10) + _GAP
    parts = []
    for left, right in sorted(entry.links):
        same = normalise(above[left].text) == normalise(below[right].text)
        x, y = sum(top[left]) / 2, sum(bottom[right]) / 2
        parts.append(
            f'<line class="{"same" if same else "other"}" x1="{x:.1f}" y1="26" x2="{y:.1f}" y2="{_HEIGHT - 24}"/>'
        )
    linked = {left for left, _ in entry.links}, {right for _, right in entry.links}
    rows = ((above, top, 18, linked[0], "gone"), (below, bottom, _HEIGHT - 8, linked[1], "new"))
    for words, extents, baseline, linked_words, unlinked_class in rows:
        for number, (word, (start, end)) in enumerate(zip(words, extents, strict=True)):
            kind = "" if number in linked_words else f' class="{unlinked_class}"'
            parts.append(
                f'<text{kind} x="{start:.1f}" y="{baseline}" textLength="{end - start:.1f}">{escape(word.text)}</text>'
            )
    return (
        f'<svg width="{width:.0f}" height="{_HEIGHT}" viewBox="0 0 {width:.0f} {_HEIGHT}" role="img" '
        f'aria-label="links between the words of two sentences">{"".join(parts)}</svg>'
    )


def _word_extents(words: Sequence[Word]) -> list[tuple[float, float]]:
    """Start and end of each word on the x axis."""
    extents, start = [], 4.0
    for word in words:
        end = start + max(len(word.text), 1) * _LETTER
        extents.append((start, end))
        start = end + _GAP
    return extents
