"""Does an output still say the same as its source? Exact checks and the trained one, weighed together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from redraft.cancellation import yield_point
from redraft.check.exact_checks import findings
from redraft.check.meaning import SAME, Meaning
from redraft.check.rules.rule_types import Finding
from redraft.check.trained_checker import ABOUT, Judged, TrainedCheck
from redraft.check.word_facts import WordFacts
from redraft.errors import ConfigError, ModelError
from redraft.files import digest
from redraft.models import bundled
from redraft.plan.phrases import find
from redraft.plan.planner import Planner
from redraft.reading import member, numbers, read_json
from redraft.text.protected_spans import Span, overlaps
from redraft.text.words import Word, split_words
from redraft.trust import loading

_AHEAD = 256  # pairs read at once
_BLAMED = 0.5  # how likely a word is to blame, from which it is named
_MOST = 6  # words that the trained check names
_SURE = 5.0  # the weight of a kind of finding that no training example has
# Facts that are no finding of a rule.
GRADED = frozenset({"altered", "unsupported", "lost", "left out", "new", "added"})
_ALL = 1.0  # the risk of an output that is empty


@dataclass(frozen=True)
class Weights:
    """What each fact adds to the logit of the risk, and the risk from which it is an alarm."""

    facts: Mapping[str, float]
    bias: float
    level: float

    def risk(self, facts: Mapping[str, float]) -> float:
        logit = self.bias + sum(self.facts.get(name, _SURE) * value for name, value in facts.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))

    def is_alarm(self, facts: Mapping[str, float]) -> bool:
        """A finding of a rule always is one, whatever the network thinks: whoever answers for a text should see it."""
        return self.risk(facts) >= self.level or bool(facts.keys() - GRADED)


class MeaningCheck:
    """Checks pairs of texts; loads in about a second."""

    def __init__(self, trained: TrainedCheck, weights: Weights, planner: Planner) -> None:
        self.trained, self.weights, self._planner = trained, weights, planner

    @classmethod
    def load(
        cls, folder: str | Path | None = None, *, planner: Planner | None = None, device: str | None = None
    ) -> MeaningCheck:
        """The check of a folder, or the one that comes with the package. A planner lends its tables and its encoder."""
        path = bundled("checker") if folder is None else Path(folder)
        planner = planner or Planner.load(device=device)
        known = WordFacts.of_planner(planner)
        trained = TrainedCheck.load(path, planner.classifier, known)
        hint = "Name a folder that redraft train-checker has written."
        with loading("the meaning check", path, ModelError, hint, problem=f"{path} holds no meaning check"):
            about = read_json(path / ABOUT)
            bias, level = (member(about, name, int, float) for name in ("bias", "level"))
            weights = Weights(numbers(about, "weights"), bias, level)
        return cls(trained, weights, planner)

    @property
    def digest(self) -> str:
        """Tells one check from another."""
        return digest(json.dumps([self.trained.digest, dict(self.weights.facts), self.weights.bias]).encode())

    def __call__(self, source: str, output: str, *, stays: Sequence[str] = ()) -> Meaning:
        return next(self.check([(source, output)], stays=stays))

    def check(self, pairs: Iterable[tuple[str, str]], *, stays: Sequence[str] = ()) -> Iterator[Meaning]:
        """In order; `stays` are words that every output must have where its source has them."""
        waiting = iter(pairs)
        while ahead := list(islice(waiting, _AHEAD)):
            for source, output in ahead:
                if not isinstance(source, str) or not isinstance(output, str):
                    raise ConfigError("a text to check is no string.", "Give pairs of strings.")
            differ = [pair for pair in ahead if _is_to_read(*pair)]
            words = [tuple(tuple(word.text for word in split_words(text)) for text in pair) for pair in differ]
            judged = self.trained.judge((source, output) for source, output in words)
            for pair in ahead:
                yield_point()
                yield self._weighed(*pair, next(judged), stays) if _is_to_read(*pair) else _plain(*pair)

    def plain_facts(self, source: str, output: str, found: Sequence[Finding]) -> dict[str, float]:
        """What the risk is made of beside the network: findings of the rules, and what the tables know of the words."""
        one, two = (tuple(word.text for word in split_words(text)) for text in (source, output))
        lost, new = self.trained.reader.facts.shares(one, two)
        kinds = {finding.kind: 1.0 for finding in found}
        return {"lost": lost, "left out": float(lost > 0), "new": new, "added": float(new > 0), **kinds}

    def _weighed(self, source: str, output: str, judged: Judged | None, stays: Sequence[str]) -> Meaning:
        found = findings(source, output, stays=stays, guard=self._planner.guard)
        facts = {**self.plain_facts(source, output, found), **trained_facts(judged)}
        risk, alarm = self.weights.risk(facts), self.weights.is_alarm(facts)
        blamed = [_spans(source, _named(found, 0)), _spans(output, _named(found, 1))]
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
        """What tables and the network hold against a pair: a reason, the side it is about, and the places there."""
        one, two = split_words(source), split_words(output)
        lost, new = self.trained.reader.facts.unexplained([w.text for w in one], [w.text for w in two])
        yield "the output leaves out “{}”", 0, [(one[at].start, one[at].end) for at in lost]
        yield "the output adds “{}”", 1, [(two[at].start, two[at].end) for at in new]
        if judged is not None:
            yield "“{}” may say something else", 1, _blamed(two, judged.output)
            yield "“{}” may be lost", 0, _blamed(one, judged.source)


def _is_to_read(source: str, output: str) -> bool:
    return bool(source.strip()) and bool(output.strip()) and source.split() != output.split()


def _plain(source: str, output: str) -> Meaning:
    """Of texts that are the same, or of which one is empty."""
    if source.split() == output.split():
        return SAME
    return Meaning(_ALL, True, "the output is empty" if source.strip() else "the source is empty")


def trained_facts(judged: Judged | None) -> dict[str, float]:
    """What the risk is made of that the network says."""
    return {"altered": judged.altered, "unsupported": judged.unsupported} if judged else {}


def _named(found: Sequence[Finding], side: int) -> list[str]:
    return [word for finding in found for word in (finding.source, finding.output)[side]]


def _spans(text: str, phrases: Iterable[str]) -> list[Span]:
    """Where phrases stand, whatever their case."""
    lowered = text.lower()
    return find(lowered, [phrase.lower() for phrase in phrases]) if len(lowered) == len(text) else []


def _blamed(words: Sequence[Word], chances: Sequence[float]) -> list[Span]:
    """The words most likely to blame, in their order."""
    order = sorted(range(len(words)), key=lambda at: -chances[at])[:_MOST]
    named = sorted(at for at in order if chances[at] >= _BLAMED and any(map(str.isalnum, words[at].text)))
    return [(words[at].start, words[at].end) for at in named]
