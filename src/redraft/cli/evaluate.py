"""`redraft evaluate`: outputs in, scores with confidence intervals out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from redraft.cli.common_options import Data, PickledWeights, TrustRemoteCode
from redraft.cli.console import OK, say, visible, whole_number
from redraft.cli.typer_command import add_command, option
from redraft.errors import ConfigError, CorpusError, shown

if TYPE_CHECKING:
    from typer import Typer

    from redraft.evaluate.corpora import Corpus
    from redraft.evaluate.measures import Measure
    from redraft.evaluate.scores import Comparison, Scores
    from redraft.evaluate.system_outputs import SystemOutputs
    from redraft.plan.edits import EditPlan

_EXAMPLES = """\
examples:
  redraft evaluate --corpus asset --data DATA --outputs mine.txt
  redraft evaluate --corpus turk --outputs base.txt mine.txt --report report.html table.tex
  redraft evaluate --source complex.txt --reference simple.0.txt simple.1.txt --outputs mine.txt --json
  redraft evaluate --corpus asset --outputs results.jsonl --references first
  redraft evaluate --plans predicted.jsonl --oracle oracle.jsonl

An output file contains one sentence per line, in the order of the corpus. A file that ends in .jsonl contains results
of redraft simplify --json; the statuses of their edits are then counted as well. With several output files, each is
compared with the first.
Exit status: 0 success, 2 error in options or input, 130 interrupted.
"""
_MAIN = ("corpus", "split", "data", "source", "reference", "outputs", "plans", "meaning", "json", "report")


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """Score simplified sentences, with confidence intervals and paired significance tests."""

    corpus: Annotated[
        str | None,
        option("name of a published corpus: turk, turk_legacy, asset, automets, wiki_auto or wikilarge", "NAME"),
    ] = None
    split: Annotated[str | None, option("split of --corpus: test (default), valid or train", "NAME")] = None
    data: Data = None
    source: Annotated[str | None, option("instead of --corpus: file of source sentences, one per line", "FILE")] = None
    reference: Annotated[
        list[str], option("reference files for --source, each with one reference per line", "FILE ...")
    ] = field(default_factory=list)
    references: Annotated[
        str, option("references to use: all (default), first, or the number of one, from 0", "WHICH")
    ] = "all"

    outputs: Annotated[list[str], option("output files, one per system", "FILE ...")] = field(default_factory=list)
    plans: Annotated[str | None, option("plan file with the edits requested of the outputs", "FILE")] = None
    oracle: Annotated[str | None, option("plan file to compare --plans with: prints precision and recall", "FILE")] = (
        None
    )
    meaning: Annotated[bool, option("also count the outputs that may not say the same as their source")] = False
    bertscore: Annotated[
        str | None,
        option('also compute BERTScore, with this encoder: Hugging Face name, folder or "" (bert-score\'s default)',
               "ENCODER"),
    ] = None  # fmt: skip
    trust_remote_code: TrustRemoteCode = False
    pickled_weights: PickledWeights = False
    bertscore_layer: Annotated[
        str | None,
        option("hidden layer for BERTScore (default: the choice of bert-score, else the last layer)", "N"),
    ] = None

    samples: Annotated[
        str, option("bootstrap samples of the test set (default 1000; 0: no intervals, no tests)", "N")
    ] = "1000"
    test: Annotated[
        Literal["randomisation", "bootstrap"], option("paired test: randomisation (default) or bootstrap", "NAME")
    ] = "randomisation"
    seed: Annotated[str, option("random seed of the resampling (default 12345)", "N")] = "12345"

    json: Annotated[bool, option("print one JSON object per output file instead of a table")] = False
    report: Annotated[list[str], option("also write report files: .html (a page), .md, .tex or .json", "FILE ...")] = (
        field(default_factory=list)
    )


def add_evaluate(app: Typer) -> None:
    add_command(
        app, "evaluate", run_evaluate, EvaluateOptions,
        help="score outputs with SARI, BLEU, FKGL and more", examples=_EXAMPLES, main=_MAIN, panel="Measure",
    )  # fmt: skip


def run_evaluate(options: EvaluateOptions) -> int:
    """Run the command and return its exit status."""
    from redraft.evaluate.report.report_files import check_report, json_text, to_json, write_report
    from redraft.evaluate.report.score_tables import to_text
    from redraft.evaluate.scores import TRIALS, compare

    seed = whole_number("--seed", options.seed, least=0)
    samples = whole_number("--samples", options.samples, least=0)
    inputs = [options.source, *options.reference, *options.outputs, options.plans, options.oracle]
    for path in options.report:
        check_report(path, filter(None, inputs))
    systems = _scored(options, samples, seed)
    comparisons: list[Comparison] = []
    if len(systems) > 1 and not samples:
        say("the files are not compared with each other, because --samples is 0.")
    for other in systems[1:] if samples else ():
        found = compare(systems[0], other, test=options.test, samples=samples, trials=TRIALS, seed=seed)
        comparisons += found.values()
    for notice in dict.fromkeys(line for system in systems for line in (*system.corpus.notices, *system.notices)):
        say(notice)
    for path in options.report:
        write_report(path, systems, comparisons)
    if options.json:
        for obj in to_json(systems, comparisons):
            print(json_text(obj))
    else:
        figures = ("sari", "bleu", "bertscore", "fkgl")
        print(visible(to_text(systems, [one for one in comparisons if one.figure in figures])))
    return OK


def _scored(options: EvaluateOptions, samples: int, seed: int) -> list[Scores]:
    """The scores of each output file."""
    from redraft.evaluate.scores import default_measures, score
    from redraft.evaluate.system_outputs import check_sources, read_outputs

    plans, oracle = (_plans(path) for path in (options.plans, options.oracle))
    if oracle is not None and plans is None:
        raise ConfigError("--oracle requires --plans.", "Add --plans FILE.jsonl.")
    if not options.outputs:
        if oracle is None or options.corpus or options.source or options.bertscore is not None:
            raise ConfigError("there is nothing to score.", "Add --outputs FILE; --help shows examples.")
        return [_precision_alone(str(options.plans), plans or [], oracle, samples, seed)]
    _check_named_once([options.source, *options.reference, *options.outputs], options.outputs)
    corpus = _corpus(options)
    read = [read_outputs(path) for path in options.outputs]
    shared = _extra_measures(options, plans, oracle, corpus)
    systems = []
    for outputs in read:
        check_sources(outputs, corpus.sources, f"{corpus.name}/{corpus.split}")
        own = _satisfaction(outputs, plans) if len(outputs.texts) == len(corpus) else []
        measures = [*default_measures(), *shared, *own]
        systems.append(score(
            outputs.texts, corpus, name=outputs.name, measures=measures, samples=samples, seed=seed,
            notices=outputs.notices,
        ))  # fmt: skip
    return systems


def _corpus(options: EvaluateOptions) -> Corpus:
    from redraft.evaluate.corpora import load_corpus, read_corpus

    if options.corpus and (options.source or options.reference):
        raise ConfigError("--corpus cannot be combined with --source or --reference.", "Remove one of them.")
    if options.corpus:
        corpus = load_corpus(options.corpus, options.split or "test", data=options.data)
    elif options.source and options.reference:
        if options.split or options.data:
            raise ConfigError("--split and --data require --corpus.", "Remove them, or add --corpus NAME.")
        corpus = read_corpus(options.source, options.reference)
    elif options.source or options.reference:
        missing, given = ("--reference", "--source") if options.source else ("--source", "--reference")
        raise ConfigError(f"{given} requires {missing}.", f"Add {missing} FILE.")
    else:
        raise ConfigError("no corpus is given.", "Add --corpus NAME, or --source FILE and --reference FILE.")
    which: Any = options.references
    if which not in ("all", "first"):
        which = whole_number("--references", which, least=0, words=("all", "first"))
    return corpus.with_references(which)


def _extra_measures(
    options: EvaluateOptions, plans: list[EditPlan] | None, oracle: list[EditPlan] | None, corpus: Corpus
) -> list[Measure]:
    from redraft.evaluate.bertscore import DEFAULT_ENCODER, BertScore
    from redraft.evaluate.plan_precision import PlanPrecision

    measures: list[Measure] = []
    if options.meaning:
        from redraft.evaluate.meaning_alarms import MeaningAlarms

        measures.append(MeaningAlarms())
    if options.bertscore is not None:
        layer = None if options.bertscore_layer is None else whole_number("--bertscore-layer", options.bertscore_layer)
        measures.append(BertScore(options.bertscore or DEFAULT_ENCODER, layer=layer))
    if options.plans is not None and plans is not None:
        _check_plans(options.plans, plans, corpus)
    if plans is not None and oracle is not None:
        measures.append(PlanPrecision(plans, oracle))
    return measures


def _satisfaction(outputs: SystemOutputs, plans: list[EditPlan] | None) -> list[Measure]:
    from redraft.evaluate.satisfaction import Satisfaction
    from redraft.plan.verdicts import judge

    recorded = outputs.verdicts or []
    own = [tuple(verdict.edit for verdict in verdicts) for verdicts in recorded]
    if any(own) and (plans is None or own == [plan.edits for plan in plans]):
        return [Satisfaction(recorded)]  # recorded verdicts also have chosen_over
    if plans is None:
        return []
    return [Satisfaction([judge(plan, text) for plan, text in zip(plans, outputs.texts, strict=True)])]


def _precision_alone(path: str, plans: list[EditPlan], oracle: list[EditPlan], samples: int, seed: int) -> Scores:
    from redraft.evaluate.corpora import Corpus
    from redraft.evaluate.plan_precision import PlanPrecision
    from redraft.evaluate.scores import score

    sources = [plan.source for plan in plans]
    corpus = Corpus("plans", os.path.basename(path), sources, [])
    return score(sources, corpus, name=path, measures=[PlanPrecision(plans, oracle)], samples=samples, seed=seed)


def _plans(path: str | None) -> list[EditPlan] | None:
    from redraft.plan.plan_files import read_plans

    return None if path is None else list(read_plans(path))


def _check_plans(path: str, plans: Sequence[EditPlan], corpus: Corpus) -> None:
    if len(plans) != len(corpus):
        raise CorpusError(f"{path} has {len(plans):,} plans, {corpus.name} has {len(corpus):,} sentences.",
                          "Give one plan per sentence, in the same order; a plan may have no edits.")  # fmt: skip
    for number, (plan, source) in enumerate(zip(plans, corpus.sources, strict=True), 1):
        if plan.source.split() != source.split():
            raise CorpusError(f"{path}, line {number}: the plan is for {shown(plan.source)}, but the source is "
                              f"{shown(source)}.", "Make the plans from the same corpus and split.")  # fmt: skip


def _check_named_once(paths: Sequence[str | None], outputs: Sequence[str]) -> None:
    if paths.count("-") > 1:
        raise ConfigError("standard input is given twice.", "Put one of the two in a file.")
    repeated = next((path for number, path in enumerate(outputs) if path in outputs[:number]), None)
    if repeated is not None:
        raise ConfigError(f"{repeated} is given twice in --outputs.", "Give each file once.")
