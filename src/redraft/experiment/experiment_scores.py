"""Scores of all completed runs, and of two baselines that need no model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redraft.evaluate.corpora import Corpus, References
from redraft.evaluate.measures import Measure
from redraft.evaluate.plan_precision import PlanPrecision
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.scores import Comparison, Scores, compare, default_measures, score
from redraft.evaluate.system_outputs import read_outputs
from redraft.experiment.description import NO_PLAN
from redraft.experiment.experiment_resources import ExperimentResources
from redraft.experiment.runs import Run
from redraft.files import parse_json_lines
from redraft.plan.edits import EditPlan

COPY, APPLIED = "source copied", "plan applied word by word"
_TRIALS = 2000  # of each randomisation test


@dataclass(frozen=True)
class ScoreKey:
    """Identifies a score."""

    model: str
    corpus: str
    plan: str
    method: str
    references: References


class Results:
    """Scores by key, and comparisons between them."""

    def __init__(self, resources: ExperimentResources, runs: Sequence[Run]) -> None:
        self._resources = resources
        self.runs = [run for run in runs if resources.is_done(run)]
        self.missing = [run.name for run in runs if run not in self.runs]
        self.scores: dict[ScoreKey, Scores] = {}
        for run in self.runs:
            if not run.sweep:
                self._score(run)
        self._score_baselines()

    def comparison(self, one: ScoreKey, other: ScoreKey) -> dict[str, Comparison]:
        """Paired tests of SARI and BLEU; empty if one of the two is missing."""
        if one not in self.scores or other not in self.scores:
            return {}
        return compare(self.scores[one], self.scores[other], ("sari", "bleu"), samples=200, trials=_TRIALS)

    def sweep_figures(self, run: Run) -> dict[str, float]:
        """The scores of one run of a sweep on the first reference, and its seconds per sentence."""
        corpus = self._first(run)
        found = read_outputs(str(self._resources.output_path(run)))
        measures = [*default_measures(), Satisfaction(found.verdicts or [])]
        scores = score(found.texts, corpus, measures=measures, samples=0)
        rows = parse_json_lines(self._resources.output_path(run).read_bytes())
        values = {name: figure.value for name, figure in scores.figures.items() if figure.value is not None}
        return {**values, "seconds": sum(row["seconds"] for row in rows) / len(rows)}

    def _first(self, run: Run) -> Corpus:
        corpus = self._resources.corpus(run.corpus)
        size = run.sentences or len(corpus)
        return Corpus(corpus.name, corpus.split, corpus.sources[:size], [corpus.references[0][:size]])

    def _score(self, run: Run) -> None:
        found = read_outputs(str(self._resources.output_path(run)))
        more: list[Measure] = [Satisfaction(found.verdicts or [])] if run.plan != NO_PLAN else []
        more += self._precision(run)
        for references, corpus in self._versions(run.corpus):
            key = ScoreKey(run.model, run.corpus, run.plan, run.method, references)
            measures = [*default_measures(), *more]
            self.scores[key] = score(found.texts, corpus, name=run.method, measures=measures, samples=200)

    def _precision(self, run: Run) -> list[Measure]:
        """Precision of predicted plans against oracle plans over content words, if the experiment has them."""
        plans = self._resources.description.plans
        oracle = next((name for name, entry in plans.items() if entry.words == "content"), None)
        if run.plan == NO_PLAN or not plans[run.plan].predict or oracle is None:
            return []
        return [
            PlanPrecision(
                *(self._resources.load_or_make_plans(name, run.corpus, run.model) for name in (run.plan, oracle))
            )
        ]

    def _versions(self, name: str) -> Iterator[tuple[References, Corpus]]:
        corpus = self._resources.corpus(name)
        yield "first", corpus.with_references("first")
        if len(corpus.references) > 1:
            yield "all", corpus

    def _score_baselines(self) -> None:
        for run in list(self.runs):
            if not run.sweep:
                sources = [EditPlan(source) for source in self._resources.corpus(run.corpus).sources]
                self._score_baseline(run, NO_PLAN, COPY, sources)
                if run.plan != NO_PLAN and not self._resources.description.plans[run.plan].predict:
                    self._score_baseline(run, run.plan, APPLIED, self._resources.run_plans(run))

    def _score_baseline(self, run: Run, plan: str, name: str, plans: Sequence[EditPlan]) -> None:
        for references, corpus in self._versions(run.corpus):
            key = ScoreKey(run.model, run.corpus, plan, name, references)
            if key not in self.scores:
                self.scores[key] = score([apply_plan(one) for one in plans], corpus, name=name, samples=0)


def apply_plan(plan: EditPlan) -> str:
    """Apply every edit literally at its span in the source; the result may be ungrammatical.

    Edits without a span, and splits, are ignored.
    """
    pieces, position = [], 0
    with_span = (edit for edit in plan.edits if edit.span and edit.kind != "split")
    for edit in sorted(with_span, key=lambda edit: edit.span or (0, 0)):
        start, end = edit.span or (0, 0)
        if start >= position:
            replacement = {"insert": edit.phrase, "delete": "", "substitute": "".join(edit.targets[:1])}[edit.kind]
            pieces += [plan.source[position:start], replacement]
            position = end
    return " ".join("".join([*pieces, plan.source[position:]]).split())
