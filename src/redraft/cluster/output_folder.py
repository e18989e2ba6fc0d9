"""The output folder of a corpus: its manifest, its result files, and which rows are finished.

    manifest.json     what was rewritten, with what: a run with other settings cannot be mixed into it
    results/          one file for each part, in the order in which they were finished
    attempts/         marks of parts whose process died
    checkpoint/       for each result file, the numbers of its rows: written by Ray before and after the file itself

A result file counts once its checkpoint is committed. Ray writes NAME.pending.parquet, then the result file NAME, then
renames the former to NAME.parquet.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from redraft.cluster.input_files import Corpus, open_file_system
from redraft.errors import ConfigError, shown
from redraft.files import is_disk_full, lock_file

ID_COLUMN = "row"
_PENDING = ".pending"
_MANIFEST, _PROBE = "manifest.json", ".redraft-probe"
_VERSION = 1
_FOLDERS = ("results", "checkpoint", "attempts")
Facts = Mapping[str, Any]


class OutputFolder:
    """`path` is a folder, or an address such as s3://bucket/folder, that every machine of the cluster can reach."""

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/") or path
        self._file_system, self._inner = open_file_system(self.path)

    @property
    def results(self) -> str:
        """The folder of the result files, as Ray wants it: an absolute path, or an address."""
        return self._place("results")

    @property
    def checkpoint(self) -> str:
        return self._place("checkpoint")

    @property
    def attempts(self) -> str:
        return self._place("attempts")

    def _place(self, name: str) -> str:
        return f"{self.path if '://' in self.path else self._inner}/{name}"

    def start(self, corpus: Corpus, facts: Facts, *, resume: bool) -> None:
        """Writes the manifest of a new run, or compares that of the earlier run. Nothing is changed before an error."""
        wanted = _manifest(corpus, facts)
        found = self._read_manifest()
        if found is None:
            self._check_empty()
        elif not resume:
            raise ConfigError(
                f"--out {self.path} has the results of an earlier run.",
                "Add --resume to continue it, or choose another folder.",
            )
        else:
            _check_same(found, wanted, self.path)
        with self._write_errors():
            self._file_system.create_dir(self._inner, recursive=True)
            for name in _FOLDERS:
                self._file_system.create_dir(f"{self._inner}/{name}", recursive=True)
                probe = f"{self._inner}/{name}/{_PROBE}"
                self._write(probe, b"probe")
                self._file_system.delete_file(probe)
            if found is None:
                self._write(f"{self._inner}/{_MANIFEST}", json.dumps(wanted, indent=1, ensure_ascii=False).encode())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """No second command may write here; only a folder of this machine can be locked."""
        if "://" in self.path:
            yield
            return
        with open(f"{self._inner}/{_MANIFEST}", "rb") as file:
            lock_file(file, self.path)
            yield

    def finished_rows(self) -> np.ndarray[Any, Any]:
        """The sorted numbers of the rows in committed result files. Remains of a stopped run are removed first."""
        self._remove_uncommitted()
        for path in self._files("attempts"):  # those processes did not die, but were stopped with the command
            self._file_system.delete_file(path)
        rows = [np.empty(0, np.int64)]
        for path in self._files("checkpoint"):
            with self._file_system.open_input_file(path) as file:
                rows.append(pq.read_table(file, columns=[ID_COLUMN])[ID_COLUMN].to_numpy())
        return np.sort(np.concatenate(rows))

    def _remove_uncommitted(self) -> None:
        """Pending checkpoints, and result files without a committed checkpoint.

        If a process was killed while it wrote a committed file again, the file has both kinds of checkpoint and may be
        damaged: both are removed.
        """
        pending = {
            name.removesuffix(_PENDING): path for name, path in self._named("checkpoint") if name.endswith(_PENDING)
        }
        committed = {name: path for name, path in self._named("checkpoint") if not name.endswith(_PENDING)}
        for name in sorted(pending.keys() & committed.keys()):
            self._file_system.delete_file(committed.pop(name))
        for name, path in self._named("results"):
            if name not in committed:
                self._file_system.delete_file(path)
        for path in pending.values():
            self._file_system.delete_file(path)

    def check_finished(self, corpus: Corpus) -> None:
        """After the last part: every row was written once."""
        rows, files = 0, {name for name, _ in self._named("results")}
        for name, path in self._named("checkpoint"):
            with self._file_system.open_input_file(path) as file:
                rows += pq.ParquetFile(file).metadata.num_rows
            if name not in files:
                raise ConfigError(
                    f"{self.results} has no file {name}, whose rows are finished.", "Run the command in a new folder."
                )
        if rows != corpus.rows:
            raise ConfigError(f"{self.path} has {rows:,} of {corpus.rows:,} rows.", "Rerun the command with --resume.")

    def result_files(self) -> list[str]:
        return sorted(self._files("results"))

    def _files(self, folder: str) -> list[str]:
        selector = pafs.FileSelector(f"{self._inner}/{folder}", allow_not_found=True)
        return [
            entry.path for entry in self._file_system.get_file_info(selector)
            if entry.type == pafs.FileType.File and not posixpath.basename(entry.path).startswith(".")
        ]  # fmt: skip

    def _named(self, folder: str) -> Iterator[tuple[str, str]]:
        """Each file with its name, without the ending."""
        for path in self._files(folder):
            yield PurePosixPath(path).stem, path

    def _read_manifest(self) -> dict[str, Any] | None:
        path = f"{self._inner}/{_MANIFEST}"
        if self._file_system.get_file_info(path).type != pafs.FileType.File:
            return None
        with self._file_system.open_input_file(path) as file:
            data = file.read()
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ConfigError(f"{self.path}/{_MANIFEST} is not JSON.", "Choose another folder.")
        return found

    def _check_empty(self) -> None:
        info = self._file_system.get_file_info(self._inner)
        if info.type == pafs.FileType.File:
            raise ConfigError(f"--out {self.path} is a file.", "Name a folder.")
        if info.type == pafs.FileType.Directory and self._file_system.get_file_info(pafs.FileSelector(self._inner)):
            raise ConfigError(
                f"--out {self.path} is not empty and has no {_MANIFEST}.", "Choose an empty or a new folder."
            )

    def _write(self, path: str, data: bytes) -> None:
        with self._file_system.open_output_stream(path) as file:
            file.write(data)

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            hint = "Free some disk space." if is_disk_full(error) else "Check the path and its permissions."
            raise ConfigError(f"--out {self.path} cannot be written: {error}.", hint) from None


