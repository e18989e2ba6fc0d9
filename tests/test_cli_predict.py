"""Predicted plans on the command line: a planner is trained, its plans are printed, edited and used."""

import json
import re

import pytest

from redraft.cli.main import main
from redraft.decode.eight_bit_model import save_eight_bit_model
from redraft.errors import PlanError
from redraft.plan.edits import EditPlan
from redraft.plan.prediction import PlanPrediction
from small_models import tiny_model_for
from test_planner import toy_pairs
from tokenizers_in_memory import single_digits

MODEL = "scripted:examples/by_hand.json"
SENTENCE = "The artisans remain old ."


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """By the command, from files; the examples' words are in the synonyms."""
    folder = tmp_path_factory.mktemp("predictor")
    pairs = [f"{pair.tag}\tlower\t{pair.source}\t{pair.target}" for pair in toy_pairs(400)]
    (folder / "pairs.tsv").write_text("\n".join([*pairs, "left_out\tlower\ta b c\td e f"]) + "\n", encoding="utf-8")
    (folder / "synonyms.txt").write_text("purchased\tbought\n", encoding="utf-8")
    (folder / "difficulty.tsv").write_text("purchased\t3\n", encoding="utf-8")
    files = [f"--{name}={folder / file}" for name, file in
             (("pairs", "pairs.tsv"), ("synonyms", "synonyms.txt"), ("difficulty", "difficulty.tsv"))]  # fmt: skip
    flags = ["--leave-out", "left", "--epochs", "3", "--device", "cpu", "--out", str(folder / "out")]
    assert main(["train-planner", *files, *flags]) == 0
    return folder / "out"


@pytest.fixture
def predict(classifier, capsys):
    def run(*flags):
        device = () if "--device" in flags else ("--device", "cpu")
        code = main([*flags, "--planner", str(classifier), *device])
        found = capsys.readouterr()
        return code, [json.loads(line) if line[:1] == "{" else line for line in found.out.splitlines()], found.err

    return run


def test_one_plan_is_printed_per_line(predict, tmp_path):
    source = "our teacher apparently quietly purchased warm soup at home ."
    (tmp_path / "in.txt").write_text(f"{source}\n\nhttps://example.org\n", encoding="utf-8")
    code, plans, said = predict("plan", "predict", "--input", str(tmp_path / "in.txt"), "--strength", "0.8")
    assert code == 0
    assert [plan["source"] for plan in plans] == [source, "", "https://example.org"]
    bought = next(edit for edit in plans[0]["edits"] if edit.get("substitute") == "purchased")
    assert bought["with"] == ["bought"]
    assert bought["note"] == "plain English"  # common names have precedence over the planner's lexicon
    assert 0 < bought["probability"] <= 1
    assert "line 3: no edits are predicted, because it is an address" in said
    assert "3 plans; per sentence:" in said


