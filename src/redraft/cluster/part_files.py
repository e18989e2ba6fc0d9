"""Parts of a corpus as a source of Ray Data, and result files as its sink."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from ray.data import Datasource, ReadTask
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.checkpoint import CheckpointManager
from ray.data.datasource import BlockBasedFileDatasink

from redraft.cluster.input_files import InputPart
from redraft.cluster.input_rows import INPUT_SCHEMA, read_part
from redraft.cluster.result_rows import json_lines

ResultFormat = Literal["jsonl", "parquet"]


class CorpusParts(Datasource):
    """Each part is one read task, so that a process reads what it rewrites, and one block, so that it is one file.

    Rows that are finished are left out here. Ray's own filter would do this in processes that need a CPU each; if the
    other processes have all CPUs, it waits for ever.
    """

    def __init__(self, parts: Sequence[InputPart], done: np.ndarray[Any, Any], column: str | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tasks = [
            ReadTask(partial(_blocks, part, finished, column), _metadata(part, finished), schema=INPUT_SCHEMA)
            for part, finished in ((part, _done_of(part, done)) for part in parts)
            if len(finished) < part.rows
        ]

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        return self.tasks


def _done_of(part: InputPart, done: np.ndarray[Any, Any]) -> frozenset[int]:
    """The finished rows of a part; `done` is sorted."""
    first, last = np.searchsorted(done, (part.row, part.row + part.rows))
    return frozenset(done[first:last].tolist())


def _blocks(part: InputPart, done: frozenset[int], column: str | None) -> list[pa.Table]:
    return [read_part(part, column, done)]


def _metadata(part: InputPart, done: Collection[int]) -> BlockMetadata:
    return BlockMetadata(num_rows=part.rows - len(done), size_bytes=None, exec_stats=None, input_files=None)


class FinishedElsewhere(CheckpointManager):
    """Makes Ray write checkpoints and read none: `CorpusParts` leaves finished rows out."""

    def load_checkpoint(self, data_file_dir: str | None = None, data_file_filesystem: Any = None) -> tuple[None, int]:
        return None, 0


class ResultFiles(BlockBasedFileDatasink):
    """Writes each block as one file, and counts the rows with an error or a warning."""

    def __init__(self, folder: str, file_format: ResultFormat) -> None:
        super().__init__(folder, file_format=file_format)
        self.counts: Counter[str] = Counter()

    def write(self, blocks: Iterable[Any], ctx: Any) -> Any:
        some = list(blocks)
        super().write(some, ctx)
        counts: Counter[str] = Counter()
        for block in some:
            table = BlockAccessor.for_block(block).to_arrow()
            counts["rows"] += table.num_rows
            counts["errors"] += table.num_rows - table["error"].null_count
            counts["warned"] += sum(bool(warnings) for warnings in table["warnings"].to_pylist())
            counts["unchanged"] += table.num_rows - table["unchanged"].null_count
        return counts

    def write_block_to_file(self, block: BlockAccessor, file: Any) -> None:
        table = block.to_arrow()
        if self.file_format == "parquet":
            pq.write_table(table, file)
        else:
            file.write("".join(f"{line}\n" for line in json_lines(table)).encode("utf-8", "replace"))

    def on_write_complete(self, write_result: Any) -> None:
        super().on_write_complete(write_result)
        for counts in write_result.write_returns:
            self.counts.update(counts or {})
