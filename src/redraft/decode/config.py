"""Every setting of the search: names, defaults, help and checks, in one place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from redraft.errors import ConfigError


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeConfig:
    """How to search. docs/search.md explains each of these."""

    method: Literal["edit", "beam", "negative", "neurologic"] = _setting("edit", "how edits steer the search")
    beams: int = _setting(20, "rows kept for each sentence")
    width: int | None = _setting(None, "tokens each row expands, and so the siblings of each; 2 · beams if not given")
    alpha: int = _setting(200, "nodes of a sentence kept at each step, the likeliest first")
    lambdas: tuple[float, float, float] = _setting((1.0, 1.0, 1.0), "weight of insertions, deletions, substitutions")
    scale: Literal["edit", "kind"] = _setting(
        "edit", "edit: λ for each edit; kind: λ/Σλ shared by the edits of a kind, the released program's scale"
    )
    delta: float | None = _setting(2.0, "drop nodes whose edit score is this far below the best; none: never")
    group_by: Literal["all", "positive"] = _setting("all", "group nodes by all edits, or insertions and substitutions")
    end: Literal["always", "likeliest", "met", "either"] = _setting(
        "always", "when a sentence with unmet edits may end: always, if that is likeliest, never, or one of the two"
    )
    choose: Literal["edits", "sum"] = _setting("edits", "rank finished sentences by edits first, or by the sum")
    stop: Literal["open", "exact"] = _setting("open", "exact: go on while unmet edits could still raise a score")
    admit_unmet: bool = _setting(False, "add the next token of every unmet edit to a row's list")
    admit_gap: float = _setting(10.0, "but only within this log-probability of the row's likeliest token")
    ahead: int | None = _setting(
        None, "rewards count only while at most so many edits before them in the source are unmet; none: always"
    )
    strict: bool = _setting(True, "a substitution counts only where its other side was among the siblings")
    begun: bool = _setting(
        False, "a phrase of an unmet edit that is begun counts as pending, so that it is gone on with"
    )
    forbid: bool = _setting(False, "deletions and what is substituted are never written, as with negative")
    tell: bool = _setting(True, "write the plan into the source, for models that were trained to read it")
    beta: int = _setting(2, "neurologic: how many clauses a node may be behind the best")
    ban: Literal["word", "token"] = _setting("word", "negative: forbid closing the banned word, or its last token")
    length_penalty: float = _setting(1.0, "finished sentences are ranked by log-probability / length ** this")
    early_stopping: bool | Literal["never"] = _setting(False, "as in transformers, for sentences without edits")
    min_tokens: int = _setting(0, "tokens before the end may come")
    max_tokens: int | None = _setting(None, "tokens at most, the end included; 2 · source tokens + 10 if not given")
    no_repeat_ngram: int = _setting(0, "no n-gram of this size twice; 0: allowed")
    candidates: int = _setting(1, "finished sentences to return, distinct as text; at most `beams`")

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name}={getattr(self, name)!r} is not known", f"Use one of {', '.join(allowed)}.")
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise ConfigError(f"{name} is {value!r}", f"Give a whole number of at least {least}.")
        for name in ("delta", "admit_gap"):
            value = getattr(self, name)
            if value is not None and not (value >= 0):
                raise ConfigError(f"{name} is {value!r}", "Give a number of at least 0.")
        if len(self.lambdas) != 3 or not all(math.isfinite(x) and x >= 0 for x in self.lambdas):
            raise ConfigError(f"lambdas are {self.lambdas!r}", "Give three finite numbers of at least 0: I, D, R.")
        if not math.isfinite(self.length_penalty):
            raise ConfigError(f"length_penalty is {self.length_penalty!r}", "Give a finite number.")
        if self.early_stopping not in (True, False, "never"):
            raise ConfigError(f"early_stopping is {self.early_stopping!r}", 'Use True, False or "never".')
        if self.candidates > self.beams:
            raise ConfigError(
                f"candidates={self.candidates} but beams={self.beams}", "Ask for fewer, or search with more beams."
            )

    @property
    def row_width(self) -> int:
        return self.width if self.width is not None else 2 * self.beams

    def with_changes(self, **changes: Any) -> DecodeConfig:
        return replace(self, **changes)


# What `redraft simplify`, the service and `Simplifier.load` search with: a model that reads its plan needs few rows,
# and an edit is not worth a sentence that nobody would write.
SIMPLIFY: Mapping[str, Any] = {
    "beams": 4, "lambdas": (0.5, 0.5, 0.5), "group_by": "positive", "ahead": 0, "choose": "sum", "end": "likeliest",
    "admit_unmet": True, "begun": True,
}  # fmt: skip

_HINTS = get_type_hints(DecodeConfig)
_CHOICES = {
    f.name: get_args(_HINTS[f.name])
    for f in fields(DecodeConfig)
    if getattr(_HINTS[f.name], "__origin__", None) is Literal
}
_LEAST = {
    "beams": 1,
    "width": 1,
    "alpha": 1,
    "ahead": 0,
    "beta": 0,
    "min_tokens": 0,
    "max_tokens": 1,
    "no_repeat_ngram": 0,
    "candidates": 1,
}
