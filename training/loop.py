"""The training loop of the recipe. The batch of a step depends only on its number, so a run can be resumed exactly."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from redraft.errors import ConfigError, ModelError
from redraft.fit.checkpoints import save_checkpoint
from redraft.fit.training_loop import ema_decay_at, weight_decay_groups

_AHEAD = 6  # batches prepared ahead
_EVERY = 90.0  # seconds between checkpoints
_SAY = 100  # steps between lines of the log
_DESCENT = 0.35  # share of the steps in which the learning rate falls

Batch = dict[str, Tensor]


class Clock:
    """The time limit of a step of the recipe."""

    def __init__(self, minutes: float | None) -> None:
        self._end = math.inf if minutes is None else time.monotonic() + 60 * minutes

    def over(self) -> bool:
        return time.monotonic() > self._end


class Training:
    """Trains a model for `settings.steps` steps and keeps the moving average of its weights.

    `batch_of` makes the batch of a step, on the host; `loss_of` turns it into a loss, on the device. `watch` adds
    figures to the log.
    """

    def __init__(
        self,
        model: Any,
        batch_of: Callable[[int], Batch],
        loss_of: Callable[[Any, Batch], Tensor],
        settings: SimpleNamespace,
        folder: Path,
        device: torch.device,
        watch: Callable[[Any], dict[str, float]] = lambda model: {},
    ) -> None:
        self.settings, self.folder, self.device = settings, folder, device
        self.batch_of, self.loss_of, self.watch = batch_of, loss_of, watch
        self.averaged = model.to(device, torch.float32).eval()
        self.exact = deepcopy(self.averaged)  # master weights in float32, which the optimizer updates
        self.model = deepcopy(self.averaged)  # for forward and backward passes; a bfloat16 copy on a GPU
        if device.type == "cuda":
            self.model.bfloat16()
        self.optimizer = torch.optim.AdamW(
            weight_decay_groups(self.exact, 0.01), lr=settings.rate, betas=(0.9, 0.98), fused=device.type == "cuda"
        )
        self.step = 0
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, clock: Clock) -> bool:
        """Train; returns False if the time limit was reached first, after writing a checkpoint."""
        self._resume()
        began, saved, first, losses = time.monotonic(), time.monotonic(), self.step, []
        for batch in self._batches():
            losses.append(self._update(batch))
            self.step += 1
            if self.step % _SAY == 0 or self.step == self.settings.steps:
                self._say(losses, (self.step - first) / (time.monotonic() - began))
                losses = []
            if clock.over() or time.monotonic() - saved > _EVERY:
                self._save()
                saved = time.monotonic()
                if clock.over():
                    return self.step == self.settings.steps
        self._save()
        return True

    def rate(self, step: int) -> float:
        """The learning rate: linear warm-up, constant, then linear decay to 0 over the last part of the steps.

        Before the decay, nothing depends on the number of steps, so it may still be changed.
        """
        left = (self.settings.steps - step) / (_DESCENT * self.settings.steps)
        return float(self.settings.rate * min(1.0, (step + 1) / self.settings.warm_up, left))

    def _update(self, batch: Batch) -> Tensor:
        torch.manual_seed(self.settings.seed * 1_000_003 + self.step)  # for dropout and noise of this step
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(self.step)
        batch = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
        loss = self.loss_of(self.model, batch)
        loss.backward()
        for exact, weight in zip(self.exact.parameters(), self.model.parameters(), strict=True):
            exact.grad = None if weight.grad is None else weight.grad.float()
        self.model.zero_grad(set_to_none=True)
        torch.nn.utils.clip_grad_norm_(self.exact.parameters(), 1.0)
        self.optimizer.step()
        keep = ema_decay_at(self.step, self.settings.average)
        with torch.no_grad():
            weights = [*self.exact.parameters()]
            torch._foreach_copy_([*self.model.parameters()], weights)
            torch._foreach_lerp_([*self.averaged.parameters()], weights, 1 - keep)
        return loss.detach()

    def _batches(self) -> Iterator[Batch]:
        with ThreadPoolExecutor(_AHEAD) as pool:
            steps = range(self.step, self.settings.steps)
            waiting = [pool.submit(self._made, step) for step in steps[:_AHEAD]]
            for step in steps:
                batch = waiting.pop(0).result()
                if step + _AHEAD < self.settings.steps:
                    waiting.append(pool.submit(self._made, step + _AHEAD))
                yield batch

    def _made(self, step: int) -> Batch:
        batch = self.batch_of(step)
        return {name: value.pin_memory() for name, value in batch.items()} if self.device.type == "cuda" else batch

    def _say(self, losses: list[Tensor], pace: float) -> None:
        loss = float(torch.stack(losses).float().mean())
        if not math.isfinite(loss):
            raise ModelError(f"{self.folder}: the loss is {loss} at step {self.step}.",
                             "Delete the folder and start again with a lower rate or a longer warm_up.")  # fmt: skip
        with torch.no_grad():
            seen = {name: round(value, 4) for name, value in self.watch(self.model.eval()).items()}
        row = {"step": self.step, "loss": round(loss, 4), **seen, "rate": self.rate(self.step), "pace": round(pace, 2)}
        print(json.dumps(row), flush=True)
        with open(self.folder / "log.jsonl", "a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")

    def _save(self) -> None:
        state = {"step": self.step, "steps": self.settings.steps, "exact": self.exact.state_dict(),
                 "averaged": self.averaged.state_dict(), "optimizer": self.optimizer.state_dict()}  # fmt: skip
        save_checkpoint(self.folder / "checkpoint.pt", state)

    def _resume(self) -> None:
        path = self.folder / "checkpoint.pt"
        if not path.exists():
            return
        saved = torch.load(path, map_location=self.device, weights_only=True)
        steps = self.settings.steps
        descends = saved["step"] > (1 - _DESCENT) * min(steps, saved["steps"])
        if steps != saved["steps"] and descends:
            raise ConfigError(
                f"{path} is at step {saved['step']} of {saved['steps']}: the learning rate is already decaying, "
                f"so the number of steps cannot become {steps}.",
                f"Set steps to {saved['steps']}.",
            )
        self.exact.load_state_dict(saved["exact"])
        self.model.load_state_dict(saved["exact"])
        self.averaged.load_state_dict(saved["averaged"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.step = saved["step"]
        print(f"resuming from step {self.step}", flush=True)


class Batches:
    """Batches of rows of similar length; their order depends only on the seed."""

    def __init__(self, lengths: np.ndarray, tokens: int, steps: int, seed: int) -> None:
        self._batches: list[np.ndarray] = []
        rng = np.random.default_rng(seed)
        while len(self._batches) < steps:
            near = lengths * (1 + 0.05 * rng.random(len(lengths)))
            order = np.argsort(near, kind="stable")
            epoch, start = [], 0
            while start < len(order):
                widest = np.maximum.accumulate(lengths[order[start : start + tokens]])
                rows = max(1, int((widest * np.arange(1, len(widest) + 1) <= tokens).sum()))
                epoch.append(order[start : start + rows])
                start += rows
            rng.shuffle(epoch)
            self._batches += epoch
        self.per_epoch = len(epoch)

    def __getitem__(self, step: int) -> np.ndarray:
        return self._batches[step]
