"""Damaged folders of aligners, planners, checkers and trainings, and their tables: errors with name and reason."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from redraft.align.aligner_network import Aligner, HeadConfig
from redraft.align.trained_aligner import TrainedAligner
from redraft.align.word_batches import PairReader
from redraft.check.checker_network import CheckShape
from redraft.check.meaning_check import MeaningCheck
from redraft.check.trained_checker import CheckReader, TrainedCheck, new_network
from redraft.check.word_facts import WordFacts
from redraft.decode.model_loading import stored_prompt
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ConfigError, ModelError
from redraft.fit.checkpoints import open_checkpoint
from redraft.fit.rewriter.run_folder import RunFolder
from redraft.plan.complexity_ratio import ComplexityRatios
from redraft.plan.edit_classifier import EditClassifier, EditHead, HeadShape, WordTables
from redraft.plan.lexicon import Entry, Lexicon
from redraft.plan.planner import Planner
from redraft.plan.prediction import Calibration
from redraft.text.word_frequency import WordFrequency, WordStatistics
from small_models import save_small_bert

WORDS = ["the", "old", "cat", "sat", "."]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders as the commands that train would write them, with random weights."""
    from transformers import AutoModel, AutoTokenizer

    folder = tmp_path_factory.mktemp("sound")
    (folder / "bert").mkdir()
    name = save_small_bert(folder / "bert", WORDS)
    encoder: Any = AutoModel.from_pretrained(name)
    encoder.pooler = None
    network = Aligner(encoder, HeadConfig(hidden=16, layers=3, projections=2, size=4, channels=4, depth=1))
    TrainedAligner(network, PairReader(AutoTokenizer.from_pretrained(name))).save(folder / "aligner")
    aligner = TrainedAligner.load(folder / "aligner", device="cpu")
    tables = WordTables(
        Lexicon({"old": Entry(5, 1, 2, (("aged", 0.5),))}),
        WordFrequency({"the": WordStatistics(7.7), "old": WordStatistics(5.0, 1.2)}),
    )
    head = EditHead(HeadShape(hidden=16, layers=3, size=8, heads=2, depth=1))
    classifier = EditClassifier(aligner, head, tables)
    planner = Planner(classifier, [], Calibration(), aligner=str(folder / "aligner"))
    planner.save(folder / "predictor")
    shape = CheckShape(hidden=16)
    facts = WordFacts.of_planner(planner)
    check = TrainedCheck(
        new_network(aligner.model.encoder, shape), CheckReader(aligner.reader, facts), classifier.encoder_digest
    )
    check.save(folder / "check", {"weights": {}, "bias": 0.0, "level": 0.5})
    return folder


@pytest.fixture
def folders(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "all")
    return tmp_path / "all"


@pytest.fixture(scope="module")
def planner(sound: Path) -> Planner:
    return Planner.load(sound / "predictor", device="cpu")


def load(kind: str, folder: Path, planner: Planner) -> Any:
    """Load as the command does."""
    if kind == "check":
        return MeaningCheck.load(folder / kind, planner=planner)
    return (TrainedAligner if kind == "aligner" else Planner).load(folder / kind, device="cpu")


ABOUT = {"aligner": "aligner.json", "predictor": "planner.json", "check": "checker.json"}
WEIGHTS = {"aligner": "aligner.safetensors", "predictor": "head.safetensors", "check": "checker.safetensors"}

Damage = Callable[[Path, Path], object]  # of the configuration file, and of the weights


def changed(**values: Any) -> Damage:
    def damage(about: Path, weights: Path) -> None:
        about.write_text(json.dumps({**json.loads(about.read_text()), **values}), encoding="utf-8")

    return damage


def written(content: bytes) -> Damage:
    return lambda about, weights: about.write_bytes(content)


def weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Damage:
    def damage(about: Path, path: Path) -> None:
        stored = load_eight_bit(path)
        change(stored)
        save_eight_bit(path, stored)

    return damage


ANY_KIND: dict[str, Damage] = {
    "none": lambda about, weights: about.unlink(),
    "empty": written(b""),
    "null": written(b"null"),
    "a-list": written(b"[]"),
    "an-empty-object": written(b"{}"),
    "deep": written(b"[" * 100_000),
    "utf-16": written("{}".encode("utf-16")),
    "random": written(bytes(range(256))),
    "no-weights": lambda about, weights: weights.unlink(),
    "weights-cut": lambda about, weights: weights.write_bytes(weights.read_bytes()[:-40]),
    "weights-empty": lambda about, weights: weights.write_bytes(b""),
    "weights-header": lambda about, weights: weights.write_bytes(b"\xff" * 8 + b"{}"),
    "a-weight-less": weights(lambda stored: stored.pop(max(stored))),
    "a-weight-more": weights(lambda stored: stored.update(more=torch.zeros(2))),
    "another-shape": weights(lambda stored: stored.update({max(stored): torch.zeros(3, 5)})),
    "not-a-number": weights(lambda stored: stored.update({max(stored): stored[max(stored)] * float("nan")})),
    "endless": weights(lambda stored: stored.update({min(stored): stored[min(stored)] + float("inf")})),
}
OWN: dict[str, dict[str, Damage]] = {
    "aligner": {
        "threshold-text": changed(threshold="0.5"),
        "threshold-nan": changed(threshold=float("nan")),
        "head-list": changed(head=[]),
        "head-text": changed(head={"hidden": "many"}),
        "head-unknown": changed(head={"width": 3}),
        "config-cut": lambda about, weights: (about.parent / "config.json").write_text("{"),
        "tokenizer-cut": lambda about, weights: (about.parent / "tokenizer.json").write_text('{"model"'),
        "fewer-words": lambda about, weights: (about.parent / "config.json").write_text(
            (about.parent / "config.json").read_text().replace('"vocab_size": 10', '"vocab_size": 4')
        ),
    },
    "predictor": {
        "head-number": changed(head=3),
        "aligner-number": changed(aligner=3),
        "aligner-nowhere": changed(aligner="../nowhere"),
        "encoder-null": changed(encoder=None),
        "styles-number": changed(styles=3),
        "styles-too-many": changed(styles=["turk"]),
        "usual-unknown": changed(usual="poetry"),
        "usual-number": changed(usual=3),
        "calibration-text": changed(calibration={"replaced": "1"}),
        "calibration-nan": changed(calibration={"replaced": float("nan")}),
        "calibration-unknown": changed(calibration={"sure": 1}),
        "calibration-true": changed(calibration={"replaced": True}),
    },
    "check": {
        "above-number": changed(above=3),
        "shape-list": changed(shape=[]),
        "shape-text": changed(shape={"hidden": "16"}),
        "weights-list": changed(weights=[1]),
        "weights-text": changed(weights={"names": "much"}),
        "bias-null": changed(bias=None),
        "level-text": changed(level="high"),
        "level-nan": changed(level=float("nan")),
    },
}
CASES = [
    pytest.param(kind, damage, id=f"{kind}-{name}")
    for kind in ABOUT
    for name, damage in {**ANY_KIND, **OWN[kind]}.items()
]


