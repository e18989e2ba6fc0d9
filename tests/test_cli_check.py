"""`redraft check`, and the meaning check in other commands."""

from __future__ import annotations

import json

import pytest

SOURCES = "Patients must not drink alcohol.\nThe doctor began.\nHe paid 20 pounds.\n"
OUTPUTS = "Patients must drink alcohol.\nThe doctor began.\nHe paid 90 pounds.\n"


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "source.txt").write_text(SOURCES)
    (tmp_path / "output.txt").write_text(OUTPUTS)
    return ["--source", "source.txt", "--output", "output.txt"]


def test_the_table_is_sorted_by_risk(command, texts):
    status, out, err = command("check", *texts)
    assert status == 0
    assert "2 of 3 lines may not say the same" in err
    assert "The doctor began." not in out
    risks = [int(line.split("  ")[1].rstrip("%")) for line in out.splitlines() if line.startswith("! line")]
    assert len(risks) == 2
    assert risks == sorted(risks, reverse=True)
    assert "“20” became “90”" in out


def test_all_shows_the_rest_too(command, texts):
    _, out, _ = command("check", *texts, "--all")
    assert "  line 2  0%\n    The doctor began.\n  → The doctor began." in out


def test_json_has_an_object_for_each_line(command, texts):
    status, out, _ = command("check", *texts, "--json", "--strict")
    assert status == 3
    found = [json.loads(line) for line in out.splitlines()]
    assert [one["alarm"] for one in found] == [True, False, True]
    assert all(0 <= one["risk"] <= 1 for one in found)
    assert "not" in found[0]["words"]


def test_strict_accepts_equal_texts(command, texts, tmp_path):
    (tmp_path / "output.txt").write_text(SOURCES)
    assert command("check", *texts, "--strict")[0] == 0


def test_words_to_keep(command, texts, tmp_path):
    (tmp_path / "keep.txt").write_text("# terms\nalcohol # never spirits\n")
    (tmp_path / "output.txt").write_text("Patients must not drink.\nThe doctor began.\nHe paid 20 pounds.\n")
    _, out, _ = command("check", *texts, "--keep", "keep.txt")
    assert "“alcohol” was to stay" in out


@pytest.mark.parametrize(
    "flags, problem",
    [
        pytest.param(["source.txt"], "the same file", id="same"),
        pytest.param(["none.txt"], "none.txt does not exist", id="missing"),
        pytest.param(["short.txt"], "source.txt has 3 lines, short.txt has 1", id="short"),
        pytest.param(["output.txt", "--checker", "none"], "holds no meaning check", id="checker"),
        pytest.param(["output.txt", "--device", "tpu9"], "device", id="device"),
    ],
)  # fmt: skip
def test_mistakes(command, texts, tmp_path, flags, problem):
    (tmp_path / "short.txt").write_text("One line.\n")
    status, _, err = command("check", "--source", "source.txt", "--output", *flags)
    assert status == 2
    assert problem in err


def test_strict_and_no_check_exclude_one_another(command):
    status, _, err = command("simplify", "--strict-meaning", "--no-check", "It is so.")
    assert status == 2
    assert "--strict-meaning and --no-check cannot be combined" in err


def test_evaluate_counts_the_outputs_at_risk(command, texts, tmp_path):
    status, out, _ = command(
        "evaluate", "--source", "source.txt", "--reference", "source.txt", "--outputs", "output.txt", "--meaning",
        "--json",
    )  # fmt: skip
    assert status == 0
    assert json.loads(out)["at_risk"] == pytest.approx(200 / 3)
