"""A model whose log-probabilities come from a table, for tests and for searches checked by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from redraft.constrain.vocabulary import WordVocabulary
from redraft.errors import ModelError
from redraft.reading import read_json

END, START, PAD = "</s>", "<s>", "<pad>"
_KEYS = ("vocab", "log_probs_by_prefix", "log_probs_by_last_token", "floor_log_prob")


class ScriptedModel:
    """Next-word log-probabilities looked up by the whole prefix, then by the last word, and used unchanged.

    Words that a row of the table does not list get `floor_log_prob`; if no row matches, `</s>` has log-probability 0.
    `<s>` and `<pad>` are never generated. The source is ignored.
    """

    def __init__(
        self,
        vocab: Sequence[str],
        log_probs_by_prefix: Mapping[str, Mapping[str, float]] | None = None,
        log_probs_by_last_token: Mapping[str, Mapping[str, float]] | None = None,
        floor_log_prob: float = -100.0,
        device: str | torch.device = "cpu",
    ) -> None:
        words = list(dict.fromkeys([*vocab, *([] if END in vocab else [END])]))
        self.tokenizer = WordVocabulary(words, [word for word in (END, START, PAD) if word in words])
        self.end_tokens = [self.tokenizer.index[END]]
        self._never = [self.tokenizer.index[word] for word in (START, PAD) if word in words]
        self._by_prefix = {self._tokens(prefix): dict(row) for prefix, row in (log_probs_by_prefix or {}).items()}
        self._by_last = {self._tokens(word): dict(row) for word, row in (log_probs_by_last_token or {}).items()}
        self._floor = floor_log_prob
        self.device = torch.device(device)
        self._rows: list[list[tuple[int, ...]]] = []
        self._known: dict[tuple[int, ...], list[float]] = {}

    @classmethod
    def from_json(cls, path: str | Path) -> ScriptedModel:
        """Read a table, an object with the keys vocab, log_probs_by_prefix, log_probs_by_last_token, floor_log_prob."""
        try:
            table: Any = read_json(path)
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror})", "Check the path of the table.") from error
        except ValueError as error:
            raise ModelError(f"{path}: is not JSON ({error})", "Fix the table at that place.") from error
        if not isinstance(table, dict) or "vocab" not in table:
            raise ModelError(f"{path}: has no vocab", f"Write an object with the keys {', '.join(_KEYS)}.")
        unknown = sorted(set(table) - set(_KEYS))
        if unknown:
            raise ModelError(f"{path}: unknown key {unknown[0]!r}", f"The keys are {', '.join(_KEYS)}.")
        _check_table(table, str(path))
        try:
            return cls(**table)
        except ModelError as error:
            raise ModelError(f"{path}: {error.problem}", error.hint) from error

    def _tokens(self, text: str) -> tuple[int, ...]:
        for word in text.split():
            self._token(word)
        return tuple(self.tokenizer.index[word] for word in text.split())

    def _token(self, word: str) -> int:
        if word not in self.tokenizer.index:
            raise ModelError(f"{word!r} is in the table but not in vocab", "Add it to vocab.")
        return self.tokenizer.index[word]

    def next_log_probs(self, prefix: tuple[int, ...]) -> list[float]:
        """One log-probability for each word of the vocabulary."""
        if prefix not in self._known:
            row = self._by_prefix.get(prefix)
            if row is None:
                row = self._by_last.get(prefix[-1:]) if prefix else None
            scores = [self._floor] * len(self.tokenizer.words)
            for word, log_prob in (row if row is not None else {END: 0.0}).items():
                scores[self._token(word)] = float(log_prob)
            for token in self._never:
                scores[token] = -float("inf")
            self._known[prefix] = scores
        return self._known[prefix]

    def start(self, sources: Sequence[str], beams: int) -> Tensor:
        self._rows = [[()] * beams for _ in sources]
        return self._scores()

    def step(self, tokens: Tensor) -> Tensor:
        taken = tokens.tolist()
        self._rows = [
            [(*row, token) for row, token in zip(rows, sentence, strict=True)]
            for rows, sentence in zip(self._rows, taken, strict=True)
        ]
        return self._scores()

    def reorder(self, parent: Tensor) -> None:
        self._rows = [
            [rows[place] for place in sentence] for rows, sentence in zip(self._rows, parent.tolist(), strict=True)
        ]

    def _scores(self) -> Tensor:
        scores = [[self.next_log_probs(row) for row in rows] for rows in self._rows]
        return torch.tensor(scores, dtype=torch.float64, device=self.device)


def _is_word(value: object) -> bool:
    """Whether a value is one word; half of a surrogate pair, which JSON allows, is not."""
    return isinstance(value, str) and len(value.split()) == 1 and value.encode("utf-8", "ignore").decode() == value


def _check_table(table: dict[str, Any], path: str) -> None:
    """Check the types of a table before it is used."""

    def is_number(value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return value == -math.inf or abs(value) <= sys.float_info.max  # not NaN, and not an int beyond any float

    vocab = table["vocab"]
    if not isinstance(vocab, list) or not all(map(_is_word, vocab)):
        raise ModelError(f"{path}: vocab is not a list of words", 'Write for example ["The", "old", "."].')
    for key in ("log_probs_by_prefix", "log_probs_by_last_token"):
        rows = table.get(key, {})
        rows = rows if isinstance(rows, dict) else {"": rows}
        for prefix, row in rows.items():
            if not isinstance(row, dict) or not all(is_number(value) for value in row.values()):
                raise ModelError(
                    f"{path}: {key} has a row at {prefix!r} that is not words with log-probabilities",
                    'Write for example {"The": {"old": -0.5}}.',
                )
            for word in row:
                if word != END and word not in vocab:
                    raise ModelError(f"{path}: {word!r} is in the table but not in vocab", "Add it to vocab.")
    if not is_number(table.get("floor_log_prob", -100.0)):
        raise ModelError(f"{path}: floor_log_prob is not a number", "Write for example -100.")
