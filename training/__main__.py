"""python -m training STEP: one step of the recipe, going on where it stopped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from redraft.errors import ConfigError, RedraftError
from training.distil import DONE
from training.loop import Clock
from training.settings import read_recipe, remember, settings_of

STEPS = ("tokenizer", "pretrain", "teacher", "distil", "student", "plan_reading", "pack")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--data", type=Path, help="the folder with text/, pairs/ and eval/")
    parser.add_argument("--work", type=Path, default=Path("work"), help="where everything is kept (default work)")
    parser.add_argument("--teacher", type=Path, help="the language model to start from: a folder or a .gguf file")
    parser.add_argument("--out", type=Path, help="pack: where the embedded model goes")
    parser.add_argument("--minutes", type=float, help="stop after so long; the next run goes on")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--set", action="append", default=[], metavar="STEP.NAME=VALUE", help="change a setting")
    args = parser.parse_args()
    try:
        return 0 if _run(args) else 3
    except RedraftError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(args: argparse.Namespace) -> bool:
    """Whether the step is finished."""
    recipe = read_recipe(changes=args.set)
    _check(args)
    clock, device, work = Clock(args.minutes), torch.device(args.device), args.work
    shape = settings_of(recipe, "model")
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)  # it plans anew, slowly, for every shape of batch
    if args.step == "pack":
        from training.pack import pack

        pack(work, args.out)
        return True
    settings = settings_of(recipe, args.step)
    if args.step not in ("student", "plan_reading"):  # which note their pairs as well
        more = {"tokenizer": recipe["tokenizer"], "model": recipe["model"]} if args.step == "pretrain" else {}
        remember(work / args.step, {**recipe[args.step], **more}, may_change=["steps"])
    if args.step == "tokenizer":
        from training.tokenizer import make_tokenizer

        make_tokenizer(args.data, work / "tokenizer", settings, shape.positions)
        return True
    if args.step == "pretrain":
        from training.pretrain import pretrain

        return pretrain(args.data, work, settings, shape, clock, device)
    if args.step == "teacher":
        from training.teacher import train_teacher

        return train_teacher(args.data, work, args.teacher, settings, clock, device)
    if args.step == "distil":
        from training.distil import distil

        return distil(args.data, work, args.teacher, settings, clock, device)
    if args.step == "student":
        from training.student import train_student

        return train_student(args.data, work, settings, clock, device)
    from training.plan_reading import train_plan_reading

    return train_plan_reading(args.data, work, settings, clock, device)


# What a step needs: folders of --data, and what other steps have left in --work.
_NEEDS = {
    "tokenizer": (["text"], []),
    "pretrain": (["text"], ["tokenizer/tokenizer.json"]),
    "teacher": (["pairs/pairs.tsv.xz"], ["tokenizer/ranks.json"]),
    "distil": (["text"], ["teacher/weights.pt"]),
    "student": (["pairs/pairs.tsv.xz"], ["pretrain/model", f"distil/{DONE}"]),
    "plan_reading": (["pairs/pairs.tsv.xz"], ["student/model", f"distil/{DONE}"]),
    "pack": ([], ["plan_reading/model"]),
}


def _check(args: argparse.Namespace) -> None:
    files, made = _NEEDS[args.step]
    for name in files:
        if args.data is None or not (args.data / name).exists():
            raise ConfigError(f"{args.step} needs {name} in --data.", "training/README.md says what the folder holds.")
    for name in made:
        if not (args.work / name).exists():
            step = name.partition("/")[0]
            raise ConfigError(f"{args.step} needs {args.work / name}.", f"Run the step {step} to its end first.")
    if args.step in ("teacher", "distil") and (args.teacher is None or not args.teacher.exists()):
        raise ConfigError(f"{args.step} needs --teacher.", "Name a folder of transformers or a .gguf file.")


if __name__ == "__main__":
    sys.exit(main())
