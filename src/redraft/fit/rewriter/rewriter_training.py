"""Fine-tunes a seq2seq or causal model on pairs of sentences; the weights with the best validation SARI are kept."""

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
    """Train `model` on the pairs of `train` and write it to `out`; a run that was killed goes on where it was.

    Files are as `read_pairs` takes them; those of `valid` may have several references. Everything that can be wrong
    with them, the settings or the kind of model is said before weights are loaded.
    """
    began = time.monotonic()
    settings = settings or RewriterTraining()
    accelerator, precision = make_accelerator(settings.precision, device)
    say = say if accelerator.is_main_process else _keep_quiet
    start = read_start(str(model), plans=settings.plans)
    if start.reads_plans and not settings.plans:
        say(f"{start.name} reads plans and may forget how to; --plans trains it with plans")
    if Path(out).resolve() == Path(start.name).resolve():
        raise ConfigError(f"{out} is the model to start from.", "Choose another folder with --out.")
    data = read_data(start, train, valid, settings, say)
    run = {
        "model": start.name, "settings": settings.outcome(), "prompt": data.prompt,
        "data": data.facts, "precision": precision, "processes": accelerator.num_processes,
    }  # fmt: skip
    folder = RunFolder(out, run)
    done = folder.finished()
    with folder.locked() if accelerator.is_main_process and not done else nullcontext():
        done = done or folder.finished()  # by another process, while this one waited for nothing
        if done:
            if accelerator.is_main_process:
                folder.clear()  # a run may be killed between its last report and this
            say(f"{out}: this training is finished, and nothing was done. {described(done['best'])}")
            return Outcome(folder.out, True, done["steps_done"], done["best"])
        return RewriterRun(accelerator, start, data, settings, folder, say, began).go()


def _keep_quiet(message: str) -> None:
    """Of several processes only the first one talks."""
