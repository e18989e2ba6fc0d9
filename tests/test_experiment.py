"""Experiments: runs described in one file are executed, resumed, scored and tabulated."""

import itertools
import json
import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from redraft.cli.main import main
from redraft.decode.config import DecodeConfig
from redraft.decode.eight_bit_model import load_eight_bit_model, save_eight_bit_model
from redraft.decode.result import Candidate, Result
from redraft.errors import ConfigError
from redraft.evaluate.corpora import Corpus
from redraft.evaluate.satisfaction import Satisfaction
from redraft.evaluate.scores import score
from redraft.experiment import experiment_resources
from redraft.experiment.description import read_description
from redraft.experiment.experiment_resources import ExperimentResources
from redraft.experiment.experiment_scores import ScoreKey, apply_plan
from redraft.experiment.experiment_tables import _Part
from redraft.experiment.runs import Run, all_runs, execute_run
from redraft.files import parse_json_lines
from redraft.plan.edits import Edit, EditPlan
from redraft.plan.verdicts import judge
from redraft.table_files import read_rows, write_rows
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

FILE = """
beams = 2
rivals = ["negative"]
[corpora.toy]
source = "complex.txt"
reference = ["simple.0.txt", "simple.1.txt"]
[corpora.rest]
source = "complex.txt"
reference = ["simple.0.txt"]
rows = "rows.txt"
tables = false
[models.tiny]
model = "model"
[plans.content]
words = "content"
[plans.predicted]
predict = true
[plans.predicted.rest]
strength = [0.3, 0.1]
[methods.beam]
method = "beam"
max_tokens = 8
[methods.negative]
method = "negative"
max_tokens = 8
[methods.edit]
settings = "{method}.{plan}.toml"
max_tokens = 8
rank = true
[[sweeps]]
name = "delta"
setting = "delta"
values = [0, 2]
corpus = "rest"
plan = "content"
method = "edit"
figures = ["sari", "seconds"]
[[sweeps]]
name = "weights"
setting = "lambdas"
values = [0.5, 1]
corpus = "rest"
plan = "content"
method = "edit"
sentences = 1
[[sweeps]]
name = "edits"
setting = "edits"
values = [0, 1]
corpus = "rest"
plan = "content"
method = "edit"
[[paper]]
plan = "content"
method = "theirs"
toy = 55.4
"""
SMALL = """
beams = 2
[corpora.toy]
source = "complex.txt"
reference = ["simple.0.txt"]
[models.tiny]
model = "model"
[plans.content]
words = "content"
[methods.beam]
method = "beam"
max_tokens = 8
[methods.edit]
max_tokens = 8
"""
SOURCES = ["The old man ruled in 1720 .", "The king left the town .", "The man left ."]
SIMPLE = ["The man ruled in 1720 .", "The king left .", "The man left ."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("experiment")
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), path / "model")
    for name, lines in (("complex.txt", SOURCES), ("simple.0.txt", SIMPLE), ("simple.1.txt", SOURCES)):
        (path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (path / "rows.txt").write_text("2\n0\n", encoding="utf-8")
    (path / "edit.content.toml").write_text("lambdas = [0.5, 1.0, 2.0]\n", encoding="utf-8")
    (path / "all.toml").write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def run(folder, capsys):
    def called(*flags, out, file="all.toml"):
        code = main(["experiment", str(folder / file), "--out", str(out), "--device", "cpu", *flags])
        return code, capsys.readouterr().err

    return called


def outputs(out):
    return {path.name: path.read_bytes() for path in (out / "outputs").glob("*.jsonl")}


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    assert main(["experiment", str(folder / "all.toml"), "--out", str(out), "--device", "cpu"]) == 0
    return out


def test_results_are_in_the_order_of_the_corpus(whole):
    names = set(outputs(whole))
    assert {
        f"tiny.toy.{plan}.{method}.jsonl" for plan in ("content", "predicted") for method in ("edit", "negative")
    } < names
    assert "tiny.toy.none.beam.jsonl" in names
    assert {f"tiny.rest.content.edit.{one}.jsonl" for one in ("delta.0", "delta.2", "weights.0.5", "edits.1")} < names
    assert not any(name.startswith("tiny.rest.none") for name in names)  # used only in sweeps
    rows = [json.loads(line) for line in outputs(whole)["tiny.toy.content.edit.jsonl"].splitlines()]
    assert [row["source"] for row in rows] == SOURCES
    assert all(row["seconds"] > 0 and row["edits"] for row in rows)
    swept = [json.loads(line) for line in outputs(whole)["tiny.rest.content.edit.edits.1.jsonl"].splitlines()]
    assert ([row["source"] for row in swept], [len(row["edits"]) for row in swept]) == (
        [SOURCES[2], SOURCES[0]],
        [1, 1],
    )


def test_tables_have_methods_baselines_and_published_scores(whole):
    text = (whole / "results.md").read_text(encoding="utf-8")
    assert "### Content plans, first reference" in text
    assert "### Predicted plans, all references" in text
    rows = ("source copied", "plan applied word by word", "beam", "paper: theirs | 55.4", "edit − beam",
            "edit − negative", "negative − beam", "precision")  # fmt: skip
    for row in rows:
        assert f"| {row} |" in text, row
    assert "| edit | content | toy | beams 2, lambdas 0.5/1/2, max_tokens 8 |" in text
    assert "Not yet run" not in text
    for name in ("delta", "weights", "edits"):
        assert (whole / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")


def test_existing_results_are_reused(run, whole):
    before = {path: path.stat().st_mtime_ns for path in (whole / "outputs").iterdir()}
    code, said = run(out=whole)
    assert code == 0
    assert {path: path.stat().st_mtime_ns for path in (whole / "outputs").iterdir()} == before
    assert "rerunning" not in said


def test_a_killed_run_resumes(run, whole, tmp_path):
    """A partial file of results whose last line is incomplete."""
    run("--batch-size", "1", out=tmp_path)
    path = tmp_path / "outputs" / "tiny.toy.content.edit.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = {**rows[1], "output": "kept as it was"}
    path.unlink()
    part = json.dumps(kept) + "\n" + json.dumps(rows[0])[:20]
    path.with_name(path.name + ".part").write_text(part, encoding="utf-8")
    code, _ = run(out=tmp_path)
    assert code == 0
    again = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["output"] for row in again] == [rows[0]["output"], "kept as it was", rows[2]["output"]]
    assert not path.with_name(path.name + ".part").exists()
    strip = [{key: value for key, value in row.items() if key != "seconds"} for row in again]
    first = [json.loads(line) for line in outputs(whole)["tiny.toy.content.edit.jsonl"].splitlines()]
    assert strip[0] == {
        key: value for key, value in first[0].items() if key != "seconds"
    }  # independent of the batch size


def test_changed_settings_are_rerun(run, folder, tmp_path):
    (folder / "small.toml").write_text(FILE.split("[[sweeps]]")[0], encoding="utf-8")
    run(out=tmp_path, file="small.toml")
    (folder / "small.toml").write_text(
        FILE.split("[[sweeps]]")[0].replace("max_tokens = 8\nrank", "max_tokens = 5\nrank")
    )
    code, said = run(out=tmp_path, file="small.toml")
    assert code == 0
    assert said.count("was made from other plans or settings") == 2


def outputs_without_seconds(out):
    found = {}
    for name, text in outputs(out).items():
        rows = [json.loads(line) for line in text.split(b"\n") if line]
        found[name] = [{key: value for key, value in row.items() if key != "seconds"} for row in rows]
    return found


@pytest.fixture
def small(folder, tmp_path):
    """An experiment with two runs, and its own copy of the model."""
    text = SMALL.replace('"complex', f'"{folder}/complex').replace('"simple', f'"{folder}/simple')
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    shutil.copytree(folder / "model", tmp_path / "model")
    return tmp_path / "small.toml"


def change_weights(folder):
    """Replace the weights of a model."""
    model = load_eight_bit_model(folder)
    for weight in model.parameters():
        weight.data.neg_()
    save_eight_bit_model(model, single_digits(), folder)


def test_results_are_rerun_when_the_model_changes(run, small, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert run(out=out, file=small)[0] == 0
    before = outputs_without_seconds(out)
    change_weights(tmp_path / "model")
    with monkeypatch.context() as patched:
        clock = itertools.count(0, 100)
        patched.setattr("redraft.experiment.runs.time.monotonic", lambda: next(clock))
        code, said = run("--minutes", "1", out=out, file=small)
    assert code == 1
    assert "tiny.toy.none.beam.jsonl was made by another model" in said
    tables = (out / "results.md").read_text(encoding="utf-8")
    assert (
        "Not yet run: tiny.toy.none.beam, tiny.toy.content.edit." in tables
    )  # its file exists, but from the old model
    assert "| edit |" not in tables
    code, said = run(out=out, file=small)
    assert code == 0
    assert "tiny.toy.content.edit.jsonl was made by another model" in said
    assert run(out=tmp_path / "fresh", file=small)[0] == 0
    assert outputs_without_seconds(out) == outputs_without_seconds(tmp_path / "fresh") != before


def test_loading_arguments_are_part_of_the_model_fingerprint(small, tmp_path):
    """Arguments from the file override those of the command."""
    plain = small.read_text()
    fingerprints = []
    for more, options in (("", {}), ("", {"dtype": "float16"}), ('dtype = "float64"', {"dtype": "float16"}),
                          ('prompt = "{source}!"', {}), ('variants = "exact"', {})):  # fmt: skip
        small.write_text(plain.replace('model = "model"', f'model = "model"\n{more}'), encoding="utf-8")
        resources = ExperimentResources(read_description(small), tmp_path, **options)
        fingerprints.append(tuple(resources._fingerprint("tiny").values()))
    assert len(set(fingerprints)) == len(fingerprints) == 5
    assert len({one[0] for one in fingerprints}) == 1


@pytest.mark.parametrize("part, plan", [("aligner", "content"), ("aligner", "predicted"), ("predictor", "predicted")])
def test_plans_are_remade_when_aligner_or_planner_changes(folder, tmp_path, monkeypatch, part, plan):
    messages = []

    def resources():
        new = ExperimentResources(read_description(folder / "all.toml"), tmp_path, say=messages.append)
        monkeypatch.setattr(new, "_oracle_plans", lambda words, corpus: map(EditPlan, corpus.sources))
        monkeypatch.setattr(new, "_predicted_plans", lambda entry, corpus, model: map(EditPlan, corpus.sources))
        return new

    for _ in range(2):
        resources().load_or_make_plans(plan, "toy", "tiny")
    assert len(messages) == 1
    changed = {**experiment_resources._bundled_digests(), part: "another"}
    monkeypatch.setattr(experiment_resources, "_bundled_digests", lambda: changed)
    resources().load_or_make_plans(plan, "toy", "tiny")
    assert len(messages) == 2


def test_only_newlines_end_result_lines(tmp_path):
    """A run resumes even if outputs contain characters that str.splitlines treats as line breaks."""
    odd = "a\u2028b\u0085c\x0bd\x1ce"
    run = Run("m", "c", "p", "edit", DecodeConfig())
    plans = [EditPlan("one two"), EditPlan("three")]
    done = []

    def rewrite(some):
        done.extend(some)
        return [Result(plan.source, (Candidate(odd, 0.0, 0.0, (), (), False),)) for plan in some]

    def resume():
        return list(execute_run(run, plans, rewrite, tmp_path / "o.jsonl", made_by={}, batch_size=1, deadline=math.inf,
                              say=print))  # fmt: skip

    first = execute_run(
        run, plans, rewrite, tmp_path / "o.jsonl", made_by={}, batch_size=1, deadline=math.inf, say=print
    )
    next(first)
    first.close()  # interrupted after one sentence
    resume()
    assert [plan.source for plan in done] == ["three", "one two"]
    assert [row["output"] for row in parse_json_lines((tmp_path / "o.jsonl").read_bytes())] == [odd, odd]


def test_table_files_may_contain_unicode_line_breaks(tmp_path):
    rows = [("a\u2028b", "1"), ("c\u0085d", "2")]
    write_rows(tmp_path / "t.tsv.xz", rows)
    assert sorted(map(tuple, read_rows(tmp_path / "t.tsv.xz", list))) == sorted(rows)


def test_time_limit_and_tables_inserted_into_a_page(run, folder, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- redraft experiment: begin -->\nold\n<!-- redraft experiment: end -->\nbelow\n")
    clock = itertools.count(0, 100)
    monkeypatch.setattr("redraft.experiment.runs.time.monotonic", lambda: next(clock))
    code, said = run("--minutes", "1", "--into", str(page), out=tmp_path / "out")
    assert code == 1
    assert "time limit reached" in said
    text = page.read_text(encoding="utf-8")
    assert text.startswith("above\n<!-- redraft experiment: begin -->\n")
    assert text.endswith("<!-- redraft experiment: end -->\nbelow\n")
    assert "old" not in text
    assert "Not yet run: tiny.toy.none.beam" in text


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("[corpora.toy]\n", '[corpora.toy]\ncolour = "red"\n', 'a key in corpora.toy is "colour"'),
        ('model = "model"', 'modell = "model"', "Did you mean model?"),
        ('words = "content"', 'words = "contnt"', "Did you mean content?"),
        ('words = "content"', "", "plans.content must be either oracle or predicted"),
        ('method = "negative"', 'method = "negativ"', "is not known"),
        ("max_tokens = 8", "max_token = 8", "Did you mean max_tokens?"),
        ("[methods.beam]\n", "[methods.beam]\nmark = true\n", "Did you mean marks?"),
        ("[methods.beam]\n", "[methods.beam]\nmarks = 1\n", "methods.beam: marks is 1"),
        ("[[paper]]\n", "[[paper]]\nplans = 1\n", "Did you mean plan?"),
        ("toy = 55.4", "toy = '55'", "paper: toy is"),
        ('rivals = ["negative"]', 'rivals = ["nobody"]', '"nobody", which is not known'),
        ('corpus = "rest"', 'corpus = "nowhere"', "the corpus of the sweep delta"),
        ('setting = "delta"', 'setting = "detla"', "Did you mean delta?"),
        ("strength = [0.3, 0.1]", "strength = [3, 0.1]", "3 is not a probability"),
        ("[plans.predicted.rest]", "[plans.predicted.nowhere]", "a corpus in plans.predicted"),
        ("strength = [0.3, 0.1]", "strenght = 0.5", "Did you mean strength?"),
        ("beams = 2", "beams = ", "is not TOML"),
        ('source = "complex.txt"', 'source = "gone.txt"', "gone.txt"),
        ('rows = "rows.txt"', 'rows = "simple.0.txt"', "does not contain sentence numbers"),
        ("[corpora.toy]", '[corpora."../../toy"]', 'the name of the corpus "../../toy" cannot be part of a file'),
        ("[models.tiny]", '[models."a/b"]', 'the name of the model "a/b" cannot'),
        ("[plans.content]", "[plans.'con\\tent']", "the name of the plan"),
        ("[plans.content]", '[plans." "]', "the name of the plan"),
        ("[methods.beam]", '[methods."beam\\u0000"]', "the name of the method"),
        ("[methods.beam]", '[methods.".."]', "the name of the method"),
        ('name = "delta"', 'name = "/tmp/delta"', "the name of the sweep"),
        ('name = "delta"', "name = [3]", "sweeps: name is [3]"),
        ('name = "delta"', 'name = "weights"', '2 sweeps are named "weights"'),
        ("values = [0, 2]", "values = [2, 2]", '2 runs would have the name "tiny.rest.content.edit.delta.2"'),
        ("[models.tiny]", f"[models.{'m' * 250}]", "too long for a file name"),
        ('model = "model"', 'model = "model"\ndtype = 32', "models.tiny: dtype is 32"),
    ],
)
def test_invalid_descriptions_are_refused_before_any_run(run, folder, tmp_path, old, new, message):
    assert old in FILE
    (folder / "bad.toml").write_text(FILE.replace(old, new, 1), encoding="utf-8")
    code, said = run(out=tmp_path, file="bad.toml")
    assert code == 2
    assert message in said
    assert not (tmp_path / "outputs").exists()


def test_a_page_without_markers_and_a_missing_out_are_refused(run, folder, tmp_path, capsys):
    (tmp_path / "page.md").write_text("nothing")
    assert run("--into", str(tmp_path / "page.md"), out=tmp_path)[0] == 2
    assert main(["experiment", str(folder / "all.toml")]) == 2
    assert "Missing option '--out'" in capsys.readouterr().err


def test_a_full_disk_is_reported(run, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device", "outputs/x.part")

    monkeypatch.setattr("redraft.experiment.runs.write_facts", full)
    code, said = run(out=tmp_path)
    assert code == 2
    assert "outputs/x.part" in said
    assert "same command" in said


def test_run_names_are_unique(folder):
    runs = list(all_runs(read_description(folder / "all.toml")))
    assert len({run.name for run in runs}) == len(runs) == 5 + 6
    scaled = next(run for run in runs if run.name.endswith("weights.0.5"))
    assert scaled.config.lambdas == (0.25, 0.5, 1.0)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_description(folder / "none.toml")


@pytest.mark.parametrize(
    "splits, cell, head", [(0, "100.0 /  / ", "substitutions"), (1, "100.0 /  /  / 0.0", "splits")]
)
def test_satisfied_splits_are_a_fourth_percentage(splits, cell, head):
    judged = [judge(EditPlan("a", (Edit.insert("a"), *[Edit.split()] * splits)), "a")]
    scores = score(["a"], Corpus("toy", "", ["a"], [["a"]]), measures=[Satisfaction(judged)], samples=0)
    results = SimpleNamespace(scores={ScoreKey("m", "toy", "p", "edit", "first"): scores})
    description = SimpleNamespace(corpora={"toy": None}, methods={"edit": SimpleNamespace(has_plans=True)})
    table = _Part(description, results, "m", "p", "first").satisfied()
    assert f"| edit | {cell} |" in table
    assert f"{head} | toy |" in table.splitlines()[0]


def test_a_plan_is_applied_literally():
    plan = EditPlan("The old man ruled in town .", (
        Edit.delete("old", span=(4, 7)), Edit.substitute("ruled", "was king", span=(12, 17)),
        Edit.insert("town", span=(21, 25)), Edit.delete("man"),
    ))  # fmt: skip
    assert apply_plan(plan) == "The man was king in town ."
    assert apply_plan(replace(plan, edits=(Edit.split("was", span=(0, 3)), *plan.edits))) == apply_plan(plan)
    assert apply_plan(EditPlan("As it is .")) == "As it is ."


def test_the_paper_experiment_is_valid():
    """Beam search on each corpus, four methods with four plan sets, and 36 points of six sweeps."""
    runs = list(all_runs(read_description("experiments/paper.toml")))
    assert len(runs) == 3 * (1 + 4 * 4) + 36
    tuned = next(run for run in runs if run.name == "bundled.turk.predicted.edit")
    assert (tuned.config.choose, tuned.config.beams) == ("sum", 20)


@pytest.mark.parametrize("name, runs", [("plan_reading", 3 * 4 * 3), ("predicted", 2 * (1 + 2 * 2))])
def test_beam_search_with_marks_gets_the_plans(name, runs):
    found = list(all_runs(read_description(f"experiments/{name}.toml")))
    assert len(found) == runs
    assert {run.plan for run in found if run.method == "beam, marks"} == {run.plan for run in found} - {"none"}
    assert all(run.config.method == "beam" for run in found if run.method.startswith("beam"))
