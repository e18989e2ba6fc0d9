"""Targets that a reader has judged for a word, independently of the sentence: a table bundled with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redraft.models import bundled
from redraft.plan.lexicon import PhraseTable, lookup_key
from redraft.table_files import read_rows


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A reader's judgement of the targets of a word, each list best first. A word without targets is not replaced."""

    safe: tuple[str, ...]  # have the same meaning in nearly every sentence
    possible: tuple[str, ...]  # depend on the sentence
    wrong: tuple[str, ...]  # change the meaning or are ungrammatical in most sentences


class ReviewedTargets(PhraseTable[Reviewed]):
    """Words and phrases with their judged targets."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> ReviewedTargets:
        """Load a table, by default the bundled one."""
        path = path or bundled("planner") / "reviewed_targets.tsv.xz"
        return cls(dict(read_rows(path, _parsed)))

    def is_safe(self, phrase: str, target: str) -> bool:
        entry = self.entry(phrase)
        return entry is not None and lookup_key(target) in entry.safe

    def is_possible(self, phrase: str, target: str) -> bool:
        entry = self.entry(phrase)
        return entry is not None and lookup_key(target) in entry.possible


def _parsed(cells: list[str]) -> tuple[str, Reviewed]:
    """A row of phrase ⇥ safe ⇥ possible ⇥ wrong targets; targets are separated by "; ", and each list may be empty."""
    phrase, *lists = cells
    safe, possible, wrong = (tuple(cell.split("; ")) if cell else () for cell in lists)
    return phrase, Reviewed(safe, possible, wrong)
