"""Where an experiment is carried out: corpora, plans and models, each made when a run first needs it."""

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
from redraft.experiment.runs import Facts, Run, carry_out, is_cached, note
from redraft.files import digest, digest_of_folder
from redraft.models import bundled
from redraft.plan.edits import EditPlan
from redraft.plan.extraction import Which, extract_all
from redraft.plan.plan_files import read_plans, write_plans
from redraft.plan.planner import Planner
from redraft.progress_bar import Say
from redraft.simplify.simplifier import Simplifier


class ExperimentResources:
    """`out` holds plans/ and outputs/; what is there and was made from the same things is kept."""

    def __init__(
        self, description: Description, out: Path, *, data: str | None = None, device: str | None = None,
        dtype: str | None = None, graphs: bool = False, batch_size: int = 16, say: Say = print,
    ) -> None:  # fmt: skip
        self.description, self.out, self.say = description, out, say
        self._data, self._device, self._dtype, self._graphs = data, device, dtype, graphs
        self._batch_size = batch_size
        self._corpora: dict[str, Corpus] = {}
        self._redrafters: dict[str, Redrafter] = {}
        self._models: dict[str, Facts] = {}
        self._done: set[str] = set()
        self._planner: Planner | None = None
        self._aligner: TrainedAligner | None = None

    def corpus(self, name: str) -> Corpus:
        """With all its references."""
        if name not in self._corpora:
            self._corpora[name] = self.description.corpora[name].load(self._data, self.description.folder)
        return self._corpora[name]

    def outputs(self, run: Run) -> Path:
        return self.out / "outputs" / f"{run.name}.jsonl"

    def plans(self, run: Run) -> list[EditPlan]:
        """Of a run: all of its corpus, or some of them and some of their edits in a sweep."""
        sources = self.corpus(run.corpus).sources
        plain = run.plan == NO_PLAN
        whole = [EditPlan(source) for source in sources] if plain else self.made(run.plan, run.corpus, run.model)
        some = whole[: run.sentences]
        return some if run.edits is None else [replace(plan, edits=plan.edits[: run.edits]) for plan in some]

    def carry_out(self, run: Run, until: float) -> Iterator[tuple[int, int]]:
        """How many sentences are done, of how many, after each batch; nothing where all were done before."""
        facts = {**self._model(run.model), **({"tables": _shipped()["predictor"]} if run.rank else {})}
        yield from carry_out(
            run, self.plans(run), lambda plans: self._rewritten(run, plans), self.outputs(run),
            made_by=facts, batch_size=self._batch_size, until=until, say=self.say,
        )  # fmt: skip
        self._done.add(run.name)

    def is_done(self, run: Run) -> bool:
        """Whether `carry_out` has found or made all its outputs; what else lies there may be of other things."""
        return run.name in self._done

    def _rewritten(self, run: Run, plans: Sequence[EditPlan]) -> list[Result]:
        simplifier = Simplifier(
            self._redrafter(run.model), None, check=None, search_only=not run.rank, config=run.config
        )
        return list(simplifier.pipe(plans, batch_size=len(plans)))

    def made(self, plan: str, corpus_name: str, model: str) -> list[EditPlan]:
        """All plans of one name for a corpus; predicted ones are fitted to the model."""
        entry, corpus = self.description.plans[plan].of(corpus_name), self.corpus(corpus_name)
        name = f"{corpus_name}.{plan}" + (f".{model}" if entry.predict else "")
        path = self.out / "plans" / f"{name}.jsonl"
        facts: dict[str, Any] = {"sources": _digest(corpus.sources), "entry": asdict(replace(entry, by_corpus={}))}
        if entry.predict:
            facts |= {"made_by": self._model(model), **_shipped()}
        else:
            facts |= {"references": _digest(corpus.references[0]), "aligner": _shipped()["aligner"]}
        if not (is_cached(path, facts) and path.exists()):
            self.say(f"plans: {name}")
            path.unlink(missing_ok=True)
            note(path, facts)
            write_plans(
                path,
                self._predicted(entry, corpus, model) if entry.words is None else self._oracle(entry.words, corpus),
            )
        return list(read_plans(path))

    def _oracle(self, words: Which, corpus: Corpus) -> Iterator[EditPlan]:
        """From the first reference, by the aligner that comes with the package."""
        if self._aligner is None:
            self._aligner = TrainedAligner.load(device=self._device)
        pairs = (SentencePair.of(*pair) for pair in zip(corpus.sources, corpus.references[0], strict=True))
        return (extracted.plan for _, _, extracted in extract_all(self._aligner, pairs, which=words))

    def _predicted(self, entry: PlanEntry, corpus: Corpus, model: str) -> Iterator[EditPlan]:
        simplifier = Simplifier(
            self._redrafter(model), self._predicting(), check=None, strength=entry.levels, style=entry.style
        )
        return simplifier.plans(corpus.sources)

    def _predicting(self) -> Planner:
        if self._planner is None:
            self._planner = Planner.load(device=self._device)
        return self._planner

    def _redrafter(self, name: str) -> Redrafter:
        """One at a time: runs come model by model."""
        if name not in self._redrafters:
            model, about = self._asked(name)
            self._redrafters.clear()
            self._redrafters[name] = Redrafter(model, device=self._device, graphs=self._graphs, **about)
        return self._redrafters[name]

    def _model(self, name: str) -> Facts:
        """What tells a model from others."""
        if name not in self._models:
            model, about = self._asked(name)
            self._models[name] = fingerprint(model, **about)
        return self._models[name]

    def _asked(self, name: str) -> tuple[str | None, dict[str, Any]]:
        """A model's folder or name, and how it is loaded."""
        about = {"dtype": self._dtype, **self.description.models[name]}
        model = about.pop("model", None)
        path = self.description.folder / model if model else None
        return str(path) if path and path.exists() else model, about


@cache
def _shipped() -> Facts:
    """What tells the aligner and the classifier that come with the package from others, its tables included."""
    return {"aligner": digest_of_folder(bundled("aligner")), "predictor": digest_of_folder(bundled("planner"))}


def _digest(texts: Sequence[str]) -> str:
    return digest("\n".join(texts).encode("utf-8"))
