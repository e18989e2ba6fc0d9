"""A simplifier that writes capital letters, fails at one text, and may end its process there; for processes of Ray."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from typing import Any

from redraft.cluster.part_files import ResultFiles
from redraft.decode.result import Candidate, Result
from redraft.plan.edits import EditPlan


class FailingSimplifier:
    """Has what `SimplifyBatches` needs of a `Simplifier`."""

    spelling = None

    class redrafter:
        model = None

    def __init__(self, bad: str, error: Exception | None) -> None:
        self._bad, self._error = bad, error

    def pipe(self, texts: Iterable[Any], **_: Any) -> Iterator[Result]:
        for text in texts:
            if text == self._bad:
                if self._error is None:
                    os._exit(1)
                raise self._error
            candidate = Candidate(text.upper(), 0.0, 0.0, (), (), False)
            yield Result(text, (candidate,), plan=EditPlan(text))


class DiskForTwentyRows(ResultFiles):
    """A disk that has no space for the results of the last rows."""

    def write_block_to_file(self, block: Any, file: Any) -> None:
        if block.to_arrow()["row"][0].as_py() >= 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write_block_to_file(block, file)


def fails_at_seven(device: str | None = None) -> Any:
    return FailingSimplifier("Sentence 7.", RuntimeError("the model broke"))


def ends_at_seven(device: str | None = None) -> Any:
    return FailingSimplifier("Sentence 7.", None)
