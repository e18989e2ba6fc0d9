"""Step 4: the teacher rewrites sentences of Wikipedia and MultiNLI; the best rewriting of each is kept."""

from __future__ import annotations

import itertools
import json
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from redraft.evaluate.bleu import Bleu
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.files import atomic_write
from redraft.text.names import missing_names
from training.checkpoint_choice import chosen, hardly_differs, is_copy
from training.controls import Controls
from training.loop import Clock
from training.sampling import Sampler
from training.teacher import load_teacher
from training.text_corpus import HeldOut, articles, premises, read_held_out

DONE = "done"  # marker file: all parts are complete
_PART = 15_000  # sentences per output file


def distil(data: Path, work: Path, start: Path, settings: SimpleNamespace, clock: Clock, device: torch.device) -> bool:
    folder = work / "distil"
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load_teacher(start)
    model.load_state_dict(torch.load(work / "teacher" / "weights.pt", weights_only=True, map_location="cpu"))
    model = model.to(device, torch.bfloat16 if device.type == "cuda" else torch.float32)
    best = _best_controls(model, tokenizer, read_held_out(data), settings, folder)
    sampler = Sampler(model, tokenizer, batch=settings.batch, temperature=settings.temperature)
    for number, (strength, sources) in enumerate(_parts(_sources(data, folder, settings), settings)):
        path = folder / f"part-{number:03d}.{strength}.jsonl"
        if path.exists():
            continue
        if clock.over():
            return False
        torch.manual_seed(settings.seed * 1000 + number)  # independent of earlier parts
        began = time.monotonic()
        drawn = rewritten(sampler, best[strength], sources)
        wrote = time.monotonic() - began
        found = zip(sources, chosen(sources, drawn), strict=True)
        pairs = [json.dumps(pair, ensure_ascii=False) for pair in found if pair[1]]
        _write(path, pairs)
        print(f"part {number}, {strength}: {len(sources):,} sentences, {len(pairs):,} pairs; {wrote:.0f} s to write, "
              f"{time.monotonic() - began - wrote:.0f} s to choose", flush=True)  # fmt: skip
    write_tagged(work)
    (folder / DONE).touch()
    return True


def _parts(sources: Sequence[str], settings: SimpleNamespace) -> Iterator[tuple[str, Sequence[str]]]:
    """(strength, sentences), alternating between the strengths, so that an interrupted run has pairs of each."""
    queues: dict[str, list[Sequence[str]]] = {}
    start = 0
    for strength, table in settings.strengths.items():
        end = start + table["sources"]
        queues[strength] = [sources[at : min(at + _PART, end)] for at in range(start, end, _PART)]
        start = end
    for parts in itertools.zip_longest(*queues.values()):
        yield from ((strength, part) for strength, part in zip(queues, parts, strict=True) if part)


def read_distilled(work: Path, near_copies: float, seed: int) -> list[tuple[str, str]]:
    """The pairs of medium strength, with only a share of the near copies."""
    rng = random.Random(seed)
    return [
        (source, target) for strength, source, target in _pairs(work)
        if strength == "medium" and (not hardly_differs(source, target) or rng.random() < near_copies)
    ]  # fmt: skip


def write_tagged(work: Path) -> None:
    """Write all pairs into one file, in the format of `redraft train-planner`."""
    rows = [f"distilled_{strength}\tcased\t{source}\t{target}" for strength, source, target in _pairs(work)]
    _write(work / "distil" / "pairs.tsv", rows)


def _pairs(work: Path) -> Iterator[tuple[str, str, str]]:
    for path in sorted((work / "distil").glob("part-*.jsonl")):
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            source, target = json.loads(line)
            yield path.name.split(".")[1], source, target


def rewritten(sampler: Sampler, settings: Sequence[Controls], sources: Sequence[str]) -> list[list[str]]:
    """(setting, sentence): the sentences rewritten with each of the settings; batches have similar lengths."""
    prompts = [controls.prompt(source) for controls in settings for source in sources]
    texts = [""] * len(prompts)
    for place, text in sampler.write(prompts, lambda width: max(24, width - 16)):
        texts[place] = text.strip()
    return [texts[start : start + len(sources)] for start in range(0, len(texts), len(sources))]


