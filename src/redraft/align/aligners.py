"""Creates an aligner by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Protocol, get_args

from redraft.align.links import Links
from redraft.errors import ConfigError, shown

AlignerName = Literal["trained", "vectors", "exact"]


class WordAligner(Protocol):
    """The interface of all aligners."""

    too_long: int  # pairs so far that exceeded the length limit and were not, or only partly, aligned by this aligner

    def align(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Links]:
        """The links of each pair, in order."""


def make_aligner(name: str = "trained", *, encoder: str | None = None, device: str | None = None) -> WordAligner:
    """An aligner by name. `encoder`: the folder of a trained aligner, or for `vectors` any encoder of transformers."""
    if name == "exact":
        from redraft.align.exact_aligner import ExactAligner

        return ExactAligner()
    if name == "vectors":
        from redraft.align.vector_aligner import VectorAligner

        if encoder is None:
            raise ConfigError(
                "--aligner vectors needs an encoder.", "Add --encoder with a name on the Hugging Face hub or a folder."
            )
        return VectorAligner(encoder, device=device)
    if name == "trained":
        from redraft.align.trained_aligner import TrainedAligner

        return TrainedAligner.load(encoder, device=device)
    raise ConfigError(f"the aligner {shown(name)} is not known.", f"Use one of {', '.join(get_args(AlignerName))}.")
