"""Tuning: trials share a storage, an interrupted study resumes, and other commands read the output files."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import replace

import optuna
import pytest
import torch
from sqlalchemy.exc import SQLAlchemyError

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.cli.main import main
from redraft.cli.tune import TuneOptions, _read_task, _worker
from redraft.cli.tune import _storage as _storage_of
from redraft.decode.config import read_config, write_config
from redraft.errors import ConfigError
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.tune.objective import Sample, evaluate_config, goal_value
from redraft.tune.search_space import parameters_of, suggest_config
from redraft.tune.study import _machine, _process_is_dead, _storage, finished_trials, open_study, storage_errors
from small_models import tiny_model_for
from tokenizers_in_memory import single_digits

MODEL = "scripted:examples/by_hand.json"
PLANS = "examples/by_hand.jsonl"


@pytest.fixture
def tune(tmp_path, capsys):
    (tmp_path / "reference.txt").write_text("The craftsmen are old .\n", encoding="utf-8")

    def run(*flags, out="out"):
        given = ["--plan", PLANS, "--reference", str(tmp_path / "reference.txt"), "--out", str(tmp_path / out)]
        code = main(["tune", "--model", MODEL, "--beams", "4", *given, *flags])
        found = capsys.readouterr()
        return code, tmp_path / out, found.out, found.err

    return run


def rows(folder):
    return [json.loads(line) for line in (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_best_settings_are_written_and_can_be_used(tune, capsys):
    code, folder, said, _ = tune("--trials", "12")
    assert code == 0
    assert len(rows(folder)) == 12
    best = max(row["sari"] for row in rows(folder) if row["state"] == "complete")
    assert f"Best: SARI {best:.2f}" in said
    assert "| lambda_insert |" in said
    assert (folder / "plot.svg").read_text(encoding="utf-8").startswith("<svg")
    assert main(["simplify", "--model", MODEL, "--plan", PLANS, "--settings", str(folder / "settings.toml")]) == 0
    assert capsys.readouterr().out == "The craftsmen are old .\n"


def test_the_start_is_the_first_trial(tune):
    _, folder, *_ = tune("--trials", "1")
    (row,) = rows(folder)
    assert (row["lambda_insert"], row["delta"], row["choose"], row["width"]) == (1.0, 2.0, "edits", 8)


def test_a_study_resumes(tune):
    _, folder, *_ = tune("--trials", "3")
    before = rows(folder)
    code, _, *_ = tune("--trials", "7")
    assert code == 0
    assert rows(folder)[:3] == before
    assert len(rows(folder)) == 7


def test_a_storage_with_a_different_study_is_refused(tune):
    tune("--trials", "1")
    code, _, _, said = tune("--trials", "2", "--method", "neurologic")
    assert code == 2
    assert "method is 'edit' there and 'neurologic' here" in said


def test_a_storage_with_a_different_model_is_refused(tune, tmp_path):
    table = tmp_path / "table.json"
    shutil.copy("examples/by_hand.json", table)
    assert tune("--model", f"scripted:{table}", "--trials", "1")[0] == 0
    table.rename(tmp_path / "moved.json")
    moved = f"scripted:{tmp_path / 'moved.json'}"
    assert tune("--model", moved, "--trials", "1")[0] == 0
    assert "dtype is 'as stored' there and 'float64' here" in tune("--model", moved, "--dtype", "float64")[3]
    table.write_text(json.dumps({**json.loads((tmp_path / "moved.json").read_text()), "floor_log_prob": -50.0}))
    code, _, _, said = tune("--model", f"scripted:{table}", "--trials", "1")
    assert code == 2
    assert "a different study: model is" in said


def stop_at(trial, how, monkeypatch):
    """Call `how` during the trial with this number, counted in this run."""
    count = itertools.count()

    def stopped(*args, **options):
        if next(count) == trial:
            how()
        return evaluate_config(*args, **options)

    monkeypatch.setattr("redraft.tune.study.evaluate_config", stopped)


def interrupt():
    raise KeyboardInterrupt


def terminate():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)  # the signal arrives within this time


@pytest.mark.parametrize("how, status", [(interrupt, 130), (terminate, 143)])
def test_an_interrupted_study_leaves_its_settings(tune, monkeypatch, how, status):
    with monkeypatch.context() as patched:
        stop_at(2, how, patched)
        code, folder, _, said = tune("--trials", "4")
    assert code == status
    assert "2 of 4 trials are done" in said
    assert "Traceback" not in said
    assert len(rows(folder)) == 2
    assert read_config(folder / "settings.toml")["method"] == "edit"
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert tune("--trials", "4")[0] == 0
    assert len(rows(folder)) == 4


def starts(folder):
    wanted = {"lambda_insert": 1.0, "delta": 2.0, "width": 8}
    return [row for row in rows(folder) if wanted.items() <= row.items()]


def test_an_interrupted_start_trial_is_retried(tune, monkeypatch):
    with monkeypatch.context() as patched:
        stop_at(0, interrupt, patched)
        code, folder, *_ = tune("--trials", "2")
    assert (code, list(folder.glob("*.toml"))) == (130, [])
    assert tune("--trials", "2")[0] == 0
    assert [row["state"] for row in starts(folder)] == ["complete"]


class Killed(BaseException):
    """Ends a study without any message to its storage, like SIGKILL."""


def die():
    raise Killed


@pytest.mark.parametrize("storage", ["sqlite:///", "journal:"])
def test_a_killed_start_trial_is_retried(tune, tmp_path, monkeypatch, storage):
    """Even if other workers have finished the requested number of trials."""
    where = f"{storage}{tmp_path / 'storage'}"
    with monkeypatch.context() as patched:
        stop_at(0, die, patched)
        with pytest.raises(Killed):
            tune("--storage", where)
    study = optuna.load_study(study_name="redraft", storage=_storage(where))
    study.add_trial(optuna.create_trial(value=-1.0, user_attrs={"seconds": 0.0}))
    code, folder, _, said = tune("--trials", "1", "--storage", where)
    assert code == 0, said
    assert [row["state"] for row in starts(folder)] == ["complete"]
    assert [trial.state.name for trial in study.get_trials()] == ["FAIL", "COMPLETE", "COMPLETE"]


@pytest.mark.parametrize("process", [(_machine(), os.getppid()), ("another machine", 1 << 30)])
def test_the_trial_of_a_running_process_is_not_retried(tune, monkeypatch, process):
    with monkeypatch.context() as patched:
        stop_at(0, die, patched)
        patched.setattr("redraft.tune.study._this_process", lambda: process)
        with pytest.raises(Killed):
            tune()
    code, folder, *_ = tune("--trials", "1")
    assert code == 0
    assert ([row["trial"] for row in rows(folder)], starts(folder)) == ([1], [])


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_an_ended_process_is_dead():
    ended = subprocess.Popen(["true"])
    assert not _process_is_dead((_machine(), os.getppid()))
    ended.wait()
    assert _process_is_dead((_machine(), ended.pid))
    assert not _process_is_dead(("another machine", ended.pid))


def test_workers_inherit_the_trust_options(tmp_path):
    """The trust settings are per process, so every worker must apply them."""
    model = tmp_path / "model"
    tiny = tiny_model_for("bart", single_digits())
    tiny.save_pretrained(model)
    single_digits().save_pretrained(model)
    (model / "model.safetensors").unlink()
    torch.save(tiny.state_dict(), model / "pytorch_model.bin")
    (tmp_path / "reference.txt").write_text("The craftsmen are old .\n", encoding="utf-8")
    options = TuneOptions(
        plan=PLANS, reference=[str(tmp_path / "reference.txt")], out=str(tmp_path), model=str(model), trials="1",
        beams="2", pickled_weights=True, device="cpu",
    )  # fmt: skip
    with pytest.raises(SystemExit):  # without the option
        _worker(replace(options, pickled_weights=False), *_read_task(options), 0)
    _worker(options, *_read_task(options), 0)
    assert len(finished_trials(open_study(_storage_of(options), _read_task(options)[0], 0))) == 1


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://user:hunter2@127.0.0.1:1/x",
        "nosuch://user:hunter2@h/x",
        "postgresql://user:hunter2@h:port/x",
        "mysql://h/x?user=me&password=hunter2",
        "postgresql://user:p@hunter2@h/x",
        "postgresql:user:hunter2@h/x",
    ],
)
def test_passwords_are_not_printed(tune, where):
    code, _, _, said = tune("--storage", where)
    assert code == 2
    assert "cannot be opened" in said
    assert "hunter2" not in said


def test_storage_errors_hide_passwords():
    where = "postgresql://user:hunter%40two@h/x?sslpassword=third"
    error = SQLAlchemyError("connection to h as user with hunter@two (hunter%40two, third) failed: refused\nmore")
    with pytest.raises(ConfigError) as caught, storage_errors(where):
        raise optuna.exceptions.StorageInternalError("see above") from error
    assert "postgresql://h/x" in caught.value.problem
    assert caught.value.problem.endswith("connection to h as user with … (…, …) failed: refused")


@pytest.mark.parametrize("method", ["neurologic", "negative", "beam"])
def test_every_method_can_be_tuned(tune, method):
    code, folder, *_ = tune("--trials", "3", "--method", method)
    assert code == 0
    assert read_config(folder / "settings.toml")["method"] == method


def test_workers_share_a_journal(tune, tmp_path):
    code, folder, *_ = tune("--trials", "6", "--workers", "2", "--storage", f"journal:{tmp_path / 'journal'}")
    assert code == 0
    assert len(rows(folder)) >= 6
    assert len({row["trial"] for row in rows(folder)}) == len(rows(folder))


@pytest.mark.parametrize(
    "flags, problem",
    [
        (["--ranges", "vast"], "--ranges"),
        (["--method", "magic"], "--method"),
        (["--trials", "none"], "--trials"),
        (["--plan", "examples/none.jsonl"], "none.jsonl"),
        (["--storage", "nosuch://x"], "--storage nosuch://x cannot be opened"),
    ],
)
def test_invalid_options_are_refused(tune, flags, problem):
    code, _, _, said = tune(*flags)
    assert code == 2
    assert problem in said


def test_references_of_another_length_are_refused(tune, tmp_path):
    (tmp_path / "two.txt").write_text("one\ntwo\n", encoding="utf-8")
    code, _, _, said = tune("--reference", str(tmp_path / "two.txt"))
    assert code == 2
    assert "two.txt has 2 lines" in said


@pytest.mark.parametrize("ranges", ["wide", "plus", "paper"])
@pytest.mark.parametrize("method", ["edit", "neurologic", "negative", "beam"])
def test_trial_parameters_reproduce_the_settings(ranges, method):
    """The parameters of some settings produce the same settings, except for scale, which the paper's ranges fix."""
    start = DecodeConfig(
        method=method, beams=5, width=9, lambdas=(0.3, 0.2, 1.0), delta=1.5, length_penalty=0.4, beta=3
    )
    given = parameters_of(start, ranges)

    class Given:
        def __getattr__(self, name):
            return lambda what, *_: given[what]

    expected = start.with_changes(scale="kind") if (method, ranges) == ("edit", "paper") else start
    assert suggest_config(Given(), start, ranges) == expected


