"""The description of an experiment: read from a TOML file and checked before anything is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from redraft.decode.config import DecodeConfig, read_config
from redraft.errors import ConfigError, did_you_mean, shown
from redraft.evaluate.corpora import Corpus, load_corpus, read_corpus
from redraft.plan.edits import DEFAULT_STRENGTH
from redraft.plan.extraction import Selection
from redraft.plan.prediction import Levels
from redraft.reading import read_toml
from redraft.settings_checks import check_setting

NO_PLAN = "none"  # the plan name of runs without plans
LAMBDAS = ("lambda_insert", "lambda_delete", "lambda_substitute", "lambdas")  # names of λ in sweeps; lambdas: all three
_SETTINGS = [f.name for f in fields(DecodeConfig)]
_LOADING = ["model", "prompt", "dtype", "variants"]  # arguments of Redrafter


@dataclass(frozen=True)
class CorpusEntry:
    """A published corpus by name, or files. `rows` selects sentences by number, from 0."""

    corpus: str | None = None
    split: str = "test"
    source: str | None = None
    reference: tuple[str, ...] = ()
    rows: str | None = None  # file of sentence numbers
    tables: bool = True  # False: used only in sweeps

    def load(self, data: str | None, folder: Path) -> Corpus:
        if self.corpus is not None:
            corpus = load_corpus(self.corpus, self.split, data=data)
        elif self.source and self.reference:
            corpus = read_corpus(str(folder / self.source), [str(folder / one) for one in self.reference])
        else:
            raise ConfigError(
                "a corpus has neither a name nor files.", 'Write corpus = "turk", or source and reference.'
            )
        return corpus if self.rows is None else _with_rows(corpus, self.rows, data, folder)


def _with_rows(corpus: Corpus, rows: str, data: str | None, folder: Path) -> Corpus:
    path = next((base / rows for base in (folder, Path(data or ".")) if (base / rows).exists()), folder / rows)
    try:
        numbers = [int(word) for word in path.read_text(encoding="utf-8").split()]
        sources = [corpus.sources[number] for number in numbers]
        references = [[texts[number] for number in numbers] for texts in corpus.references]
    except (OSError, ValueError, IndexError) as error:
        raise ConfigError(
            f"{path} does not contain sentence numbers of {corpus.name}: {error}.", "Write numbers from 0."
        ) from None
    return Corpus(corpus.name, f"{corpus.split}, {len(numbers)} rows", sources, references, corpus.notices)


@dataclass(frozen=True)
class PlanEntry:
    """Oracle plans over some words, or predicted plans. `by_corpus` overrides settings for single corpora."""

    words: Selection | None = None  # oracle plans
    predict: bool = False
    strength: Any = DEFAULT_STRENGTH
    style: str | None = None
    by_corpus: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, corpus: str) -> PlanEntry:
        changes = self.by_corpus.get(corpus, {})
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "by_corpus"}
        return PlanEntry(**{**own, **changes})

    @property
    def levels(self) -> Levels:
        strength = self.strength
        return Levels.of(Levels(*strength) if isinstance(strength, list) else strength)


@dataclass(frozen=True)
class Method:
    """Decoding settings. `settings` is the name of an optional settings file for each corpus, plan and model."""

    config: Mapping[str, Any]
    settings: str | None = None
    rank: bool = False  # rerank candidates as `redraft simplify` does
    marks: bool = False  # also give the plans to plain beam search, for models that read plans

    @property
    def has_plans(self) -> bool:
        return self.marks or self.config.get("method", "edit") != "beam"

    def configured(self, folder: Path, names: Mapping[str, str], start: Mapping[str, Any]) -> DecodeConfig:
        """The settings: `start`, overridden by the method, overridden by its settings file."""
        settings: dict[str, Any] = {**start, **self.config}
        name = self.settings_file(names)
        path = folder / name if name else None
        return DecodeConfig(**{**settings, **(read_config(path) if path and path.exists() else {})})

    def settings_file(self, names: Mapping[str, str]) -> str | None:
        return self.settings.format(**names) if self.settings else None


@dataclass(frozen=True)
class Sweep:
    """Runs of one method that vary one setting. If `setting` is edits, the value is the number of edits per plan."""

    name: str
    setting: str
    values: tuple[float, ...]
    corpus: str
    plan: str
    method: str
    figures: tuple[str, ...] = ("sari",)
    sentences: int | None = None


@dataclass(frozen=True)
class Description:
    """The whole description. Paths in it are relative to `folder`, the folder of the file."""

    folder: Path
    corpora: Mapping[str, CorpusEntry]
    models: Mapping[str, Mapping[str, Any]]
    plans: Mapping[str, PlanEntry]
    methods: Mapping[str, Method]
    sweeps: Sequence[Sweep] = ()
    paper: Sequence[Mapping[str, Any]] = ()  # published scores: plan, method, references, one score per corpus
    beams: int = 20
    baseline: str = "beam"
    rivals: tuple[str, ...] = ()  # further methods to compare with


def read_description(path: str | Path) -> Description:
    """Read and check a description file."""
    found = read_toml(path, "See the example in docs/experiment.md.")
    try:
        return _described(found, Path(path).resolve().parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.problem}", error.hint) from None


def _described(found: dict[str, Any], folder: Path) -> Description:
    _check_keys(found, [f.name for f in fields(Description) if f.name != "folder"], "the file")
    for name in ("corpora", "plans", "methods"):
        if not found.get(name):
            raise ConfigError(f"{name} is missing.", f"Write one table [{name}.NAME] for each.")
    for name in ("corpora", "models", "plans", "methods"):
        _check_tables(found.get(name, {}), name)
    for name in ("sweeps", "paper"):
        entries = found.get(name, [])
        _check_tables(dict(enumerate(entries)) if isinstance(entries, list) else entries, name)
    corpora = {name: _entry(CorpusEntry, one, f"corpora.{name}") for name, one in found["corpora"].items()}
    plans = {name: _plan(one, name, corpora) for name, one in found["plans"].items()}
    methods = {name: _method(one, name) for name, one in found["methods"].items()}
    models = found.get("models") or {"bundled": {}}
    for name, one in models.items():
        _check_keys(one, _LOADING, f"models.{name}")
        for key, value in one.items():
            if not isinstance(value, str):
                raise ConfigError(f"models.{name}: {key} is {shown(value)}.", 'Write a string: "…".')
    sweeps = [_entry(Sweep, one, "sweeps") for one in found.get("sweeps", [])]
    for kind, names in (("corpus", corpora), ("plan", plans), ("method", methods), ("model", models),
                        ("sweep", [sweep.name for sweep in sweeps])):  # fmt: skip
        for name in names:
            _check_file_name(name, kind)
    for entry in found.get("paper", []):
        _check_published(entry, corpora)
    for name, count in Counter(sweep.name for sweep in sweeps).items():
        if count > 1:
            raise ConfigError(f"{count} sweeps are named {shown(name)}.", "Rename one of them.")
    for sweep in sweeps:
        for kind, name, known in (("corpus", sweep.corpus, corpora), ("plan", sweep.plan, plans),
                                  ("method", sweep.method, methods)):  # fmt: skip
            _check_known(name, known, f"the {kind} of the sweep {sweep.name}")
        _check_known(sweep.setting, [*_SETTINGS, *LAMBDAS, "edits"], f"the setting of the sweep {sweep.name}")
    _check_types(Description, {name: found[name] for name in ("beams", "baseline", "rivals") if name in found}, "")
    baseline, rivals = found.get("baseline", "beam"), tuple(found.get("rivals", ()))
    for name in (baseline, *rivals):
        _check_known(name, methods, "a method to compare with")
    return Description(folder, corpora, models, plans, methods, sweeps,
                       found.get("paper", []), found.get("beams", 20), baseline, rivals)  # fmt: skip


def _plan(one: dict[str, Any], name: str, corpora: Mapping[str, Any]) -> PlanEntry:
    inner = {key: value for key, value in one.items() if isinstance(value, dict)}
    for corpus, changes in inner.items():
        _check_known(corpus, corpora, f"a corpus in plans.{name}")
        _check_keys(changes, ["strength", "style"], f"plans.{name}.{corpus}")
        _check_types(PlanEntry, changes, f"plans.{name}.{corpus}: ")
    plain = {key: value for key, value in one.items() if key not in inner}
    entry: PlanEntry = _entry(PlanEntry, {**plain, "by_corpus": inner}, f"plans.{name}")
    if entry.predict == (entry.words is not None):
        raise ConfigError(
            f"plans.{name} must be either oracle or predicted.", 'Write words = "content", or predict = true.'
        )
    if entry.words is not None:
        _check_known(entry.words, get_args(Selection), f"words in plans.{name}")
    for corpus in corpora:
        _ = entry.of(corpus).levels
    return entry


def _method(one: dict[str, Any], name: str) -> Method:
    _check_keys(one, [*_SETTINGS, "settings", "rank", "marks"], f"methods.{name}")
    config: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in one.items() if key in _SETTINGS
    }
    DecodeConfig(**config)
    own: dict[str, Any] = {key: one[key] for key in ("settings", "rank", "marks") if key in one}
    _check_types(Method, own, f"methods.{name}: ")
    method = Method(config, **own)
    try:
        method.settings_file(dict.fromkeys(("model", "corpus", "plan", "method"), ""))
    except (KeyError, ValueError, IndexError, AttributeError):
        raise ConfigError(f"methods.{name}: settings is {shown(method.settings)}.",
                          "Placeholders are {model}, {corpus}, {plan} and {method}.") from None  # fmt: skip
    return method


def _check_published(entry: Mapping[str, Any], corpora: Iterable[str]) -> None:
    """Check published scores: a method, the plans and references that they are for, and one score per corpus."""
    words = ("method", "plan", "references")
    _check_keys(entry, [*words, *corpora], "paper")
    check_setting("paper: method", entry.get("method"), str)
    for key, value in entry.items():
        if key not in words:
            check_setting(f"paper: {key}", value, float)


def _entry(kind: Any, one: dict[str, Any], place: str) -> Any:
    _check_keys(one, [f.name for f in fields(kind)], place)
    _check_types(kind, one, f"{place}: ")
    try:
        return kind(**{key: tuple(value) if isinstance(value, list) and key != "strength" else value
                       for key, value in one.items()})  # fmt: skip
    except TypeError as error:
        raise ConfigError(f"{place}: {error}", "docs/experiment.md lists the keys.") from None


def _check_tables(found: Any, name: str) -> None:
    """Every entry must be a table, with a name or (sweeps, paper) in an array."""
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise ConfigError(f"{name} is {shown(found)}.", "See the example in docs/experiment.md.")


def _check_types(kind: Any, found: Mapping[str, Any], place: str) -> None:
    """Check values against the type hints of a class. Fields typed Any or Mapping are checked elsewhere."""
    hints = get_type_hints(kind)
    for name, value in found.items():
        hint, values = hints[name], [value]
        if get_origin(hint) is tuple:
            if not isinstance(value, list):
                raise ConfigError(f"{place}{name} is {shown(value)}.", "Write a list: […].")
            hint, values = get_args(hint)[0], value
        if hint is not Any and get_origin(hint) is not Mapping:
            for one in values:
                check_setting(f"{place}{name}", one, hint)


def _check_file_name(name: str, kind: str) -> None:
    """Names become parts of file names, so they must not contain path separators."""
    valid = isinstance(name, str) and bool(name.strip()) and name.isprintable() and not name.startswith(".")
    if not valid or not set(name).isdisjoint("/\\:"):
        raise ConfigError(f"the name of the {kind} {shown(name)} cannot be part of a file name.",
                          "Use no / \\ : or control character, and no dot at the start.")  # fmt: skip


def _check_keys(found: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    for key in found:
        _check_known(key, known, f"a key in {place}")


def _check_known(name: str, known: Iterable[str], what: str) -> None:
    known = list(known)
    if name not in known:
        raise ConfigError(f"{what} is {shown(name)}, which is not known.", did_you_mean(str(name), known))
