"""A text with mark-up: the words to check, and where each of them is in what the client sent."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of what the client sent. `read_as`: the text that is checked in its place, if it is mark-up."""

    sent: str
    read_as: str | None = None


class AnnotatedText:
    """`plain` is checked; offsets of the interface count UTF-16 units of `sent`, which has the mark-up."""

    def __init__(self, parts: Iterable[TextPart]) -> None:
        self._parts = [part for part in parts if part.sent or part.read_as]
        self.plain = "".join(part.sent if part.read_as is None else part.read_as for part in self._parts)
        self.sent = "".join(part.sent for part in self._parts)
        lengths = [len(part.sent if part.read_as is None else part.read_as) for part in self._parts]
        self._plain_starts = list(accumulate(lengths, initial=0))
        self._sent_starts = list(accumulate((len(part.sent) for part in self._parts), initial=0))
        self._units = list(accumulate((1 + (character > "\uffff") for character in self.sent), initial=0))

    def sent_range(self, start: int, end: int) -> tuple[int, int] | None:
        """The range of `sent` for a range of `plain`; None if an end of it is in text that stands for mark-up."""
        first, last = self._sent_position(start), self._sent_position(end - 1)
        return None if first is None or last is None else (first, last + 1)

    def has_markup(self, start: int, end: int) -> bool:
        """Whether a range of `sent` has mark-up in it."""
        return any(
            part.read_as is not None and start < at + len(part.sent) and at < end
            for part, at in zip(self._parts, self._sent_starts, strict=False)
        )

    def utf16(self, at: int) -> int:
        """The offset of a character of `sent`, in UTF-16 units."""
        return self._units[at]

    def _sent_position(self, at: int) -> int | None:
        number = bisect_right(self._plain_starts, at) - 1
        if self._parts[number].read_as is not None:
            return None
        return self._sent_starts[number] + at - self._plain_starts[number]