def _manifest(corpus: Corpus, facts: Facts) -> dict[str, Any]:
    files = [[file.path, file.size, file.rows, file.digest] for file in corpus.files]
    manifest = {"version": _VERSION, "rows": corpus.rows, "settings": dict(facts), "files": files}
    same: dict[str, Any] = json.loads(json.dumps(manifest))  # as it is read back: tuples are lists
    return same


def _check_same(found: Mapping[str, Any], wanted: Mapping[str, Any], path: str) -> None:
    """An error that names the first setting or file that differs."""
    again = "Give the same settings and files, or choose another folder for --out."
    before, now = found.get("settings", {}), wanted["settings"]
    for name in dict.fromkeys([*now, *before]):
        if before.get(name) != now.get(name):
            raise ConfigError(
                f"{path} was started with {name} {shown(before.get(name))}, not {shown(now.get(name))}.", again
            )
    if found.get("files") != wanted["files"]:
        old, new = ({tuple(file) for file in manifest.get("files", [])} for manifest in (found, wanted))
        changed = sorted({file[0] for file in old ^ new}) or ["the order of the files"]
        raise ConfigError(f"the input of {path} has changed: {', '.join(map(str, changed[:5]))}.", again)
    if found != wanted:
        raise ConfigError(f"{path} was written by another version of redraft.", again)
