"""The training loop of all trainers: learning rate, optimizer steps, moving average, log, checkpoints, resuming.

A trainer subclasses `TrainingLoop` and provides `compute_loss`. The loss of a step may depend only on the number of the
step, the weights and torch's random numbers. A checkpoint holds all of these, so a training that was killed and resumed
ends with the same weights as one that ran through: bit for bit on a CPU.

The aligner, the edit classifier and the meaning check provide a loss and nothing else. Two trainers override more:

- The rewriter (`fit/rewriter/training_run.py`) accumulates gradients over micro-batches and processes through
  `accelerate`, stops all processes at the same step, and validates.
- The recipe of the bundled rewriter (`training/loop.py`) computes gradients with a bfloat16 copy of the network.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import torch
from torch import Tensor, nn

from redraft.errors import ModelError
from redraft.fit.checkpoints import CheckpointFile, open_checkpoint, restore_rng_state, rng_state
from redraft.progress_bar import ProgressBar, Say

Schedule = Literal["linear", "cosine", "constant"]
Figures = Mapping[str, Tensor]  # of one step, each a scalar without gradient; "loss" is among them


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """What every training loop needs to know, whatever it trains."""

    steps: int
    learning_rate: Callable[[int], float]  # step → factor on the peak learning rate of each parameter group
    report_every: int  # steps between two rows of the log
    save_every: int | None = None  # steps between two checkpoints
    save_seconds: float = math.inf  # or seconds between them, whichever comes first
    ema_decay: float | None = None  # of the moving average of the weights
    max_gradient_norm: float = 1.0  # gradients with a larger norm are scaled down to it


@dataclass
class Progress:
    """What a checkpoint holds besides weights, optimizer state and random number generators."""

    step: int = 0
    seconds: float = 0.0  # of training, over all runs
    sums: dict[str, float] = field(default_factory=dict)  # of each figure since the last row of the log
    weight: float = 0.0  # what these sums are divided by
    log: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)


class TimeLimit:
    """Whether a number of minutes has passed since `began` (by default, since now)."""

    def __init__(self, minutes: float | None, began: float | None = None) -> None:
        began = time.monotonic() if began is None else began
        self._end = math.inf if minutes is None else began + 60 * minutes

    def is_reached(self) -> bool:
        return time.monotonic() > self._end


class TrainingLoop:
    """Trains `network` in place; `averaged`, a copy of it, becomes the exponential moving average of its weights."""

    def __init__(
        self, network: Any, optimizer: Any, settings: LoopSettings, checkpoint: CheckpointFile, say: Say, *,
        averaged: nn.Module | None = None, time_limit: TimeLimit | None = None, began: float | None = None,
    ) -> None:  # fmt: skip
        self.network, self.averaged, self.optimizer, self.loop = network, averaged, optimizer, settings
        self.checkpoint, self.say, self.time_limit = checkpoint, say, time_limit
        self.device: torch.device = next(network.parameters()).device
        self.progress = Progress()
        for group in optimizer.param_groups:
            group["initial_lr"] = group["lr"]  # the peak
        self._pending: list[tuple[Figures, float]] = []  # figures of the last steps, still on the device
        self._saved_step = -1
        self._saved_at = time.monotonic()
        self._since = time.monotonic() if began is None else began

    def compute_loss(self, step: int) -> tuple[Tensor, Figures]:
        """The loss of a step (from 0), and figures for the log."""
        raise NotImplementedError("a trainer provides compute_loss, or overrides compute_gradients")

    def run(self) -> bool:
        """Resume from the last checkpoint and train; returns False if the time limit was reached before the end."""
        self.resume()
        progress = self.progress
        self.bar = ProgressBar(self.loop.steps, progress.step, self.say, quiet=not self.is_main_process)
        self.on_start()
        while not self.is_finished() and not self.is_time_over():
            self.update()
            row = self._add_row() if self._is_row_due() else None
            self.after_step()
            self.bar.step(progress.step, progress.log[-1]["loss"] if progress.log else None)
            if row:
                self.on_row(row)
        self.bar.close()
        self.save()
        return self.is_finished()

    def update(self) -> None:
        """One optimizer step."""
        step = self.progress.step
        factor = self.loop.learning_rate(step)
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * factor
        self._pending.append(self.compute_gradients(step))
        self._gradient_norm = self.clip_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self.averaged is not None and self.loop.ema_decay is not None:
            update_average(self.averaged, self.network, ema_decay_at(step, self.loop.ema_decay))
        self.progress.step += 1

    # What a trainer may override.

    is_main_process = True
    process_index = 0

    def compute_gradients(self, step: int) -> tuple[Figures, float]:
        """Add the gradients of a step to the network; returns its figures, and the weight of the step in their mean."""
        loss, figures = self.compute_loss(step)
        loss.backward()  # type: ignore[no-untyped-call]
        return figures, 1.0

    def clip_gradients(self) -> Tensor:
        """Scale the gradients down to the clipping threshold; returns their norm before."""
        return nn.utils.clip_grad_norm_(self.network.parameters(), self.loop.max_gradient_norm)

    def is_finished(self) -> bool:
        return self.progress.step >= self.loop.steps

    def is_time_over(self) -> bool:
        return self.time_limit is not None and self.time_limit.is_reached()

    def on_start(self) -> None:
        """Called after a checkpoint was loaded and before the first step."""

    def after_step(self) -> None:
        """Write a checkpoint if one is due."""
        due = self.loop.save_every is not None and self.progress.step % self.loop.save_every == 0
        if due or time.monotonic() - self._saved_at > self.loop.save_seconds:
            self.save()

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Called with a new row of the log."""
        figures = "  ".join(f"{name} {row[name]:.4f}" for name in row if name not in _NOT_SHOWN)
        self.bar.say(f"step {row['step']:,} of {self.loop.steps:,}  {figures}")

    def over_processes(self, value: Tensor) -> Tensor:
        """The sum of a value over all processes."""
        return value

    def rng_states(self) -> list[dict[str, Any]]:
        """The random number generators of every process."""
        return [rng_state(self.device)]

    def state(self) -> dict[str, Any]:
        """Everything that the rest of the training depends on."""
        averaged = None if self.averaged is None else self.averaged.state_dict()
        return {
            **asdict(self.progress), "network": self.network.state_dict(), "averaged": averaged,
            "optimizer": self.optimizer.state_dict(), "rng_states": self.rng_states(),
        }  # fmt: skip

    def load_state(self, saved: Mapping[str, Any]) -> None:
        self.progress = Progress(**{one.name: saved[one.name] for one in fields(Progress)})
        self.network.load_state_dict(saved["network"])
        if self.averaged is not None:
            self.averaged.load_state_dict(saved["averaged"])
        self.optimizer.load_state_dict(saved["optimizer"])
        restore_rng_state(saved["rng_states"][self.process_index], self.device)

    def read_checkpoint(self) -> Mapping[str, Any] | None:
        return self.checkpoint.load()

    def write_checkpoint(self, state: Mapping[str, Any]) -> None:
        self.checkpoint.save(state)

    def divergence_hint(self) -> str:
        """What to try if the loss became NaN or infinite."""
        return "Delete the checkpoint and train again with a lower learning rate."

    # What is the same for all.

    def resume(self) -> None:
        """Load the last checkpoint, if there is one."""
        saved = self.read_checkpoint()
        if saved is None:
            return
        with open_checkpoint(self.checkpoint.path):
            self.load_state(saved)
        self._saved_step = self.progress.step
        self.say(f"resuming from step {self.progress.step:,}")

    def save(self) -> None:
        """Write a checkpoint, unless the last one is of this very step."""
        if self._saved_step == self.progress.step:
            return
        self.collect_figures()
        now = time.monotonic()
        self.progress.seconds += now - self._since
        self._since = self._saved_at = now
        self.write_checkpoint(self.state())
        self._saved_step = self.progress.step

    def collect_figures(self) -> None:
        """Add the figures of the last steps to `progress`, and raise an error if the loss is no longer finite.

        Reading a value from a GPU waits for it, so this is done only when a row or a checkpoint is due.
        """
        if not self._pending:
            return
        progress = self.progress
        for name in self._pending[0][0]:
            summed = self.over_processes(torch.stack([figures[name] for figures, _ in self._pending]).float().sum())
            progress.sums[name] = progress.sums.get(name, 0.0) + float(summed)
        progress.weight += sum(weight for _, weight in self._pending)
        self._pending.clear()
        if not math.isfinite(progress.sums["loss"]):
            raise ModelError(f"the loss became NaN or infinite, noticed at step {progress.step:,}.",
                             self.divergence_hint())  # fmt: skip

    def _is_row_due(self) -> bool:
        return self.progress.step % self.loop.report_every == 0 or self.progress.step == self.loop.steps

    def _add_row(self) -> dict[str, Any]:
        """A row of the log: the mean of each figure since the row before, and the last learning rate."""
        self.collect_figures()
        progress, norm = self.progress, float(self._gradient_norm)
        row = {
            "step": progress.step,
            **{name: round(value / progress.weight, 5) for name, value in progress.sums.items()},
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "gradient_norm": norm if math.isfinite(norm) else None,  # float16 finds its loss scale by overflowing
        }
        progress.log.append(row)
        progress.sums, progress.weight = {}, 0.0
        return row


