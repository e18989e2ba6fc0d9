"""Documents: sentences rewritten one by one, and put back with the white space between them."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass

from redraft.decode.result import Result
from redraft.text.sentences import Sentence


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A rewritten text. `results` has one for each sentence that has words."""

    sentences: tuple[Sentence, ...]  # of the source, each with the white space before it
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
        """Those of all results, each with the number of its sentence."""
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
        """For notebooks: paragraphs with the changes marked, then the warnings."""
        results = iter(self.results)
        parts = []
        for one in self.sentences:
            gap = "<br>" * one.space.count("\n") or html.escape(one.space)
            parts.append(gap + (next(results).marked_html() if one.text else ""))
        warnings = "".join(f"<li>{html.escape(warning)}</li>" for warning in self.warnings)
        return f"<p>{''.join(parts)}</p>" + (f"<ul>{warnings}</ul>" if warnings else "")


def in_one_line(text: str) -> str:
    """Without line breaks, of which `str.splitlines` and many readers know more than \\n."""
    return " ".join(text.splitlines())
