"""The fallback if the meaning check alarms: another candidate without an alarm, or a weaker plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from redraft.check.meaning import Meaning
from redraft.check.meaning_check import MeaningCheck
from redraft.cooperative_scheduling import yield_point
from redraft.decode.result import Candidate, Result, is_requested
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.phrases import occurrences
from redraft.simplify.reranking import literal_candidate
from redraft.text.protected_spans import Span, overlaps

Ranked = tuple[EditPlan, Result]  # a plan and its candidates, the best first


def prefer_safe_candidates(check: MeaningCheck, ranked: Sequence[Ranked]) -> Iterator[Result]:
    """Each result with a checked candidate in first place, if possible one without an alarm.

    If the first candidate has an alarm, the next one without is taken that satisfies as many requested edits. If all
    have one, predicted edits are dropped one by one, those at the words concerned first, until there is no alarm.
    Requested edits are always kept and never count as a change of meaning: texts are compared with the source after the
    requested edits. Without requested edits, the last resort is the source itself.
    """
    for (plan, _), result in zip(ranked, check_first_candidates(check, ranked), strict=True):
        meaning = result.meaning
        if meaning is not None and meaning.alarm:
            yield _without_alarm(check, _with_requested_edits(plan), plan, result, meaning)
        else:
            yield result


def check_first_candidates(check: MeaningCheck, ranked: Sequence[Ranked]) -> Iterator[Result]:
    """Each result with the meaning of its first candidate, which is compared with the source after requested edits."""
    expected = [_with_requested_edits(plan) for plan, _ in ranked]
    found = check.check((text, result.text) for text, (_, result) in zip(expected, ranked, strict=True))
    for text, (_, result), meaning in zip(expected, ranked, found, strict=True):
        meaning = meaning if text == result.source else replace(meaning, source=())  # spans of another text
        yield _with_first(result, result.candidates[0], meaning)


def _with_requested_edits(plan: EditPlan) -> str:
    """The source with the requested edits only."""
    if not any(is_requested(edit) and edit.kind != "insert" for edit in plan.edits):
        return plan.source
    return literal_candidate(plan, [edit for edit in plan.edits if not is_requested(edit)]).text


def _without_alarm(check: MeaningCheck, expected: str, plan: EditPlan, result: Result, first: Meaning) -> Result:
    """With the first alternative without an alarm in first place; if there is none, with the weakest plan's text."""
    best = result.candidates[0]
    others = [one for one in result.candidates[1:] if len(one.not_done) <= len(best.not_done)]
    others += _weaker_candidates(plan, first.source)
    found = list(check.check((expected, one.text) for one in others))
    for one, meaning in zip(others, found, strict=True):
        if not meaning.alarm:
            is_source = one.text.strip() == result.source.strip()
            why = f"what the model wrote may not say the same: {first.why}"
            return replace(_with_first(result, one, meaning), unchanged=why if is_source else None)
    last = (others[-1], found[-1]) if others and len(others[-1].not_done) <= len(best.not_done) else (best, first)
    return _with_first(result, *last)


def _weaker_candidates(plan: EditPlan, blamed: Sequence[Span]) -> Iterator[Candidate]:
    """The source with the edits of the plan made in place, with fewer and fewer predicted ones."""

    def is_blamed(edit: Edit) -> bool:
        return any(overlaps(span, blamed) for span in occurrences(plan.source, edit))

    predicted = [edit for edit in plan.edits if edit.kind != "insert" and not is_requested(edit)]
    order = sorted(predicted, key=lambda edit: (not is_blamed(edit), edit.probability or 0.0))
    for count in range(len(order) + 1):
        yield_point()
        yield literal_candidate(plan, order[:count])


def _with_first(result: Result, chosen: Candidate, meaning: Meaning) -> Result:
    """The result with this candidate in first place."""
    rest = tuple(one for one in result.candidates if one.text != chosen.text)
    return replace(result, candidates=(replace(chosen, meaning=meaning), *rest))
