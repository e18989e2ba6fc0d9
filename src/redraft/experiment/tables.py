"""Tables of an experiment in Markdown: what each method reaches, what it carries out, how sure a difference is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from redraft.decode.config import DecodeConfig
from redraft.evaluate.corpora import References
from redraft.evaluate.scores import Scores
from redraft.experiment.description import NO_PLAN, Description
from redraft.experiment.results import APPLIED, COPY, Key, Results

_KINDS = ("insert", "delete", "substitute")


def all_tables(description: Description, results: Results) -> str:
    """Plan by plan, for each model; then precision, settings, and what is still missing."""
    parts: list[str] = []
    for model in description.models:
        for plan, entry in description.plans.items():
            title = f"{plan} plans" + ("" if len(description.models) == 1 else f", {model}")
            parts.append(f"### {title[:1].upper()}{title[1:]}, first reference")
            parts.append(quality(description, results, model, plan, "first"))
            parts.append(differences(description, results, model, plan, "first"))
            parts.append(satisfied(description, results, model, plan))
            if entry.predict:
                parts += [f"### {title[:1].upper()}{title[1:]}, all references",
                          quality(description, results, model, plan, "all"),
                          differences(description, results, model, plan, "all"),
                          "### Precision and recall of predicted plans, %",
                          precision(description, results, model, plan)]  # fmt: skip
    parts += ["### Settings", settings(results)]
    if results.missing:
        parts.append(f"Not yet run: {', '.join(results.missing)}.")
    return "\n\n".join(filter(None, parts)) + "\n"


def quality(description: Description, results: Results, model: str, plan: str, references: References) -> str:
    """SARI and BLEU of each method; the best of ours in bold, the paper's figures below."""
    corpora = _corpora(description, results, references)
    methods = [COPY, APPLIED, *description.methods]
    rows: list[list[str]] = []
    for method in methods:
        found = [_scores(results, model, corpus, plan, method, references) for corpus in corpora]
        if any(found):
            rows.append([method, *(cell for one in found for cell in _two(one))])
    _bold_best(rows, [number for number, row in enumerate(rows) if row[0] in description.methods])
    for paper in description.paper:
        if paper.get("plan") == plan and paper.get("references", "first") == references:
            cells = [cell for corpus in corpora for cell in (_number(paper.get(corpus)), "")]
            rows.append([f"paper: {paper['method']}", *cells])
    return _table(["", *(cell for corpus in corpora for cell in (f"{corpus} SARI", "BLEU"))], rows)


def differences(description: Description, results: Results, model: str, plan: str, references: References) -> str:
    """Every method against the baseline and the rivals, sentence by sentence: SARI and BLEU, with p."""
    corpora = _corpora(description, results, references)
    rows = []
    others = [description.baseline, *description.rivals]
    for method in description.methods:
        for other in others:
            if method in others[: others.index(other) + 1]:
                continue
            cells = [_difference(results, _key(description, model, corpus, plan, other, references),
                                 _key(description, model, corpus, plan, method, references))
                     for corpus in corpora]  # fmt: skip
            if any(cells):
                rows.append([f"{method} − {other}", *cells])
    return _table(["difference of SARI; of BLEU", *corpora], rows)


def satisfied(description: Description, results: Results, model: str, plan: str) -> str:
    """Shares of insertions, deletions and substitutions carried out, in %."""
    corpora = _corpora(description, results, "first")
    rows = []
    for method in description.methods:
        found = [_scores(results, model, corpus, plan, method, "first") for corpus in corpora]
        if any(found) and description.methods[method].carries_out:
            rows.append([method, *(_shares(one, "satisfied") for one in found)])
    return _table(["carried out, %: insertions / deletions / substitutions", *corpora], rows)


def precision(description: Description, results: Results, model: str, plan: str) -> str:
    corpora = _corpora(description, results, "first")
    rows = []
    for word in ("precision", "recall"):
        cells = []
        for corpus in corpora:
            found = [_scores(results, model, corpus, plan, method, "first") for method in description.methods]
            cells.append(_shares(next((one for one in found if one and f"{word}_insert" in one.figures), None), word))
        rows.append([word, *cells])
    return _table(["insertions / deletions / substitutions", *corpora], rows)


def settings(results: Results) -> str:
    """What differs from the defaults, for each run."""
    plain, rows = DecodeConfig(), {}
    for run in results.runs:
        if not run.sweep:
            changed = {f.name: getattr(run.config, f.name) for f in fields(DecodeConfig)}
            said = ", ".join(f"{name} {_shown(value)}" for name, value in changed.items()
                             if value != getattr(plain, name) and name != "method")  # fmt: skip
            rows[run.method, run.plan, run.corpus] = said or "defaults"
    return _table(["method", "plans", "corpus", "settings"], [[*key, said] for key, said in rows.items()])


def _corpora(description: Description, results: Results, references: References) -> list[str]:
    there = {key.corpus for key in results.scores if key.references == references}
    return [name for name in description.corpora if name in there]


def _key(description: Description, model: str, corpus: str, plan: str, method: str, references: References) -> Key:
    own = description.methods[method].carries_out if method in description.methods else method != COPY
    return Key(model, corpus, plan if own else NO_PLAN, method, references)


def _scores(results: Results, model: str, corpus: str, plan: str, method: str, references: References) -> Scores | None:
    for which in (plan, NO_PLAN):
        found = results.scores.get(Key(model, corpus, which, method, references))
        if found:
            return found
    return None


def _two(scores: Scores | None) -> Iterator[str]:
    for name in ("sari", "bleu"):
        yield _number(scores.figures[name].value) if scores else ""


def _difference(results: Results, one: Key, other: Key) -> str:
    found = results.compared(one, other)
    figures = [found[name] for name in ("sari", "bleu") if name in found]
    return "; ".join(f"{one.difference:+.1f} (p {_p(one.p)})" for one in figures)


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _shares(scores: Scores | None, word: str) -> str:
    values = [scores.figures[f"{word}_{kind}"].value if scores and f"{word}_{kind}" in scores.figures else None
              for kind in _KINDS]  # fmt: skip
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
