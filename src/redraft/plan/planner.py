"""The planner: predicts edit plans for sentences without references."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any

from redraft.align.trained_aligner import TrainedAligner
from redraft.cooperative_scheduling import yield_point
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ConfigError, ModelError, shown
from redraft.files import atomic_write
from redraft.models import bundled
from redraft.plan.common_names import CommonNames
from redraft.plan.edit_classifier import EditClassifier, EditHead, HeadShape, WordTables
from redraft.plan.edits import DEFAULT_STRENGTH, EditPlan, Strength
from redraft.plan.lexicon import Lexicon
from redraft.plan.prediction import ALTERNATIVES, Calibration, Levels, PlanPrediction, strength_name
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.plan.target_guard import TargetGuard
from redraft.plan.user_constraints import UserConstraints
from redraft.reading import number_members, read_json, typed_member
from redraft.text.eligibility import ineligible_reason
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import split_words
from redraft.trust import loading

_WEIGHTS_FILE, _METADATA_FILE = "head.safetensors", "planner.json"
_LEXICON_FILE, _WORD_FREQUENCY_FILE = "lexicon.tsv.xz", "word_frequency.tsv.xz"
ANY_STYLE = "any"  # all corpora together
_READ_AHEAD = 2048  # sentences planned at once


@cache
def bundled_word_frequency() -> WordFrequency:
    return WordFrequency.load(bundled("planner") / _WORD_FREQUENCY_FILE)


class Planner:
    """Predicts which words of a sentence to replace, to delete and to keep.

    `strength` is how much to change: light, medium, strong, or a number from 0 to 1. `style` is the name of a training
    corpus whose editing style is followed. `default_style` is used if no style is given. The target guard, the
    common names and the reviewed targets are bundled with the package and do not belong to a classifier.
    """

    def __init__(
        self, classifier: EditClassifier, styles: Sequence[str], calibration: Calibration, *,
        default_style: str = ANY_STYLE, aligner: str | None = None,
    ) -> None:  # fmt: skip
        self.classifier, self.styles, self.calibration, self.aligner = classifier, tuple(styles), calibration, aligner
        self.default_style = default_style
        self.check_style(default_style)
        self.guard, self.common, self.reviewed = TargetGuard.load(), CommonNames.load(), ReviewedTargets.load()

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> Planner:
        """Load the planner of a folder, by default the bundled one."""
        path = bundled("planner") if folder is None else Path(folder)
        problem = f"{path} does not contain a planner"
        if folder is None:
            problem = "the planner is missing from this installation of redraft"
        hint = "Give a folder written by redraft train-planner."
        with loading("the planner", path, ModelError, hint, problem=problem):
            metadata = read_json(path / _METADATA_FILE)
            head = EditHead(HeadShape(**number_members(metadata, "head")))
            head.load_state_dict(load_eight_bit(path / _WEIGHTS_FILE))
            aligner, encoder = typed_member(metadata, "aligner", str, NoneType), typed_member(metadata, "encoder", str)
            styles, default_style = typed_member(metadata, "styles", list), typed_member(metadata, "usual", str)
            if default_style not in (ANY_STYLE, *styles) or len(styles) != head.style.num_embeddings - 1:
                raise ValueError(f"its styles are {shown(styles)}, and the default style is {shown(default_style)}")
            calibration = Calibration(**number_members(metadata, "calibration"))
        trained = TrainedAligner.load(aligner and path / aligner, device=device)
        if encoder != trained.digest:
            raise ModelError(f"{path} was trained on another encoder.", "Train it again with redraft train-planner.")
        tables = WordTables(Lexicon.load(path / _LEXICON_FILE), WordFrequency.load(path / _WORD_FREQUENCY_FILE))
        classifier, aligner = EditClassifier(trained, head, tables), aligner and str(path / aligner)
        return cls(classifier, styles, calibration, default_style=default_style, aligner=aligner)

    def save(self, folder: str | Path, report: Mapping[str, Any] | None = None) -> None:
        """Write the planner; `report` has the settings and results of the training."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save_eight_bit(path / _WEIGHTS_FILE, self.classifier.head.state_dict())
        self.classifier.tables.lexicon.save(path / _LEXICON_FILE)
        self.classifier.tables.word_frequency.save(path / _WORD_FREQUENCY_FILE)
        aligner = self.aligner and os.path.relpath(self.aligner, path)
        metadata = {
            "head": self.classifier.head.shape.to_json(), "styles": list(self.styles), "usual": self.default_style,
            "aligner": aligner, "encoder": self.classifier.encoder_digest,
            "calibration": asdict(self.calibration), **(report or {}),
        }  # fmt: skip
        with atomic_write(path / _METADATA_FILE) as file:
            file.write((json.dumps(metadata, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))

    def __call__(self, source: str, **changes: Any) -> EditPlan:
        """The plan of one sentence; `changes` are the keyword arguments of `plans`."""
        return next(self.plans([source], **changes))

    def plans(
        self, sources: Iterable[str], *, strength: Strength | float | Levels = DEFAULT_STRENGTH,
        style: str | None = None, constraints: UserConstraints | None = None, alternatives: int = ALTERNATIVES,
        eligible: bool = False,
    ) -> Iterator[EditPlan]:  # fmt: skip
        """A plan for each sentence, in order; user constraints override predicted edits.

        Text that is not English prose gets no predicted edits and the strength "off"; `eligible` skips this check.
        A substitution has at most `alternatives` targets; `redraft.simplify.target_ranking` chooses among them.
        """
        levels, number = Levels.of(strength), self.check_style(style or self.default_style)
        remaining = iter(sources)
        while ahead := list(islice(remaining, _READ_AHEAD)):
            plain = [EditPlan(source) for source in ahead]  # raises PlanError for values that are no text
            off = [not eligible and self.ineligible_reason(source) is not None for source in ahead]
            words = [[] if skipped else split_words(source) for source, skipped in zip(ahead, off, strict=True)]
            probabilities = self.classifier.predict([[word.text for word in one] for one in words], number)
            for start, split, table, skipped in zip(plain, words, probabilities, off, strict=True):
                yield_point()
                plan = PlanPrediction(
                    source=start.source,
                    words=split,
                    probabilities=table,
                    lexicon=self.classifier.tables.lexicon,
                    calibration=self.calibration,
                    levels=levels,
                    alternatives=alternatives,
                    guard=self.guard,
                    common=self.common,
                    reviewed=self.reviewed,
                    strength="off" if skipped else strength_name(strength),
                ).plan()
                yield constraints.apply_to(plan) if constraints else plan

    def ineligible_reason(self, source: str) -> str | None:
        """Why a text should not be rewritten; None for an English sentence."""
        return ineligible_reason(source, self.classifier.tables.word_frequency)

    def check_style(self, name: str) -> int:
        """The number of a style; raises ConfigError with the known styles."""
        if name == ANY_STYLE:
            return 0
        if name not in self.styles:
            known = ", ".join([ANY_STYLE, *sorted(self.styles)])
            raise ConfigError(f"style {shown(name)} is not known.", f"Use {known}.")
        return 1 + self.styles.index(name)
