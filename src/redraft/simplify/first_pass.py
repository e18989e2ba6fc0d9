"""The first pass: parts that need no search, because their plan changes nothing or greedy decoding carries it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from redraft.check.meaning import SAME
from redraft.check.meaning_check import MeaningCheck
from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Candidate, Result
from redraft.plan.apply_edits import apply_edits
from redraft.plan.verdicts import judge
from redraft.simplify.batching import length_order
from redraft.simplify.meaning_fallback import check_first_candidates
from redraft.simplify.preparation import Part, restore, without_added_verdicts
from redraft.simplify.reranking import FaultCounter, is_garbled
from redraft.text.word_frequency import WordFrequency


class FirstPass:
    """Finds parts whose result a search could hardly improve: everything is as the plan says, and nothing is wrong."""

    def __init__(self, redrafter: Redrafter, check: MeaningCheck | None, word_frequency: WordFrequency) -> None:
        self._redrafter, self._check, self._word_frequency = redrafter, check, word_frequency

    def results(self, parts: Sequence[Part], config: DecodeConfig, batch_size: int) -> list[Result | None]:
        """The result of each part, or None if it needs a search."""
        found = [self._if_plan_changes_nothing(part) for part in parts]
        open_parts = [at for at, result in enumerate(found) if result is None]
        order = [open_parts[at] for at in length_order([parts[at].plan.source for at in open_parts], batch_size)]
        for at, result in zip(order, self._greedy([parts[at] for at in order], config, batch_size), strict=True):
            found[at] = result
        return found

    def _if_plan_changes_nothing(self, part: Part) -> Result | None:
        """The source, which would be ranked first whatever the search found."""
        source = part.plan.source
        if any(edit.kind != "insert" for edit in part.whole.edits):
            return None
        verdicts = judge(part.whole, source)
        if not FaultCounter(part.whole, self._word_frequency).forbids_changes:
            return None
        if any(verdict.status != "satisfied" for verdict in verdicts):
            return None
        meaning = None if self._check is None else SAME
        candidate = Candidate(source, 0.0, 0.0, tuple(verdicts), (), False, meaning=meaning)
        return without_added_verdicts(part, Result(source, (candidate,)))

    def _greedy(self, parts: Sequence[Part], config: DecodeConfig, batch_size: int) -> Iterator[Result | None]:
        waiting = iter(parts)
        while batch := list(islice(waiting, batch_size)):
            drafts = [apply_edits(part.shown) for part in batch]
            written = self._redrafter.write_greedily([part.shown for part in batch], drafts, config)
            restored = [restore(part, one, self._redrafter) for part, one in zip(batch, written, strict=True)]
            done = [self._is_perfect(part, one) for part, one in zip(batch, restored, strict=True)]
            whole = [one if is_done else None for one, is_done in zip(restored, done, strict=True)]
            yield from self._without_alarm(batch, whole)

    def _is_perfect(self, part: Part, found: Result) -> bool:
        """Whether every edit is satisfied, protected text intact, and no fault found."""
        (best,) = found.candidates
        return (
            not best.truncated
            and all(verdict.status == "satisfied" for verdict in best.verdicts)
            and part.is_intact(best.text)
            and not is_garbled(best)
            and not FaultCounter(part.whole, self._word_frequency).count(best)
        )

    def _without_alarm(self, parts: Sequence[Part], found: Sequence[Result | None]) -> Iterator[Result | None]:
        own = [one and without_added_verdicts(part, one) for part, one in zip(parts, found, strict=True)]
        if self._check is None:
            yield from own
            return
        ranked = [(part.plan, one) for part, one in zip(parts, own, strict=True) if one is not None]
        checked = iter(check_first_candidates(self._check, ranked))
        for one in own:
            result = None if one is None else next(checked)
            yield None if result is not None and result.meaning is not None and result.meaning.alarm else result
