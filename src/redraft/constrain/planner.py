"""The planner: sentences in, plans out, with no reference in sight."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from types import NoneType
from typing import Any

from redraft.align.trained import TrainedAligner
from redraft.align.words import split_words
from redraft.constrain.common_names import CommonNames
from redraft.constrain.commonness import Commonness
from redraft.constrain.edits import EditPlan, Strength
from redraft.constrain.lexicon import Lexicon
from redraft.constrain.predicted import ALTERNATIVES, Levels, Predicted, Sureness, strength_named
from redraft.constrain.predictor import HeadShape, Predictor, PredictorHead, Tables
from redraft.constrain.readable import unreadable
from redraft.constrain.reviewed_targets import ReviewedTargets
from redraft.constrain.target_guard import TargetGuard
from redraft.constrain.wishes import Wishes
from redraft.eight_bit import load_eight_bit, save_eight_bit
from redraft.errors import ConfigError, ModelError, shown
from redraft.files import replacing
from redraft.pauses import pause
from redraft.reading import member, numbers, read_json
from redraft.trust import loading

_WEIGHTS, _ABOUT, _LEXICON, _COMMONNESS = "head.safetensors", "predictor.json", "lexicon.tsv.xz", "commonness.tsv.xz"
ANY = "any"  # the style of all corpora together
_AHEAD = 512  # sentences planned at once


def shipped_predictor() -> Path:
    """The folder of the predictor that comes with the package."""
    return Path(str(files("redraft.constrain").joinpath("shipped")))


@cache
def shipped_commonness() -> Commonness:
    return Commonness.load(shipped_predictor() / _COMMONNESS)


class Planner:
    """Decides which words of a sentence to replace, to leave out and to keep.

    `strength` says how much is changed: light, medium, strong, or a number from 0 to 1. `style` is the name of a corpus
    that the predictor learned from: it then edits as people did there. `usual` is the style where none is asked for.
    The tables that guard the meaning and name common words for terms come with the package, not with a predictor.
    """

    def __init__(
        self, predictor: Predictor, styles: Sequence[str], sureness: Sureness, *,
        usual: str = ANY, aligner: str | None = None,
    ) -> None:  # fmt: skip
        self.predictor, self.styles, self.sureness, self.aligner = predictor, tuple(styles), sureness, aligner
        self.usual = usual
        self.check_style(usual)
        self.guard, self.common, self.reviewed = TargetGuard.load(), CommonNames.load(), ReviewedTargets.load()

    @classmethod
    def load(cls, folder: str | Path | None = None, *, device: str | None = None) -> Planner:
        """The planner of a folder, or the one that comes with the package."""
        path = shipped_predictor() if folder is None else Path(folder)
        lacking = "this copy of redraft comes without its predictor" if folder is None else f"{path} holds no predictor"
        hint = "Name a folder that redraft train-predictor has written."
        with loading("the predictor", path, ModelError, hint, problem=lacking):
            about = read_json(path / _ABOUT)
            head = PredictorHead(HeadShape(**numbers(about, "head")))
            head.load_state_dict(load_eight_bit(path / _WEIGHTS))
            aligner, encoder = member(about, "aligner", str, NoneType), member(about, "encoder", str)
            styles, usual = member(about, "styles", list), member(about, "usual", str)
            if usual not in (ANY, *styles) or len(styles) != head.style.num_embeddings - 1:
                raise ValueError(f"its styles are {shown(styles)}, and usually {shown(usual)}")
            sureness = Sureness(**numbers(about, "sureness"))
        trained = TrainedAligner.load(aligner and path / aligner, device=device)
        if encoder != trained.digest:
            raise ModelError(
                f"{path} was trained above another encoder.", "Train it again with redraft train-predictor."
            )
        tables = Tables(Lexicon.load(path / _LEXICON), Commonness.load(path / _COMMONNESS))
        predictor, aligner = Predictor(trained, head, tables), aligner and str(path / aligner)
        return cls(predictor, styles, sureness, usual=usual, aligner=aligner)

    def save(self, folder: str | Path, report: Mapping[str, Any] | None = None) -> None:
        """`report` is what there is to know of the training."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        save_eight_bit(path / _WEIGHTS, self.predictor.head.state_dict())
        self.predictor.tables.lexicon.save(path / _LEXICON)
        self.predictor.tables.commonness.save(path / _COMMONNESS)
        aligner = self.aligner and os.path.relpath(self.aligner, path)
        about = {
            "head": self.predictor.head.shape.to_json(), "styles": list(self.styles), "usual": self.usual,
            "aligner": aligner, "encoder": self.predictor.above, "sureness": asdict(self.sureness), **(report or {}),
        }  # fmt: skip
        with replacing(path / _ABOUT) as file:
            file.write((json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))

    def __call__(self, source: str, **changes: Any) -> EditPlan:
        """The plan of one sentence; `changes` are those of `plans`."""
        return next(self.plans([source], **changes))

    def plans(
        self, sources: Iterable[str], *, strength: Strength | float | Levels = "medium", style: str | None = None,
        wishes: Wishes | None = None, alternatives: int = ALTERNATIVES, readable: bool = False,
    ) -> Iterator[EditPlan]:  # fmt: skip
        """A plan for each sentence, in order; wishes win over what is predicted.

        What is no English gets no edits but wishes, and the strength "off". `readable`: all is known to be English.
        Substitutions have at most so many `alternatives`; `redraft.decode.fitting` chooses among them by a model.
        """
        levels, number = Levels.of(strength), self.check_style(style or self.usual)
        waiting = iter(sources)
        while ahead := list(islice(waiting, _AHEAD)):
            plain = [EditPlan(source) for source in ahead]  # or an error, where it is no text
            off = [not readable and self.unreadable(source) is not None for source in ahead]
            words = [[] if skipped else split_words(source) for source, skipped in zip(ahead, off, strict=True)]
            chances = self.predictor.predict([[word.text for word in one] for one in words], number)
            for start, split, table, skipped in zip(plain, words, chances, off, strict=True):
                pause()
                plan = Predicted(
                    source=start.source,
                    words=split,
                    chances=table,
                    lexicon=self.predictor.tables.lexicon,
                    sureness=self.sureness,
                    levels=levels,
                    alternatives=alternatives,
                    guard=self.guard,
                    common=self.common,
                    reviewed=self.reviewed,
                    strength="off" if skipped else strength_named(strength),
                ).plan()
                yield wishes.granted(plan) if wishes else plan

    def unreadable(self, source: str) -> str | None:
        """Why a text is better left as it is; None for an English sentence."""
        return unreadable(source, self.predictor.tables.commonness)

    def check_style(self, name: str) -> int:
        """The number of a style, or an error that lists them."""
        if name == ANY:
            return 0
        if name not in self.styles:
            raise ConfigError(f"style {shown(name)} is not known.", f"Use {ANY}, {', '.join(sorted(self.styles))}.")
        return 1 + self.styles.index(name)
