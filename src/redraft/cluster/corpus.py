"""`simplify_corpus`: a corpus of files from Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import redraft
from redraft.cluster.corpus_run import CorpusRun, CorpusSummary, run_corpus
from redraft.cluster.input_files import ROWS_PER_PART, Unreadable, find_files, read_corpus
from redraft.cluster.output_folder import OutputFolder
from redraft.cluster.part_files import ResultFormat
from redraft.cluster.simplify_batches import Task
from redraft.decode.model_fingerprint import fingerprint
from redraft.errors import ConfigError
from redraft.settings_checks import check_setting


def simplify_corpus(
    input: str | Sequence[str], out: str, *, model: str | None = None, task: Task = "sentences",
    column: str | None = None, result_format: ResultFormat = "jsonl", rows_per_file: int = ROWS_PER_PART,
    processes: int | None = None, threads: int = 1, device: str | None = None, resume: bool = False,
    unreadable: Unreadable = "raise", batch_size: int | None = None, **settings: Any,
) -> CorpusSummary:  # fmt: skip
    """Rewrites all files that match `input` on the cluster of Ray, and writes one result for each row into `out`.

    `input` and `out` are paths, or addresses such as s3://bucket/folder, that every machine can reach. A row is a line
    of a text file, an object of a .jsonl file, or a row of a .parquet file, with its text in `column`. With
    task="documents" each row is a document, and a text file is one row; with task="plans", plans are predicted only.

    With `resume`, the rows of an earlier run are kept; its settings and input must be the same. Rows that cannot be
    rewritten have an error in the results. `settings` are those of `Simplifier`.
    """
    check_setting("task", task, Task)
    check_setting("result_format", result_format, ResultFormat)
    check_setting("rows_per_file", rows_per_file, int, least=1)
    check_setting("processes", processes, int | None, least=1)
    check_setting("threads", threads, int, least=1)
    corpus = read_corpus(
        find_files(input), rows_per_part=rows_per_file, documents=task == "documents", unreadable=unreadable
    )
    folder = OutputFolder(out)
    known = {name: _facts(name, value) for name, value in settings.items()}
    facts = corpus_facts(task, column, result_format, rows_per_file, {**fingerprint(model), **known})
    folder.start(corpus, facts, resume=resume)
    arguments = {"model": model, "task": task, "batch_size": batch_size, **settings}
    return run_corpus(
        CorpusRun(
            corpus=corpus, out=folder, arguments=arguments, result_format=result_format, column=column,
            processes=processes, threads=threads, device=device,
        )
    )  # fmt: skip


def corpus_facts(
    task: Task, column: str | None, result_format: ResultFormat, rows_per_file: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """What the results of a run depend on."""
    return {
        "redraft": redraft.__version__, "task": task, "column": column, "result_format": result_format,
        "rows_per_file": rows_per_file, **settings,
    }  # fmt: skip


def _facts(name: str, value: Any) -> Any:
    """A setting as JSON."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    try:
        json.dumps(plain)
    except TypeError:
        raise ConfigError(
            f"{name} is a {type(value).__name__}, which a later run cannot be compared with.",
            "Use SimplifyBatches with a dataset of Ray, or give names and numbers.",
        ) from None
    return plain
