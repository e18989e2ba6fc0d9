"""Errors that a user can fix: the place, the cause and the next step."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence


class RedraftError(Exception):
    """Any error that a user can fix. `problem` is the cause, `hint` the next step."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.hint}" if self.hint else self.problem


class ModelError(RedraftError):
    """A model or tokenizer that cannot be loaded, or that cannot do what was requested."""


class ConfigError(RedraftError, ValueError):
    """A setting or argument that is unknown, has the wrong type, is out of range or conflicts with another."""


class LimitExceeded(ConfigError):
    """A request that is larger than a limit."""


class CorpusError(RedraftError):
    """A file of sentences that is missing, cannot be read, or does not match the other files."""


class PlanError(RedraftError, ValueError):
    """A plan that cannot be read or contradicts itself.

    `line` counts from 1; `field` is written as in Python: `edits[2]` is the third edit.
    """

    def __init__(
        self, problem: str, hint: str, *, path: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        super().__init__(problem, hint)
        self.path = path
        self.line = line
        self.field = field

    def at(self, *, path: str | None = None, line: int | None = None, field: str | None = None) -> PlanError:
        """The same error with those parts of the place filled in that are still None."""
        return PlanError(
            self.problem,
            self.hint,
            path=path if self.path is None else self.path,
            line=line if self.line is None else self.line,
            field=field if self.field is None else self.field,
        )

    def inside(self, field: str) -> PlanError:
        """The same error with the field of the enclosing object added: `weight` becomes `edits[2].weight`."""
        inner = f"{field}.{self.field}" if self.field else field
        return PlanError(self.problem, self.hint, path=self.path, line=self.line, field=inner)

    def __str__(self) -> str:
        file_line = ":".join(str(part) for part in (self.path, self.line) if part is not None)
        if self.path is None and self.line is not None:
            file_line = f"line {self.line}"
        place = ", ".join(part for part in (file_line, self.field) if part)
        return f"{place}: {super().__str__()}" if place else super().__str__()


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The next step after an unknown name: the most similar known name, or all of them."""
    near = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {near[0]}?" if near else f"Use {', '.join(known)}."


def shown(value: object, limit: int = 60) -> str:
    """A value as JSON, shortened for a message and safe to print."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else f"{text[: limit - 4]}...{text[-1]}"
