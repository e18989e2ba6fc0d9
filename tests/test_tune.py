"""Settings are found by trials that share a storage, go on after a stop, and leave files that other commands take."""

import json

import pytest

from redraft import DecodeConfig, Edit, EditPlan, Redrafter
from redraft.cli.main import main
from redraft.decode.config_files import read_config, write_config
from redraft.errors import ConfigError
from redraft.evaluate.bleu import Bleu
from redraft.evaluate.measures import Texts
from redraft.evaluate.sari import Sari
from redraft.tune.objective import Sample, tried, value_of
from redraft.tune.space import as_suggested, suggested

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


def test_the_best_settings_are_written_and_taken(tune, capsys):
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


def test_a_search_goes_on_where_it_stopped(tune):
    _, folder, *_ = tune("--trials", "3")
    before = rows(folder)
    code, _, *_ = tune("--trials", "7")
    assert code == 0
    assert rows(folder)[:3] == before
    assert len(rows(folder)) == 7


def test_another_search_in_the_same_place_is_refused(tune):
    tune("--trials", "1")
    code, _, _, said = tune("--trials", "2", "--method", "neurologic")
    assert code == 2
    assert "its method is 'edit', and not 'neurologic'" in said


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
def test_mistakes_are_told(tune, flags, problem):
    code, _, _, said = tune(*flags)
    assert code == 2
    assert problem in said


def test_references_that_do_not_fit_are_an_error(tune, tmp_path):
    (tmp_path / "two.txt").write_text("one\ntwo\n", encoding="utf-8")
    code, _, _, said = tune("--reference", str(tmp_path / "two.txt"))
    assert code == 2
    assert "two.txt has 2 lines" in said


@pytest.mark.parametrize("ranges", ["wide", "plus", "paper"])
@pytest.mark.parametrize("method", ["edit", "neurologic", "negative", "beam"])
def test_choices_lead_back_to_the_settings(ranges, method):
    """Every choice that is recalled gives the settings it came from, but for what the paper's ranges fix."""
    start = DecodeConfig(
        method=method, beams=5, width=9, lambdas=(0.3, 0.2, 1.0), delta=1.5, length_penalty=0.4, beta=3
    )
    given = as_suggested(start, ranges)

    class Given:
        def __getattr__(self, name):
            return lambda what, *_: given[what]

    expected = start.with_changes(scale="kind") if (method, ranges) == ("edit", "paper") else start
    assert suggested(Given(), start, ranges) == expected


def test_a_try_is_given_up_after_a_part():
    redrafter = Redrafter(MODEL)
    plan = EditPlan("The artisans remain old .", (Edit.delete("remain"),))
    sample = Sample([plan] * 8, [["The craftsmen are old ."] * 8])
    seen = []

    def stop(part, sari):
        seen.append((part, sari))
        return part < 1

    found = tried(redrafter, DecodeConfig(beams=4), sample, stop)
    assert not found.finished
    assert [part for part, _ in seen] == [0, 1]
    whole = tried(redrafter, DecodeConfig(beams=4), sample, lambda part, sari: True)
    assert whole.finished
    assert whole.value == pytest.approx(seen[0][1])


def test_both_measures_are_a_goal(tune):
    texts = Texts(["The old man ruled the town ."], ["The old man led the town ."], [["The old king led the town ."]])
    sari, bleu = (measure.figures(measure.count(texts).sum(0)) for measure in (Sari(), Bleu()))
    assert value_of(texts, "sari") == pytest.approx(sari["sari"])
    assert value_of(texts, "both") == pytest.approx(sari["sari"] + bleu["bleu"] / 3)
    code, folder, said, _ = tune("--trials", "2", "--goal", "both")
    assert code == 0
    assert "Best: SARI + BLEU / 3 " in said
    assert all(row["both"] > 0 for row in rows(folder))
    assert "its goal is 'both'" in tune("--trials", "2")[3]


def test_a_sample_is_decided_by_its_seed():
    sample = Sample([EditPlan(str(number)) for number in range(20)], [[str(number) for number in range(20)]])
    one, same, other = (sample.drawn(8, seed) for seed in (1, 1, 2))
    assert one == same != other
    assert [plan.source for plan in one.plans] == list(one.references[0])


def test_settings_come_back_as_they_were_written(tmp_path):
    config = DecodeConfig(method="edit", lambdas=(0.1, 0.25, 2.0), delta=None, width=31, choose="sum")
    write_config(tmp_path / "s.toml", config, ["a remark"])
    assert DecodeConfig(**read_config(tmp_path / "s.toml")) == config
    assert (tmp_path / "s.toml").read_text(encoding="utf-8").startswith("# a remark\n")


@pytest.mark.parametrize(
    "text, problem",
    [
        ("delt = 2.0", "no setting 'delt'.\n  Did you mean delta"),
        ("delta = ", "is not TOML"),
        ("beams = 0", "beams is 0"),
        ('method = "magic"', "is not known"),
    ],
)
def test_a_bad_settings_file_is_told(tmp_path, text, problem):
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "s.toml")
    assert problem in str(caught.value)
    assert "s.toml" in str(caught.value)
