"""Step 4: the teacher rewrites Wikipedia, and the best of its rewritings are kept."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from redraft.align.names import missing
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.files import replacing
from training.choosing import agreed, chosen, hardly_differs, is_copy
from training.controls import Controls
from training.loop import Clock
from training.sampling import Sampler
from training.teacher import load_teacher
from training.text import HeldOut, articles, read_held_out

DONE = "done"  # the file that says that all parts are there
_PART = 50_000  # sentences between whole files


def distil(data: Path, work: Path, start: Path, settings: SimpleNamespace, clock: Clock, device: torch.device) -> bool:
    folder = work / "distil"
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load_teacher(start)
    model.load_state_dict(torch.load(work / "teacher" / "weights.pt", weights_only=True, map_location="cpu"))
    model = model.to(device, torch.bfloat16 if device.type == "cuda" else torch.float32)
    best = _best_controls(model, tokenizer, read_held_out(data), settings, folder)
    sources = _sources(data, folder, settings)
    sampler = Sampler(model, tokenizer, batch=settings.batch, temperature=settings.temperature)
    for number, first in enumerate(range(0, len(sources), _PART)):
        path = folder / f"part-{number:03d}.jsonl"
        if path.exists():
            continue
        if clock.over():
            return False
        torch.manual_seed(settings.seed * 1000 + number)  # of this part, whatever went before
        part, began = sources[first : first + _PART], time.monotonic()
        drawn = rewritten(sampler, best, part)
        wrote = time.monotonic() - began
        found = zip(part, chosen(part, drawn), strict=True)
        pairs = [json.dumps(pair, ensure_ascii=False) for pair in found if pair[1]]
        _write(path, pairs)
        print(f"part {number}: {len(part):,} sentences, {len(pairs):,} pairs; {wrote:.0f} s to write, "
              f"{time.monotonic() - began - wrote:.0f} s to choose", flush=True)  # fmt: skip
    write_tagged(work)
    (folder / DONE).touch()
    return True


def read_distilled(work: Path, near_copies: float, seed: int) -> list[tuple[str, str]]:
    """The pairs of all parts; of those that hardly differ only a share."""
    rng = random.Random(seed)
    return [pair for pair in _pairs(work) if not hardly_differs(*pair) or rng.random() < near_copies]


def write_tagged(work: Path) -> None:
    """All pairs in one file, as `redraft train-predictor` reads them."""
    _write(work / "distil" / "pairs.tsv", [f"distilled\tcased\t{source}\t{target}" for source, target in _pairs(work)])


def _pairs(work: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((work / "distil").glob("part-*.jsonl")):
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            source, target = json.loads(line)
            yield source, target


def rewritten(sampler: Sampler, settings: Sequence[Controls], sources: Sequence[str]) -> list[list[str]]:
    """(setting, sentence): the sentences rewritten with each of the settings, all of like length together."""
    prompts = [controls.prompt(source) for controls in settings for source in sources]
    texts = [""] * len(prompts)
    for place, text in sampler.write(prompts, lambda width: max(24, width - 16)):
        texts[place] = text.strip()
    return [texts[start : start + len(sources)] for start in range(0, len(texts), len(sources))]


def _best_controls(
    model: Any, tokenizer: Any, held: HeldOut, settings: SimpleNamespace, folder: Path
) -> list[Controls]:
    """The settings with the best mean SARI of both corpora on the held-out sentences; tried once, then remembered."""
    path = folder / "controls.json"
    if not path.exists():
        sampler = Sampler(model, tokenizer, batch=settings.batch)
        grid = [
            Controls(settings.style, *values)
            for values in itertools.product(settings.length, settings.likeness, settings.simplicity)
        ]
        rows = [
            {"controls": vars(controls), **figures(held, outputs)}
            for controls, outputs in zip(grid, rewritten(sampler, grid, held.sources), strict=True)
        ]
        rows.sort(key=lambda row: -row["mean"])
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        for row in rows[:10]:
            print(json.dumps(row), flush=True)
        best = [Controls(**row["controls"]) for row in rows[: settings.draws]]
        torch.manual_seed(settings.seed)
        sampler = Sampler(model, tokenizer, batch=settings.batch, temperature=settings.temperature)
        drawn = rewritten(sampler, best, held.sources)
        agree = [drawn[number][place] for place, number in enumerate(agreed(held.sources, drawn))]
        for title, outputs in (("one draw", drawn[0]), ("agreed draw", agree)):
            print(title, json.dumps(figures(held, outputs)), flush=True)
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Controls(**row["controls"]) for row in rows[: settings.draws]]


def figures(held: HeldOut, outputs: Sequence[str]) -> dict[str, float]:
    """SARI on both corpora and their mean; the share of copies, and of outputs that keep every name and number."""
    sari = Sari()
    found = {
        name: float(sari.figures(sari.count(Texts(held.sources, outputs, references)).sum(0))["sari"])
        for name, references in held.references.items()
    }
    found["mean"] = sum(found.values()) / len(found)
    found["copies"] = 100 * sum(map(is_copy, held.sources, outputs)) / len(outputs)
    found["kept"] = 100 * sum(not missing(*pair) for pair in zip(held.sources, outputs, strict=True)) / len(outputs)
    return {name: round(value, 2) for name, value in found.items()}


def _sources(data: Path, folder: Path, settings: SimpleNamespace) -> list[str]:
    """Sentences of Wikipedia, drawn by the seed; once, then remembered."""
    path = folder / "sources.txt"
    if not path.exists():
        least, most = settings.words
        fit = [
            sentence
            for article in articles(data)
            for sentence in article
            if least <= sentence.count(" ") + 1 <= most and sentence[0].isupper() and sentence.endswith(".")
        ]
        random.Random(settings.seed).shuffle(fit)
        _write(path, fit[: settings.sources])
    return path.read_text(encoding="utf-8").split("\n")[: settings.sources]


def _write(path: Path, lines: Sequence[str]) -> None:
    with replacing(path) as file:
        file.write("\n".join(lines).encode("utf-8"))
