"""Fine-tunes a seq2seq or causal model on sentence pairs and keeps the weights with the best validation SARI."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

from redraft.errors import ConfigError
from redraft.fit.rewriter.accelerator_setup import make_accelerator
from redraft.fit.rewriter.pair_files import Paths
from redraft.fit.rewriter.run_folder import RunFolder
from redraft.fit.rewriter.trainable_models import read_start
from redraft.fit.rewriter.training_data import read_data
from redraft.fit.rewriter.training_run import Outcome, RewriterRun, described
from redraft.fit.rewriter.training_settings import RewriterTraining
from redraft.progress_bar import Say


def train_rewriter(
    model: str, train: Paths, valid: Paths, out: str | Path, settings: RewriterTraining | None = None, *,
    device: str | None = None, say: Say = print,
) -> Outcome:  # fmt: skip
    """Train `model` on the pairs of `train` and write it to `out`; resumes from the last checkpoint.

    Files are as for `read_pairs`; those of `valid` may have several references. The files, the settings and the kind
    of model are checked before weights are loaded.
    """
    began = time.monotonic()
    settings = settings or RewriterTraining()
    accelerator, precision = make_accelerator(settings.precision, device)
    say = say if accelerator.is_main_process else _discard
    start = read_start(str(model), plans=settings.plans)
    if start.reads_plans and not settings.plans:
        say(f"{start.name} reads plans, and may forget how to if it is trained without --plans")
    if Path(out).resolve() == Path(start.name).resolve():
        raise ConfigError(f"{out} is the initial model.", "Choose another folder with --out.")
    data = read_data(start, train, valid, settings, say)
    run = {
        "model": start.name, "settings": settings.outcome(), "prompt": data.prompt,
        "data": data.facts, "precision": precision, "processes": accelerator.num_processes,
    }  # fmt: skip
    folder = RunFolder(out, run)
    done = folder.finished()
    with folder.locked() if accelerator.is_main_process and not done else nullcontext():
        done = done or folder.finished()  # by another process, before this one had the lock
        if done:
            if accelerator.is_main_process:
                folder.clear()  # in case the run was killed between its last report and this
            say(f"{out}: this training is already finished; nothing to do. {described(done['best'])}")
            return Outcome(folder.out, True, done["steps_done"], done["best"])
        return RewriterRun(accelerator, start, data, settings, folder, say, began).train()


def _discard(message: str) -> None:
    """For all processes but the first."""
