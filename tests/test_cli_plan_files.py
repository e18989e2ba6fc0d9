"""Plan files checked and shown."""

import json

import pytest
from rich.text import Text

from redraft import Edit, EditPlan
from redraft.cli.main import main
from redraft.cli.terminal_colour import change_marked, plan_marked, rendered

SOURCE = "The physician commenced the procedure in the old town."
PLAN = EditPlan(
    SOURCE,
    (
        Edit.insert("physician", span=(4, 13)),
        Edit.substitute("commenced", "began", "started", span=(14, 23)),
        Edit.delete("in the old town", span=(38, 53)),
        Edit.insert("1990"),
    ),
)
SHOWN = "The physician {commenced → began / started} the procedure [-in the old town-].  +1990"


def test_edits_are_marked_on_the_words(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    path.write_text(json.dumps(PLAN.to_json()) + "\n")
    assert main(["plan", "show", str(path)]) == 0
    assert capsys.readouterr().out == SHOWN + "\n"


def test_splits_and_strength_are_shown_and_counted(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    split = Edit.split("in", span=(38, 40)), Edit.split(), Edit.delete("in", span=(38, 40))
    plan = EditPlan(SOURCE, split, "light")
    path.write_text(json.dumps(plan.to_json()) + "\n" + json.dumps(PLAN.to_json()) + "\n")
    assert main(["plan", "show", str(path)]) == 0
    assert capsys.readouterr().out == (
        f"The physician commenced the procedure ⏎ [-in-] the old town.  ⏎  (light)\n{SHOWN}\n"
    )
    assert main(["plan", "check", str(path)]) == 0
    assert capsys.readouterr().out == (
        "2 plans (2 insert, 2 delete, 1 substitute, 2 split; strength: 1 light), 0 bad lines\n"
    )


def test_colours_add_nothing_but_colours():
    coloured = rendered(plan_marked(PLAN), colour=True)
    assert coloured != SHOWN
    assert Text.from_ansi(coloured).plain == SHOWN


@pytest.mark.parametrize("output", ["The doctor began the procedure.", "", SOURCE, "A  b\tc"])
def test_marked_changes_contain_the_output(output):
    assert rendered(change_marked(SOURCE, output), colour=False).strip() == output.strip()


def test_errors_are_listed_and_counted(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    lines = [PLAN.to_json(), {"source": "a", "edits": [{"remove": "a"}]}, {"edits": []}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{\n")
    assert main(["plan", "check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == "1 plans (2 insert, 1 delete, 1 substitute), 3 bad lines\n"
    for line in (2, 3, 4):
        assert f"{path}:{line}" in err


@pytest.mark.parametrize(
    "edit, words",
    [
        pytest.param(
            {"delete": "zebra"}, ['edits[1].delete: "zebra" is not in the source', "Name words"], id="deletion"
        ),
        pytest.param(
            {"substitute": "nurse", "with": ["a"]}, ['edits[1].substitute: "nurse" is not'], id="substitution"
        ),
        pytest.param({"delete": "commence"}, ['"commence" is not in the source'], id="part-of-a-word"),
        pytest.param({"delete": "Physician"}, ['Write it as in the source: "physician"'], id="another-case"),
        pytest.param({"delete": "zebra", "span": [4, 13]}, ["edits[1].span", '"zebra"'], id="with-a-span"),
    ],
)
def test_deleted_and_replaced_words_must_be_in_the_source(tmp_path, capsys, edit, words):
    path = tmp_path / "plans.jsonl"
    plan = {"source": SOURCE, "edits": [{"insert": "zebu"}, edit]}
    path.write_text(json.dumps({"source": "a"}) + "\n" + json.dumps(plan) + "\n")
    assert main(["plan", "check", str(path)]) == 2
    err = capsys.readouterr().err
    assert f"{path}:2, " in err
    for word in words:
        assert word in err


def test_phrases_match_by_the_variants_option(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    deletions = ["The", "the", "in the", "town"]
    path.write_text(json.dumps({"source": SOURCE, "edits": [{"delete": phrase} for phrase in deletions]}))
    assert main(["plan", "check", str(path)]) == 0
    path.write_text(json.dumps({"source": SOURCE, "edits": [{"delete": "commence"}]}))
    assert main(["plan", "check", str(path), "--variants", "lemma"]) == 0
    assert "0 bad lines" in capsys.readouterr().out


def test_a_valid_file_passes(capsys):
    assert main(["plan", "check", "examples/by_hand.jsonl"]) == 0
    assert "0 bad lines" in capsys.readouterr().out
