"""The output folder of a training: the best model, its report, and the checkpoint to resume from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from redraft.errors import ConfigError
from redraft.evaluate.report.plots import line_plot, standalone_svg
from redraft.files import atomic_write, disk_full_errors
from redraft.fit.checkpoints import CheckpointFile, check_same_run, open_checkpoint, save_checkpoint
from redraft.reading import read_json, typed_member
from redraft.trust import loading

Facts = Mapping[str, Any]


class RunFolder:
    """The folder of one training. Files are replaced atomically, so a kill leaves no incomplete file.

    `run` identifies the training: the model, the data, the settings. Only the same training resumes in a folder.
    """

    def __init__(self, out: str | Path, run: Facts) -> None:
        self.out = Path(out)
        self.run = json.loads(json.dumps(run))
        self.checkpoint = self.out / "checkpoint"
        self.state = CheckpointFile(self.checkpoint / "state.pt", self.run)

    def finished(self) -> Facts | None:
        """The report of this training if it is finished; an error if the folder is used for anything else."""
        if self.out.exists() and not self.out.is_dir():
            raise ConfigError(f"{self.out} is a file.", "Give a folder with --out.")
        report = self.out / "training.json"
        if not report.is_file():
            if self.out.is_dir() and any(self.out.iterdir()) and not self.checkpoint.is_dir():
                raise ConfigError(
                    f"{self.out} contains files that are not of a training.", "Choose a new or empty folder with --out."
                )
            return None
        about = read_report(report)
        check_same_run(self.out, about["run"], self.run)
        return about if about["finished"] else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other trainings out of the folder. The operating system releases the lock when the process ends."""
        self.checkpoint.mkdir(parents=True, exist_ok=True)
        try:
            import fcntl
        except ImportError:  # not on Windows
            yield
            return
        with open(self.checkpoint / "lock", "wb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ConfigError(
                    f"{self.out} is in use by another training.", "Wait until it ends, or choose another --out."
                ) from None
            yield

    def load(self) -> dict[str, Any] | None:
        """The last checkpoint of this training, if there is one."""
        return self.state.load()

    def save(self, state: Facts, kept: Iterable[int]) -> None:
        """Write a checkpoint, and delete stored weights except those of the steps in `kept`."""
        self.state.save(state)
        stay = {self._weights(step) for step in kept}
        for path in self.checkpoint.glob("weights-*.pt"):
            if path not in stay:
                path.unlink()

    def save_weights(self, step: int, weights: Facts) -> None:
        save_checkpoint(self._weights(step), weights)

    def weights(self, step: int) -> dict[str, torch.Tensor]:
        with open_checkpoint(self._weights(step)):
            return torch.load(self._weights(step), map_location="cpu", weights_only=True)  # type: ignore[no-any-return]

    def write_model(self, model: Any, tokenizer: Any) -> None:
        """Save the model in a temporary folder, then move it file by file, the weights first."""
        part = self.checkpoint / "model"
        shutil.rmtree(part, ignore_errors=True)
        with disk_full_errors(part):
            model.save_pretrained(part)
            tokenizer.save_pretrained(part)
        for path in sorted(part.iterdir(), key=lambda path: (path.suffix != ".safetensors", path.name)):
            os.replace(path, self.out / path.name)
        part.rmdir()

    def write_report(self, about: Facts, log: Sequence[Facts], evaluations: Sequence[Facts]) -> None:
        """Write log.jsonl, plot.svg and training.json."""
        records = sorted([*log, *evaluations], key=lambda record: record["step"])
        self._write("log.jsonl", "".join(json.dumps(record) + "\n" for record in records))
        kinds = [("loss", "loss", log), ("SARI", "sari", evaluations),
                 ("satisfied edits", "satisfied", evaluations)]  # fmt: skip
        rows = [(title, [(record["step"], record[name]) for record in records if name in record])
                for title, name, records in kinds]  # fmt: skip
        rows = [row for row in rows if row[1]]
        if rows:
            best = about["best"]["step"] if about["best"] else None
            self._write("plot.svg", standalone_svg(line_plot(rows, "steps", marked=best)))
        facts = {"run": self.run, **about, "evaluations": list(evaluations)}
        self._write("training.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")

    def clear(self) -> None:
        """Delete the checkpoint of a finished training."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)

    def _weights(self, step: int) -> Path:
        return self.checkpoint / f"weights-{step}.pt"

    def _write(self, name: str, text: str) -> None:
        with atomic_write(self.out / name) as file:
            file.write(text.encode("utf-8"))


def read_report(path: Path) -> Facts:
    """The report of a training."""
    hint = "Choose another --out, or delete the folder."
    with loading("the report", path, ConfigError, hint):
        about: Facts = read_json(path)
        typed_member(about, "run", dict)
        typed_member(about, "finished", bool)
        return about
