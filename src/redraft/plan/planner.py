"""The planner: sentences in, plans out, with no reference in sight."""

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
from redraft.cancellation import yield_point
from redraft.eight_bit_weights import load_eight_bit, save_eight_bit
from redraft.errors import ConfigError, ModelError, shown
from redraft.files import replacing
from redraft.models import bundled
from redraft.plan.common_names import CommonNames
from redraft.plan.edit_classifier import EditClassifier, EditHead, HeadShape, Tables
from redraft.plan.edits import DEFAULT_STRENGTH, EditPlan, Strength
from redraft.plan.lexicon import Lexicon
from redraft.plan.prediction import ALTERNATIVES, Calibration, Levels, PlanPrediction, strength_named
from redraft.plan.reviewed_targets import ReviewedTargets
from redraft.plan.target_guard import TargetGuard
from redraft.plan.user_constraints import UserConstraints
from redraft.reading import member, numbers, read_json
from redraft.text.eligibility import ineligible_reason
from redraft.text.word_frequency import WordFrequency
from redraft.text.words import split_words
from redraft.trust import loading

_WEIGHTS, _ABOUT, _LEXICON, _WORD_FREQUENCY = (
    "head.safetensors",
    "planner.json",
    "lexicon.tsv.xz",
    "word_frequency.tsv.xz",
)
ANY = "any"  # the style of all corpora together
_AHEAD = 512  # sentences planned at once


@cache
def bundled_word_frequency() -> WordFrequency:
    return WordFrequency.load(bundled("planner") / _WORD_FREQUENCY)


class Planner:
    """Decides which words of a sentence to replace, to leave out and to keep.

    `strength` says how much is changed: light, medium, strong, or a number from 0 to 1. `style` is the name of a corpus
    that the classifier learned from: it then edits as people did there. `usual` is the style where none is asked for.
    The tables that guard the meaning and name common words for terms come with the package, not with a classifier.
    """

    def __init__(
        self, classifier: EditClassifier, styles: Sequence[str], calibration: Calibration, *,
        usual: str = ANY, aligner: str | None = None,
    ) -> None:  # fmt: skip
        self.classifier, self.styles, self.calibration, self.aligner = classifier, tuple(styles), calibration, aligner
        self.usual = usual
        self.check_style(usual)
        self.guard, self.common, self.reviewed = TargetGuard.load(), CommonNames.load(), ReviewedTargets.load()

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> Planner:
        """The planner of a folder, or the one that comes with the package."""
        path = bundled("planner") if folder is None else Path(folder)
        lacking = "this copy of redraft comes without its planner" if folder is None else f"{path} holds no planner"
        hint = "Name a folder that redraft train-planner has written."
        with loading("the planner", path, ModelError, hint, problem=lacking):
            about = read_json(path / _ABOUT)
            head = EditHead(HeadShape(**numbers(about, "head")))
            head.load_state_dict(load_eight_bit(path / _WEIGHTS))
            aligner, encoder = member(about, "aligner", str, NoneType), member(about, "encoder", str)
            styles, usual = member(about, "styles", list), member(about, "usual", str)
            if usual not in (ANY, *styles) or len(styles) != head.style.num_embeddings - 1:
                raise ValueError(f"its styles are {shown(styles)}, and usually {shown(usual)}")
            calibration = Calibration(**numbers(about, "calibration"))
        trained = TrainedAligner.load(aligner and path / aligner, device=device)
        if encoder != trained.digest:
            raise ModelError(f"{path} was trained above another encoder.", "Train it again with redraft train-planner.")
        tables = Tables(Lexicon.load(path / _LEXICON), WordFrequency.load(path / _WORD_FREQUENCY))
        classifier, aligner = EditClassifier(trained, head, tables), aligner and str(path / aligner)
        return cls(classifier, styles, calibration, usual=usual, aligner=aligner)

    def save(self, folder: str | Path, report: Mapping[str, Any] | None = None) -> None:
        """`report` is what there is to know of the training."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save_eight_bit(path / _WEIGHTS, self.classifier.head.state_dict())
        self.classifier.tables.lexicon.save(path / _LEXICON)
        self.classifier.tables.word_frequency.save(path / _WORD_FREQUENCY)
        aligner = self.aligner and os.path.relpath(self.aligner, path)
        about = {
            "head": self.classifier.head.shape.to_json(), "styles": list(self.styles), "usual": self.usual,
            "aligner": aligner, "encoder": self.classifier.above,
            "calibration": asdict(self.calibration), **(report or {}),
        }  # fmt: skip
        with replacing(path / _ABOUT) as file:
            file.write((json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))

    def __call__(self, source: str, **changes: Any) -> EditPlan:
        """The plan of one sentence; `changes` are those of `plans`."""
        return next(self.plans([source], **changes))

    def plans(
        self, sources: Iterable[str], *, strength: Strength | float | Levels = DEFAULT_STRENGTH,
        style: str | None = None, constraints: UserConstraints | None = None, alternatives: int = ALTERNATIVES,
        eligible: bool = False,
    ) -> Iterator[EditPlan]:  # fmt: skip
        """A plan for each sentence, in order; user constraints win over what is predicted.

        Text that is not English prose gets no predicted edits and the strength "off"; `eligible` says that all is.
        A substitution has at most `alternatives` targets; `redraft.simplify.target_ranking` chooses among them.
        """
        levels, number = Levels.of(strength), self.check_style(style or self.usual)
        waiting = iter(sources)
        while ahead := list(islice(waiting, _AHEAD)):
            plain = [EditPlan(source) for source in ahead]  # or an error, where it is no text
            off = [not eligible and self.ineligible_reason(source) is not None for source in ahead]
            words = [[] if skipped else split_words(source) for source, skipped in zip(ahead, off, strict=True)]
            chances = self.classifier.predict([[word.text for word in one] for one in words], number)
            for start, split, table, skipped in zip(plain, words, chances, off, strict=True):
                yield_point()
                plan = PlanPrediction(
                    source=start.source,
                    words=split,
                    chances=table,
                    lexicon=self.classifier.tables.lexicon,
                    calibration=self.calibration,
                    levels=levels,
                    alternatives=alternatives,
                    guard=self.guard,
                    common=self.common,
                    reviewed=self.reviewed,
                    strength="off" if skipped else strength_named(strength),
                ).plan()
                yield constraints.apply_to(plan) if constraints else plan

    def ineligible_reason(self, source: str) -> str | None:
        """Why a text is better left as it is; None for an English sentence."""
        return ineligible_reason(source, self.classifier.tables.word_frequency)

    def check_style(self, name: str) -> int:
        """The number of a style, or an error that lists them."""
        if name == ANY:
            return 0
        if name not in self.styles:
            raise ConfigError(f"style {shown(name)} is not known.", f"Use {ANY}, {', '.join(sorted(self.styles))}.")
        return 1 + self.styles.index(name)
