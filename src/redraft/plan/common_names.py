"""Common names of technical terms, and plain English for official words: one table that comes with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redraft.models import bundled
from redraft.plan.lexicon import PhraseTable
from redraft.table_files import read_rows

SURE = 0.6  # that such a name is right: named at every strength
_NOTES = {"wikipedia": "a common name for it", "ours": "a common name for it"}
_PLAIN = "plain English"  # of every other source


@dataclass(frozen=True, slots=True)
class CommonName:
    """What may be written for a phrase, best first, and why."""

    targets: tuple[str, ...]
    note: str

    @property
    def is_of_term(self) -> bool:
        """Of a technical term: it has one sense, inside other terms too ("renal failure", not "multiple sclerosis")."""
        return self.note != _PLAIN


class CommonNames(PhraseTable[CommonName]):
    """Phrases with their common names."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> CommonNames:
        """From a table of `redraft.fit.planner.common_name_table`, or the one that comes with the package."""
        path = path or bundled("planner") / "common_names.tsv.xz"
        return cls(dict(read_rows(path, _parsed)))


def _parsed(cells: list[str]) -> tuple[str, CommonName]:
    """phrase ⇥ targets, with "; " between them ⇥ source."""
    phrase, targets, source = cells
    return phrase, CommonName(tuple(targets.split("; ")), _NOTES.get(source, _PLAIN))
