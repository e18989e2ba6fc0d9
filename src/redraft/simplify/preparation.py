"""Prepares plans for the model and restores its texts: pieces, words to keep, placeholders, added full stops."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from redraft.cooperative_scheduling import yield_point
from redraft.decode.model_loading import reads_plans
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Result
from redraft.plan.edits import EditPlan
from redraft.plan.placeholders import mask_plan
from redraft.plan.prediction import keep_unedited_words
from redraft.plan.verdicts import judge
from redraft.simplify.long_inputs import pieces_of, split_plan
from redraft.text.protected_spans import MaskedText

_UNTERMINATED = re.compile(r"\w\s*$")  # ends with a letter or a digit


@dataclass(frozen=True)
class Part:
    """A piece of a text with its plan, prepared for the model."""

    plan: EditPlan
    whole: EditPlan  # the edits of the plan, then the words to keep
    shown: EditPlan  # the same as the model sees it, with placeholders and an added full stop
    masked: MaskedText

    def is_intact(self, text: str) -> bool:
        """Whether each protected string is in the text at least as often as in the source."""
        return all(text.count(one) >= self.plan.source.count(one) for one in self.masked.originals)


def prepare(plan: EditPlan, redrafter: Redrafter, *, verbatim: bool) -> list[Part]:
    """The parts of a plan: one, or several if its source is too long for the model.

    Only models that read plans have tokens for placeholders; other models see the text itself. `verbatim`: nothing is
    added or masked.
    """
    return [_part(piece, redrafter, verbatim) for piece in split_plan(plan, pieces_of(redrafter, plan.source))]


def _part(plan: EditPlan, redrafter: Redrafter, verbatim: bool) -> Part:
    yield_point()
    if verbatim:
        return Part(plan, plan, plan, MaskedText(plan.source))
    whole = keep_unedited_words(plan)
    shown, masked = mask_plan(whole)
    return Part(plan, whole, add_full_stop(shown if reads_plans(redrafter.model) else whole), masked)


def restore(part: Part, found: Result, redrafter: Redrafter) -> Result:
    """The result for `part.shown` as a result for the part itself, without placeholders and the added full stop."""
    yield_point()
    source = part.plan.source
    is_masked = reads_plans(redrafter.model) and bool(part.masked.originals)
    found = remove_full_stop(replace(part.shown, source=part.masked.text if is_masked else source), found)
    if not is_masked:
        return found
    texts = [part.masked.restore(one.text) for one in found.candidates]
    candidates = (
        replace(one, text=text, verdicts=tuple(judge(part.whole, text)))
        for one, text in zip(found.candidates, texts, strict=True)
    )
    return replace(found, source=source, candidates=tuple(candidates))


def without_added_verdicts(part: Part, found: Result) -> Result:
    """Without the verdicts on words to keep that the preparation has added."""
    own = (replace(one, verdicts=one.verdicts[: len(part.plan.edits)]) for one in found.candidates)
    return replace(found, source=part.plan.source, candidates=tuple(own))


def add_full_stop(plan: EditPlan) -> EditPlan:
    """Add a full stop to headings and list items: the model was trained on terminated sentences. Spans stay valid."""
    return replace(plan, source=f"{plan.source.rstrip()}.") if _UNTERMINATED.search(plan.source) else plan


def remove_full_stop(plan: EditPlan, found: Result) -> Result:
    """The result for `add_full_stop(plan)` without the added full stop."""
    if not _UNTERMINATED.search(plan.source):
        return found
    candidates = (replace(one, text=one.text.removesuffix(".").rstrip()) for one in found.candidates)
    return replace(found, source=plan.source, candidates=tuple(candidates))
