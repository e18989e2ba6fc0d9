"""The corpora, plans and models of an experiment, each loaded or made when a run first needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from redraft.align.sentence_pairs import SentencePair
from redraft.align.trained_aligner import TrainedAligner
from redraft.decode.model_fingerprint import fingerprint
from redraft.decode.redrafter import Redrafter
from redraft.decode.result import Result
from redraft.evaluate.corpora import Corpus
from redraft.experiment.description import NO_PLAN, Description, PlanEntry
from redraft.experiment.runs import Facts, Run, execute_run, facts_match, write_facts
from redraft.files import digest, folder_digest
from redraft.models import bundled
from redraft.plan.edits import EditPlan
from redraft.plan.extraction import Selection, extract_all
from redraft.plan.plan_files import read_plans, write_plans
from redraft.plan.planner import Planner
from redraft.progress_bar import Say
from redraft.simplify.simplifier import Simplifier


class ExperimentResources:
    """`out` contains plans/ and outputs/. Existing files are reused if they were made from the same inputs."""

    def __init__(
        self, description: Description, out: Path, *, data: str | None = None, device: str | None = None,
        dtype: str | None = None, graphs: bool | None = None, batch_size: int = 16, say: Say = print,
    ) -> None:  # fmt: skip
        self.description, self.out, self.say = description, out, say
        self._data, self._device, self._dtype, self._graphs = data, device, dtype, graphs
        self._batch_size = batch_size
        self._corpora: dict[str, Corpus] = {}
        self._redrafters: dict[str, Redrafter] = {}
        self._fingerprints: dict[str, Facts] = {}
        self._done: set[str] = set()
        self._planner: Planner | None = None
        self._aligner: TrainedAligner | None = None

    def corpus(self, name: str) -> Corpus:
        """The corpus with all its references."""
        if name not in self._corpora:
            self._corpora[name] = self.description.corpora[name].load(self._data, self.description.folder)
        return self._corpora[name]

    def output_path(self, run: Run) -> Path:
        """The file of the results of a run."""
        return self.out / "outputs" / f"{run.name}.jsonl"

    def run_plans(self, run: Run) -> list[EditPlan]:
        """The plans of a run. A sweep may limit the number of sentences and of edits per plan."""
        sources = self.corpus(run.corpus).sources
        if run.plan == NO_PLAN:
            plans = [EditPlan(source) for source in sources]
        else:
            plans = self.load_or_make_plans(run.plan, run.corpus, run.model)
        plans = plans[: run.sentences]
        return plans if run.edits is None else [replace(plan, edits=plan.edits[: run.edits]) for plan in plans]

    def execute(self, run: Run, deadline: float) -> Iterator[tuple[int, int]]:
        """Execute a run; yields (sentences done, total) after each batch. Yields nothing if all results exist."""
        facts = {**self._fingerprint(run.model), **({"tables": _bundled_digests()["predictor"]} if run.rank else {})}
        yield from execute_run(
            run, self.run_plans(run), lambda plans: self._rewrite(run, plans), self.output_path(run),
            made_by=facts, batch_size=self._batch_size, deadline=deadline, say=self.say,
        )  # fmt: skip
        self._done.add(run.name)

    def is_done(self, run: Run) -> bool:
        """Whether `execute` has completed. An output file alone proves nothing: it may be from other inputs."""
        return run.name in self._done

    def _rewrite(self, run: Run, plans: Sequence[EditPlan]) -> list[Result]:
        simplifier = Simplifier(
            self._redrafter(run.model), None, check=None, search_only=not run.rank, config=run.config
        )
        return list(simplifier.pipe(plans, batch_size=len(plans)))

    def load_or_make_plans(self, plan: str, corpus_name: str, model: str) -> list[EditPlan]:
        """All plans of a plan set for a corpus, from file if up to date. Predicted plans depend on the model."""
        entry, corpus = self.description.plans[plan].of(corpus_name), self.corpus(corpus_name)
        name = f"{corpus_name}.{plan}" + (f".{model}" if entry.predict else "")
        path = self.out / "plans" / f"{name}.jsonl"
        facts: dict[str, Any] = {"sources": _digest(corpus.sources), "entry": asdict(replace(entry, by_corpus={}))}
        if entry.predict:
            facts |= {"made_by": self._fingerprint(model), **_bundled_digests()}
        else:
            facts |= {"references": _digest(corpus.references[0]), "aligner": _bundled_digests()["aligner"]}
        if not (facts_match(path, facts) and path.exists()):
            self.say(f"plans: {name}")
            path.unlink(missing_ok=True)
            write_facts(path, facts)
            write_plans(
                path,
                self._predicted_plans(entry, corpus, model)
                if entry.words is None
                else self._oracle_plans(entry.words, corpus),
            )
        return list(read_plans(path))

    def _oracle_plans(self, words: Selection, corpus: Corpus) -> Iterator[EditPlan]:
        """Plans extracted from the first reference with the bundled aligner."""
        if self._aligner is None:
            self._aligner = TrainedAligner.load(device=self._device)
        pairs = (SentencePair.of(*pair) for pair in zip(corpus.sources, corpus.references[0], strict=True))
        return (extracted.plan for _, _, extracted in extract_all(self._aligner, pairs, selection=words))

    def _predicted_plans(self, entry: PlanEntry, corpus: Corpus, model: str) -> Iterator[EditPlan]:
        simplifier = Simplifier(
            self._redrafter(model), self._load_planner(), check=None, strength=entry.levels, style=entry.style
        )
        return simplifier.plans(corpus.sources)

    def _load_planner(self) -> Planner:
        if self._planner is None:
            self._planner = Planner.load(device=self._device)
        return self._planner

    def _redrafter(self, name: str) -> Redrafter:
        """Only one model is kept in memory, as runs are ordered by model."""
        if name not in self._redrafters:
            model, arguments = self._model_arguments(name)
            self._redrafters.clear()
            self._redrafters[name] = Redrafter(model, device=self._device, graphs=self._graphs, **arguments)
        return self._redrafters[name]

    def _fingerprint(self, name: str) -> Facts:
        """Identifies a model by content and settings."""
        if name not in self._fingerprints:
            model, arguments = self._model_arguments(name)
            self._fingerprints[name] = fingerprint(model, **arguments)
        return self._fingerprints[name]

    def _model_arguments(self, name: str) -> tuple[str | None, dict[str, Any]]:
        """The folder or name of a model, and its loading arguments."""
        arguments = {"dtype": self._dtype, **self.description.models[name]}
        model = arguments.pop("model", None)
        path = self.description.folder / model if model else None
        return str(path) if path and path.exists() else model, arguments


@cache
def _bundled_digests() -> Facts:
    """Digests of the bundled aligner and of the bundled planner with its tables."""
    return {"aligner": folder_digest(bundled("aligner")), "predictor": folder_digest(bundled("planner"))}


def _digest(texts: Sequence[str]) -> str:
    return digest("\n".join(texts).encode("utf-8"))
