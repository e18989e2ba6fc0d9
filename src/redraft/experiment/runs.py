"""The runs of an experiment, and how a run is executed and resumed."""

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
from redraft.files import atomic_write, digest, disk_full_errors, parse_json_lines, truncate_to_whole_lines
from redraft.plan.edits import EditPlan
from redraft.plan.plan_files import write_jsonl
from redraft.progress_bar import Say

_MAX_NAME_BYTES = 200  # file names may have 255 bytes, including suffixes
Rewrite = Callable[[Sequence[EditPlan]], Sequence[Result]]


class TimeLimitReached(RedraftError):
    """The time limit was reached; finished results are kept."""


@dataclass(frozen=True)
class Run:
    """One combination of model, corpus, plan set and method. In a sweep, one setting is changed."""

    model: str
    corpus: str
    plan: str
    method: str
    config: DecodeConfig
    rank: bool = False
    sweep: str = ""
    value: float = 0.0
    sentences: int | None = None
    edits: int | None = None  # maximum number of edits per plan

    @property
    def name(self) -> str:
        changed = f".{self.sweep}.{self.value:g}" if self.sweep else ""
        return f"{self.model}.{self.corpus}.{self.plan}.{self.method}{changed}"


def all_runs(description: Description) -> list[Run]:
    """All runs in the order of execution. A method without plans runs once per corpus, not once per plan set."""
    runs = list(_list_runs(description))
    counts = Counter(run.name for run in runs)
    for name, count in counts.items():
        if count > 1:
            raise ConfigError(f"{count} runs would have the name {shown(name)}.",
                              "Rename one of the models, corpora, plans, methods or sweeps.")  # fmt: skip
        if len(name.encode()) > _MAX_NAME_BYTES:
            raise ConfigError(f"the run name {shown(name)} is too long for a file name.", "Choose shorter names.")
    return runs


def _list_runs(description: Description) -> Iterator[Run]:
    for model in description.models:
        for corpus, entry in description.corpora.items():
            if entry.tables:
                yield from _corpus_runs(description, model, corpus)
        for sweep in description.sweeps:
            yield from _sweep_runs(description, model, sweep)


def _corpus_runs(description: Description, model: str, corpus: str) -> Iterator[Run]:
    for name, method in description.methods.items():
        for plan in description.plans if method.has_plans else (NO_PLAN,):
            yield _run(description, model, corpus, plan, name)


def _run(description: Description, model: str, corpus: str, plan: str, method: str) -> Run:
    """Runs with predicted plans start from the settings of `redraft simplify`, but with the beam size of the file."""
    names, entry = {"model": model, "corpus": corpus, "plan": plan, "method": method}, description.methods[method]
    predicted = plan != NO_PLAN and description.plans[plan].predict
    start = {**(SIMPLIFY if predicted else {}), "beams": description.beams}
    return Run(model, corpus, plan, method, entry.configured(description.folder, names, start), entry.rank)


def _sweep_runs(description: Description, model: str, sweep: Sweep) -> Iterator[Run]:
    plain = _run(description, model, sweep.corpus, sweep.plan, sweep.method)
    for value in sweep.values:
        config = plain.config if sweep.setting == "edits" else _with_setting(plain.config, sweep.setting, value)
        edits = int(value) if sweep.setting == "edits" else None
        yield replace(plain, config=config, sweep=sweep.name, value=value, sentences=sweep.sentences, edits=edits)


def _with_setting(config: DecodeConfig, setting: str, value: float) -> DecodeConfig:
    """The settings with one changed. The value of "lambdas" multiplies all three λ."""
    if setting not in LAMBDAS:
        return config.with_changes(**{setting: value})
    changed = LAMBDAS.index(setting)
    factor = value if setting == "lambdas" else 1
    lambdas = [value if kind == changed else factor * weight for kind, weight in enumerate(config.lambdas)]
    return config.with_changes(lambdas=tuple(lambdas))


def execute_run(
    run: Run, plans: Sequence[EditPlan], rewrite: Rewrite, path: Path, *,
    made_by: Facts, batch_size: int, deadline: float, say: Say,
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """Write the results of all plans to `path`, in order, each with its time; yields (sentences done, total).

    Batches have sentences of similar length. The partial file `path`.part of an interrupted call is resumed if it was
    made from the same inputs. `made_by` identifies the model by content, since its name is not enough.
    """
    facts = {
        "model": run.model, "made_by": made_by, "corpus": run.corpus, "plan": run.plan, "method": run.method,
        "rank": run.rank, "config": asdict(run.config),
        "plans": digest(repr([plan.to_json() for plan in plans]).encode()),
    }  # fmt: skip
    part = path.with_name(path.name + ".part")
    if not facts_match(path, facts):
        if path.exists():
            what = "from other plans or settings" if facts_match(path, facts, "made_by") else "by another model"
            say(f"{path} was made {what}: rerunning")
        path.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
        write_facts(path, facts)
    if path.exists():
        return
    done = _finished_rows(part)
    remaining = sorted((at for at in range(len(plans)) if at not in done), key=lambda at: len(plans[at].source))
    with disk_full_errors(part), open(part, "ab") as file:
        for start in range(0, len(remaining), batch_size):
            if time.monotonic() > deadline:
                raise TimeLimitReached("time limit reached.", "To resume, rerun the same command.")
            batch = remaining[start : start + batch_size]
            start_time = time.perf_counter()
            results = rewrite([plans[at] for at in batch])
            seconds = (time.perf_counter() - start_time) / len(batch)
            rows = {at: {"at": at, "seconds": round(seconds, 5), **result.to_json()}
                    for at, result in zip(batch, results, strict=True)}  # fmt: skip
            file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()).encode("utf-8"))
            file.flush()
            done |= rows
            yield len(done), len(plans)
    write_jsonl(path, (done[at] for at in range(len(plans))))
    part.unlink()


def _finished_rows(part: Path) -> dict[int, dict[str, Any]]:
    """The results in the partial file of an interrupted call, by plan number."""
    return {row["at"]: row for row in parse_json_lines(truncate_to_whole_lines(part))}


Facts = Mapping[str, Any]


def _facts_path(path: Path) -> Path:
    return path.with_name(path.name + ".facts")


def facts_match(path: Path, facts: Facts, *names: str) -> bool:
    """Whether the facts stored beside a file equal `facts`: all of them, or only those in `names`."""
    try:
        stored = json.loads(_facts_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    current = json.loads(json.dumps(facts))
    if names and isinstance(stored, dict):
        return all(stored.get(name) == current[name] for name in names)
    return bool(stored == current)


def write_facts(path: Path, facts: Facts) -> None:
    """Store what a file is made from beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(_facts_path(path)) as file:
        file.write((json.dumps(facts, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))
