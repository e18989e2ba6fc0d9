"""Checks whether an output keeps the meaning of its source: exact rules and the trained check, combined."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from redraft.check.exact_checks import findings
from redraft.check.meaning import SAME, Meaning
from redraft.check.rules.rule_types import Finding
from redraft.check.trained_checker import ABOUT, Judged, TrainedCheck
from redraft.check.word_facts import WordFacts
from redraft.cooperative_scheduling import yield_point
from redraft.errors import ConfigError, ModelError, shown
from redraft.files import digest
from redraft.models import bundled
from redraft.plan.phrases import find_spans
from redraft.plan.planner import Planner
from redraft.reading import number_members, read_json, typed_member
from redraft.text.protected_spans import Span, overlaps
from redraft.text.words import Word, split_words
from redraft.trust import loading

_BATCH = 2048  # pairs checked together
_BLAME_THRESHOLD = 0.5  # probability from which a word is named
_MAX_BLAMED = 6  # words that the trained check names
_UNSEEN_WEIGHT = 5.0  # of a kind of finding that is in no training example
# Facts that are not findings of rules.
GRADED = frozenset({"altered", "unsupported", "lost", "left out", "new", "added"})
_EMPTY_RISK = 1.0  # of an empty output


@dataclass(frozen=True)
class Weights:
    """A logistic regression: the weight of each fact in the logit of the risk, and the risk threshold of an alarm."""

    facts: Mapping[str, float]
    bias: float
    level: float

    def risk(self, facts: Mapping[str, float]) -> float:
        logit = self.bias + sum(self.facts.get(name, _UNSEEN_WEIGHT) * value for name, value in facts.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))

    def is_alarm(self, facts: Mapping[str, float]) -> bool:
        """Whether the risk reaches the threshold, or any rule has a finding, which is always an alarm."""
        return self.risk(facts) >= self.level or bool(facts.keys() - GRADED)


class MeaningCheck:
    """Checks pairs of texts; loads in about one second."""

    def __init__(self, trained: TrainedCheck, weights: Weights, planner: Planner) -> None:
        self.trained, self.weights, self._planner = trained, weights, planner

    @classmethod
    def load(
        cls, folder: str | Path | None = None, *, planner: Planner | None = None, device: str | None = None
    ) -> MeaningCheck:
        """Load a check from a folder, or the bundled one. It uses the tables and the encoder of the planner."""
        path = bundled("checker") if folder is None else Path(folder)
        planner = planner or Planner.load(device=device)
        known = WordFacts.of_planner(planner)
        trained = TrainedCheck.load(path, planner.classifier, known)
        hint = "Name a folder that redraft train-checker has written."
        with loading("the meaning check", path, ModelError, hint, problem=f"{path} holds no meaning check"):
            about = read_json(path / ABOUT)
            bias, level = (typed_member(about, name, int, float) for name in ("bias", "level"))
            weights = Weights(number_members(about, "weights"), bias, level)
        return cls(trained, weights, planner)

    @property
    def digest(self) -> str:
        """Identifies the check."""
        return digest(json.dumps([self.trained.digest, dict(self.weights.facts), self.weights.bias]).encode())

    def __call__(self, source: str, output: str, *, stays: Sequence[str] = ()) -> Meaning:
        return next(self.check([(source, output)], stays=stays))

    def check(self, pairs: Iterable[tuple[str, str]], *, stays: Sequence[str] = ()) -> Iterator[Meaning]:
        """Results in the order of the pairs; `stays` are words that an output must have if its source has them."""
        waiting = iter(pairs)
        while ahead := list(islice(waiting, _BATCH)):
            for source, output in ahead:
                if not isinstance(source, str) or not isinstance(output, str):
                    wrong = source if not isinstance(source, str) else output
                    raise ConfigError(f"a text to check is {shown(wrong)}.", "Give pairs of strings: source, output.")
            differ = [pair for pair in ahead if _needs_network(*pair)]
            words = [tuple(tuple(word.text for word in split_words(text)) for text in pair) for pair in differ]
            judged = self.trained.judge((source, output) for source, output in words)
            for pair in ahead:
                yield_point()
                yield self._combined(*pair, next(judged), stays) if _needs_network(*pair) else _trivial(*pair)

    def plain_facts(self, source: str, output: str, found: Sequence[Finding]) -> dict[str, float]:
        """The facts that do not come from the network: findings of the rules, and unexplained words by the tables."""
        one, two = (tuple(word.text for word in split_words(text)) for text in (source, output))
        lost, new = self.trained.reader.facts.shares(one, two)
        kinds = {finding.kind: 1.0 for finding in found}
        return {"lost": lost, "left out": float(lost > 0), "new": new, "added": float(new > 0), **kinds}

    def _combined(self, source: str, output: str, judged: Judged | None, stays: Sequence[str]) -> Meaning:
        found = findings(source, output, stays=stays, guard=self._planner.guard)
        facts = {**self.plain_facts(source, output, found), **trained_facts(judged)}
        risk, alarm = self.weights.risk(facts), self.weights.is_alarm(facts)
        blamed = [_spans(source, _words_of(found, 0)), _spans(output, _words_of(found, 1))]
        reasons = [finding.why for finding in found]
        if alarm:
            for reason, side, spans in self._doubts(source, output, judged):
                new = [span for span in spans if not overlaps(span, blamed[side])]
                if new:
                    texts = ", ".join(dict.fromkeys((source, output)[side][start:end] for start, end in new))
                    reasons.append(reason.format(texts))
                    blamed[side] = sorted([*blamed[side], *new])
        if judged is None:
            reasons.append(
                f"judged by rules alone: {self._planner.ineligible_reason(source) or 'too long for the network'}"
            )
        words = [text[start:end] for text, some in ((output, blamed[1]), (source, blamed[0])) for start, end in some]
        why = "; ".join(reasons) or ("the texts may not say the same" if alarm else "")
        return Meaning(risk, alarm, why, tuple(blamed[0]), tuple(blamed[1]), tuple(dict.fromkeys(words)))

    def _doubts(self, source: str, output: str, judged: Judged | None) -> Iterator[tuple[str, int, list[Span]]]:
        """Doubts of the tables and the network: a reason, the side (0: source, 1: output), and the spans there."""
        one, two = split_words(source), split_words(output)
        lost, new = self.trained.reader.facts.unexplained([w.text for w in one], [w.text for w in two])
        yield "the output leaves out “{}”", 0, [(one[at].start, one[at].end) for at in lost]
        yield "the output adds “{}”", 1, [(two[at].start, two[at].end) for at in new]
        if judged is not None:
            yield "“{}” may say something else", 1, _blamed(two, judged.output)
            yield "“{}” may be lost", 0, _blamed(one, judged.source)


def _needs_network(source: str, output: str) -> bool:
    return bool(source.strip()) and bool(output.strip()) and source.split() != output.split()


def _trivial(source: str, output: str) -> Meaning:
    """The result for equal texts, or if one of them is empty."""
    if source.split() == output.split():
        return SAME
    return Meaning(_EMPTY_RISK, True, "the output is empty" if source.strip() else "the source is empty")


def trained_facts(judged: Judged | None) -> dict[str, float]:
    """The facts that come from the network."""
    return {"altered": judged.altered, "unsupported": judged.unsupported} if judged else {}


def _words_of(found: Sequence[Finding], side: int) -> list[str]:
    return [word for finding in found for word in (finding.source, finding.output)[side]]


def _spans(text: str, phrases: Iterable[str]) -> list[Span]:
    """The spans of phrases in a text, ignoring case."""
    lowered = text.lower()
    return find_spans(lowered, [phrase.lower() for phrase in phrases]) if len(lowered) == len(text) else []


def _blamed(words: Sequence[Word], probabilities: Sequence[float]) -> list[Span]:
    """The spans of the words most likely to be wrong, in text order."""
    order = sorted(range(len(words)), key=lambda at: -probabilities[at])[:_MAX_BLAMED]
    named = sorted(
        at for at in order if probabilities[at] >= _BLAME_THRESHOLD and any(map(str.isalnum, words[at].text))
    )
    return [(words[at].start, words[at].end) for at in named]