@pytest.mark.parametrize("kind, damage", CASES)
def test_a_damaged_folder_is_named(folders: Path, planner: Planner, kind: str, damage: Damage) -> None:
    folder = folders / kind
    damage(folder / ABOUT[kind], folder / WEIGHTS[kind])
    with pytest.raises(ModelError) as error:
        load(kind, folders, planner)
    assert str(folders) in error.value.problem
    assert ": " in error.value.problem
    assert error.value.hint


@pytest.mark.parametrize("kind", ABOUT)
def test_sound_folders_are_read(folders: Path, planner: Planner, kind: str) -> None:
    assert load(kind, folders, planner) is not None


@pytest.mark.parametrize("name", ["lexicon.tsv.xz", "word_frequency.tsv.xz"])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(lzma.compress(b"old\t1\n"), id="columns"),
        pytest.param(lzma.compress(b"old\t-1\t2\t3\nold\t-1\t2\n"), id="negative"),
        pytest.param(lzma.compress(b"old\tx\ty\tz\n"), id="words"),
        pytest.param(lzma.compress(b"old\t" + b"9" * 400 + b"\t1\n"), id="huge"),
        pytest.param(lzma.compress(b"old\t" + b"9" * 9_000 + b"\t1\n"), id="digits"),
        pytest.param(lzma.compress(b"caf\xe9\t1\t1\n"), id="latin-1"),
        pytest.param(lzma.compress(b"old\t1\t1\n" * 99)[:-20], id="cut"),
        pytest.param(lzma.compress(b"a" * 70_000_000, preset=0), id="bomb"),
        pytest.param(b"old\t1\t1\n", id="not-packed"),
    ],
)
def test_damaged_tables_are_named(folders: Path, name: str, content: bytes) -> None:
    path = folders / "predictor" / name
    path.write_bytes(content)
    with pytest.raises(ModelError) as error:
        Planner.load(folders / "predictor", device="cpu")
    assert str(path) in error.value.problem
    assert error.value.hint


def test_words_with_odd_line_ends_are_entries(tmp_path: Path) -> None:
    path = tmp_path / "complexity_ratio.tsv.xz"
    ComplexityRatios({"a\u2028b": 0.5, "c\x85d": -0.5}).save(path)
    sides = ComplexityRatios.load(path)
    assert (sides.log_ratio("a\u2028b"), sides.log_ratio("c\x85d"), len(sides)) == (0.5, -0.5, 2)


# ---- folders of trainings

RUN = {"model": "tiny", "settings": {"seed": 0}}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", "{}", '{"run": 3}', '{"run": {}}', "[" * 100_000, '{"run": {}, "finished": 1}']
)
def test_a_damaged_report_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "training.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"training\.json") as error:
        RunFolder(tmp_path, RUN).finished()
    assert error.value.hint


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"\x80\x04.", bytes(range(256))], ids=["empty", "zip", "pickle", "bytes"]
)
def test_a_damaged_checkpoint_is_named(tmp_path: Path, content: bytes) -> None:
    folder = RunFolder(tmp_path, RUN)
    folder.checkpoint.mkdir()
    for name, read in (("state.pt", folder.load), ("weights-3.pt", lambda: folder.weights(3))):
        (folder.checkpoint / name).write_bytes(content)
        with pytest.raises(ConfigError, match=name) as error:
            read()
        assert error.value.hint


def test_a_checkpoint_with_other_content_is_named(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    torch.save({"step": 3}, path)
    with pytest.raises(ConfigError, match=r"checkpoint\.pt.*KeyError"), open_checkpoint(path):
        torch.load(path, weights_only=True)["run"]


@pytest.mark.parametrize(
    "report, prompt",
    [
        ('{"run": {"prompt": "Simplify: {source}"}}', "Simplify: {source}"),
        ('{"run": {"prompt": "Simplify:"}}', "{source}"),
        ('{"run": {"prompt": 3}}', "{source}"),
        ('{"run": []}', "{source}"),
        ("[" * 100_000, "{source}"),
        ("{", "{source}"),
    ],
    ids=["good", "no-place", "number", "list", "deep", "cut"],
)
def test_a_stored_prompt_is_a_string_or_none(tmp_path: Path, report: str, prompt: str) -> None:
    (tmp_path / "training.json").write_text(report, encoding="utf-8")
    assert stored_prompt(tmp_path) == prompt
