"""One training of a rewriter: updates, validations, checkpoints, and the weights that are kept."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from redraft import __version__
from redraft.decode.config import DecodeConfig
from redraft.decode.redrafter import Redrafter
from redraft.errors import ModelError, shown
from redraft.evaluate.sari import Sari
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.scores import score
from redraft.fit.checkpoints import open_checkpoint, restore_rng_state, rng_state
from redraft.fit.rewriter.plan_pairs import PlanPairs, content_plans, linked_rows
from redraft.fit.rewriter.run_folder import Facts, RunFolder
from redraft.fit.rewriter.token_batches import Examples, Order, by_length, make_batch, micro_batches, summed_loss
from redraft.fit.rewriter.trainable_models import Start, load_weights
from redraft.fit.rewriter.training_data import TrainingData
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.fit.schedules import decay_groups, learning_rate_factor
from redraft.plan.edits import EditPlan
from redraft.plan.verdicts import Verdict
from redraft.progress_bar import ProgressBar, Say

_LOSSES = 400  # points of the loss in log and plot


@dataclass(frozen=True)
class Outcome:
    """How a training stands when its command ends. Not finished: its minutes were over, and it can go on."""

    out: Path
    finished: bool
    step: int
    best: Facts | None  # the validation whose weights were kept


def stopped_early(saris: Sequence[float], patience: int) -> bool:
    """Whether the last `patience` validations were no better than the best before them."""
    return bool(saris) and len(saris) - 1 - saris.index(max(saris)) >= patience


@dataclass
class _Progress:
    """What a run knows of its past, as a checkpoint keeps it."""

    step: int = 0
    seconds: float = 0.0
    loss_sum: float = 0.0  # of the tokens since the last entry in `losses`
    loss_tokens: int = 0
    losses: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)

    @property
    def saris(self) -> list[float]:
        return [evaluation["sari"] for evaluation in self.evaluations]

    def best(self, count: int) -> list[dict[str, Any]]:
        """The best validations, the earlier one first where two are equal."""
        return sorted(self.evaluations, key=lambda evaluation: -evaluation["sari"])[:count]


class RewriterRun:
    """One training, from its last checkpoint on."""

    def __init__(
        self, accelerator: Any, start: Start, data: TrainingData, settings: RewriterTraining, folder: RunFolder,
        say: Say, began: float,
    ) -> None:  # fmt: skip
        self.accelerator, self.start, self.data, self.settings, self.folder = accelerator, start, data, settings, folder
        self.say, self.since = say, began
        self.deadline = None if settings.minutes is None else began + 60 * settings.minutes
        self.order = Order(len(data.examples), settings.batch, settings.epochs, settings.seed)
        self.progress = _Progress()
        self.saved = -1  # the step of the last checkpoint
        self.told: PlanPairs | None = None
        self.plans: list[EditPlan] = []  # of the validation sentences, where plans are taught
        if settings.plans:
            self._link()
        torch.manual_seed(settings.seed)  # of weights that are not stored: the same in every process
        self.plain, missing = load_weights(start)
        if missing:
            say(f"weights that are not stored and begin at random: {shown(missing)}")
        self.optimizer = torch.optim.AdamW(decay_groups(self.plain, settings.weight_decay), lr=settings.rate)
        self.model, self.optimizer = accelerator.prepare(self.plain, self.optimizer)
        self.loss_sum = torch.zeros((), device=accelerator.device)
        decoding = DecodeConfig(method="beam", beams=settings.beams, no_repeat_ngram=settings.no_repeat_ngram)
        self.redrafter = Redrafter(self.plain, start.tokenizer, config=decoding, prompt=data.prompt or "{source}")

    def _link(self) -> None:
        data = self.data
        rows = linked_rows([*data.pairs, *data.checks], self.folder.checkpoint, self.accelerator, self.say)
        self.told = PlanPairs(self.start, data, self.settings, rows[: len(data.pairs)])
        self.plans = content_plans(rows[len(data.pairs) :])
        share = self.told.too_long()
        if share:
            self.say(f"examples whose marks would make them too long, learned without: about {100 * share:.1f} %")

    def go(self) -> Outcome:
        """Train to the end, to the last improvement, or until the minutes are over."""
        settings, steps = self.settings, self.order.steps
        every = settings.evaluate_every or self.order.steps_in_epoch
        torch.manual_seed(settings.seed + self.accelerator.process_index)
        self._rehearse()
        self._resume()
        progress = self.progress
        bar = ProgressBar(steps, progress.step, self.say, quiet=not self.accelerator.is_main_process)
        bar.say(self._described())
        while not self._is_finished() and not self._time_is_over():
            self._update()
            bar.step(progress.step, progress.losses[-1]["loss"] if progress.losses else None)
            if progress.step % every == 0 or progress.step == steps:
                bar.say(described(self._validate()))
            elif progress.step % settings.save_every == 0:
                self._checkpoint()
        bar.close()
        self._checkpoint()
        return self._close()

    def _is_finished(self) -> bool:
        early = stopped_early(self.progress.saris, self.settings.patience)
        return early or self.progress.step == self.order.steps

    def _time_is_over(self) -> bool:
        if self.deadline is None:
            return False
        late = torch.tensor(float(time.monotonic() > self.deadline), device=self.accelerator.device)
        return bool(self.accelerator.reduce(late, "sum") > 0)  # all processes stop at the same step

    def _described(self) -> str:
        rows, updates = len(self.data.examples), self.order.steps_in_epoch
        pairs = f"{rows:,} pairs with plans" if self.told else f"{rows:,} pairs"
        return (
            f"{pairs}, {len(self.data.valid):,} to validate with, {updates:,} updates in an epoch; "
            f"{_device_name(self.accelerator)}, {self.folder.run['precision']}"
        )

    def _examples(self, rows: list[int], epoch: int) -> tuple[Examples, list[int]]:
        """What is learned from some pairs in an epoch, and its rows: the pairs, or what is drawn of them with plans."""
        if self.told is None:
            return self.data.examples, rows
        return self.told.examples(epoch, rows), list(range(len(rows)))

    def _micro_batches(self, examples: Examples, rows: Sequence[int]) -> list[list[int]]:
        """This process's part of an update: rows of like length are dealt out in turn."""
        settings, accelerator = self.settings, self.accelerator
        mine = by_length(examples, rows)[accelerator.process_index :: accelerator.num_processes]
        return list(micro_batches(examples, mine, settings.micro_tokens, settings.micro_batch))

    def _update(self) -> None:
        """One step of AdamW on the mean loss of all target tokens of a batch, over all processes."""
        progress, settings, accelerator = self.progress, self.settings, self.accelerator
        examples, rows = self._examples(self.order[progress.step], progress.step // self.order.steps_in_epoch)
        warm = max(1, int(settings.warm_up * self.order.steps))
        rate = settings.rate * learning_rate_factor(settings.schedule, progress.step, self.order.steps, warm)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        tokens = examples.learned(rows)
        # A last batch may have fewer pairs than there are processes: the others add nothing, but must take part.
        parts = self._micro_batches(examples, rows)
        for number, part in enumerate(parts or [rows[:1]], 1):
            with nullcontext() if number >= len(parts) else accelerator.no_sync(self.model):
                # Gradients are averaged over the processes, and are to be summed.
                self.loss_sum += self._learn(examples, part, accelerator.num_processes / tokens if parts else 0.0)
        norm = accelerator.clip_grad_norm_(self.model.parameters(), settings.clip or math.inf)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.loss_tokens += tokens
        if progress.step % max(1, self.order.steps // _LOSSES) == 0 or progress.step == self.order.steps:
            self._gather_loss()
            loss_mean = round(progress.loss_sum / progress.loss_tokens, 5)
            progress.losses.append({"step": progress.step, "loss": loss_mean, "rate": rate, "gradient": _finite(norm)})
            progress.loss_sum, progress.loss_tokens = 0.0, 0

    def _learn(self, examples: Examples, rows: Sequence[int], share: float) -> Tensor:
        """Add the gradients of some rows, times `share`; returns their summed loss, or 0 where they have no share."""
        self.model.train()
        batch = make_batch(examples, rows).to(self.accelerator.device)
        try:
            loss = summed_loss(self.model, self.plain, batch, self.settings.label_smoothing)
            self.accelerator.backward(loss * share)
            return loss.detach() * bool(share)
        except torch.OutOfMemoryError as error:
            size = examples.padded(rows)
            raise ModelError(
                f"the memory is too small for {size:,} tokens at once: {str(error).splitlines()[0]}",
                f"Try --micro-tokens {max(1, size // 2)}.",
            ) from error

    def _gather_loss(self) -> None:
        """Bring the loss since the last time into `progress`, and see that it is a number."""
        summed = float(self.accelerator.reduce(self.loss_sum, "sum"))
        self.loss_sum = torch.zeros_like(self.loss_sum)
        self.progress.loss_sum += summed
        if not math.isfinite(summed):
            raise ModelError(
                f"at step {self.progress.step:,} the loss is not a number any more.",
                f"Start again with a lower --rate than {self.settings.rate:g}, or with --precision float32.",
            )

    def _rehearse(self) -> None:
        """Learn from the largest micro batch and decode one sentence, without effect: what fails, fails now."""
        settings, pairs = self.settings, self.data.examples
        examples, rows = self._examples(by_length(pairs, range(len(pairs)))[-settings.batch :], 0)
        parts = micro_batches(examples, rows, settings.micro_tokens, settings.micro_batch)
        luck = rng_state(self.accelerator.device)
        with self.accelerator.no_sync(self.model):
            loss = self._learn(examples, max(parts, key=examples.padded), 1.0)
        self.optimizer.zero_grad(set_to_none=True)
        if not bool(torch.isfinite(loss)):
            raise ModelError("the loss is not a number from the start.", "Look at the weights of the model.")
        self.plain.eval()
        try:
            self.redrafter.rewrite([*self.data.valid.sources[:1], *self.plans[:1]], max_tokens=2)
            self.plain.generation_config.validate(strict=True)  # or it could not be stored
        except ValueError as error:
            raise ModelError(
                f"the model cannot be decoded or stored: {str(error).splitlines()[0]}",
                "Mend its generation_config.json.",
            ) from error
        restore_rng_state(luck, self.accelerator.device)

    def _validate(self) -> Facts:
        """Decode the validation sentences, note the figures, keep the weights if they are among the best."""
        progress = self.progress
        self._gather_loss()
        figures = self._figures()
        epoch = round(progress.step / self.order.steps_in_epoch, 3)
        evaluation = {"step": progress.step, "epoch": epoch, **figures}
        progress.evaluations.append(evaluation)
        if evaluation in progress.best(self.settings.average) and self.accelerator.is_main_process:
            self.folder.save_weights(progress.step, self.plain.state_dict())
        self._checkpoint()
        return evaluation

    def _figures(self) -> dict[str, float]:
        """SARI and its parts, decoded without plans; where plans are taught, also the edits carried out, with them."""
        valid = self.data.valid
        self.plain.eval()
        outputs = [output for output, _ in self._decoded([EditPlan(source) for source in valid.sources])]
        figures = score(outputs, valid, measures=[Sari()], samples=0).figures
        found = {name: round(figure.value or 0.0, 4) for name, figure in figures.items()}
        if self.plans:
            told = self._decoded(self.plans)
            measures = [Satisfaction([verdicts for _, verdicts in told])]
            figures = score([output for output, _ in told], valid, measures=measures, samples=0).figures
            found |= {name: round(figure.value, 4) for name, figure in figures.items() if figure.value is not None}
        return found

    def _decoded(self, plans: Sequence[EditPlan]) -> list[tuple[str, tuple[Verdict, ...]]]:
        """What our own beam search writes, and what became of each edit; each process decodes its share."""
        from accelerate.utils import gather_object

        accelerator, size = self.accelerator, self.settings.valid_batch
        rows = sorted(range(len(plans)), key=lambda row: (len(plans[row].source), row))
        mine = rows[accelerator.process_index :: accelerator.num_processes]
        try:
            stream = self.redrafter.stream([plans[row] for row in mine], batch_size=size)
            texts = [(decoded.text, decoded.verdicts) for decoded in stream]
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"the memory is too small to decode {size:,} sentences at once: {str(error).splitlines()[0]}",
                f"Give the same command with --valid-batch {max(1, size // 2)}: it goes on from the last checkpoint.",
            ) from error
        found = dict(gather_object(list(zip(mine, texts, strict=True))))
        return [found[row] for row in range(len(plans))]

    def _checkpoint(self) -> None:
        """Write all that the rest of the run depends on, and what there is to look at meanwhile."""
        from accelerate.utils import gather_object

        if self.saved == self.progress.step:
            return
        self._gather_loss()
        luck = gather_object([rng_state(self.accelerator.device)])
        now = time.monotonic()
        self.progress.seconds += now - self.since
        self.since = now
        scaler = self.accelerator.scaler
        if self.accelerator.is_main_process:
            kept = [evaluation["step"] for evaluation in self.progress.best(self.settings.average)]
            state = {
                **asdict(self.progress), "model": self.plain.state_dict(), "optimizer": self.optimizer.state_dict(),
                "scaler": scaler.state_dict() if scaler else None, "luck": luck,
            }  # fmt: skip
            self.folder.save(state, kept)
            self._report(finished=False, best=next(iter(self.progress.best(1)), None))
        self.saved = self.progress.step
        self.accelerator.wait_for_everyone()

    def _resume(self) -> None:
        """Take everything from the last checkpoint, where there is one."""
        saved = self.folder.load()
        self.accelerator.wait_for_everyone()
        if saved is None:
            return
        with open_checkpoint(self.folder.checkpoint):
            self.progress = _Progress(**{one.name: saved[one.name] for one in fields(_Progress)})
            self.plain.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            if self.accelerator.scaler and saved["scaler"]:
                self.accelerator.scaler.load_state_dict(saved["scaler"])
            restore_rng_state(saved["luck"][self.accelerator.process_index], self.accelerator.device)
        self.saved = self.progress.step
        self.say(f"going on from step {self.progress.step:,}")

    def _close(self) -> Outcome:
        """Write the model with the best weights, and the report; a finished run needs no checkpoint any more."""
        finished, best = self._is_finished(), self._choose_weights()
        self.accelerator.wait_for_everyone()  # all have read the checkpoint: it may go
        if self.accelerator.is_main_process:
            if best is not None:
                self.folder.write_model(self.plain, self.start.tokenizer)
            self._report(finished=finished, best=best)
            if finished:
                self.folder.clear()
        self.accelerator.wait_for_everyone()
        if finished and best:
            self.say(f"{self.folder.out} holds the best weights. {described(best)}")
        return Outcome(self.folder.out, finished, self.progress.step, best)

    def _choose_weights(self) -> Facts | None:
        """Load the weights to keep: of the best validation, or the mean of several if its SARI is no lower."""
        candidates = self.progress.best(self.settings.average)
        if not candidates:
            return None
        best = candidates[0]
        if len(candidates) > 1:
            steps = [evaluation["step"] for evaluation in candidates]
            self.plain.load_state_dict(mean_weights([self.folder.weights(step) for step in steps]))
            averaged = {"averaged": steps, **self._figures()}
            self.say(f"mean of the weights of steps {', '.join(map(str, steps))}: SARI {averaged['sari']:.2f}")
            if averaged["sari"] >= best["sari"]:
                return {**best, **averaged}
        self.plain.load_state_dict(self.folder.weights(best["step"]))
        return best

    def _report(self, *, finished: bool, best: Facts | None) -> None:
        import accelerate
        import transformers

        packages = {"redraft": __version__, "torch": torch.__version__,
                    "transformers": transformers.__version__, "accelerate": accelerate.__version__}  # fmt: skip
        progress = self.progress
        about = {
            "finished": finished, "steps": self.order.steps, "steps_done": progress.step, "best": best,
            "seconds": round(progress.seconds), "device": _device_name(self.accelerator),
            "parameters": self.plain.num_parameters(), "settings": asdict(self.settings), "versions": packages,
        }  # fmt: skip
        self.folder.write_report(about, progress.losses, progress.evaluations)


def mean_weights(weights: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several weights by name; whole numbers are taken from the first."""
    return {
        name: torch.stack([each[name].double() for each in weights]).mean(0).to(first.dtype)
        if first.is_floating_point()
        else first
        for name, first in weights[0].items()
    }


def described(evaluation: Facts) -> str:
    """A validation in a line."""
    parts = "  ".join(f"{name} {evaluation[name]:.2f}" for name in ("add", "keep", "del"))
    told = f"  edits carried out {evaluation['satisfied']:.1f} %" if "satisfied" in evaluation else ""
    return f"step {evaluation['step']:,}, epoch {evaluation['epoch']:g}: SARI {evaluation['sari']:.2f}  {parts}{told}"


def _finite(value: Any) -> float | None:
    """JSON has no infinity; float16 finds its scale by running into it."""
    return float(value) if math.isfinite(value) else None


def _device_name(accelerator: Any) -> str:
    device = accelerator.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return name if accelerator.num_processes == 1 else f"{accelerator.num_processes} × {name}"