def test_a_trial_can_be_pruned_after_a_part():
    redrafter = Redrafter(MODEL)
    plan = EditPlan("The artisans remain old .", (Edit.delete("remain"),))
    sample = Sample([plan] * 8, [["The craftsmen are old ."] * 8])
    seen = []

    def stop(part, sari):
        seen.append((part, sari))
        return part < 1

    found = evaluate_config(redrafter, DecodeConfig(beams=4), sample, stop)
    assert not found.finished
    assert [part for part, _ in seen] == [0, 1]
    whole = evaluate_config(redrafter, DecodeConfig(beams=4), sample, lambda part, sari: True)
    assert whole.finished
    assert whole.value == pytest.approx(seen[0][1])


def test_the_goal_can_combine_sari_and_bleu(tune):
    texts = Texts(["The old man ruled the town ."], ["The old man led the town ."], [["The old king led the town ."]])
    sari, bleu = (measure.figures(measure.count(texts).sum(0)) for measure in (Sari(), Bleu()))
    assert goal_value(texts, "sari") == pytest.approx(sari["sari"])
    assert goal_value(texts, "both") == pytest.approx(sari["sari"] + bleu["bleu"] / 3)
    code, folder, said, _ = tune("--trials", "2", "--goal", "both")
    assert code == 0
    assert "Best: SARI + BLEU / 3 " in said
    assert all(row["both"] > 0 for row in rows(folder))
    assert "goal is 'both' there" in tune("--trials", "2")[3]


def test_a_sample_depends_only_on_its_seed():
    sample = Sample([EditPlan(str(number)) for number in range(20)], [[str(number) for number in range(20)]])
    one, same, other = (sample.draw(8, seed) for seed in (1, 1, 2))
    assert one == same != other
    assert [plan.source for plan in one.plans] == list(one.references[0])


def test_settings_survive_writing_and_reading(tmp_path):
    config = DecodeConfig(method="edit", lambdas=(0.1, 0.25, 2.0), delta=None, width=31, choose="sum")
    write_config(tmp_path / "s.toml", config, ["a comment"])
    assert DecodeConfig(**read_config(tmp_path / "s.toml")) == config
    assert (tmp_path / "s.toml").read_text(encoding="utf-8").startswith("# a comment\n")


@pytest.mark.parametrize(
    "text, problem",
    [
        ("delt = 2.0", "'delt'.\n  Did you mean delta"),
        ("delta = ", "is not TOML"),
        ("beams = 0", "beams is 0"),
        ('method = "magic"', "is not known"),
    ],
)
def test_an_invalid_settings_file_is_refused(tmp_path, text, problem):
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "s.toml")
    assert problem in str(caught.value)
    assert "s.toml" in str(caught.value)