def test_an_edited_plan_can_be_used(predict, tmp_path, capsys):
    _, [plan], _ = predict("plan", "predict", SENTENCE)
    plan["edits"] = [{"substitute": "artisans", "with": ["craftsmen"], "probability": 0.5}, {"delete": "remain"}]
    plan["edits"].append({"insert": "old"})
    (tmp_path / "plans.jsonl").write_text(json.dumps(plan) + "\n", encoding="utf-8")
    assert main(["simplify", "--model", MODEL, "--plan", str(tmp_path / "plans.jsonl"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["output"] == "The craftsmen are old ."
    assert result["edits"][0]["probability"] == 0.5
    assert result["missing"] == []


def test_simplify_predicts_plans_and_applies_requested_edits_in_place_if_the_model_does_not(predict, tmp_path):
    (tmp_path / "keep.txt").write_text("old\nremain\n", encoding="utf-8")
    (tmp_path / "glossary.tsv").write_text("artisans\tcraftsmen\n", encoding="utf-8")
    flags = ["--keep", str(tmp_path / "keep.txt"), "--glossary", str(tmp_path / "glossary.tsv"), "--json"]
    code, [result], said = predict("simplify", "--model", MODEL, "--plan", "predict", SENTENCE, *flags, "--beams", "1",
                                   "--lambdas", "0,0,0")  # fmt: skip
    assert code == 0
    assert (result["output"], result["literal"]) == ("The craftsmen remain old .", True)
    user_constraints = [
        (edit["note"], edit["status"]) for edit in result["edits"] if "from the" in edit.get("note", "")
    ]
    assert user_constraints == [("from the glossary", "satisfied")] * 2 + [("from the keep list", "satisfied")] * 2
    assert "not done" not in said


def test_non_prose_is_not_rewritten(predict):
    code, results, said = predict("simplify", "--model", MODEL, "--plan", "predict", "--json", "http://a.example/b")
    assert code == 0
    assert (results[0]["output"], results[0]["unchanged"]) == ("http://a.example/b", "it is an address")
    assert "left unchanged: 1 line; " in said


def test_a_long_sentence_is_planned_piece_by_piece(predict, tmp_path):
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), tmp_path)
    source = "The man ruled in 1720, and the king left old London; " * 8
    flags = ["--beams", "2", "--max-tokens", "6", "--json"]
    code, [result], _ = predict("simplify", "--plan", "predict", "--model", str(tmp_path), *flags, source)
    assert code == 0
    assert result["pieces"] > 1
    spans = [edit["span"] for edit in result["edits"]]
    assert spans == sorted(spans)
    assert max(end for _, end in spans) > len(source) * 3 / 4
    for edit in result["edits"]:
        start, end = edit["span"]
        assert source[start:end] == next(edit[kind] for kind in ("insert", "delete", "substitute") if kind in edit)


def test_a_line_that_cannot_be_planned_is_skipped_alone(predict, monkeypatch):
    def fail(self):
        if "bad" in self.source:
            raise PlanError("nothing can be done.", "Change it.")
        return EditPlan(self.source)

    monkeypatch.setattr(PlanPrediction, "plan", fail)
    flags = ["--model", MODEL, "--plan", "predict", "--on-error", "skip"]
    code, lines, said = predict("simplify", *flags, SENTENCE, "The bad engine was repaired.", SENTENCE)
    assert code == 1
    assert [bool(line) for line in lines] == [True, False, True]
    assert "skipped: " in said
    assert "nothing can be done" in said


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--strength", "huge"], '--strength "huge" is not known'),
        (["--strength", "7"], "strength is 7"),
        (["--style", "poetry"], 'style "poetry" is not known.\n  Use any, toy.'),
        (["--keep", "no-such-file"], "no-such-file cannot be read"),
        (["--keep", ""], "cannot be read"),
        (["--device", "nonsense"], 'the device "nonsense" is '),
    ],
)
def test_mistakes_are_named(predict, flags, message):
    code, _, said = predict("plan", "predict", SENTENCE, *flags)
    assert code == 2
    assert message in said


def test_empty_input_is_an_error(predict):
    code, _, said = predict("plan", "predict")
    assert code == 2
    assert "there is nothing to plan" in said


def test_good_lines_before_a_bad_one_are_written(predict, tmp_path):
    (tmp_path / "in.txt").write_bytes(SENTENCE.encode() + b"\nbad \xff\n")
    code, plans, said = predict("plan", "predict", "--input", str(tmp_path / "in.txt"))
    assert (code, [plan["source"] for plan in plans]) == (2, [SENTENCE])
    assert "not UTF-8" in said


def test_options_of_a_prediction_without_one(capsys):
    assert main(["simplify", "--model", MODEL, SENTENCE, "--strength", "light"]) == 2
    assert "--strength applies only to predicted plans.\n  Add --plan predict" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["pairs", "synonyms", "difficulty", "out"])
def test_a_training_needs_its_files(missing, capsys):
    flags = [f"--{name}=x" for name in ("pairs", "synonyms", "difficulty", "out") if name != missing]
    assert main(["train-planner", *flags]) == 2
    assert f"Missing option '--{missing}'" in capsys.readouterr().err


