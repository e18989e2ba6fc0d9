"""Documents: sentences that are rewritten one by one and joined with the original white space."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from redraft.decode.result import Result
from redraft.text.sentences import Sentence


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A rewritten document. `results` has one result for each sentence that is not empty."""

    sentences: tuple[Sentence, ...]  # of the source, each with the white space and list marks before it
    results: tuple[Result, ...]

    @property
    def source(self) -> str:
        return "".join(one.space + one.text for one in self.sentences)

    @property
    def text(self) -> str:
        results = iter(self.results)
        return "".join(one.space + (in_one_line(next(results).text) if one.text else "") for one in self.sentences)

    @property
    def warnings(self) -> list[str]:
        """The warnings of all results, each with the number of its sentence."""
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        for number, result in enumerate(self.results, 1):
            yield from (f"sentence {number}: {warning}" for warning in result.warnings)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        changed = sum(one.text != one.source for one in self.results)
        return f"Document(sentences={len(self.results)}, changed={changed}, warnings={len(self.warnings)})"

    def _repr_html_(self) -> str:
        """For notebooks: the text with marked changes, then the warnings."""
        results = iter(self.results)
        parts = []
        for one in self.sentences:
            space = html.escape(one.space).replace("\n", "<br>")
            parts.append(space + (next(results).marked_html() if one.text else ""))
        warnings = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"<p>{''.join(parts)}</p>" + (f"<ul>{warnings}</ul>" if warnings else "")


def in_one_line(text: str) -> str:
    """The text without line breaks; `str.splitlines`, like many programs, knows more of them than \\n."""
    return " ".join(text.splitlines())
