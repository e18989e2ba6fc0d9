"""Targets that a reader has judged for their word, whatever the sentence: one table that comes with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redraft.models import bundled
from redraft.plan.lexicon import PhraseTable, key_of
from redraft.table_files import read_rows


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a reader thinks of the targets of a word, each list best first. A word with none stays as it is."""

    safe: tuple[str, ...]  # say the same in nearly every place
    possible: tuple[str, ...]  # depend on the sentence
    wrong: tuple[str, ...]  # say something else, or are ungrammatical, in most places


class ReviewedTargets(PhraseTable[Reviewed]):
    """Words and phrases with what a reader thinks of their targets."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> ReviewedTargets:
        """From a table, or the one that comes with the package."""
        path = path or bundled("planner") / "reviewed_targets.tsv.xz"
        return cls(dict(read_rows(path, _parsed)))

    def is_safe(self, phrase: str, target: str) -> bool:
        entry = self.entry(phrase)
        return entry is not None and key_of(target) in entry.safe

    def is_possible(self, phrase: str, target: str) -> bool:
        entry = self.entry(phrase)
        return entry is not None and key_of(target) in entry.possible


def _parsed(cells: list[str]) -> tuple[str, Reviewed]:
    """phrase ⇥ safe targets, with "; " between them ⇥ possible ones ⇥ wrong ones; each list may be empty."""
    phrase, *lists = cells
    safe, possible, wrong = (tuple(cell.split("; ")) if cell else () for cell in lists)
    return phrase, Reviewed(safe, possible, wrong)