def test_explain_format(predict):
    source = "our teacher apparently quietly purchased warm soup at Paris ."
    code, lines, _ = predict(
        "simplify", "--model", MODEL, "--plan", "predict", "--strength", "0.8", "--explain", source
    )
    assert code == 0
    assert lines[0] == f"  {source}"
    assert lines[1].startswith("→ ")
    text = "\n".join(lines)
    assert re.search(r"^  [✓✗] purchased → bought  \(60%, plain English\)", text, re.MULTILINE)
    assert re.search(r"^  [✓✗] leave out apparently  \(", text, re.MULTILINE)
    assert re.search(r"^  edited word by word: ", text, re.MULTILINE)  # the table ignores the source
    assert lines[-1] == ""


def test_explain_lists_missing_words(capsys):
    assert main(["simplify", "--model", MODEL, "--explain", "They remain in Paris ."]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["→ The artisans remain young .", "  ! missing: Paris", ""]


def test_kept_words_share_a_line(capsys):
    assert main(["simplify", "--model", MODEL, "--plan", "examples/by_hand.jsonl", "--explain"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "  The artisans remain old .",
        "→ The craftsmen are old .",
        "  ✓ artisans → craftsmen",
        "  ✓ leave out remain",
        "  ✓ keep old",
        "",
    ]


def test_splits_are_reported(tmp_path, capsys):
    path = tmp_path / "plans.jsonl"
    splits = [{"split": True, "note": "long"}, {"split": "remain", "span": [13, 19]}]
    path.write_text(json.dumps({"source": "The artisans remain old .", "edits": splits}))
    assert main(["simplify", "--model", MODEL, "--plan", str(path), "--explain"]) == 0
    found = capsys.readouterr()
    assert found.out.splitlines()[2:] == [
        "  ✗ one more sentence  (long)",
        "  ✗ new sentence at remain",
        "",
    ]
    said = "requested edits that were not done:\n  line 1: one more sentence (long)\n  line 1: new sentence at remain\n"
    assert said in found.err


def test_two_output_formats_are_refused(capsys):
    assert main(["simplify", "--model", MODEL, "--json", "--explain", SENTENCE]) == 2
    assert "--explain and --json" in capsys.readouterr().err


def test_without_a_plan_edits_are_predicted(predict, tmp_path):
    """For a real model; not for plain beam search, nor for scripted models, which know a few words only."""
    save_eight_bit_model(tiny_model_for("bart", single_digits()), single_digits(), tmp_path)
    flags = ["simplify", "--model", str(tmp_path), "--beams", "2", "--max-tokens", "6", "--json"]
    _, [default], _ = predict(*flags, "The man ruled in 1720 .")
    _, [asked], _ = predict(*flags, "The man ruled in 1720 .", "--plan", "predict", "--settings", "simplify")
    assert default == asked
    assert {"1720": "a number: it stays"}.items() <= {edit["insert"]: edit["note"] for edit in default["edits"]}.items()


@pytest.mark.parametrize("flags", [["--method", "beam"], []])
def test_sentences_without_predictions(flags, capsys):
    assert main(["simplify", "--model", MODEL, SENTENCE, "--json", *flags]) == 0
    assert json.loads(capsys.readouterr().out)["edits"] == []


def test_the_default_style_must_be_a_training_style(classifier, tmp_path, capsys):
    about = json.loads((classifier / "planner.json").read_text(encoding="utf-8"))
    assert about["usual"] == "any"
    files = [f"--{name}={classifier.parent / file}" for name, file in
             (("pairs", "pairs.tsv"), ("synonyms", "synonyms.txt"), ("difficulty", "difficulty.tsv"))]  # fmt: skip
    flags = ["--leave-out", "left", "--device", "cpu", "--out", str(tmp_path), "--default-style", "poetry"]
    assert main(["train-planner", *files, *flags]) == 2
    assert 'no pair has the style "poetry".\n  Use any, toy.' in capsys.readouterr().err
