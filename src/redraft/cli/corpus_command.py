"""`--on ray` of `redraft simplify` and `redraft plan predict`: many files, rewritten by the processes of a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from redraft.cli.console import OK, SKIPPED, parallel_number, require_package, say, whole_number
from redraft.cli.input_lines import count_lines
from redraft.cli.typer_command import option
from redraft.errors import ConfigError
from redraft.files import digest, folder_digest
from redraft.models import SCRIPTED, bundled, is_scripted, scripted_table
from redraft.reading import read_option_file
from redraft.trust import current_trust

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from redraft.cluster.simplify_batches import Task
    from redraft.simplify.simplifier import Simplifier

On = Annotated[
    Literal["ray"] | None,
    option("where to work: ray, a cluster (RAY_ADDRESS), for many files with --input 'PATTERN' and --out DIR", "ray"),
]
ResultFormat = Annotated[
    Literal["jsonl", "parquet"] | None, option("with --on ray: format of the results (default: jsonl)", "jsonl|parquet")
]
Column = Annotated[
    str | None,
    option("with --on ray: field of the text (default: source, text, sentence or document)", "NAME"),
]
RowsPerFile = Annotated[
    str | None,
    option("with --on ray: rows of each result file, the work that a killed process repeats (default: 1000)", "N"),
]


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """What the command line says about a run on a cluster."""

    input: str
    out: str
    task: Task
    result_format: Literal["jsonl", "parquet"] | None
    column: str | None
    rows_per_file: str | None
    workers: str | None
    threads: str | None
    device: str | None
    batch_size: int | None = None
    resume: bool = False
    skip_unreadable: bool = False


def check_cluster_options(options: Any, more: Sequence[str] = ()) -> None:
    """Refuse options that have an effect only with --on ray; `more` are those of this command."""
    for name in ("result_format", "column", "rows_per_file", *more):
        if getattr(options, name) not in (None, False):
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{flag} applies only to --on ray.", f"Add --on ray, or remove {flag}.")


Options = TypeVar("Options", bound="DataclassInstance")


def absolute_paths(options: Options) -> Options:
    """The options with absolute paths: the processes of a cluster may start in another folder."""
    changed: dict[str, str] = {}
    for name in ("model", "planner", "keep", "glossary"):
        value = getattr(options, name, None)
        if value is None:
            continue
        if name == "model" and is_scripted(value):
            changed[name] = f"{SCRIPTED}{os.path.abspath(scripted_table(value))}"
        elif os.path.exists(value):
            changed[name] = os.path.abspath(value)
    return replace(options, **changed)


def require_out(out: str | None) -> str:
    if out is None:
        raise ConfigError("--on ray requires --out.", "Add --out DIR: a folder that every machine can reach.")
    return out


def run_on_cluster(options: ClusterOptions, make: Callable[..., Simplifier], settings: dict[str, Any]) -> int:
    """Run the command and return its exit status. `settings` are those that the results depend on."""
    require_package("ray", "--on ray", "ray")
    from redraft.cluster.corpus import corpus_facts
    from redraft.cluster.corpus_run import CorpusRun, run_corpus
    from redraft.cluster.input_files import ROWS_PER_PART, find_files, read_corpus
    from redraft.cluster.output_folder import OutputFolder

    rows = ROWS_PER_PART if options.rows_per_file is None else whole_number("--rows-per-file", options.rows_per_file)
    threads, workers = parallel_number("--threads", options.threads), parallel_number("--workers", options.workers)
    corpus = read_corpus(
        find_files(options.input), rows_per_part=rows, documents=options.task == "documents",
        unreadable="skip" if options.skip_unreadable else "raise",
    )  # fmt: skip
    result_format = options.result_format or "jsonl"
    out = OutputFolder(options.out)
    facts = corpus_facts(options.task, options.column, result_format, rows, settings)
    out.start(corpus, facts, resume=options.resume)
    say(f"{len(corpus.files):,} {'file' if len(corpus.files) == 1 else 'files'}, {corpus.rows:,} rows")
    arguments = {"task": options.task, "batch_size": options.batch_size, "make": make, "trust": current_trust()}
    summary = run_corpus(
        CorpusRun(
            corpus=corpus, out=out, arguments=arguments, result_format=result_format, column=options.column,
            processes=workers, threads=threads or 1, device=options.device, progress=sys.stderr.isatty(),
        )
    )  # fmt: skip
    if summary.resumed:
        say(f"{summary.resumed:,} rows were finished before")
    for what, count in (("an error", summary.errors), ("a warning", summary.counts.get("warned", 0))):
        if count:
            say(f"rows with {what}: {count:,}; see the field {what.split()[1]}{'s' if what != 'an error' else ''}")
    say(f"{count_lines(summary.rows)} in {out.results}")
    return SKIPPED if summary.errors else OK


def option_file_digest(path: str | None) -> str | None:
    return None if path is None else digest(read_option_file(path))


def planner_digest(folder: str | None) -> str:
    return folder_digest(Path(folder) if folder is not None else Path(bundled("planner")))
