"""The settings of the search, each with its default, help and checks, and small files of them."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_type_hints

from redraft.errors import ConfigError, did_you_mean
from redraft.files import replacing
from redraft.reading import read_toml
from redraft.settings_checks import check_setting

_MOST_BEAMS, _MOST_TOKENS = 1_000, 10_000  # memory and time grow with their product
_WHOLE = 1 << 30  # of others


def _setting(default: Any, help: str, least: float = -math.inf, most: float = math.inf) -> Any:
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeConfig:
    """How to search. docs/search.md explains each of these."""

    method: Literal["edit", "beam", "negative", "neurologic"] = _setting("edit", "how edits steer the search")
    beams: int = _setting(20, "rows kept for each sentence", 1, _MOST_BEAMS)
    width: int | None = _setting(
        None, "tokens each row expands, and so the siblings of each; 2 · beams if not given", 1, _MOST_TOKENS
    )
    alpha: int = _setting(200, "nodes of a sentence kept at each step, the likeliest first", 1, _WHOLE)
    lambdas: tuple[float, float, float] = _setting((1.0, 1.0, 1.0), "weight of insertions, deletions, substitutions")
    scale: Literal["edit", "kind"] = _setting(
        "edit", "edit: λ for each edit; kind: λ/Σλ shared by the edits of a kind, the released program's scale"
    )
    delta: float | None = _setting(2.0, "drop nodes whose edit score is this far below the best; none: never", 0)
    group_by: Literal["all", "positive"] = _setting("all", "group nodes by all edits, or insertions and substitutions")
    end: Literal["always", "likeliest", "met", "either"] = _setting(
        "always", "when a sentence with unmet edits may end: always, if that is likeliest, never, or one of the two"
    )
    choose: Literal["edits", "sum"] = _setting("edits", "rank finished sentences by edits first, or by the sum")
    stop: Literal["open", "exact"] = _setting("open", "exact: go on while unmet edits could still raise a score")
    admit_unmet: bool = _setting(False, "add the next token of every unmet edit to a row's list")
    admit_gap: float = _setting(10.0, "but only within this log-probability of the row's likeliest token", 0)
    ahead: int | None = _setting(
        None,
        "rewards count only while at most so many edits before them in the source are unmet; none: always",
        0,
        _WHOLE,
    )
    strict: bool = _setting(True, "a substitution counts only where its other side was among the siblings")
    begun: bool = _setting(
        False, "a phrase of an unmet edit that is begun counts as pending, so that it is gone on with"
    )
    forbid: bool = _setting(False, "deletions and what is substituted are never written, as with negative")
    tell: bool = _setting(True, "write the plan into the source, for models that were trained to read it")
    beta: int = _setting(2, "neurologic: how many clauses a node may be behind the best", 0, _WHOLE)
    ban: Literal["word", "token"] = _setting("word", "negative: forbid closing the banned word, or its last token")
    length_penalty: float = _setting(1.0, "finished sentences are ranked by log-probability / length ** this", -10, 10)
    early_stopping: bool | Literal["never"] = _setting(False, "as in transformers, for sentences without edits")
    min_tokens: int = _setting(0, "tokens before the end may come", 0, _MOST_TOKENS)
    max_tokens: int | None = _setting(
        None, "tokens at most, the end included; 2 · source tokens + 10 if not given", 1, _MOST_TOKENS
    )
    no_repeat_ngram: int = _setting(0, "no n-gram of this size twice; 0: allowed", 0, _WHOLE)
    candidates: int = _setting(1, "finished sentences to return, distinct as text; at most `beams`", 1, _MOST_BEAMS)

    def __post_init__(self) -> None:
        for setting in fields(self):
            if setting.name != "lambdas":
                limits = {name: setting.metadata[name] for name in ("least", "most")}
                check_setting(setting.name, getattr(self, setting.name), _HINTS[setting.name], **limits)
        lambdas: Any = self.lambdas
        if not isinstance(lambdas, list | tuple) or len(lambdas) != 3 or not all(map(_is_weight, lambdas)):
            raise ConfigError(f"lambdas are {lambdas!r}", "Give three finite numbers of at least 0: I, D, R.")
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


def _is_weight(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= sys.float_info.max


SIMPLIFY_NAME = "simplify"
_NONE = "none"  # TOML has no word for it


def read_config(path: str | Path) -> dict[str, Any]:
    """The settings that a file names, checked; the others keep their defaults. `simplify` is no file but SIMPLIFY."""
    if str(path) == SIMPLIFY_NAME:
        return dict(SIMPLIFY)
    found = read_toml(path, "Write one setting on each line: delta = 2.0")
    names = [field.name for field in fields(DecodeConfig)]
    for name in found:
        if name not in names:
            raise ConfigError(f"{path}: there is no setting {name!r}.", did_you_mean(name, names))
    settings = {name: _value(value) for name, value in found.items()}
    try:
        DecodeConfig(**settings)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.problem}", error.hint) from None
    return settings


def write_config(path: str | Path, config: DecodeConfig, remarks: Sequence[str] = ()) -> None:
    """All settings that are not the defaults, and the method; remarks stand above them."""
    plain = DecodeConfig()
    lines = [f"# {remark}" for remark in remarks]
    for known in fields(DecodeConfig):
        value = getattr(config, known.name)
        if known.name == "method" or value != getattr(plain, known.name):
            lines.append(f"{known.name} = {_written(value)}")
    with replacing(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode("utf-8"))


def _value(value: Any) -> Any:
    return None if value == _NONE else tuple(value) if isinstance(value, list) else value


def _written(value: Any) -> str:
    return json.dumps(_NONE if value is None else list(value) if isinstance(value, tuple) else value)
