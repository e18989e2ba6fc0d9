"""The runs of an experiment, and how one is carried out: batch by batch, gone on with after a stop."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from redraft.decode.config import SIMPLIFY, DecodeConfig
from redraft.decode.result import Result
from redraft.errors import ConfigError, RedraftError, shown
from redraft.experiment.description import LAMBDAS, NO_PLAN, Description, Sweep
from redraft.files import digest, json_lines, replacing, whole_lines, writing
from redraft.plan.edits import EditPlan
from redraft.plan.plan_files import write_jsonl
from redraft.progress_bar import Say

_LONGEST = 200  # bytes of a run's name: files may have 255, endings and all
Rewrite = Callable[[Sequence[EditPlan]], Sequence[Result]]


class Paused(RedraftError):
    """The time that was given is over; what is done is kept."""


@dataclass(frozen=True)
class Run:
    """One model, corpus, plan and method; of a sweep, with one setting changed."""

    model: str
    corpus: str
    plan: str
    method: str
    config: DecodeConfig
    rank: bool = False
    sweep: str = ""
    value: float = 0.0
    sentences: int | None = None
    edits: int | None = None  # of each plan, at most

    @property
    def name(self) -> str:
        changed = f".{self.sweep}.{self.value:g}" if self.sweep else ""
        return f"{self.model}.{self.corpus}.{self.plan}.{self.method}{changed}"


def all_runs(description: Description) -> list[Run]:
    """In the order in which they are carried out. A method without edits runs once, whatever the plans."""
    runs = list(_all_runs(description))
    counts = Counter(run.name for run in runs)
    for name, count in counts.items():
        if count > 1:
            raise ConfigError(f"{count} runs would be named {shown(name)}.",
                              "Rename one of the models, corpora, plans, methods or sweeps.")  # fmt: skip
        if len(name.encode()) > _LONGEST:
            raise ConfigError(f"the run {shown(name)} has a name too long for a file.", "Choose shorter names.")
    return runs


def _all_runs(description: Description) -> Iterator[Run]:
    for model in description.models:
        for corpus, entry in description.corpora.items():
            if entry.tables:
                yield from _of_corpus(description, model, corpus)
        for sweep in description.sweeps:
            yield from _of_sweep(description, model, sweep)


def _of_corpus(description: Description, model: str, corpus: str) -> Iterator[Run]:
    for name, method in description.methods.items():
        for plan in description.plans if method.has_plans else (NO_PLAN,):
            yield _run(description, model, corpus, plan, name)


def _run(description: Description, model: str, corpus: str, plan: str, method: str) -> Run:
    """Predicted plans are searched as `redraft simplify` searches them, with the beams that the file names for all."""
    names, found = {"model": model, "corpus": corpus, "plan": plan, "method": method}, description.methods[method]
    predicted = plan != NO_PLAN and description.plans[plan].predict
    start = {**(SIMPLIFY if predicted else {}), "beams": description.beams}
    return Run(model, corpus, plan, method, found.configured(description.folder, names, start), found.rank)


def _of_sweep(description: Description, model: str, sweep: Sweep) -> Iterator[Run]:
    plain = _run(description, model, sweep.corpus, sweep.plan, sweep.method)
    for value in sweep.values:
        config = plain.config if sweep.setting == "edits" else _changed(plain.config, sweep.setting, value)
        edits = int(value) if sweep.setting == "edits" else None
        yield replace(plain, config=config, sweep=sweep.name, value=value, sentences=sweep.sentences, edits=edits)


def _changed(config: DecodeConfig, setting: str, value: float) -> DecodeConfig:
    """λ of all kinds is multiplied, so that they keep their ratios."""
    if setting not in LAMBDAS:
        return config.with_changes(**{setting: value})
    at = LAMBDAS.index(setting)
    lambdas = [value if place == at else one * (value if at == 3 else 1) for place, one in enumerate(config.lambdas)]
    return config.with_changes(lambdas=tuple(lambdas))


def carry_out(
    run: Run, plans: Sequence[EditPlan], rewrite: Rewrite, path: Path, *,
    made_by: Facts, batch_size: int, until: float, say: Say,
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """Results of all plans to `path`, in order, each with the seconds it took; sentences of like length together.

    What a call that was stopped has left in `path`.part is kept if it was made from the same things; `made_by` tells
    the model from others of its name.
    """
    facts = {
        "model": run.model, "made_by": made_by, "corpus": run.corpus, "plan": run.plan, "method": run.method,
        "rank": run.rank, "config": asdict(run.config),
        "plans": digest(repr([plan.to_json() for plan in plans]).encode()),
    }  # fmt: skip
    part = path.with_name(path.name + ".part")
    if not is_cached(path, facts):
        if path.exists():
            what = "from other plans or settings" if is_cached(path, facts, "made_by") else "by another model"
            say(f"{path} was made {what}; it is made again")
        path.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
        note(path, facts)
    if path.exists():
        return
    done = _done(part)
    left = sorted((at for at in range(len(plans)) if at not in done), key=lambda at: len(plans[at].source))
    with writing(part), open(part, "ab") as file:
        for start in range(0, len(left), batch_size):
            if time.monotonic() > until:
                raise Paused("the time is over.", "Give the same command again: it goes on from here.")
            batch = left[start : start + batch_size]
            began = time.perf_counter()
            found = rewrite([plans[at] for at in batch])
            seconds = (time.perf_counter() - began) / len(batch)
            rows = {at: {"at": at, "seconds": round(seconds, 5), **one.to_json()}
                    for at, one in zip(batch, found, strict=True)}  # fmt: skip
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()).encode("utf-8"))
            file.flush()
            done |= rows
            yield len(done), len(plans)
    write_jsonl(path, (done[at] for at in range(len(plans))))
    part.unlink()


def _done(part: Path) -> dict[int, dict[str, Any]]:
    """What a call that was stopped has left, by the place of its plan."""
    return {row["at"]: row for row in json_lines(whole_lines(part))}


Facts = Mapping[str, Any]


def _facts_path(path: Path) -> Path:
    return path.with_name(path.name + ".facts")


def is_cached(path: Path, facts: Facts, *names: str) -> bool:
    """Whether what was noted beside a file, before it was begun, is the same: all of it, or what is named."""
    try:
        known = json.loads(_facts_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    now = json.loads(json.dumps(facts))
    if names and isinstance(known, dict):
        return all(known.get(name) == now[name] for name in names)
    return bool(known == now)


def note(path: Path, facts: Facts) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(_facts_path(path)) as file:
        file.write((json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
