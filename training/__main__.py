"""python -m training STEP: runs one step of the recipe, or resumes it."""

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
    parser.add_argument("--data", type=Path, help="data folder, with text/, pairs/ and eval/")
    parser.add_argument("--work", type=Path, default=Path("work"), help="output folder of all steps (default work)")
    parser.add_argument("--teacher", type=Path, help="initial language model of the teacher: a folder or a .gguf file")
    parser.add_argument("--out", type=Path, help="pack: output folder of the model")
    parser.add_argument("--minutes", type=float, help="time limit in minutes; the same command resumes")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument(
        "--set", action="append", default=[], metavar="STEP.NAME=VALUE", help="override a setting of recipe.toml"
    )
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
    torch.backends.cuda.enable_cudnn_sdp(False)  # slow: it builds a new plan for every batch shape
    if args.step == "pack":
        from training.pack import pack

        pack(work, args.out)
        return True
    settings = settings_of(recipe, args.step)
    if args.step not in ("student", "plan_reading"):  # these record their pairs as well
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


# Inputs of each step: paths in --data, and outputs of other steps in --work.
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
            raise ConfigError(f"{args.step} needs {name} in --data.", "training/README.md describes the folder.")
    for name in made:
        if not (args.work / name).exists():
            step = name.partition("/")[0]
            raise ConfigError(f"{args.step} needs {args.work / name}.", f"Complete the step {step} first.")
    if args.step in ("teacher", "distil") and (args.teacher is None or not args.teacher.exists()):
        raise ConfigError(
            f"{args.step} needs --teacher.", "Give a folder with a model of transformers, or a .gguf file."
        )


if __name__ == "__main__":
    sys.exit(main())
