"""Common names of technical terms, and plain words for official ones: a table bundled with the package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from redraft.models import bundled
from redraft.plan.lexicon import PhraseTable
from redraft.table_files import read_rows

COMMON_NAME_PROBABILITY = 0.6  # that a common name is appropriate: high enough for every strength
_NOTES = {"wikipedia": "a common name for it", "ours": "a common name for it"}
_PLAIN = "plain English"  # for all other sources


@dataclass(frozen=True, slots=True)
class CommonName:
    """The targets for a phrase, best first, and the note for the edit."""

    targets: tuple[str, ...]
    note: str

    @property
    def is_of_term(self) -> bool:
        """Whether the phrase is a technical term: unambiguous, so it may be replaced inside longer terms too."""
        return self.note != _PLAIN


class CommonNames(PhraseTable[CommonName]):
    """Phrases and their common names."""

    @classmethod
    def load(cls, path: str | Path | None = None) -> CommonNames:
        """Load a table written by `redraft.fit.planner.common_name_table`, by default the bundled one."""
        path = path or bundled("planner") / "common_names.tsv.xz"
        return cls(dict(read_rows(path, _parsed)))


def _parsed(cells: list[str]) -> tuple[str, CommonName]:
    """A row of phrase ⇥ targets, separated by "; " ⇥ source."""
    phrase, targets, source = cells
    return phrase, CommonName(tuple(targets.split("; ")), _NOTES.get(source, _PLAIN))
