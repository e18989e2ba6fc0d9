"""Which of the ranked texts is given when the first may not say the same: one without an alarm, or a weaker plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from redraft.cancellation import yield_point
from redraft.check.meaning import Meaning
from redraft.check.meaning_check import MeaningCheck
from redraft.decode.result import Candidate, Result, is_requested
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import places
from redraft.simplify.reranking import edited
from redraft.text.protected_spans import Span, overlaps

Ranked = tuple[EditPlan, Result]  # a plan and its candidates, the best first


def choose_trusted(check: MeaningCheck, some: Sequence[Ranked]) -> Iterator[Result]:
    """Each with its candidates in the order in which they can be trusted, the first one checked.

    Where the first has an alarm, the next without one is taken that does as much of what a person asked. If all have
    one, predicted edits are given up one by one, those at the words concerned first, until the text has none. What a
    person asked for is always done, and is no alteration: texts are compared with the source as that person wants it.
    Where nothing was asked and nothing can be trusted, the source stays.
    """
    wanted = [_wanted(plan) for plan, _ in some]
    firsts = check.check((text, decoded.text) for text, (_, decoded) in zip(wanted, some, strict=True))
    for text, (plan, decoded), meaning in zip(wanted, some, firsts, strict=True):
        meaning = meaning if text == decoded.source else replace(meaning, source=())
        if meaning.alarm:
            yield _settled(check, text, plan, decoded, meaning)
        else:
            yield _with(decoded, decoded.candidates[0], meaning)


def _wanted(plan: EditPlan) -> str:
    """The source with what a person asked for, and nothing else."""
    if not any(is_requested(edit) and edit.kind != "insert" for edit in plan.edits):
        return plan.source
    return edited(plan, [edit for edit in plan.edits if not is_requested(edit)]).text


def _settled(check: MeaningCheck, wanted: str, plan: EditPlan, decoded: Result, first: Meaning) -> Result:
    best = decoded.candidates[0]
    others = [one for one in decoded.candidates[1:] if len(one.not_done) <= len(best.not_done)]
    others += _weakened(plan, first.source)
    found = list(check.check((wanted, one.text) for one in others))
    for one, meaning in zip(others, found, strict=True):
        if not meaning.alarm:
            stays = one.text.strip() == decoded.source.strip()
            why = f"what the model wrote may not say the same: {first.why}"
            return replace(_with(decoded, one, meaning), unchanged=why if stays else None)
    last = (others[-1], found[-1]) if others and len(others[-1].not_done) <= len(best.not_done) else (best, first)
    return _with(decoded, *last)


def _weakened(plan: EditPlan, blamed: Sequence[Span]) -> Iterator[Candidate]:
    """The plan carried out word by word, with fewer and fewer of its predicted edits."""

    def is_blamed(edit: Edit) -> bool:
        return any(overlaps(span, blamed) for span in places(plan.source, edit))

    predicted = [edit for edit in plan.edits if edit.kind != "insert" and not is_requested(edit)]
    order = sorted(predicted, key=lambda edit: (not is_blamed(edit), edit.probability or 0.0))
    for count in range(len(order) + 1):
        yield_point()
        yield edited(plan, order[:count])


def _with(decoded: Result, chosen: Candidate, meaning: Meaning) -> Result:
    """With the chosen one first."""
    rest = tuple(one for one in decoded.candidates if one.text != chosen.text)
    return replace(decoded, candidates=(replace(chosen, meaning=meaning), *rest))
