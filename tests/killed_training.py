"""Three runs of a training, killed at different moments; test_rewriter_training.py starts this as a process."""

import os
import signal
import sys

import torch

from redraft.fit import checkpoints
from redraft.fit.rewriter.rewriter_training import train_rewriter
from redraft.fit.rewriter.training_run import RewriterRun
from redraft.fit.rewriter.training_settings import RewriterTraining


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_the_middle_of_a_checkpoint() -> None:
    def save(state, file):
        if state.get("step") == 12:
            file.write(b"half a checkpoint")
            file.flush()
            die()
        torch_save(state, file)

    torch_save, checkpoints.torch.save = torch.save, save


def after_a_step_without_one() -> None:
    def update(run):
        whole_update(run)
        if run.progress.step == 15:
            die()

    whole_update, RewriterRun.update = RewriterRun.update, update


def before_the_first_one() -> None:
    def update(run):
        whole_update(run)
        if run.progress.step == 2:
            die()

    whole_update, RewriterRun.update = RewriterRun.update, update


if __name__ == "__main__":
    model, train, valid, out, settings = sys.argv[1:]
    for deadly in (before_the_first_one, in_the_middle_of_a_checkpoint, after_a_step_without_one):
        child = os.fork()
        if child == 0:
            deadly()
            train_rewriter(model, train, valid, out, RewriterTraining(**eval(settings)), device="cpu")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"{deadly.__name__}: it was not killed"
        print(deadly.__name__, flush=True)
