"""Randomly changed files, with a fixed seed: reading gives a valid result or a RedraftError within the time limit."""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from redraft.align.gold_alignments import read_gold
from redraft.align.sentence_pairs import read_aligned, read_table
from redraft.decode.config import DecodeConfig, read_config
from redraft.decode.scripted_model import ScriptedModel
from redraft.errors import PlanError, RedraftError
from redraft.evaluate.system_outputs import read_outputs
from redraft.evaluate.text_files import read_text
from redraft.experiment.description import read_description
from redraft.fit.rewriter.pair_files import read_pairs
from redraft.fit.tagged_pairs import read_tagged
from redraft.plan.complexity_ratio import ComplexityRatios
from redraft.plan.edits import EditPlan
from redraft.plan.lexicon import Lexicon
from redraft.plan.phrases import check_spans
from redraft.plan.plan_files import read_plans
from redraft.plan.user_constraints import UserConstraints
from redraft.text.word_frequency import WordFrequency
from time_limit import TooLong, within

TIMES = 150  # files of each kind
SECONDS = 60  # of CPU time for each file; only guards against hangs
SENTENCE = "The old artisans remain in a very small town ."

PLANS = "".join(
    json.dumps(one) + "\n"
    for one in (
        {
            "source": SENTENCE,
            "edits": [{"insert": "old", "span": [4, 7], "weight": 2.5, "probability": 0.5, "note": "x"}],
        },
        {
            "source": SENTENCE,
            "edits": [{"delete": "remain"}, {"substitute": "small", "with": ["little"]}],
            "strength": "light",
        },
        {"source": SENTENCE, "edits": [{"split": True}, {"split": "in", "span": [24, 26]}]},
    )
)
EXPERIMENT = """\
beams = 4
rivals = ["beam"]
[corpora.c]
source = "s.txt"
reference = ["r.txt"]
[models.m]
[plans.p]
words = "content"
[plans.q]
predict = true
strength = [0.2, 0.1]
[methods.beam]
method = "beam"
[methods.edit]
delta = 2.0
lambdas = [1.0, 2.0, 0.5]
[[sweeps]]
name = "d"
setting = "delta"
values = [1.0, 2.0]
corpus = "c"
plan = "p"
method = "edit"
"""


def packed(text: str) -> bytes:
    return lzma.compress(text.encode(), preset=0)


def plans(path: Path) -> None:
    """Plans that can be read survive the round trip; spans are valid or refused."""
    for one in read_plans(path):
        assert EditPlan.from_json(json.loads(json.dumps(one.to_json()))) == one
        with suppress(PlanError):
            check_spans(one)


def user_constraints(path: Path, kind: str) -> None:
    """Edits are at their spans."""
    found = UserConstraints.read(**{kind: path})
    for edit in found.apply_to(EditPlan(SENTENCE)).edits:
        assert edit.span
        assert 0 <= edit.span[0] < edit.span[1] <= len(SENTENCE)


def table(path: Path) -> None:
    model = ScriptedModel.from_json(path)
    assert len(model.next_log_probs(())) == len(model.tokenizer.words)


def settings(path: Path) -> None:
    config = DecodeConfig(**read_config(path))
    assert 1 <= config.candidates <= config.beams <= 1_000


