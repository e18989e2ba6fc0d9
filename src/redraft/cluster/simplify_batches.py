"""`SimplifyBatches`: the class that each process of `ray.data.Dataset.map_batches` makes one object of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import pyarrow as pa

from redraft.cluster.attempts import Attempts
from redraft.cluster.result_rows import document_row, empty_row, error_row, plan_row, result_table, sentence_row
from redraft.decode.result import Result
from redraft.errors import ConfigError, RedraftError
from redraft.plan.edits import EditPlan
from redraft.settings_checks import check_setting
from redraft.simplify.batching import default_batch_size
from redraft.simplify.documents import Document
from redraft.simplify.simplifier import PlannedText, Simplifier, Text
from redraft.text.sentences import Sentence, split_document
from redraft.text.spelling import Spelling, spelling_of
from redraft.threads import set_threads
from redraft.trust import Trust, trusting

Task = Literal["sentences", "documents", "plans"]
Item = tuple[Text | RedraftError, str | None]  # what a row asks for, and its source
Given = TypeVar("Given")
Outcome = TypeVar("Outcome")
_DIED = "the process ended each time that it rewrote this text; the memory may be too small for it."
_SORTED_TOGETHER = 2048  # texts of similar length share a batch


class SimplifyBatches:
    """Rewrites batches of rows: `dataset.map_batches(SimplifyBatches, num_cpus=1, concurrency=4)`.

    An object loads its models once, uses the CPUs and the GPU that Ray gave to its process, and writes the errors of
    rows into the column `error` instead of raising them. A row has its text in `column`; with a plan in the column
    `plan` (JSON), the plan is applied unchanged. Other columns are kept. The new columns are source, text, plan,
    verdicts (both JSON), warnings, unchanged and error.

    `task` says what a row is: a sentence, a document of several sentences, or a sentence that is only planned.
    `make` is a function that makes the simplifier for a device; by default it is `Simplifier`. `settings` are those of
    `Simplifier`. `attempts` is a folder for marks of batches whose process died: a text that ends every process is
    found, if the rows have numbers in the column `row`. A wrong setting ends the job: no row could be rewritten.
    """

    def __init__(
        self, model: Any = None, *, column: str = "text", task: Task = "sentences", batch_size: int | None = None,
        make: Callable[..., Simplifier] | None = None, trust: Trust | None = None, attempts: str | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        check_setting("task", task, Task)
        check_setting("batch_size", batch_size, int | None, least=1)
        threads, device = assigned_resources()
        set_threads(threads)
        trust = trust or Trust()
        with trusting(remote_code=trust.remote_code, pickled_weights=trust.pickled_weights):
            self.simplifier = make(device=device) if make else Simplifier(model, device=device, **settings)
        self._column, self._task, self._attempts = column, task, attempts
        size = batch_size or default_batch_size(self.simplifier.redrafter.model)
        self._options: dict[str, Any] = {"batch_size": size, "window": max(1, _SORTED_TOGETHER // size)}

    def __call__(self, batch: pa.Table | Mapping[str, Sequence[Any]]) -> pa.Table:
        table = batch if isinstance(batch, pa.Table) else pa.table({name: list(batch[name]) for name in batch})
        if self._column not in table.column_names:
            raise ConfigError(
                f"the rows have no column {self._column!r}, but {', '.join(table.column_names)}.",
                "Name the column of the texts: fn_constructor_kwargs={'column': …}.",
            )
        sources: list[str | None] = table[self._column].to_pylist()
        none: list[Any] = [None] * len(sources)
        plans = table["plan"].to_pylist() if "plan" in table.column_names else none
        errors = table["error"].to_pylist() if "error" in table.column_names else none
        rows = self._tried(list(zip(map(_row_text, sources, plans, errors), sources, strict=True)), table)
        new = ("source", "text", "plan", "verdicts", "warnings", "unchanged", "error", self._column)
        return result_table(table.select([name for name in table.column_names if name not in new]), rows)

    def _tried(self, items: Sequence[Item], table: pa.Table) -> list[dict[str, Any]]:
        """The rows of all items; if processes died, one item at a time."""
        if self._attempts is None or not items:
            return list(self._rows(items))
        rows: list[dict[str, Any]] = []
        with Attempts(self._attempts, table["row"][0].as_py()).pieces(items) as pieces:
            for some, is_bad in pieces:
                rows += [error_row(some[0][1], _DIED)] if is_bad else self._rows(some)
        return rows

    def _rows(self, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
        texts = [text for text, _ in items]
        rewrite = {"sentences": self._sentences, "documents": self._documents, "plans": self._plans}[self._task]
        wanted = [text for text in texts if not isinstance(text, RedraftError) and self._is_rewritten(text)]
        rows = iter(rewrite(wanted))
        for text, source in items:
            if isinstance(text, RedraftError):
                yield error_row(source, text)
            elif not self._is_rewritten(text):
                yield empty_row(text if isinstance(text, EditPlan) else EditPlan(text))
            else:
                yield next(rows)

    def _is_rewritten(self, text: Text) -> bool:
        return self._task == "documents" or bool(_source(text).strip())

    def _sentences(self, texts: Sequence[Text]) -> list[dict[str, Any]]:
        outcomes = each(texts, lambda some: list(self.simplifier.pipe(some, on_error="return", **self._options)))
        return [_row_of(text, outcome, sentence_row) for text, outcome in zip(texts, outcomes, strict=True)]

    def _plans(self, texts: Sequence[Text]) -> list[dict[str, Any]]:
        def planned(some: Sequence[Text]) -> list[PlannedText | RedraftError]:
            return list(self.simplifier.planned(_source(text) for text in some))

        outcomes = each(texts, planned)
        return [
            _row_of(text, outcome, lambda one: plan_row(one.plan, one.unchanged))
            for text, outcome in zip(texts, outcomes, strict=True)
        ]

    def _documents(self, texts: Sequence[Text]) -> list[dict[str, Any]]:
        """As `Simplifier.document`, with the sentences of all documents rewritten together."""
        split = [split_document(_source(text)) for text in texts]
        spellings = [spelling_of(_source(text)) for text in texts]
        results: dict[Spelling | None, Iterator[Result | RedraftError]] = {}
        for spelling in dict.fromkeys(spellings):
            some = [one.text for found, own in zip(split, spellings, strict=True) if own == spelling for one in found]
            results[spelling] = iter(self._spelled([text for text in some if text], spelling))
        return [
            _row_of(text, _document(sentences, results[spelling]), document_row)
            for text, sentences, spelling in zip(texts, split, spellings, strict=True)
        ]

    def _spelled(self, texts: Sequence[str], spelling: Spelling | None) -> list[Result | RedraftError]:
        own = self.simplifier.spelling or spelling
        return each(
            texts, lambda some: list(self.simplifier.pipe(some, on_error="return", spelling=own, **self._options))
        )


def assigned_resources() -> tuple[int | None, str | None]:
    """The threads and the device that Ray assigned to this process; None, None if it is no process of Ray."""
    import ray

    if not ray.is_initialized() or ray.get_runtime_context().get_actor_id() is None:
        return None, None
    context: Any = ray.get_runtime_context()
    assigned = context.get_assigned_resources()
    return max(1, int(assigned.get("CPU", 1))), "cuda" if assigned.get("GPU", 0) > 0 else "cpu"


def each(
    items: Sequence[Given], work: Callable[[Sequence[Given]], Sequence[Outcome | RedraftError]]
) -> list[Outcome | RedraftError]:
    """The outcome of each item. After an error, each half is tried separately: only the items at fault have one.

    Errors of settings are raised: they are the same for every item.
    """
    if not items:
        return []
    try:
        return list(work(items))
    except ConfigError:
        raise
    except Exception as error:  # of a model that a user gave, or too little memory: it must not end the job
        if len(items) == 1:
            return [error if isinstance(error, RedraftError) else RedraftError(f"{type(error).__name__}: {error}")]
    middle = len(items) // 2
    return [outcome for half in (items[:middle], items[middle:]) for outcome in each(half, work)]


def _row_text(source: str | None, plan: str | None, error: str | None) -> Text | RedraftError:
    if error is not None:
        return RedraftError(error)
    try:
        return EditPlan.from_json(json.loads(plan)) if plan is not None else EditPlan(source or "").source
    except RedraftError as problem:
        return problem
    except (ValueError, RecursionError):
        return RedraftError("the plan is not JSON.", "Write plans as in a plan file.")


def _source(text: Text) -> str:
    return text.source if isinstance(text, EditPlan) else text


def _row_of(text: Text, outcome: Outcome | RedraftError, to_row: Callable[[Outcome], dict[str, Any]]) -> dict[str, Any]:
    return error_row(_source(text), outcome) if isinstance(outcome, RedraftError) else to_row(outcome)


def _document(sentences: Sequence[Sentence], results: Iterator[Result | RedraftError]) -> Document | RedraftError:
    """The document, or the errors of its sentences: a document with a sentence left out would be wrong."""
    own = [next(results) for sentence in sentences if sentence.text]
    errors = [f"sentence {number}: {one}" for number, one in enumerate(own, 1) if isinstance(one, RedraftError)]
    if errors:
        return RedraftError("\n".join(errors))
    return Document(tuple(sentences), tuple(one for one in own if isinstance(one, Result)))
