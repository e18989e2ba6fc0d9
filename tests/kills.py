"""Kills commands at random points, reruns them, and compares the results with uninterrupted runs.

python tests/kills.py --times 100

A point is a number of function calls, sampled with a seed: half of the points from all calls of Python and C, the other
half from before and after calls that write files, where a kill does most harm. Kills do not depend on time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCRIPTED = ["--model", "scripted:by_hand.json"]
WRITING = {
    "write", "flush", "close", "truncate", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "execute",
    "commit", "print", "write_record", "write_end_of_file", "serialize_file",
}  # fmt: skip
IN_A_ROW = 3  # kills before a run may finish

LINES = ["The artisans remain old .", "The old artisans", "", "The artisans remain .", "The"] * 8
WORDS = ["old", "man", "town", "river", "residence", "purchased"]
EXPERIMENT = """
beams = 2
[corpora.toy]
source = "sources.txt"
reference = ["references.txt"]
[models.tiny]
model = "model"
[plans.content]
words = "content"
[methods.beam]
method = "beam"
max_tokens = 6
[methods.edit]
max_tokens = 6
"""


@dataclass(frozen=True)
class Case:
    """A command, its input files, and the results that must not depend on kills."""

    argv: Sequence[str]
    prepare: Callable[[Path], None]
    found: Callable[[Path], Any]
    again: Sequence[str] = ()  # more arguments for reruns
    seen: Callable[[Path], str | None] | None = None  # results that must be the first of `found` at any time

    def words(self, again: bool) -> list[str]:
        return [*self.argv, *(self.again if again else ())]


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# ---- the files that the commands read ----


def sentences(folder: Path) -> None:
    shutil.copy(ROOT / "examples" / "by_hand.json", folder)
    write(folder / "sources.txt", *LINES)


def pairs(folder: Path) -> None:
    rng = random.Random(0)
    sources = [" ".join(rng.choices(WORDS, k=30)) for _ in range(60)]  # more than one buffer of output
    references = [source.replace("residence", "house").replace("purchased", "bought") for source in sources]
    write(folder / "sources.txt", *sources)
    write(folder / "references.txt", *references)
    write(folder / "pairs.tsv", *map("\t".join, zip(sources, references, strict=True)))


def training(folder: Path) -> None:
    from toy_pairs import save_small_model, toy_pairs, write_table

    write_table(folder / "train.tsv", toy_pairs(24))
    write_table(folder / "valid.tsv", toy_pairs(4, seed=1))
    save_small_model(folder / "model", "bart", dropout=0.1)


def tuning(folder: Path) -> None:
    shutil.copy(ROOT / "examples" / "by_hand.json", folder)
    shutil.copy(ROOT / "examples" / "by_hand.jsonl", folder)
    write(folder / "references.txt", "The craftsmen are old .")


def experiment(folder: Path) -> None:
    from small_models import tiny_model_for
    from tokenizers_in_memory import byte_level

    write(folder / "sources.txt", "The old man ruled in 1720 .", "The king left the town .", "The man left .")
    write(folder / "references.txt", "The man ruled in 1720 .", "The king left .", "The man left .")
    write(folder / "all.toml", EXPERIMENT)
    tiny_model_for("bart", byte_level()).save_pretrained(folder / "model")
    byte_level().save_pretrained(folder / "model")


# ---- their results ----


def text_of(name: str) -> Callable[[Path], str | None]:
    return lambda folder: (folder / name).read_text(encoding="utf-8") if (folder / name).exists() else None


def whole_lines_of(name: str) -> Callable[[Path], str | None]:
    """Without an incomplete last line, which is removed on resuming."""
    return lambda folder: re.sub(r"[^\n]+\Z", "", text_of(name)(folder) or "")


def trained(folder: Path) -> Any:
    from safetensors.torch import load_file

    weights = load_file(folder / "out" / "model.safetensors")
    assert json.loads((folder / "out" / "training.json").read_text())["finished"]
    assert not (folder / "out" / "checkpoint").exists()
    return {name: weight.tolist() for name, weight in weights.items()}, (folder / "out" / "log.jsonl").read_text()


def tuned(folder: Path) -> Any:
    """Trials differ between runs; there must be enough of them, none twice, and the best must be in the output."""
    rows = [json.loads(line) for line in (folder / "out" / "trials.jsonl").read_text().splitlines()]
    numbers = [row["trial"] for row in rows]
    assert len(set(numbers)) == len(numbers)
    assert len(rows) >= 3
    best = max(row["sari"] for row in rows if row["state"] == "complete")
    assert f"SARI {best:.2f} in trial" in (folder / "out" / "settings.toml").read_text()
    return sorted(path.name for path in (folder / "out").iterdir() if path.suffix != ".part")


def compared(folder: Path) -> Any:
    files = {path.name: path.read_bytes().split(b"\n") for path in sorted((folder / "out").glob("*/*.jsonl"))}
    assert all(lines.pop() == b"" for lines in files.values())
    rows = {name: [json.loads(line) for line in lines] for name, lines in files.items()}
    assert len(rows) == 3
    return {name: [{**row, "seconds": 0} for row in some] for name, some in rows.items()}


CASES = {
    "simplify": Case(
        ["simplify", *SCRIPTED, "--input", "sources.txt", "--out", "out.txt", "--batch-size", "2", "--beams", "2"],
        sentences, text_of("out.txt"), ["--resume"], whole_lines_of("out.txt"),
    ),
    "simplify-json": Case(
        ["simplify", *SCRIPTED, "--input", "sources.txt", "--out", "out.jsonl", "--json", "--batch-size", "2"],
        sentences, text_of("out.jsonl"), ["--resume"], whole_lines_of("out.jsonl"),
    ),
    "simplify-printed": Case(
        ["simplify", *SCRIPTED, "--input", "sources.txt", "--json", "--batch-size", "2"],
        sentences, text_of("stdout"), seen=text_of("stdout"),
    ),
    "align": Case(
        ["align", "--input", "pairs.tsv", "--aligner", "exact"], pairs, text_of("stdout"), seen=text_of("stdout")
    ),
    "plan-extract": Case(
        ["plan", "extract", "--source", "sources.txt", "--reference", "references.txt", "--aligner", "exact",
         "--html", "page.html"],
        pairs, lambda folder: (text_of("stdout")(folder), text_of("page.html")(folder)), seen=text_of("stdout"),
    ),
    "plan-predict": Case(
        ["plan", "predict", *SCRIPTED, "--input", "sources.txt", "--device", "cpu"],
        sentences, text_of("stdout"), seen=text_of("stdout"),
    ),
    "train": Case(
        ["train", "--model", "model", "--train", "train.tsv", "--valid", "valid.tsv", "--out", "out", "--epochs", "2",
         "--batch", "8", "--save-every", "2", "--beams", "2", "--device", "cpu"],
        training, trained,
    ),
    "tune": Case(
        ["tune", *SCRIPTED, "--plan", "by_hand.jsonl", "--reference", "references.txt", "--out", "out", "--trials", "3",
         "--beams", "2"],
        tuning, tuned,
    ),
    "experiment": Case(
        ["experiment", "all.toml", "--out", "out", "--device", "cpu", "--batch-size", "1"], experiment, compared
    ),
}  # fmt: skip


# ---- killing ----


@dataclass(frozen=True)
class Point:
    """The number of a call, counting all calls or only those that write files."""

    number: int
    of_writing: bool


class Killer:
    """Counts the calls of this process, and ends it at a point."""

    def __init__(self, point: Point | None, counts: Any) -> None:
        self._counts = counts  # shared: all calls, calls that write files
        self._at = [-1, -1]
        if point is not None:
            self._at[point.of_writing] = point.number

    def __call__(self, frame: Any, event: str, what: Any) -> None:
        if event == "call" or event == "c_call":
            self._count(0)
        if event[0] == "c" and getattr(what, "__name__", "") in WRITING and _is_file(getattr(what, "__self__", None)):
            self._count(1)

    def _count(self, kind: int) -> None:
        self._counts[kind] += 1
        if self._counts[kind] == self._at[kind]:
            os.kill(os.getpid(), signal.SIGKILL)


def _is_file(owner: Any) -> bool:
    """Whether the object of a method is neither a string, which also has `replace`, nor a file opened for reading."""
    return not isinstance(owner, str | bytes) and getattr(owner, "mode", None) not in ("r", "rb")


def carried_out(words: Sequence[str], folder: str, point: Point | None, counts: Any) -> None:
    """Run the command in a separate process; its output goes to files in the folder."""
    os.chdir(folder)
    sys.stdout = open("stdout", "w", encoding="utf-8")
    sys.stderr = open("stderr", "w", encoding="utf-8")
    from redraft.cli.main import main

    sys.setprofile(Killer(point, counts))
    status = main(words)
    sys.setprofile(None)
    sys.stdout.flush()
    sys.exit(status)


class Attack:
    """One command, killed again and again."""

    def __init__(self, case: Case, folder: Path, seed: int = 0) -> None:
        self._case, self._folder, self._rng = case, folder, random.Random(seed)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["preloading"])
        self._counts = self._context.Array("q", 2, lock=False)
        place = self._prepared("whole")
        assert not self._run(place, None, again=False)
        self._calls = list(self._counts)
        self._whole = case.found(place)
        self._whole_seen = case.seen(place) if case.seen else None

    def kill(self, times: int) -> int:
        """Returns how often it was killed; raises AssertionError if a row was lost, duplicated or truncated."""
        killed = number = 0
        while killed < times:
            place, number = self._prepared(str(number)), number + 1
            for start in range(min(IN_A_ROW, times - killed)):
                if not self._run(place, self._point(), again=start > 0):
                    break
                killed += 1
                self._check_seen(place)
            self._run(place, None, again=True)
            assert self._case.found(place) == self._whole, place
        return killed

    def _point(self) -> Point:
        of_writing = self._rng.random() < 0.5
        return Point(self._rng.randint(1, self._calls[of_writing]), of_writing)

    def _prepared(self, name: str) -> Path:
        place = self._folder / name
        place.mkdir()
        self._case.prepare(place)
        return place

    def _check_seen(self, place: Path) -> None:
        if self._case.seen is None or self._whole_seen is None:
            return
        seen = self._case.seen(place) or ""
        assert self._whole_seen.startswith(seen), place
        assert seen == "" or seen.endswith("\n"), place

    def _run(self, place: Path, point: Point | None, *, again: bool) -> bool:
        """Whether it was killed before it finished."""
        self._counts[:] = [0, 0]
        words = self._case.words(again)
        process = self._context.Process(target=carried_out, args=(words, str(place), point, self._counts))
        process.start()
        process.join()
        if process.exitcode == -signal.SIGKILL and point is not None:
            return True
        assert process.exitcode == 0, f"{place}: exit status {process.exitcode}: {(place / 'stderr').read_text()}"
        return False


def run() -> None:
    parser = argparse.ArgumentParser(description="Kill commands at random points and start them again.")
    parser.add_argument("--times", type=int, default=100, help="kills, over all commands")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=CASES, nargs="*", default=list(CASES))
    args = parser.parse_args()
    for place, name in enumerate(args.only):
        times = (args.times + place) // len(args.only)
        with tempfile.TemporaryDirectory() as folder:
            killed = Attack(CASES[name], Path(folder), args.seed).kill(times)
        print(f"{name}: killed {killed} times; nothing lost, doubled or torn", flush=True)


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for the fork server, which imports preloading.py
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run()
