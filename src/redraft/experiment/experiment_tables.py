"""Markdown tables of an experiment: scores, significance tests and satisfied edits of each method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from redraft.decode.config import DecodeConfig
from redraft.evaluate.corpora import References
from redraft.evaluate.scores import Scores
from redraft.experiment.description import NO_PLAN, Description
from redraft.experiment.experiment_scores import APPLIED, COPY, Results, ScoreKey
from redraft.plan.edits import ALL_KINDS, KINDS


def all_tables(description: Description, results: Results) -> str:
    """The tables of each model and plan set, then the settings and the missing runs."""
    parts: list[str] = []
    for model in description.models:
        for plan, entry in description.plans.items():
            title = f"### {plan[:1].upper()}{plan[1:]} plans" + ("" if len(description.models) == 1 else f", {model}")
            first, every = (_Part(description, results, model, plan, which) for which in ("first", "all"))
            parts += [f"{title}, first reference", first.quality(), first.differences(), first.satisfied()]
            if entry.predict:
                parts += [f"{title}, all references", every.quality(), every.differences(),
                          "### Precision and recall of predicted plans, %", first.precision()]  # fmt: skip
    parts += ["### Settings", settings(results)]
    if results.missing:
        parts.append(f"Not yet run: {', '.join(results.missing)}.")
    return "\n\n".join(filter(None, parts)) + "\n"


@dataclass(frozen=True)
class _Part:
    """The tables of one plan set."""

    description: Description
    results: Results
    model: str
    plan: str
    references: References

    def quality(self) -> str:
        """SARI and BLEU of each method, the best in bold, then the published scores."""
        rows: list[list[str]] = []
        for method in (COPY, APPLIED, *self.description.methods):
            found = [self._scores(corpus, method) for corpus in self._corpora()]
            if any(found):
                rows.append([method, *(cell for one in found for cell in _sari_and_bleu(one))])
        _bold_best(rows, [number for number, row in enumerate(rows) if row[0] in self.description.methods])
        for paper in self.description.paper:
            if paper.get("plan") == self.plan and paper.get("references", "first") == self.references:
                cells = [cell for corpus in self._corpora() for cell in (_number(paper.get(corpus)), "")]
                rows.append([f"paper: {paper['method']}", *cells])
        return _table(["", *(cell for corpus in self._corpora() for cell in (f"{corpus} SARI", "BLEU"))], rows)

    def differences(self) -> str:
        """Differences in SARI and BLEU from the baseline and the rivals, with p-values of paired tests."""
        rows = []
        others = [self.description.baseline, *self.description.rivals]
        for method in self.description.methods:
            for number, other in enumerate(others):
                if method not in others[: number + 1]:
                    cells = [self._difference(corpus, other, method) for corpus in self._corpora()]
                    rows += [[f"{method} − {other}", *cells]] if any(cells) else []
        return _table(["SARI difference; BLEU difference", *self._corpora()], rows)

    def satisfied(self) -> str:
        """Percentage of satisfied insertions, deletions and substitutions; of splits if there are any."""
        rows, splits = [], ""
        for name, method in self.description.methods.items():
            found = [self._scores(corpus, name) for corpus in self._corpora()]
            if any(found) and method.has_plans:
                rows.append([name, *(_percentages(one, "satisfied") for one in found)])
                splits = " / splits" if any(one and "satisfied_split" in one.figures for one in found) else splits
        return _table([f"satisfied, %: insertions / deletions / substitutions{splits}", *self._corpora()], rows)

    def precision(self) -> str:
        """Precision and recall of the predicted plans."""
        rows = [
            [word, *(self._precision(corpus, word) for corpus in self._corpora())] for word in ("precision", "recall")
        ]
        return _table(["insertions / deletions / substitutions", *self._corpora()], rows)

    def _precision(self, corpus: str, word: str) -> str:
        """All methods have the same plans, so the first completed run is enough."""
        found = (self._scores(corpus, method) for method in self.description.methods)
        return _percentages(next((one for one in found if one and f"{word}_insert" in one.figures), None), word)

    def _difference(self, corpus: str, one: str, other: str) -> str:
        found = self.results.comparison(self._key(corpus, one), self._key(corpus, other))
        figures = [found[name] for name in ("sari", "bleu") if name in found]
        return "; ".join(f"{figure.difference:+.1f} (p {_p(figure.p)})" for figure in figures)

    def _corpora(self) -> list[str]:
        there = {key.corpus for key in self.results.scores if key.references == self.references}
        return [name for name in self.description.corpora if name in there]

    def _scores(self, corpus: str, method: str) -> Scores | None:
        return self.results.scores.get(self._key(corpus, method))

    def _key(self, corpus: str, method: str) -> ScoreKey:
        methods = self.description.methods
        plain = not methods[method].has_plans if method in methods else method == COPY
        return ScoreKey(self.model, corpus, NO_PLAN if plain else self.plan, method, self.references)


def settings(results: Results) -> str:
    """The non-default settings of each run; corpora with the same settings share a row."""
    plain, rows = DecodeConfig(), dict[tuple[str, str, str], list[str]]()
    for run in results.runs:
        if not run.sweep:
            changed = {f.name: getattr(run.config, f.name) for f in fields(DecodeConfig)}
            text = ", ".join(f"{name} {_shown(value)}" for name, value in changed.items()
                             if value != getattr(plain, name) and name != "method")  # fmt: skip
            rows.setdefault((run.plan, run.method, text or "defaults"), []).append(run.corpus)
    lines = [[method, plan, ", ".join(corpora), text] for (plan, method, text), corpora in sorted(rows.items())]
    return _table(["method", "plans", "corpora", "settings"], lines)


def _sari_and_bleu(scores: Scores | None) -> Iterator[str]:
    for name in ("sari", "bleu"):
        yield _number(scores.figures[name].value) if scores else ""


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _percentages(scores: Scores | None, word: str) -> str:
    known = {kind: scores.figures[f"{word}_{kind}"].value for kind in ALL_KINDS
             if scores and f"{word}_{kind}" in scores.figures}  # fmt: skip
    values = [known.get(kind) for kind in ALL_KINDS if kind in KINDS or kind in known]
    return " / ".join(map(_number, values)) if any(value is not None for value in values) else ""


def _bold_best(rows: list[list[str]], among: Sequence[int]) -> None:
    for column in range(1, len(rows[0]) if rows else 0):
        values = {number: float(rows[number][column]) for number in among if rows[number][column]}
        for number, value in values.items():
            if value == max(values.values()):
                rows[number][column] = f"**{rows[number][column]}**"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(f"{one:.3g}" for one in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value).lower() if value is None else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *lines]) if lines else ""
