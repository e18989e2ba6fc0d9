"""A plan made ready for the model, and the model's text turned back: pieces, kept words, placeholders, full stops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from redraft.cancellation import yield_point
from redraft.decode.model_loading import reads_plans
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Result
from redraft.plan.edits import EditPlan
from redraft.plan.placeholders import mask_plan
from redraft.plan.prediction import with_the_rest_kept
from redraft.plan.verdicts import judge
from redraft.simplify.long_inputs import pieces_of, split_plan
from redraft.text.protected_spans import MaskedText

_OPEN = re.compile(r"\w\s*$")  # ends with a letter or a digit


@dataclass(frozen=True)
class Part:
    """A piece of a text with its plan, on its way through the model."""

    plan: EditPlan
    whole: EditPlan  # the plan's edits, then the words that are to stay
    shown: EditPlan  # the same as the model sees it: with placeholders and a full stop
    masked: MaskedText

    def is_intact(self, text: str) -> bool:
        """Whether everything protected in the source is in the text as often."""
        return all(text.count(one) >= self.plan.source.count(one) for one in self.masked.originals)


def prepare(plan: EditPlan, redrafter: Redrafter, *, as_it_is: bool) -> list[Part]:
    """The parts of a plan: one, or several where its source is longer than the model reads.

    Placeholders are tokens of models that read plans; other models see the text itself. `as_it_is`: nothing is added
    or hidden.
    """
    return [_part(piece, redrafter, as_it_is) for piece in split_plan(plan, pieces_of(redrafter, plan.source))]


def _part(plan: EditPlan, redrafter: Redrafter, as_it_is: bool) -> Part:
    yield_point()
    if as_it_is:
        return Part(plan, plan, plan, MaskedText(plan.source))
    whole = with_the_rest_kept(plan)
    shown, masked = mask_plan(whole)
    return Part(plan, whole, add_full_stop(shown if reads_plans(redrafter.model) else whole), masked)


def restore(part: Part, found: Result, redrafter: Redrafter) -> Result:
    """What was found for `part.shown`, as results for the part itself: placeholders and the added full stop undone."""
    yield_point()
    source = part.plan.source
    hidden = reads_plans(redrafter.model) and bool(part.masked.originals)
    found = remove_full_stop(replace(part.shown, source=part.masked.text if hidden else source), found)
    if not hidden:
        return found
    texts = [part.masked.restore(one.text) for one in found.candidates]
    candidates = (
        replace(one, text=text, verdicts=tuple(judge(part.whole, text)))
        for one, text in zip(found.candidates, texts, strict=True)
    )
    return replace(found, source=source, candidates=tuple(candidates))


def own_verdicts(part: Part, found: Result) -> Result:
    """Without the verdicts on words that only the preparation asked to keep."""
    own = (replace(one, verdicts=one.verdicts[: len(part.plan.edits)]) for one in found.candidates)
    return replace(found, source=part.plan.source, candidates=tuple(own))


def add_full_stop(plan: EditPlan) -> EditPlan:
    """Headings and list items lack one, and the model has only read sentences that have one. Spans stay valid."""
    return replace(plan, source=f"{plan.source.rstrip()}.") if _OPEN.search(plan.source) else plan


def remove_full_stop(plan: EditPlan, found: Result) -> Result:
    """What was found for `add_full_stop(plan)`, without the full stop."""
    if not _OPEN.search(plan.source):
        return found
    candidates = (replace(one, text=one.text.removesuffix(".").rstrip()) for one in found.candidates)
    return replace(found, source=plan.source, candidates=tuple(candidates))


def parts_in_order(counts: list[int], results: list[Result]) -> Iterator[list[Result]]:
    """The results of each text, from those of all parts."""
    start = 0
    for count in counts:
        yield results[start : start + count]
        start += count
