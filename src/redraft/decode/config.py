"""The settings of the search, each with its default, help text and limits; reading and writing settings files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_type_hints

from redraft.errors import ConfigError, did_you_mean
from redraft.files import atomic_write
from redraft.reading import read_toml
from redraft.settings_checks import check_setting

_MAX_BEAMS, _MAX_TOKENS = 1_000, 10_000  # memory and time grow with their product
_MAX_INTEGER = 1 << 30  # limit of the other integer settings


def _setting(default: Any, help: str, least: float = -math.inf, most: float = math.inf) -> Any:
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeConfig:
    """Settings of the search. docs/search.md specifies each of them."""

    method: Literal["edit", "beam", "negative", "neurologic"] = _setting("edit", "decoding method")
    beams: int = _setting(20, "beam size", 1, _MAX_BEAMS)
    width: int | None = _setting(
        None,
        "candidate tokens expanded per hypothesis (siblings of each other); 2 · beams if not given",
        1,
        _MAX_TOKENS,
    )
    alpha: int = _setting(200, "most likely candidates kept per sentence and step", 1, _MAX_INTEGER)
    lambdas: tuple[float, float, float] = _setting(
        (1.0, 1.0, 1.0), "edit weights λ of insertions, deletions and substitutions"
    )
    scale: Literal["edit", "kind"] = _setting(
        "edit",
        "each edit weighs λ (edit), or all edits of a kind share λ/Σλ (kind), as in the paper's released program",
    )
    delta: float | None = _setting(
        2.0, "prune candidates whose edit score is more than this below the best; none: no pruning", 0
    )
    group_by: Literal["all", "positive"] = _setting(
        "all", "group candidates by satisfied edits (all), or by satisfied insertions and substitutions only (positive)"
    )
    end: Literal["always", "likeliest", "met", "either"] = _setting(
        "always",
        "EOS policy: always allowed (always), allowed only as top-1 token (likeliest), only when all insertions and "
        "substitutions are satisfied (met), or in both of these cases (either)",
    )
    choose: Literal["edits", "sum"] = _setting(
        "edits", "final ranking by edit score, then log-probability (edits), or by their sum (sum)"
    )
    stop: Literal["open", "exact"] = _setting(
        "open", "stopping rule; exact also continues while unsatisfied edits could still raise a score"
    )
    admit_unmet: bool = _setting(
        False, "add the next token of each unsatisfied insertion or substitution to the candidate tokens"
    )
    admit_gap: float = _setting(
        10.0, "with admit_unmet: add a token only if its log-probability is at most this far below the top-1 token's", 0
    )
    ahead: int | None = _setting(
        None, "reward an edit only if at most N earlier edits (source order) are unsatisfied; none: always", 0,
        _MAX_INTEGER,
    )  # fmt: skip
    strict: bool = _setting(True, "count a substitution only if its alternative was among the candidate tokens")
    begun: bool = _setting(False, "a partially generated phrase counts as pending, so the search continues it")
    forbid: bool = _setting(False, "ban deleted and substituted phrases, as method negative does")
    tell: bool = _setting(True, "mark the plan in the model input, for models trained to read plans")
    beta: int = _setting(
        2, "neurologic: prune candidates that are more than this many satisfied clauses behind the best", 0,
        _MAX_INTEGER,
    )  # fmt: skip
    ban: Literal["word", "token"] = _setting(
        "word", "negative: ban completing the phrase as whole words (word), or its last token (token)"
    )
    length_penalty: float = _setting(
        1.0, "length penalty p: finished hypotheses are ranked by log-probability / length ** p", -10, 10
    )
    early_stopping: bool | Literal["never"] = _setting(False, "as in transformers, for sentences without edits")
    min_tokens: int = _setting(0, "minimum output length in tokens", 0, _MAX_TOKENS)
    max_tokens: int | None = _setting(
        None, "maximum output length in tokens, EOS included; 2 · source tokens + 10 if not given", 1, _MAX_TOKENS
    )
    no_repeat_ngram: int = _setting(0, "no-repeat n-gram size; 0 disables", 0, _MAX_INTEGER)
    candidates: int = _setting(1, "finished hypotheses to return, distinct as text; at most `beams`", 1, _MAX_BEAMS)

    def __post_init__(self) -> None:
        for setting in fields(self):
            if setting.name != "lambdas":
                limits = {name: setting.metadata[name] for name in ("least", "most")}
                check_setting(setting.name, getattr(self, setting.name), _HINTS[setting.name], **limits)
        lambdas: Any = self.lambdas
        if not isinstance(lambdas, list | tuple) or len(lambdas) != 3 or not all(map(_is_weight, lambdas)):
            raise ConfigError(
                f"lambdas are {lambdas!r}",
                "Give three finite numbers of at least 0: insertion, deletion, substitution.",
            )
        if self.candidates > self.beams:
            raise ConfigError(
                f"candidates={self.candidates} but beams={self.beams}", "Use fewer candidates or more beams."
            )

    @property
    def row_width(self) -> int:
        return self.width if self.width is not None else 2 * self.beams

    def with_changes(self, **changes: Any) -> DecodeConfig:
        return replace(self, **changes)


# The preset of `redraft simplify`, the service and `Simplifier`. A model that reads its plan needs only a small
# beam, and lower edit weights keep the search from forcing an edit into an unnatural sentence.
SIMPLIFY: Mapping[str, Any] = {
    "beams": 4, "lambdas": (0.5, 0.5, 0.5), "group_by": "positive", "ahead": 0, "choose": "sum", "end": "likeliest",
    "admit_unmet": True, "begun": True,
}  # fmt: skip

_HINTS = get_type_hints(DecodeConfig)


def _is_weight(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= sys.float_info.max


SIMPLIFY_NAME = "simplify"
_NONE = "none"  # TOML has no null


def read_config(path: str | Path) -> dict[str, Any]:
    """The settings given in a TOML file, validated; the name "simplify" stands for the preset SIMPLIFY instead."""
    if str(path) == SIMPLIFY_NAME:
        return dict(SIMPLIFY)
    given = read_toml(path, "Write one setting per line, for example: delta = 2.0")
    names = [field.name for field in fields(DecodeConfig)]
    for name in given:
        if name not in names:
            raise ConfigError(f"{path}: unknown setting {name!r}.", did_you_mean(name, names))
    settings = {name: _from_toml(value) for name, value in given.items()}
    try:
        DecodeConfig(**settings)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.problem}", error.hint) from None
    return settings


def write_config(path: str | Path, config: DecodeConfig, comments: Sequence[str] = ()) -> None:
    """Write the method and all settings that differ from the defaults, below the comments."""
    default = DecodeConfig()
    lines = [f"# {comment}" for comment in comments]
    for setting in fields(DecodeConfig):
        value = getattr(config, setting.name)
        if setting.name == "method" or value != getattr(default, setting.name):
            lines.append(f"{setting.name} = {_to_toml(value)}")
    with atomic_write(Path(path)) as file:
        file.write(("\n".join(lines) + "\n").encode("utf-8"))


def _from_toml(value: Any) -> Any:
    return None if value == _NONE else tuple(value) if isinstance(value, list) else value


def _to_toml(value: Any) -> str:
    return json.dumps(_NONE if value is None else list(value) if isinstance(value, tuple) else value)
