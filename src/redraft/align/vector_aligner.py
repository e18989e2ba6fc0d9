"""Alignment by the similarity of contextual word vectors, without training (Jalili Sabet et al., 2020)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.align.encoders import chosen_device, load_encoder
from redraft.align.links import Links
from redraft.align.word_batches import PairReader, Words
from redraft.errors import ConfigError, shown

Array = NDArray[np.float64]
Method = Literal["argmax", "itermax", "match"]
_READ_AHEAD = 64  # pairs encoded at once


class VectorAligner:
    """Encodes each sentence separately with an encoder of `transformers` and selects links by one of three methods.

    The vectors come from the hidden layer at two thirds of the depth, which aligns better than the last. Words beyond
    the encoder's limit get no link; their pairs are counted in `too_long`.
    """

    def __init__(
        self, encoder: str, *, method: Method = "argmax", layer: int | None = None, device: str | None = None
    ) -> None:
        if method not in get_args(Method):
            raise ConfigError(f"the method {shown(method)} is not known.", f"Use one of {', '.join(get_args(Method))}.")
        encoder_model, tokenizer = load_encoder(encoder)
        self._encoder = encoder_model.eval().to(chosen_device(device))
        self._reader = PairReader(tokenizer)
        self.too_long = 0
        depth = self._encoder.config.num_hidden_layers
        self._choose, self._layer = _METHODS[method], round(2 / 3 * depth) if layer is None else layer

    def align(self, pairs: Iterable[tuple[Words, Words]]) -> Iterator[Links]:
        pairs = iter(pairs)
        while ahead := list(islice(pairs, _READ_AHEAD)):
            sides = [side for pair in ahead for side in pair]
            self.too_long += sum(any(len(self._reader.cut(side)) < len(side) for side in pair) for pair in ahead)
            vectors = self._vectors(sides)
            for number in range(len(ahead)):
                yield self._choose(_cosines(vectors[2 * number], vectors[2 * number + 1]))

    @torch.inference_mode()
    def _vectors(self, sentences: Sequence[Words]) -> list[Array]:
        """A vector for each word of each sentence; words beyond the encoder's limit get zeros and therefore no link."""
        cut = [self._reader.cut(sentence) for sentence in sentences]
        found: list[Array] = [np.zeros((len(sentence), 1)) for sentence in sentences]
        order = sorted((at for at in range(len(cut)) if cut[at]), key=lambda at: len(cut[at]))
        for start in range(0, len(order), 32):
            group = order[start : start + 32]
            batch = self._reader.batch([(cut[at], ()) for at in group]).to(self._encoder.device)
            states = self._encoder(
                input_ids=batch.tokens, attention_mask=batch.mask, output_hidden_states=True
            ).hidden_states
            words = (batch.source_words @ states[self._layer]).cpu().double().numpy()
            for at, rows in zip(group, words, strict=True):
                found[at] = np.zeros((len(sentences[at]), rows.shape[-1]))
                found[at][: len(cut[at])] = rows[: len(cut[at])]
        return found


def _cosines(source: Array, target: Array) -> Array:
    if not source.size or not target.size or source.shape[1] != target.shape[1]:
        return np.zeros((len(source), len(target)))
    left, right = (side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9) for side in (source, target))
    return np.asarray(left @ right.T)


def argmax(table: Array) -> Links:
    """Mutual argmax."""
    if not table.size:
        return frozenset()
    best_right, best_left = table.argmax(1), table.argmax(0)
    return frozenset((i, int(j)) for i, j in enumerate(best_right) if best_left[j] == i and table[i, j] > 0)


def itermax(table: Array, rounds: int = 2, discount: float = 0.9) -> Links:
    """Iterated mutual argmax: in later rounds, pairs with one linked word are discounted, pairs with two excluded."""
    links = set(argmax(table))
    for _ in range(rounds - 1):
        left, right = np.zeros(table.shape[0], bool), np.zeros(table.shape[1], bool)
        for i, j in links:
            left[i] = right[j] = True
        weights = np.where(left[:, None] & right[None], 0, np.where(left[:, None] | right[None], discount, 1.0))
        links |= argmax(table * weights)
    return frozenset(links)


def match(table: Array) -> Links:
    """Maximum-weight bipartite matching: at most one link for each word."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise ConfigError("the method match needs scipy.", "Install it: pip install 'redraft[align]'") from None
    return frozenset((int(i), int(j)) for i, j in zip(*linear_sum_assignment(-table), strict=True) if table[i, j] > 0)


_METHODS: dict[Method, Callable[[Array], Links]] = {"argmax": argmax, "itermax": itermax, "match": match}