def _best_controls(
    model: Any, tokenizer: Any, held: HeldOut, settings: SimpleNamespace, folder: Path
) -> dict[str, list[Controls]]:
    """For each strength, the control settings with the best scores on held-out sentences; stored in a file."""
    path = folder / "controls.json"
    if not path.exists():
        sampler = Sampler(model, tokenizer, batch=settings.batch)
        grids = {strength: _grid(table) for strength, table in settings.strengths.items()}
        every = list(dict.fromkeys(controls for grid in grids.values() for controls in grid))
        outputs = rewritten(sampler, every, held.sources)
        with Pool(os.cpu_count()) as pool:
            found = dict(zip(every, pool.starmap(figures, [(held, texts) for texts in outputs]), strict=True))
        rows: dict[str, list[dict[str, Any]]] = {}
        for strength, grid in grids.items():
            judges = settings.strengths[strength]["judged_by"]
            grid = sorted(grid, key=lambda controls: -_worth(found[controls], judges))
            rows[strength] = [{"controls": vars(controls), **found[controls]} for controls in grid[:20]]
            for row in rows[strength][:4]:
                print(strength, json.dumps(row), flush=True)
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {
        strength: [Controls(**row["controls"]) for row in rows[strength][: table["draws"]]]
        for strength, table in settings.strengths.items()
    }


def _grid(table: dict[str, Any]) -> list[Controls]:
    values = (table[name] for name in ("style", "length", "likeness", "simplicity"))
    return [Controls(*combination) for combination in itertools.product(*values)]


def _worth(found: dict[str, float], corpora: Sequence[str]) -> float:
    """SARI + BLEU / 3 over the corpora; the weight of BLEU is from human ratings."""
    return sum(found[name] + found[f"{name}_bleu"] / 3 for name in corpora)


def figures(held: HeldOut, outputs: Sequence[str]) -> dict[str, float]:
    """SARI and BLEU on both corpora; the share of copies, and of outputs that keep every name and number."""
    found: dict[str, float] = {}
    for name, references in held.references.items():
        texts = Texts(held.sources, outputs, references)
        for measure, key, title in ((Sari(), "sari", name), (Bleu(), "bleu", f"{name}_bleu")):
            found[title] = float(measure.figures(measure.count(texts).sum(0))[key])
    found["copies"] = 100 * sum(map(is_copy, held.sources, outputs)) / len(outputs)
    found["kept"] = (
        100 * sum(not missing_names(*pair) for pair in zip(held.sources, outputs, strict=True)) / len(outputs)
    )
    return {name: round(value, 2) for name, value in found.items()}


def _sources(data: Path, folder: Path, settings: SimpleNamespace) -> list[str]:
    """A random sample of sentences of Wikipedia and of inference corpora; stored in a file."""
    path = folder / "sources.txt"
    wanted = sum(table["sources"] for table in settings.strengths.values())
    if not path.exists():
        rng = random.Random(settings.seed)
        wiki = _fit((sentence for article in articles(data) for sentence in article), settings)
        other = _fit(premises(data, settings.nli), settings)
        for some in (wiki, other):
            rng.shuffle(some)
        other = other[: int(settings.nli_share * wanted)]
        mixed = [*other, *wiki[: wanted - len(other)]]
        rng.shuffle(mixed)
        _write(path, mixed)
    return path.read_text(encoding="utf-8").split("\n")[:wanted]


def _fit(sentences: Iterable[str], settings: SimpleNamespace) -> list[str]:
    least, most = settings.words
    return [
        sentence for sentence in sentences
        if least <= sentence.count(" ") + 1 <= most and sentence[0].isupper() and sentence.endswith(".")
    ]  # fmt: skip


def _write(path: Path, lines: Sequence[str]) -> None:
    with atomic_write(path) as file:
        file.write("\n".join(lines).encode("utf-8"))
