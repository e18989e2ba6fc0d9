"""The folder of a training: the best model, what there is to know about it, and the checkpoint to go on from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from redraft.errors import ConfigError, shown
from redraft.evaluate.report.plots import alone, curves
from redraft.files import replacing, writing
from redraft.fit.checkpoints import open_checkpoint, save_checkpoint
from redraft.reading import member, read_json
from redraft.trust import loading

Facts = Mapping[str, Any]


class RunFolder:
    """One folder for each training. Every file in it is whole, whenever the run was killed.

    `run` is what makes a training this one and no other: the model, the data, the settings. A folder goes on with the
    same run only.
    """

    def __init__(self, out: str | Path, run: Facts) -> None:
        self.out = Path(out)
        self.run = json.loads(json.dumps(run))
        self.checkpoint = self.out / "checkpoint"

    def finished(self) -> Facts | None:
        """The report of this very run, if it has come to its end; an error where the folder is used otherwise."""
        if self.out.exists() and not self.out.is_dir():
            raise ConfigError(f"{self.out} is a file.", "Name a folder with --out.")
        report = self.out / "training.json"
        if not report.is_file():
            if self.out.is_dir() and any(self.out.iterdir()) and not self.checkpoint.is_dir():
                raise ConfigError(
                    f"{self.out} holds files, and none of a training.", "Choose a new or empty folder with --out."
                )
            return None
        about = read_report(report)
        self._check_same(about["run"])
        return about if about["finished"] else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else trains into the folder meanwhile; the lock ends with the process, however that ends."""
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
                    f"{self.out} is in use by another training.", "Wait for its end, or choose another --out."
                ) from None
            yield

    def load(self) -> dict[str, Any] | None:
        """The last checkpoint of this run, if there is one."""
        if not self._state.is_file():
            return None
        with open_checkpoint(self._state):
            saved: dict[str, Any] = torch.load(self._state, map_location="cpu", weights_only=True)
            self._check_same(json.loads(saved["run"]))
        return saved

    def save(self, state: Facts, kept: Iterable[int]) -> None:
        """Write a checkpoint; of the weights only those of the steps in `kept` stay."""
        save_checkpoint(self._state, {**state, "run": json.dumps(self.run)})
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
        """The model as transformers stores it: made aside, then moved, file by file, the weights first."""
        part = self.checkpoint / "model"
        shutil.rmtree(part, ignore_errors=True)
        with writing(part):
            model.save_pretrained(part)
            tokenizer.save_pretrained(part)
        for path in sorted(part.iterdir(), key=lambda path: (path.suffix != ".safetensors", path.name)):
            os.replace(path, self.out / path.name)
        part.rmdir()

    def write_report(self, about: Facts, losses: Sequence[Facts], evaluations: Sequence[Facts]) -> None:
        """log.jsonl, plot.svg and training.json."""
        records = sorted([*losses, *evaluations], key=lambda record: record["step"])
        self._write("log.jsonl", "".join(json.dumps(record) + "\n" for record in records))
        kinds = [("loss", "loss", losses), ("SARI", "sari", evaluations),
                 ("edits carried out", "satisfied", evaluations)]  # fmt: skip
        rows = [(title, [(record["step"], record[name]) for record in records if name in record])
                for title, name, records in kinds]  # fmt: skip
        rows = [row for row in rows if row[1]]
        if rows:
            best = about["best"]["step"] if about["best"] else None
            self._write("plot.svg", alone(curves(rows, "steps", marked=best)))
        facts = {"run": self.run, **about, "evaluations": list(evaluations)}
        self._write("training.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")

    def clear(self) -> None:
        """The training is over: nothing is left to go on from."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)

    @property
    def _state(self) -> Path:
        return self.checkpoint / "state.pt"

    def _weights(self, step: int) -> Path:
        return self.checkpoint / f"weights-{step}.pt"

    def _write(self, name: str, text: str) -> None:
        with replacing(self.out / name) as file:
            file.write(text.encode("utf-8"))

    def _check_same(self, other: Facts) -> None:
        mine, theirs = _flat(self.run), _flat(other)
        for name in sorted({*mine, *theirs}):
            if mine.get(name) != theirs.get(name):
                raise ConfigError(
                    f"{self.out} belongs to another training: there {name} is {shown(theirs.get(name))}, "
                    f"here {shown(mine.get(name))}.",
                    "Give the same command to go on with it, choose another --out, or delete the folder.",
                )


def read_report(path: Path) -> Facts:
    """What there is to know of a training, from its folder."""
    hint = "Choose another --out, or delete the folder."
    with loading("the report", path, ConfigError, hint):
        about: Facts = read_json(path)
        member(about, "run", dict)
        member(about, "finished", bool)
        return about


def _flat(facts: Facts, before: str = "") -> dict[str, Any]:
    """Nested facts by dotted names, so that a difference has a name."""
    found: dict[str, Any] = {}
    for name, value in facts.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found