KINDS: dict[str, tuple[str, str | bytes, Callable[[Path], Any]]] = {
    "plans": ("p.jsonl", PLANS, plans),
    "settings": (
        "s.toml",
        'method = "edit"\nbeams = 4\ndelta = 2.0\nlambdas = [1.0, 0.5, 2.0]\nwidth = "none"\nstrict = true\n'
        'early_stopping = "never"\nlength_penalty = 0.8\n',
        settings,
    ),
    "keep": (
        "k.txt",
        "artisans\nvery small\n# a remark\n/(old|new) \\w+s?/\n/^T.e\\b/\n",
        lambda path: user_constraints(path, "keep"),
    ),
    "glossary": (
        "g.txt",
        "artisans\tmakers\nvery small\ttiny\n/rem(ain|ove)/\tstay\n",
        lambda path: user_constraints(path, "glossary"),
    ),
    "table": (
        "t.json",
        '{"vocab": ["The", "old", "."], "log_probs_by_prefix": {"": {"The": -0.5}, "The": {"old": -1e-3}}, '
        '"log_probs_by_last_token": {"old": {".": -0.1, "</s>": -2}}, "floor_log_prob": -20.0}',
        table,
    ),
    "gold.tsv": ("g.tsv", "0\tThe cat\tN/A\ta cat\tN/A\t1\t1\t1-1\t0-0\n" * 3, read_gold),
    "gold.json": (
        "g.json",
        json.dumps([{"source": "a b", "target": "a b", "sureAlign": "0-0 1-1", "possibleAlign": "0-1"}] * 3),
        read_gold,
    ),
    "pairs": ("p.tsv", "The old man\tThe man\nshe left .\tshe went .\n", lambda path: list(read_table(str(path)))),
    "aligned": ("a.txt", "The old man\nshe left .\n", lambda path: list(read_aligned(str(path), str(path)))),
    "corpus": ("c.txt", "The old man\nshe left .\r\n\nlast", read_text),
    "corpus.xz": ("c.txt.xz", packed("The old man\nshe left .\n" * 50), read_text),
    "results": (
        "r.jsonl",
        json.dumps(
            {"source": "a b", "output": "a", "edits": [{"delete": "b", "status": "satisfied", "chosen_over": None}]}
        )
        + "\n",
        lambda path: read_outputs(str(path)),
    ),
    "training": (
        "t.tsv",
        "The old man\tThe man\nshe left .\tshe went .\n",
        lambda path: read_pairs(path, on_error="skip"),
    ),
    "tagged": (
        "t.txt",
        "wiki\tcased\tThe old man\tThe man\nwiki\tlower\ta b\tb\n",
        lambda path: list(read_tagged(path)),
    ),
    "lexicon": (
        "l.xz",
        packed("old\t12\t3\t2\taged\t600\tancient\t300\nvery small\t4\t0\t4\ttiny\t1000\n"),
        Lexicon.load,
    ),
    "commonness": ("w.xz", packed("old\t523\t120\nthe\t773\t\n"), WordFrequency.load),
    "sides": ("s.xz", packed("old\t-52\nremain\t110\n"), ComplexityRatios.load),
    "experiment": ("e.toml", EXPERIMENT, read_description),
}

# Known troublesome bytes, inserted into valid files.
ODD = [
    b"\0",
    b"\n",
    b"\r",
    b"\t",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"'",
    b"\\",
    b"/",
    b",",
    b":",
    b"=",
    b"#",
    b"-",
    b"9" * 400,
    b"1e999",
    b"NaN",
    b"-1",
    b"0",
    b"true",
    b"null",
    b'"x"',
    b"[]",
    b"{}",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    "\u2028".encode(),
    "\x85".encode(),
    "é".encode(),
    "\u202e".encode(),
    b"\\ud800",
    b"\x1b[31m",
    b"(",
    b")+",
    b"(a|aa)+$",
    b".*",
    b"[" * 3_000,
    b"{1,99999}",
    b" " * 500,
    b"[[",
    b"(?",
    b"1979-05-27",
    b"inf",
    b"</s>",
]


def changed(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        what = rng.randrange(7)
        if what == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif what == 1:
            del data[at : min(end, at + rng.randint(1, 12))]
        elif what == 2:
            data[at:at] = data[at:end]
        elif what == 3 and rng.random() < 0.3:
            del data[at:]
        elif what == 4:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)
            data = bytearray(b"\n".join(lines))
        else:
            data[at : at + rng.choice((0, 0, 1, 3))] = rng.choice(ODD)
    return bytes(data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    name, content, read = KINDS[kind]
    good = content if isinstance(content, bytes) else content.encode()
    path, refused = tmp_path / name, 0
    path.write_bytes(good)
    read(path)
    rng = random.Random(kind)
    for number in range(TIMES):
        data = changed(good, rng)
        path.write_bytes(data)
        problem = problem_with(read, path)
        refused += problem == REFUSED
        assert problem in ("", REFUSED), f"{number}: {problem}: {data[:500]!r}"
        assert path.read_bytes() == data
    assert refused


REFUSED = "refused"


def problem_with(read: Callable[[Path], Any], path: Path) -> str:
    """The problem with reading a file: empty if there is none, REFUSED if the error has a next step."""
    try:
        with within(SECONDS):
            read(path)
    except TooLong:
        return "takes too long"
    except RedraftError as error:
        return REFUSED if error.hint else f"no next step: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize(
    "kind", ["plans", "settings", "keep", "glossary", "table", "gold.tsv", "gold.json", "tagged", "lexicon"]
)
def test_what_is_refused_is_named(kind: str, tmp_path: Path) -> None:
    name, _, read = KINDS[kind]
    path = tmp_path / name
    path.write_bytes(b'\x00(\t"\xff\n/(/\n')
    with pytest.raises(RedraftError, match=name.replace(".", r"\.")):
        read(path)
