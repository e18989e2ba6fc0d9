"""python -m training STEP: one step of the recipe, going on where it stopped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from redraft.errors import RedraftError
from training.loop import Clock
from training.settings import read_recipe, settings_of

STEPS = ("tokenizer", "pretrain", "teacher", "distil", "student", "pack")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--data", type=Path, required=True, help="the folder with text/, pairs/ and eval/")
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
    clock, device = Clock(args.minutes), torch.device(args.device)
    settings = settings_of(recipe, args.step) if args.step in recipe else None
    shape = settings_of(recipe, "model")
    torch.set_float32_matmul_precision("high")
    if args.step == "tokenizer":
        from training.tokenizer import make_tokenizer

        make_tokenizer(args.data, args.work / "tokenizer", settings, shape.positions)
        return True
    if args.step == "pretrain":
        from training.pretrain import pretrain

        return pretrain(args.data, args.work, settings, shape, clock, device)
    if args.step == "teacher":
        from training.teacher import train_teacher

        return train_teacher(args.data, args.work, args.teacher, settings, clock, device)
    if args.step == "distil":
        from training.distil import distil

        return distil(args.data, args.work, args.teacher, settings, clock, device)
    if args.step == "student":
        from training.student import train_student

        return train_student(args.data, args.work, settings, settings_of(recipe, "distil"), clock, device)
    from training.pack import pack

    pack(args.work, args.out)
    return True


if __name__ == "__main__":
    sys.exit(main())