_NOT_SHOWN = ("step", "learning_rate", "gradient_norm")


def learning_rate_factor(schedule: Schedule, step: int, steps: int, warm_up_steps: int) -> float:
    """The share of the peak learning rate at a step: a linear warm-up, times the decay of the schedule."""
    done = step / steps
    decay = {"linear": max(0.0, 1 - done), "cosine": (1 + math.cos(math.pi * done)) / 2, "constant": 1.0}
    return min(1, (step + 1) / warm_up_steps) * decay[schedule]


def linear_schedule(steps: int, warm_up: float) -> Callable[[int], float]:
    """Linear warm-up over a share of the steps, then linear decay to 0."""
    warm_up_steps = max(1, int(warm_up * steps))
    return lambda step: learning_rate_factor("linear", step, steps, warm_up_steps)


def ema_decay_at(step: int, decay: float) -> float:
    """The decay of a moving average at a step: lower at the start, so that the initial weights are soon forgotten."""
    return min(decay, (step + 1) / (step + 10))


@torch.no_grad()
def update_average(averaged: nn.Module, network: nn.Module, decay: float) -> None:
    torch._foreach_lerp_([*averaged.parameters()], [*network.parameters()], 1 - decay)


def weight_decay_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """Parameter groups for AdamW: weight decay for matrices, none for biases and norms."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return [
        {"params": [weight for weight in weights if weight.dim() > 1], "weight_decay": weight_decay},
        {"params": [weight for weight in weights if weight.dim() < 2], "weight_decay": 0.0},
    ]
