"""A folder with small versions of all files that commands in the documentation name: models, corpora, pairs, plans."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

from redraft.fit.aligner.gold_splits import EVALUATION, MAIN, OTHER
from small_models import save_small_bert, tiny_model_for
from tokenizers_in_memory import byte_level

ROOT = Path(__file__).resolve().parent.parent
PAIRS = [
    ("The artisans remain old .", "The makers are old ."),
    ("The physician treated the patients .", "The doctor helped the sick ."),
    ("The king left the town in 1720 .", "The king left in 1720 ."),
    ("The old man ruled the land .", "The man ruled ."),
]
SOURCES, SIMPLE = ([pair[side] for pair in PAIRS] for side in (0, 1))
EXPERIMENT = """\
beams = 2
baseline = "beam"
rivals = ["negative"]
[corpora.turk]
corpus = "turk"
rows = "rows.ids"
[models.tiny]
model = "../path/to/model"
[plans.content]
words = "content"
[methods.beam]
method = "beam"
max_tokens = 8
[methods.negative]
method = "negative"
max_tokens = 8
[methods.edit]
max_tokens = 8
"""


def build(folder: Path) -> None:
    for name in ("path/to/model", "facebook/bart-base", "MODEL"):
        _model(folder / name, "bart")
    _model(folder / "gpt2", "gpt2")
    words = sorted({word.lower() for line in SOURCES + SIMPLE for word in line.split()})
    for name in ("sentence-transformers/all-MiniLM-L6-v2", "ENCODER"):
        (folder / name).mkdir(parents=True)
        save_small_bert(folder / name, words)
    _texts(folder)
    _corpora(folder / "DATA")
    _gold(folder / "DATA" / "alignment")
    for name in ("examples", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "examples" / "letter.docx", folder)
    (folder / "docs").mkdir()
    for name in ("results.md", "plan_reading.md"):
        shutil.copy(ROOT / "docs" / name, folder / "docs")
    (folder / "experiments").mkdir()
    shutil.copy(ROOT / "experiments" / "start.toml", folder / "experiments")
    for name in ("paper", "plan_reading", "predicted"):
        _write(folder / "experiments" / f"{name}.toml", EXPERIMENT)
    _write(folder / "experiments" / "rows.ids", "0", "1")


def _texts(folder: Path) -> None:
    for name in ("complex.txt", "valid.txt", "turk.src", "asset.test.orig"):
        _write(folder / name, *SOURCES)
    for name in ("simple.txt", "simple.0.txt", "simple.1.txt", "valid.simple.txt", "turk.ref", "asset.test.simp.0"):
        _write(folder / name, *SIMPLE)
    for name in ("pairs.tsv", "valid.tsv"):
        _write(folder / name, *("\t".join(pair) for pair in PAIRS))
    tagged = [f"turk\tcased\t{one[:-2]} in {n} .\t{other}" for n in range(100) for one, other in PAIRS]
    synonyms = ["physician\tdoctor", "artisans\tmakers", "old\taged"]
    _write(folder / "tagged.tsv", *tagged)
    _write(folder / "faithful.tsv", *(
        f"toy\tcased\tHe purchased {n} houses in the old town near the river.\t"
        f"He bought {n} houses in the old town near the river." for n in range(2, 900)
    ))  # fmt: skip
    labels = ("entailment", "contradiction")
    _write(
        folder / "nli.tsv", *(f"toy\t{labels[n % 2]}\tHe has {n} dogs.\tHe has {n + n % 2} dogs." for n in range(200))
    )
    rows = (
        {"by": "toy", "source": f"He has {n} dogs.", "output": f"He has {n + n % 2} dogs.", "altered": n % 2,
         "unsupported": n % 2, "lost": [], "wrong": []} for n in range(200)
    )  # fmt: skip
    _write(folder / "judged.jsonl", *map(json.dumps, rows))
    _packed(folder / "DATA" / "pairs" / "pairs.tsv.xz", *tagged[:40])
    _packed(folder / "DATA" / "lexical" / "ppdb-xxxl-lexical-synonyms.txt.xz", *synonyms)
    _packed(folder / "ppdb.txt.xz", *synonyms)
    _write(folder / "words.tsv", "physician\t4.5", "artisans\t4.0", "doctor\t1.5", "old\t1.0", "makers\t2.0")
    _write(folder / "mine.txt", *_of_all(SIMPLE))
    _write(folder / "base.txt", *_of_all(SOURCES))
    _write(folder / "easier.txt", *SIMPLE)
    _write(folder / "names.txt", "king", "/[0-9]+/")
    _write(folder / "terms.tsv", "physician\tdoctor")
    _write(folder / "letter.txt", *SOURCES)
    plans = [json.dumps({"source": source, "edits": [{"insert": "old"}]}) for source in (SOURCES[0], SOURCES[3])]
    _write(folder / "plans.jsonl", *plans)
    _write(folder / "test.jsonl", *plans)


def _corpora(folder: Path) -> None:
    published = {
        "asset": ("asset.test.orig", "asset.test.simp.{}", 10),
        "turk": ("test.truecase.detok.orig", "test.truecase.detok.simp.{}", 8),
    }
    for name, (source, reference, count) in published.items():
        _write(folder / name / source, *_of_all(SOURCES))
        for number in range(count):
            _write(folder / name / reference.format(number), *_of_all(SIMPLE))


def _of_all(lines: list[str]) -> list[str]:
    """As many lines as the test sets of Turk and ASSET have."""
    return (lines * 90)[:359]


def _gold(folder: Path) -> None:
    links = "0-0 2-2 3-3"
    for place, name in enumerate((*MAIN, *EVALUATION)):  # no sentence is in two files
        count = 60 if name in MAIN else 5  # 200 pairs of a file to train on are held back
        numbered = [(f"{one} {place}x{n}", f"{other} {place}x{n}") for n in range(count) for one, other in PAIRS]
        _write(folder / name, *(f"i\t{one}\t-\t{other}\t-\t-\t-\t{links}\t\t" for one, other in numbered))
    for name in OTHER:
        items = [
            {"source": source, "target": target, "sureAlign": links, "possibleAlign": ""} for source, target in PAIRS
        ]
        _write(folder / name, json.dumps(items))


def _model(folder: Path, family: str) -> None:
    tiny_model_for(family, byte_level()).save_pretrained(folder)
    byte_level().save_pretrained(folder)


def _write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _packed(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(("\n".join(lines) + "\n").encode()))
