"""`redraft tune`: the settings of a search that do best on validation data."""

from __future__ import annotations

import argparse
import multiprocessing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from redraft.cli.settings import parse_setting
from redraft.cli.talk import OK, add_command, say, whole_number
from redraft.decode.config import DecodeConfig
from redraft.errors import ConfigError, shown

if TYPE_CHECKING:
    from redraft.tune.objective import Sample
    from redraft.tune.study import Tuning

_EXAMPLES = """\
examples:
  redraft plan extract --source valid.txt --reference valid.simple.txt > valid.jsonl
  redraft tune --plan valid.jsonl --reference valid.simple.txt --out tuned
  redraft tune --plan valid.jsonl --reference valid.simple.txt --out tuned --ranges paper --trials 100 --workers 4
  redraft simplify --settings tuned/settings.toml --plan test.jsonl

The same command goes on with a search that was stopped. Several machines share one with --storage.
"""


def add_tune(commands: Any) -> None:
    tune = add_command(
        commands,
        "tune",
        run_tune,
        help="find the settings that do best on validation data",
        usage="redraft tune --plan FILE --reference FILE ... --out DIR [options]",
        about="Search settings with Optuna for the best SARI of validation sentences.",
        examples=_EXAMPLES,
    )
    what = tune.add_argument_group("what to tune on")
    what.add_argument("--plan", metavar="FILE", help="plans of validation sentences, FILE.jsonl")
    what.add_argument("--reference", metavar="FILE", nargs="+", default=[], help="their references, line by line")
    what.add_argument("--sentences", metavar="N", default="300", help="of them, drawn by the seed (default 300)")
    what.add_argument("--out", metavar="DIR", help="where settings, trials, summary and plot go")

    how = tune.add_argument_group("the search for settings")
    how.add_argument("--method", metavar="NAME", default="edit", help="edit (default), neurologic, negative or beam")
    how.add_argument("--ranges", metavar="WHICH", default="wide",
                     help="wide (default); plus: also what goes beyond the paper; paper: λ from 0 to 1 and δ from 0 "
                     "to 2 on its scale")  # fmt: skip
    how.add_argument("--settings", metavar="FILE",
                     help="where the search starts, and what it leaves as it is: a file, or predicted")  # fmt: skip
    how.add_argument("--beams", metavar="N", default="20", help="rows kept for each sentence (default 20)")
    how.add_argument("--trials", metavar="N", default="100", help="in all, over all workers (default 100)")
    how.add_argument("--seed", metavar="N", default="0", help="of the sample and of what is tried (default 0)")
    how.add_argument("--workers", metavar="N", default="1", help="processes on this machine (default 1)")
    how.add_argument("--storage", metavar="WHERE",
                     help="sqlite:///FILE, postgresql://… or journal:FILE; a file in --out if not given")  # fmt: skip

    model = tune.add_argument_group("the model")
    model.add_argument(
        "--model", metavar="NAME", help="as for redraft simplify; what comes with the package if not given"
    )
    model.add_argument("--device", metavar="NAME", help="cpu, cuda, …; a GPU where there is one if not given")
    model.add_argument("--dtype", metavar="TYPE", help="type of the weights; as they are stored if not given")
    model.add_argument("--graphs", action="store_true", help="replay steps from CUDA graphs")
    model.add_argument("--batch-size", metavar="N", default="16", help="sentences searched together (default 16)")


def run_tune(options: argparse.Namespace) -> int:
    """The command itself; returns the exit status."""
    for name in ("plan", "reference", "out"):
        if not getattr(options, name):
            raise ConfigError(f"--{name} is missing.", f"Add --{name}; --help shows examples.")
    if find_spec("optuna") is None:
        raise ConfigError("tuning needs optuna.", "pip install 'redraft[tune]'")
    tuning, sample = _asked(options)
    workers = whole_number("--workers", options.workers)
    Path(options.out).mkdir(parents=True, exist_ok=True)
    from redraft.tune.outcome import SETTINGS, write_outcome
    from redraft.tune.study import open_study

    study = open_study(_storage(options), tuning, tuning.facts["seed"])
    if workers == 1:
        _work(options, tuning, sample, 0)
    else:
        context = multiprocessing.get_context("spawn")
        others = [context.Process(target=_work, args=(options, tuning, sample, number)) for number in range(workers)]
        for process in others:
            process.start()
        for process in others:
            process.join()
        if all(process.exitcode for process in others):
            raise ConfigError("no worker has come to an end.", "What they said stands above.")
    print(write_outcome(study, tuning, Path(options.out)), end="")
    say(f"redraft simplify --settings {Path(options.out) / SETTINGS} takes what was found")
    return OK


def _asked(options: argparse.Namespace) -> tuple[Tuning, Sample]:
    """What is to be tuned, checked before a model is loaded."""
    from redraft.constrain.plan_files import read_plans
    from redraft.decode.config_files import read_config
    from redraft.evaluate.text_files import check_aligned, read_text
    from redraft.files import digest
    from redraft.tune.objective import Sample
    from redraft.tune.space import Ranges
    from redraft.tune.study import Tuning

    if options.ranges not in get_args(Ranges):
        raise ConfigError(f"--ranges {shown(options.ranges)} is not known.", f"Use {' or '.join(get_args(Ranges))}.")
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
        "model": options.model or "shipped",
        "sentences": len(sample.plans),
        "seed": seed,
        "plans": digest(repr(sample.plans).encode()),
        "references": digest(repr(sample.references).encode()),
    }
    return Tuning(start, options.ranges, facts), sample


def _storage(options: argparse.Namespace) -> str:
    return str(options.storage or f"sqlite:///{Path(options.out).resolve() / 'study.db'}")


def _work(options: argparse.Namespace, tuning: Tuning, sample: Sample, number: int) -> None:
    """One worker, until the trials of all are enough."""
    from redraft.decode.redrafter import Redrafter
    from redraft.fit.progress_bar import ProgressBar
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
