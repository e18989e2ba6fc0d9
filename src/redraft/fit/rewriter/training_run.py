"""One training of a rewriter: updates over micro-batches and processes, validation, early stopping, best weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
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
from redraft.fit.checkpoints import restore_rng_state, rng_state
from redraft.fit.rewriter.plan_pairs import PlanPairs, content_plans, linked_rows
from redraft.fit.rewriter.run_folder import Facts, RunFolder
from redraft.fit.rewriter.token_batches import Examples, Order, by_length, make_batch, micro_batches, summed_loss
from redraft.fit.rewriter.trainable_models import Start, load_weights
from redraft.fit.rewriter.training_data import TrainingData
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.fit.training_loop import (
    Figures,
    LoopSettings,
    TimeLimit,
    TrainingLoop,
    learning_rate_factor,
    weight_decay_groups,
)
from redraft.plan.edits import EditPlan
from redraft.plan.verdicts import Verdict
from redraft.progress_bar import Say

_LOG_ROWS = 400  # at most; also the points of the loss curve


@dataclass(frozen=True)
class Outcome:
    """The result of one call. Not finished: the time limit was reached, and the same call resumes the training."""

    out: Path
    finished: bool
    step: int
    best: Facts | None  # the validation with the best SARI, whose weights were written


def stopped_early(saris: Sequence[float], patience: int) -> bool:
    """Early stopping: whether the last `patience` validations did not improve on the best before them."""
    return bool(saris) and len(saris) - 1 - saris.index(max(saris)) >= patience


class RewriterRun(TrainingLoop):
    """One training of a rewriter.

    It has its own gradient computation: an update is the mean loss over all target tokens of a batch, which is split
    over processes and micro-batches by `accelerate`.
    """

    def __init__(
        self, accelerator: Any, start: Start, data: TrainingData, settings: RewriterTraining, folder: RunFolder,
        say: Say, began: float,
    ) -> None:  # fmt: skip
        self.accelerator, self.start, self.data, self.settings, self.folder = accelerator, start, data, settings, folder
        self.is_main_process, self.process_index = accelerator.is_main_process, accelerator.process_index
        self.order = Order(len(data.examples), settings.batch, settings.epochs, settings.seed)
        self.plan_pairs: PlanPairs | None = None
        self.valid_plans: list[EditPlan] = []  # of the validation sentences, if plans are taught
        if settings.plans:
            self._align(say)
        torch.manual_seed(settings.seed)  # for weights that are not stored: the same in every process
        network, missing = load_weights(start)
        if missing:
            say(f"randomly initialised, since the model does not store them: {shown(missing)}")
        optimizer = torch.optim.AdamW(
            weight_decay_groups(network, settings.weight_decay), lr=settings.learning_rate
        )  # fmt: skip
        self.model, optimizer = accelerator.prepare(network, optimizer)  # `model` wraps `network`
        steps = self.order.steps
        warm_up_steps = max(1, int(settings.warm_up * steps))
        loop = LoopSettings(
            steps=steps,
            learning_rate=lambda step: learning_rate_factor(settings.schedule, step, steps, warm_up_steps),
            report_every=max(1, steps // _LOG_ROWS), save_every=settings.save_every,
            max_gradient_norm=settings.clip or math.inf,
        )  # fmt: skip
        limit = TimeLimit(settings.minutes, began)
        super().__init__(network, optimizer, loop, folder.state, say, time_limit=limit, began=began)
        decoding = DecodeConfig(method="beam", beams=settings.beams, no_repeat_ngram=settings.no_repeat_ngram)
        self.redrafter = Redrafter(network, start.tokenizer, config=decoding, prompt=data.prompt or "{source}")

    def _align(self, say: Say) -> None:
        """Align the pairs: plans are extracted from the links."""
        data = self.data
        rows = linked_rows([*data.pairs, *data.checks], self.folder.checkpoint, self.accelerator, say)
        self.plan_pairs = PlanPairs(self.start, data, self.settings, rows[: len(data.pairs)])
        self.valid_plans = content_plans(rows[len(data.pairs) :])
        share = self.plan_pairs.share_too_long()
        if share:
            say(f"too long with marks, so trained on without a plan: about {100 * share:.1f} % of the examples")

    def train(self) -> Outcome:
        """Train until the end, early stopping or the time limit, and write the best model."""
        torch.manual_seed(self.settings.seed + self.accelerator.process_index)
        self._rehearse()
        self.run()
        return self._close()

    # The parts of the training loop that differ.

    def on_start(self) -> None:
        rows, updates = len(self.data.examples), self.order.steps_in_epoch
        pairs = f"{rows:,} pairs with plans" if self.plan_pairs else f"{rows:,} pairs"
        self.bar.say(
            f"{pairs}, {len(self.data.valid):,} to validate with, {updates:,} updates in an epoch; "
            f"{_device_name(self.accelerator)}, {self.folder.run['precision']}"
        )

    def compute_gradients(self, step: int) -> tuple[Figures, float]:
        """Gradients of the mean loss over all target tokens of a batch, over all processes."""
        accelerator = self.accelerator
        examples, rows = self._examples(self.order[step], step // self.order.steps_in_epoch)
        tokens = examples.target_tokens(rows)
        loss = torch.zeros((), device=self.device)
        # The last batch may have fewer pairs than there are processes: the others contribute 0, but must take part.
        parts = self._micro_batches(examples, rows)
        for number, part in enumerate(parts or [rows[:1]], 1):
            with nullcontext() if number >= len(parts) else accelerator.no_sync(self.model):
                # accelerate averages gradients over the processes, and here they are to be summed.
                loss += self._backward(examples, part, accelerator.num_processes / tokens if parts else 0.0)
        return {"loss": loss}, tokens

    def clip_gradients(self) -> Tensor:
        norm: Tensor = self.accelerator.clip_grad_norm_(self.model.parameters(), self.loop.max_gradient_norm)
        return norm

    def is_finished(self) -> bool:
        saris = [evaluation["sari"] for evaluation in self.progress.evaluations]
        return super().is_finished() or stopped_early(saris, self.settings.patience)

    def is_time_over(self) -> bool:
        """All processes stop at the same step."""
        if self.settings.minutes is None:
            return False
        is_late = torch.tensor(float(super().is_time_over()), device=self.device)
        return bool(self.accelerator.reduce(is_late, "sum") > 0)

    def after_step(self) -> None:
        step, evaluate_every = self.progress.step, self.settings.evaluate_every or self.order.steps_in_epoch
        if step % evaluate_every == 0 or step == self.loop.steps:
            self.bar.say(described(self._validate()))
        else:
            super().after_step()

    def on_row(self, row: Facts) -> None:
        """Nothing: the row is already in the log file."""

    def over_processes(self, value: Tensor) -> Tensor:
        summed: Tensor = self.accelerator.reduce(value, "sum")
        return summed

    def rng_states(self) -> list[dict[str, Any]]:
        from accelerate.utils import gather_object

        states: list[dict[str, Any]] = gather_object(super().rng_states())
        return states

    def state(self) -> dict[str, Any]:
        scaler = self.accelerator.scaler
        return {**super().state(), "scaler": scaler.state_dict() if scaler else None}

    def load_state(self, saved: Facts) -> None:
        super().load_state(saved)
        if self.accelerator.scaler and saved["scaler"]:
            self.accelerator.scaler.load_state_dict(saved["scaler"])

    def read_checkpoint(self) -> Facts | None:
        saved = self.folder.load()
        self.accelerator.wait_for_everyone()
        return saved

    def write_checkpoint(self, state: Facts) -> None:
        if self.is_main_process:
            self.folder.save(state, [evaluation["step"] for evaluation in self._best(self.settings.average)])
            self._report(finished=False, best=next(iter(self._best(1)), None))
        self.accelerator.wait_for_everyone()

    def divergence_hint(self) -> str:
        return f"Train again with a --learning-rate below {self.settings.learning_rate:g}, or with --precision float32."

    # Updates.

    def _examples(self, rows: list[int], epoch: int) -> tuple[Examples, list[int]]:
        """The examples of some pairs in an epoch, and their rows; with plans, they are sampled anew."""
        if self.plan_pairs is None:
            return self.data.examples, rows
        return self.plan_pairs.examples(epoch, rows), list(range(len(rows)))

    def _micro_batches(self, examples: Examples, rows: Sequence[int]) -> list[list[int]]:
        """The share of this process; rows of similar length are assigned to the processes in turn."""
        settings, accelerator = self.settings, self.accelerator
        own = by_length(examples, rows)[accelerator.process_index :: accelerator.num_processes]
        return list(micro_batches(examples, own, settings.micro_tokens, settings.micro_batch))

    def _backward(self, examples: Examples, rows: Sequence[int], scale: float) -> Tensor:
        """Add the gradients of the summed loss of some rows, times `scale`; returns that loss, or 0 if `scale` is 0."""
        self.model.train()
        batch = make_batch(examples, rows).to(self.device)
        try:
            loss = summed_loss(self.model, self.network, batch, self.settings.label_smoothing)
            self.accelerator.backward(loss * scale)
            return loss.detach() * bool(scale)
        except torch.OutOfMemoryError as error:
            size = examples.padded(rows)
            raise ModelError(
                f"out of memory with {size:,} tokens at once: {str(error).splitlines()[0]}",
                f"Try --micro-tokens {max(1, size // 2)}.",
            ) from error

    def _rehearse(self) -> None:
        """Try the largest micro-batch and decode one sentence, so that errors show now; without effect on training."""
        settings, pairs = self.settings, self.data.examples
        examples, rows = self._examples(by_length(pairs, range(len(pairs)))[-settings.batch :], 0)
        parts = micro_batches(examples, rows, settings.micro_tokens, settings.micro_batch)
        rng = rng_state(self.device)
        with self.accelerator.no_sync(self.model):
            loss = self._backward(examples, max(parts, key=examples.padded), 1.0)
        self.optimizer.zero_grad(set_to_none=True)
        if not bool(torch.isfinite(loss)):
            raise ModelError("the loss is NaN or infinite before the first update.", "Check the weights of the model.")
        self.network.eval()
        try:
            self.redrafter.rewrite([*self.data.valid.sources[:1], *self.valid_plans[:1]], max_tokens=2)
            self.network.generation_config.validate(strict=True)  # otherwise it could not be stored
        except ValueError as error:
            raise ModelError(
                f"the model cannot decode or be stored: {str(error).splitlines()[0]}",
                "Fix its generation_config.json.",
            ) from error
        restore_rng_state(rng, self.device)

    def _validate(self) -> Facts:
        """Score the validation sentences, log the scores, and store the weights if they are among the best."""
        progress = self.progress
        self.collect_figures()
        figures = self._figures()
        epoch = round(progress.step / self.order.steps_in_epoch, 3)
        evaluation = {"step": progress.step, "epoch": epoch, **figures}
        progress.evaluations.append(evaluation)
        if evaluation in self._best(self.settings.average) and self.is_main_process:
            self.folder.save_weights(progress.step, self.network.state_dict())
        self.save()
        return evaluation

    def _figures(self) -> dict[str, float]:
        """SARI and its parts, decoded without plans; if plans are taught, also the edits satisfied with plans."""
        valid = self.data.valid
        self.network.eval()
        outputs = [output for output, _ in self._decoded([EditPlan(source) for source in valid.sources])]
        figures = score(outputs, valid, measures=[Sari()], samples=0).figures
        found = {name: round(figure.value or 0.0, 4) for name, figure in figures.items()}
        if self.valid_plans:
            decoded = self._decoded(self.valid_plans)
            measures = [Satisfaction([verdicts for _, verdicts in decoded])]
            figures = score([output for output, _ in decoded], valid, measures=measures, samples=0).figures
            found |= {name: round(figure.value, 4) for name, figure in figures.items() if figure.value is not None}
        return found

    def _decoded(self, plans: Sequence[EditPlan]) -> list[tuple[str, tuple[Verdict, ...]]]:
        """The outputs of beam search and the verdicts of the edits; each process decodes its share."""
        from accelerate.utils import gather_object

        accelerator, size = self.accelerator, self.settings.valid_batch
        rows = sorted(range(len(plans)), key=lambda row: (len(plans[row].source), row))
        own = rows[accelerator.process_index :: accelerator.num_processes]
        try:
            stream = self.redrafter.stream([plans[row] for row in own], batch_size=size)
            texts = [(decoded.text, decoded.verdicts) for decoded in stream]
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"out of memory decoding {size:,} sentences at once: {str(error).splitlines()[0]}",
                f"Add --valid-batch {max(1, size // 2)} to the command; it resumes from the last checkpoint.",
            ) from error
        found = dict(gather_object(list(zip(own, texts, strict=True))))
        return [found[row] for row in range(len(plans))]

    def _close(self) -> Outcome:
        """Write the best model and the report; delete the checkpoint of a finished training."""
        finished, best = self.is_finished(), self._choose_weights()
        self.accelerator.wait_for_everyone()  # until all processes have read the stored weights
        if self.is_main_process:
            if best is not None:
                self.folder.write_model(self.network, self.start.tokenizer)
            self._report(finished=finished, best=best)
            if finished:
                self.folder.clear()
        self.accelerator.wait_for_everyone()
        if finished and best:
            self.say(f"{self.folder.out} holds the best weights. {described(best)}")
        return Outcome(self.folder.out, finished, self.progress.step, best)

    def _choose_weights(self) -> Facts | None:
        """Load the weights of the best validation, or the mean of the best ones if its SARI is not lower."""
        candidates = self._best(self.settings.average)
        if not candidates:
            return None
        best = candidates[0]
        if len(candidates) > 1:
            steps = [evaluation["step"] for evaluation in candidates]
            self.network.load_state_dict(mean_weights([self.folder.weights(step) for step in steps]))
            averaged = {"averaged": steps, **self._figures()}
            self.say(f"average of the weights of steps {', '.join(map(str, steps))}: SARI {averaged['sari']:.2f}")
            if averaged["sari"] >= best["sari"]:
                return {**best, **averaged}
        self.network.load_state_dict(self.folder.weights(best["step"]))
        return best

    def _best(self, count: int) -> list[dict[str, Any]]:
        """The validations with the best SARI; of equal ones, the earlier first."""
        return sorted(self.progress.evaluations, key=lambda evaluation: -evaluation["sari"])[:count]

    def _report(self, *, finished: bool, best: Facts | None) -> None:
        import accelerate
        import transformers

        packages = {"redraft": __version__, "torch": torch.__version__,
                    "transformers": transformers.__version__, "accelerate": accelerate.__version__}  # fmt: skip
        progress = self.progress
        about = {
            "finished": finished, "steps": self.loop.steps, "steps_done": progress.step, "best": best,
            "seconds": round(progress.seconds), "device": _device_name(self.accelerator),
            "parameters": self.network.num_parameters(), "settings": asdict(self.settings), "versions": packages,
        }  # fmt: skip
        self.folder.write_report(about, progress.log, progress.evaluations)


def mean_weights(weights: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several state dicts; integers are taken from the first."""
    return {
        name: torch.stack([each[name].double() for each in weights]).mean(0).to(first.dtype)
        if first.is_floating_point()
        else first
        for name, first in weights[0].items()
    }


def described(evaluation: Facts) -> str:
    """One line about a validation."""
    parts = "  ".join(f"{name} {evaluation[name]:.2f}" for name in ("add", "keep", "del"))
    edits = f"  satisfied edits {evaluation['satisfied']:.1f} %" if "satisfied" in evaluation else ""
    return f"step {evaluation['step']:,}, epoch {evaluation['epoch']:g}: SARI {evaluation['sari']:.2f}  {parts}{edits}"


def _device_name(accelerator: Any) -> str:
    device = accelerator.device
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return name if accelerator.num_processes == 1 else f"{accelerator.num_processes} × {name}"
