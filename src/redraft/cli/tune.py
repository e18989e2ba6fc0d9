"""`redraft tune`: the settings of a search that do best on validation data."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from redraft.cli.common_options import Batch16, Device, Dtype, Graphs, Model, PickledWeights, TrustRemoteCode
from redraft.cli.console import MISTAKE, OK, room_for, say, whole_number
from redraft.cli.settings_options import parse_setting
from redraft.cli.typer_command import add_command, option, trust_of
from redraft.cli.worker_processes import share_out, terminable
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

The same command goes on with a search that was stopped. Several machines share one with --storage.
Exit status: 0 all is done, 2 a mistake in options or input, 130 interrupted, 143 terminated; both leave what was found.
"""


_WHAT, _HOW = "What to tune on", "The search for settings"


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """Search settings with Optuna for the best SARI, or SARI and BLEU, of validation sentences."""

    plan: Annotated[str, option("plans of validation sentences, FILE.jsonl", "FILE", panel=_WHAT)]
    reference: Annotated[list[str], option("their references, line by line", "FILE ...", panel=_WHAT)]
    sentences: Annotated[str, option("of them, drawn by the seed (default 300)", "N", panel=_WHAT)] = "300"
    out: Annotated[str, option("where settings, trials, summary and plot go", "DIR", panel=_WHAT)]

    method: Annotated[str, option("edit (default), neurologic, negative or beam", "NAME", panel=_HOW)] = "edit"
    ranges: Annotated[
        Ranges,
        option(
            "wide (default); plus: also what goes beyond the paper; paper: λ from 0 to 1 and δ from 0 to 2 on its "
            "scale",
            "WHICH",
            panel=_HOW,
        ),
    ] = "wide"
    goal: Annotated[Goal, option("sari (default), or both: SARI + BLEU / 3", "WHICH", panel=_HOW)] = "sari"
    settings: Annotated[
        str | None,
        option("where the search starts, and what it leaves as it is: a file, or predicted", "FILE", panel=_HOW),
    ] = None
    beams: Annotated[str, option("rows kept for each sentence (default 20)", "N", panel=_HOW)] = "20"
    trials: Annotated[str, option("in all, over all workers (default 100)", "N", panel=_HOW)] = "100"
    seed: Annotated[str, option("of the sample and of what is tried (default 0)", "N", panel=_HOW)] = "0"
    workers: Annotated[str, option("processes on this machine (default 1)", "N", panel=_HOW)] = "1"
    storage: Annotated[
        str | None,
        option("sqlite:///FILE, postgresql://… or journal:FILE; a file in --out if not given", "WHERE", panel=_HOW),
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
        app, "tune", run_tune, TuneOptions, help="find the settings that do best on validation data",
        examples=_EXAMPLES, panel="Make your own",
    )  # fmt: skip


def run_tune(options: TuneOptions) -> int:
    """The command itself; returns the exit status."""
    if find_spec("optuna") is None:
        raise ConfigError("tuning needs optuna.", "pip install 'redraft[tune]'")
    tuning, sample = _asked(options)
    workers = whole_number("--workers", options.workers)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    from redraft.tune.study import finished, open_study, storing, take_up
    from redraft.tune.tuning_report import SETTINGS, write_outcome

    with terminable(), storing(_storage(options)), room_for(options.out, "the same command goes on"):
        study = open_study(_storage(options), tuning, tuning.facts["seed"])
        take_up(study, tuning)
        try:
            if workers == 1:
                _work(options, tuning, sample, 0)
            elif all(share_out(_worker, (options, tuning, sample), workers)):
                raise ConfigError("no worker has come to an end.", "What they said stands above.")
        except KeyboardInterrupt:
            say(f"{len(finished(study))} of {options.trials} trials are done; the same command goes on")
            raise
        finally:
            summary = write_outcome(study, tuning, Path(options.out))
    print(summary, end="")
    say(f"redraft simplify --settings {Path(options.out) / SETTINGS} takes what was found")
    return OK


def _asked(options: TuneOptions) -> tuple[Tuning, Sample]:
    """What is to be tuned, checked before a model is loaded."""
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
        raise ConfigError(f"{options.plan} has no plans.", "Make some with redraft plan extract.")
    seed, sentences = whole_number("--seed", options.seed, least=0), whole_number("--sentences", options.sentences)
    sample = Sample(plans, [one.lines for one in references]).drawn(sentences, seed)
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
    """One of several processes: a mistake is told here, and ends this one."""
    from redraft.tune.study import storing

    try:
        with trust_of(options), storing(_storage(options)), room_for(options.out, "the same command goes on"):
            _work(options, tuning, sample, number)
    except RedraftError as error:
        say(error)
        sys.exit(MISTAKE)


def _work(options: TuneOptions, tuning: Tuning, sample: Sample, number: int) -> None:
    """One worker, until the trials of all are enough."""
    from redraft.decode.redrafter import Redrafter
    from redraft.progress_bar import ProgressBar
    from redraft.tune.study import finished, open_study, run_trials

    trials = whole_number("--trials", options.trials)
    study = open_study(_storage(options), tuning, 1000 * tuning.facts["seed"] + number)
    redrafter = Redrafter(
        options.model, config=tuning.start, device=options.device, dtype=options.dtype, graphs=options.graphs
    )
    bar = ProgressBar(trials, len(finished(study)), say, quiet=number > 0)
    run_trials(
        study, tuning, redrafter, sample, trials, batch_size=whole_number("--batch-size", options.batch_size),
        told=lambda study: bar.step(len(finished(study)), None),
    )  # fmt: skip
    bar.close()
