"""Rewrites a corpus on a cluster of Ray: parts to processes, results to files, each row once."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ray.data import ActorPoolStrategy, DataContext, read_datasource
from ray.data.checkpoint import CheckpointConfig
from ray.exceptions import RayError

from redraft.cluster.cluster_processes import Processes, connect
from redraft.cluster.input_files import Corpus
from redraft.cluster.output_folder import ID_COLUMN, OutputFolder
from redraft.cluster.part_files import CorpusParts, FinishedElsewhere, ResultFiles, ResultFormat
from redraft.cluster.simplify_batches import SimplifyBatches
from redraft.errors import RedraftError
from redraft.files import is_disk_full

_TRIES = 20  # of a part whose process dies; a text that ends it is found in four, see attempts.py
_PARTS_AHEAD = 2  # for each process: one that is rewritten, and one that waits


@dataclass(frozen=True, kw_only=True)
class CorpusRun:
    """What is rewritten, with what, and where to. `arguments` are those of `SimplifyBatches`."""

    corpus: Corpus
    out: OutputFolder
    arguments: Mapping[str, Any]
    result_format: ResultFormat = "jsonl"
    column: str | None = None
    processes: int | None = None
    threads: int = 1
    device: str | None = None
    progress: bool = False


@dataclass(frozen=True)
class CorpusSummary:
    """Numbers of rows: of the whole corpus, and of this run."""

    rows: int
    resumed: int  # finished by earlier runs
    counts: Mapping[str, int] = field(default_factory=dict)  # of this run: errors, warned, unchanged

    @property
    def errors(self) -> int:
        return self.counts.get("errors", 0)


def run_corpus(run: CorpusRun) -> CorpusSummary:
    """Rewrites all rows that are not finished; `run.out` must have been started."""
    with run.out.locked():
        done = run.out.finished_rows()
        source = CorpusParts(run.corpus.parts, done, run.column)
        counts = _run_parts(run, source) if source.tasks else {}
        run.out.check_finished(run.corpus)
    return CorpusSummary(run.corpus.rows, len(done), counts)


def _run_parts(run: CorpusRun, source: CorpusParts) -> Mapping[str, int]:
    """Rewrites the parts of the source; returns the counts of their rows."""
    with connect():
        processes = Processes.of_cluster(run.processes, run.threads, run.device, most=len(source.tasks))
        sink = ResultFiles(run.out.results, run.result_format)
        with _failures(run.out), _context(run):
            _rewrite(source, sink, processes, {**run.arguments, "attempts": run.out.attempts})
    return sink.counts


def _rewrite(source: CorpusParts, sink: ResultFiles, processes: Processes, arguments: Mapping[str, Any]) -> None:
    # Reading and writing take little time and must not wait for a CPU: the others may have all of them.
    parts = read_datasource(source, override_num_blocks=len(source.tasks), num_cpus=0, concurrency=processes.count + 1)
    dataset = parts.map_batches(
        SimplifyBatches,
        fn_constructor_kwargs={**arguments, "column": "source"},
        batch_size=None,
        batch_format="pyarrow",
        zero_copy_batch=True,
        compute=ActorPoolStrategy(size=processes.count, max_tasks_in_flight_per_actor=_PARTS_AHEAD),
        num_cpus=processes.cpus,
        num_gpus=processes.gpus,
        max_task_retries=_TRIES - 1,
    )
    dataset.write_datasink(sink, ray_remote_args={"num_cpus": 0}, concurrency=processes.count + 1)


@contextmanager
def _context(run: CorpusRun) -> Iterator[None]:
    """The settings of Ray Data for this run."""
    context = DataContext.get_current().copy()
    context.checkpoint_config = CheckpointConfig(
        ID_COLUMN, run.out.checkpoint, delete_checkpoint_on_success=False, checkpoint_manager_cls=FinishedElsewhere
    )
    context.enable_progress_bars = run.progress
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    with DataContext.current(context), warnings.catch_warnings():
        # Ray has no other name for the number of tries; and it advises to divide a corpus of one part.
        warnings.filterwarnings("ignore", "`ray_remote_args` is deprecated")
        warnings.filterwarnings("ignore", "The maximum number of concurrent tasks")
        yield


@contextmanager
def _failures(out: OutputFolder) -> Iterator[None]:
    """Errors of Ray as errors of redraft, with what to do next."""
    again = "Finished files are kept; rerun the command with --resume to continue."
    try:
        yield
    except RayError as error:
        cause = next((one for one in _causes(error) if isinstance(one, RedraftError)), None)
        if cause is not None:
            raise cause from None
        full = next((one for one in _causes(error) if is_disk_full(one)), None)
        if full is not None:
            raise RedraftError(f"{out.path} cannot be written: {full}.", f"Free some disk space. {again}") from None
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise RedraftError(f"the run on Ray failed: {lines[-1] if lines else type(error).__name__}", again) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = getattr(error, "cause", None) or error.__cause__
