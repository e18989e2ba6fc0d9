"""`redraft tune`: optimise search settings on validation data."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Batch16, Device, Dtype, Graphs, Model, PickledWeights, TrustRemoteCode
from redraft.cli.console import MISTAKE, OK, explain_full_disk, require_package, say, whole_number
from redraft.cli.settings_options import parse_setting
from redraft.cli.typer_command import add_command, option, trust_of
from redraft.cli.worker_processes import run_in_processes, terminable
from redraft.decode.config import DecodeConfig
from redraft.errors import ConfigError, RedraftError
from redraft.tune.search_space import Goal, Ranges

if TYPE_CHECKING:
    from typer import Typer

    from redraft.tune.objective import Sample
    from redraft.tune.study import Tuning

_EXAMPLES = """\
examples:
  redraft plan extract --source valid.txt --reference valid.simple.txt > valid.jsonl
  redraft tune --plan valid.jsonl --reference valid.simple.txt --out tuned
  redraft tune --plan valid.jsonl --reference valid.simple.txt --out tuned --ranges paper --trials 100 --workers 4
  redraft simplify --settings tuned/settings.toml --plan test.jsonl

To resume a stopped search, rerun the same command. Several machines can share one search with --storage.
Exit status: 0 all trials are done, 2 error in options or input, 130 interrupted, 143 terminated. After 130 and 143, the
best settings so far are in --out.
"""
_MAIN = ("plan", "reference", "out", "method", "goal", "settings", "beams", "trials", "workers", "model", "device")
_RESUME = "the same command resumes the search"


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """Find search settings with Optuna that maximise SARI, or SARI and BLEU, on validation sentences."""

    plan: Annotated[str, option("plan file of the validation sentences, FILE.jsonl", "FILE")]
    reference: Annotated[list[str], option("reference files, each with one reference per line", "FILE ...")]
    sentences: Annotated[str, option("size of the random sample of the sentences (default 300)", "N")] = "300"
    out: Annotated[str, option("output folder for settings, trials, summary and plot", "DIR")]

    method: Annotated[str, option("decoding method: edit (default), neurologic, negative or beam", "NAME")] = "edit"
    ranges: Annotated[
        Ranges,
        option(
            "search space: wide (default); plus: with the settings beyond the paper; paper: λ from 0 to 1 and δ from 0 "
            "to 2, with scale kind",
            "WHICH",
        ),
    ] = "wide"
    goal: Annotated[Goal, option("metric: sari (default), or both: SARI + BLEU / 3", "WHICH")] = "sari"
    settings: Annotated[
        str | None,
        option(
            "settings file, or the preset simplify, to start from (default: the default settings); settings outside "
            "the search space keep its values",
            "FILE",
        ),
    ] = None
    beams: Annotated[str, option("beam size (default 20)", "N")] = "20"
    trials: Annotated[str, option("number of trials, over all workers (default 100)", "N")] = "100"
    seed: Annotated[str, option("random seed of the sample and of the trials (default 0)", "N")] = "0"
    workers: Annotated[str, option("processes on this machine (default 1)", "N")] = "1"
    storage: Annotated[
        str | None,
        option("sqlite:///FILE, postgresql://… or journal:FILE (default: a file in --out)", "WHERE"),
    ] = None

    model: Model = None
    device: Device = None
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    dtype: Dtype = None
    graphs: Graphs = False
    batch_size: Batch16 = "16"


def add_tune(app: Typer) -> None:
    add_command(
        app, "tune", run_tune, TuneOptions, help="optimise search settings on validation data", examples=_EXAMPLES,
        main=_MAIN, panel="Train and tune",
    )  # fmt: skip


def run_tune(options: TuneOptions) -> int:
    """Run the command and return its exit status."""
    require_package("optuna", "redraft tune", "tune")
    tuning, sample = _read_task(options)
    workers = whole_number("--workers", options.workers)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    from redraft.tune.study import finished_trials, open_study, prepare_study, storage_errors
    from redraft.tune.tuning_report import SETTINGS, write_results

    with terminable(), storage_errors(_storage(options)), explain_full_disk(options.out, _RESUME):
        study = open_study(_storage(options), tuning, tuning.facts["seed"])
        prepare_study(study, tuning)
        try:
            if workers == 1:
                _work(options, tuning, sample, 0)
            elif all(run_in_processes(_worker, (options, tuning, sample), workers)):
                raise ConfigError("all worker processes failed.", "See their messages above.")
        except KeyboardInterrupt:
            say(f"{len(finished_trials(study))} of {options.trials} trials are done; {_RESUME}")
            raise
        finally:
            summary = write_results(study, tuning, Path(options.out))
    print(summary, end="")
    say(f"to use the settings: redraft simplify --settings {Path(options.out) / SETTINGS}")
    return OK


def _read_task(options: TuneOptions) -> tuple[Tuning, Sample]:
    """The search to run and its sentences, validated before a model is loaded."""
    from redraft.decode.config import read_config
    from redraft.decode.model_fingerprint import fingerprint
    from redraft.evaluate.text_files import check_aligned, read_text
    from redraft.files import digest
    from redraft.plan.plan_files import read_plans
    from redraft.tune.objective import Sample
    from redraft.tune.study import Tuning

    given = read_config(options.settings) if options.settings else {}
    given |= {"method": parse_setting("method", options.method), "beams": whole_number("--beams", options.beams)}
    start = DecodeConfig(**given)
    plans = list(read_plans(options.plan))
    references = [read_text(path) for path in options.reference]
    check_aligned(references, len(plans), of=options.plan)
    if not plans:
        raise ConfigError(f"{options.plan} has no plans.", "Create plans with redraft plan extract.")
    seed, sentences = whole_number("--seed", options.seed, least=0), whole_number("--sentences", options.sentences)
    sample = Sample(plans, [one.lines for one in references]).draw(sentences, seed)
    facts = {
        "method": start.method,
        "beams": start.beams,
        "start": digest(repr(start).encode()),
        **fingerprint(options.model, dtype=options.dtype),
        "sentences": len(sample.plans),
        "seed": seed,
        "plans": digest(repr(sample.plans).encode()),
        "references": digest(repr(sample.references).encode()),
    }
    return Tuning(start, options.ranges, options.goal, facts), sample


def _storage(options: TuneOptions) -> str:
    return str(options.storage or f"sqlite:///{Path(options.out).resolve() / 'study.db'}")


def _worker(options: TuneOptions, tuning: Tuning, sample: Sample, number: int) -> None:
    """One of several processes. Errors are printed here and end only this process."""
    from redraft.tune.study import storage_errors

    try:
        with trust_of(options), storage_errors(_storage(options)), explain_full_disk(options.out, _RESUME):
            _work(options, tuning, sample, number)
    except RedraftError as error:
        say(error)
        sys.exit(MISTAKE)


def _work(options: TuneOptions, tuning: Tuning, sample: Sample, number: int) -> None:
    """Run trials until all workers together have run enough."""
    from redraft.decode.redrafter import Redrafter
    from redraft.progress_bar import ProgressBar
    from redraft.tune.study import finished_trials, open_study, run_trials

    trials = whole_number("--trials", options.trials)
    study = open_study(_storage(options), tuning, 1000 * tuning.facts["seed"] + number)
    redrafter = Redrafter(
        options.model, config=tuning.start, device=options.device, dtype=options.dtype, graphs=options.graphs or None
    )
    bar = ProgressBar(trials, len(finished_trials(study)), say, quiet=number > 0)
    run_trials(
        study, tuning, redrafter, sample, trials, batch_size=whole_number("--batch-size", options.batch_size),
        on_trial=lambda study: bar.step(len(finished_trials(study)), None),
    )  # fmt: skip
    bar.close()
